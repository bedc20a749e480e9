"""Background tasks of the sender: metadata, connections, the producer id."""

import asyncio
import logging
from collections.abc import Awaitable, Callable

from barnabas.model.errors import BarnabasError

logger = logging.getLogger(__name__)


class Background:
    """Runs at most one task of each name at a time, on the sender's loop.

    After a failure it calls `on_refused` and keeps the name busy for `pause_s`; then `on_done`.
    """

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        pause_s: float,
        on_refused: Callable[[str, BarnabasError], None],
        on_done: Callable[[], None],
    ) -> None:
        self._loop = loop
        self._pause_s = pause_s
        self._on_refused = on_refused
        self._on_done = on_done
        self._tasks: dict[str, asyncio.Task[None]] = {}

    def __bool__(self) -> bool:
        """Whether a task is running."""
        return bool(self._tasks)

    def run(self, what: str, work: Callable[[], Awaitable[object]]) -> None:
        if what not in self._tasks:
            self._tasks[what] = self._loop.create_task(self._guarded(what, work))

    async def close(self) -> None:
        tasks = list(self._tasks.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _guarded(self, what: str, work: Callable[[], Awaitable[object]]) -> None:
        try:
            await work()
        except BarnabasError as error:
            logger.debug("%s: %s", what, error)
            self._on_refused(what, error)
            await asyncio.sleep(self._pause_s)
        finally:
            del self._tasks[what]
            self._on_done()
