"""Pauses between tries: exponential with jitter, so that many clients do not return in step."""

import random


class Backoff:
    """Doubles from `first_ms` to `max_ms`, each pause off by up to a fifth (KIP-580).

    >>> pauses = Backoff(100, 1000)
    >>> 0.08 <= pauses.next_s() <= 0.12
    True
    """

    __slots__ = ("_first_ms", "_max_ms", "_tries")

    def __init__(self, first_ms: int, max_ms: int) -> None:
        self._first_ms = first_ms
        self._max_ms = max(first_ms, max_ms)
        self._tries = 0

    def next_s(self) -> float:
        """Seconds to wait before the next try."""
        pause_ms = min(self._first_ms * 2 ** min(self._tries, 30), self._max_ms)
        self._tries += 1
        return float(pause_ms) * random.uniform(0.8, 1.2) / 1000

    def reset(self) -> None:
        self._tries = 0
