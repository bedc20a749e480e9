"""The logs of one broker and their background jobs.

Long operations run on three threads, so that a flush does not wait for compaction or file deletion.
"""

from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack

from barnabas.broker.config import BrokerConfig
from barnabas.broker.config_layers import ConfigLayers
from barnabas.broker.config_watch import ConfigWatch
from barnabas.broker.flusher import Flusher
from barnabas.broker.housekeeping import Housekeeping
from barnabas.broker.log_mover import LogMover
from barnabas.broker.log_store import log_config
from barnabas.model.clock import Clock
from barnabas.replication.replica_manager import ReplicaManager
from barnabas.storage.filesystem import FileSystem, OsFileSystem
from barnabas.storage.log_manager import LogManager

_THREADS = 3
_MOVE_RATE = "replica.alter.log.dirs.io.max.bytes.per.second"


class StorageSide:
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
        self.logs = LogManager(
            filesystem or OsFileSystem(),
            config.log_dirs,
            clock,
            config_for=lambda topic: log_config(layers, topic),
            producer_expiration_ms=config["producer.id.expiration.ms"],
            dedupe_buffer_bytes=config["log.cleaner.dedupe.buffer.size"],
        )
        self.executor = ThreadPoolExecutor(_THREADS, "barnabas-disk")
        self.flusher = Flusher(self.executor, clock)
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
        stack.callback(self.logs.shutdown)
        stack.push_async_callback(self.flusher.drain)

    def work(self, stack: AsyncExitStack, replicas: ReplicaManager, configs: ConfigWatch) -> None:
        """Starts the periodic jobs and continues moves between directories."""
        housekeeping = Housekeeping(
            self._config,
            self._clock,
            self.logs,
            self.flusher,
            self.executor,
            lambda: self._layers.broker_value("log.cleaner.backoff.ms"),
        )
        housekeeping.start(replicas, configs)
        stack.push_async_callback(housekeeping.stop)
        self.logs.moves.on_swapped = lambda log: replicas.replace_log(log.topic_partition, log)
        self.mover.wake()
        stack.push_async_callback(self.mover.stop)

    def topic_settings_changed(self, topics: Iterable[str]) -> None:
        """Applies the settings of these topics to their logs."""
        for topic in topics:
            self.logs.update_config(topic, log_config(self._layers, topic))

    def broker_settings_changed(self) -> None:
        self.mover.throttle.set_rate(self._layers.broker_value(_MOVE_RATE))
        dedupe_bytes = self._layers.broker_value("log.cleaner.dedupe.buffer.size")
        self.logs.maintenance.cleaning.set_dedupe_buffer(dedupe_bytes)
