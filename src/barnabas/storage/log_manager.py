"""All logs of a broker in its log directories: loads, creates, deletes and closes them.

Other components work on the same table of logs: `dirs` (locks, owners, health),
`checkpoints`, `maintenance` (retention, unlinking, flushing, compaction), and `moves` between
directories.
"""

import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from uuid import uuid4

from barnabas.model.errors import BrokerError
from barnabas.model.ids import TopicPartition, Uuid
from barnabas.runtime.clock import Clock
from barnabas.storage import file_names, log_swap
from barnabas.storage.checkpoints import Checkpoints
from barnabas.storage.errors import StorageError
from barnabas.storage.filesystem import FileSystem, OpenFiles
from barnabas.storage.local_log import FlushTask
from barnabas.storage.log import Log
from barnabas.storage.log_cleaner import DEFAULT_DEDUPE_BUFFER_BYTES, LogCleaner
from barnabas.storage.log_config import LogConfig
from barnabas.storage.log_dirs import LogDirectory, LogDirs
from barnabas.storage.log_moves import LogMoves
from barnabas.storage.log_opener import ConfigSource, LogOpener
from barnabas.storage.log_table import LogTable
from barnabas.storage.maintenance import Maintenance, Purging

_logger = logging.getLogger(__name__)
_PROGRESS_MS = 10_000

DEFAULT_PRODUCER_EXPIRATION_MS = 24 * 60 * 60 * 1000
DEFAULT_MAX_OPEN_FILES = 10_000


_CLOSED_TOGETHER = 256
"""Logs in one group of flushes."""
_FILES_OF_A_CLOSE = 8
"""Files that one log has open while it is closed, and some more for other uses."""
RunFlushes = Callable[[Sequence[FlushTask]], None]


def run_in_turn(tasks: Sequence[FlushTask]) -> None:
    for task in tasks:
        task.run()


class LogManager:
    """Loads, creates, deletes and closes the logs of a broker.

    Owned by the event loop.

    `config_for` returns a topic's settings while logs are loaded at start.
    """

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
        self._table = table = LogTable()
        self.changes = table.changes
        self._clock = clock
        self.open_files = OpenFiles(DEFAULT_MAX_OPEN_FILES)
        self._opener = LogOpener(fs, clock, config_for, self._truncated, self.open_files)
        self._purging = purging = Purging(fs, clock)
        self.dirs = LogDirs(fs, dirs)
        self.checkpoints = Checkpoints(self.dirs, table)
        self.moves = LogMoves(self.dirs, table, self._opener, self.checkpoints, purging, clock)
        self.maintenance = Maintenance(
            table,
            clock,
            self.checkpoints,
            purging,
            LogCleaner(dedupe_buffer_bytes),
            producer_expiration_ms,
        )

    # Start

    def start(self) -> None:
        """Loads every log; after an unclean shutdown recovers those that were written to."""
        self.dirs.acquire()
        log_swap.settle(self.dirs, uuid4().hex)
        for directory in self.dirs.online:
            try:
                self._load(directory)
            except OSError as error:
                directory.health.fail(error)
        for log in self:
            self.moves.resume(log)

    def _load(self, directory: LogDirectory) -> None:
        directory.load_checkpoints()
        self._purging.remove_soon(directory.deleted_partitions())
        for partition, path in self._with_progress(directory):
            known = self._table.get(partition)
            if known is not None:
                raise StorageError(f"{partition} is in {path} and {known.directory}")
            self._table.add(self._opener.load(directory, partition, path), directory)
        for partition, path in directory.futures():
            log = self._opener.load(directory, partition, path)
            if self._table.future(partition) is None:
                self._table.add_future(log, directory)
            else:
                self._purging.close_and_remove(log, directory)
        directory.loaded()

    def _with_progress(self, directory: LogDirectory) -> Iterator[tuple[TopicPartition, Path]]:
        """Yields the partitions to load; logs the progress after an unclean shutdown.

        Large logs take minutes then, in which the broker does not serve.
        """
        partitions = directory.partitions()
        if directory.clean or not partitions:
            yield from partitions
            return
        total, clock = len(partitions), self._clock
        _logger.info("%s: recovering %d logs after an unclean shutdown", directory.path, total)
        started_ms = reported_ms = clock.monotonic_ms()
        for number, partition in enumerate(partitions):
            yield partition
            now_ms = clock.monotonic_ms()
            if now_ms - reported_ms >= _PROGRESS_MS:
                reported_ms = now_ms
                line = "%s: recovered %d of %d logs after an unclean shutdown"
                _logger.warning(line, directory.path, number + 1, total)
        duration_s = (clock.monotonic_ms() - started_ms) / 1000
        _logger.info("%s: recovered %d logs in %.1f s", directory.path, total, duration_s)

    def _truncated(self, log: Log) -> None:
        self.checkpoints.lower(log)
        self.moves.truncated(log)

    # Logs

    def __iter__(self) -> Iterator[Log]:
        return iter(self._table)

    def __len__(self) -> int:
        return len(self._table)

    def get(self, topic_partition: TopicPartition) -> Log | None:
        return self._table.get(topic_partition)

    def logs_in(self, directory: Path) -> list[Log]:
        return self._table.logs_in(directory)

    def futures_in(self, directory: Path) -> list[Log]:
        """Returns the future logs of a directory."""
        return self._table.futures_in(directory)

    def get_or_create(
        self, topic_partition: TopicPartition, topic_id: Uuid | None, config: LogConfig
    ) -> Log:
        """Returns the log of a partition. A new log is created in the directory that a move
        requested, otherwise in the one with the fewest logs.
        """
        log = self._table.get(topic_partition)
        if log is not None:
            if log.topic_id is None and topic_id is not None:
                self._opener.sign(log, topic_id)
            return log
        directory = self.moves.take_wanted(topic_partition) or self.dirs.least_loaded()
        self.checkpoints.drop_stale(directory, topic_partition)
        path = directory.path / file_names.partition_dir(topic_partition)
        log = self._opener.create(directory, path, topic_partition, topic_id, config)
        self._table.add(log, directory)
        self.moves.resume(log)
        return log

    def update_config(self, topic: str, config: LogConfig) -> None:
        for log in self._table.logs_of(topic):
            log.update_config(config)
            log.local.jitter_ms = self._opener.jitter(config)

    def delete(self, topic_partition: TopicPartition) -> None:
        """Removes a log at once; its directory is renamed and removed after the delete delay."""
        log = self._table.get(topic_partition)
        if log is None:
            raise KeyError(topic_partition)
        # The copy is removed first: after a crash a copy alone would count as the partition.
        self.moves.cancel(topic_partition)
        self._purging.close_and_remove(log, self._table.remove(log))

    # Stop

    def shutdown(self, run_flushes: RunFlushes = run_in_turn) -> None:
        """Closes every log, writes checkpoints and clean shutdown markers, releases the locks.

        `run_flushes` runs the flushes of a group of logs, for example on several threads: a file
        system completes parallel syncs much faster than one after the other.
        """
        logs = self._table.every()
        together = max(min(_CLOSED_TOGETHER, self.open_files.limit // _FILES_OF_A_CLOSE), 1)
        for start in range(0, len(logs), together):
            close_logs(logs[start : start + together], run_flushes)
        self.checkpoints.recovery_points()
        self.checkpoints.log_start_offsets()
        self.checkpoints.high_watermarks()
        self.dirs.stop_cleanly()
        self.dirs.release()


def close_logs(logs: Sequence[Log], run_flushes: RunFlushes) -> None:
    """Closes these logs; a failure takes the directory of its log offline."""
    flushes: list[tuple[Log, FlushTask]] = []
    for log in logs:
        with _failing(log):
            task = log.begin_close()
            if task is None:
                log.abandon()
            else:
                flushes.append((log, task))
    run_flushes([task for _, task in flushes])
    for log, task in flushes:
        with _failing(log):
            log.finish_close(task)


@contextmanager
def _failing(log: Log) -> Iterator[None]:
    try:
        yield
    except (OSError, BrokerError) as error:
        log.health.fail(error)
