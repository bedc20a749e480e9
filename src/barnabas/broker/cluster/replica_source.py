"""A follower's connection to one leader: Fetch and ListOffsets as replication wants them.

Fetches are without a session: every request names every partition, so a leader that restarted
needs to remember nothing.
"""

from collections.abc import Callable, Iterable, Sequence
from itertools import groupby

from barnabas.broker.cluster.links import BrokerLink
from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BrokerError
from barnabas.model.ids import BrokerId, TopicPartition
from barnabas.replication.epochs import EpochEnd
from barnabas.replication.fetch_plan import (
    FetchedPartition,
    FetchPartition,
    FetchPlan,
    LeaderOffsets,
    OffsetsPlan,
)
from barnabas.wire.messages import fetch, list_offsets

_EARLIEST, _LATEST = -2, -1


class WireSource:
    """A `ReplicaSource`; owned by the task of one fetcher."""

    def __init__(
        self,
        link: BrokerLink,
        broker_id: BrokerId,
        broker_epoch: Callable[[], int],
        timeout_s: float,
    ) -> None:
        self._link = link
        self._broker_id = broker_id
        self._broker_epoch = broker_epoch
        self._timeout_s = timeout_s

    async def fetch(self, plan: FetchPlan) -> Sequence[FetchedPartition]:
        limits = plan.limits
        request = fetch.FetchRequest(
            replica_id=self._broker_id,
            replica_state=fetch.ReplicaState(self._broker_id, self._broker_epoch()),
            max_wait_ms=limits.max_wait_ms,
            min_bytes=limits.min_bytes,
            max_bytes=limits.max_bytes,
            topics=_fetch_topics(plan.partitions, limits.partition_max_bytes),
        )
        names = {item.topic_id: item.topic_partition.topic for item in plan.partitions}
        timeout_s = self._timeout_s + limits.max_wait_ms / 1000
        response: fetch.FetchResponse = await self._link.request(request, timeout_s=timeout_s)
        if response.error_code:
            raise BrokerError(ErrorCode.of(response.error_code))
        return [
            _fetched(TopicPartition(names[topic.topic_id], data.partition_index), data)
            for topic in response.responses
            if topic.topic_id in names
            for data in topic.partitions
        ]

    async def leader_offsets(self, plan: OffsetsPlan) -> Sequence[LeaderOffsets]:
        starts = await self._offsets(plan, _EARLIEST)
        ends = await self._offsets(plan, _LATEST)
        found = []
        for item in plan.partitions:
            start_error, start = starts[item.topic_partition]
            end_error, end = ends[item.topic_partition]
            found.append(LeaderOffsets(item.topic_partition, start_error or end_error, start, end))
        return found

    async def close(self) -> None:
        self._link.close()

    async def _offsets(
        self, plan: OffsetsPlan, timestamp: int
    ) -> dict[TopicPartition, tuple[ErrorCode, int]]:
        request = list_offsets.ListOffsetsRequest(
            replica_id=self._broker_id,
            topics=[
                list_offsets.ListOffsetsTopic(
                    item.topic_partition.topic,
                    [
                        list_offsets.ListOffsetsPartition(
                            item.topic_partition.partition, item.leader_epoch, timestamp
                        )
                    ],
                )
                for item in plan.partitions
            ],
        )
        response: list_offsets.ListOffsetsResponse = await self._link.request(
            request, timeout_s=self._timeout_s
        )
        unknown = (ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, -1)
        answered = {item.topic_partition: unknown for item in plan.partitions}
        for topic in response.topics:
            for found in topic.partitions:
                place = TopicPartition(topic.name, found.partition_index)
                answered[place] = (ErrorCode.of(found.error_code), found.offset)
        return answered


def _fetch_topics(partitions: Iterable[FetchPartition], max_bytes: int) -> list[fetch.FetchTopic]:
    """Neighbours of one topic together, in the order in which they are to be filled."""
    return [
        fetch.FetchTopic(
            topic_id=topic_id, partitions=[_fetch_partition(item, max_bytes) for item in items]
        )
        for topic_id, items in groupby(partitions, lambda item: item.topic_id)
    ]


def _fetch_partition(item: FetchPartition, max_bytes: int) -> fetch.FetchPartition:
    return fetch.FetchPartition(
        item.topic_partition.partition,
        item.leader_epoch,
        item.offset,
        item.last_fetched_epoch,
        item.log_start_offset,
        max_bytes,
    )


def _fetched(topic_partition: TopicPartition, data: fetch.PartitionData) -> FetchedPartition:
    diverging = data.diverging_epoch
    records = data.records
    return FetchedPartition(
        topic_partition,
        ErrorCode.of(data.error_code),
        data.high_watermark,
        data.log_start_offset,
        records if isinstance(records, memoryview) else b"",
        None if diverging is None else EpochEnd(diverging.epoch, diverging.end_offset),
    )
