"""The system clock; a request reads it several times.

Compiled, it calls the operating system without Python's function and number in between. Compiled
by Cython as it stands; works uncompiled too.
"""

from __future__ import annotations

from time import monotonic_ns, perf_counter_ns, time_ns

try:
    import cython
except ImportError:
    from barnabas.model import _cython_shim as cython

if cython.compiled:
    from cython.cimports.barnabas.runtime._clock_calls import barnabas_perf_ns, barnabas_time_ns

COMPILED: bool = cython.compiled

_NS_PER_MS = cython.declare(cython.longlong, 1_000_000)


def perf_ns() -> cython.longlong:
    """Returns the same as `time.perf_counter_ns`."""
    if cython.compiled:
        now_ns: cython.longlong = barnabas_perf_ns()
        if now_ns >= 0:
            return now_ns
    return perf_counter_ns()


@cython.cclass
class SystemClock:
    """Implements `Clock` with the clocks of the operating system."""

    __slots__ = ()

    def now_ms(self) -> int:
        now_ns: cython.longlong = -1
        if cython.compiled:
            now_ns = barnabas_time_ns()
        if now_ns < 0:
            now_ns = time_ns()
        return now_ns // _NS_PER_MS

    def monotonic_ms(self) -> int:
        # `perf_counter_ns` reads the monotonic clock here; this call creates no Python number.
        now_ns: cython.longlong = -1
        if cython.compiled:
            now_ns = barnabas_perf_ns()
        if now_ns < 0:
            now_ns = monotonic_ns()
        return now_ns // _NS_PER_MS
