"""Authorization of requests about topics: each topic of a request is checked separately."""

from collections.abc import Callable
from typing import Any

from barnabas.broker.access.access import Access, AuthorizationRule, split
from barnabas.broker.handler import Handle, RequestContext, Result
from barnabas.model.error_codes import ErrorCode
from barnabas.model.ids import ZERO_UUID
from barnabas.net.close_reasons import CloseReason, ConnectionClosedError
from barnabas.security.acl import CLUSTER, Operation, Resource, ResourceType
from barnabas.wire.messages import create_partitions as growing
from barnabas.wire.messages import delete_records as deleting
from barnabas.wire.messages import describe_producers as producers
from barnabas.wire.messages import list_offsets as listing
from barnabas.wire.messages import offset_for_leader_epoch as epochs
from barnabas.wire.messages.create_topics import (
    CreatableTopicResult,
    CreateTopicsRequest,
    CreateTopicsResponse,
)
from barnabas.wire.messages.delete_topics import (
    DeletableTopicResult,
    DeleteTopicsRequest,
    DeleteTopicsResponse,
    DeleteTopicState,
)
from barnabas.wire.messages.describe_topic_partitions import (
    DescribeTopicPartitionsRequest,
    DescribeTopicPartitionsResponse,
    DescribeTopicPartitionsResponseTopic,
    TopicRequest,
)
from barnabas.wire.messages.metadata import (
    MetadataRequest,
    MetadataRequestTopic,
    MetadataResponse,
    MetadataResponseTopic,
)
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
    denied_result: Callable[[Any], object],
    *,
    name: str = "name",
    result_list: str = "topics",
) -> AuthorizationRule:
    """For requests with `topics`; `result_list` of the response has one entry per topic."""

    def rule(access: Access, ctx: RequestContext, request: Any, serve: Handle) -> Result:
        allowed = access.topics(operation, [getattr(item, name) for item in request.topics])
        kept, denied = split(request.topics, lambda item: getattr(item, name) in allowed)
        if denied:
            request.topics = kept

            def add_denied(response: object) -> Any:
                getattr(response, result_list).extend(denied_result(item) for item in denied)
                return response

            ctx.amend_with(add_denied)
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
    Operation.ALTER, _create_partitions, result_list="results"
)
authorize_describe_producers = topic_by_topic(Operation.READ, _describe_producers)
_describe_epochs = topic_by_topic(Operation.DESCRIBE, _end_of_epoch, name="topic")


def authorize_offset_for_leader_epoch(
    access: Access,
    ctx: RequestContext,
    request: epochs.OffsetForLeaderEpochRequest,
    serve: Handle,
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
        _close_if_unacknowledged(request, code)
        return ProduceResponse([_denied_topic(topic, code) for topic in request.topic_data])
    kept, denied = split(request.topic_data, lambda topic: _may_write(access, ctx, topic))
    if not denied:
        return serve(ctx, request)
    request.topic_data = kept

    def add_denied(response: ProduceResponse) -> ProduceResponse:
        response.responses.extend(_denied_topic(topic, _DENIED) for topic in denied)
        return response

    ctx.amend_with(add_denied)
    result = serve(ctx, request)
    _close_if_unacknowledged(request, _DENIED)
    return result


def _may_write(access: Access, ctx: RequestContext, topic: TopicProduceData) -> bool:
    """Allows unknown topic ids: the handler returns the error, and ids are not secret."""
    name: str | None = topic.name
    if ctx.version >= _IDS_FROM:
        name = ctx.services.metadata.topic_name(topic.topic_id)
    return name is None or access.topic(Operation.WRITE, name)


def _denied_topic(topic: TopicProduceData, code: ErrorCode) -> TopicProduceResponse:
    responses = [
        PartitionProduceResponse(data.index, code, -1, -1, -1) for data in topic.partition_data
    ]
    return TopicProduceResponse(topic.name, topic.topic_id, responses)


def _close_if_unacknowledged(request: ProduceRequest, code: ErrorCode) -> None:
    if request.acks == 0:
        detail = f"produce with acks=0 failed with {code.name}"
        raise ConnectionClosedError(CloseReason.FAILED_UNACKNOWLEDGED, detail)


_STATES_FROM = 6
_NO_TOPIC = ""


def topic_operations(access: Access, name: str | None) -> int:
    return access.operations(Resource(ResourceType.TOPIC, name or ""))


def cluster_operations(access: Access) -> int:
    return access.operations(CLUSTER) if access.cluster(Operation.DESCRIBE) else 0


# --- metadata ------------------------------------------------------------------------------------


def authorize_metadata(
    access: Access, ctx: RequestContext, request: MetadataRequest, serve: Handle
) -> Result:
    named = bool(request.topics)
    denied = _remove_denied(access, ctx, request) if named else []

    def amend(response: MetadataResponse) -> MetadataResponse:
        shown = [topic for topic in response.topics if topic.name != _NO_TOPIC]
        if not named:
            shown = [topic for topic in shown if access.topic(Operation.DESCRIBE, topic.name or "")]
        if request.include_topic_authorized_operations:
            for topic in shown:
                if topic.error_code != ErrorCode.UNKNOWN_TOPIC_ID:
                    topic.topic_authorized_operations = topic_operations(access, topic.name)
        if request.include_cluster_authorized_operations:
            response.cluster_authorized_operations = cluster_operations(access)
        response.topics = shown + denied
        return response

    ctx.amend_with(amend)
    return serve(ctx, request)


def _remove_denied(
    access: Access, ctx: RequestContext, request: MetadataRequest
) -> list[MetadataResponseTopic]:
    """Removes topics that the caller must not describe, or not create by a metadata request."""
    kept, denied = [], []
    for topic in request.topics or ():
        error = _denied_metadata(access, ctx, request, topic)
        if error is None:
            kept.append(topic)
        else:
            denied.append(error)
    if not kept and ctx.version == 0:
        # In version 0 an empty list requests all topics.
        kept = [MetadataRequestTopic(name=_NO_TOPIC)]
    request.topics = kept
    return denied


def _denied_metadata(
    access: Access, ctx: RequestContext, request: MetadataRequest, topic: MetadataRequestTopic
) -> MetadataResponseTopic | None:
    services = ctx.services
    name = topic.name
    if name is None:
        name = services.metadata.topic_name(topic.topic_id)
        if name is None or access.topic(Operation.DESCRIBE, name):
            return None
        return MetadataResponseTopic(_DENIED, None, topic.topic_id)
    error = MetadataResponseTopic(_DENIED, name)
    if not access.topic(Operation.DESCRIBE, name):
        return error
    creates = request.allow_auto_topic_creation and services.config["auto.create.topics.enable"]
    if creates and not services.metadata.has_topic(name) and not _may_create(access, name):
        return error
    return None


def _may_create(access: Access, name: str) -> bool:
    return access.cluster(Operation.CREATE) or access.topic(Operation.CREATE, name)


def authorize_describe_topic_partitions(
    access: Access, ctx: RequestContext, request: DescribeTopicPartitionsRequest, serve: Handle
) -> Result:
    everything = not request.topics
    names = [topic.name for topic in request.topics] or list(ctx.services.metadata.topics())
    allowed = access.topics(Operation.DESCRIBE, names)
    denied = [
        DescribeTopicPartitionsResponseTopic(_DENIED, name)
        for name in names
        if name not in allowed and not everything
    ]
    cursor = request.cursor
    if everything and cursor is not None and cursor.topic_name not in allowed:
        allowed = frozenset(name for name in allowed if name > cursor.topic_name)
        request.cursor = None
    if not allowed:  # an empty list requests all topics
        return DescribeTopicPartitionsResponse(topics=denied)
    request.topics = [TopicRequest(name) for name in names if name in allowed]

    def amend(response: DescribeTopicPartitionsResponse) -> DescribeTopicPartitionsResponse:
        for topic in response.topics:
            if topic.error_code == 0:
                topic.topic_authorized_operations = topic_operations(access, topic.name)
        response.topics.extend(denied)
        return response

    ctx.amend_with(amend)
    return serve(ctx, request)


# --- creation and deletion -----------------------------------------------------------------------


def authorize_create_topics(
    access: Access, ctx: RequestContext, request: CreateTopicsRequest, serve: Handle
) -> Result:
    request.topics, denied = split(request.topics, lambda topic: _may_create(access, topic.name))

    def amend(response: CreateTopicsResponse) -> CreateTopicsResponse:
        for result in response.topics:
            shown = access.topic(Operation.DESCRIBE_CONFIGS, result.name)
            if result.error_code == 0 and not shown:
                result.topic_config_error_code = _DENIED
                result.num_partitions = result.replication_factor = -1
                result.configs = []
        response.topics += [
            CreatableTopicResult(
                topic.name, error_code=_DENIED, error_message=_DENIED.explanation, configs=[]
            )
            for topic in denied
        ]
        return response

    ctx.amend_with(amend)
    return serve(ctx, request)


def authorize_delete_topics(
    access: Access, ctx: RequestContext, request: DeleteTopicsRequest, serve: Handle
) -> Result:
    denied: list[DeletableTopicResult] = []
    if ctx.version < _STATES_FROM:
        kept = access.topics(Operation.DELETE, request.topic_names)
        names = request.topic_names
        denied = [_undeletable(name) for name in names if name not in kept]
        request.topic_names = [name for name in names if name in kept]
    else:
        states = []
        for state in request.topics:
            error = _denied_deletion(access, ctx, state)
            if error is None:
                states.append(state)
            else:
                denied.append(error)
        request.topics = states

    def amend(response: DeleteTopicsResponse) -> DeleteTopicsResponse:
        response.responses.extend(denied)
        return response

    ctx.amend_with(amend)
    return serve(ctx, request)


def _denied_deletion(
    access: Access, ctx: RequestContext, state: DeleteTopicState
) -> DeletableTopicResult | None:
    name = state.name
    if name is None:
        name = ctx.services.metadata.topic_name(state.topic_id)
    if name is None or access.topic(Operation.DELETE, name):
        return None
    result = _undeletable(name)
    if state.name is None:
        result.topic_id = state.topic_id
        if not access.topic(Operation.DESCRIBE, name):
            result.name = None  # the name is secret, the id is not
    return result


def _undeletable(name: str) -> DeletableTopicResult:
    return DeletableTopicResult(name, ZERO_UUID, _DENIED, _DENIED.explanation)
