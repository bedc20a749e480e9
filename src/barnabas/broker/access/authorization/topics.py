"""Authorization of requests about topics' data: each topic of a request is checked separately."""

from collections.abc import Callable
from typing import Any

from barnabas.broker.access.access import Access
from barnabas.broker.access.authorization.rules import AuthorizationRule, split
from barnabas.broker.handler import Handle, RequestContext, Result
from barnabas.model.error_codes import ErrorCode
from barnabas.net.refusal import ConnectionClosedError, Refusal
from barnabas.security.acl import Operation
from barnabas.wire.messages import create_partitions as growing
from barnabas.wire.messages import delete_records as deleting
from barnabas.wire.messages import describe_producers as producers
from barnabas.wire.messages import list_offsets as listing
from barnabas.wire.messages import offset_for_leader_epoch as epochs
from barnabas.wire.messages.produce import (
    PartitionProduceResponse,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
    TopicProduceResponse,
)

_DENIED = ErrorCode.TOPIC_AUTHORIZATION_FAILED
_IDS_FROM = 13


def topic_by_topic(
    operation: Operation,
    refused: Callable[[Any], Any],
    *,
    name: str = "name",
    answered: str = "topics",
) -> AuthorizationRule:
    """For requests with `topics`, whose response has one entry per topic in `answered`."""

    def rule(access: Access, ctx: RequestContext, request: Any, serve: Handle) -> Result:
        allowed = access.topics(operation, [getattr(item, name) for item in request.topics])
        kept, denied = split(request.topics, lambda item: getattr(item, name) in allowed)
        if denied:
            request.topics = kept

            def add_refusals(response: Any) -> Any:
                getattr(response, answered).extend(refused(item) for item in denied)
                return response

            ctx.amend_with(add_refusals)
        return serve(ctx, request)

    return rule


def _list_offsets(topic: listing.ListOffsetsTopic) -> listing.ListOffsetsTopicResponse:
    return listing.ListOffsetsTopicResponse(
        topic.name,
        [
            listing.ListOffsetsPartitionResponse(item.partition_index, _DENIED)
            for item in topic.partitions
        ],
    )


def _delete_records(topic: deleting.DeleteRecordsTopic) -> deleting.DeleteRecordsTopicResult:
    return deleting.DeleteRecordsTopicResult(
        topic.name,
        [
            deleting.DeleteRecordsPartitionResult(item.partition_index, -1, _DENIED)
            for item in topic.partitions
        ],
    )


def _create_partitions(
    topic: growing.CreatePartitionsTopic,
) -> growing.CreatePartitionsTopicResult:
    return growing.CreatePartitionsTopicResult(topic.name, _DENIED, _DENIED.explanation)


def _describe_producers(topic: producers.TopicRequest) -> producers.TopicResponse:
    return producers.TopicResponse(
        topic.name,
        [
            producers.PartitionResponse(number, _DENIED, _DENIED.explanation)
            for number in topic.partition_indexes
        ],
    )


def _end_of_epoch(topic: epochs.OffsetForLeaderTopic) -> epochs.OffsetForLeaderTopicResult:
    return epochs.OffsetForLeaderTopicResult(
        topic.topic, [epochs.EpochEndOffset(_DENIED, item.partition) for item in topic.partitions]
    )


authorize_list_offsets = topic_by_topic(Operation.DESCRIBE, _list_offsets)
authorize_delete_records = topic_by_topic(Operation.DELETE, _delete_records)
authorize_create_partitions = topic_by_topic(
    Operation.ALTER, _create_partitions, answered="results"
)
authorize_describe_producers = topic_by_topic(Operation.READ, _describe_producers)
_describe_epochs = topic_by_topic(Operation.DESCRIBE, _end_of_epoch, name="topic")


def authorize_offset_for_leader_epoch(
    access: Access, ctx: RequestContext, request: Any, serve: Handle
) -> Result:
    """Followers need the right of brokers, consumers the right to read the topic (KIP-320)."""
    if access.cluster(Operation.CLUSTER_ACTION):
        return serve(ctx, request)
    return _describe_epochs(access, ctx, request, serve)


def authorize_produce(
    access: Access, ctx: RequestContext, request: ProduceRequest, serve: Handle
) -> Result:
    transactional_id = request.transactional_id
    if transactional_id is not None and not access.transactional_id(
        Operation.WRITE, transactional_id
    ):
        code = ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED
        _close_unless_answered(request, code)
        return ProduceResponse([_refused(topic, code) for topic in request.topic_data])
    kept, denied = split(request.topic_data, lambda topic: _may_write(access, ctx, topic))
    if not denied:
        return serve(ctx, request)
    request.topic_data = kept

    def add_refusals(response: ProduceResponse) -> ProduceResponse:
        response.responses.extend(_refused(topic, _DENIED) for topic in denied)
        return response

    ctx.amend_with(add_refusals)
    result = serve(ctx, request)
    _close_unless_answered(request, _DENIED)
    return result


def _may_write(access: Access, ctx: RequestContext, topic: TopicProduceData) -> bool:
    """Allows unknown topic ids: the handler returns the error, and ids are not secret."""
    name: str | None = topic.name
    if ctx.version >= _IDS_FROM:
        name = ctx.services.metadata.topic_name(topic.topic_id)
    return name is None or access.topic(Operation.WRITE, name)


def _refused(topic: TopicProduceData, code: ErrorCode) -> TopicProduceResponse:
    answers = [
        PartitionProduceResponse(data.index, code, -1, -1, -1) for data in topic.partition_data
    ]
    return TopicProduceResponse(topic.name, topic.topic_id, answers)


def _close_unless_answered(request: ProduceRequest, code: ErrorCode) -> None:
    if request.acks == 0:
        detail = f"produce with acks=0 failed with {code.name}"
        raise ConnectionClosedError(Refusal.FAILED_UNACKNOWLEDGED, detail)
