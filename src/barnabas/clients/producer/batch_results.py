"""Decides what happens to a batch after a Produce response, and applies the decision.

`action_for` is the rule: the batch is stored, sent again, split or failed. `BatchResults` completes
the batch, queues it again or splits it. This module does no IO.
"""

import enum
import logging
from dataclasses import dataclass
from typing import Protocol

from barnabas.clients.core.backoff import Backoff
from barnabas.clients.core.client import RepeatedWarning
from barnabas.clients.producer.accumulator import Accumulator
from barnabas.clients.producer.batch import ProducerBatch, build, split
from barnabas.clients.producer.identity import ProducerIdentity
from barnabas.clients.producer.settings import ProducerSettings
from barnabas.clients.producer.unread_failures import UnreadFailures
from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BarnabasError, BrokerError, ClosedError, DeadlineError
from barnabas.model.ids import TopicPartition
from barnabas.records.builder import BatchBuilder
from barnabas.runtime.clock import Clock
from barnabas.wire.message import Message
from barnabas.wire.messages.produce import PartitionProduceResponse

logger = logging.getLogger(__name__)


LEADER_MOVED = frozenset(
    {
        ErrorCode.NOT_LEADER_OR_FOLLOWER,
        ErrorCode.LEADER_NOT_AVAILABLE,
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
        ErrorCode.UNKNOWN_TOPIC_ID,
        ErrorCode.INCONSISTENT_TOPIC_ID,
        ErrorCode.FENCED_LEADER_EPOCH,
        ErrorCode.KAFKA_STORAGE_ERROR,
        ErrorCode.REPLICA_NOT_AVAILABLE,
    }
)
"""Errors after which the sender refreshes the metadata."""
WARN_AGE_MS = 5_000
"""A batch this old that is sent again is logged as a warning. Elections are usually shorter."""


class BatchAction(enum.Enum):
    """The action of the sender on a batch after its response."""

    STORED = "the records are in the log"
    RETRY = "send it again, unchanged"
    SPLIT = "send its records again in smaller batches"
    FAILED = "fail its futures"


@dataclass(frozen=True, slots=True)
class ResponseContext:
    """The facts that decide beside the error code."""

    idempotent: bool
    transactional: bool
    next_in_sequence: bool
    tries_left: bool
    later_stored: bool = False
    """Whether the broker has stored a later batch of the same epoch."""


def action_for(batch: ProducerBatch, code: ErrorCode, about: ResponseContext) -> BatchAction:
    """Returns the action for one error code of a response.

    UNKNOWN_SERVER_ERROR is not retried: the outcome is unknown, and a retry under a new sequence
    would store the records twice (KAFKA-14034).
    """
    if code in (ErrorCode.NONE, ErrorCode.DUPLICATE_SEQUENCE_NUMBER):
        return BatchAction.STORED
    if code is ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER and about.later_stored:
        return BatchAction.STORED
    if code is ErrorCode.MESSAGE_TOO_LARGE and batch.count > 1:
        return BatchAction.SPLIT
    if not about.tries_left:
        return BatchAction.FAILED
    if code.retriable:
        return BatchAction.RETRY
    if code is ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER and about.idempotent:
        # The broker misses an earlier batch and accepts this one after the retry of that batch.
        return BatchAction.FAILED if about.next_in_sequence else BatchAction.RETRY
    return BatchAction.FAILED


def builder_of(settings: ProducerSettings) -> BatchBuilder:
    """Returns the builder for all batches of a producer."""
    return BatchBuilder(
        codec=settings.codec,
        level=settings.codec_level,
        transactional=settings.transactional_id is not None,
    )


class SendGate(Protocol):
    """Controls when batches may be sent, and is notified of failed ones: the transaction."""

    def may_send(self, topic_partition: TopicPartition) -> bool: ...

    def batch_failed(self, error: BarnabasError) -> None: ...

    def last_version(self, request: type[Message]) -> int | None: ...


class BatchResults:
    """Applies results to batches. Owned by the sender, on its loop."""

    def __init__(
        self,
        settings: ProducerSettings,
        accumulator: Accumulator,
        identity: ProducerIdentity,
        clock: Clock,
        failures: UnreadFailures,
    ) -> None:
        self.gate: SendGate | None = None
        self.last_failure: BarnabasError | None = None
        """The last failure to connect or to fetch metadata; None after a stored batch."""
        self.builder = builder_of(settings)
        self._settings = settings
        self._accumulator = accumulator
        self._identity = identity
        self._clock = clock
        self._failures = failures
        self._warnings = RepeatedWarning(lambda: clock.monotonic_ms() / 1000)

    def apply_response(self, batch: ProducerBatch, response: PartitionProduceResponse) -> None:
        """Applies the response of one partition to its batch."""
        code = ErrorCode.of(response.error_code)
        match action_for(batch, code, self._context(batch)):
            case BatchAction.STORED:
                self.stored(batch, response.base_offset, response.log_append_time_ms)
            case BatchAction.RETRY:
                if code is ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER:
                    self._identity.out_of_order(batch, self._accumulator.incomplete())
                self._retry_later(batch, _broker_error(batch, code, response))
            case BatchAction.SPLIT:
                self._split(batch)
            case BatchAction.FAILED:
                self.fail(batch, _broker_error(batch, code, response))

    def _context(self, batch: ProducerBatch) -> ResponseContext:
        return ResponseContext(
            idempotent=self._identity.idempotent,
            transactional=self._settings.transactional_id is not None,
            next_in_sequence=self._identity.is_next(batch, self._accumulator.incomplete()),
            tries_left=self._tries_left(batch),
            later_stored=self._identity.is_known_as_stored(batch),
        )

    def _tries_left(self, batch: ProducerBatch) -> bool:
        now = self._clock.monotonic_ms()
        in_time = now < batch.created_ms + self._settings.delivery_timeout_ms
        return batch.attempts <= self._settings.retries and in_time

    def stored(self, batch: ProducerBatch, base_offset: int, log_append_time: int) -> None:
        self.last_failure = None
        self._identity.stored(batch)
        self._accumulator.finished(batch)
        # Last: it wakes the waiting thread, which then competes for the GIL.
        batch.complete(base_offset, log_append_time, None)

    def assume_stored(self, batch: ProducerBatch) -> None:
        """Completes a batch that was sent with acks=0: the broker sends no response."""
        self._identity.on_response(batch)
        batch.complete(-1, -1, None)
        self._accumulator.finished(batch)

    def retry_or_fail(self, batch: ProducerBatch, error: BarnabasError) -> None:
        """Handles a request without a response: the broker may or may not have stored the batch."""
        self._identity.on_response(batch)
        if self._tries_left(batch):
            self._retry_later(batch, error)
        else:
            self.fail(batch, error)

    def _retry_later(self, batch: ProducerBatch, cause: BarnabasError) -> None:
        batch.cause = cause
        self._accumulator.meters.retried(batch)
        options = self._settings.client
        backoff = Backoff(options.retry_backoff_ms, options.retry_backoff_max_ms)
        for _ in range(min(batch.attempts, 10) - 1):
            backoff.next_s()
        batch.retry_at_ms = self._clock.monotonic_ms() + int(backoff.next_s() * 1000)
        logger.debug("%s: %s, attempt %d", batch.partition, cause, batch.attempts)
        self._warn_of_delay(batch, cause)
        self._accumulator.requeue(batch)

    def _warn_of_delay(self, batch: ProducerBatch, cause: BarnabasError) -> None:
        """Logs why records are delayed: their futures have no result until delivery.timeout.ms."""
        age_ms = self._clock.monotonic_ms() - batch.created_ms
        if age_ms < WARN_AGE_MS:
            return
        kind = cause.code.name if isinstance(cause, BrokerError) else type(cause).__name__
        self._warnings.warn(
            kind,
            f"records for {batch.partition} are not delivered after {age_ms / 1000:.0f} s: {cause};"
            " the producer keeps trying until delivery.timeout.ms",
        )

    def _split(self, batch: ProducerBatch) -> None:
        logger.info(
            "the batch of %d records for %s is too large: splitting it",
            batch.count,
            batch.partition,
        )
        self._accumulator.meters.splits.record(1)
        self._accumulator.replace(batch, split(batch, self.builder, self._accumulator.driver))

    def fail(self, batch: ProducerBatch, error: BarnabasError) -> None:
        if self.gate is not None:
            self.gate.batch_failed(error)
        elif self._identity.idempotent and batch.has_sequence:
            self._identity.bump_epoch()
        self._complete_failed(batch, error)
        self._accumulator.finished(batch)

    def fail_unsent(self, batch: ProducerBatch, error: BarnabasError) -> None:
        self._accumulator.discard(batch)
        if batch.payload is None:
            build(batch, self.builder)
        self.fail(batch, error)

    def expired(self, batch: ProducerBatch, now: int) -> bool:
        """Fails the batch if delivery.timeout.ms has passed; returns whether it has."""
        limit = self._settings.delivery_timeout_ms
        if now < batch.created_ms + limit:
            return False
        what = f"{batch.partition}: not delivered within {limit} ms"
        error = deadline_error(what, batch.cause or self.last_failure)
        self.fail_unsent(batch, error)
        return True

    def fail_closed(self, batch: ProducerBatch) -> None:
        """Fails a batch without a response because the producer is closed."""
        cause = batch.cause or self.last_failure
        error = ClosedError(f"the producer was closed before delivery{_cause_text(cause)}")
        error.__cause__ = cause
        self._complete_failed(batch, error)

    def _complete_failed(self, batch: ProducerBatch, error: BarnabasError) -> None:
        self._accumulator.meters.failed(batch)
        batch.complete(-1, -1, error)
        if self.gate is None:
            self._failures.failed(batch)


def deadline_error(what: str, cause: BarnabasError | None) -> DeadlineError:
    """Returns a DeadlineError with its cause in the message and as `__cause__`."""
    error = DeadlineError(f"{what}{_cause_text(cause)}")
    error.__cause__ = cause
    return error


def _cause_text(cause: BarnabasError | None) -> str:
    return "" if cause is None else f": {cause}"


def _broker_error(
    batch: ProducerBatch, code: ErrorCode, response: PartitionProduceResponse
) -> BrokerError:
    return BrokerError(code, response.error_message or f"{batch.partition}: {code.explanation}")
