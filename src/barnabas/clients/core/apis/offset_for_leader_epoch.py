"""OffsetForLeaderEpoch: the end offset of a leader epoch, to detect log truncation (KIP-320)."""

from collections.abc import Mapping
from typing import NamedTuple

from barnabas.clients.core.apis.common import CONSUMER_REPLICA_ID, by_topic, error_for
from barnabas.model.errors import BrokerError
from barnabas.model.ids import TopicPartition
from barnabas.wire.messages.offset_for_leader_epoch import (
    OffsetForLeaderEpochRequest,
    OffsetForLeaderEpochResponse,
    OffsetForLeaderPartition,
    OffsetForLeaderTopic,
)


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
                    _partition(number, queries[TopicPartition(topic, number)]) for number in numbers
                ],
            )
            for topic, numbers in by_topic(queries).items()
        ],
    )


def _partition(number: int, query: EpochQuery) -> OffsetForLeaderPartition:
    return OffsetForLeaderPartition(
        partition=number,
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
