"""Latencies of many sends, and their percentiles."""

import time
from collections.abc import Callable
from typing import Any


class Latencies:
    """Filled from the producer's thread, read when all is delivered."""

    def __init__(self) -> None:
        self.values_ms: list[float] = []
        self._error: BaseException | None = None

    def timer(self) -> Callable[[Any], None]:
        """A delivery callback that notes the time since now."""
        started = time.perf_counter()

        def delivered(future: Any) -> None:
            error = future.exception(0)
            if error is not None:
                self._error = error
            self.values_ms.append((time.perf_counter() - started) * 1000)

        return delivered

    def check(self) -> None:
        """Raise the error of a record that was not delivered."""
        if self._error is not None:
            raise self._error

    def percentile(self, share: float) -> float:
        """
        >>> latencies = Latencies(); latencies.values_ms = [1.0, 2.0, 3.0, 4.0]
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
