"""A clock that moves only when a test advances it; for code that takes a `Clock`."""


class VirtualClock:
    """Wall and monotonic time under the test's control.

    >>> clock = VirtualClock(now_ms=1_000)
    >>> clock.advance(500)
    >>> clock.now_ms(), clock.monotonic_ms()
    (1500, 500)
    >>> clock.jump_wall(-3_600_000)
    >>> clock.monotonic_ms()
    500
    """

    __slots__ = ("_monotonic_ms", "_now_ms")

    def __init__(self, now_ms: int = 1_700_000_000_000, monotonic_ms: int = 0) -> None:
        self._now_ms = now_ms
        self._monotonic_ms = monotonic_ms

    def now_ms(self) -> int:
        return self._now_ms

    def monotonic_ms(self) -> int:
        return self._monotonic_ms

    def advance(self, ms: int) -> None:
        """Advance wall and monotonic time."""
        if ms < 0:
            raise ValueError(f"cannot advance by a negative time: {ms}")
        self._now_ms += ms
        self._monotonic_ms += ms

    def jump_wall(self, ms: int) -> None:
        """Change only the wall clock, in either direction, as NTP or an operator can."""
        self._now_ms += ms
