"""Periodic jobs of a broker, each in its own task."""

import asyncio
import logging
from collections.abc import Awaitable, Callable

from barnabas.model.errors import BarnabasError

_logger = logging.getLogger("barnabas.broker")

Job = Callable[[], Awaitable[object] | object]


class PeriodicJobs:
    """Owns the tasks it starts; owned by the broker's loop."""

    def __init__(self) -> None:
        self._tasks: list[asyncio.Task[None]] = []

    def every(self, interval_ms: float | Callable[[], float], name: str, job: Job) -> None:
        """Runs `job` after each interval; a failure is logged and the job continues.

        Pass a function if the interval can change while the broker runs.
        """
        interval = interval_ms if callable(interval_ms) else lambda: interval_ms
        coroutine = self._repeat(interval, name, job)
        self._tasks.append(asyncio.get_running_loop().create_task(coroutine, name=name))

    async def stop(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self._tasks.clear()

    async def _repeat(self, interval_ms: Callable[[], float], name: str, job: Job) -> None:
        while True:
            await asyncio.sleep(interval_ms() / 1000)
            try:
                outcome = job()
                if isinstance(outcome, Awaitable):
                    await outcome
            except (BarnabasError, OSError) as error:
                _logger.warning("%s failed: %s", name, error)
            except Exception:
                _logger.exception("%s failed", name)
