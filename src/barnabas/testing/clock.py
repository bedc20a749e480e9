"""The clock of a broker under test: it runs normally and can be advanced.

The broker takes timestamps and deadlines from this clock, and its event loop takes timers from the
same offset. One `advance` therefore triggers retention, session timeouts and the expiry of
transactions together, as if the time had passed.
"""

import asyncio
import threading

from barnabas.model.errors import LocalError
from barnabas.runtime.clock import SystemClock


class BrokerClock:
    """The system clock plus an offset; `advance` may be called from any thread."""

    def __init__(self) -> None:
        self._system = SystemClock()
        self._ahead_ms = 0
        self._loop: asyncio.AbstractEventLoop | None = None

    @property
    def ahead_ms(self) -> int:
        """The offset from the system clock in milliseconds."""
        return self._ahead_ms

    def now_ms(self) -> int:
        return self._system.now_ms() + self._ahead_ms

    def monotonic_ms(self) -> int:
        return self._system.monotonic_ms() + self._ahead_ms

    def advance(self, ms: int) -> None:
        """Advance the clock and wait until timers that are due have started."""
        if ms < 0:
            raise ValueError(f"cannot advance by a negative time: {ms}")
        loop = self._loop
        if loop is None or loop.is_closed():
            raise LocalError("the broker is not running")
        moved = threading.Event()

        def move() -> None:
            self._ahead_ms += ms
            # Due timers run in the next loop iteration, callbacks they schedule in the one after.
            loop.call_soon(loop.call_soon, loop.call_soon, moved.set)

        loop.call_soon_threadsafe(move)
        moved.wait()

    def new_loop(self) -> asyncio.AbstractEventLoop:
        """Returns an event loop whose timers use this clock."""
        self._loop = _ShiftedLoop(self)
        return self._loop


class _ShiftedLoop(asyncio.SelectorEventLoop):
    def __init__(self, clock: BrokerClock) -> None:
        self._clock = clock
        super().__init__()

    def time(self) -> float:
        return super().time() + self._clock.ahead_ms / 1000
