"""Creates the coordinators of one broker; `app` starts and stops them."""

import asyncio
from dataclasses import dataclass

from barnabas.broker.config import BrokerConfig
from barnabas.broker.config_layers import ConfigLayers
from barnabas.broker.coordinators.group_coordinator import GroupCoordinator, TopicsView
from barnabas.broker.coordinators.internal_topics import InternalTopics
from barnabas.broker.coordinators.markers import MarkerChannel, MarkerRouter, MarkerWriter
from barnabas.broker.coordinators.shard_runtime import RuntimeSettings, SteadyClock
from barnabas.broker.coordinators.transaction_coordinator import (
    ProducerIds,
    TransactionCoordinator,
    TransactionSettings,
)
from barnabas.broker.coordinators.verification import (
    LocalAddPartitions,
    Producers,
    RetryingAddPartitions,
    Verifications,
)
from barnabas.broker.metadata_cache import MetadataCache
from barnabas.broker.purgatory import Purgatory
from barnabas.broker.tasks import PeriodicJobs
from barnabas.broker.topics import Topics
from barnabas.model.ids import OFFSETS_TOPIC, TRANSACTIONS_TOPIC, BrokerId
from barnabas.model.records import Codec
from barnabas.replication.partition import Partition
from barnabas.replication.replica_manager import ReplicaManager
from barnabas.runtime.clock import Clock
from barnabas.storage.log_manager import LogManager


@dataclass(frozen=True, slots=True)
class CoordinatorDependencies:
    """Parts of the broker that the coordinators use."""

    config: BrokerConfig
    clock: Clock
    broker_id: BrokerId
    metadata: MetadataCache
    layers: ConfigLayers
    topics: Topics
    replicas: ReplicaManager
    logs: LogManager
    producer_ids: ProducerIds
    produce_purgatory: Purgatory
    marker_channel: MarkerChannel


class Coordinators:
    """The coordinators and their collaborators; created on the broker's loop, which owns them."""

    def __init__(self, parts: CoordinatorDependencies) -> None:
        config = parts.config
        self._config = config
        self._jobs = PeriodicJobs()
        self._steady = SteadyClock(parts.clock)
        self.producers = Producers(parts.logs)
        self.internal_topics = InternalTopics(config.values, parts.topics, parts.metadata)
        self.groups = self._make_groups(parts)
        self.verifications = Verifications(
            self.producers, self._steady, enabled=_verification_enabled(config)
        )
        self.marker_writer = MarkerWriter(
            parts.replicas, self.producers, self.groups, self.verifications, self._steady
        )
        self._markers = MarkerRouter(
            parts.broker_id,
            parts.metadata,
            self.marker_writer,
            parts.marker_channel,
            parts.produce_purgatory,
            parts.clock,
        )
        self.transactions = self._make_transactions(parts)
        self.local_add_partitions = LocalAddPartitions(self.transactions)
        self.add_partitions = RetryingAddPartitions(
            self.local_add_partitions,
            self._steady,
            asyncio.get_running_loop().call_later,
            config["add.partitions.to.txn.retry.backoff.ms"],
            config["add.partitions.to.txn.retry.backoff.max.ms"],
        )

    def _make_groups(self, parts: CoordinatorDependencies) -> GroupCoordinator:
        loop = asyncio.get_running_loop()
        settings = RuntimeSettings(
            clock=parts.clock,
            steady=self._steady,
            schedule=loop.call_later,
            call_soon=loop.call_soon,
            commit_timeout_ms=self._config["offsets.commit.timeout.ms"],
            max_batch_bytes=lambda: parts.layers.topic_value(OFFSETS_TOPIC, "max.message.bytes"),
            codec=Codec(self._config["offsets.topic.compression.codec"]),
        )
        view = TopicsView(parts.metadata)
        own = parts.layers.group_values
        return GroupCoordinator(self._config.values, self.internal_topics, view, settings, own)

    def _make_transactions(self, parts: CoordinatorDependencies) -> TransactionCoordinator:
        loop = asyncio.get_running_loop()
        settings = TransactionSettings(
            clock=parts.clock,
            steady=self._steady,
            schedule=loop.call_later,
            call_soon=loop.call_soon,
            commit_timeout_ms=self._config["request.timeout.ms"],
            producer_ids=parts.producer_ids,
            markers=self._markers,
        )
        return TransactionCoordinator(self._config.values, self.internal_topics, settings)

    def start(self) -> None:
        """Starts the periodic jobs, after the broker received the metadata of the cluster."""
        config = self._config
        self._markers.started()
        self._jobs.every(
            config["offsets.retention.check.interval.ms"], "offset-expiry", self.groups.expire
        )
        self._jobs.every(
            config["producer.id.expiration.check.interval.ms"],
            "verification-expiry",
            lambda: self.verifications.expire(config["producer.id.expiration.ms"]),
        )

    async def stop(self) -> None:
        """Fails every waiting request and loads no more shards."""
        await self._jobs.stop()
        await self.internal_topics.stop()
        await self.transactions.stop()
        await self.groups.stop()

    # --- events ---

    def leadership_changed(self, partition: Partition) -> None:
        """Called when a partition of any topic has a new leader epoch."""
        self.verifications.forget(partition.topic_partition)
        topic = partition.topic_partition.topic
        if topic == OFFSETS_TOPIC:
            self.groups.leadership_changed(partition)
        elif topic == TRANSACTIONS_TOPIC:
            self.transactions.leadership_changed(partition)

    def metadata_changed(self, gone: frozenset[str]) -> None:
        """Called after each metadata update; `gone` are the deleted topics."""
        self._markers.topics_deleted(gone)
        self.groups.topics_changed(gone)


def _verification_enabled(config: BrokerConfig) -> bool:
    # With transaction version 2 the verification request adds the partition.
    return bool(
        config["transaction.partition.verification.enable"] or config["transaction.version"] >= 2
    )
