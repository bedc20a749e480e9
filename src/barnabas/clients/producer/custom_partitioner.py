"""Partitioners of the application: objects with the methods of Kafka's Partitioner interface.

`partitioner.class` takes such an object, its class, or the class's path, "package.module.Class".
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol, cast

from barnabas.clients.producer._send_hot import TopicAppender
from barnabas.model.errors import ConfigError, LocalError
from barnabas.runtime.plugins import configure, instance_of, is_path, load

SETTING = "partitioner.class"


@dataclass(frozen=True, slots=True)
class Cluster:
    """The partitions that a partitioner may choose from: those of the record's topic.

    Raises:
        LocalError: A method was called with another topic.
    """

    topic: str
    _appender: TopicAppender

    def partition_count_for_topic(self, topic: str) -> int:
        """Returns the number of partitions of the topic."""
        return int(self._of(topic).count)

    def partitions_for_topic(self, topic: str) -> list[int]:
        """Returns all partition numbers."""
        return list(range(self._of(topic).count))

    def available_partitions_for_topic(self, topic: str) -> list[int]:
        """Returns the partitions that have a leader now."""
        return sorted(self._of(topic).available)

    def _of(self, topic: str) -> TopicAppender:
        if topic != self.topic:
            raise LocalError(f"the partitioner got a record of {self.topic!r}, not of {topic!r}")
        return self._appender


class PartitionerObject(Protocol):
    """Chooses partitions; `configure(config)` and `close()` are called if it has them.

    >>> class ByLength:
    ...     def partition(self, topic, key, key_bytes, value, value_bytes, cluster):
    ...         return len(value_bytes) % cluster.partition_count_for_topic(topic)
    """

    def partition(
        self,
        topic: str,
        key: Any,
        key_bytes: bytes | None,
        value: Any,
        value_bytes: bytes | None,
        cluster: Cluster,
    ) -> int:
        """Returns the partition of a record; called in the thread that calls `send()`."""
        ...


def load_partitioner(given: Any, config: Mapping[str, object]) -> PartitionerObject | None:
    """Returns the configured object of `partitioner.class`; None for a name or a function.

    Raises:
        ConfigError: The class cannot be imported or instantiated, or has no `partition` method.
    """
    found = load(given, SETTING) if is_path(given) else given
    is_class = isinstance(found, type)
    found = instance_of(found, SETTING)
    if isinstance(found, str) or not callable(getattr(found, "partition", None)):
        if is_class or is_path(given):
            raise ConfigError(f"{SETTING}={given!r}: the class has no method partition()")
        return None
    configure(found, SETTING, dict(config))
    return cast(PartitionerObject, found)
