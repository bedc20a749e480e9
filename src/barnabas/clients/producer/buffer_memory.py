"""Accounts buffer.memory: reserved per batch, released when the batch is completed."""

import threading
from collections import deque
from collections.abc import Callable


class BufferMemory:
    """Thread-safe byte counter; waiters are served in order.

    `release` may be called from any thread; waiters get a callback, so that both a blocked
    thread and a suspended coroutine can wait.
    """

    def __init__(self, total_bytes: int) -> None:
        self.total_bytes = total_bytes
        self._available = total_bytes
        self._lock = threading.Lock()
        self._waiting: deque[tuple[int, Callable[[], None]]] = deque()

    @property
    def available(self) -> int:
        return self._available

    def try_reserve(self, size: int) -> bool:
        """Reserves `size` bytes if they are available and no other caller waits."""
        with self._lock:
            if self._waiting or size > self._available:
                return False
            self._available -= size
            return True

    def reserve_later(self, size: int, granted: Callable[[], None]) -> None:
        """Queue for `size` bytes; `granted()` is called once they are taken for the caller."""
        with self._lock:
            self._waiting.append((size, granted))
        self._serve()

    def withdraw(self, granted: Callable[[], None]) -> bool:
        """Stop waiting; False when the bytes had been granted already and must be released."""
        with self._lock:
            before = len(self._waiting)
            self._waiting = deque(entry for entry in self._waiting if entry[1] is not granted)
            return len(self._waiting) < before

    def release(self, size: int) -> None:
        with self._lock:
            self._available += size
            if not self._waiting:
                return
        self._serve()

    def _serve(self) -> None:
        served: list[Callable[[], None]] = []
        with self._lock:
            while self._waiting and self._waiting[0][0] <= self._available:
                size, granted = self._waiting.popleft()
                self._available -= size
                served.append(granted)
        for granted in served:
            granted()
