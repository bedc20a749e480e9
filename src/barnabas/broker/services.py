"""Implements the ports of all handlers: the parts of one running broker.

`broker.composition` creates it. Handlers do not import this module: each one declares the ports it
uses as a Protocol (see `broker.handler`), and `broker.handlers` verifies that `Services` fits.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from barnabas.broker.access.access import Authorizers
from barnabas.broker.access.acl_store import AclStore
from barnabas.broker.access.client_entities import ClientEntities
from barnabas.broker.access.delegation_tokens import DelegationTokens
from barnabas.broker.api_versions import ApiVersionsResponses
from barnabas.broker.cluster.wiring import ClusterPorts
from barnabas.broker.config import BrokerConfig
from barnabas.broker.config_layers import ConfigLayers
from barnabas.broker.coordinators.group_coordinator import GroupCoordinator
from barnabas.broker.coordinators.internal_topics import InternalTopics
from barnabas.broker.coordinators.transaction_coordinator import ProducerIds, TransactionCoordinator
from barnabas.broker.coordinators.wiring import Coordinators
from barnabas.broker.disk_jobs import CheckpointWriter, LogMover
from barnabas.broker.fetch_sessions import FetchSessionCache
from barnabas.broker.metadata_cache import MetadataCache
from barnabas.broker.metrics.client_telemetry import ClientTelemetry
from barnabas.broker.metrics.topic_metrics import TopicMetrics
from barnabas.broker.produce_rules import ProduceRules, ValidationThread
from barnabas.broker.purgatory import Purgatory
from barnabas.broker.topics import Topics
from barnabas.model.ids import BrokerId
from barnabas.replication.replica_manager import ReplicaManager
from barnabas.runtime.clock import Clock
from barnabas.storage.log_manager import LogManager


@dataclass(slots=True)
class Services:
    """The parts of one running broker, as the handlers use them.

    Owned by the broker's event loop.
    """

    config: BrokerConfig
    clock: Clock
    broker_id: BrokerId
    cluster_id: str
    metadata: MetadataCache
    layers: ConfigLayers
    produce_rules: ProduceRules
    validation_thread: ValidationThread
    replicas: ReplicaManager
    logs: LogManager
    log_mover: LogMover
    checkpoints: CheckpointWriter
    topics: Topics
    producer_ids: ProducerIds
    produce_purgatory: Purgatory
    fetch_purgatory: Purgatory
    fetch_sessions: FetchSessionCache
    api_versions: ApiVersionsResponses
    connected_address_listeners: frozenset[str]
    coordinators: Coordinators
    client_entities: ClientEntities
    topic_metrics: TopicMetrics
    client_telemetry: ClientTelemetry
    check_certificates: Callable[[Mapping[str, str]], None]
    """Raises ConfigError if TLS listeners could not use these dynamic values of the broker."""
    authorizers: Authorizers
    acl_store: AclStore | None = None
    """Set if there is an authorizer."""
    delegation_tokens: DelegationTokens | None = None
    """None: no secret key for delegation tokens is configured."""
    cluster: ClusterPorts = field(init=False)
    """Set during the start of the broker, before it serves requests."""
    internal_topics: InternalTopics = field(init=False)
    groups: GroupCoordinator = field(init=False)
    transactions: TransactionCoordinator = field(init=False)

    def __post_init__(self) -> None:
        self.internal_topics = self.coordinators.internal_topics
        self.groups = self.coordinators.groups
        self.transactions = self.coordinators.transactions
