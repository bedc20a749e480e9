"""The logs of one broker and their periodic jobs.

Long operations run on three threads, so that a flush does not wait for compaction or file deletion.
"""

import asyncio
import logging
import resource
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import AsyncExitStack
from functools import partial

from barnabas.broker.config import BrokerConfig
from barnabas.broker.config_layers import ConfigLayers
from barnabas.broker.config_watch import ConfigWatch
from barnabas.broker.disk_jobs import CheckpointWriter, Flusher, LogMover
from barnabas.broker.startup import keep_doubtful
from barnabas.broker.tasks import PARTITIONS_PER_SLICE, PeriodicJobs, check_in_sync
from barnabas.model.errors import BrokerError
from barnabas.model.ids import ZERO_UUID, TopicPartition, Uuid
from barnabas.replication.replica_manager import ReplicaManager
from barnabas.runtime.clock import Clock
from barnabas.runtime.slices import slices_of
from barnabas.storage import file_names
from barnabas.storage.errors import storage_error
from barnabas.storage.filesystem import FileSystem, OsFileSystem
from barnabas.storage.local_log import FlushTask
from barnabas.storage.log import Log
from barnabas.storage.log_config import LogConfig
from barnabas.storage.log_manager import LogManager
from barnabas.storage.maintenance import PurgeTask

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
# Flushes, compaction and the deletion of files run beside each other.
_THREADS = 3
# A stop flushes all logs; a flush mostly waits for the disk.
_STOP_THREADS = 16
_MOVE_RATE = "replica.alter.log.dirs.io.max.bytes.per.second"


class LogStore:
    """A `replication.ports.LogSource`; owned by the broker's loop."""

    def __init__(self, logs: LogManager, configs: "LogConfigs") -> None:
        self._logs = logs
        self._configs = configs

    def get(self, topic_partition: TopicPartition) -> Log | None:
        return self._logs.get(topic_partition)

    def get_or_create(
        self, topic_partition: TopicPartition, topic_id: Uuid, *, is_new: bool
    ) -> Log:
        found = self._logs.get(topic_partition)
        offline = self._logs.dirs.offline
        if found is None and offline and not is_new:
            # The log may be in the offline directory: an empty log instead could become leader,
            # and acknowledged records would be lost (KIP-112).
            raise storage_error(f"{topic_partition} may be in {offline[0]}, which is offline")
        if found is not None and topic_id != ZERO_UUID and found.topic_id not in (None, topic_id):
            # The topic was deleted and created again while this broker was down: the log here
            # belongs to the deleted topic (KAFKA-12257).
            self._logs.delete(topic_partition)
        known_id = None if topic_id == ZERO_UUID else topic_id
        return self._logs.get_or_create(
            topic_partition, known_id, self._configs.of(topic_partition.topic)
        )

    def delete(self, topic_partition: TopicPartition) -> None:
        if self._logs.get(topic_partition) is not None:
            self._logs.delete(topic_partition)


class LogConfigs:
    """Log configurations of topics; topics with the same overrides share one object.

    Deriving a configuration parses about thirty values, and a start needs one for each partition.
    """

    def __init__(self, layers: ConfigLayers) -> None:
        self._layers = layers
        self._version = layers.broker_version
        self._known: dict[tuple[tuple[str, str], ...], LogConfig] = {}

    def of(self, topic: str) -> LogConfig:
        if self._version != self._layers.broker_version:
            self._version = self._layers.broker_version
            self._known.clear()
        overrides = tuple(sorted(self._layers.topic_overrides(topic).items()))
        config = self._known.get(overrides)
        if config is None:
            config = LogConfig.from_values(self._layers.topic_values(topic))
            self._known[overrides] = config
        return config


class StorageJobs:
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
        self._jobs = PeriodicJobs()

    def start(
        self, replicas: ReplicaManager, configs: ConfigWatch, checkpoints: CheckpointWriter
    ) -> None:
        config, logs, every = self._config, self._logs, self._jobs.every
        every(config["log.retention.check.interval.ms"], "retention", self._retain)
        every(_PURGE_MS, "purge", self._purge)
        every(_ROOM_CHECK_MS, "room-check", logs.dirs.check_room)
        for key, name in _CHECKPOINTS.items():
            every(config[key], name, partial(checkpoints.write, name))
        every(
            config["replica.high.watermark.checkpoint.interval.ms"],
            "doubtful-replicas",
            lambda: keep_doubtful(logs, replicas.doubtful),
        )
        flush_ms = min(config["log.flush.interval.ms"] or _FLUSH_CHECK_MS, _FLUSH_CHECK_MS)
        every(max(flush_ms, 1), "flush", self._flush)
        in_sync_check = partial(check_in_sync, replicas)
        every(config["replica.lag.time.max.ms"] / 2, "in-sync-check", in_sync_check)
        every(
            _NOTIFICATIONS_MS,
            "config-notifications",
            lambda: configs.purge_notifications(self._clock.now_ms()),
        )

        if config["log.cleaner.enable"]:
            every(self._cleaner_backoff_ms, "cleaner", self._clean)

    async def stop(self) -> None:
        await self._jobs.stop()

    async def _retain(self) -> None:
        maintenance = self._logs.maintenance
        async for logs in slices_of(maintenance.logs(), PARTITIONS_PER_SLICE):
            maintenance.run_retention(self._clock.now_ms(), logs)

    async def _flush(self) -> None:
        maintenance = self._logs.maintenance
        async for logs in slices_of(maintenance.logs_to_check(), PARTITIONS_PER_SLICE):
            for log in maintenance.logs_to_flush(logs):
                await self._flush_log(log)

    async def _flush_log(self, log: Log) -> None:
        try:
            await self._flusher.flush_log(log)
        except BrokerError as error:
            if not log.health.failing:  # a failing log was already logged
                _logger.warning("flush of %s failed: %s", log.topic_partition, error)

    async def _purge(self) -> None:
        """Unlinks deleted files; directories of deleted logs also if no other log is left."""
        maintenance = self._logs.maintenance
        await self._unlink(maintenance.begin_purge(()))
        async for logs in slices_of(maintenance.logs_to_purge(), PARTITIONS_PER_SLICE):
            await self._unlink(maintenance.begin_purge(logs))

    async def _unlink(self, task: PurgeTask | None) -> None:
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
        """Runs a job in a thread to its end, even if the caller is cancelled; `stop` waits."""
        running = asyncio.get_running_loop().run_in_executor(self._executor, run)
        try:
            await asyncio.shield(running)
        finally:
            await asyncio.wait([running])


def run_in_threads(tasks: Sequence[FlushTask]) -> None:
    """Runs flushes on threads of their own, at the stop of a broker."""
    with ThreadPoolExecutor(_STOP_THREADS, "barnabas-stop") as pool:
        for future in [pool.submit(task.run) for task in tasks]:
            future.result()


class BrokerStorage:
    """Lifecycle: `acquire` the directories, `load` the logs, `work` on them; the stack undoes it.

    Owned by the broker's loop.
    """

    def __init__(
        self,
        config: BrokerConfig,
        clock: Clock,
        layers: ConfigLayers,
        filesystem: FileSystem | None = None,
    ) -> None:
        self._config = config
        self._clock = clock
        self._layers = layers
        self.log_configs = LogConfigs(layers)
        self.logs = LogManager(
            filesystem or OsFileSystem(),
            config.log_dirs,
            clock,
            config_for=self.log_configs.of,
            producer_expiration_ms=config["producer.id.expiration.ms"],
            dedupe_buffer_bytes=config["log.cleaner.dedupe.buffer.size"],
        )
        # The other half of the descriptors is for connections and short operations.
        self.logs.open_files.limit = resource.getrlimit(resource.RLIMIT_NOFILE)[0] // 2
        self.executor = ThreadPoolExecutor(_THREADS, "barnabas-disk")
        self.flusher = Flusher(self.executor, clock)
        self.checkpoints = CheckpointWriter(self.logs, self.executor)
        self.mover = LogMover(self.logs, self.flusher, self.executor, clock)

    @property
    def flush_before_ack(self) -> bool:
        """Whether all topics acknowledge records only after an fsync."""
        config = self._config
        return bool(config["fsync.before.ack"] or config["log.flush.interval.messages"] == 1)

    def acquire(self, stack: AsyncExitStack) -> None:
        """Locks the directories."""
        stack.callback(self.logs.dirs.release)
        self.logs.dirs.acquire()

    def load(self, stack: AsyncExitStack) -> None:
        """Loads every log; the stack later waits for running flushes and closes the logs."""
        self.logs.start()
        stack.callback(self.logs.shutdown, run_in_threads)
        stack.push_async_callback(self.flusher.drain)

    def work(self, stack: AsyncExitStack, replicas: ReplicaManager, configs: ConfigWatch) -> None:
        """Starts the periodic jobs and continues moves between directories."""
        jobs = StorageJobs(
            self._config,
            self._clock,
            self.logs,
            self.flusher,
            self.executor,
            lambda: self._layers.broker_value("log.cleaner.backoff.ms"),
        )
        jobs.start(replicas, configs, self.checkpoints)
        stack.push_async_callback(jobs.stop)
        self.logs.moves.on_swapped = lambda log: replicas.replace_log(log.topic_partition, log)
        self.mover.wake()
        stack.push_async_callback(self.mover.stop)

    def topic_settings_changed(self, topics: Iterable[str]) -> None:
        """Applies the settings of these topics to their logs."""
        for topic in topics:
            self.logs.update_config(topic, self.log_configs.of(topic))

    def broker_settings_changed(self) -> None:
        self.mover.throttle.set_rate(self._layers.broker_value(_MOVE_RATE))
        dedupe_bytes = self._layers.broker_value("log.cleaner.dedupe.buffer.size")
        self.logs.maintenance.cleaning.set_dedupe_buffer(dedupe_bytes)
