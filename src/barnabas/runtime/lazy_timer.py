"""One timer of a loop for deadlines that are set often and hardly ever come.

Setting and cancelling a timer of asyncio per request costs as much as the request's encoding. A
lazy timer is left running when a later deadline takes the place of an earlier one: it then fires
too early, and its callback looks at what is really due and sets it again.
"""

import asyncio
from collections.abc import Callable


class LazyTimer:
    """Calls `callback` on the loop at the earliest time asked for, or before: it must check."""

    __slots__ = ("_callback", "_handle", "_loop")

    def __init__(self, loop: asyncio.AbstractEventLoop, callback: Callable[[], None]) -> None:
        self._loop = loop
        self._callback = callback
        self._handle: asyncio.TimerHandle | None = None

    def set(self, when_s: float) -> None:
        """Fire no later than at `when_s` of the loop's time."""
        handle = self._handle
        if handle is not None:
            if handle.when() <= when_s:
                return
            handle.cancel()
        self._handle = self._loop.call_at(when_s, self._fire)

    def cancel(self) -> None:
        if self._handle is not None:
            self._handle.cancel()
            self._handle = None

    def _fire(self) -> None:
        self._handle = None
        self._callback()
