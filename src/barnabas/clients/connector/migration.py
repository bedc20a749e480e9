"""Moves the offsets of a group from ZooKeeper to Kafka or back.

`plan_migration` compares both sides and is pure; `OffsetMigration` reads and writes. Nothing is
removed at the source. A group with live members is rejected, because they would overwrite the
offsets.
"""

import enum
import warnings
from collections.abc import Mapping
from dataclasses import dataclass

from barnabas.clients.connector.cluster_client import (
    ClusterClient,
    LivingMembersError,
    RegistryTool,
    TreeSource,
    connect_zookeeper,
)
from barnabas.clients.connector.offset_storage import (
    KafkaOffsets,
    OffsetStorage,
    ZooKeeperOffsets,
    with_retries,
)
from barnabas.clients.connector.registry import GroupRegistry
from barnabas.clients.connector.settings import ConnectorSettings
from barnabas.clients.core.loop_thread import LoopThread
from barnabas.model.config import merged
from barnabas.model.errors import LocalError
from barnabas.model.ids import TopicPartition
from barnabas.model.records import OffsetAndMetadata
from barnabas.zk.tree import MetadataTree


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
class OffsetMove:
    """One partition of a plan, with the offsets at the source and the target."""

    topic_partition: TopicPartition
    source: int
    target: int | None

    @property
    def place(self) -> TopicPartition:
        """Former name of `topic_partition`; deprecated."""
        warnings.warn("use topic_partition instead of place", DeprecationWarning, stacklevel=2)
        return self.topic_partition

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
        """Writes the offsets and returns their number; LivingMembersError if there are members."""
        return self._loop.call(self._worker.apply(plan, allow_rewind))


class _MigrationWorker:
    """The part that runs on the loop."""

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
        members = await self._registry.member_ids()
        if members:
            names = ", ".join(members)
            raise LivingMembersError(f"group {plan.group!r} has living members: {names}")
        changes = plan.changes(allow_rewind=allow_rewind)
        if changes:
            to_kafka = plan.direction is Direction.TO_KAFKA
            target: OffsetStorage = self._kafka if to_kafka else self._zookeeper
            offsets = {
                topic_partition: OffsetAndMetadata(offset)
                for topic_partition, offset in changes.items()
            }
            retries, backoff_s = (
                self._settings.offsets.commit_retries,
                self._settings.offsets.backoff_s,
            )
            await with_retries(lambda: target.commit(offsets), retries, backoff_s)
        return len(changes)

    async def close(self) -> None:
        await self._cluster.close()
        await self._tree.close()
