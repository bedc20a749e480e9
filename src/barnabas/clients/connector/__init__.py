"""The ZooKeeper high-level consumer: streams of a group that assigns its partitions by means of
ZooKeeper.
"""

import warnings

from barnabas.clients.connector.connector import ConsumerConnector, MessageStreamsExistError
from barnabas.clients.connector.group_tools import (
    ActiveMembersError,
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
    "ActiveMembersError",
    "Blacklist",
    "ConsumerConnector",
    "ConsumerRebalanceFailedError",
    "ConsumerRebalanceListener",
    "ConsumerTimeoutError",
    "Direction",
    "GroupReport",
    "GroupReports",
    "MessageStream",
    "MessageStreamsExistError",
    "MigrationPlan",
    "OffsetMigration",
    "PartitionReport",
    "Whitelist",
]


def __getattr__(name: str) -> type[ActiveMembersError]:
    """Returns the class of a former name; deprecated."""
    if name != "LivingMembersError":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    warnings.warn(
        "use ActiveMembersError instead of LivingMembersError", DeprecationWarning, stacklevel=2
    )
    return ActiveMembersError
