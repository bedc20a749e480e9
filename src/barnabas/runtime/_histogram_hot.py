"""Counter and histogram: the two kinds of metrics that the hot path changes.

Compiled by Cython, with the C types of `_histogram_hot.pxd`; it also runs as plain Python. One
event loop owns each object, so there are no locks. Each request records six values in histograms:
compiled a value costs some 20 instructions, in Python 300 ns.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence

try:
    import cython
except ImportError:
    from barnabas.model import _cython_shim as cython

if cython.compiled:
    from cython.cimports.cpython.array import array as CountArray
else:
    CountArray = array

COMPILED: bool = cython.compiled

QUANTILES = (0.5, 0.75, 0.95, 0.98, 0.99, 0.999)
"""Percentiles of Kafka's histograms."""

# A bucket's index is the exponent of its values and their three bits after the first one.
_SUB_BITS = 3
_SUB = 8
_BUCKETS = 61 * _SUB
_WINDOW_MS = 60_000
_READINGS = 6
_CARRY = cython.declare(cython.longlong, 1 << 61)


@cython.final
@cython.cclass
class Counter:
    """A number that only grows; the owner adds to `value` directly."""

    __slots__ = ("value",)

    def __init__(self) -> None:
        self.value = 0

    def add(self, amount: int = 1) -> None:
        self.value += amount


@cython.final
@cython.cclass
class Histogram:
    """Counts values in buckets whose width is at most 1/8 of their value.

    `quantiles` compares with an earlier reading and so describes a recent time, as Kafka's
    histograms prefer recent values.
    """

    __slots__ = ("_carried", "_counts", "_past", "_recent", "count", "largest")

    def __init__(self) -> None:
        self._counts = array("q", bytes(8 * _BUCKETS))
        self.count = 0
        self.largest = 0
        self._recent = 0
        self._carried = 0
        """The sum of values, without `_recent`; a C number would overflow."""
        self._past: list[tuple[int, int, array[int]]] = []

    def record(self, value: cython.longlong) -> None:
        """Adds a value of 0 or more; the caller chooses the unit."""
        self.count += 1
        if value >= _CARRY or self._recent >= _CARRY:
            self._carried += value
        else:
            self._recent += value
        if value > self.largest:
            self.largest = value
        index: cython.Py_ssize_t = value
        if value >= 8:
            shift: cython.int = 0
            rest: cython.longlong = value
            while rest >= 0x1000:
                rest >>= 8
                shift += 8
            while rest >= 16:
                rest >>= 1
                shift += 1
            index = (shift << 3) + rest
        if cython.compiled:
            self._counts.data.as_longlongs[index] += 1  # type: ignore[attr-defined]
        else:
            self._counts[index] += 1

    def replace_by_sum(self, parts: Sequence[Histogram]) -> None:
        """Makes this histogram the sum of others; its earlier readings are kept."""
        self.count = sum(part.count for part in parts)
        self.largest = max(part.largest for part in parts)
        self._recent = 0
        self._carried = sum(part.total for part in parts)
        self._counts = array("q", bytes(8 * _BUCKETS))
        part: Histogram
        for part in parts:
            _add(self._counts, part._counts)

    def counts(self) -> list[int]:
        """Returns the number of values in each bucket."""
        return list(self._counts)

    def quantiles(
        self, now_ms: int, wanted: Sequence[float] = QUANTILES, window_ms: int = _WINDOW_MS
    ) -> list[float]:
        """Returns the quantiles of about the last `window_ms`; of all values at the beginning.

        Args:
            now_ms: Monotonic time.
            wanted: Quantiles between 0 and 1, in ascending order.
            window_ms: Time that the quantiles describe; the same in all calls.
        """
        before_count, before = self._reading_before(now_ms, window_ms)
        count = self.count - before_count
        if count <= 0:
            return [0.0] * len(wanted)
        found: list[float] = _quantiles(self._counts, before, count, wanted)
        return found

    @property
    def total(self) -> int:
        """The sum of all values."""
        sum_of_all: int = self._carried + self._recent
        return sum_of_all

    def mean(self) -> float:
        """Returns the mean of all values."""
        return self.total / self.count if self.count else 0.0

    def _reading_before(self, now_ms: int, window_ms: int) -> tuple[int, array[int] | None]:
        """Returns the reading of a window ago, if any, and keeps the current one."""
        past = self._past
        while len(past) > 1 and past[1][0] <= now_ms - window_ms:
            past.pop(0)
        before: tuple[int, array[int] | None] = (0, None)
        if past and past[0][0] <= now_ms - window_ms:
            before = (past[0][1], past[0][2])
        if not past or now_ms - past[-1][0] >= window_ms // _READINGS:
            past.append((now_ms, self.count, array("q", self._counts)))
        return before


@cython.final
@cython.cclass
class RequestHistograms:
    """The histograms of one API for requests that are answered at once."""

    __slots__ = ("_local", "_queue", "_remote", "_size", "_total")

    def __init__(
        self,
        size: Histogram,
        queue: Histogram,
        local: Histogram,
        remote: Histogram,
        total: Histogram,
    ) -> None:
        self._size = size
        self._queue = queue
        self._local = local
        self._remote = remote
        self._total = total

    def record(
        self, size: cython.longlong, queue_ns: cython.longlong, local_ns: cython.longlong
    ) -> None:
        """Records a request; negative times, of a clock that was read in another order, as 0."""
        local_ns = max(local_ns, 0)
        self._size.record(size)
        self._queue.record(max(queue_ns, 0))
        self._local.record(local_ns)
        self._remote.record(0)
        self._total.record(local_ns)


@cython.cfunc
def _add(counts: CountArray, more: CountArray) -> None:
    index: cython.Py_ssize_t
    for index in range(len(counts)):
        if cython.compiled:
            counts.data.as_longlongs[index] += more.data.as_longlongs[index]
        else:
            counts[index] += more[index]


@cython.cfunc
def _quantiles(
    counts: CountArray, before: CountArray | None, total: cython.longlong, wanted: Sequence[float]
) -> list:
    """Returns the middle of the bucket of each quantile of the values since `before`."""
    found: list = []
    limit: cython.double = wanted[0] * total
    seen: cython.longlong = 0
    number: cython.longlong
    index: cython.Py_ssize_t
    for index in range(len(counts)):
        if cython.compiled:
            number = counts.data.as_longlongs[index]
            if before is not None:
                number -= before.data.as_longlongs[index]
        else:
            number = counts[index] - (0 if before is None else before[index])
        if number == 0:
            continue
        seen += number
        while seen >= limit:
            found.append(float(_middle(index)))
            if len(found) == len(wanted):
                return found
            limit = wanted[len(found)] * total
    return found


def _middle(index: int) -> int:
    """Returns the middle of a bucket."""
    if index < _SUB:
        return index
    shift = (index >> _SUB_BITS) - 1
    low = (index - (shift << _SUB_BITS)) << shift
    return low + (1 << shift >> 1)
