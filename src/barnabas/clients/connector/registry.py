"""The group's nodes below /consumers, and the cluster's that it reads.

Ownership is all or nothing: the owner nodes are created in one step of the tree (several for very
many partitions, undone if a later one is refused). A node of a session of ours that has died is
in nobody's interest and is removed; any other owner is waited for (KAFKA-1387).

Every write checks, in the same step, that our registration is still there. It ends with the
session, so a member that has lost its session without knowing yet can neither release what others
own by now nor take their offsets back.
"""

import asyncio
import contextlib
from collections.abc import Collection, Mapping, Sequence

from barnabas.clients.connector.group_view import GroupView, Member, subscribed_topics
from barnabas.clients.connector.thread_ids import ConsumerThreadId
from barnabas.model.ids import TopicPartition
from barnabas.zk import paths
from barnabas.zk.consumer_znodes import ConsumerNode, encode_owner
from barnabas.zk.ephemeral import claim_ephemeral
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
from barnabas.zk.znodes import BrokerNode, TopicNode

OPS_PER_MULTI = 1000
"""Keeps a multi well below ZooKeeper's limit for one packet."""


class OwnershipConflictError(NodeExistsError):
    """Another consumer has not let go of a partition yet."""


class GroupRegistry:
    """One consumer's door to its group's nodes."""

    def __init__(self, tree: MetadataTree, group: str, consumer: str) -> None:
        self.tree = tree
        self.group = group
        self.consumer = consumer
        self.former_sessions: set[int] = set()
        self._registered = False

    async def register(self, node: ConsumerNode, wait_s: float) -> None:
        """Become a member; a node that our own crashed predecessor left is waited for."""
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
        """All of it or nothing; SessionLostError when our registration is gone."""
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

    # -- the picture ---------------------------------------------------------------------------

    async def view(self, exclude_internal: bool, watch: Watch | None = None) -> GroupView:
        """The group as it is now; `watch` is told the first change of any part of it."""
        members = await self._members(watch)
        topics: frozenset[str] = frozenset()
        if any(member.is_wildcard for member in members.values()):
            topics = frozenset(await self._topics(watch))
        read = sorted(subscribed_topics(members, topics, exclude_internal))
        found = await asyncio.gather(*(self._partitions(topic, watch) for topic in read))
        partitions = {topic: p for topic, p in zip(read, found, strict=True) if p is not None}
        return GroupView(members, topics, partitions, exclude_internal)

    async def brokers(self, watch: Watch | None = None) -> dict[int, BrokerNode]:
        """The brokers that live now."""
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
        """None while there is no such topic; its creation is watched for."""
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
        """Own all of these or none; OwnershipConflictError names a node that is in the way."""
        for topic in {place.topic for place in assignment}:
            await self.tree.ensure_path(paths.consumer_owners(self.group, topic))
        claimed: list[TopicPartition] = []
        try:
            wanted = sorted(assignment.items())
            for start in range(0, len(wanted), OPS_PER_MULTI):
                some = wanted[start : start + OPS_PER_MULTI]
                await self._claim_some(some)
                claimed.extend(place for place, _ in some)
        except OwnershipConflictError:
            await self.release(claimed)
            raise

    async def release(self, places: Collection[TopicPartition]) -> None:
        """Give up what this session owns, in one step."""
        ops = [DeleteOp(paths.consumer_owner(self.group, place)) for place in places]
        for start in range(0, len(ops), OPS_PER_MULTI):
            some = ops[start : start + OPS_PER_MULTI]
            try:
                await self.write(some)
            except MultiError:
                await self.release_ours(places)

    async def release_ours(self, places: Collection[TopicPartition]) -> None:
        """Give up what is ours of these; a node that is another's by now is left alone."""
        names = (paths.consumer_owner(self.group, place) for place in places)
        await asyncio.gather(*(self._release_one(path) for path in names))

    async def _claim_some(self, some: Sequence[tuple[TopicPartition, ConsumerThreadId]]) -> None:
        ops = [
            CreateOp(
                paths.consumer_owner(self.group, place), encode_owner(str(thread)), ephemeral=True
            )
            for place, thread in some
        ]
        while True:
            try:
                await self.write(ops)
                return
            except MultiError as error:
                await self._clear_leftover(error.cause)

    async def _clear_leftover(self, cause: TreeError) -> None:
        """Remove an owner node that is ours and means nothing any more, or raise the conflict."""
        if not isinstance(cause, NodeExistsError):
            raise cause
        stat = await self.tree.exists(cause.path)
        if stat is None:
            return
        if not self._is_ours(stat.ephemeral_owner):
            raise OwnershipConflictError(cause.path)
        with contextlib.suppress(NoNodeError):
            await self.tree.delete(cause.path, stat.version)

    async def _release_one(self, path: str) -> None:
        stat = await self.tree.exists(path)
        if stat is not None and self._is_ours(stat.ephemeral_owner):
            with contextlib.suppress(NoNodeError):
                await self.tree.delete(path)

    def _is_ours(self, session_id: int) -> bool:
        return session_id == self.tree.session_id or session_id in self.former_sessions
