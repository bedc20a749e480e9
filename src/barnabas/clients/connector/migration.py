"""Moves a group's offsets from ZooKeeper to Kafka or back: look first, then do.

Nothing is removed at the source, so the way back stays open. A group with living members is not
touched: they would commit over it a moment later.
"""

from collections.abc import Mapping

from barnabas.clients.connector.cluster_client import ClusterClient
from barnabas.clients.connector.errors import LivingMembersError
from barnabas.clients.connector.migration_plan import Direction, MigrationPlan, plan_migration
from barnabas.clients.connector.offset_storage import (
    KafkaOffsets,
    OffsetStorage,
    ZooKeeperOffsets,
    with_retries,
)
from barnabas.clients.connector.registry import GroupRegistry
from barnabas.clients.connector.registry_tool import RegistryTool
from barnabas.clients.connector.settings import ConnectorSettings
from barnabas.clients.connector.tree_source import TreeSource, connect_zookeeper
from barnabas.clients.core.loop_thread import LoopThread
from barnabas.model.errors import LocalError
from barnabas.model.group_metadata import OffsetAndMetadata
from barnabas.zk.tree import MetadataTree


class OffsetMigration(RegistryTool["_Worker"]):
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
        settings = ConnectorSettings.parse({**(config or {}), **options})
        super().__init__(settings, _Worker, open_tree, loop_thread)

    def plan(self, direction: Direction) -> MigrationPlan:
        """What would be done; changes nothing."""
        return self._loop.call(self._worker.plan(direction))

    def apply(self, plan: MigrationPlan, *, allow_rewind: bool = False) -> int:
        """Write the plan's offsets and say how many; LivingMembersError while it has members."""
        return self._loop.call(self._worker.apply(plan, allow_rewind))


class _Worker:
    """The loop's side."""

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
        in_zookeeper = await self._zookeeper.fetch(await self._zookeeper.places())
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
            offsets = {place: OffsetAndMetadata(offset) for place, offset in changes.items()}
            retries, backoff_s = (
                self._settings.offsets.commit_retries,
                self._settings.offsets.backoff_s,
            )
            await with_retries(lambda: target.commit(offsets), retries, backoff_s)
        return len(changes)

    async def close(self) -> None:
        await self._cluster.close()
        await self._tree.close()
