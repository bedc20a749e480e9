"""A broker's time under a test's control: it runs, and can be moved ahead.

The clock gives the broker its timestamps and deadlines, and the event loop below takes its timers
from the same offset; so one `advance` makes retention, session time-outs and the expiry of
transactions due together, as if the time had passed.
"""

import asyncio
import threading

from barnabas.model.errors import LocalError
from barnabas.runtime.clock import SystemClock


class BrokerClock:
    """A `Clock` that is the machine's, plus what the test has added. `advance` from any thread."""

    def __init__(self) -> None:
        self._system = SystemClock()
        self._ahead_ms = 0
        self._loop: asyncio.AbstractEventLoop | None = None

    @property
    def ahead_ms(self) -> int:
        """How far this clock is ahead of the machine's."""
        return self._ahead_ms

    def now_ms(self) -> int:
        return self._system.now_ms() + self._ahead_ms

    def monotonic_ms(self) -> int:
        return self._system.monotonic_ms() + self._ahead_ms

    def advance(self, ms: int) -> None:
        """Let time pass for the broker at once, and wait until what is due has been started."""
        if ms < 0:
            raise ValueError(f"time does not go back: {ms}")
        loop = self._loop
        if loop is None or loop.is_closed():
            raise LocalError("the broker is not running")
        moved = threading.Event()

        def move() -> None:
            self._ahead_ms += ms
            # Timers due now run in the loop's next turn, what follows them in the turn after it.
            loop.call_soon(loop.call_soon, loop.call_soon, moved.set)

        loop.call_soon_threadsafe(move)
        moved.wait()

    def new_loop(self) -> asyncio.AbstractEventLoop:
        """An event loop whose timers follow this clock."""
        self._loop = _ShiftedLoop(self)
        return self._loop


class _ShiftedLoop(asyncio.SelectorEventLoop):
    def __init__(self, clock: BrokerClock) -> None:
        self._clock = clock
        super().__init__()

    def time(self) -> float:
        return super().time() + self._clock.ahead_ms / 1000
