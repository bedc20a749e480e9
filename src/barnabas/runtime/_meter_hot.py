"""Meter: count, sum, largest and smallest of recorded values, also of the last sample windows.

Compiled by Cython as it stands, with the C types of `_meter_hot.pxd`; works uncompiled too. One
thread records; it does not read the clock. The owner calls `roll` at the end of each sample window
(`metrics.sample.window.ms`), so a value costs about 30 ns compiled and 100 ns in Python.
"""

from __future__ import annotations

try:
    import cython
except ImportError:
    from barnabas.model import _cython_shim as cython

COMPILED: bool = cython.compiled


@cython.final
@cython.cclass
class Meter:
    """Values of 0 or more; `created_ms` is the monotonic time from which rates count.

    >>> meter = Meter()
    >>> meter.record(5)
    >>> meter.record(7)
    >>> meter.recent()
    (2, 12, 7, 5)
    """

    __slots__ = ("_bases", "_largest", "_peaks", "_smallest", "count", "created_ms", "total")

    def __init__(self, created_ms: int = 0) -> None:
        self.created_ms = created_ms
        self.count = 0
        self.total = 0
        self._largest = self._smallest = -1
        self._bases: list[tuple[int, int]] = [(0, 0)]
        self._peaks: list[tuple[int, int]] = []

    def record(self, value: cython.longlong) -> None:
        """Adds a value; the caller chooses the unit."""
        self.count += 1
        self.total += value
        if value > self._largest:
            self._largest = value
        if value < self._smallest or self._smallest < 0:
            self._smallest = value

    def roll(self, samples: int) -> None:
        """Begins a window; `samples` windows are kept, including the new one."""
        self._bases.append((self.count, self.total))
        self._peaks.append((self._largest, self._smallest))
        self._largest = self._smallest = -1
        del self._bases[: max(len(self._bases) - samples, 0)]
        del self._peaks[: max(len(self._peaks) - samples + 1, 0)]

    def recent(self) -> tuple[int, int, int, int]:
        """Returns count, sum, largest and smallest of the kept windows; -1 if there are none."""
        count, total = self._bases[0]
        peaks = [*self._peaks, (self._largest, self._smallest)]
        largest = max(peak for peak, _ in peaks)
        smallest = min((low for _, low in peaks if low >= 0), default=-1)
        return self.count - count, self.total - total, largest, smallest
