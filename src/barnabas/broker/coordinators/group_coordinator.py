"""The group coordinator of one broker: finds the shard of a group and runs requests on it."""

import uuid
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING

from barnabas.broker.coordinators.internal_topics import InternalTopics
from barnabas.broker.coordinators.shard_host import Coordinator, ShardHost
from barnabas.broker.coordinators.shard_runtime import (
    ReplyReceiver,
    RuntimeSettings,
    SettleOn,
    ShardRuntime,
)
from barnabas.broker.metadata_cache import MetadataCache
from barnabas.coordination import CoordinatorRecord
from barnabas.groups.step import GroupConfig, GroupOutcome, GroupStats, TimerKey
from barnabas.model.config import ConfigValues
from barnabas.model.error_codes import ErrorCode
from barnabas.model.ids import OFFSETS_TOPIC, Uuid
from barnabas.replication.partition import Partition

if TYPE_CHECKING:
    from barnabas.groups.coordinator import GroupCoordinatorShard

GroupOperation = Callable[["GroupCoordinatorShard", int], GroupOutcome]
"""`operation(shard, now_ms)`."""


class TopicsView:
    """The topics that groups can use, from the metadata cache; owned by the broker's loop.

    `refresh` must be called after every change of the metadata. The version changes only when a
    topic is created, deleted or extended: groups do not use leaders and ISRs, which most updates
    of the metadata change.
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


class GroupShardDriver:
    """One shard for one leader epoch of its partition; owned by the broker's loop.

    No other operation runs between a step and its settlement: replies that wait for the high
    watermark are sent in separate callbacks of the loop (see `CommitGate`).
    """

    def __init__(
        self, shard: "GroupCoordinatorShard", partition: Partition, settings: RuntimeSettings
    ) -> None:
        self.shard = shard
        self._runtime = ShardRuntime(shard, partition, settings, SettleOn.APPEND, self._on_timer)

    # --- loading and unloading (ShardDriver) ---

    def replay(self, key: bytes, value: bytes | None, producer_id: int) -> None:
        self.shard.replay(CoordinatorRecord(key, value), producer_id)

    def replay_marker(self, producer_id: int, *, commit: bool) -> None:
        self.shard.end_transaction(producer_id, commit=commit)

    def activate(self) -> None:
        self.run(lambda shard, now_ms: shard.loaded(now_ms))

    def resign(self) -> None:
        self._runtime.close(ErrorCode.NOT_COORDINATOR)
        self._runtime.execute(self.shard.unload())
        self._runtime.fail_parked(ErrorCode.NOT_COORDINATOR)

    # --- serving ---

    def run(self, operation: GroupOperation, receiver: ReplyReceiver | None = None) -> bool:
        """Runs one operation; `receiver` gets its reply, now or later.

        Returns:
            Whether the operation wrote records.
        """
        before = self._runtime.gate.required_offset
        self._runtime.execute(operation(self.shard, self._runtime.now_ms()), receiver)
        return self._runtime.gate.required_offset > before

    def read(self, release: Callable[[ErrorCode], None]) -> None:
        """Calls `release` once the whole state of this shard is committed."""
        self._runtime.gate.run_when_committed(release)

    def marker_appended(self, producer_id: int, end_offset: int, *, commit: bool) -> None:
        """Applies a transaction marker that was appended to this partition."""
        self._runtime.gate.wrote_up_to(end_offset)
        self.shard.end_transaction(producer_id, commit=commit)

    def _on_timer(self, key: TimerKey) -> None:
        self.run(lambda shard, now_ms: shard.on_timer(key, now_ms))


class GroupCoordinator(Coordinator[GroupShardDriver]):
    """Coordinator of the groups whose partition of the offsets topic this broker leads."""

    def __init__(
        self,
        values: ConfigValues,
        topics: InternalTopics,
        view: TopicsView,
        settings: RuntimeSettings,
        group_settings: Callable[[str], Mapping[str, int]],
    ) -> None:
        """`group_settings` returns the settings of one group."""
        buffer_bytes = values["offsets.load.buffer.size"]
        super().__init__(topics, ShardHost(OFFSETS_TOPIC, buffer_bytes, self._make))
        self._group_settings = group_settings
        self._config = GroupConfig.from_values(values)
        self._view = view
        self._settings = settings
        self.stats = GroupStats()

    def run(self, group_id: str, operation: GroupOperation, receiver: ReplyReceiver) -> None:
        """Runs an operation on a group's shard; `receiver` gets the reply, now or later."""
        self.shard_of(group_id).run(operation, receiver)

    def topics_changed(self, gone: Iterable[str]) -> None:
        """Applies a change of the metadata; removes the offsets of deleted topics."""
        self._view.refresh()
        deleted = frozenset(gone)
        if deleted:
            self._run_on_all_shards(lambda shard, now_ms: shard.topics_deleted(deleted, now_ms))

    def expire(self) -> None:
        """Removes expired offsets and groups; called periodically."""
        self._run_on_all_shards(lambda shard, now_ms: shard.expire(now_ms))

    def _run_on_all_shards(self, step: GroupOperation) -> None:
        for driver in list(self._host.active()):
            self._repeat(driver, step)

    def _repeat(self, driver: GroupShardDriver, step: GroupOperation) -> None:
        """Removes a limited number of offsets; later callbacks of the loop remove the others."""
        if driver.run(step):
            self._settings.call_soon(lambda: self._repeat(driver, step))

    def _make(self, partition: Partition) -> GroupShardDriver:
        # Start-up time: a broker without groups starts 0.2 s sooner.
        from barnabas.groups.coordinator import GroupCoordinatorShard

        shard = GroupCoordinatorShard(
            self._config, self._view, _new_id, self._group_settings, self.stats
        )
        return GroupShardDriver(shard, partition, self._settings)


def _new_id() -> str:
    return str(uuid.uuid4())
