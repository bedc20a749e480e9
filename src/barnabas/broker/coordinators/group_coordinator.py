"""The group coordinator of one broker: finds the shard of a group and runs requests on it."""

import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from barnabas.broker.coordinators.group_shard import GroupOperation, GroupShardDriver
from barnabas.broker.coordinators.internal_topics import InternalTopics
from barnabas.broker.coordinators.shard_host import ShardHost
from barnabas.broker.coordinators.shard_runtime import ReplyReceiver, RuntimeSettings
from barnabas.broker.coordinators.topics_view import TopicsView
from barnabas.groups.config import GroupConfig
from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BrokerError
from barnabas.model.topic_names import OFFSETS_TOPIC
from barnabas.replication.partition import Partition


class GroupCoordinator:
    """Owned by the broker's loop. Requests for groups that live elsewhere raise BrokerError."""

    def __init__(
        self,
        values: Mapping[str, Any],
        topics: InternalTopics,
        view: TopicsView,
        settings: RuntimeSettings,
        group_settings: Callable[[str], Mapping[str, int]],
    ) -> None:
        """`group_settings` gives what is set for one group alone."""
        self._group_settings = group_settings
        self._config = GroupConfig.from_values(values)
        self._topics = topics
        self._view = view
        self._settings = settings
        self._host = ShardHost(OFFSETS_TOPIC, values["offsets.load.buffer.size"], self._make)

    # --- requests ---

    def run(self, group_id: str, operation: GroupOperation, receiver: ReplyReceiver) -> None:
        """Runs an operation on a group's shard; `receiver` gets the reply, now or later."""
        self.shard_of(group_id).run(operation, receiver)

    def shard_of(self, group_id: str) -> GroupShardDriver:
        """The shard of a group; COORDINATOR_LOAD_IN_PROGRESS or NOT_COORDINATOR."""
        return self._host.get(self._topics.partition_of(OFFSETS_TOPIC, group_id).partition)

    def shard_at(self, partition: int) -> GroupShardDriver:
        """The shard of a partition, for transaction markers."""
        return self._host.get(partition)

    def all_shards(self) -> Iterator[GroupShardDriver]:
        """Every shard of this broker; COORDINATOR_LOAD_IN_PROGRESS while one is missing."""
        if self._host.loading:
            raise BrokerError(ErrorCode.COORDINATOR_LOAD_IN_PROGRESS)
        return self._host.active()

    # --- events ---

    def leadership_changed(self, partition: Partition) -> None:
        self._host.leadership_changed(partition)

    def topics_changed(self, gone: Iterable[str]) -> None:
        """The metadata has changed; offsets of deleted topics go with them."""
        self._view.refresh()
        deleted = frozenset(gone)
        if deleted:
            self._everywhere(lambda shard, now_ms: shard.topics_deleted(deleted, now_ms))

    def expire(self) -> None:
        """Periodic: drop offsets and groups whose time is over."""
        self._everywhere(lambda shard, now_ms: shard.expire(now_ms))

    async def stop(self) -> None:
        await self._host.stop()

    def _everywhere(self, step: GroupOperation) -> None:
        for driver in list(self._host.active()):
            self._repeat(driver, step)

    def _repeat(self, driver: GroupShardDriver, step: GroupOperation) -> None:
        """A step removes a bounded number; the rest follows in turns of the loop of its own."""
        if driver.run(step):
            self._settings.call_soon(lambda: self._repeat(driver, step))

    def _make(self, partition: Partition) -> GroupShardDriver:
        # Not before it is needed: a broker without groups starts a fifth of a second sooner.
        from barnabas.groups.coordinator import GroupCoordinatorShard

        shard = GroupCoordinatorShard(self._config, self._view, _new_id, self._group_settings)
        return GroupShardDriver(shard, partition, self._settings)


def _new_id() -> str:
    return str(uuid.uuid4())
