"""Asks the coordinator before a transaction's first append to a partition (KIP-890).

The rules are in `barnabas.transactions.verification`; this module keeps their state per partition
and carries the questions.
"""

from collections.abc import Callable, Mapping
from typing import NamedTuple, Protocol

from barnabas.broker.coordinators.producers import Producers
from barnabas.broker.coordinators.steady_clock import SteadyClock
from barnabas.broker.coordinators.transaction_coordinator import TransactionCoordinator
from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BrokerError
from barnabas.model.ids import TopicPartition
from barnabas.transactions.requests import AddPartitions, AddPartitionsReply
from barnabas.transactions.verification import VerificationStates, VerificationToken

Verified = Callable[[Mapping[TopicPartition, ErrorCode]], None]


class Attempt(NamedTuple):
    """A transactional batch on its way to a partition."""

    place: TopicPartition
    producer_id: int
    producer_epoch: int
    sequence: int


class Verifications:
    """The verification states of all partitions led here; owned by the broker's loop."""

    def __init__(self, producers: Producers, steady: SteadyClock, *, enabled: bool) -> None:
        self._producers = producers
        self._steady = steady
        self._enabled = enabled
        self._states: dict[TopicPartition, VerificationStates] = {}

    def begin(self, attempt: Attempt) -> VerificationToken | None:
        """A token when the coordinator must be asked before the append."""
        if not self._enabled or self._is_open(attempt):
            return None
        states = self._states.get(attempt.place)
        if states is None:
            states = self._states[attempt.place] = VerificationStates()
        return states.begin(
            attempt.producer_id,
            attempt.producer_epoch,
            attempt.sequence,
            transaction_open=False,
            now_ms=self._steady.now_ms(),
        )

    def check_append(self, attempt: Attempt, token: VerificationToken | None) -> None:
        """BrokerError unless the batch may be appended in this very turn of the loop."""
        if not self._enabled or self._is_open(attempt):
            return
        states = self._states.get(attempt.place)
        if token is not None and token.begun_under is not states:
            # Begun under an earlier leadership, whose questions are forgotten: ask again.
            code = ErrorCode.NOT_LEADER_OR_FOLLOWER
        elif states is None:
            code = ErrorCode.INVALID_TXN_STATE
        else:
            code = states.check_append(
                attempt.producer_id,
                attempt.producer_epoch,
                attempt.sequence,
                token,
                transaction_open=False,
            )
        if code is not ErrorCode.NONE:
            raise BrokerError(code)

    def appended(self, place: TopicPartition, producer_id: int) -> None:
        if (states := self._states.get(place)) is not None:
            states.appended(producer_id)

    def marker_written(self, place: TopicPartition, producer_id: int, ended_epoch: int) -> None:
        if (states := self._states.get(place)) is not None:
            states.marker_written(producer_id, ended_epoch)

    def forget(self, place: TopicPartition) -> None:
        """The partition has a new leader, maybe this broker again: all tokens are void."""
        self._states.pop(place, None)

    def expire(self, expiration_ms: int) -> None:
        """Periodic: drop questions whose producer never came back."""
        now_ms = self._steady.now_ms()
        for place, states in list(self._states.items()):
            states.expire(now_ms, expiration_ms)
            if not len(states):
                del self._states[place]

    def _is_open(self, attempt: Attempt) -> bool:
        return self._producers.transaction_open(
            attempt.place, attempt.producer_id, attempt.producer_epoch
        )


class CoordinatorQuestions(Protocol):
    """Puts AddPartitionsToTxn to whichever broker coordinates the transactional id.

    `answered` is told every partition of the request once, now or later.
    """

    def ask(self, request: AddPartitions, answered: Verified) -> None: ...


class LocalQuestions:
    """Asks the coordinator of this broker; another one's ids are NOT_COORDINATOR."""

    def __init__(self, transactions: TransactionCoordinator) -> None:
        self._transactions = transactions

    def ask(self, request: AddPartitions, answered: Verified) -> None:
        question = _Question(request, answered)
        try:
            self._transactions.run(
                request.transactional_id,
                lambda shard, now_ms, _new_id: shard.add_partitions(request, now_ms),
                question,
            )
        except BrokerError as error:
            question.fail(error.code)


class _Question:
    """A `ReplyReceiver` for partitions."""

    def __init__(self, request: AddPartitions, answered: Verified) -> None:
        self._request = request
        self._answered = answered

    def complete(self, reply: AddPartitionsReply) -> None:
        self._answered(reply.partitions)

    def fail(self, code: ErrorCode) -> None:
        self._answered(dict.fromkeys(self._request.partitions, code))
