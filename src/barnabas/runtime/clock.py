"""The system clock; the only module that reads real time."""

import time


class SystemClock:
    """Implements `model.clock.Clock` with the clocks of the operating system."""

    __slots__ = ()

    def now_ms(self) -> int:
        return time.time_ns() // 1_000_000

    def monotonic_ms(self) -> int:
        return time.monotonic_ns() // 1_000_000
