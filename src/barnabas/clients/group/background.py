"""Work beside a driver's loop: one task per thing at a time, errors logged, all ended on close."""

import asyncio
import logging
from collections.abc import Callable, Coroutine
from typing import Any

from barnabas.model.errors import BarnabasError

logger = logging.getLogger(__name__)


class BackgroundWork:
    """Owned by one event loop. `on_end` is called after each piece of work."""

    def __init__(self, on_end: Callable[[], None], pause_s: float) -> None:
        self._on_end = on_end
        self._pause_s = pause_s
        self._running: dict[object, asyncio.Task[None]] = {}

    def busy(self, what: object) -> bool:
        return what in self._running

    def start(self, what: object, work: Callable[[], Coroutine[Any, Any, object]]) -> None:
        """Run `work` unless the same thing is being done; a failure is followed by a pause."""
        if what not in self._running:
            task = asyncio.get_running_loop().create_task(self._guarded(what, work))
            self._running[what] = task

    async def close(self) -> None:
        tasks = list(self._running.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _guarded(self, what: object, work: Callable[[], Coroutine[Any, Any, object]]) -> None:
        try:
            await work()
        except BarnabasError as error:
            logger.debug("%s: %s", what, error)
            await asyncio.sleep(self._pause_s)
        finally:
            del self._running[what]
            self._on_end()
