"""Wall time that does not jump: what coordinators store in records and compare later."""

from barnabas.model.clock import Clock


class SteadyClock:
    """The wall time at the start, carried on by the monotonic clock.

    Offsets and transactions expire by times that coordinators stored earlier. On a wall clock
    that is set forward a live transaction would be aborted and offsets would be dropped at once;
    here only a restart takes over the new time.
    """

    __slots__ = ("_clock", "_offset_ms")

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._offset_ms = clock.now_ms() - clock.monotonic_ms()

    def now_ms(self) -> int:
        return self._offset_ms + self._clock.monotonic_ms()
