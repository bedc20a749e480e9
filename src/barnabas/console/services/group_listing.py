"""All groups of a cluster with their committed offsets, and the lag of a group with its trend.

Groups of the brokers are listed with those of ZooKeeper and Spark. Groups of the ZooKeeper
high-level consumer are read from ZooKeeper if the console has its address. A Spark query commits
its position to a group without members and stores the ids of its topics in a second group; the
first is listed with the type Spark, the second is left out.

The lag is computed from offsets that a caller has read, without IO. The lag in seconds is the age
of the first record that is not committed, so it is 0 for a group that has read all records.
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
TREND_S = 60.0
_MAX_SAMPLES = 120


@dataclass(frozen=True, slots=True)
class GroupWithOffsets:
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


async def list_broker_groups(link: ClusterLink) -> list[GroupWithOffsets]:
    """Returns the groups of the coordinators."""
    listings = await link.admin.list_groups()
    names = [item.group_id for item in listings]
    found = (await link.admin.list_group_offsets(names)).ok if names else {}
    return listed_groups(listings, found)


def listed_groups(
    listings: Iterable[GroupListing], offsets: Mapping[str, Offsets]
) -> list[GroupWithOffsets]:
    """Combines the groups of Spark queries with those that store their topic ids."""
    stores = {name for name, committed in offsets.items() if stores_topic_ids(name, committed)}
    return [
        GroupWithOffsets(
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

    async def list_groups(self) -> list[GroupWithOffsets]:
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


def listed_report(report: GroupReport) -> GroupWithOffsets:
    return GroupWithOffsets(
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


@dataclass(frozen=True, slots=True)
class PartitionLag:
    """The lag of one partition; values are None while they are not known."""

    topic_partition: TopicPartition
    committed: int | None
    log_end: int | None
    seconds: float | None = None

    @property
    def records(self) -> int | None:
        if self.committed is None or self.log_end is None:
            return None
        return max(self.log_end - self.committed, 0)


@dataclass(frozen=True, slots=True)
class LagTotal:
    """The lag of a group over its partitions."""

    records: int
    seconds: float | None


@dataclass(frozen=True, slots=True)
class LagTrend:
    """Change of the lag in the last minute, and the estimated time until it is 0."""

    change_per_second: float | None
    catch_up_seconds: float | None


def partition_lags(
    committed: Mapping[TopicPartition, int],
    assigned: Iterable[TopicPartition],
    ends: Mapping[TopicPartition, int],
    oldest_ms: Mapping[TopicPartition, int],
    now_ms: int,
) -> list[PartitionLag]:
    """Returns the lag of each partition with a committed offset or a member.

    Args:
        oldest_ms: timestamps of the first records that are not committed, where known.
    """
    found = []
    for topic_partition in sorted({*committed, *assigned}):
        lag = PartitionLag(
            topic_partition, committed.get(topic_partition), ends.get(topic_partition)
        )
        seconds = 0.0 if lag.records == 0 else None
        timestamp = oldest_ms.get(topic_partition)
        if lag.records and timestamp is not None:
            seconds = max(now_ms - timestamp, 0) / 1000
        found.append(PartitionLag(topic_partition, lag.committed, lag.log_end, seconds))
    return found


def total_lag(lags: Iterable[PartitionLag]) -> LagTotal:
    """Returns the sum of records and the largest lag in seconds."""
    records = 0
    seconds: float | None = 0.0
    for lag in lags:
        records += lag.records or 0
        if lag.records and lag.seconds is None:
            seconds = None
        elif seconds is not None and lag.seconds is not None:
            seconds = max(seconds, lag.seconds)
    return LagTotal(records, seconds)


class LagHistory:
    """Lags of groups in the last minute, from which the trend is computed."""

    def __init__(self) -> None:
        self._samples: dict[str, list[tuple[float, int]]] = {}

    def add(self, group: str, records: int, now_s: float) -> LagTrend:
        """Adds a sample and returns the trend; it is unknown before the second sample."""
        samples = self._samples.setdefault(group, [])
        while len(samples) > 1 and samples[1][0] <= now_s - TREND_S:
            samples.pop(0)
        if len(samples) < _MAX_SAMPLES:
            samples.append((now_s, records))
        first_s, first = samples[0]
        if now_s <= first_s:
            return LagTrend(None, 0.0 if records == 0 else None)
        change = (records - first) / (now_s - first_s)
        return LagTrend(change, catch_up_seconds(records, change))

    def keep(self, groups: Iterable[str]) -> None:
        """Discards the samples of other groups."""
        wanted = set(groups)
        self._samples = {name: item for name, item in self._samples.items() if name in wanted}


def catch_up_seconds(records: int, change_per_second: float) -> float | None:
    """Returns the time until the lag is 0; None if the lag does not shrink.

    >>> catch_up_seconds(100, -20.0)
    5.0
    """
    if records == 0:
        return 0.0
    return records / -change_per_second if change_per_second < 0 else None
