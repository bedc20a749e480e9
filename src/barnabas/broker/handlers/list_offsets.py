"""ListOffsets: returns the offset for a timestamp, or the first or last offset of a log.

v2 isolation level; v4 leader epochs; v6 flexible; v7 max timestamp (-3); v8 earliest local (-4);
v9 latest tiered (-5); v10 a timeout for tiered storage; v11 earliest pending upload (-6). This
broker has no tiered storage, so -5 and -6 never find an offset.
"""

from collections import Counter
from typing import Protocol

from barnabas.broker.handler import ApiHandler, HandlerContext, RequestPorts, Result
from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BrokerError
from barnabas.model.ids import TopicPartition
from barnabas.model.records import IsolationLevel
from barnabas.replication.partition_read import OffsetAnswer
from barnabas.replication.partition_reader import list_offset
from barnabas.replication.replica_manager import ReplicaManager
from barnabas.wire.api_keys import ApiKey
from barnabas.wire.messages.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsPartitionResponse,
    ListOffsetsRequest,
    ListOffsetsResponse,
    ListOffsetsTopic,
    ListOffsetsTopicResponse,
)

_CONSUMER = -1
_LATEST, _EARLIEST = -1, -2
_MAX_TIMESTAMP = -3
_EARLIEST_LOCAL = -4
_LATEST_TIERED = -5
_EARLIEST_PENDING_UPLOAD = -6
_SPECIAL_FROM = {
    _EARLIEST: 0,
    _MAX_TIMESTAMP: 7,
    _EARLIEST_LOCAL: 8,
    _LATEST_TIERED: 9,
    _EARLIEST_PENDING_UPLOAD: 11,
}
_NEVER = 1 << 15


class Ports(RequestPorts, Protocol):
    """Parts of the broker that this handler uses."""

    replicas: ReplicaManager


def handle_list_offsets(ctx: HandlerContext[Ports], request: ListOffsetsRequest) -> Result:
    topics = [
        ListOffsetsTopicResponse(topic.name, _answers(ctx, request, topic))
        for topic in request.topics
    ]
    return ListOffsetsResponse(topics=topics)


def _answers(
    ctx: HandlerContext[Ports], request: ListOffsetsRequest, topic: ListOffsetsTopic
) -> list[ListOffsetsPartitionResponse]:
    times = Counter(asked.partition_index for asked in topic.partitions)
    once = [asked for asked in topic.partitions if times[asked.partition_index] == 1]
    return [
        *(_answer(ctx, request, topic.name, asked) for asked in once),
        *(
            ListOffsetsPartitionResponse(number, ErrorCode.INVALID_REQUEST)
            for number, count in times.items()
            if count > 1
        ),
    ]


def _answer(
    ctx: HandlerContext[Ports], request: ListOffsetsRequest, topic: str, asked: ListOffsetsPartition
) -> ListOffsetsPartitionResponse:
    number = asked.partition_index
    try:
        found = _find(ctx, request, TopicPartition(topic, number), asked)
    except BrokerError as error:
        return ListOffsetsPartitionResponse(number, _known_code(ctx.version, error.code))
    return ListOffsetsPartitionResponse(
        number, 0, found.timestamp_ms, found.offset, found.leader_epoch
    )


def _find(
    ctx: HandlerContext[Ports],
    request: ListOffsetsRequest,
    topic_partition: TopicPartition,
    asked: ListOffsetsPartition,
) -> OffsetAnswer:
    services = ctx.services
    partition = services.replicas.partition(topic_partition)
    if partition is None:
        known = services.metadata.partition(topic_partition) is not None
        raise BrokerError(
            ErrorCode.NOT_LEADER_OR_FOLLOWER if known else ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        )
    if asked.timestamp < _LATEST and ctx.version < _SPECIAL_FROM.get(asked.timestamp, _NEVER):
        raise BrokerError(ErrorCode.UNSUPPORTED_VERSION)
    if asked.timestamp in (_LATEST_TIERED, _EARLIEST_PENDING_UPLOAD):
        return OffsetAnswer()
    from_consumer = request.replica_id == _CONSUMER
    return list_offset(
        partition,
        asked.timestamp,
        isolation=IsolationLevel(1 if request.isolation_level else 0) if from_consumer else None,
        current_leader_epoch=asked.current_leader_epoch,
        leader_only=request.replica_id >= _CONSUMER,
    )


def _known_code(version: int, code: ErrorCode) -> ErrorCode:
    # OFFSET_NOT_AVAILABLE exists since version 5; older clients retry on this error (KIP-207).
    if code is ErrorCode.OFFSET_NOT_AVAILABLE and version < 5:
        return ErrorCode.LEADER_NOT_AVAILABLE
    return code


HANDLER = ApiHandler(ApiKey.LIST_OFFSETS, (1, 11), handle_list_offsets)
