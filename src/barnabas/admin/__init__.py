"""The admin client: typed calls to inspect and change a cluster, blocking and for asyncio."""

from barnabas.admin.access.delegation_tokens import DelegationToken
from barnabas.admin.access.quotas import QuotaEntity
from barnabas.admin.access.scram_users import (
    ScramCredentialInfo,
    ScramDeletion,
    ScramMechanism,
    ScramPassword,
)
from barnabas.admin.admin import Admin
from barnabas.admin.cluster import (
    ApiVersionRange,
    ClusterDescription,
    FeatureDescription,
    FeatureRange,
    FeatureUpdate,
    UpgradeType,
)
from barnabas.admin.config_types import (
    AlterOperation,
    ConfigChange,
    ConfigEntry,
    ConfigResource,
    ConfigResourceType,
    ConfigSource,
    ConfigSynonym,
)
from barnabas.admin.core import AsyncAdmin
from barnabas.admin.errors import UnknownBrokerError
from barnabas.admin.group_types import (
    GroupDescription,
    GroupListing,
    GroupMember,
    GroupState,
    GroupType,
    MemberDescription,
)
from barnabas.admin.log_dirs import LogDir, Replica, ReplicaInfo
from barnabas.admin.offsets import (
    EARLIEST,
    EARLIEST_LOCAL,
    LATEST,
    LATEST_TIERED,
    MAX_TIMESTAMP,
    ListedOffset,
    OffsetSpec,
)
from barnabas.admin.placement import ElectionType, Reassignment
from barnabas.admin.records import HIGH_WATERMARK
from barnabas.admin.results import Results
from barnabas.admin.topic_types import (
    CreatedTopic,
    NewPartitions,
    NewTopic,
    PartitionDescription,
    TopicDescription,
    TopicListing,
)
from barnabas.admin.transactions import (
    FencedProducer,
    HangingTransaction,
    ProducerDescription,
    TransactionDescription,
    TransactionListing,
)
from barnabas.clients.core.cluster_metadata import Node
from barnabas.security.acl import (
    AccessEntry,
    AclBinding,
    AclFilter,
    Operation,
    PatternType,
    Permission,
    ResourcePattern,
    ResourceType,
)

__all__ = [
    "EARLIEST",
    "EARLIEST_LOCAL",
    "HIGH_WATERMARK",
    "LATEST",
    "LATEST_TIERED",
    "MAX_TIMESTAMP",
    "AccessEntry",
    "AclBinding",
    "AclFilter",
    "Admin",
    "AlterOperation",
    "ApiVersionRange",
    "AsyncAdmin",
    "ClusterDescription",
    "ConfigChange",
    "ConfigEntry",
    "ConfigResource",
    "ConfigResourceType",
    "ConfigSource",
    "ConfigSynonym",
    "CreatedTopic",
    "DelegationToken",
    "ElectionType",
    "FeatureDescription",
    "FeatureRange",
    "FeatureUpdate",
    "FencedProducer",
    "GroupDescription",
    "GroupListing",
    "GroupMember",
    "GroupState",
    "GroupType",
    "HangingTransaction",
    "ListedOffset",
    "LogDir",
    "MemberDescription",
    "NewPartitions",
    "NewTopic",
    "Node",
    "OffsetSpec",
    "Operation",
    "PartitionDescription",
    "PatternType",
    "Permission",
    "ProducerDescription",
    "QuotaEntity",
    "Reassignment",
    "Replica",
    "ReplicaInfo",
    "ResourcePattern",
    "ResourceType",
    "Results",
    "ScramCredentialInfo",
    "ScramDeletion",
    "ScramMechanism",
    "ScramPassword",
    "TopicDescription",
    "TopicListing",
    "TransactionDescription",
    "TransactionListing",
    "UnknownBrokerError",
    "UpgradeType",
]
