"""The nodes of a group below /consumers, the nodes of the cluster, and the view made from them.

Equal views give equal assignments, so a change that does not change the view needs no rebalance.

Ownership is all or nothing: the owner nodes are created in one step of the tree (in several for
very many partitions, undone if a later one is rejected). A node of an expired session of this
consumer is removed; for another owner the consumer waits (KAFKA-1387).

Every write checks in the same step that the registration still exists. The registration ends with
the session, so a member that has lost its session can neither release partitions that others own
nor move their offsets back.

`connect_zookeeper` opens the session; `ClusterClient` is the client of the registered brokers.
"""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

from barnabas import zk
from barnabas.clients.connector.assignors import (
    AssignmentContext,
    ConsumerThreadId,
    thread_ids_per_topic,
)
from barnabas.clients.connector.settings import ConnectorSettings
from barnabas.clients.connector.topic_count import STATIC, topic_count_of
from barnabas.clients.core.client import KafkaClient
from barnabas.model.errors import UnavailableError
from barnabas.model.ids import TopicPartition
from barnabas.zk import paths
from barnabas.zk.recipes import claim_ephemeral, delete_ephemeral
from barnabas.zk.tree import (
    ANY_VERSION,
    CheckOp,
    CreateOp,
    DeleteOp,
    MetadataTree,
    MultiError,
    NodeExistsError,
    NoNodeError,
    Op,
    SessionLostError,
    TreeError,
    Watch,
)
from barnabas.zk.znodes import BrokerNode, ConsumerNode, TopicNode, encode_owner
from barnabas.zk.zookeeper_security import ZooKeeperSecurity

TreeSource = Callable[[ConnectorSettings], Awaitable[MetadataTree]]
OPS_PER_MULTI = 1000
"""Keeps a multi below ZooKeeper's limit for one packet."""


@dataclass(frozen=True, slots=True)
class Member:
    """The subscription in the node of a member."""

    subscription: Mapping[str, int]
    pattern: str

    @property
    def is_wildcard(self) -> bool:
        return self.pattern != STATIC

    @classmethod
    def of(cls, node: ConsumerNode) -> "Member":
        return cls(dict(node.subscription), node.pattern)

    def topic_counts(self, topics: frozenset[str], exclude_internal: bool) -> dict[str, int]:
        node = ConsumerNode(self.subscription, self.pattern)
        return topic_count_of(node, exclude_internal).topic_counts(topics)


def subscribed_topics(
    members: Mapping[str, Member], topics: frozenset[str], exclude_internal: bool
) -> set[str]:
    """Returns every topic to which a member of the group subscribes."""
    return {
        topic
        for member in members.values()
        for topic in member.topic_counts(topics, exclude_internal)
    }


@dataclass(frozen=True, slots=True)
class GroupView:
    """Members, all topics for filters, and the partitions of the subscribed topics."""

    members: Mapping[str, Member]
    topics: frozenset[str]
    partitions: Mapping[str, tuple[int, ...]]
    exclude_internal: bool = True

    def context(self, consumer: str) -> AssignmentContext:
        """Returns the input of the assignors for one member; no topics if it is not registered."""
        threads: dict[str, list[ConsumerThreadId]] = {}
        mine: tuple[str, ...] = ()
        for name, member in sorted(self.members.items()):
            counts = member.topic_counts(self.topics, self.exclude_internal)
            for topic, ids in thread_ids_per_topic(name, counts).items():
                threads.setdefault(topic, []).extend(ids)
            if name == consumer:
                mine = tuple(sorted(counts))
        return AssignmentContext(
            consumer=consumer,
            my_topics=mine,
            threads_for_topic={topic: sorted(ids) for topic, ids in threads.items()},
            partitions_for_topic=self.partitions,
            consumers=tuple(sorted(self.members)),
        )


class OwnershipConflictError(NodeExistsError):
    """Another consumer has not released a partition yet."""


class GroupRegistry:
    """Access of one consumer to the nodes of its group."""

    def __init__(self, tree: MetadataTree, group: str, consumer: str) -> None:
        self.tree = tree
        self.group = group
        self.consumer = consumer
        self.former_sessions: set[int] = set()
        self._former_nodes = asyncio.Lock()
        """Two deletions at the same time below one parent would disturb each other."""
        self._registered = False

    async def register(self, node: ConsumerNode, wait_s: float) -> None:
        """Registers the consumer; waits until the node of its expired session is deleted."""
        await self.tree.ensure_path(paths.consumer_ids(self.group))
        await claim_ephemeral(
            self.tree,
            paths.consumer_id(self.group, self.consumer),
            node.encode(),
            former_sessions=self.former_sessions,
            wait_s=wait_s,
        )
        self._registered = True

    async def write(self, ops: Sequence[Op]) -> None:
        """Runs all operations or none; raises SessionLostError if this member is not registered."""
        # The check is part of the transaction. Without it, a consumer whose session expired could
        # claim partitions with the new session while the group no longer counts it as a member.
        guard = CheckOp(paths.consumer_id(self.group, self.consumer), ANY_VERSION)
        try:
            await self.tree.multi([guard, *ops] if self._registered else ops)
        except MultiError as error:
            if error.operation is guard:
                raise SessionLostError(f"{self.consumer} is not registered any more") from error
            raise

    async def member_ids(self) -> list[str]:
        try:
            return await self.tree.children(paths.consumer_ids(self.group))
        except NoNodeError:
            return []

    # -- view of the group ---------------------------------------------------------------------

    async def view(self, exclude_internal: bool, watch: Watch | None = None) -> GroupView:
        """Returns the current view of the group; `watch` is called at its first change."""
        members = await self._members(watch)
        topics: frozenset[str] = frozenset()
        if any(member.is_wildcard for member in members.values()):
            topics = frozenset(await self._topics(watch))
        read = sorted(subscribed_topics(members, topics, exclude_internal))
        found = await asyncio.gather(*(self._partitions(topic, watch) for topic in read))
        partitions = {topic: p for topic, p in zip(read, found, strict=True) if p is not None}
        return GroupView(members, topics, partitions, exclude_internal)

    async def brokers(self, watch: Watch | None = None) -> dict[int, BrokerNode]:
        """Returns the live brokers."""
        try:
            ids = await self.tree.children(paths.BROKER_IDS, watch)
        except NoNodeError:
            return {}
        nodes = await asyncio.gather(*(self._get(paths.broker(int(i))) for i in ids))
        return {
            int(broker_id): BrokerNode.decode(data)
            for broker_id, data in zip(ids, nodes, strict=True)
            if data is not None
        }

    async def _members(self, watch: Watch | None) -> dict[str, Member]:
        # The watch is on the list alone: a member writes its node once per session, so its data
        # does not change.
        ids = await self.tree.children(paths.consumer_ids(self.group), watch)
        nodes = await asyncio.gather(*(self._get(paths.consumer_id(self.group, i)) for i in ids))
        return {
            consumer: Member.of(ConsumerNode.decode(data))
            for consumer, data in zip(ids, nodes, strict=True)
            if data is not None
        }

    async def _topics(self, watch: Watch | None) -> list[str]:
        await self.tree.ensure_path(paths.BROKER_TOPICS)
        return await self.tree.children(paths.BROKER_TOPICS, watch)

    async def _partitions(self, topic: str, watch: Watch | None) -> tuple[int, ...] | None:
        """Returns None if the topic does not exist; watches for its creation."""
        # exists sets a watch also on a missing node, get does not: the creation of the topic must
        # be noticed.
        if await self.tree.exists(paths.topic(topic), watch) is None:
            return None
        data = await self._get(paths.topic(topic), watch)
        return None if data is None else tuple(sorted(TopicNode.decode(data).partitions))

    async def _get(self, path: str, watch: Watch | None = None) -> bytes | None:
        try:
            return (await self.tree.get(path, watch))[0]
        except NoNodeError:
            return None

    # -- ownership -----------------------------------------------------------------------------

    async def claim(self, assignment: Mapping[TopicPartition, ConsumerThreadId]) -> None:
        """Claims all partitions or none; OwnershipConflictError names a conflicting node."""
        for topic in {topic_partition.topic for topic_partition in assignment}:
            await self.tree.ensure_path(paths.consumer_owners(self.group, topic))
        claimed: list[TopicPartition] = []
        try:
            wanted = sorted(assignment.items())
            for start in range(0, len(wanted), OPS_PER_MULTI):
                some = wanted[start : start + OPS_PER_MULTI]
                await self._claim_some(some)
                claimed.extend(topic_partition for topic_partition, _ in some)
        # Several transactions are not atomic together. Keeping a part would block the members
        # that should own it while this one waits for the conflict to end.
        except OwnershipConflictError:
            await self.release(claimed)
            raise

    async def release(self, topic_partitions: Collection[TopicPartition]) -> None:
        """Releases partitions that this session owns, in one step."""
        ops = [
            DeleteOp(paths.consumer_owner(self.group, topic_partition))
            for topic_partition in topic_partitions
        ]
        for start in range(0, len(ops), OPS_PER_MULTI):
            some = ops[start : start + OPS_PER_MULTI]
            try:
                await self.write(some)
            except MultiError:
                await self.release_ours(topic_partitions)

    async def release_ours(self, topic_partitions: Collection[TopicPartition]) -> None:
        """Releases the partitions that this consumer owns; keeps the nodes of other owners."""
        names = (
            paths.consumer_owner(self.group, topic_partition)
            for topic_partition in topic_partitions
        )
        await asyncio.gather(*(self._delete_if_own(path) for path in names))

    async def _claim_some(self, some: Sequence[tuple[TopicPartition, ConsumerThreadId]]) -> None:
        ops = [
            CreateOp(
                paths.consumer_owner(self.group, topic_partition),
                encode_owner(str(thread)),
                ephemeral=True,
            )
            for topic_partition, thread in some
        ]
        while True:
            try:
                await self.write(ops)
                return
            except MultiError as error:
                await self._clear_leftover(error.cause)

    async def _clear_leftover(self, cause: TreeError) -> None:
        """Removes an outdated owner node of this consumer, or raises the conflict."""
        if not isinstance(cause, NodeExistsError):
            raise cause
        # ZooKeeper deletes the nodes of an expired session only after its timeout. Nodes of our
        # own former session may be deleted at once; nodes of others end by themselves or by a
        # release.
        if not await self._delete_if_own(cause.path):
            raise OwnershipConflictError(cause.path)

    async def _delete_if_own(self, path: str) -> bool:
        """Deletes a node of this consumer; returns False if it belongs to another one."""
        stat = await self.tree.exists(path)
        if stat is None:
            return True
        if stat.ephemeral_owner == self.tree.session_id:
            # Only this session can have created the node; if the session ends, the write fails.
            with contextlib.suppress(NoNodeError):
                await self.tree.delete(path)
            return True
        async with self._former_nodes:
            return await delete_ephemeral(self.tree, path, self.former_sessions)


async def connect_zookeeper(settings: ConnectorSettings) -> MetadataTree:
    return await zk.connect(
        settings.zookeeper,
        session_timeout_s=settings.session_timeout_s,
        connect_timeout_s=settings.connect_timeout_s,
        security=ZooKeeperSecurity.of_client(settings.values.__getitem__),
    )


class ClusterClient:
    """Returns one client, and a new one when none of its brokers is registered any more."""

    def __init__(self, registry: GroupRegistry, settings: ConnectorSettings) -> None:
        self._registry = registry
        self._settings = settings
        self._client: KafkaClient | None = None
        self._addresses: frozenset[str] = frozenset()

    async def get(self) -> KafkaClient:
        """Returns the client; raises UnavailableError if no broker is registered."""
        brokers = await self._registry.brokers()
        addresses = broker_addresses(brokers, self._settings.security_protocol)
        if not addresses:
            raise UnavailableError("no broker is registered in ZooKeeper")
        if self._client is None or not self._addresses & addresses:
            await self.close()
            options = self._settings.client_options(sorted(addresses))
            self._client = KafkaClient(options)
            self._client.allow_auto_create(False)
            self._addresses = addresses
        return self._client

    async def close(self) -> None:
        client, self._client = self._client, None
        if client is not None:
            await client.close()


def broker_addresses(brokers: Mapping[int, BrokerNode], protocol: str) -> frozenset[str]:
    """Returns the addresses of the listeners with this security protocol."""
    return frozenset(
        f"[{endpoint.host}]:{endpoint.port}"
        if ":" in endpoint.host
        else f"{endpoint.host}:{endpoint.port}"
        for node in brokers.values()
        for endpoint in node.endpoints
        if endpoint.security_protocol == protocol
    )
