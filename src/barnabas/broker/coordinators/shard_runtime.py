"""Executes the outcomes of one coordinator shard: appends, settles, runs timers, releases replies.

Both coordinators use this runtime; `barnabas.coordination` describes the steps. The drivers
in `group_coordinator` and `transaction_coordinator` add only the operations of their shard.
"""

import enum
import logging
from collections import deque
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

from barnabas.broker.purgatory import Schedule, TimerHandle
from barnabas.coordination import (
    CoordinatorOutcome,
    PendingAppend,
    ProducerSession,
    SendMarkers,
    SetTimer,
    coordinator_error,
)
from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BrokerError
from barnabas.model.ids import NO_PRODUCER_ID
from barnabas.model.records import NO_EPOCH, Codec
from barnabas.records.batch import parse_header
from barnabas.records.builder import build_batch
from barnabas.replication.partition import ALL_IN_SYNC, Partition
from barnabas.runtime.clock import Clock
from barnabas.storage.append_info import AppendOrigin

KeyT = TypeVar("KeyT", bound=Hashable)
Release = Callable[[ErrorCode], None]
CallSoon = Callable[[Callable[[], None]], object]
_logger = logging.getLogger("barnabas.broker")
_NO_PRODUCER = ProducerSession(NO_PRODUCER_ID, NO_EPOCH)


class SteadyClock:
    """The wall-clock time at the start of the broker, advanced by the monotonic clock.

    Offsets and transactions expire by times that coordinators stored earlier. If the wall clock
    were set forward, open transactions would be aborted and offsets removed at once. With this
    clock, only a restart adopts the new time.
    """

    __slots__ = ("_clock", "_offset_ms")

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._offset_ms = clock.now_ms() - clock.monotonic_ms()

    def now_ms(self) -> int:
        return self._offset_ms + self._clock.monotonic_ms()


class _RunningTimer:
    __slots__ = ("deadline_ms", "timer", "wakes_ms")

    def __init__(self, deadline_ms: int, timer: TimerHandle) -> None:
        self.deadline_ms = deadline_ms
        self.wakes_ms = deadline_ms
        self.timer = timer


class Timers(Generic[KeyT]):
    """The timers of one coordinator shard, at most one per key.

    Owned by the broker's loop.

    Setting a running timer to a later time, as every heartbeat does with its member's session,
    only stores the new deadline: when the loop's timer fires early, it is set for the rest.
    """

    def __init__(self, clock: Clock, schedule: Schedule, fire: Callable[[KeyT], None]) -> None:
        self._clock = clock
        self._schedule = schedule
        self._fire = fire
        self._running: dict[KeyT, _RunningTimer] = {}

    def __len__(self) -> int:
        return len(self._running)

    def set(self, key: KeyT, delay_ms: int) -> None:
        """Starts the timer, or starts it again."""
        deadline_ms = self._clock.monotonic_ms() + max(delay_ms, 0)
        running = self._running.get(key)
        if running is not None and running.wakes_ms <= deadline_ms:
            running.deadline_ms = deadline_ms
            return
        self.cancel(key)
        self._running[key] = _RunningTimer(deadline_ms, self._start(key, max(delay_ms, 0)))

    def cancel(self, key: KeyT) -> None:
        running = self._running.pop(key, None)
        if running is not None:
            running.timer.cancel()

    def clear(self) -> None:
        for running in self._running.values():
            running.timer.cancel()
        self._running.clear()

    def _start(self, key: KeyT, delay_ms: int) -> TimerHandle:
        return self._schedule(delay_ms / 1000, lambda: self._ring(key))

    def _ring(self, key: KeyT) -> None:
        running = self._running[key]
        left_ms = running.deadline_ms - self._clock.monotonic_ms()
        if left_ms > 0:
            running.wakes_ms = running.deadline_ms
            running.timer = self._start(key, left_ms)
            return
        del self._running[key]
        self._fire(key)


class _WaitingCallback(NamedTuple):
    required_offset: int
    deadline_ms: int
    release: Release


class CommitGate:
    """Callbacks that wait until the high watermark covers all records that one shard wrote.

    A `PartitionListener` of the shard's partition; owned by the broker's loop. Callbacks run in the
    order of their registration, each exactly once: with NONE, with REQUEST_TIMED_OUT when
    followers take too long, or with the code given to `close`. A callback runs at once when
    everything is committed, otherwise in a separate callback of the loop: the high watermark moves
    during appends, and the callback may start the next request.
    """

    def __init__(
        self, partition: Partition, timeout_ms: int, schedule: Schedule, call_soon: CallSoon
    ) -> None:
        self._partition = partition
        self._timeout_ms = timeout_ms
        self._schedule = schedule
        self._call_soon = call_soon
        self._held: deque[_WaitingCallback] = deque()
        self._timer: TimerHandle | None = None
        self._draining = False
        self._closed: ErrorCode | None = None
        self.required_offset = partition.log.log_end_offset
        partition.add_listener(self)

    def wrote_up_to(self, end_offset: int) -> None:
        """Called when the shard has appended records that end before `end_offset`."""
        self.required_offset = max(self.required_offset, end_offset)

    def run_when_committed(self, release: Release) -> None:
        """Calls `release` when everything written so far is committed."""
        if self._closed is not None:
            release(self._closed)
        elif not self._held and self._partition.log.high_watermark >= self.required_offset:
            release(ErrorCode.NONE)
        else:
            deadline_ms = self._partition.settings.clock.monotonic_ms() + self._timeout_ms
            self._held.append(_WaitingCallback(self.required_offset, deadline_ms, release))
            self._watch_deadline()

    def close(self, code: ErrorCode) -> None:
        """Runs all waiting callbacks with `code`, and every later one at once."""
        if self._closed is not None:
            return
        self._closed = code
        self._partition.remove_listener(self)
        if self._timer is not None:
            self._timer.cancel()
        held, self._held = self._held, deque()
        for item in held:
            item.release(code)

    # --- PartitionListener ---

    def on_append(self, partition: Partition) -> None:
        """Does nothing: only committed records count."""

    def on_high_watermark(self, partition: Partition) -> None:
        if self._held and not self._draining:
            self._draining = True
            self._call_soon(self._drain)

    def on_leader_change(self, partition: Partition) -> None:
        """Does nothing: the owner of the shard closes the gate."""

    def _drain(self) -> None:
        self._draining = False
        high_watermark = self._partition.log.high_watermark
        while self._held and self._held[0].required_offset <= high_watermark:
            self._held.popleft().release(ErrorCode.NONE)

    def _watch_deadline(self) -> None:
        if self._timer is None:
            wait_ms = self._held[0].deadline_ms - self._partition.settings.clock.monotonic_ms()
            self._timer = self._schedule(max(wait_ms, 0) / 1000, self._expire)

    def _expire(self) -> None:
        self._timer = None
        now_ms = self._partition.settings.clock.monotonic_ms()
        while self._held and self._held[0].deadline_ms <= now_ms:
            self._held.popleft().release(ErrorCode.REQUEST_TIMED_OUT)
        if self._held:
            self._watch_deadline()


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
        self, outcome: CoordinatorOutcome[object], receiver: ReplyReceiver | None = None
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
            # The shard reverts its planned change, so that memory and log stay equal.
            self.execute(self._shard.settle(append, error.code, now_ms), receiver)
            return
        # Later replies wait for this offset even if their own step writes nothing: they may show
        # state that depends on these records.
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
        return append_as_coordinator(self._partition, batch, now_ms)

    def _change_timers(self, outcome: CoordinatorOutcome[object]) -> None:
        for change in outcome.timers:
            if isinstance(change, SetTimer):
                self.timers.set(change.key, change.delay_ms)
            else:
                self.timers.cancel(change.key)

    def _reply(self, outcome: CoordinatorOutcome[object], receiver: ReplyReceiver | None) -> None:
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

    def _send_markers(self, outcome: CoordinatorOutcome[object]) -> None:
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


def append_as_coordinator(partition: Partition, batch: bytearray, now_ms: int) -> int:
    """Appends a batch of a coordinator to its partition; returns the offset after the batch.

    The origin COORDINATOR leaves out the checks of producer epoch and sequence, which the batches
    of coordinators do not have.
    """
    info = partition.append_to_leader(
        batch,
        parse_header(batch),
        acks=ALL_IN_SYNC,
        now_ms=now_ms,
        origin=AppendOrigin.COORDINATOR,
    )
    return info.last_offset + 1
