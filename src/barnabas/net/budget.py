"""Limits the total memory of large frames that are incomplete or not answered.

Only allocated memory is counted. At the limit, a connection that needs more memory must wait. The
connection with the oldest frame never waits, otherwise connections could block each other. So the
memory stays below the limit plus one frame. Frames below one step are not counted, because the
number of connections limits them.
"""

from collections import deque
from collections.abc import Callable
from typing import Protocol


class Holder(Protocol):
    """A reader that reserves memory."""

    def resume_receiving(self) -> None: ...


class ReceiveBudget:
    """Owned by the loop of its listener."""

    __slots__ = ("_held", "_on_pressure", "_waiting", "limit", "used")

    def __init__(self, limit: int, on_pressure: Callable[[], None] | None = None) -> None:
        self.limit = limit
        self.used = 0
        self._held: dict[Holder, int] = {}  # in the order in which their frames began
        self._waiting: deque[Holder] = deque()
        self._on_pressure = on_pressure

    def try_reserve(self, holder: Holder, size: int) -> bool:
        """Reserves memory; on failure queues the holder, which is resumed when memory is free."""
        oldest = next(iter(self._held), holder)
        if self.used + size > self.limit and oldest is not holder:
            if holder not in self._waiting:
                self._waiting.append(holder)
            if self._on_pressure is not None:
                self._on_pressure()
            return False
        self.used += size
        self._held[holder] = self._held.get(holder, 0) + size
        return True

    def release(self, holder: Holder, size: int) -> None:
        """Releases a part of a reservation and resumes waiting readers."""
        held = self._held.pop(holder, 0)
        self.used -= min(size, held)
        if held > size:
            self._held[holder] = held - size
        self._resume_waiting()

    def forget(self, holder: Holder) -> None:
        """Releases all reservations of a closed connection."""
        if holder in self._waiting:
            self._waiting.remove(holder)
        held = self._held.pop(holder, 0)
        if held:
            self.used -= held
            self._resume_waiting()

    def _resume_waiting(self) -> None:
        waiting, self._waiting = self._waiting, deque()
        for holder in waiting:
            holder.resume_receiving()

    @property
    def under_pressure(self) -> bool:
        return bool(self._waiting)
