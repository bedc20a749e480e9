"""An event loop timer for deadlines that are set often and rarely expire.

To set and cancel an asyncio timer for each request costs as much as encoding the request. A lazy
timer therefore keeps running when a later deadline replaces an earlier one. It then fires too
early, and its callback checks the deadlines and sets the timer again.
"""

import asyncio
import math
from collections.abc import Callable


class LazyTimer:
    """Calls `callback` on the loop at the earliest time that was set.

    The call may be too early, so the callback must check its deadlines.
    """

    __slots__ = ("_callback", "_due_s", "_handle", "_loop")

    def __init__(self, loop: asyncio.AbstractEventLoop, callback: Callable[[], None]) -> None:
        self._loop = loop
        self._callback = callback
        self._handle: asyncio.TimerHandle | None = None
        self._due_s = math.inf  # of the handle; infinite if there is none

    def set(self, when_s: float) -> None:
        """Makes the timer fire at `when_s` of the loop's time or earlier."""
        if self._due_s <= when_s:
            return
        if self._handle is not None:
            self._handle.cancel()
        self._due_s = when_s
        self._handle = self._loop.call_at(when_s, self._fire)

    def cancel(self) -> None:
        if self._handle is not None:
            self._handle.cancel()
            self._handle = None
            self._due_s = math.inf

    def _fire(self) -> None:
        self._handle = None
        self._due_s = math.inf
        self._callback()
