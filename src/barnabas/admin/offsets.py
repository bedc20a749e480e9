"""Offsets of partitions: earliest, latest, by timestamp."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from barnabas.admin.calls import AdminCalls, by_topic
from barnabas.admin.errors import error_of
from barnabas.admin.fan_out import Outcome, per_leader
from barnabas.admin.results import Results
from barnabas.model.ids import TopicPartition
from barnabas.model.records import IsolationLevel
from barnabas.wire.messages.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsTopic,
)

CONSUMER_REPLICA = -1


@dataclass(frozen=True, slots=True)
class OffsetSpec:
    """Selects an offset: a timestamp in milliseconds, or a constant such as LATEST."""

    timestamp: int

    @classmethod
    def at(cls, when: datetime | int) -> "OffsetSpec":
        """Selects the first record at or after a time."""
        if isinstance(when, datetime):
            return cls(int(when.timestamp() * 1000))
        return cls(when)


LATEST = OffsetSpec(-1)
EARLIEST = OffsetSpec(-2)
MAX_TIMESTAMP = OffsetSpec(-3)
EARLIEST_LOCAL = OffsetSpec(-4)
LATEST_TIERED = OffsetSpec(-5)

_NEEDED = {MAX_TIMESTAMP: 7, EARLIEST_LOCAL: 8, LATEST_TIERED: 9}
"""First version of ListOffsets that supports each constant; older ones read it as a time."""


@dataclass(frozen=True, slots=True)
class ListedOffset:
    """The found offset; None if no record has this timestamp or a later one."""

    offset: int | None
    timestamp: int | None
    leader_epoch: int | None


class OffsetCalls(AdminCalls):
    """Calls on the offsets of partitions."""

    async def list_offsets(
        self,
        specs: Mapping[TopicPartition, OffsetSpec],
        *,
        isolation: IsolationLevel = IsolationLevel.READ_UNCOMMITTED,
        timeout: float | None = None,
    ) -> Results[TopicPartition, ListedOffset]:
        """Returns one offset per partition.

        Args:
            specs: for each partition EARLIEST, LATEST, MAX_TIMESTAMP or `OffsetSpec.at(time)`.
            isolation: with READ_COMMITTED, LATEST is the last stable offset.
        """
        deadline = self._deadline("list offsets", timeout)

        async def ask(
            leader: int, partitions: list[TopicPartition]
        ) -> Outcome[TopicPartition, ListedOffset]:
            request = ListOffsetsRequest(
                replica_id=CONSUMER_REPLICA,
                isolation_level=int(isolation),
                topics=_wanted(
                    {topic_partition: specs[topic_partition] for topic_partition in partitions}
                ),
                timeout_ms=deadline.left_ms,
            )
            needed = max(_NEEDED.get(specs[topic_partition], 0) for topic_partition in partitions)
            what = "for one of these offsets"
            await self._session.require(ListOffsetsRequest, needed, what, leader)
            response = await self._session.client.send(leader, request)
            return {
                TopicPartition(topic.name, item.partition_index): error_of(item) or _listed(item)
                for topic in response.topics
                for item in topic.partitions
            }

        return await per_leader(self._session, specs, ask, deadline)


def _wanted(specs: Mapping[TopicPartition, OffsetSpec]) -> list[ListOffsetsTopic]:
    return [
        ListOffsetsTopic(
            name=topic,
            partitions=[
                ListOffsetsPartition(
                    partition_index=number, timestamp=specs[TopicPartition(topic, number)].timestamp
                )
                for number in numbers
            ],
        )
        for topic, numbers in by_topic(specs).items()
    ]


def _listed(item: Any) -> ListedOffset:
    return ListedOffset(_known(item.offset), _known(item.timestamp), _known(item.leader_epoch))


def _known(number: int) -> int | None:
    return number if number >= 0 else None
