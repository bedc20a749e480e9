"""The logs of a broker and the directory of each.

A partition has a current log and, while it is moved to another directory, a future log (the copy).
"""

from collections.abc import Iterator
from pathlib import Path

from barnabas.model.ids import TopicPartition
from barnabas.storage.log import Log
from barnabas.storage.log_dirs import LogDirectory


class LogTable:
    """Owned by the event loop.

    Invariant: every log of the table is counted in its directory.
    """

    def __init__(self) -> None:
        self._logs: dict[TopicPartition, Log] = {}
        self._futures: dict[TopicPartition, Log] = {}
        self._homes: dict[Log, LogDirectory] = {}

    def __iter__(self) -> Iterator[Log]:
        """Iterates over the current logs."""
        return iter(list(self._logs.values()))

    def __len__(self) -> int:
        return len(self._logs)

    def get(self, topic_partition: TopicPartition) -> Log | None:
        return self._logs.get(topic_partition)

    def future(self, topic_partition: TopicPartition) -> Log | None:
        return self._futures.get(topic_partition)

    def is_future(self, log: Log) -> bool:
        return self._futures.get(log.topic_partition) is log

    def is_moving(self, log: Log) -> bool:
        return log.topic_partition in self._futures

    def add(self, log: Log, directory: LogDirectory) -> None:
        self._logs[log.topic_partition] = log
        self._settle(log, directory)

    def add_future(self, log: Log, directory: LogDirectory) -> None:
        self._futures[log.topic_partition] = log
        self._settle(log, directory)

    def _settle(self, log: Log, directory: LogDirectory) -> None:
        self._homes[log] = directory
        directory.log_count += 1

    def remove(self, log: Log) -> LogDirectory:
        """Removes a current or future log; returns its directory."""
        where = self._futures if self.is_future(log) else self._logs
        del where[log.topic_partition]
        directory = self._homes.pop(log)
        directory.log_count -= 1
        return directory

    def promote(self, future: Log) -> None:
        """Makes a future log the current one and removes the previous one."""
        del self._futures[future.topic_partition]
        self.remove(self._logs[future.topic_partition])
        self._logs[future.topic_partition] = future

    def home(self, log: Log) -> LogDirectory:
        return self._homes[log]

    def home_if_present(self, log: Log) -> LogDirectory | None:
        """Returns the directory of a log; None if it was removed from the table."""
        return self._homes.get(log)

    def has(self, log: Log) -> bool:
        return log in self._homes

    def logs_in(self, directory: Path) -> list[Log]:
        """Returns the current logs of a directory."""
        return [log for log in self if self._homes[log].path == directory]

    def futures_in(self, directory: Path) -> list[Log]:
        return [log for log in self._futures.values() if self._homes[log].path == directory]

    def working(self) -> list[Log]:
        """Returns the current logs whose directory is online."""
        return [log for log in self if not log.health.failed]

    def every(self) -> list[Log]:
        """Returns all current and future logs."""
        return [*self._logs.values(), *self._futures.values()]
