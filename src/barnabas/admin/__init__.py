"""Looking at clusters and changing them: typed calls, blocking (`Admin`) and for asyncio."""

from barnabas.admin.admin import Admin
from barnabas.admin.cluster import ClusterDescription, FeatureUpdate, UpgradeType
from barnabas.admin.configs import (
    AlterOperation,
    ConfigChange,
    ConfigEntry,
    ConfigResource,
    ConfigResourceType,
    ConfigSource,
)
from barnabas.admin.core import AsyncAdmin
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
from barnabas.admin.records import HIGH_WATERMARK
from barnabas.admin.results import Results
from barnabas.admin.topics import (
    CreatedTopic,
    NewPartitions,
    NewTopic,
    PartitionDescription,
    TopicDescription,
    TopicListing,
)

__all__ = [
    "EARLIEST",
    "EARLIEST_LOCAL",
    "HIGH_WATERMARK",
    "LATEST",
    "LATEST_TIERED",
    "MAX_TIMESTAMP",
    "Admin",
    "AlterOperation",
    "AsyncAdmin",
    "ClusterDescription",
    "ConfigChange",
    "ConfigEntry",
    "ConfigResource",
    "ConfigResourceType",
    "ConfigSource",
    "CreatedTopic",
    "FeatureUpdate",
    "GroupDescription",
    "GroupListing",
    "GroupMember",
    "GroupState",
    "GroupType",
    "ListedOffset",
    "LogDir",
    "MemberDescription",
    "NewPartitions",
    "NewTopic",
    "OffsetSpec",
    "PartitionDescription",
    "Replica",
    "ReplicaInfo",
    "Results",
    "TopicDescription",
    "TopicListing",
    "UpgradeType",
]
