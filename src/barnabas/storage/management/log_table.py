"""Which logs there are, and in which directory each of them lies."""

from collections.abc import Iterator
from pathlib import Path

from barnabas.model.ids import TopicPartition
from barnabas.storage.log import Log
from barnabas.storage.log_dir import LogDir


class LogTable:
    """Loop-owned. Invariant: a log of the table is counted in its directory."""

    def __init__(self) -> None:
        self._logs: dict[TopicPartition, Log] = {}
        self._homes: dict[Log, LogDir] = {}

    def __iter__(self) -> Iterator[Log]:
        return iter(list(self._logs.values()))

    def __len__(self) -> int:
        return len(self._logs)

    def get(self, partition: TopicPartition) -> Log | None:
        return self._logs.get(partition)

    def add(self, log: Log, directory: LogDir) -> None:
        self._logs[log.topic_partition] = log
        self._homes[log] = directory
        directory.log_count += 1

    def remove(self, log: Log) -> LogDir:
        """Take a log out; returns the directory it was in."""
        del self._logs[log.topic_partition]
        directory = self._homes.pop(log)
        directory.log_count -= 1
        return directory

    def home(self, log: Log) -> LogDir:
        return self._homes[log]

    def logs_in(self, directory: Path) -> list[Log]:
        return [log for log in self if self._homes[log].path == directory]

    def working(self) -> list[Log]:
        """Those whose directory is online."""
        return [log for log in self if not log.health.failed]
