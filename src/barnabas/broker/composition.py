"""Composition root: creates the parts of a broker, which `app` starts."""

import asyncio
import logging
import random
from dataclasses import dataclass

from barnabas.broker._partition_waiters_hot import PartitionWaiters
from barnabas.broker.access.inter_broker import served_handlers
from barnabas.broker.access.wiring import AccessControl
from barnabas.broker.api_versions import ApiVersionsResponses, features_of
from barnabas.broker.cluster.wiring import ClusterRuntime
from barnabas.broker.config import BrokerConfig
from barnabas.broker.config_layers import ConfigLayers
from barnabas.broker.coordinators.transaction_coordinator import ProducerIds
from barnabas.broker.coordinators.wiring import CoordinatorDependencies, Coordinators
from barnabas.broker.fetch_sessions import FetchSessionCache
from barnabas.broker.handler import Handler
from barnabas.broker.handlers import HANDLERS
from barnabas.broker.metadata_cache import MetadataCache
from barnabas.broker.metrics.broker_metrics import BrokerMetrics
from barnabas.broker.metrics.client_telemetry import ClientTelemetry
from barnabas.broker.produce_rules import ProduceRules, ValidationThread
from barnabas.broker.purgatory import Purgatory
from barnabas.broker.services import Services
from barnabas.broker.startup import Identity, doubtful_replicas
from barnabas.broker.storage import BrokerStorage, LogStore
from barnabas.broker.topics import Topics
from barnabas.controller.registration import BrokerRegistration
from barnabas.replication.partition import ReplicaSettings
from barnabas.replication.replica_manager import ReplicaManager, StartCondition
from barnabas.runtime.clock import Clock
from barnabas.storage.filesystem import FileSystem
from barnabas.wire.api_keys import ApiKey

_logger = logging.getLogger("barnabas.broker")


@dataclass(frozen=True, slots=True)
class BrokerComponents:
    """Parts that exist before the broker starts; owned by its loop."""

    config: BrokerConfig
    clock: Clock
    layers: ConfigLayers
    produce_rules: ProduceRules
    metadata: MetadataCache
    storage: BrokerStorage
    access: AccessControl
    metrics: BrokerMetrics
    handlers: tuple[Handler, ...]
    """Handlers of the APIs that listeners serve."""


def make_components(
    config: BrokerConfig, clock: Clock, filesystem: FileSystem | None, *, alone: bool
) -> BrokerComponents:
    layers = ConfigLayers(config)
    return BrokerComponents(
        config,
        clock,
        layers,
        ProduceRules(layers),
        MetadataCache(),
        BrokerStorage(config, clock, layers, filesystem),
        AccessControl(config, layers, clock),
        _make_metrics(config, clock),
        tuple(h for h in served_handlers(HANDLERS, alone=alone) if _is_wanted(h, config)),
    )


def _make_metrics(config: BrokerConfig, clock: Clock) -> BrokerMetrics:
    if config["metrics.recording.level"] != "INFO":
        line = "metrics.recording.level=%s has no effect: all metrics of the broker are recorded"
        _logger.info(line, config["metrics.recording.level"])
    window_ms = config["metrics.num.samples"] * config["metrics.sample.window.ms"]
    return BrokerMetrics(clock, window_ms)


def _is_wanted(handler: Handler, config: BrokerConfig) -> bool:
    """Returns whether an API is served; metrics of clients only if an HTTP endpoint shows them."""
    telemetry = handler.api in (ApiKey.GET_TELEMETRY_SUBSCRIPTIONS, ApiKey.PUSH_TELEMETRY)
    return bool(config["http.listener"]) or not telemetry


def make_replicas(
    parts: BrokerComponents, registration: BrokerRegistration, cluster: ClusterRuntime
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
        count_replicated=parts.metrics.topics.count_replicated,
    )
    return ReplicaManager(
        settings,
        LogStore(storage.logs, storage.log_configs),
        cluster.fetchers,
        start=StartCondition(doubtful_replicas(storage.logs)),
        broker_epoch=lambda: registration.broker_epoch,
    )


def make_services(
    parts: BrokerComponents,
    identity: Identity,
    replicas: ReplicaManager,
    topics: Topics,
    producer_ids: ProducerIds,
    cluster: ClusterRuntime,
) -> Services:
    """Returns the services of the handlers and registers the listener of partition changes."""
    loop = asyncio.get_running_loop()
    coordinator_parts = CoordinatorDependencies(
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


def _assemble(
    parts: BrokerComponents, identity: Identity, shared: CoordinatorDependencies
) -> Services:
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
        validation_thread=ValidationThread(),
        replicas=shared.replicas,
        logs=parts.storage.logs,
        log_mover=parts.storage.mover,
        checkpoints=parts.storage.checkpoints,
        topics=shared.topics,
        producer_ids=shared.producer_ids,
        produce_purgatory=shared.produce_purgatory,
        fetch_purgatory=Purgatory(asyncio.get_running_loop().call_later),
        fetch_sessions=_fetch_sessions(config),
        api_versions=ApiVersionsResponses(parts.handlers, features_of(config.values)),
        connected_address_listeners=config.connected_address_listeners,
        coordinators=Coordinators(shared),
        client_entities=access.entities,
        topic_metrics=parts.metrics.topics,
        client_telemetry=ClientTelemetry(
            parts.metrics.registry,
            parts.clock,
            config["client.telemetry.interval.ms"],
            config["telemetry.max.bytes"],
            lambda: parts.layers.subscriptions,
        ),
        authorizers=access.authorizers,
        acl_store=access.acl_store,
        delegation_tokens=access.delegation_tokens,
        check_certificates=access.check_certificates,
    )


def _fetch_sessions(config: BrokerConfig) -> FetchSessionCache:
    dice = random.Random()
    slots = config["max.incremental.fetch.session.cache.slots"]
    return FetchSessionCache(lambda: dice.randrange(1, 2**31), max_slots=slots)
