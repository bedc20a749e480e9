"""Checkpoints of recovery points, log start offsets, high watermarks and cleaner offsets.

A checkpoint must never claim more than the log contains: a truncation lowers it at once, and the
first log of a re-created partition must not find entries of the deleted one. `Checkpoints` writes
such changes synchronously.

Increases are written periodically by `BackgroundCheckpoints` in three steps: collect on the event
loop, write and sync a temporary file on a thread, rename it on the loop. The rename is skipped if
the file was written meanwhile or if a log no longer reaches a collected offset; the next round
writes the current values. A collection may take several iterations of the loop, and the last check
reads offsets only if a log was truncated or removed since, and only those that differ from the
file: both are long jobs on a broker with many logs.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

from barnabas.model.ids import TopicPartition
from barnabas.storage import file_names
from barnabas.storage.log import Log
from barnabas.storage.log_dirs import LogDirectory, LogDirs, Offsets
from barnabas.storage.log_table import LogTable
from barnabas.storage.small_files import write_temporary_offsets

VALUES: Mapping[str, Callable[[Log], int]] = {
    file_names.RECOVERY_POINTS: lambda log: log.recovery_point,
    file_names.LOG_START_OFFSETS: lambda log: log.log_start_offset,
    file_names.HIGH_WATERMARKS: lambda log: log.high_watermark,
    file_names.CLEANER_OFFSETS: lambda log: log.cleaned_offset,
}
"""The value that each file stores of a log; negative values are omitted."""


class Checkpoints:
    """Writes checkpoint files synchronously; owned by the event loop."""

    def __init__(self, dirs: LogDirs, table: LogTable) -> None:
        self._dirs = dirs
        self._table = table
        self._truncations = 0

    @property
    def decreases(self) -> int:
        """Number of truncations and removals of logs; no other event takes offsets from a log."""
        return self._truncations + self._table.removals

    def recovery_points(self) -> None:
        self._write(file_names.RECOVERY_POINTS)

    def log_start_offsets(self) -> None:
        self._write(file_names.LOG_START_OFFSETS)

    def high_watermarks(self) -> None:
        self._write(file_names.HIGH_WATERMARKS)

    def cleaned_offsets(self) -> None:
        self._write(file_names.CLEANER_OFFSETS)

    def logs(self) -> list[Log]:
        return self._table.every()

    def due(self, directory: LogDirectory, name: str) -> Offsets:
        """Returns the current contents for a checkpoint file."""
        collected: dict[LogDirectory, Offsets] = {directory: {}}
        self.add_to(collected, name, self._table.every())
        return collected[directory]

    def value(self, directory: LogDirectory, name: str, partition: TopicPartition) -> int:
        """Returns the current value of a partition; -1 if the directory has no log of it."""
        # A partition that moves between directories has two logs, each with its own values.
        for log in (self._table.get(partition), self._table.future(partition)):
            if log is not None and self._table.directory_of(log) is directory:
                return VALUES[name](log)
        return -1

    def add_to(
        self, collected: dict[LogDirectory, Offsets], name: str, logs: Iterable[Log]
    ) -> None:
        """Adds the current values of these logs to the contents for the file of each directory."""
        value = VALUES[name]
        for log in logs:
            directory = self._table.directory_if_present(log)
            if directory in collected and (offset := value(log)) >= 0:
                collected[directory][log.topic_partition] = offset

    def lower(self, log: Log) -> None:
        """Lowers the checkpoints of a truncated log at once.

        After a crash before the next periodic checkpoint, a recovery point above the log end would
        make new records count as flushed, and a log start offset above it would delete them.
        """
        self._truncations += 1
        directory = self._table.directory_of(log)
        for name, value in VALUES.items():
            if directory.offsets(name).get(log.topic_partition, 0) > value(log):
                self._write_in(directory, name, must=True)

    def drop_stale(self, directory: LogDirectory, topic_partition: TopicPartition) -> None:
        """Removes the entries of a deleted partition with the same name."""
        for name in VALUES:
            if topic_partition in directory.offsets(name):
                self._write_in(directory, name, must=True)

    def catch_up(self, future: Log, source: LogDirectory, target: LogDirectory) -> None:
        """Rewrites checkpoints of the target that are behind the source's; raises OSError."""
        partition = future.topic_partition
        for name in VALUES:
            written = target.offsets(name).get(partition, -1)
            if written < source.offsets(name).get(partition, -1):
                target.write_checkpoint(name, self.due(target, name))

    def _write(self, name: str) -> None:
        for directory in self._dirs.online:
            self._write_in(directory, name)

    def _write_in(self, directory: LogDirectory, name: str, *, must: bool = False) -> None:
        """Writes one checkpoint file; removes it if it `must` be written and the write fails."""
        try:
            directory.write_checkpoint(name, self.due(directory, name))
        except OSError as error:
            directory.health.write_failed(error)
            # Without the file, recovery reads the logs; with a value that is too high, it would
            # skip or delete records.
            if must and not directory.health.failed:
                directory.drop_checkpoint(name)


class CheckpointTask:
    """Writes one checkpoint file of one directory; `run` works on any thread and never raises."""

    __slots__ = ("changed", "decreases", "directory", "error", "known", "name", "offsets")

    def __init__(
        self, directory: LogDirectory, name: str, offsets: Offsets, decreases: int
    ) -> None:
        self.directory = directory
        self.name = name
        self.offsets = offsets
        self.decreases = decreases
        """`Checkpoints.decreases` before the offsets were collected."""
        self.known = directory.offsets(name)
        self.changed: Offsets = {}
        """The offsets that differ from the file; the others are still valid if the file is."""
        self.error: OSError | None = None

    def run(self) -> None:
        path, known = self.directory.path / self.name, self.known
        self.changed = {
            topic_partition: value
            for topic_partition, value in self.offsets.items()
            if known.get(topic_partition) != value
        }
        try:
            write_temporary_offsets(self.directory.fs, path, self.offsets)
        except OSError as error:
            self.error = error


class Collection(NamedTuple):
    """Offsets for a checkpoint file of each directory."""

    offsets: dict[LogDirectory, Offsets]
    decreases: int
    """`Checkpoints.decreases` when the collection began."""


class BackgroundCheckpoints:
    """Writes the checkpoint files periodically, in threads.

    Owned by the event loop, except `CheckpointTask.run`; one round per file at a time.
    """

    def __init__(self, dirs: LogDirs, checkpoints: Checkpoints) -> None:
        self._dirs = dirs
        self._checkpoints = checkpoints

    def begin(self, name: str) -> list[CheckpointTask]:
        """Returns one task for each directory whose checkpoint has changed."""
        collected = self.new_collection()
        self.collect(collected, name, self._checkpoints.logs())
        return self.tasks(name, collected)

    def new_collection(self) -> Collection:
        """Starts to collect; `collect` adds logs, `tasks` ends it."""
        offsets: dict[LogDirectory, Offsets] = {directory: {} for directory in self._dirs.online}
        return Collection(offsets, self._checkpoints.decreases)

    def collect(self, collected: Collection, name: str, logs: Iterable[Log]) -> None:
        self._checkpoints.add_to(collected.offsets, name, logs)

    def tasks(self, name: str, collected: Collection) -> list[CheckpointTask]:
        return [
            CheckpointTask(directory, name, offsets, collected.decreases)
            for directory, offsets in collected.offsets.items()
            if offsets != directory.offsets(name)
        ]

    def finish(self, task: CheckpointTask) -> bool:
        """Installs a written checkpoint; returns False if it is outdated or the write failed."""
        health = task.directory.health
        if task.error is not None:
            health.write_failed(task.error)
            return False
        # Compared by identity: every write of the file installs a new mapping, also if a
        # truncation wrote it while the task ran.
        outdated = task.directory.offsets(task.name) is not task.known
        if outdated or health.failed or not self._is_still_valid(task):
            return False
        try:
            task.directory.place_checkpoint(task.name, task.offsets)
        except OSError as error:
            health.fail(error)
            return False
        return True

    def _is_still_valid(self, task: CheckpointTask) -> bool:
        """Whether each log still reaches its offset; reads them only if one may not."""
        if task.decreases == self._checkpoints.decreases:
            return True
        value = self._checkpoints.value
        return all(
            value(task.directory, task.name, partition) >= offset
            for partition, offset in task.changed.items()
        )
