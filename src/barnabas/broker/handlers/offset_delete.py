"""OffsetDelete: deletes committed offsets of topics to which the group is not subscribed."""

from barnabas.broker.coordinators.responses import GroupPorts, PendingResponse, run_on_group
from barnabas.broker.handler import ApiHandler, HandlerContext, Result
from barnabas.groups.replies import OffsetDeleteReply
from barnabas.groups.requests import OffsetDeleteRequest
from barnabas.model.error_codes import ErrorCode
from barnabas.model.ids import TopicPartition
from barnabas.wire.api_keys import ApiKey
from barnabas.wire.messages.offset_delete import OffsetDeleteRequest as WireRequest
from barnabas.wire.messages.offset_delete import (
    OffsetDeleteResponse,
    OffsetDeleteResponsePartition,
    OffsetDeleteResponseTopic,
)


def handle_offset_delete(ctx: HandlerContext[GroupPorts], request: WireRequest) -> Result:
    metadata = ctx.services.metadata
    asked = [
        TopicPartition(topic.name, one.partition_index)
        for topic in request.topics
        for one in topic.partitions
    ]
    if not request.group_id:
        return _failed(ErrorCode.INVALID_GROUP_ID)
    known = tuple(place for place in asked if metadata.partition(place) is not None)
    deleting = OffsetDeleteRequest(request.group_id, known)

    def encode(reply: OffsetDeleteReply) -> OffsetDeleteResponse:
        if reply.error_code is not ErrorCode.NONE:
            return _failed(reply.error_code)
        errors = dict(reply.partitions)
        topics: dict[str, OffsetDeleteResponseTopic] = {}
        for name, number in asked:
            code = errors.get(TopicPartition(name, number), ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
            topic = topics.setdefault(name, OffsetDeleteResponseTopic(name, []))
            topic.partitions.append(OffsetDeleteResponsePartition(number, code))
        return OffsetDeleteResponse(topics=list(topics.values()))

    return run_on_group(
        ctx,
        request.group_id,
        lambda shard, now_ms: shard.delete_offsets(deleting, now_ms),
        PendingResponse(ctx, encode, _failed),
    )


def _failed(code: ErrorCode) -> OffsetDeleteResponse:
    return OffsetDeleteResponse(error_code=code)


HANDLER = ApiHandler(ApiKey.OFFSET_DELETE, (0, 0), handle_offset_delete)
