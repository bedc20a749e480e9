"""The clock protocol and the system clock; no other module reads real time.

Pure logic receives the time as a parameter; drivers read it from a `Clock`, so that tests can use a
virtual one.
"""

import time
from typing import Protocol


class Clock(Protocol):
    """Wall clock time for timestamps in records, files and logs; monotonic time for deadlines.

    The two are never mixed: when the wall clock jumps by an hour, only timestamps may change
    (KAFKA-5415 was caused by logic that compared wall clocks of different hosts).
    """

    def now_ms(self) -> int:
        """Returns milliseconds since 1970; may jump in either direction."""
        ...

    def monotonic_ms(self) -> int:
        """Returns milliseconds since an arbitrary start; never decreases."""
        ...


class SystemClock:
    """Implements `Clock` with the clocks of the operating system."""

    __slots__ = ()

    def now_ms(self) -> int:
        return time.time_ns() // 1_000_000

    def monotonic_ms(self) -> int:
        return time.monotonic_ns() // 1_000_000
