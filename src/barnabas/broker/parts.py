"""Composition root: creates the parts of a broker, which `app` starts."""

import asyncio
import random
from dataclasses import dataclass

from barnabas.broker.access.broker_peers import served_handlers
from barnabas.broker.access.wiring import AccessSide
from barnabas.broker.api_versions import ApiVersionsResponses
from barnabas.broker.boot import doubtful_replicas
from barnabas.broker.cluster.wiring import ClusterSide
from barnabas.broker.config import BrokerConfig
from barnabas.broker.config_layers import ConfigLayers
from barnabas.broker.coordinators.wiring import CoordinatorParts, Coordinators
from barnabas.broker.features import features_of
from barnabas.broker.fetch_sessions import FetchSessionCache
from barnabas.broker.handler import Handler
from barnabas.broker.handlers import HANDLERS
from barnabas.broker.identity import Identity
from barnabas.broker.log_store import LogStore
from barnabas.broker.metadata_cache import MetadataCache
from barnabas.broker.produce_rules import ProduceRules
from barnabas.broker.producer_ids import ProducerIds
from barnabas.broker.purgatory import Purgatory
from barnabas.broker.services import Services
from barnabas.broker.storage_side import StorageSide
from barnabas.broker.topics import Topics
from barnabas.broker.waiters import PartitionWaiters
from barnabas.controller.registration import BrokerRegistration
from barnabas.model.clock import Clock
from barnabas.replication.partition import ReplicaSettings
from barnabas.replication.replica_manager import ReplicaManager, StartCondition
from barnabas.storage.filesystem import FileSystem


@dataclass(frozen=True, slots=True)
class Parts:
    """Parts that exist before the broker starts; owned by its loop."""

    config: BrokerConfig
    clock: Clock
    layers: ConfigLayers
    produce_rules: ProduceRules
    metadata: MetadataCache
    storage: StorageSide
    access: AccessSide
    handlers: tuple[Handler, ...]
    """Handlers of the APIs that listeners serve."""


def make_parts(
    config: BrokerConfig, clock: Clock, filesystem: FileSystem | None, *, alone: bool
) -> Parts:
    layers = ConfigLayers(config)
    return Parts(
        config,
        clock,
        layers,
        ProduceRules(layers),
        MetadataCache(),
        StorageSide(config, clock, layers, filesystem),
        AccessSide(config, clock),
        served_handlers(HANDLERS, alone=alone),
    )


def make_replicas(
    parts: Parts, registration: BrokerRegistration, cluster: ClusterSide
) -> ReplicaManager:
    """Returns the replica manager; the logs must be loaded."""
    config, layers, storage = parts.config, parts.layers, parts.storage
    settings = ReplicaSettings(
        broker_id=registration.broker_id,
        clock=parts.clock,
        isr_channel=cluster.isr_channel,
        max_lag_ms=config["replica.lag.time.max.ms"],
        min_insync_of=lambda topic: layers.topic_value(topic, "min.insync.replicas"),
        request_flush=storage.flusher.request if storage.flush_before_ack else None,
        is_alive=parts.metadata.is_alive,
        rack_of=parts.metadata.rack_of,
        leader_throttle=cluster.quotas.leader,
    )
    return ReplicaManager(
        settings,
        LogStore(storage.logs, layers),
        cluster.fetchers,
        start=StartCondition(doubtful_replicas(storage.logs)),
        broker_epoch=lambda: registration.broker_epoch,
    )


def make_services(
    parts: Parts,
    identity: Identity,
    replicas: ReplicaManager,
    topics: Topics,
    producer_ids: ProducerIds,
    cluster: ClusterSide,
) -> Services:
    """Returns the services of the handlers and registers the listener of partition changes."""
    loop = asyncio.get_running_loop()
    coordinator_parts = CoordinatorParts(
        config=parts.config,
        clock=parts.clock,
        broker_id=identity.broker_id,
        metadata=parts.metadata,
        layers=parts.layers,
        topics=topics,
        replicas=replicas,
        logs=parts.storage.logs,
        producer_ids=producer_ids,
        produce_purgatory=Purgatory(loop.call_later),
        marker_channel=cluster.markers,
    )
    services = _assemble(parts, identity, coordinator_parts)
    cluster.route_add_partitions(services.coordinators)
    replicas.add_listener(
        PartitionWaiters(
            services.produce_purgatory,
            services.fetch_purgatory,
            loop.call_soon,
            parts.storage.flusher.after_append,
            services.coordinators.leadership_changed,
        )
    )
    return services


def _assemble(parts: Parts, identity: Identity, shared: CoordinatorParts) -> Services:
    """Creates the coordinators and the services."""
    config, access = parts.config, parts.access
    return Services(
        config=config,
        clock=parts.clock,
        broker_id=identity.broker_id,
        cluster_id=identity.cluster_id,
        metadata=parts.metadata,
        layers=parts.layers,
        produce_rules=parts.produce_rules,
        replicas=shared.replicas,
        logs=parts.storage.logs,
        log_mover=parts.storage.mover,
        topics=shared.topics,
        producer_ids=shared.producer_ids,
        produce_purgatory=shared.produce_purgatory,
        fetch_purgatory=Purgatory(asyncio.get_running_loop().call_later),
        fetch_sessions=_fetch_sessions(config),
        api_versions=ApiVersionsResponses(parts.handlers, features_of(config.values)),
        answers_own_address=config.advertised_listeners is None,
        coordinators=Coordinators(shared),
        client_entities=access.entities,
        authorizer=access.authorizer,
        acl_store=access.acl_store,
    )


def _fetch_sessions(config: BrokerConfig) -> FetchSessionCache:
    dice = random.Random()
    slots = config["max.incremental.fetch.session.cache.slots"]
    return FetchSessionCache(lambda: dice.randrange(1, 2**31), max_slots=slots)
