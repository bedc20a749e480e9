"""Tasks of a broker on its loop: periodic jobs, and background work with logged failures."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Coroutine

from barnabas.model.errors import BarnabasError
from barnabas.replication.replica_manager import ReplicaManager
from barnabas.runtime.slices import slices_of

_logger = logging.getLogger("barnabas.broker")
Job = Callable[[], Awaitable[object] | object]
PARTITIONS_PER_SLICE = 500
"""Partitions that a periodic job handles before other callbacks of the loop run."""


async def check_in_sync(replicas: ReplicaManager) -> None:
    """Runs the periodic check of the partitions with followers."""
    partitions_to_check = tuple(replicas.replicated_partitions())
    async for partitions in slices_of(partitions_to_check, PARTITIONS_PER_SLICE):
        replicas.tick(partitions)


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


class BackgroundTasks:
    """Owns tasks on the broker's loop; `stop` cancels the running ones."""

    def __init__(self) -> None:
        self._running: set[asyncio.Task[None]] = set()

    def start(self, work: Coroutine[object, object, None]) -> None:
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
