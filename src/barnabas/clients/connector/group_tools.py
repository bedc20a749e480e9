"""Tools for groups of the ZooKeeper consumer: reports, deletion, and migration of offsets.

`GroupReports` serves `groups` and `kafka-consumer-groups` with `--zookeeper`: members, owner
threads, offsets, lag. It also deletes groups without members, because these groups never expire.

`OffsetMigration` moves the offsets of a group from ZooKeeper to Kafka or back. `plan_migration`
compares both sides and is pure. Nothing is removed at the source. A group with live members is
rejected, because they would overwrite the offsets.
"""

import asyncio
import contextlib
import enum
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from barnabas.clients.connector.offset_storage import (
    KafkaOffsets,
    OffsetStorage,
    ZooKeeperOffsets,
    with_retries,
)
from barnabas.clients.connector.registry import (
    ClusterClient,
    GroupRegistry,
    TreeSource,
    connect_zookeeper,
)
from barnabas.clients.connector.settings import ConnectorSettings
from barnabas.clients.core.apis.list_offsets import (
    OffsetAndTimestamp,
    OffsetQuery,
    list_offsets_request,
    read_list_offsets,
)
from barnabas.clients.core.client import KafkaClient
from barnabas.clients.core.loop_thread import LoopThread
from barnabas.model.config import merged
from barnabas.model.errors import BarnabasError, LocalError
from barnabas.model.ids import TopicPartition
from barnabas.model.records import LATEST_TIMESTAMP, IsolationLevel, OffsetAndMetadata
from barnabas.runtime.closing import ClosesOnExit
from barnabas.zk import paths
from barnabas.zk.tree import MetadataTree, NoNodeError
from barnabas.zk.znodes import decode_owner

_ANY_GROUP = "group-report"
_LEADER_SECONDS = 5.0


class ActiveMembersError(LocalError):
    """The group has active members, which would overwrite the change."""


class RegistryWorker(Protocol):
    """The part of a tool that runs on the loop."""

    async def close(self) -> None: ...


W = TypeVar("W", bound=RegistryWorker)


class RegistryTool(ClosesOnExit, Generic[W]):
    """Base of blocking tools with a ZooKeeper session; close it, or use `with`."""

    def __init__(
        self,
        settings: ConnectorSettings,
        make_worker: Callable[[MetadataTree, ConnectorSettings], W],
        open_tree: TreeSource,
        loop_thread: LoopThread | None,
    ) -> None:
        self._owns_loop = loop_thread is None
        self._loop = loop_thread or LoopThread("barnabas-registry-tool")

        async def start() -> W:
            return make_worker(await open_tree(settings), settings)

        try:
            self._worker = self._loop.call(start())
        except BaseException:
            self._close_loop()
            raise

    def close(self) -> None:
        try:
            self._loop.call(self._worker.close())
        finally:
            self._close_loop()

    def _close_loop(self) -> None:
        if self._owns_loop:
            self._loop.close()


async def _require_no_members(registry: GroupRegistry, group: str) -> None:
    """Raises ActiveMembersError if the group has members."""
    members = await registry.member_ids()
    if members:
        names = ", ".join(sorted(members))
        raise ActiveMembersError(f"group {group!r} has active members: {names}")


class _OfPartition:
    """A value of one partition; its field `topic_partition` was named `place` before."""

    __slots__ = ()
    topic_partition: TopicPartition

    @property
    def place(self) -> TopicPartition:
        """Former name of `topic_partition`; deprecated."""
        warnings.warn("use topic_partition instead of place", DeprecationWarning, stacklevel=2)
        return self.topic_partition


@dataclass(frozen=True, slots=True)
class PartitionReport(_OfPartition):
    """One partition of a group; unknown values are None."""

    topic_partition: TopicPartition
    offset: int | None
    log_end_offset: int | None
    owner: str | None

    @property
    def lag(self) -> int | None:
        if self.offset is None or self.log_end_offset is None:
            return None
        return max(0, self.log_end_offset - self.offset)


@dataclass(frozen=True, slots=True)
class GroupReport:
    """A group of the ZooKeeper high-level consumer."""

    group: str
    members: tuple[str, ...]
    partitions: tuple[PartitionReport, ...]


class GroupReports(RegistryTool["_ReportWorker"]):
    """Reads groups from ZooKeeper; takes a connector's configuration without group.id."""

    def __init__(
        self,
        config: Mapping[str, object] | None = None,
        *,
        open_tree: TreeSource = connect_zookeeper,
        loop_thread: LoopThread | None = None,
        **options: object,
    ) -> None:
        settings = ConnectorSettings.parse({"group.id": _ANY_GROUP, **(config or {}), **options})
        super().__init__(settings, _ReportWorker, open_tree, loop_thread)

    def groups(self) -> list[str]:
        """Returns all groups that have nodes in ZooKeeper."""
        return self._loop.call(self._worker.groups())

    def members(self, group: str) -> list[str]:
        """Returns the consumer ids that are registered in a group."""
        return self._loop.call(self._worker.members(group))

    def describe(self, group: str) -> GroupReport:
        """Returns owners, offsets and lag of every partition of a group."""
        return self._loop.call(self._worker.describe(group))

    def delete(self, group: str, topic: str | None = None) -> bool:
        """Removes a group, or its nodes of one topic; returns False if there is none.

        Raises:
            ActiveMembersError: The group has members.
        """
        return self._loop.call(self._worker.delete(group, topic))


class _ReportWorker:
    """The part of `GroupReports` that runs on the loop."""

    def __init__(self, tree: MetadataTree, settings: ConnectorSettings) -> None:
        self._tree = tree
        self._cluster = ClusterClient(GroupRegistry(tree, _ANY_GROUP, ""), settings)

    async def groups(self) -> list[str]:
        return sorted(await self._children(paths.CONSUMERS))

    async def members(self, group: str) -> list[str]:
        return sorted(await GroupRegistry(self._tree, group, "").member_ids())

    async def describe(self, group: str) -> GroupReport:
        storage = ZooKeeperOffsets(GroupRegistry(self._tree, group, ""))
        owners = await self._owners(group)
        offsets = await storage.fetch(await storage.topic_partitions())
        topic_partitions = sorted(owners.keys() | offsets.keys())
        ends = await self._ends(topic_partitions)
        return GroupReport(
            group,
            tuple(await self.members(group)),
            tuple(
                PartitionReport(
                    topic_partition,
                    offsets.get(topic_partition),
                    ends.get(topic_partition),
                    owners.get(topic_partition),
                )
                for topic_partition in topic_partitions
            ),
        )

    async def delete(self, group: str, topic: str | None) -> bool:
        if group not in await self._children(paths.CONSUMERS):
            return False
        await _require_no_members(GroupRegistry(self._tree, group, ""), group)
        root = f"{paths.CONSUMERS}/{group}"
        if topic is not None:
            for kind in ("owners", "offsets"):
                await remove_tree(self._tree, f"{root}/{kind}/{topic}")
            return True
        # Delete the node of the members first: this fails if a member has just registered.
        with contextlib.suppress(NoNodeError):
            await self._tree.delete(paths.consumer_ids(group))
        await remove_tree(self._tree, root)
        return True

    async def close(self) -> None:
        await self._cluster.close()
        await self._tree.close()

    async def _owners(self, group: str) -> dict[TopicPartition, str]:
        found: dict[TopicPartition, str] = {}
        for topic in await self._children(f"{paths.CONSUMERS}/{group}/owners"):
            for partition in await self._children(paths.consumer_owners(group, topic)):
                topic_partition = TopicPartition(topic, int(partition))
                try:
                    data, _ = await self._tree.get(paths.consumer_owner(group, topic_partition))
                except NoNodeError:
                    continue
                found[topic_partition] = decode_owner(data)
        return found

    async def _children(self, path: str) -> list[str]:
        try:
            return await self._tree.children(path)
        except NoNodeError:
            return []

    async def _ends(self, topic_partitions: list[TopicPartition]) -> dict[TopicPartition, int]:
        """Returns the log end offsets; omits partitions that cannot be read."""
        try:
            client = await self._cluster.get()
            await client.refresh({topic_partition.topic for topic_partition in topic_partitions})
        except BarnabasError:
            return {}
        by_leader: dict[int, list[TopicPartition]] = {}
        for topic_partition in topic_partitions:
            leader = client.metadata.leader_of(topic_partition)
            if leader is not None:
                by_leader.setdefault(leader[0].id, []).append(topic_partition)
        found = await asyncio.gather(
            *(_ends_at(client, broker_id, some) for broker_id, some in by_leader.items())
        )
        return {topic_partition: end for ends in found for topic_partition, end in ends.items()}


async def remove_tree(tree: MetadataTree, path: str) -> None:
    """Deletes a node and its children; ignores missing nodes."""
    with contextlib.suppress(NoNodeError):
        for name in await tree.children(path):
            await remove_tree(tree, f"{path}/{name}")
        await tree.delete(path)


async def _ends_at(
    client: KafkaClient, broker_id: int, topic_partitions: list[TopicPartition]
) -> dict[TopicPartition, int]:
    queries = dict.fromkeys(topic_partitions, OffsetQuery(LATEST_TIMESTAMP))
    request = list_offsets_request(queries, IsolationLevel.READ_UNCOMMITTED)
    try:
        response = await client.send(broker_id, request, timeout_s=_LEADER_SECONDS)
    except BarnabasError:
        return {}
    return {
        topic_partition: found.offset
        for topic_partition, found in read_list_offsets(response).items()
        if isinstance(found, OffsetAndTimestamp) and found.offset >= 0
    }


class Direction(enum.Enum):
    """Target of a migration."""

    TO_KAFKA = "kafka"
    TO_ZOOKEEPER = "zookeeper"


class MigrationStep(enum.Enum):
    """Effect of a migration on one partition."""

    CREATE = "the target has no offset yet"
    ADVANCE = "the target is behind"
    REWIND = "the target is ahead: records would be read again"
    KEEP = "both are equal"


@dataclass(frozen=True, slots=True)
class OffsetMove(_OfPartition):
    """One partition of a plan, with the offsets at the source and the target."""

    topic_partition: TopicPartition
    source: int
    target: int | None

    @property
    def step(self) -> MigrationStep:
        if self.target is None:
            return MigrationStep.CREATE
        if self.target == self.source:
            return MigrationStep.KEEP
        return MigrationStep.ADVANCE if self.target < self.source else MigrationStep.REWIND


@dataclass(frozen=True, slots=True)
class MigrationPlan:
    """All partitions with an offset at the source; `members` are registered in ZooKeeper."""

    group: str
    direction: Direction
    moves: tuple[OffsetMove, ...]
    members: tuple[str, ...] = ()

    def changes(self, *, allow_rewind: bool = False) -> dict[TopicPartition, int]:
        """Returns the offsets to write."""
        wanted = {MigrationStep.CREATE, MigrationStep.ADVANCE} | (
            {MigrationStep.REWIND} if allow_rewind else set()
        )
        return {move.topic_partition: move.source for move in self.moves if move.step in wanted}


def plan_migration(
    group: str,
    direction: Direction,
    source: Mapping[TopicPartition, int],
    target: Mapping[TopicPartition, int],
    members: tuple[str, ...] = (),
) -> MigrationPlan:
    """Compares the offsets of both sides."""
    moves = tuple(
        OffsetMove(topic_partition, source[topic_partition], target.get(topic_partition))
        for topic_partition in sorted(source)
    )
    return MigrationPlan(group, direction, moves, members)


class OffsetMigration(RegistryTool["_MigrationWorker"]):
    """Takes a connector's configuration; close it, or use `with`.

    >>> with OffsetMigration(zookeeper_connect="localhost:2181", group_id="g") as migration:
    ...     plan = migration.plan(Direction.TO_KAFKA)
    ...     migration.apply(plan)
    ... # doctest: +SKIP
    """

    def __init__(
        self,
        config: Mapping[str, object] | None = None,
        *,
        open_tree: TreeSource = connect_zookeeper,
        loop_thread: LoopThread | None = None,
        **options: object,
    ) -> None:
        settings = ConnectorSettings.parse(merged(config, options))
        super().__init__(settings, _MigrationWorker, open_tree, loop_thread)

    def plan(self, direction: Direction) -> MigrationPlan:
        """Returns the plan of a migration; changes nothing."""
        return self._loop.call(self._worker.plan(direction))

    def apply(self, plan: MigrationPlan, *, allow_rewind: bool = False) -> int:
        """Writes the offsets and returns their number; ActiveMembersError if there are members."""
        return self._loop.call(self._worker.apply(plan, allow_rewind))


class _MigrationWorker:
    """The part of `OffsetMigration` that runs on the loop."""

    def __init__(self, tree: MetadataTree, settings: ConnectorSettings) -> None:
        self._tree = tree
        self._settings = settings
        self._registry = GroupRegistry(tree, settings.group, "offset-migration")
        self._cluster = ClusterClient(self._registry, settings)
        self._zookeeper = ZooKeeperOffsets(self._registry)
        timeout_s = settings.offsets.timeout_s
        self._kafka = KafkaOffsets(self._cluster.get, settings.group, timeout_s)

    async def plan(self, direction: Direction) -> MigrationPlan:
        offsets = self._settings.offsets
        in_zookeeper = await self._zookeeper.fetch(await self._zookeeper.topic_partitions())
        in_kafka = await with_retries(
            self._kafka.fetch_all, offsets.commit_retries, offsets.backoff_s
        )
        sides = (in_zookeeper, in_kafka)
        source, target = sides if direction is Direction.TO_KAFKA else sides[::-1]
        members = tuple(await self._registry.member_ids())
        return plan_migration(self._settings.group, direction, source, target, members)

    async def apply(self, plan: MigrationPlan, allow_rewind: bool) -> int:
        if plan.group != self._settings.group:
            raise LocalError(f"the plan is for group {plan.group!r}")
        await _require_no_members(self._registry, plan.group)
        changes = plan.changes(allow_rewind=allow_rewind)
        if changes:
            to_kafka = plan.direction is Direction.TO_KAFKA
            target: OffsetStorage = self._kafka if to_kafka else self._zookeeper
            offsets = {
                topic_partition: OffsetAndMetadata(offset)
                for topic_partition, offset in changes.items()
            }
            limits = self._settings.offsets
            await with_retries(
                lambda: target.commit(offsets), limits.commit_retries, limits.backoff_s
            )
        return len(changes)

    async def close(self) -> None:
        await self._cluster.close()
        await self._tree.close()
