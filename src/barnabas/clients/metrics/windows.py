"""Sample windows: rates, averages and maxima of meters over the last windows, as Kafka's.

`metrics.num.samples` windows of `metrics.sample.window.ms` are kept, the current one included. A
timer of the client's loop begins a window, so recording a value does not read the clock. Reading
changes nothing: any thread may do it.
"""

import math
from collections.abc import Callable, Iterable
from typing import Literal

from barnabas.runtime._meter_hot import Meter

Meters = Callable[[], Iterable[Meter]]
"""Returns the meters whose values are read as one, for example of all brokers."""
Measure = Literal["count", "total"]


class Windows:
    """The windows of one client; its loop calls `roll`."""

    def __init__(self, samples: int, window_ms: int, now_ms: int) -> None:
        self._samples = samples
        self.window_ms = window_ms
        self._starts = [now_ms]
        self._sources: list[Iterable[Meter]] = []

    def watch(self, meters: Iterable[Meter]) -> None:
        """Begins windows of these meters; they are iterated at the end of each window."""
        self._sources.append(meters)

    def roll(self, now_ms: int) -> None:
        """Begins the windows that have become due."""
        passed = (now_ms - self._starts[-1]) // self.window_ms
        if passed <= 0:
            return
        rolls = min(passed, self._samples)
        current = self._starts[-1] + passed * self.window_ms
        begun = [current - self.window_ms * left for left in reversed(range(rolls))]
        self._starts = [*self._starts, *begun][-self._samples :]
        for source in self._sources:
            for meter in source:
                for _ in range(rolls):
                    meter.roll(self._samples)

    def rate(self, meters: Meters, measure: Measure, now_ms: int) -> float:
        """Returns the number or the sum of values per second.

        As in Kafka, a client that is younger than its windows counts as if it had been idle before:
        a burst at the start is not taken for a high rate.
        """
        recorded, since_ms = 0, now_ms
        for meter in meters():
            count, total, _, _ = meter.recent()
            recorded += count if measure == "count" else total
            since_ms = min(since_ms, max(self._starts[0], meter.created_ms))
        elapsed_ms = now_ms - since_ms
        missing = self._samples - 1 - elapsed_ms // self.window_ms
        elapsed_ms += max(missing, 0) * self.window_ms
        return recorded * 1000 / max(elapsed_ms, 1)


def total(meters: Meters, measure: Measure) -> float:
    """Returns the number or the sum of all values since the client was created."""
    if measure == "count":
        return float(sum(meter.count for meter in meters()))
    return float(sum(meter.total for meter in meters()))


def average(meters: Meters, scale: float) -> float:
    """Returns the mean of the values in the windows; NaN if there are none."""
    recent = [meter.recent() for meter in meters()]
    count = sum(each[0] for each in recent)
    return sum(each[1] for each in recent) * scale / count if count else math.nan


def maximum(meters: Meters, scale: float) -> float:
    """Returns the largest of the values in the windows; NaN if there are none."""
    largest = max((meter.recent()[2] for meter in meters()), default=-1)
    return largest * scale if largest >= 0 else math.nan


def minimum(meters: Meters, scale: float) -> float:
    """Returns the smallest of the values in the windows; NaN if there are none."""
    found = [low for meter in meters() if (low := meter.recent()[3]) >= 0]
    return min(found) * scale if found else math.nan
