"""The ZooKeeper high-level consumer: streams of a group that assigns its partitions by means of
ZooKeeper.
"""

from barnabas.clients.connector.cluster_client import LivingMembersError
from barnabas.clients.connector.connector import ConsumerConnector, MessageStreamsExistError
from barnabas.clients.connector.group_tools import (
    Direction,
    GroupReport,
    GroupReports,
    MigrationPlan,
    OffsetMigration,
    PartitionReport,
)
from barnabas.clients.connector.rebalancer import (
    ConsumerRebalanceFailedError,
    ConsumerRebalanceListener,
)
from barnabas.clients.connector.stream import ConsumerTimeoutError, MessageStream
from barnabas.clients.connector.topic_count import Blacklist, Whitelist

__all__ = [
    "Blacklist",
    "ConsumerConnector",
    "ConsumerRebalanceFailedError",
    "ConsumerRebalanceListener",
    "ConsumerTimeoutError",
    "Direction",
    "GroupReport",
    "GroupReports",
    "LivingMembersError",
    "MessageStream",
    "MessageStreamsExistError",
    "MigrationPlan",
    "OffsetMigration",
    "PartitionReport",
    "Whitelist",
]
