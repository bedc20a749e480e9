"""The logs of a broker and the directory of each.

A partition has a current log and, while it is moved to another directory, a future log (the copy).
"""

from collections.abc import Iterable, Iterator
from pathlib import Path

from barnabas.model.ids import TopicPartition
from barnabas.storage.log import Log
from barnabas.storage.log_changes import LogChanges
from barnabas.storage.log_dirs import LogDirectory


class LogTable:
    """The logs of a broker by topic partition, and their directories.

    Owned by the event loop.

    Invariant: every log of the table is counted in its directory.
    """

    def __init__(self) -> None:
        self._logs: dict[TopicPartition, Log] = {}
        self._futures: dict[TopicPartition, Log] = {}
        self._directories: dict[Log, LogDirectory] = {}
        self._partitions_of_topic: dict[str, set[int]] = {}
        """Partitions of each topic that have a log."""
        self.changes = LogChanges()
        self.removals = 0

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
        self._directories[log] = directory
        directory.log_count += 1
        topic, partition = log.topic_partition
        self._partitions_of_topic.setdefault(topic, set()).add(partition)
        self.changes.watch(log)

    def remove(self, log: Log) -> LogDirectory:
        """Removes a current or future log; returns its directory."""
        where = self._futures if self.is_future(log) else self._logs
        del where[log.topic_partition]
        directory = self._directories.pop(log)
        directory.log_count -= 1
        topic, partition = log.topic_partition
        if log.topic_partition not in self._logs and log.topic_partition not in self._futures:
            self._partitions_of_topic[topic].discard(partition)
            if not self._partitions_of_topic[topic]:
                del self._partitions_of_topic[topic]
        self.changes.removed(log)
        self.removals += 1
        return directory

    def promote(self, future: Log) -> None:
        """Makes a future log the current one and removes the previous one."""
        self.remove(self._logs[future.topic_partition])
        self._logs[future.topic_partition] = self._futures.pop(future.topic_partition)

    def directory_of(self, log: Log) -> LogDirectory:
        """Returns the directory of a log of the table."""
        return self._directories[log]

    def directory_if_present(self, log: Log) -> LogDirectory | None:
        """Returns the directory of a log; None if it was removed from the table."""
        return self._directories.get(log)

    def has(self, log: Log) -> bool:
        return log in self._directories

    def logs_in(self, directory: Path) -> list[Log]:
        """Returns the current logs of a directory."""
        return self._logs_at(directory, self._logs.values())

    def futures_in(self, directory: Path) -> list[Log]:
        return self._logs_at(directory, self._futures.values())

    def _logs_at(self, directory: Path, logs: Iterable[Log]) -> list[Log]:
        # Compares the paths of directories, not of logs: comparing 10,000 paths takes 5 ms.
        same_path = {found for found in set(self._directories.values()) if found.path == directory}
        return [log for log in logs if self._directories[log] in same_path]

    def logs_of(self, topic: str) -> list[Log]:
        """Returns the current and future logs of a topic."""
        return [
            log for table in (self._logs, self._futures) for log in self._of_topic(topic, table)
        ]

    def _of_topic(self, topic: str, table: dict[TopicPartition, Log]) -> Iterator[Log]:
        for partition in self._partitions_of_topic.get(topic, ()):
            log = table.get(TopicPartition(topic, partition))
            if log is not None:
                yield log

    def compacted(self) -> list[Log]:
        """Returns the current logs of compacted topics whose directory is online.

        Reads the settings of one log of each topic: all logs of a topic have the same.
        """
        found: list[Log] = []
        for topic in self._partitions_of_topic:
            logs = (log for log in self._of_topic(topic, self._logs) if not log.health.failed)
            first = next(logs, None)
            if first is not None and first.config.compact:
                found += (first, *logs)
        return found

    def every(self) -> list[Log]:
        """Returns all current and future logs."""
        return [*self._logs.values(), *self._futures.values()]
