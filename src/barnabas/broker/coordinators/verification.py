"""Verifies a transaction with its coordinator before the first append to a partition (KIP-890).

The rules are in `barnabas.transactions.partition_leader`; this module keeps their state per
partition, reads the producer states of the logs, and sends the requests.
"""

from collections.abc import Callable, Mapping
from functools import partial
from typing import NamedTuple, Protocol

from barnabas.broker.coordinators.shard_runtime import SteadyClock
from barnabas.broker.coordinators.transaction_coordinator import TransactionCoordinator
from barnabas.broker.purgatory import Schedule
from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BrokerError
from barnabas.model.ids import TopicPartition
from barnabas.storage.log_manager import LogManager
from barnabas.storage.producer_state import NO_OFFSET, ProducerEntry
from barnabas.transactions.partition_leader import (
    ProducerView,
    VerificationStates,
    VerificationToken,
)
from barnabas.transactions.requests import AddPartitions, AddPartitionsReply

Verified = Callable[[Mapping[TopicPartition, ErrorCode]], None]


class Producers:
    """Reads the producer states of the logs; owned by the broker's loop."""

    def __init__(self, logs: LogManager) -> None:
        self._logs = logs

    def view(self, topic_partition: TopicPartition, producer_id: int) -> ProducerView | None:
        entry = self._entry(topic_partition, producer_id)
        if entry is None:
            return None
        is_open = entry.txn_first_offset != NO_OFFSET
        return ProducerView(entry.epoch, entry.coordinator_epoch, is_open)

    def transaction_open(
        self, topic_partition: TopicPartition, producer_id: int, epoch: int
    ) -> bool:
        """Whether the partition has an open transaction of the producer with this epoch."""
        entry = self._entry(topic_partition, producer_id)
        return entry is not None and entry.txn_first_offset != NO_OFFSET and entry.epoch == epoch

    def epoch(self, topic_partition: TopicPartition, producer_id: int) -> int:
        """Returns the newest epoch of the producer, -1 without a state."""
        entry = self._entry(topic_partition, producer_id)
        return -1 if entry is None else entry.epoch

    def raise_coordinator_epoch(
        self, topic_partition: TopicPartition, producer_id: int, epoch: int
    ) -> None:
        """Raises the coordinator epoch after a repeated marker: older coordinators stay fenced."""
        entry = self._entry(topic_partition, producer_id)
        if entry is not None:
            entry.coordinator_epoch = max(entry.coordinator_epoch, epoch)

    def _entry(self, topic_partition: TopicPartition, producer_id: int) -> ProducerEntry | None:
        log = self._logs.get(topic_partition)
        return None if log is None else log.producers.entries.get(producer_id)


class TransactionalBatch(NamedTuple):
    """A transactional batch to be appended to a partition."""

    topic_partition: TopicPartition
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

    def begin(self, attempt: TransactionalBatch) -> VerificationToken | None:
        """Returns a token when the coordinator must confirm the batch before the append."""
        if not self._enabled or self._is_open(attempt):
            return None
        states = self._states.get(attempt.topic_partition)
        if states is None:
            states = self._states[attempt.topic_partition] = VerificationStates()
        return states.begin(
            attempt.producer_id,
            attempt.producer_epoch,
            attempt.sequence,
            transaction_open=False,
            now_ms=self._steady.now_ms(),
        )

    def check_append(self, attempt: TransactionalBatch, token: VerificationToken | None) -> None:
        """Raises BrokerError unless the batch may be appended in this callback of the loop."""
        if not self._enabled or self._is_open(attempt):
            return
        states = self._states.get(attempt.topic_partition)
        if token is not None and token.begun_under is not states:
            # Started in an earlier leader epoch, which invalidates it: the client retries.
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

    def appended(self, topic_partition: TopicPartition, producer_id: int) -> None:
        if (states := self._states.get(topic_partition)) is not None:
            states.appended(producer_id)

    def marker_written(
        self, topic_partition: TopicPartition, producer_id: int, ended_epoch: int
    ) -> None:
        if (states := self._states.get(topic_partition)) is not None:
            states.marker_written(producer_id, ended_epoch)

    def forget(self, topic_partition: TopicPartition) -> None:
        """Invalidates all tokens: the partition has a new leader epoch."""
        self._states.pop(topic_partition, None)

    def expire(self, expiration_ms: int) -> None:
        """Removes verifications whose producer did not retry the batch; called periodically."""
        now_ms = self._steady.now_ms()
        for topic_partition, states in list(self._states.items()):
            states.expire(now_ms, expiration_ms)
            if not len(states):
                del self._states[topic_partition]

    def _is_open(self, attempt: TransactionalBatch) -> bool:
        return self._producers.transaction_open(
            attempt.topic_partition, attempt.producer_id, attempt.producer_epoch
        )


class AddPartitionsToTxnManager(Protocol):
    """Sends AddPartitionsToTxn to the coordinator of the transactional id.

    `on_results` receives every partition of the request exactly once, now or later.
    """

    def add_or_verify(self, request: AddPartitions, on_results: Verified) -> None: ...


class LocalAddPartitions:
    """Uses the coordinator of this broker; ids of other brokers get NOT_COORDINATOR."""

    def __init__(self, transactions: TransactionCoordinator) -> None:
        self._transactions = transactions

    def add_or_verify(self, request: AddPartitions, on_results: Verified) -> None:
        receiver = _PartitionErrors(request, on_results)
        try:
            self._transactions.run(
                request.transactional_id,
                lambda shard, now_ms, _new_id: shard.add_partitions(request, now_ms),
                receiver,
            )
        except BrokerError as error:
            receiver.fail(error.code)


class RetryingAddPartitions:
    """Repeats the request while the coordinator completes the previous transaction; on the loop.

    A producer starts its next transaction as soon as the last one is decided, before all of its
    markers are written. The coordinator then returns CONCURRENT_TRANSACTIONS. Clients retry such a
    batch after 100 ms and more, the markers take a few milliseconds, so the leader waits as in
    Kafka (`add.partitions.to.txn.retry.backoff.ms`).
    """

    def __init__(
        self,
        manager: AddPartitionsToTxnManager,
        steady: SteadyClock,
        schedule: Schedule,
        backoff_ms: int,
        max_ms: int,
    ) -> None:
        self.manager = manager
        """Sends the requests; a cluster replaces it."""
        self._steady = steady
        self._schedule = schedule
        self._backoff_ms = backoff_ms
        self._max_ms = max_ms

    def add_or_verify(self, request: AddPartitions, on_results: Verified) -> None:
        deadline_ms = self._steady.now_ms() + self._max_ms
        self._send(request, on_results, deadline_ms)

    def _send(self, request: AddPartitions, on_results: Verified, deadline_ms: int) -> None:
        def replied(errors: Mapping[TopicPartition, ErrorCode]) -> None:
            again = ErrorCode.CONCURRENT_TRANSACTIONS in errors.values()
            if again and self._steady.now_ms() + self._backoff_ms <= deadline_ms:
                retry = partial(self._send, request, on_results, deadline_ms)
                self._schedule(self._backoff_ms / 1000, retry)
            else:
                on_results(errors)

        self.manager.add_or_verify(request, replied)


class _PartitionErrors:
    """A `ReplyReceiver` that reports one error per partition."""

    def __init__(self, request: AddPartitions, on_results: Verified) -> None:
        self._request = request
        self._on_results = on_results

    def complete(self, reply: AddPartitionsReply) -> None:
        self._on_results(reply.partitions)

    def fail(self, code: ErrorCode) -> None:
        self._on_results(dict.fromkeys(self._request.partitions, code))
