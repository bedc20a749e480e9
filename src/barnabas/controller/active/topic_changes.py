"""Reacts to topics that are created, extended or removed in the metadata tree.

Watches the children of /brokers/topics and the data of each topic node. Brokers and tools write
these nodes (`topic_admin`); this class creates partition states and elects the first leaders.
"""

import asyncio
import logging
from collections.abc import Collection, Iterable

from barnabas.controller.active.epoch_state import ControllerEpochState
from barnabas.controller.active.leaderships import Leaderships
from barnabas.controller.machines.states import PartitionStatus, ReplicaStatus
from barnabas.controller.topic_admin import new_topic_id
from barnabas.model.ids import ZERO_UUID, TopicPartition
from barnabas.zk import paths
from barnabas.zk.tree import MultiError, NoNodeError, SetOp, Stat
from barnabas.zk.znodes import TopicNode

_log = logging.getLogger(__name__)

_READS_AT_ONCE = 256


class TopicChanges:
    """Watches the topic nodes and creates new partitions."""

    def __init__(self, epoch_state: ControllerEpochState, leaderships: Leaderships) -> None:
        self._epoch_state = epoch_state
        self._leaderships = leaderships

    async def load(self) -> None:
        """Load all topics into the context at the start of an epoch."""
        await self._load_topics(await self._children())

    async def on_children_changed(self) -> None:
        context = self._epoch_state.context
        current = set(await self._children())
        for gone in context.assignments.keys() - current:
            context.forget_topic(gone)
        added = await self._load_topics(sorted(current - context.assignments.keys()))
        await self._create_partitions(tp for topic in added for tp in context.partitions_of(topic))

    async def on_topic_changed(self, topic: str) -> None:
        """Create added partitions; does nothing after the controller's own reassignment write."""
        context = self._epoch_state.context
        if topic not in context.assignments:
            return
        found = await self._read(topic)
        if found is None or topic in context.topics_to_delete:
            return
        node, stat = found
        context.topic_versions[topic] = stat.version
        known = context.assignments[topic]
        added = {p: a for p, a in node.partitions.items() if p not in known}
        known.update(added)
        await self._create_partitions(TopicPartition(topic, p) for p in sorted(added))

    async def _children(self) -> list[str]:
        watch = self._epoch_state.watch("topics", self.on_children_changed)
        return await self._epoch_state.tree.children(paths.BROKER_TOPICS, watch)

    async def _create_partitions(self, partitions: Iterable[TopicPartition]) -> None:
        created = list(partitions)
        if not created:
            return
        context = self._epoch_state.context
        for tp in created:
            context.move_partition(tp, PartitionStatus.NEW)
            for broker_id in context.assignment(tp).replicas:
                context.move_replica((tp, broker_id), ReplicaStatus.NEW)
        await self._leaderships.initialize(created)
        for tp in created:
            online = context.online_replicas(tp)
            for broker_id in context.assignment(tp).replicas:
                status = ReplicaStatus.ONLINE if broker_id in online else ReplicaStatus.OFFLINE
                context.move_replica((tp, broker_id), status)
        self._epoch_state.flush()

    async def _load_topics(self, topics: Collection[str]) -> list[str]:
        names = list(topics)
        loaded: list[str] = []
        for start in range(0, len(names), _READS_AT_ONCE):
            chunk = names[start : start + _READS_AT_ONCE]
            found = await asyncio.gather(*(self._read(topic) for topic in chunk))
            for topic, entry in zip(chunk, found, strict=True):
                if entry is not None:
                    await self._put(topic, *entry)
                    loaded.append(topic)
        return loaded

    async def _put(self, topic: str, node: TopicNode, stat: Stat) -> None:
        version = stat.version
        if node.topic_id == ZERO_UUID:
            # A topic made by a tool that knows no topic ids gets one (KIP-516).
            node = TopicNode(new_topic_id(), node.partitions)
            operation = SetOp(paths.topic(topic), node.encode(), version)
            try:
                await self._epoch_state.fenced.multi([operation])
            except MultiError as error:
                _log.warning("topic %s changed while it was given an id: %s", topic, error)
            version += 1
        self._epoch_state.context.put_topic(topic, node.topic_id, dict(node.partitions), version)

    async def _read(self, topic: str) -> tuple[TopicNode, Stat] | None:
        async def changed() -> None:
            await self.on_topic_changed(topic)

        watch = self._epoch_state.watch(f"topic {topic}", changed)
        try:
            data, stat = await self._epoch_state.tree.get(paths.topic(topic), watch)
        except NoNodeError:
            return None
        return TopicNode.decode(data), stat
