"""OffsetForLeaderEpoch: returns the end offset of an epoch, to detect truncation (KIP-320).

v2 current leader epoch; v3 replica id (-1 for consumers, which read from the leader); v4 flexible.
"""

from typing import Protocol

from barnabas.broker.handler import ApiHandler, HandlerContext, RequestPorts, Result
from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BrokerError
from barnabas.model.ids import TopicPartition
from barnabas.replication.epochs import EpochEnd
from barnabas.replication.partition_reader import end_offset_for_epoch
from barnabas.replication.replica_manager import ReplicaManager
from barnabas.wire.api_keys import ApiKey
from barnabas.wire.messages.offset_for_leader_epoch import (
    EpochEndOffset,
    OffsetForLeaderEpochRequest,
    OffsetForLeaderEpochResponse,
    OffsetForLeaderPartition,
    OffsetForLeaderTopicResult,
)


class Ports(RequestPorts, Protocol):
    """Parts of the broker that this handler uses."""

    replicas: ReplicaManager


def handle_offset_for_leader_epoch(
    ctx: HandlerContext[Ports], request: OffsetForLeaderEpochRequest
) -> Result:
    topics = [
        OffsetForLeaderTopicResult(
            topic.topic, [_answer(ctx, topic.topic, asked) for asked in topic.partitions]
        )
        for topic in request.topics
    ]
    return OffsetForLeaderEpochResponse(topics=topics)


def _answer(
    ctx: HandlerContext[Ports], topic: str, asked: OffsetForLeaderPartition
) -> EpochEndOffset:
    try:
        end = _find(ctx, TopicPartition(topic, asked.partition), asked)
    except BrokerError as error:
        return EpochEndOffset(error.code, asked.partition)
    return EpochEndOffset(0, asked.partition, end.epoch, end.end_offset)


def _find(
    ctx: HandlerContext[Ports], topic_partition: TopicPartition, asked: OffsetForLeaderPartition
) -> EpochEnd:
    services = ctx.services
    partition = services.replicas.partition(topic_partition)
    if partition is None:
        known = services.metadata.partition(topic_partition) is not None
        raise BrokerError(
            ErrorCode.NOT_LEADER_OR_FOLLOWER if known else ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        )
    return end_offset_for_epoch(
        partition, asked.leader_epoch, current_leader_epoch=asked.current_leader_epoch
    )


HANDLER = ApiHandler(ApiKey.OFFSET_FOR_LEADER_EPOCH, (2, 4), handle_offset_for_leader_epoch)
