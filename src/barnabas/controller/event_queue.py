"""The controller's event queue: one task processes all events, one after another.

Watches, replies and requests only add events; none of them changes the controller's state itself.
An event may have a key. While an event with that key is queued, another one is not added: a
hundred changes of /brokers/topics need one read of its children.
"""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from typing import TypeVar

_Result = TypeVar("_Result")
Event = Callable[[], Awaitable[None]]


class EventQueue:
    """Runs events in order of arrival; `on_error` receives exceptions and decides what to do."""

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
        """Queue `run` before all other events; used to recover state after an error."""
        self._events.appendleft((None, run))
        self._wake.set()

    async def call(self, run: Callable[[], Awaitable[_Result]]) -> _Result:
        """Queue a request and wait for its result; raises the request's exception."""
        result: asyncio.Future[_Result] = asyncio.get_running_loop().create_future()

        async def complete() -> None:
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

        self.put(None, complete)
        return await result

    def pause(self) -> None:
        """Start no further event until `resume`."""
        self._allowed.clear()

    def resume(self) -> None:
        self._allowed.set()

    async def run(self) -> None:
        """Process events until the task is cancelled."""
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
            # An event may finish without yielding to the loop. Other callbacks must run between
            # two events, for example the session listener that calls `pause`.
            await asyncio.sleep(0)
