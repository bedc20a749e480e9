"""The controller's one queue: everything it does happens in one task, one event after another.

Watches, replies and requests put events here; none of them touches the controller's state
itself. An event may carry a key, and while one of that key waits another is not added: a hundred
changes of /brokers/topics need one look at it.
"""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from typing import TypeVar

_Result = TypeVar("_Result")
Event = Callable[[], Awaitable[None]]


class EventQueue:
    """Events in order of arrival. `on_error` gets what an event raised and decides what follows."""

    def __init__(self, on_error: Callable[[Exception], None]) -> None:
        self._on_error = on_error
        self._events: deque[tuple[str | None, Event]] = deque()
        self._waiting: set[str] = set()
        self._wake = asyncio.Event()
        self._allowed = asyncio.Event()
        self._allowed.set()

    def put(self, key: str | None, run: Event) -> None:
        if key is not None:
            if key in self._waiting:
                return
            self._waiting.add(key)
        self._events.append((key, run))
        self._wake.set()

    def put_first(self, run: Event) -> None:
        """Before everything that waits: what must be repaired before anything else is done."""
        self._events.appendleft((None, run))
        self._wake.set()

    async def call(self, run: Callable[[], Awaitable[_Result]]) -> _Result:
        """Put a request and wait for its result or error."""
        result: asyncio.Future[_Result] = asyncio.get_running_loop().create_future()

        async def answer() -> None:
            if result.cancelled():
                return
            try:
                value = await run()
            except Exception as error:
                if not result.done():
                    result.set_exception(error)
                raise
            if not result.done():
                result.set_result(value)

        self.put(None, answer)
        return await result

    def pause(self) -> None:
        """Start no further event until `resume`."""
        self._allowed.clear()

    def resume(self) -> None:
        self._allowed.set()

    async def run(self) -> None:
        """Process events for ever; cancel the task to stop."""
        while True:
            await self._allowed.wait()
            if not self._events:
                self._wake.clear()
                await self._wake.wait()
                continue
            key, event = self._events.popleft()
            if key is not None:
                self._waiting.discard(key)
            try:
                await event()
            except Exception as error:  # noqa: BLE001 - the controller's top-level loop
                self._on_error(error)
            # An event need not have waited for anything; others on the loop must get their turn,
            # among them whoever is about to call `pause`.
            await asyncio.sleep(0)
