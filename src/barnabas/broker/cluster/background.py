"""Work that nobody waits for, owned all the same."""

import asyncio
import logging
from collections.abc import Coroutine
from typing import Any

from barnabas.model.errors import BarnabasError

_logger = logging.getLogger("barnabas.broker")


class BackgroundTasks:
    """Tasks under way on the broker's loop; what still runs at the end is cancelled."""

    def __init__(self) -> None:
        self._running: set[asyncio.Task[None]] = set()

    def start(self, work: Coroutine[Any, Any, None]) -> None:
        # The task has the work itself: one inside a wrapper that is cancelled before its first
        # step would never be awaited.
        task = asyncio.get_running_loop().create_task(work)
        self._running.add(task)
        task.add_done_callback(self._ended)

    async def stop(self) -> None:
        for task in self._running:
            task.cancel()
        await asyncio.gather(*self._running, return_exceptions=True)

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._running.discard(task)
        error = None if task.cancelled() else task.exception()
        if isinstance(error, BarnabasError | OSError):
            _logger.warning("%s failed: %s", task.get_coro(), error)
        elif error is not None:
            _logger.error("%s failed", task.get_coro(), exc_info=error)
