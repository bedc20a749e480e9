"""Background tasks of a broker, with logged failures."""

import asyncio
import logging
from collections.abc import Coroutine
from typing import Any

from barnabas.model.errors import BarnabasError

_logger = logging.getLogger("barnabas.broker")


class BackgroundTasks:
    """Owns tasks on the broker's loop; `stop` cancels the running ones."""

    def __init__(self) -> None:
        self._running: set[asyncio.Task[None]] = set()

    def start(self, work: Coroutine[Any, Any, None]) -> None:
        # No wrapper coroutine: if it were cancelled before its first step, `work` would never be
        # awaited.
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
