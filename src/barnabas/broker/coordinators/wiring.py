"""The coordinators of one broker, put together; what `app` starts, feeds and stops."""

import asyncio
from collections.abc import Iterable

from barnabas.broker.config import BrokerConfig
from barnabas.broker.config_layers import ConfigLayers
from barnabas.broker.coordinators.group_coordinator import GroupCoordinator
from barnabas.broker.coordinators.group_shard import GroupSettings
from barnabas.broker.coordinators.internal_topics import InternalTopics
from barnabas.broker.coordinators.steady_clock import SteadyClock
from barnabas.broker.coordinators.topics_view import TopicsView
from barnabas.broker.metadata_cache import MetadataCache
from barnabas.broker.periodic import PeriodicJobs
from barnabas.broker.topics import Topics
from barnabas.model.clock import Clock
from barnabas.model.topic_names import OFFSETS_TOPIC
from barnabas.replication.partition import Partition


class Coordinators:
    """Made on the broker's running loop, which owns all of it."""

    def __init__(
        self,
        config: BrokerConfig,
        clock: Clock,
        topics: Topics,
        metadata: MetadataCache,
        layers: ConfigLayers,
    ) -> None:
        self._config = config
        self._jobs = PeriodicJobs()
        loop = asyncio.get_running_loop()
        steady = SteadyClock(clock)
        self.internal_topics = InternalTopics(config.values, topics, metadata)
        settings = GroupSettings(
            clock=clock,
            steady=steady,
            schedule=loop.call_later,
            call_soon=loop.call_soon,
            commit_timeout_ms=config["offset.commit.timeout.ms"],
            max_batch_bytes=lambda: layers.topic_value(OFFSETS_TOPIC, "max.message.bytes"),
        )
        self.groups = GroupCoordinator(
            config.values, self.internal_topics, TopicsView(metadata), settings
        )

    def start(self) -> None:
        """Begin the periodic work."""
        interval_ms = self._config["offsets.retention.check.interval.ms"]
        self._jobs.every(interval_ms, "offset-expiry", self.groups.expire)

    async def stop(self) -> None:
        """Answer everybody who waits and load nothing any more."""
        await self._jobs.stop()
        await self.internal_topics.stop()
        await self.groups.stop()

    # --- events ---

    def leadership_changed(self, partition: Partition) -> None:
        """A partition of any topic has another leader, or a new one."""
        if partition.topic_partition.topic == OFFSETS_TOPIC:
            self.groups.leadership_changed(partition)

    def metadata_changed(self, gone: Iterable[str]) -> None:
        """The controller told something new; `gone` are topics that are no more."""
        self.groups.topics_changed(gone)
