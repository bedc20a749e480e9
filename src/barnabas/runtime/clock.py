"""The clock protocol, the system clock (in `_clock_hot`), and times as text.

No other module reads real time.

Pure logic receives the time as a parameter; drivers read it from a `Clock`, so that tests can use a
virtual one.
"""

from datetime import UTC, datetime
from typing import Protocol

from barnabas.runtime._clock_hot import SystemClock

__all__ = ["Clock", "SystemClock", "iso_time"]


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


def iso_time(timestamp_ms: int | None) -> str | None:
    """Returns a timestamp as ISO 8601 in UTC with milliseconds.

    None stands for no timestamp, and for one outside the years that `datetime` has: a producer may
    send any number.

    >>> iso_time(0), iso_time(-1), iso_time(2**60)
    ('1970-01-01T00:00:00.000Z', None, None)
    """
    if timestamp_ms is None or timestamp_ms < 0:
        return None
    try:
        moment = datetime.fromtimestamp(timestamp_ms / 1000, UTC)
    except (OverflowError, ValueError, OSError):
        return None
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
