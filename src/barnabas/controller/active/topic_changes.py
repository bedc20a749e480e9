"""Reacts to topics that are created, extended, removed, or marked for deletion.

`TopicChanges` watches the children of /brokers/topics and the data of each topic node. Brokers and
tools write these nodes (`topic_admin`); the class creates partition states and elects the first
leaders. `TopicDeletion` deletes topics that are marked below /admin/delete_topics.
"""

import asyncio
import logging
from collections.abc import Collection, Iterable
from functools import partial

from barnabas.controller.active.context import Replica
from barnabas.controller.active.epoch_state import ControllerEpochState
from barnabas.controller.active.leaderships import Leaderships
from barnabas.controller.machines.states import (
    DeletionStep,
    PartitionStatus,
    ReplicaStatus,
    next_deletion_step,
)
from barnabas.controller.topic_admin import new_topic_id
from barnabas.model.control import ControlReply, StopReplicaCommand
from barnabas.model.error_codes import ErrorCode
from barnabas.model.ids import ZERO_UUID, BrokerId, TopicPartition
from barnabas.runtime.slices import in_slices
from barnabas.zk import paths
from barnabas.zk.tree import DeleteOp, MultiError, NoNodeError, SetOp, Stat
from barnabas.zk.znodes import TopicNode

_log = logging.getLogger(__name__)
_ONE_STEP = 400
"""A topic with up to this many nodes is deleted in a single multi."""
_READS_AT_ONCE = 256


class TopicDeletion:
    """Deletes topics step by step; the steps are decided by `machines.states`.

    The controller first removes the topic from all brokers' metadata, then sends every replica the
    command to delete its log. When all logs are deleted it removes the topic's nodes, its
    configuration and the mark. The mark is removed last, so that the next controller continues an
    unfinished deletion. A topic with a replica on an offline broker waits for that broker. Deleting
    a topic also ends its reassignment: all old and new replicas delete their logs.
    """

    def __init__(self, epoch_state: ControllerEpochState) -> None:
        self._epoch_state = epoch_state

    async def on_marks_changed(self) -> None:
        """Reads the deletion marks and starts the deletions they request."""
        watch = self._epoch_state.watch("topic deletion", self.on_marks_changed)
        marked = await self._epoch_state.tree.children(paths.DELETE_TOPICS, watch)
        context = self._epoch_state.context
        if not self._epoch_state.config.delete_topic_enable:
            # Marks that stay would delete the topics later, when the setting changes.
            await self._remove_request_nodes(marked)
            return
        await self._remove_request_nodes(
            topic for topic in marked if topic not in context.assignments
        )
        context.topics_to_delete.update(topic for topic in marked if topic in context.assignments)
        await self.resume()

    async def resume(self, unblocked: Iterable[str] = ()) -> None:
        """Takes the next step for every topic that is being deleted."""
        context = self._epoch_state.context
        context.blocked_deletions.difference_update(unblocked)
        for topic in sorted(context.topics_to_delete):
            statuses = [context.replica_status(r) async for r in in_slices(context.replicas(topic))]
            step = next_deletion_step(statuses, eligible=topic not in context.blocked_deletions)
            if step is DeletionStep.FINISH:
                await self._finish(topic)
            elif step is DeletionStep.START:
                await self._start(topic)
        self._epoch_state.flush()

    def on_replies(
        self, broker_id: BrokerId, command: StopReplicaCommand, reply: ControlReply
    ) -> None:
        """Handles a broker's reply to a deletion; queues the resulting steps as an event."""
        deleted = [entry.topic_partition for entry in command.partitions if entry.delete]
        if not deleted:
            return

        async def settle() -> None:
            async for topic_partition in in_slices(deleted):
                error = reply.error or reply.partitions.get(topic_partition, ErrorCode.NONE)
                self._settle((topic_partition, broker_id), ErrorCode(error))
            await self.resume()

        self._epoch_state.submit(f"deleted by {broker_id} {id(reply)}", settle)

    def brokers_died(self, replicas: Iterable[Replica]) -> None:
        """Marks replicas on failed brokers: their deletions wait until the brokers return."""
        context = self._epoch_state.context
        for replica in replicas:
            topic = replica[0].topic
            if topic not in context.topics_to_delete:
                continue
            context.blocked_deletions.add(topic)
            if context.replica_status(replica) is ReplicaStatus.DELETION_STARTED:
                context.move_replica(replica, ReplicaStatus.DELETION_INELIGIBLE)

    def _settle(self, replica: Replica, error: ErrorCode) -> None:
        context = self._epoch_state.context
        # A late reply: the broker has left the cluster since, or the replica was deleted by a
        # repeated command.
        if context.replica_status(replica) is not ReplicaStatus.DELETION_STARTED:
            return
        if error is ErrorCode.NONE:
            context.move_replica(replica, ReplicaStatus.DELETION_SUCCESSFUL)
            return
        _log.warning("broker %d could not delete %s: %s", replica[1], replica[0], error.name)
        context.move_replica(replica, ReplicaStatus.DELETION_INELIGIBLE)
        context.blocked_deletions.add(replica[0].topic)

    async def _start(self, topic: str) -> None:
        context, batch = self._epoch_state.context, self._epoch_state.batch
        _log.info("topic %s: deletion started", topic)
        # Brokers get the deletion in their metadata first, so that clients stop using the topic.
        async for topic_partition in in_slices(list(context.partitions_of(topic))):
            batch.update_metadata([topic_partition])
            if context.partition_status(topic_partition) is not PartitionStatus.NON_EXISTENT:
                context.move_partition(topic_partition, PartitionStatus.OFFLINE)
                context.move_partition(topic_partition, PartitionStatus.NON_EXISTENT)
        async for topic_partition, broker_id in in_slices(list(context.replicas(topic))):
            replica = (topic_partition, broker_id)
            if context.replica_status(replica) is ReplicaStatus.DELETION_SUCCESSFUL:
                continue
            context.move_replica(replica, ReplicaStatus.OFFLINE)
            if context.is_online(topic_partition, broker_id):
                context.move_replica(replica, ReplicaStatus.DELETION_STARTED)
                batch.stop_replica(broker_id, topic_partition, delete=True)
            else:
                context.move_replica(replica, ReplicaStatus.DELETION_INELIGIBLE)
                context.blocked_deletions.add(topic)

    async def _finish(self, topic: str) -> None:
        """Deletes the nodes, leaves first; the last multi deletes topic, configuration and mark."""
        below = await self._nodes_below(topic)
        last = [paths.topic(topic), paths.config("topics", topic), paths.delete_topic(topic)]
        present = [path for path in last if await self._epoch_state.tree.exists(path) is not None]
        # A large topic does not fit into one multi. The mark goes with the last one, so that an
        # interrupted deletion continues.
        if len(below) + len(present) > _ONE_STEP:
            for start in range(0, len(below), _ONE_STEP):
                part = below[start : start + _ONE_STEP]
                await self._epoch_state.fenced.delete_all([DeleteOp(path) for path in part])
            below = []
        await self._epoch_state.fenced.multi([DeleteOp(path) for path in below + present])
        self._epoch_state.context.forget_topic(topic)
        _log.info("topic %s: deleted", topic)

    async def _nodes_below(self, topic: str) -> list[str]:
        root = paths.topic_partitions(topic)
        tree = self._epoch_state.tree
        try:
            partitions = await tree.children(root)
        except NoNodeError:
            return []
        found: list[str] = []
        async for partition in in_slices(partitions):
            path = f"{root}/{partition}"
            found += [f"{path}/{name}" for name in await tree.children(path)]
            found.append(path)
        return [*found, root]

    async def _remove_request_nodes(self, topics: Iterable[str]) -> None:
        ops = [DeleteOp(paths.delete_topic(topic)) for topic in topics]
        if ops:
            await self._epoch_state.fenced.delete_all(ops)


class TopicChanges:
    """Watches the topic nodes and creates new partitions."""

    def __init__(self, epoch_state: ControllerEpochState, leaderships: Leaderships) -> None:
        self._epoch_state = epoch_state
        self._leaderships = leaderships

    async def load(self) -> None:
        """Loads all topics into the context at the start of an epoch."""
        await self._load_topics(await self._children())

    async def on_children_changed(self) -> None:
        context = self._epoch_state.context
        current = set(await self._children())
        for gone in context.assignments.keys() - current:
            context.forget_topic(gone)
        added = await self._load_topics(sorted(current - context.assignments.keys()))
        await self._create_partitions(
            topic_partition for topic in added for topic_partition in context.partitions_of(topic)
        )

    async def on_topic_changed(self, topic: str) -> None:
        """Creates added partitions; does nothing after the controller's own reassignment write."""
        context = self._epoch_state.context
        if topic not in context.assignments:
            return
        found = await self._read(topic)
        if found is None or topic in context.topics_to_delete:
            return
        node, stat = found
        await asyncio.sleep(0)  # thousands of partitions take milliseconds in each step
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
        async for topic_partition in in_slices(created):
            context.move_partition(topic_partition, PartitionStatus.NEW)
            for broker_id in context.assignment(topic_partition).replicas:
                context.move_replica((topic_partition, broker_id), ReplicaStatus.NEW)
        await self._leaderships.initialize(created)
        async for topic_partition in in_slices(created):
            online = context.online_replicas(topic_partition)
            for broker_id in context.assignment(topic_partition).replicas:
                status = ReplicaStatus.ONLINE if broker_id in online else ReplicaStatus.OFFLINE
                context.move_replica((topic_partition, broker_id), status)
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
            # A tool without support of topic ids created the topic; it gets an id here (KIP-516).
            node = TopicNode(new_topic_id(), node.partitions)
            operation = SetOp(paths.topic(topic), node.encode(), version)
            try:
                await self._epoch_state.fenced.multi([operation])
            except MultiError as error:
                _log.warning("topic %s changed while its id was written: %s", topic, error)
            version += 1
        self._epoch_state.context.put_topic(topic, node.topic_id, dict(node.partitions), version)

    async def _read(self, topic: str) -> tuple[TopicNode, Stat] | None:
        on_changed = partial(self.on_topic_changed, topic)
        node = await self._epoch_state.read_node(f"topic {topic}", paths.topic(topic), on_changed)
        if node is None:
            return None
        data, stat = node
        return TopicNode.decode(data), stat
