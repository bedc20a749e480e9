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
        task = asyncio.get_running_loop().create_task(_logged(work))
        self._running.add(task)
        task.add_done_callback(self._running.discard)

    async def stop(self) -> None:
        for task in self._running:
            task.cancel()
        await asyncio.gather(*self._running, return_exceptions=True)


async def _logged(work: Coroutine[Any, Any, None]) -> None:
    try:
        await work
    except (BarnabasError, OSError) as error:
        _logger.warning("%s failed: %s", work, error)
    except Exception:
        _logger.exception("%s failed", work)
