"""OffsetCommit: stores the committed offsets of a group.

v2-v4 retention time; v6 leader epochs; v7 static members; v8 flexible; v9 members of KIP-848
groups; v10 topics by id. Versions 0 and 1 stored offsets in ZooKeeper and are not served.
"""

from barnabas.broker.coordinators.responses import GroupPorts, PendingResponse, run_on_group
from barnabas.broker.handler import ApiHandler, HandlerContext, Result
from barnabas.groups.replies import OffsetCommitReply
from barnabas.groups.requests import OffsetCommitRequest, OffsetToCommit
from barnabas.model.error_codes import ErrorCode
from barnabas.model.ids import TopicPartition
from barnabas.wire.api_keys import ApiKey
from barnabas.wire.messages.offset_commit import (
    OffsetCommitRequest as WireRequest,
)
from barnabas.wire.messages.offset_commit import (
    OffsetCommitRequestTopic,
    OffsetCommitResponse,
    OffsetCommitResponsePartition,
    OffsetCommitResponseTopic,
)

_MEMBER_EPOCHS_FROM = 9
_IDS_FROM = 10

Errors = dict[TopicPartition, ErrorCode]


def handle_offset_commit(ctx: HandlerContext[GroupPorts], request: WireRequest) -> Result:
    names = {id(topic): _name(ctx, topic) for topic in request.topics}
    offsets = tuple(
        OffsetToCommit(
            name,
            one.partition_index,
            one.committed_offset,
            one.committed_leader_epoch,
            one.committed_metadata,
        )
        for topic in request.topics
        if (name := names[id(topic)]) is not None
        for one in topic.partitions
        if _exists(ctx, name, one.partition_index)
    )

    def respond(errors: Errors, other: ErrorCode) -> OffsetCommitResponse:
        """Returns the response; partitions without an entry in `errors` get `other`."""
        return OffsetCommitResponse(
            topics=[_topic(ctx, topic, names[id(topic)], errors, other) for topic in request.topics]
        )

    if request.topics and not offsets:
        return respond({}, ErrorCode.NONE)
    committing = OffsetCommitRequest(
        group_id=request.group_id,
        offsets=offsets,
        generation_id=request.generation_id_or_member_epoch,
        member_id=request.member_id,
        group_instance_id=request.group_instance_id,
        retention_time_ms=request.retention_time_ms,
        member_epochs_supported=ctx.version >= _MEMBER_EPOCHS_FROM,
    )

    def encode(reply: OffsetCommitReply) -> OffsetCommitResponse:
        return respond(dict(reply.partitions), ErrorCode.NONE)

    return run_on_group(
        ctx,
        request.group_id,
        lambda shard, now_ms: shard.commit_offsets(committing, now_ms),
        PendingResponse(ctx, encode, lambda code: respond({}, code)),
    )


def _name(ctx: HandlerContext[GroupPorts], topic: OffsetCommitRequestTopic) -> str | None:
    """Returns the name of the topic, or None if it does not exist."""
    metadata = ctx.services.metadata
    if ctx.version >= _IDS_FROM:
        return metadata.topic_name(topic.topic_id)
    return topic.name if metadata.has_topic(topic.name) else None


def _exists(ctx: HandlerContext[GroupPorts], name: str, number: int) -> bool:
    return ctx.services.metadata.partition(TopicPartition(name, number)) is not None


def _topic(
    ctx: HandlerContext[GroupPorts],
    topic: OffsetCommitRequestTopic,
    name: str | None,
    errors: Errors,
    other: ErrorCode,
) -> OffsetCommitResponseTopic:
    unknown = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    if ctx.version >= _IDS_FROM:
        unknown = ErrorCode.UNKNOWN_TOPIC_ID
    partitions = []
    for one in topic.partitions:
        code = unknown
        if name is not None and not _exists(ctx, name, one.partition_index):
            code = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        elif name is not None:
            code = errors.get(TopicPartition(name, one.partition_index), other)
        partitions.append(OffsetCommitResponsePartition(one.partition_index, code))
    return OffsetCommitResponseTopic(topic.name, topic.topic_id, partitions)


HANDLER = ApiHandler(ApiKey.OFFSET_COMMIT, (2, 10), handle_offset_commit)
