"""All logs of a broker, over its log directories: loading, creating, deleting, closing.

The rest is in parts that work on the same table of logs: `dirs` (locks, owners, health),
`checkpoints` and `maintenance` (retention, unlinking, flushing, compaction).
"""

import random
import uuid
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from barnabas.model.clock import Clock
from barnabas.model.errors import BrokerError
from barnabas.model.ids import TopicPartition, Uuid
from barnabas.storage.compaction.cleaning import DEFAULT_DEDUPE_BUFFER_BYTES, Cleaning
from barnabas.storage.errors import StorageError, is_passing, storage_error
from barnabas.storage.files import file_names
from barnabas.storage.files.metadata_files import read_topic_id, write_topic_id
from barnabas.storage.filesystem import FileSystem
from barnabas.storage.log import Log
from barnabas.storage.log_config import LogConfig
from barnabas.storage.log_dir import LogDir
from barnabas.storage.management.checkpoints import Checkpoints
from barnabas.storage.management.log_dirs import LogDirs
from barnabas.storage.management.log_table import LogTable
from barnabas.storage.management.maintenance import Maintenance
from barnabas.storage.management.purging import Purging
from barnabas.storage.recovery import OpenParams, open_log

DEFAULT_PRODUCER_EXPIRATION_MS = 24 * 60 * 60 * 1000

ConfigSource = Callable[[str], LogConfig]


class LogManager:
    """Loop-owned. `config_for` answers a topic's settings while logs are loaded at start."""

    def __init__(
        self,
        fs: FileSystem,
        dirs: Sequence[Path | str],
        clock: Clock,
        *,
        config_for: ConfigSource | None = None,
        producer_expiration_ms: int = DEFAULT_PRODUCER_EXPIRATION_MS,
        dedupe_buffer_bytes: int = DEFAULT_DEDUPE_BUFFER_BYTES,
    ) -> None:
        self._fs = fs
        self._clock = clock
        default = LogConfig.from_values()
        self._config_for = config_for or (lambda topic: default)
        self._dice = random.Random()
        self._table = LogTable()
        self._purging = Purging(fs)
        self.dirs = LogDirs(fs, dirs)
        self.checkpoints = Checkpoints(self.dirs, self._table)
        self.maintenance = Maintenance(
            self._table,
            clock,
            self.checkpoints,
            self._purging,
            Cleaning(dedupe_buffer_bytes),
            producer_expiration_ms,
        )

    # Start

    def start(self) -> None:
        """Load every log; after an unclean stop recover those that were written to."""
        self.dirs.acquire()
        for directory in self.dirs.online:
            try:
                self._load(directory)
            except OSError as error:
                directory.health.fail(error)

    def _load(self, directory: LogDir) -> None:
        directory.load_checkpoints()
        self._purging.doom(directory.doomed(), self._clock.monotonic_ms())
        for partition, path in directory.partitions():
            known = self._table.get(partition)
            if known is not None:
                raise StorageError(f"{partition} is in {path} and {known.directory}")
            topic_id = read_topic_id(self._fs, path)
            params = self._params(directory, partition, topic_id, self._config_for(partition.topic))
            self._add(open_log(self._fs, params, directory.health), directory)

    def _params(
        self, directory: LogDir, partition: TopicPartition, topic_id: Uuid | None, config: LogConfig
    ) -> OpenParams:
        return OpenParams(
            directory=directory.path / file_names.partition_dir(partition),
            topic_partition=partition,
            topic_id=topic_id,
            config=config,
            clean=directory.clean,
            recovery_point=directory.offsets(file_names.RECOVERY_POINTS).get(partition, 0),
            log_start_offset=directory.offsets(file_names.LOG_START_OFFSETS).get(partition, 0),
            high_watermark=directory.offsets(file_names.HIGH_WATERMARKS).get(partition, 0),
            now_ms=self._clock.now_ms(),
            jitter_ms=self._jitter(config),
        )

    def _jitter(self, config: LogConfig) -> int:
        limit = min(config.segment_jitter_ms, config.segment_ms)
        return self._dice.randrange(limit) if limit > 0 else 0

    def _add(self, log: Log, directory: LogDir) -> None:
        log.last_flush_ms = self._clock.monotonic_ms()
        cleaned = directory.offsets(file_names.CLEANER_OFFSETS)
        log.cleaned_offset = cleaned.get(log.topic_partition, -1)
        log.on_truncated = self.checkpoints.lower
        self._table.add(log, directory)

    # Logs

    def __iter__(self) -> Iterator[Log]:
        return iter(self._table)

    def __len__(self) -> int:
        return len(self._table)

    def get(self, partition: TopicPartition) -> Log | None:
        return self._table.get(partition)

    def logs_in(self, directory: Path) -> list[Log]:
        return self._table.logs_in(directory)

    def get_or_create(
        self, partition: TopicPartition, topic_id: Uuid | None, config: LogConfig
    ) -> Log:
        """The log of a partition, made in the directory with the fewest if there is none."""
        log = self._table.get(partition)
        if log is not None:
            if log.topic_id is None and topic_id is not None:
                self._sign(log, topic_id)
            return log
        directory = self.dirs.least_loaded()
        self.checkpoints.drop_stale(directory, partition)
        params = self._params(directory, partition, topic_id, config)
        log = self._create(params, directory)
        self._add(log, directory)
        return log

    def _create(self, params: OpenParams, directory: LogDir) -> Log:
        try:
            self._fs.make_dirs(params.directory)
            if params.topic_id is not None:
                write_topic_id(self._fs, params.directory, params.topic_id)
            return open_log(self._fs, params, directory.health)
        except OSError as error:
            if not is_passing(error):
                directory.health.fail(error)
            raise storage_error(error) from error

    def _sign(self, log: Log, topic_id: Uuid) -> None:
        write_topic_id(self._fs, log.directory, topic_id)
        log.topic_id = topic_id

    def update_config(self, topic: str, config: LogConfig) -> None:
        for log in self:
            if log.topic_partition.topic == topic:
                log.update_config(config)
                log.local.jitter_ms = self._jitter(config)

    def delete(self, partition: TopicPartition) -> None:
        """Take a log out at once; its directory is renamed and removed after the delete delay."""
        log = self._table.get(partition)
        if log is None:
            raise KeyError(partition)
        directory = self._table.remove(log)
        log.abandon()
        target = directory.path / file_names.deleted_dir(partition, uuid.uuid4().hex)
        try:
            self._fs.rename(log.directory, target)
        except OSError as error:
            directory.health.fail(error)
            raise storage_error(error) from error
        log.moved(target)
        due = self._clock.monotonic_ms() + log.config.file_delete_delay_ms
        self._purging.doom([target], due)

    # Stop

    def shutdown(self) -> None:
        """Close every log, write the checkpoints, mark clean what closed cleanly, unlock."""
        for log in self:
            try:
                log.close()
            except (OSError, BrokerError) as error:
                log.health.fail(error)
        self.checkpoints.recovery_points()
        self.checkpoints.log_start_offsets()
        self.checkpoints.high_watermarks()
        self.dirs.stop_cleanly()
        self.dirs.release()
