"""What becomes of a batch: stored, sent again, split, or failed.

The rules are in `verdicts`, sequences in `identity`; here a batch, its futures and the
accumulator are told. It sends nothing and asks nobody.
"""

import logging
from typing import Protocol

from barnabas.clients.core.backoff import Backoff
from barnabas.clients.producer.accumulator import Accumulator
from barnabas.clients.producer.batch import ProducerBatch
from barnabas.clients.producer.encoding import build, builder_of, split
from barnabas.clients.producer.identity import ProducerIdentity
from barnabas.clients.producer.settings import ProducerSettings
from barnabas.clients.producer.verdicts import Circumstances, Verdict, verdict
from barnabas.model.clock import Clock
from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BarnabasError, BrokerError, ClosedError, DeadlineError
from barnabas.model.ids import TopicPartition
from barnabas.wire.message import Message
from barnabas.wire.messages.produce import PartitionProduceResponse

logger = logging.getLogger(__name__)


class SendGate(Protocol):
    """Who may hold batches back and must hear of failures: the transaction, if there is one."""

    def may_send(self, place: TopicPartition) -> bool: ...

    def batch_failed(self, error: BarnabasError) -> None: ...

    def last_version(self, request: type[Message]) -> int | None: ...


class Outcomes:
    """Owned by the sender, on its loop."""

    def __init__(
        self,
        settings: ProducerSettings,
        accumulator: Accumulator,
        identity: ProducerIdentity,
        clock: Clock,
    ) -> None:
        self.gate: SendGate | None = None
        self.obstacle: BarnabasError | None = None
        """Why batches cannot be sent now: the last failure to connect or to fetch metadata."""
        self.builder = builder_of(settings)
        self._settings = settings
        self._accumulator = accumulator
        self._identity = identity
        self._clock = clock

    def judge(self, batch: ProducerBatch, answer: PartitionProduceResponse) -> None:
        """By what the broker has answered."""
        code = ErrorCode.of(answer.error_code)
        match verdict(batch, code, self._circumstances(batch)):
            case Verdict.STORED:
                self.stored(batch, answer.base_offset, answer.log_append_time_ms)
            case Verdict.RETRY:
                self._again(batch, _broker_error(batch, code, answer))
            case Verdict.SPLIT:
                self._split(batch)
            case Verdict.FAILED:
                self.fail(batch, _broker_error(batch, code, answer))

    def _circumstances(self, batch: ProducerBatch) -> Circumstances:
        return Circumstances(
            idempotent=self._identity.idempotent,
            transactional=self._settings.transactional_id is not None,
            next_in_sequence=self._identity.is_next(batch, self._accumulator.incomplete()),
            tries_left=self._tries_left(batch),
        )

    def _tries_left(self, batch: ProducerBatch) -> bool:
        now = self._clock.monotonic_ms()
        in_time = now < batch.created_ms + self._settings.delivery_timeout_ms
        return batch.attempts <= self._settings.retries and in_time

    def stored(self, batch: ProducerBatch, base_offset: int, log_append_time: int) -> None:
        self.obstacle = None
        self._identity.stored(batch)
        self._accumulator.finished(batch)
        # Last: it wakes the thread that waits, which then competes for the interpreter's lock.
        batch.complete(base_offset, log_append_time, None)

    def stored_unheard(self, batch: ProducerBatch) -> None:
        """Sent, and nobody will say what became of it (acks=0)."""
        self._identity.answered(batch)
        batch.complete(-1, -1, None)
        self._accumulator.finished(batch)

    def retry_or_fail(self, batch: ProducerBatch, error: BarnabasError) -> None:
        """There was no answer: whether it was stored is unknown."""
        self._identity.answered(batch)
        if self._tries_left(batch):
            self._again(batch, error)
        else:
            self.fail(batch, error)

    def _again(self, batch: ProducerBatch, cause: BarnabasError) -> None:
        batch.cause = cause
        options = self._settings.client
        backoff = Backoff(options.retry_backoff_ms, options.retry_backoff_max_ms)
        for _ in range(min(batch.attempts, 10) - 1):
            backoff.next_s()
        batch.retry_at_ms = self._clock.monotonic_ms() + int(backoff.next_s() * 1000)
        logger.debug("%s: %s, try %d", batch.partition, cause, batch.attempts)
        self._accumulator.requeue(batch)

    def _split(self, batch: ProducerBatch) -> None:
        logger.info("a batch of %d records for %s is split", batch.count, batch.partition)
        self._accumulator.replace(batch, split(batch, self.builder, self._accumulator.driver))

    def fail(self, batch: ProducerBatch, error: BarnabasError) -> None:
        if self.gate is not None:
            self.gate.batch_failed(error)
        elif self._identity.idempotent and batch.has_sequence:
            self._identity.bump_epoch()
        batch.complete(-1, -1, error)
        self._accumulator.finished(batch)

    def fail_unsent(self, batch: ProducerBatch, error: BarnabasError) -> None:
        self._accumulator.discard(batch)
        if batch.payload is None:
            build(batch, self.builder)
        self.fail(batch, error)

    def expired(self, batch: ProducerBatch, now: int) -> bool:
        """Whether its time is up; it has failed then."""
        limit = self._settings.delivery_timeout_ms
        if now < batch.created_ms + limit:
            return False
        what = f"{batch.partition}: not delivered within {limit} ms"
        error = deadline_error(what, batch.cause or self.obstacle)
        self.fail_unsent(batch, error)
        return True

    def fail_closed(self, batch: ProducerBatch) -> None:
        """The producer is closed before the batch has an answer."""
        cause = batch.cause or self.obstacle
        error = ClosedError(f"the producer was closed before delivery{_because(cause)}")
        error.__cause__ = cause
        batch.complete(-1, -1, error)


def deadline_error(what: str, cause: BarnabasError | None) -> DeadlineError:
    """An error that names its cause in the message and as `__cause__`."""
    error = DeadlineError(f"{what}{_because(cause)}")
    error.__cause__ = cause
    return error


def _because(cause: BarnabasError | None) -> str:
    return "" if cause is None else f": {cause}"


def _broker_error(
    batch: ProducerBatch, code: ErrorCode, answer: PartitionProduceResponse
) -> BrokerError:
    return BrokerError(code, answer.error_message or f"{batch.partition}: {code.explanation}")
