"""The topics as groups see them: a `groups.topics_image.TopicsImage` over the metadata cache."""

from collections.abc import Iterable

from barnabas.broker.metadata_cache import MetadataCache
from barnabas.model.ids import Uuid


class TopicsView:
    """Live; `refresh` must follow every change of the metadata. Owned by the broker's loop.

    The version changes only when a topic comes, goes or grows: most metadata updates are about
    leaders and in-sync sets, which mean nothing to groups.
    """

    def __init__(self, metadata: MetadataCache) -> None:
        self._metadata = metadata
        self._known: dict[str, tuple[Uuid | None, int]] = {}
        self._version = 0

    @property
    def version(self) -> int:
        return self._version

    def refresh(self) -> None:
        """Updates the version when topics that groups can use have changed."""
        metadata = self._metadata
        known = {
            name: (metadata.topic_id(name), len(metadata.partitions(name) or ()))
            for name in metadata.topics()
        }
        if known != self._known:
            self._known = known
            self._version += 1

    def topic_names(self) -> Iterable[str]:
        return self._known

    def topic_id(self, topic: str) -> Uuid | None:
        return self._metadata.topic_id(topic)

    def topic_name(self, topic_id: Uuid) -> str | None:
        return self._metadata.topic_name(topic_id)

    def partition_count(self, topic: str) -> int:
        known = self._known.get(topic)
        return 0 if known is None else known[1]
