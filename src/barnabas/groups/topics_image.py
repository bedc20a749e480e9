"""The cluster metadata that groups use, as a protocol that the broker implements."""

from collections.abc import Iterable, Mapping
from typing import Protocol

from barnabas.model.ids import Uuid


class TopicsImage(Protocol):
    """A live view of the topics. `version` changes whenever any result may have changed."""

    @property
    def version(self) -> int: ...

    def topic_names(self) -> Iterable[str]:
        """All topics, internal ones too."""
        ...

    def topic_id(self, topic: str) -> Uuid | None: ...

    def topic_name(self, topic_id: Uuid) -> str | None: ...

    def partition_count(self, topic: str) -> int:
        """0 when there is no such topic."""
        ...


class FixedTopicsImage:
    """An image of topics that a test or a single-node tool sets by hand.

    >>> image = FixedTopicsImage({"orders": (Uuid(b"o" * 16), 3)})
    >>> image.partition_count("orders")
    3
    """

    def __init__(self, topics: Mapping[str, tuple[Uuid, int]] | None = None) -> None:
        self._version = 0
        self._topics: dict[str, tuple[Uuid, int]] = {}
        self.replace(topics or {})

    def replace(self, topics: Mapping[str, tuple[Uuid, int]]) -> None:
        """Set all topics anew: name -> (id, partitions)."""
        self._topics = dict(topics)
        self._names = {topic_id: name for name, (topic_id, _) in topics.items()}
        self._version += 1

    @property
    def version(self) -> int:
        return self._version

    def topic_names(self) -> Iterable[str]:
        return self._topics.keys()

    def topic_id(self, topic: str) -> Uuid | None:
        found = self._topics.get(topic)
        return found[0] if found is not None else None

    def topic_name(self, topic_id: Uuid) -> str | None:
        return self._names.get(topic_id)

    def partition_count(self, topic: str) -> int:
        found = self._topics.get(topic)
        return found[1] if found is not None else 0
