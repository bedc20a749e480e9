"""Offsets of a partition by timestamp (ListOffsets) and by leader epoch (OffsetForLeaderEpoch).

The end offset of a leader epoch shows whether the log was truncated below a position (KIP-320).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BarnabasError, BrokerError, ProtocolError, error_for
from barnabas.model.ids import TopicPartition, by_topic
from barnabas.model.records import EARLIEST_TIMESTAMP, LATEST_TIMESTAMP, IsolationLevel
from barnabas.wire.messages.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsResponse,
    ListOffsetsTopic,
)
from barnabas.wire.messages.offset_for_leader_epoch import (
    OffsetForLeaderEpochRequest,
    OffsetForLeaderEpochResponse,
    OffsetForLeaderPartition,
    OffsetForLeaderTopic,
)

CONSUMER_REPLICA_ID = -1
"""Replica id of a request that a client sends; brokers send their own id."""


class OffsetQuery(NamedTuple):
    """Selects an offset of a partition.

    Attributes:
        timestamp: milliseconds since 1970, or a constant such as LATEST_TIMESTAMP.
        leader_epoch: the leader epoch that the client has from metadata, -1 if it has none.
    """

    timestamp: int
    leader_epoch: int = -1


@dataclass(frozen=True, slots=True)
class OffsetAndTimestamp:
    """An offset found by time, with the timestamp and leader epoch of its record."""

    offset: int
    timestamp: int
    leader_epoch: int = -1


ListedOffsets = dict[TopicPartition, OffsetAndTimestamp | BarnabasError]


def list_offsets_request(
    queries: Mapping[TopicPartition, OffsetQuery],
    isolation: IsolationLevel,
    timeout_ms: int = 0,
) -> ListOffsetsRequest:
    """Builds the request; topics and partitions have the order of `queries`."""
    return ListOffsetsRequest(
        replica_id=CONSUMER_REPLICA_ID,
        isolation_level=isolation,
        topics=[
            ListOffsetsTopic(
                name=topic,
                partitions=[
                    _partition(partition, queries[TopicPartition(topic, partition)])
                    for partition in partitions
                ],
            )
            for topic, partitions in by_topic(queries).items()
        ],
        timeout_ms=timeout_ms,
    )


def _partition(partition: int, query: OffsetQuery) -> ListOffsetsPartition:
    return ListOffsetsPartition(
        partition_index=partition,
        current_leader_epoch=query.leader_epoch,
        timestamp=query.timestamp,
    )


def read_list_offsets(response: ListOffsetsResponse) -> ListedOffsets:
    """Returns the offset or the error of each partition of the response."""
    found: ListedOffsets = {}
    for topic in response.topics:
        for item in topic.partitions:
            topic_partition = TopicPartition(topic.name, item.partition_index)
            found[topic_partition] = error_for(
                item.error_code, f"offsets of {topic_partition}"
            ) or OffsetAndTimestamp(item.offset, item.timestamp, item.leader_epoch)
    return found


def read_requested_offsets(
    response: ListOffsetsResponse, queries: Mapping[TopicPartition, OffsetQuery]
) -> ListedOffsets:
    """Returns the offset or an error for each requested partition.

    The offset is -1 if no record has the timestamp or a later one. A partition that the response
    does not contain gets a retriable error, an impossible offset a ProtocolError: a consumer must
    never take such a value as its position.
    """
    found = read_list_offsets(response)
    return {
        topic_partition: _checked(topic_partition, query.timestamp, found.get(topic_partition))
        for topic_partition, query in queries.items()
    }


def _checked(
    topic_partition: TopicPartition,
    timestamp: int,
    found: OffsetAndTimestamp | BarnabasError | None,
) -> OffsetAndTimestamp | BarnabasError:
    if found is None:
        message = f"the response does not contain the offset of {topic_partition}"
        return BrokerError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, message)
    if isinstance(found, BarnabasError):
        return found
    always_exists = timestamp in (EARLIEST_TIMESTAMP, LATEST_TIMESTAMP)
    if found.offset < (0 if always_exists else -1):
        return ProtocolError(f"{topic_partition}: the response has the offset {found.offset}")
    return found


class EpochQuery(NamedTuple):
    """The epoch of a consumer's position, and the leader epoch that it has from metadata."""

    position_epoch: int
    leader_epoch: int


class EpochEnd(NamedTuple):
    """The largest epoch at or below the requested one, and its end offset; -1 if unknown."""

    leader_epoch: int
    end_offset: int


def offset_for_leader_epoch_request(
    queries: Mapping[TopicPartition, EpochQuery],
) -> OffsetForLeaderEpochRequest:
    """Builds the request; topics and partitions have the order of `queries`."""
    return OffsetForLeaderEpochRequest(
        replica_id=CONSUMER_REPLICA_ID,
        topics=[
            OffsetForLeaderTopic(
                topic=topic,
                partitions=[
                    _epoch_partition(partition, queries[TopicPartition(topic, partition)])
                    for partition in partitions
                ],
            )
            for topic, partitions in by_topic(queries).items()
        ],
    )


def _epoch_partition(partition: int, query: EpochQuery) -> OffsetForLeaderPartition:
    return OffsetForLeaderPartition(
        partition=partition,
        current_leader_epoch=query.leader_epoch,
        leader_epoch=query.position_epoch,
    )


def read_offset_for_leader_epoch(
    response: OffsetForLeaderEpochResponse,
) -> dict[TopicPartition, EpochEnd | BrokerError]:
    """Returns the end of the epoch or the error of each partition of the response."""
    found: dict[TopicPartition, EpochEnd | BrokerError] = {}
    for topic in response.topics:
        for item in topic.partitions:
            topic_partition = TopicPartition(topic.topic, item.partition)
            found[topic_partition] = error_for(
                item.error_code, f"epochs of {topic_partition}"
            ) or EpochEnd(item.leader_epoch, item.end_offset)
    return found
