"""DescribeTopicPartitions: returns the partitions of topics in pages (KIP-966).

An empty list means all topics. Topics are sorted by name. A page ends after
`response_partition_limit` partitions; the cursor is the first partition of the next page.
"""

from barnabas.broker.authorized_operations import ALL_ON_TOPIC
from barnabas.broker.handler import ApiHandler, RequestContext, Result
from barnabas.model.control import PartitionState
from barnabas.model.error_codes import ErrorCode
from barnabas.model.ids import ZERO_UUID
from barnabas.model.topic_names import INTERNAL_TOPICS, topic_name_problem
from barnabas.wire.api_keys import ApiKey
from barnabas.wire.messages.describe_topic_partitions import (
    Cursor,
    DescribeTopicPartitionsRequest,
    DescribeTopicPartitionsResponse,
    DescribeTopicPartitionsResponsePartition,
    DescribeTopicPartitionsResponseTopic,
)

_MAX_PARTITIONS = 2000


def handle_describe_topic_partitions(
    ctx: RequestContext, request: DescribeTopicPartitionsRequest
) -> Result:
    metadata = ctx.services.metadata
    asked = {topic.name for topic in request.topics} or set(metadata.topics())
    if request.cursor is not None and not _is_position(request.cursor, request):
        refused = [_refused(topic.name) for topic in request.topics]
        return DescribeTopicPartitionsResponse(topics=refused)
    first = request.cursor.topic_name if request.cursor is not None else ""
    names = sorted(name for name in asked if name >= first)
    left = min(max(request.response_partition_limit, 1), _MAX_PARTITIONS)
    topics: list[DescribeTopicPartitionsResponseTopic] = []
    for name in names:
        start = 0
        if request.cursor is not None and name == first:
            start = request.cursor.partition_index
        if left <= 0:
            return DescribeTopicPartitionsResponse(topics=topics, next_cursor=Cursor(name, 0))
        topic, more_at = _topic(ctx, name, start, left)
        topics.append(topic)
        left -= len(topic.partitions)
        if more_at is not None:
            cursor = Cursor(name, more_at)
            return DescribeTopicPartitionsResponse(topics=topics, next_cursor=cursor)
    return DescribeTopicPartitionsResponse(topics=topics)


def _is_position(cursor: Cursor, request: DescribeTopicPartitionsRequest) -> bool:
    """Whether the cursor fits the request; its topic may have been deleted since."""
    named = {topic.name for topic in request.topics}
    return cursor.partition_index >= 0 and (not named or cursor.topic_name in named)


def _refused(name: str) -> DescribeTopicPartitionsResponseTopic:
    return DescribeTopicPartitionsResponseTopic(ErrorCode.INVALID_REQUEST, name)


def _topic(
    ctx: RequestContext, name: str, start: int, limit: int
) -> tuple[DescribeTopicPartitionsResponseTopic, int | None]:
    """Returns one topic of the page and, if the page is full, the next page's first partition."""
    metadata = ctx.services.metadata
    known = metadata.partitions(name)
    if known is None:
        code = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        if topic_name_problem(name) is not None:
            code = ErrorCode.INVALID_TOPIC_EXCEPTION
        return DescribeTopicPartitionsResponseTopic(code, name), None
    numbers = [number for number in sorted(known) if number >= start]
    topic = DescribeTopicPartitionsResponseTopic(
        0,
        name,
        metadata.topic_id(name) or ZERO_UUID,
        name in INTERNAL_TOPICS,
        [_partition(ctx, known[number]) for number in numbers[:limit]],
        ALL_ON_TOPIC,
    )
    return topic, numbers[limit] if len(numbers) > limit else None


def _partition(
    ctx: RequestContext, state: PartitionState
) -> DescribeTopicPartitionsResponsePartition:
    metadata = ctx.services.metadata
    alive = metadata.is_alive(state.leader)
    return DescribeTopicPartitionsResponsePartition(
        error_code=0 if alive else ErrorCode.LEADER_NOT_AVAILABLE,
        partition_index=state.topic_partition.partition,
        leader_id=state.leader if alive else -1,
        leader_epoch=state.leader_epoch,
        replica_nodes=list(state.replicas),
        isr_nodes=list(state.isr),
        eligible_leader_replicas=[],
        last_known_elr=[],
        offline_replicas=[r for r in state.replicas if not metadata.is_alive(r)],
    )


HANDLER = ApiHandler(ApiKey.DESCRIBE_TOPIC_PARTITIONS, (0, 0), handle_describe_topic_partitions)
