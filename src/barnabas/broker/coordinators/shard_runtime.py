"""Executes the outcomes of one coordinator shard: appends, settles, runs timers, releases replies.

Both coordinators use this runtime; `barnabas.coordination.outcome` describes the steps. The drivers
in `group_shard` and `transaction_shard` add only the operations of their shard.
"""

import enum
import logging
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

from barnabas.broker.coordinators.commit_gate import CallSoon, CommitGate
from barnabas.broker.coordinators.steady_clock import SteadyClock
from barnabas.broker.coordinators.timers import Timers
from barnabas.broker.purgatory import Schedule
from barnabas.coordination.append_errors import coordinator_error
from barnabas.coordination.outcome import (
    CoordinatorOutcome,
    PendingAppend,
    ProducerSession,
    SendMarkers,
    SetTimer,
)
from barnabas.model.clock import Clock
from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BrokerError
from barnabas.model.ids import NO_PRODUCER_ID
from barnabas.model.records import NO_EPOCH, Codec
from barnabas.records.batch import parse_header
from barnabas.records.builder import build_batch
from barnabas.replication.partition import ALL_IN_SYNC, Partition
from barnabas.storage.append_info import AppendOrigin

_logger = logging.getLogger("barnabas.broker")

_NO_PRODUCER = ProducerSession(NO_PRODUCER_ID, NO_EPOCH)


class ReplyReceiver(Protocol):
    """Receives the reply to one request, or the error that prevented it; exactly one call.

    The operation decides the type of the reply.
    """

    def complete(self, reply: Any) -> None: ...

    def fail(self, code: ErrorCode) -> None: ...


class CoordinatorShard(Protocol):
    """The pure shard whose outcomes the runtime executes."""

    def settle(self, append: Any, code: ErrorCode, now_ms: int) -> CoordinatorOutcome[Any]:
        """Applies or reverts the change of an append that ended with `code`."""
        ...


class SettleOn(enum.Enum):
    """When a shard applies its records.

    APPEND: when they are in the local log. Replies wait until the high watermark covers them.
    COMMIT: when the high watermark covers them. The state of the shard is always committed, so
    replies do not wait.
    """

    APPEND = enum.auto()
    COMMIT = enum.auto()


@dataclass(frozen=True, slots=True, kw_only=True)
class RuntimeSettings:
    """The settings and services that all shards of one coordinator share."""

    clock: Clock
    steady: SteadyClock
    schedule: Schedule
    call_soon: CallSoon
    commit_timeout_ms: int
    max_batch_bytes: Callable[[], int] | None = None
    """Limits batches whose size a client decides; None: no limit."""
    codec: Codec = Codec.NONE


class ShardRuntime:
    """Executes outcomes for one leader epoch of a shard's partition; owned by the broker's loop.

    `on_timer` receives the key of each timer that fires. `send_markers` receives the markers of an
    outcome. `after_step` runs after every outcome.
    """

    def __init__(
        self,
        shard: CoordinatorShard,
        partition: Partition,
        settings: RuntimeSettings,
        settle_on: SettleOn,
        on_timer: Callable[[Any], None],
    ) -> None:
        self._shard = shard
        self._partition = partition
        self._settings = settings
        self._settle_on = settle_on
        self._parked: dict[int, ReplyReceiver] = {}
        self.gate = CommitGate(
            partition, settings.commit_timeout_ms, settings.schedule, settings.call_soon
        )
        self.timers: Timers[Any] = Timers(settings.clock, settings.schedule, on_timer)
        self.closed = False
        self.send_markers: Callable[[SendMarkers], None] | None = None
        self.after_step: Callable[[], None] | None = None

    def now_ms(self) -> int:
        return self._settings.steady.now_ms()

    def close(self, code: ErrorCode) -> None:
        """Cancels the timers and fails everything that waits for the high watermark with `code`."""
        self.closed = True
        self.timers.clear()
        self.gate.close(code)

    def fail_parked(self, code: ErrorCode) -> None:
        """Fails every parked request."""
        parked, self._parked = self._parked, {}
        for receiver in parked.values():
            receiver.fail(code)

    def execute(
        self, outcome: CoordinatorOutcome[Any], receiver: ReplyReceiver | None = None
    ) -> None:
        """Executes one outcome; `receiver` gets the reply of its step, now or later."""
        if outcome.append is not None:
            self._append(outcome.append, receiver)
        else:
            self._change_timers(outcome)
            self._reply(outcome, receiver)
            for append in outcome.background:
                self._append(append, None)
            self._send_markers(outcome)
        if self.after_step is not None:
            self.after_step()

    def _append(self, append: PendingAppend, receiver: ReplyReceiver | None) -> None:
        now_ms = self.now_ms()
        try:
            end_offset = self._write(append, now_ms, limited=receiver is not None)
        except BrokerError as error:
            _logger.warning("%s: append failed: %s", self._partition.topic_partition, error)
            self.execute(self._shard.settle(append, error.code, now_ms), receiver)
            return
        self.gate.wrote_up_to(end_offset)
        if self._settle_on is SettleOn.APPEND:
            self.execute(self._shard.settle(append, ErrorCode.NONE, now_ms), receiver)
            return

        def settle(code: ErrorCode) -> None:
            self.execute(self._shard.settle(append, code, self.now_ms()), receiver)

        self.gate.run_when_committed(settle)

    def _write(self, append: PendingAppend, now_ms: int, *, limited: bool) -> int:
        """Appends one batch as leader and returns the offset after it; raises BrokerError.

        The size limit applies only to batches whose size a client decides. The coordinator's own
        records, such as tombstones of expired offsets, must not fail because of it.
        """
        producer = append.producer or _NO_PRODUCER
        batch = build_batch(
            append.records,
            timestamp_ms=now_ms,
            codec=self._settings.codec,
            producer_id=producer.producer_id,
            producer_epoch=producer.producer_epoch,
            transactional=append.producer is not None,
        )
        max_batch_bytes = self._settings.max_batch_bytes
        if limited and max_batch_bytes is not None and len(batch) > max_batch_bytes():
            raise BrokerError(ErrorCode.MESSAGE_TOO_LARGE)
        info = self._partition.append_to_leader(
            batch,
            parse_header(batch),
            acks=ALL_IN_SYNC,
            now_ms=now_ms,
            origin=AppendOrigin.COORDINATOR,
        )
        return info.last_offset + 1

    def _change_timers(self, outcome: CoordinatorOutcome[Any]) -> None:
        for change in outcome.timers:
            if isinstance(change, SetTimer):
                self.timers.set(change.key, change.delay_ms)
            else:
                self.timers.cancel(change.key)

    def _reply(self, outcome: CoordinatorOutcome[Any], receiver: ReplyReceiver | None) -> None:
        if outcome.parked is not None and receiver is not None:
            self._parked[outcome.parked] = receiver
        elif outcome.reply is not None and receiver is not None:
            self._release(receiver, outcome.reply)
        for token, reply in outcome.completions:
            parked = self._parked.pop(token, None)
            if parked is not None:
                self._release(parked, reply)

    def _release(self, receiver: ReplyReceiver, reply: object) -> None:
        if self._settle_on is SettleOn.COMMIT:
            receiver.complete(reply)
            return

        def release(code: ErrorCode) -> None:
            if code is ErrorCode.NONE:
                receiver.complete(reply)
            else:
                receiver.fail(coordinator_error(code))

        self.gate.run_when_committed(release)

    def _send_markers(self, outcome: CoordinatorOutcome[Any]) -> None:
        if not outcome.markers:
            return
        if outcome.reply is not None:
            # The response first: the client does not wait for the markers of a decided transaction.
            self._settings.call_soon(partial(self._send_all, outcome.markers))
        else:
            self._send_all(outcome.markers)

    def _send_all(self, markers: Iterable[SendMarkers]) -> None:
        # After a change of leadership the new coordinator sends the markers.
        if not self.closed and self.send_markers is not None:
            for send in markers:
                self.send_markers(send)
