"""Measures the transfer rate of a peer."""


class Progress:
    """Counts transferred bytes to detect slow peers; the caller passes the time."""

    __slots__ = ("_bytes", "_since_ms", "last_ms")

    def __init__(self, now_ms: int) -> None:
        self.last_ms = now_ms
        self._since_ms = now_ms
        self._bytes = 0

    def moved(self, count: int, now_ms: int) -> None:
        self._bytes += count
        self.last_ms = now_ms

    def restart(self, now_ms: int) -> None:
        """Starts a new measurement."""
        self._since_ms = now_ms
        self._bytes = 0

    def too_slow(self, now_ms: int, window_ms: int, min_bytes: int) -> bool:
        """Whether a whole window had fewer than `min_bytes`; otherwise starts a new window."""
        if now_ms - self._since_ms < window_ms:
            return False
        if self._bytes < min_bytes:
            return True
        self.restart(now_ms)
        return False

    def stuck(self, now_ms: int, window_ms: int, min_bytes: int) -> bool:
        """Whether a window had no bytes, or the average per window is below `min_bytes`."""
        if now_ms - self.last_ms >= window_ms:
            return True
        elapsed = now_ms - self._since_ms
        return elapsed >= window_ms and self._bytes * window_ms < min_bytes * elapsed
