"""Clocks under the control of a test.

`VirtualClock` moves only when a test advances it; for code that takes a `Clock`. `BrokerClock` is
the clock of a broker under test: it runs normally and can be advanced. The broker takes timestamps
and deadlines from it, and its event loop takes timers from the same offset. One `advance` therefore
triggers retention, session timeouts and the expiry of transactions together, as if the time had
passed.
"""

import asyncio
import threading

from barnabas.model.errors import LocalError
from barnabas.runtime.clock import SystemClock


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
        """Advances wall and monotonic time."""
        if ms < 0:
            raise ValueError(f"cannot advance by a negative time: {ms}")
        self._now_ms += ms
        self._monotonic_ms += ms

    def jump_wall(self, ms: int) -> None:
        """Changes only the wall clock, in either direction, as NTP or an operator can."""
        self._now_ms += ms


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
        """Advances the clock and waits until timers that are due have started."""
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
