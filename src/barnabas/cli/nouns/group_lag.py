"""Computes the lag of a group in records and in seconds.

The lag in seconds is the age of the record at the committed offset, which is read next. It is 0 for
a group that has read all records.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import barnabas
from barnabas.cli.framework.connection import Connection
from barnabas.cli.record_io.selection import log_offsets_of
from barnabas.model.config_keys.client import SIMPLE_KEYS
from barnabas.model.errors import BarnabasError
from barnabas.model.ids import TopicPartition

if TYPE_CHECKING:
    from barnabas.admin import Admin, GroupDescription, MemberDescription


COLUMNS = (
    "group",
    "topic",
    "partition",
    "current_offset",
    "log_end_offset",
    "lag",
    "consumer_id",
    "host",
    "client_id",
)
ONE_BATCH = 1


@dataclass(frozen=True, slots=True)
class GroupPartitionLag:
    """The lag of one partition; None for a missing value, such as no committed offset."""

    group: str
    topic_partition: TopicPartition
    current_offset: int | None
    log_end_offset: int | None
    member: "MemberDescription | None"
    lag_seconds: float | None = None
    leader_epoch: int | None = None

    @property
    def lag(self) -> int | None:
        if self.current_offset is None or self.log_end_offset is None:
            return None
        return max(self.log_end_offset - self.current_offset, 0)

    def row(self) -> dict[str, object]:
        """Returns the row of the partition; its keys are a stable interface."""
        member = self.member
        return {
            "group": self.group,
            "topic": self.topic_partition.topic,
            "partition": self.topic_partition.partition,
            "current_offset": self.current_offset,
            "log_end_offset": self.log_end_offset,
            "lag": self.lag,
            "consumer_id": member.member_id if member else None,
            "host": member.host if member else None,
            "client_id": member.client_id if member else None,
            "lag_seconds": self.lag_seconds,
        }


def lags_of(admin: "Admin", group: "GroupDescription") -> list[GroupPartitionLag]:
    """Returns the lag of every partition with a committed offset or an assigned member."""
    committed = admin.list_group_offsets([group.group_id])[group.group_id]
    owners = {
        topic_partition: member for member in group.members for topic_partition in member.assignment
    }
    topic_partitions = sorted(set(committed) | set(owners))
    ends = _ends(admin, topic_partitions)
    found = []
    for topic_partition in topic_partitions:
        at = committed.get(topic_partition)
        offset = None if at is None else at.offset
        epoch = None if at is None or at.leader_epoch < 0 else at.leader_epoch
        owner = owners.get(topic_partition)
        found.append(
            GroupPartitionLag(
                group.group_id,
                topic_partition,
                offset,
                ends.get(topic_partition),
                owner,
                leader_epoch=epoch,
            )
        )
    return found


def _ends(admin: "Admin", topic_partitions: Iterable[TopicPartition]) -> dict[TopicPartition, int]:
    """Returns the log end offsets; partitions of deleted topics are left out."""
    topic_partitions = list(topic_partitions)
    there = admin.describe_topics(
        {topic_partition.topic for topic_partition in topic_partitions}
    ).ok
    known = [
        topic_partition for topic_partition in topic_partitions if topic_partition.topic in there
    ]
    return {
        topic_partition: log.end for topic_partition, log in log_offsets_of(admin, known).items()
    }


def with_lag_seconds(
    connection: Connection, lags: Iterable[GroupPartitionLag], now_ms: int
) -> list[GroupPartitionLag]:
    """Returns the lags with `lag_seconds` set."""
    settings = connection.checked(SIMPLE_KEYS, {"fetch.max.wait.ms": "0"})
    with barnabas.SimpleConsumer(settings) as consumer:
        return [_aged(lag, _next_timestamp(consumer, lag), now_ms) for lag in lags]


def _aged(lag: GroupPartitionLag, timestamp_ms: int | None, now_ms: int) -> GroupPartitionLag:
    seconds = None if timestamp_ms is None else max(now_ms - timestamp_ms, 0) / 1000
    if lag.lag == 0:
        seconds = 0.0
    return replace(lag, lag_seconds=seconds)


def _next_timestamp(consumer: "barnabas.SimpleConsumer", lag: GroupPartitionLag) -> int | None:
    """Returns the timestamp of the record at the committed offset; None when it cannot be read."""
    if not lag.lag or lag.current_offset is None:
        return None
    topic, partition = lag.topic_partition
    try:
        offset = max(lag.current_offset, consumer.earliest_offset(topic, partition))
        fetched = consumer.fetch(topic, partition, offset, ONE_BATCH)
        first = next(iter(fetched.records()), None)
    except BarnabasError:
        return None
    return first.timestamp if first is not None and first.timestamp >= 0 else None


def member_names(members: Iterable["MemberDescription"]) -> str:
    """Returns client id and host of the members, for an error message."""
    return ", ".join(f"{member.client_id}@{member.host.lstrip('/')}" for member in members)
