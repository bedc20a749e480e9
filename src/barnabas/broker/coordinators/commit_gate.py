"""Delays callbacks until the high watermark covers the records they depend on."""

from collections import deque
from collections.abc import Callable
from typing import NamedTuple

from barnabas.broker.purgatory import Schedule, Timer
from barnabas.model.error_codes import ErrorCode
from barnabas.replication.partition import Partition

Release = Callable[[ErrorCode], None]
CallSoon = Callable[[Callable[[], None]], object]


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
        self._timer: Timer | None = None
        self._draining = False
        self._closed: ErrorCode | None = None
        self.required_offset = partition.log.log_end_offset
        partition.add_listener(self)

    def wrote_up_to(self, end_offset: int) -> None:
        """The shard has appended records that end before `end_offset`."""
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
