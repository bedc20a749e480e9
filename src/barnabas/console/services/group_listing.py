"""All groups of a cluster with their committed offsets: of the brokers, of ZooKeeper, of Spark.

Groups of the ZooKeeper high-level consumer are read from ZooKeeper if the console has its address.
A Spark query commits its position to a group without members and stores the ids of its topics in a
second group; the first is listed with the type Spark, the second is left out.
"""

import asyncio
import logging
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from barnabas.admin import GroupListing
from barnabas.clients.connector import GroupReport, GroupReports
from barnabas.console.cluster_link import ClusterLink, supported
from barnabas.model.config_keys.connector import CONNECTOR_KEYS
from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BarnabasError, BrokerError
from barnabas.model.ids import TopicPartition
from barnabas.model.records import OffsetAndMetadata
from barnabas.spark.source.group_offsets import TOPIC_IDS_PARTITION, TOPIC_IDS_SUFFIX

_log = logging.getLogger("barnabas.console")
SPARK, ZOOKEEPER = "Spark", "ZooKeeper"
_CONNECT_MS = 5000
Offsets = Mapping[TopicPartition, OffsetAndMetadata]


@dataclass(frozen=True, slots=True)
class ListedGroup:
    """One group; `members` is None if only its coordinator knows the number."""

    name: str
    type: str
    state: str
    protocol: str
    offsets: Offsets
    members: int | None = None

    @property
    def key(self) -> str:
        """Identifies the group: ZooKeeper and the brokers may have groups of the same name."""
        return f"zookeeper {self.name}" if self.type == ZOOKEEPER else self.name


async def list_broker_groups(link: ClusterLink) -> list[ListedGroup]:
    """Returns the groups of the coordinators."""
    listings = await link.admin.list_groups()
    names = [item.group_id for item in listings]
    found = (await link.admin.list_group_offsets(names)).ok if names else {}
    return listed_groups(listings, found)


def listed_groups(
    listings: Iterable[GroupListing], offsets: Mapping[str, Offsets]
) -> list[ListedGroup]:
    """Combines the groups of Spark queries with those that store their topic ids."""
    stores = {name for name, committed in offsets.items() if stores_topic_ids(name, committed)}
    return [
        ListedGroup(
            item.group_id,
            SPARK if item.group_id + TOPIC_IDS_SUFFIX in stores else str(item.type),
            str(item.state),
            item.protocol_type,
            offsets.get(item.group_id, {}),
        )
        for item in listings
        if item.group_id not in stores
    ]


def stores_topic_ids(name: str, committed: Offsets) -> bool:
    """Returns whether a group only stores the topic ids of a Spark query."""
    return name.endswith(TOPIC_IDS_SUFFIX) and set(committed) == {TOPIC_IDS_PARTITION}


class ZooKeeperGroups:
    """Reads and deletes groups in ZooKeeper; without an address there are none."""

    def __init__(self, address: str | None, client: Mapping[str, str]) -> None:
        self._address = address
        self._client = client
        self._reports: GroupReports | None = None
        self._lock = asyncio.Lock()

    async def list_groups(self) -> list[ListedGroup]:
        """Returns the groups; none while ZooKeeper cannot be reached."""
        if self._address is None:
            return []
        try:
            reports = await self._connected()
            found = await asyncio.to_thread(
                lambda: [reports.describe(name) for name in reports.groups()]
            )
        except BarnabasError as error:
            _log.warning("groups in ZooKeeper cannot be read: %s", error)
            return []
        return [listed_report(report) for report in found]

    async def describe(self, group: str) -> GroupReport:
        reports = await self._connected()
        if group not in await asyncio.to_thread(reports.groups):
            raise BrokerError(
                ErrorCode.GROUP_ID_NOT_FOUND, f"ZooKeeper has no consumer group {group!r}"
            )
        return await asyncio.to_thread(reports.describe, group)

    async def delete(self, group: str) -> None:
        """Deletes a group without members."""
        report = await self.describe(group)
        if report.members:
            names = ", ".join(report.members)
            raise BrokerError(ErrorCode.NON_EMPTY_GROUP, f"the group has members: {names}")
        reports = await self._connected()
        await asyncio.to_thread(reports.delete, group)

    async def close(self) -> None:
        if self._reports is not None:
            await asyncio.to_thread(self._reports.close)

    async def _connected(self) -> GroupReports:
        if self._address is None:
            raise BrokerError(
                ErrorCode.GROUP_ID_NOT_FOUND, "the console was started without --zookeeper"
            )
        async with self._lock:
            if self._reports is None:
                config = {
                    "zookeeper.connection.timeout.ms": _CONNECT_MS,
                    **supported(CONNECTOR_KEYS, self._client),
                    "zookeeper.connect": self._address,
                }
                self._reports = await asyncio.to_thread(GroupReports, config)
            return self._reports


def listed_report(report: GroupReport) -> ListedGroup:
    return ListedGroup(
        report.group,
        ZOOKEEPER,
        "Stable" if report.members else "Empty",
        "",
        {
            item.topic_partition: OffsetAndMetadata(item.offset)
            for item in report.partitions
            if item.offset is not None
        },
        len(report.members),
    )
