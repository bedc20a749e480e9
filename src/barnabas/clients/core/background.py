"""Background work of a client on its event loop: named tasks, and steps that an event wakes."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Hashable

from barnabas.model.errors import BarnabasError
from barnabas.runtime.clock import Clock

logger = logging.getLogger(__name__)


async def run_steps(step: Callable[[int], int], woken: asyncio.Event, clock: Clock) -> None:
    """Calls `step(now_ms)` until cancelled: when `woken` is set, or after the time it returned.

    Args:
        step: Returns the milliseconds after which it must be called again.
        woken: Is cleared before each step.
        clock: The source of `now_ms`.
    """
    while True:
        woken.clear()
        wait_ms = step(clock.monotonic_ms())
        try:
            async with asyncio.timeout(wait_ms / 1000):
                await woken.wait()
        except TimeoutError:
            pass


class Background:
    """Runs at most one task of each name at a time, on the client's event loop.

    After an error it calls `on_failure(name, error)`, and no task of this name starts for
    `pause_s` seconds. `on_done` is called after each task. `close` cancels all tasks.
    """

    def __init__(
        self,
        pause_s: float,
        on_done: Callable[[], None],
        on_failure: Callable[[Hashable, BarnabasError], None] = lambda name, error: None,
    ) -> None:
        self._pause_s = pause_s
        self._on_failure = on_failure
        self._on_done = on_done
        self._tasks: dict[Hashable, asyncio.Task[None]] = {}

    def __bool__(self) -> bool:
        """Whether a task is running."""
        return bool(self._tasks)

    def busy(self, what: Hashable) -> bool:
        """Whether a task of this name is running or pauses after an error."""
        return what in self._tasks

    def run(self, what: Hashable, work: Callable[[], Awaitable[object]]) -> None:
        """Starts a task unless one of this name is running."""
        if what not in self._tasks:
            self._tasks[what] = asyncio.get_running_loop().create_task(self._guarded(what, work))

    async def close(self) -> None:
        """Cancels all tasks and waits for their end."""
        tasks = list(self._tasks.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _guarded(self, what: Hashable, work: Callable[[], Awaitable[object]]) -> None:
        try:
            await work()
        except BarnabasError as error:
            logger.debug("%s: %s", what, error)
            self._on_failure(what, error)
            await asyncio.sleep(self._pause_s)
        finally:
            del self._tasks[what]
            self._on_done()
