"""The four checkpoint files of each log directory, written here and now.

What a checkpoint claims must never be more than there is: a truncation lowers it at once, and a
new log of an old name finds nothing of its predecessor. Those that only fall behind are written
now and then (`background_checkpoints`).
"""

from collections.abc import Callable, Mapping

from barnabas.model.ids import TopicPartition
from barnabas.storage.files import file_names
from barnabas.storage.log import Log
from barnabas.storage.log_dir import LogDir, Offsets
from barnabas.storage.management.log_dirs import LogDirs
from barnabas.storage.management.log_table import LogTable

VALUES: Mapping[str, Callable[[Log], int]] = {
    file_names.RECOVERY_POINTS: lambda log: log.recovery_point,
    file_names.LOG_START_OFFSETS: lambda log: log.log_start_offset,
    file_names.HIGH_WATERMARKS: lambda log: log.high_watermark,
    file_names.CLEANER_OFFSETS: lambda log: log.cleaned_offset,
}
"""What each file holds of a log; negative values are left out."""


class Checkpoints:
    """Loop-owned."""

    def __init__(self, dirs: LogDirs, table: LogTable) -> None:
        self._dirs = dirs
        self._table = table

    def recovery_points(self) -> None:
        self._write(file_names.RECOVERY_POINTS)

    def log_start_offsets(self) -> None:
        self._write(file_names.LOG_START_OFFSETS)

    def high_watermarks(self) -> None:
        self._write(file_names.HIGH_WATERMARKS)

    def cleaned_offsets(self) -> None:
        self._write(file_names.CLEANER_OFFSETS)

    def due(self, directory: LogDir, name: str) -> Offsets:
        """What a file should say now."""
        value, path = VALUES[name], directory.path
        return {
            log.topic_partition: offset
            for log in (*self._table.logs_in(path), *self._table.futures_in(path))
            if (offset := value(log)) >= 0
        }

    def lower(self, log: Log) -> None:
        """Make checkpoints follow a truncation at once.

        A recovery point above the log's end would have new data taken for flushed, and a log start
        above it would have new data dropped, if the broker died before the next checkpoint.
        """
        directory = self._table.home(log)
        for name, value in VALUES.items():
            if directory.offsets(name).get(log.topic_partition, 0) > value(log):
                self._write_in(directory, name, must=True)

    def drop_stale(self, directory: LogDir, partition: TopicPartition) -> None:
        """Rewrite checkpoints that still speak of a deleted partition of this name."""
        for name in VALUES:
            if partition in directory.offsets(name):
                self._write_in(directory, name, must=True)

    def catch_up(self, future: Log, source: LogDir, target: LogDir) -> None:
        """Let the target say no less of a copy than the source says of its log; raises OSError."""
        partition = future.topic_partition
        for name in VALUES:
            written = target.offsets(name).get(partition, -1)
            if written < source.offsets(name).get(partition, -1):
                target.write_checkpoint(name, self.due(target, name))

    def _write(self, name: str) -> None:
        for directory in self._dirs.online:
            self._write_in(directory, name)

    def _write_in(self, directory: LogDir, name: str, *, must: bool = False) -> None:
        """Write one file of one directory; what `must` be written and cannot goes away."""
        try:
            directory.write_checkpoint(name, self.due(directory, name))
        except OSError as error:
            directory.health.judge(error)
            if must and not directory.health.failed:
                directory.drop_checkpoint(name)
