"""Committed offsets of all groups whose lag this broker reports.

These are the groups that it coordinates, and the groups of the ZooKeeper high-level consumer, which
store their offsets in the metadata tree. Each group of the tree belongs to the broker that would
coordinate a group of this name, so that one broker of the cluster reports it; while there is no
topic of committed offsets, this is the controller. During a migration a group may have offsets in
both places: the higher one counts, as for the consumer.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Iterator

from barnabas.broker.metrics.lag import GroupOffset
from barnabas.broker.services import Services
from barnabas.model.ids import OFFSETS_TOPIC, TopicPartition
from barnabas.zk import paths
from barnabas.zk.tree import MetadataTree, NoNodeError, TreeError
from barnabas.zk.znodes import decode_offset

_logger = logging.getLogger("barnabas.broker")
_READS = 20
"""Nodes of the tree that are read at a time."""


def coordinated_offsets(services: Services) -> Iterator[GroupOffset]:
    """Yields the offsets of the groups that this broker coordinates."""
    for driver in list(services.groups.active_shards()):
        for group, topic_partition, committed in driver.shard.committed_offsets():
            yield GroupOffset(group, topic_partition, committed.offset)


class GroupOffsets:
    """Reads the offsets of both kinds of groups; owned by the broker's loop."""

    def __init__(self, services: Services, tree: MetadataTree) -> None:
        self._services = services
        self._tree = tree
        self._last: list[GroupOffset] = []

    async def read(self) -> list[GroupOffset]:
        """Returns all offsets; those of the tree are the last known ones while it fails."""
        try:
            self._last = [item async for item in self._tree_offsets()]
        except TreeError as error:
            _logger.debug("the groups in the metadata tree cannot be read: %s", error)
        found = {(item.group, item.topic_partition): item for item in self._last}
        for item in coordinated_offsets(self._services):
            other = found.get((item.group, item.topic_partition))
            if other is None or other.offset < item.offset:
                found[item.group, item.topic_partition] = item
        return list(found.values())

    async def _tree_offsets(self) -> AsyncIterator[GroupOffset]:
        for group in await self._children(paths.CONSUMERS):
            if not self._is_reported_here(group):
                continue
            root = paths.consumer_offsets(group)
            for topic in await self._children(root):
                numbers = await self._children(f"{root}/{topic}")
                partitions = [TopicPartition(topic, int(n)) for n in numbers if n.isdecimal()]
                for start in range(0, len(partitions), _READS):
                    chunk = partitions[start : start + _READS]
                    for item in await asyncio.gather(
                        *(self._read(group, topic_partition) for topic_partition in chunk)
                    ):
                        if item is not None:
                            yield item

    def _is_reported_here(self, group: str) -> bool:
        services = self._services
        if not services.internal_topics.exists(OFFSETS_TOPIC):
            return services.cluster.controller.is_active
        place = services.internal_topics.partition_of(OFFSETS_TOPIC, group)
        state = services.metadata.partition(place)
        return state is not None and state.leader == services.broker_id

    async def _children(self, path: str) -> list[str]:
        try:
            return await self._tree.children(path)
        except NoNodeError:
            return []

    async def _read(self, group: str, topic_partition: TopicPartition) -> GroupOffset | None:
        try:
            data, _ = await self._tree.get(paths.consumer_offset(group, topic_partition))
            return GroupOffset(group, topic_partition, decode_offset(data))
        except (NoNodeError, ValueError):  # deleted meanwhile, or not a number
            return None
