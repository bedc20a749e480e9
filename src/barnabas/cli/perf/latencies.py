"""Latencies of many sends, and their percentiles.

A callback for each record would cost more than sending it, so every so many records one is timed;
of the others only failures are looked for, when they are long done.
"""

import time
from collections import deque
from collections.abc import Callable
from typing import Any

SAMPLE_EVERY = 50
WINDOW = 20_000


class Latencies:
    """Filled from the producer's thread, read when all is delivered."""

    def __init__(self) -> None:
        self.values_ms: list[float] = []
        self._lists: tuple[list[float], ...] = (self.values_ms,)
        self._sent = 0
        self._under_way: deque[Any] = deque()

    def send(self, producer: Any, topic: str, value: bytes) -> None:
        """Send a record; raises the error of an earlier one that was not delivered."""
        timer = self._timer() if self._sent % SAMPLE_EVERY == 0 else None
        self._sent += 1
        self._under_way.append(producer.send(topic, value, on_delivery=timer))
        if len(self._under_way) >= WINDOW:
            self._check(WINDOW // 2)

    def finish(self, producer: Any) -> None:
        """Wait for everything."""
        producer.flush()
        self._check(0)

    def _check(self, leave: int) -> None:
        while len(self._under_way) > leave:
            self._under_way.popleft().result()

    def _timer(self) -> Callable[[Any], None]:
        """A delivery callback that notes the time since now."""
        started, lists = time.perf_counter(), self._lists

        def delivered(_: Any) -> None:
            elapsed_ms = (time.perf_counter() - started) * 1000
            for values in lists:
                values.append(elapsed_ms)

        return delivered

    def later(self) -> "Latencies":
        """The latencies of what is sent from now on; they count here too."""
        child = Latencies()
        self._lists = (*self._lists, child.values_ms)
        return child

    def percentile(self, share: float) -> float:
        """
        >>> latencies = Latencies(); latencies.values_ms.extend([1.0, 2.0, 3.0, 4.0])
        >>> latencies.percentile(0.5), latencies.percentile(0.99)
        (3.0, 4.0)
        """
        ordered = sorted(self.values_ms)
        return ordered[min(int(len(ordered) * share), len(ordered) - 1)] if ordered else 0.0

    @property
    def average(self) -> float:
        return sum(self.values_ms) / len(self.values_ms) if self.values_ms else 0.0

    @property
    def highest(self) -> float:
        return max(self.values_ms, default=0.0)

    def summary(self) -> dict[str, float]:
        return {
            "avg_latency_ms": round(self.average, 2),
            "p50_ms": round(self.percentile(0.5), 2),
            "p95_ms": round(self.percentile(0.95), 2),
            "p99_ms": round(self.percentile(0.99), 2),
            "p999_ms": round(self.percentile(0.999), 2),
            "max_ms": round(self.highest, 2),
        }
