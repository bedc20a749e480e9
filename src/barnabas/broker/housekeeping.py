"""The periodic work of a broker: retention, checkpoints, flushes, in-sync checks, compaction."""

import asyncio
import logging
from collections.abc import Callable
from concurrent.futures import Executor
from functools import partial

from barnabas.broker.boot import keep_doubtful
from barnabas.broker.config import BrokerConfig
from barnabas.broker.config_watch import ConfigWatch
from barnabas.broker.flusher import Flusher
from barnabas.broker.periodic import PeriodicJobs
from barnabas.model.clock import Clock
from barnabas.model.errors import BrokerError
from barnabas.replication.replica_manager import ReplicaManager
from barnabas.storage import file_names
from barnabas.storage.checkpoints import BackgroundCheckpoints
from barnabas.storage.log_manager import LogManager

_logger = logging.getLogger("barnabas.broker")

# Files are deleted after `file.delete.delay.ms`, independent of the retention interval.
_PURGE_MS = 1000
_FLUSH_CHECK_MS = 1000
_ROOM_CHECK_MS = 5000
_CHECKPOINTS = {
    "log.flush.offset.checkpoint.interval.ms": file_names.RECOVERY_POINTS,
    "log.flush.start.offset.checkpoint.interval.ms": file_names.LOG_START_OFFSETS,
    "replica.high.watermark.checkpoint.interval.ms": file_names.HIGH_WATERMARKS,
}
_NOTIFICATIONS_MS = 60_000


class Housekeeping:
    """Starts and owns the periodic jobs of one broker; owned by its loop."""

    def __init__(
        self,
        config: BrokerConfig,
        clock: Clock,
        logs: LogManager,
        flusher: Flusher,
        executor: Executor,
        cleaner_backoff_ms: Callable[[], float],
    ) -> None:
        self._cleaner_backoff_ms = cleaner_backoff_ms
        self._config = config
        self._clock = clock
        self._logs = logs
        self._flusher = flusher
        self._executor = executor
        self._checkpoints = BackgroundCheckpoints(logs.dirs, logs.checkpoints)
        self._jobs = PeriodicJobs()

    def start(self, replicas: ReplicaManager, configs: ConfigWatch) -> None:
        config, logs, every = self._config, self._logs, self._jobs.every
        every(
            config["log.retention.check.interval.ms"],
            "retention",
            lambda: logs.maintenance.run_retention(self._clock.now_ms()),
        )
        every(_PURGE_MS, "purge", self._purge)
        every(_ROOM_CHECK_MS, "room-check", logs.dirs.check_room)
        for key, name in _CHECKPOINTS.items():
            every(config[key], name, partial(self._checkpoint, name))
        every(
            config["replica.high.watermark.checkpoint.interval.ms"],
            "doubtful-replicas",
            lambda: keep_doubtful(logs, replicas.doubtful),
        )
        flush_ms = min(config["log.flush.interval.ms"] or _FLUSH_CHECK_MS, _FLUSH_CHECK_MS)
        every(max(flush_ms, 1), "flush", self._flush)
        every(config["replica.lag.time.max.ms"] / 2, "in-sync-check", replicas.tick)
        every(
            _NOTIFICATIONS_MS,
            "config-notifications",
            lambda: configs.purge_notifications(self._clock.now_ms()),
        )

        if config["log.cleaner.enable"]:
            every(self._cleaner_backoff_ms, "cleaner", self._clean)

    async def stop(self) -> None:
        await self._jobs.stop()

    async def _flush(self) -> None:
        for log in self._logs.maintenance.logs_to_flush():
            try:
                await self._flusher.flush_log(log)
            except BrokerError as error:
                if not log.health.failing:  # a failing log was already logged
                    _logger.warning("flush of %s failed: %s", log.topic_partition, error)

    async def _checkpoint(self, name: str) -> None:
        loop = asyncio.get_running_loop()
        for task in self._checkpoints.begin(name):
            await loop.run_in_executor(self._executor, task.run)
            self._checkpoints.finish(task)

    async def _purge(self) -> None:
        task = self._logs.maintenance.begin_purge()
        if task is not None:
            try:
                await self._to_the_end(task.run)
            finally:
                self._logs.maintenance.finish_purge(task)

    async def _clean(self) -> None:
        """Compacts one log after the other until none needs compaction."""
        while (task := self._logs.maintenance.begin_clean(self._clock.now_ms())) is not None:
            try:
                await self._to_the_end(task.run)
            finally:
                self._logs.maintenance.finish_clean(task)

    async def _to_the_end(self, run: Callable[[], None]) -> None:
        """Runs a job that cannot be cancelled in a thread; a stop waits for its end."""
        running = asyncio.get_running_loop().run_in_executor(self._executor, run)
        try:
            await asyncio.shield(running)
        finally:
            await asyncio.wait([running])
