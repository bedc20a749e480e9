"""All logs of a broker, over its log directories.

Owns the life cycle: lock, load, recover, create, delete, checkpoint, stop. Periodic work comes as
plain methods for the broker's scheduler to call; none of them waits. A directory that fails goes
offline alone: its logs answer KAFKA_STORAGE_ERROR, those of the other directories go on.
"""

import logging
import random
import uuid
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

from barnabas.model.clock import Clock
from barnabas.model.errors import BarnabasError, BrokerError
from barnabas.model.ids import TopicPartition, Uuid
from barnabas.storage.compaction.cleaning import (
    DEFAULT_DEDUPE_BUFFER_BYTES,
    Cleaning,
    CleanTask,
)
from barnabas.storage.errors import StorageError, is_passing, storage_error
from barnabas.storage.files import file_names
from barnabas.storage.files.metadata_files import MetaProperties, read_topic_id, write_topic_id
from barnabas.storage.filesystem import FileSystem
from barnabas.storage.log import Log
from barnabas.storage.log_config import LogConfig
from barnabas.storage.log_dir import LogDir
from barnabas.storage.purging import PurgeTask, Purging
from barnabas.storage.recovery import OpenParams, open_log

_log = logging.getLogger(__name__)

DEFAULT_PRODUCER_EXPIRATION_MS = 24 * 60 * 60 * 1000

ConfigSource = Callable[[str], LogConfig]


class Checkpoint(NamedTuple):
    """A file of offsets, and what it holds of a log; negative values are left out."""

    name: str
    value: Callable[[Log], int]


_RECOVERY_POINTS = Checkpoint(file_names.RECOVERY_POINTS, lambda log: log.recovery_point)
_LOG_START_OFFSETS = Checkpoint(file_names.LOG_START_OFFSETS, lambda log: log.log_start_offset)
_HIGH_WATERMARKS = Checkpoint(file_names.HIGH_WATERMARKS, lambda log: log.high_watermark)
_CLEANED_OFFSETS = Checkpoint(file_names.CLEANER_OFFSETS, lambda log: log.cleaned_offset)
_CHECKPOINTS = (_RECOVERY_POINTS, _LOG_START_OFFSETS, _HIGH_WATERMARKS, _CLEANED_OFFSETS)


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
        self._producer_expiration_ms = producer_expiration_ms
        self.dirs = [LogDir(fs, Path(path)) for path in dirs]
        self._logs: dict[TopicPartition, Log] = {}
        self._dir_of: dict[TopicPartition, LogDir] = {}
        self._dice = random.Random()
        self._acquired = False
        self.cleaning = Cleaning(dedupe_buffer_bytes)
        self._purging = Purging(fs)

    # Start

    def acquire(self) -> MetaProperties | None:
        """Lock the directories and read whose they are; `start` does it if it was not done."""
        if not self._acquired:
            for directory in self.dirs:
                try:
                    directory.acquire()
                except OSError as error:
                    directory.health.fail(error)
            self._acquired = True
            if not self.online_dirs:
                raise StorageError("none of the log directories can be used")
        metas = [meta for directory in self.online_dirs if (meta := directory.meta())]
        return metas[0] if metas else None

    def ensure_meta(self, broker_id: int, cluster_id: str) -> None:
        """Refuse directories of another broker or cluster; sign those of nobody."""
        for directory in self.online_dirs:
            directory.ensure_meta(MetaProperties(broker_id, cluster_id))

    def start(self) -> None:
        """Load every log; after an unclean stop recover those that were written to."""
        self.acquire()
        for directory in self.online_dirs:
            try:
                self._load(directory)
            except OSError as error:
                directory.health.fail(error)

    def _load(self, directory: LogDir) -> None:
        directory.load_checkpoints()
        self._purging.doom(directory.doomed(), self._clock.monotonic_ms())
        for partition, path in directory.partitions():
            if partition in self._logs:
                raise StorageError(
                    f"{partition} is in {path} and {self._logs[partition].directory}"
                )
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
        log.cleaned_offset = directory.offsets(file_names.CLEANER_OFFSETS).get(
            log.topic_partition, -1
        )
        log.on_truncated = self._lower_checkpoints
        self._logs[log.topic_partition] = log
        self._dir_of[log.topic_partition] = directory
        directory.log_count += 1

    def _lower_checkpoints(self, log: Log) -> None:
        """Make checkpoints follow a truncation at once.

        A recovery point above the log's end would have new data taken for flushed, and a log start
        above it would have new data dropped, if the broker died before the next checkpoint.
        """
        directory = self._dir_of[log.topic_partition]
        for checkpoint in _CHECKPOINTS:
            written = directory.offsets(checkpoint.name)
            if written.get(log.topic_partition, 0) > checkpoint.value(log):
                self._checkpoint_dir(directory, checkpoint, must=True)

    # Logs

    @property
    def online_dirs(self) -> list[LogDir]:
        return [directory for directory in self.dirs if not directory.health.failed]

    @property
    def offline_dirs(self) -> list[Path]:
        return [directory.path for directory in self.dirs if directory.health.failed]

    def on_offline(self, listener: Callable[[Path], None]) -> None:
        """Call back when a directory goes offline, from within the call that found out."""
        for directory in self.dirs:
            directory.health.on_failure(listener)

    def __iter__(self) -> Iterator[Log]:
        return iter(list(self._logs.values()))

    def __len__(self) -> int:
        return len(self._logs)

    def get(self, partition: TopicPartition) -> Log | None:
        return self._logs.get(partition)

    def logs_in(self, directory: Path) -> list[Log]:
        return [log for log in self if self._dir_of[log.topic_partition].path == directory]

    def get_or_create(
        self, partition: TopicPartition, topic_id: Uuid | None, config: LogConfig
    ) -> Log:
        """The log of a partition, made in the directory with the fewest if there is none."""
        log = self._logs.get(partition)
        if log is not None:
            if log.topic_id is None and topic_id is not None:
                self._sign(log, topic_id)
            return log
        directory = self._least_loaded()
        self._drop_stale(directory, partition)
        params = self._params(directory, partition, topic_id, config)
        try:
            self._fs.make_dirs(params.directory)
            if topic_id is not None:
                write_topic_id(self._fs, params.directory, topic_id)
            log = open_log(self._fs, params, directory.health)
        except OSError as error:
            if not is_passing(error):
                directory.health.fail(error)
            raise storage_error(error) from error
        self._add(log, directory)
        return log

    def _drop_stale(self, directory: LogDir, partition: TopicPartition) -> None:
        """Rewrite checkpoints that still speak of a deleted partition of this name."""
        for checkpoint in _CHECKPOINTS:
            if partition in directory.offsets(checkpoint.name):
                self._checkpoint_dir(directory, checkpoint, must=True)

    def _sign(self, log: Log, topic_id: Uuid) -> None:
        write_topic_id(self._fs, log.directory, topic_id)
        log.topic_id = topic_id

    def _least_loaded(self) -> LogDir:
        candidates = self.online_dirs
        if not candidates:
            raise storage_error("every log directory is offline")
        return min(candidates, key=lambda directory: directory.log_count)

    def update_config(self, topic: str, config: LogConfig) -> None:
        for log in self:
            if log.topic_partition.topic == topic:
                log.update_config(config)
                log.local.jitter_ms = self._jitter(config)

    def delete(self, partition: TopicPartition) -> None:
        """Take a log out at once; its directory is renamed and removed after the delete delay."""
        log = self._logs.pop(partition)
        directory = self._dir_of.pop(partition)
        directory.log_count -= 1
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

    # Periodic work

    def run_retention(self, now_ms: int) -> int:
        """Delete what retention no longer holds; the files wait for their delay."""
        deleted = 0
        for log in self._working():
            deleted += self._guarded(log, partial(log.delete_old_segments, now_ms)) or 0
            log.producers.expire(now_ms, self._producer_expiration_ms)
        return deleted

    def begin_purge(self) -> PurgeTask | None:
        """What is to be unlinked now; `run` it on a thread and give it to `finish_purge`."""
        return self._purging.begin(self._working(), self._clock.monotonic_ms())

    def finish_purge(self, task: PurgeTask) -> None:
        self._purging.finish(task)

    def purge_deleted(self) -> None:
        """Unlink it here and now."""
        task = self.begin_purge()
        if task is not None:
            task.run()
            self.finish_purge(task)

    def logs_to_flush(self) -> list[Log]:
        """Logs whose `flush.messages`, `flush.ms` or finished segment asks for a flush."""
        now = self._clock.monotonic_ms()
        return [
            log
            for log in self._working()
            if log.flush_due or (log.unflushed and now - log.last_flush_ms >= log.config.flush_ms)
        ]

    def flush_dirty(self, now_ms: int = 0) -> int:
        """Flush those logs here and now; a broker runs their tasks on a thread instead."""
        flushed = 0
        for log in self.logs_to_flush():
            self._guarded(log, log.flush)
            log.last_flush_ms = self._clock.monotonic_ms()
            flushed += 1
        return flushed

    def checkpoint_recovery_points(self) -> None:
        self._checkpoint(_RECOVERY_POINTS)

    def checkpoint_log_start_offsets(self) -> None:
        self._checkpoint(_LOG_START_OFFSETS)

    def checkpoint_high_watermarks(self) -> None:
        self._checkpoint(_HIGH_WATERMARKS)

    def checkpoint_cleaned_offsets(self) -> None:
        self._checkpoint(_CLEANED_OFFSETS)

    def _checkpoint(self, checkpoint: Checkpoint) -> None:
        for directory in self.online_dirs:
            self._checkpoint_dir(directory, checkpoint)

    def _checkpoint_dir(
        self, directory: LogDir, checkpoint: Checkpoint, *, must: bool = False
    ) -> None:
        """Write one checkpoint of one directory; what `must` be written and cannot goes away."""
        offsets = {
            log.topic_partition: offset
            for log in self.logs_in(directory.path)
            if (offset := checkpoint.value(log)) >= 0
        }
        try:
            directory.write_checkpoint(checkpoint.name, offsets)
        except OSError as error:
            if not is_passing(error):
                directory.health.fail(error)
            elif must:
                directory.drop_checkpoint(checkpoint.name)

    def begin_clean(self, now_ms: int, *, force: bool = False) -> CleanTask | None:
        """Plan a compaction pass; `run` it on a thread and give it to `finish_clean`."""
        return self.cleaning.begin(self._working(), now_ms, force=force)

    def finish_clean(self, task: CleanTask) -> bool:
        """Put a finished pass in place and note where it ended."""
        if self._logs.get(task.log.topic_partition) is not task.log:
            self.cleaning.abandon(task)
            return False
        done = bool(self._guarded(task.log, partial(self.cleaning.finish, task)))
        if done:
            self.checkpoint_cleaned_offsets()
        return done

    def clean(self, now_ms: int, *, force: bool = False) -> bool:
        """Clean the dirtiest log here and now; False when none asks for it."""
        task = self.begin_clean(now_ms, force=force)
        if task is None:
            return False
        task.run()
        return self.finish_clean(task)

    def _working(self) -> list[Log]:
        return [log for log in self if not log.health.failed]

    def _guarded(self, log: Log, work: Callable[[], int | None]) -> int | None:
        """Run periodic work on one log; its failure must not keep the others from theirs."""
        try:
            return work()
        except BarnabasError as error:
            _log.warning("%s: %s", log.topic_partition, error)
        return None

    # Stop

    def shutdown(self) -> None:
        """Close every log, write the checkpoints, mark clean what closed cleanly, unlock."""
        for log in self:
            try:
                log.close()
            except (OSError, BrokerError) as error:
                log.health.fail(error)
        self.checkpoint_recovery_points()
        self.checkpoint_log_start_offsets()
        self.checkpoint_high_watermarks()
        for directory in self.online_dirs:
            try:
                directory.stop_cleanly()
            except OSError as error:
                directory.health.fail(error)
        self.release()

    def release(self) -> None:
        """Give the locks back without anything else, as a killed process would."""
        for directory in self.dirs:
            directory.release()
