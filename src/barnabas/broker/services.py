"""What handlers may reach: the parts of one running broker, wired by `app`."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from barnabas.broker.config import BrokerConfig
from barnabas.broker.config_layers import ConfigLayers
from barnabas.broker.fetch_sessions import FetchSessionCache
from barnabas.broker.metadata_cache import MetadataCache
from barnabas.broker.produce_rules import ProduceRules
from barnabas.broker.producer_ids import ProducerIds
from barnabas.broker.purgatory import Purgatory
from barnabas.model.clock import Clock
from barnabas.model.ids import BrokerId
from barnabas.replication.replica_manager import ReplicaManager
from barnabas.security.authorizer import Authorizer
from barnabas.storage.log_manager import LogManager

if TYPE_CHECKING:
    from barnabas.broker.access.acl_store import AclStore
    from barnabas.broker.access.client_entities import ClientEntities
    from barnabas.broker.api_versions import ApiVersionsAnswers
    from barnabas.broker.cluster.wiring import ClusterPorts
    from barnabas.broker.coordinators.group_coordinator import GroupCoordinator
    from barnabas.broker.coordinators.internal_topics import InternalTopics
    from barnabas.broker.coordinators.transaction_coordinator import TransactionCoordinator
    from barnabas.broker.coordinators.wiring import Coordinators
    from barnabas.broker.log_mover import LogMover
    from barnabas.broker.topics import Topics


@dataclass(slots=True)
class Services:
    """One per broker; everything in it belongs to the broker's loop."""

    config: BrokerConfig
    clock: Clock
    broker_id: BrokerId
    cluster_id: str
    metadata: MetadataCache
    layers: ConfigLayers
    produce_rules: ProduceRules
    replicas: ReplicaManager
    logs: LogManager
    log_mover: "LogMover"
    topics: "Topics"
    producer_ids: ProducerIds
    produce_purgatory: Purgatory
    fetch_purgatory: Purgatory
    fetch_sessions: FetchSessionCache
    api_versions: "ApiVersionsAnswers"
    answers_own_address: bool
    coordinators: "Coordinators"
    client_entities: "ClientEntities"
    authorizer: Authorizer | None = None
    """None: everybody may do everything."""
    acl_store: "AclStore | None" = None
    """There when `authorizer` is."""
    cluster: "ClusterPorts" = field(init=False)
    """Known once the broker takes part in its cluster, which is before it serves anybody."""

    @property
    def internal_topics(self) -> "InternalTopics":
        return self.coordinators.internal_topics

    @property
    def groups(self) -> "GroupCoordinator":
        return self.coordinators.groups

    @property
    def transactions(self) -> "TransactionCoordinator":
        return self.coordinators.transactions
