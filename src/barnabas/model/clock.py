"""The clock protocol: pure logic receives `now` as a parameter, drivers read it from a Clock."""

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
