"""The machine's clock: the one place that reads real time."""

import time


class SystemClock:
    """A `model.clock.Clock` over the operating system's clocks."""

    __slots__ = ()

    def now_ms(self) -> int:
        return time.time_ns() // 1_000_000

    def monotonic_ms(self) -> int:
        return time.monotonic_ns() // 1_000_000
