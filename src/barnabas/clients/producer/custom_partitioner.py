"""Partitioners of the application: objects with the methods of Kafka's Partitioner interface.

`partitioner.class` takes such an object, its class, or the class's path, "package.module.Class".
"""

import importlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from barnabas.clients.producer._send_hot import TopicAppender
from barnabas.model.errors import ConfigError, LocalError


@dataclass(frozen=True, slots=True)
class Cluster:
    """The partitions that a partitioner may choose from: those of the record's topic.

    Raises:
        LocalError: A method was called with another topic.
    """

    topic: str
    _appender: TopicAppender

    def partition_count_for_topic(self, topic: str) -> int:
        """How many partitions the topic has."""
        return int(self._of(topic).count)

    def partitions_for_topic(self, topic: str) -> list[int]:
        """All partition numbers."""
        return list(range(self._of(topic).count))

    def available_partitions_for_topic(self, topic: str) -> list[int]:
        """The partitions that have a leader now."""
        return sorted(self._of(topic).available)

    def _of(self, topic: str) -> TopicAppender:
        if topic != self.topic:
            raise LocalError(f"a partitioner of {self.topic!r} knows no partitions of {topic!r}")
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
        """The partition of a record without an explicit one; called from the sending thread."""
        ...


def load_partitioner(given: Any, config: Mapping[str, object]) -> PartitionerObject | None:
    """The configured object for `partitioner.class`; None for a name or a function.

    Raises:
        ConfigError: The class cannot be imported or made, or has no `partition` method.
    """
    found = _imported(given) if isinstance(given, str) and "." in given else given
    if isinstance(found, type):
        try:
            found = found()
        except Exception as error:
            cause = f"{type(error).__name__}: {error}"
            raise ConfigError(f"partitioner.class={given!r}: {cause}") from error
        if not callable(getattr(found, "partition", None)):
            raise ConfigError(f"partitioner.class={given!r}: the class has no method partition()")
    if not callable(getattr(found, "partition", None)) or isinstance(found, str):
        return None
    if hasattr(found, "configure"):
        found.configure(dict(config))
    return found  # type: ignore[no-any-return]


def close_partitioner(partitioner: PartitionerObject | None) -> None:
    """Call `close()` where the object has it."""
    close = getattr(partitioner, "close", None)
    if close is not None:
        close()


def _imported(path: str) -> Any:
    module_name, _, name = path.rpartition(".")
    try:
        found = getattr(importlib.import_module(module_name), name, None)
    except Exception as error:
        cause = f"{type(error).__name__}: {error}"
        raise ConfigError(f"partitioner.class={path!r}: {cause}") from error
    if not isinstance(found, type):
        raise ConfigError(f"partitioner.class={path!r}: {module_name} has no class {name!r}")
    return found
