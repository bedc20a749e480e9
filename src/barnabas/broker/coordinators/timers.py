"""Timers by key, on the loop's monotonic clock."""

from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

from barnabas.broker.purgatory import Schedule, Timer
from barnabas.model.clock import Clock

KeyT = TypeVar("KeyT", bound=Hashable)


class _Running:
    __slots__ = ("deadline_ms", "timer", "wakes_ms")

    def __init__(self, deadline_ms: int, timer: Timer) -> None:
        self.deadline_ms = deadline_ms
        self.wakes_ms = deadline_ms
        self.timer = timer


class Timers(Generic[KeyT]):
    """At most one timer per key; owned by the broker's loop.

    Setting a running timer to a later time, as every heartbeat does with its member's session,
    only stores the new deadline: when the loop's timer fires early, it is set for the rest.
    """

    def __init__(self, clock: Clock, schedule: Schedule, fire: Callable[[KeyT], None]) -> None:
        self._clock = clock
        self._schedule = schedule
        self._fire = fire
        self._running: dict[KeyT, _Running] = {}

    def __len__(self) -> int:
        return len(self._running)

    def set(self, key: KeyT, delay_ms: int) -> None:
        """Start, or start over."""
        deadline_ms = self._clock.monotonic_ms() + max(delay_ms, 0)
        running = self._running.get(key)
        if running is not None and running.wakes_ms <= deadline_ms:
            running.deadline_ms = deadline_ms
            return
        self.cancel(key)
        self._running[key] = _Running(deadline_ms, self._start(key, max(delay_ms, 0)))

    def cancel(self, key: KeyT) -> None:
        running = self._running.pop(key, None)
        if running is not None:
            running.timer.cancel()

    def clear(self) -> None:
        for running in self._running.values():
            running.timer.cancel()
        self._running.clear()

    def _start(self, key: KeyT, delay_ms: int) -> Timer:
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
