"""Authorization of requests about groups and their committed offsets."""

from collections.abc import Iterable

from barnabas.broker.access.access import Access, needs_group, split
from barnabas.broker.access.authorization.topics import topic_by_topic
from barnabas.broker.handler import Handle, RequestContext, Result
from barnabas.model.error_codes import ErrorCode
from barnabas.security.acl import Operation, Resource, ResourceType
from barnabas.wire.message import Message
from barnabas.wire.messages import consumer_group_describe as consumer_groups
from barnabas.wire.messages import describe_groups as classic_groups
from barnabas.wire.messages.consumer_group_heartbeat import (
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatResponse,
)
from barnabas.wire.messages.delete_groups import (
    DeletableGroupResult,
    DeleteGroupsRequest,
    DeleteGroupsResponse,
)
from barnabas.wire.messages.find_coordinator import (
    Coordinator,
    FindCoordinatorRequest,
    FindCoordinatorResponse,
)
from barnabas.wire.messages.heartbeat import HeartbeatResponse
from barnabas.wire.messages.join_group import JoinGroupRequest, JoinGroupResponse
from barnabas.wire.messages.leave_group import LeaveGroupResponse
from barnabas.wire.messages.list_groups import ListGroupsRequest, ListGroupsResponse
from barnabas.wire.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestTopic,
    OffsetCommitResponse,
    OffsetCommitResponsePartition,
    OffsetCommitResponseTopic,
)
from barnabas.wire.messages.offset_delete import (
    OffsetDeleteRequest,
    OffsetDeleteRequestTopic,
    OffsetDeleteResponse,
    OffsetDeleteResponsePartition,
    OffsetDeleteResponseTopic,
)
from barnabas.wire.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopic,
    OffsetFetchRequestTopics,
    OffsetFetchResponse,
    OffsetFetchResponseGroup,
    OffsetFetchResponsePartition,
    OffsetFetchResponsePartitions,
    OffsetFetchResponseTopic,
    OffsetFetchResponseTopics,
)
from barnabas.wire.messages.sync_group import SyncGroupResponse
from barnabas.wire.messages.txn_offset_commit import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestTopic,
    TxnOffsetCommitResponse,
    TxnOffsetCommitResponsePartition,
    TxnOffsetCommitResponseTopic,
)

_GROUP_DENIED = ErrorCode.GROUP_AUTHORIZATION_FAILED
_TOPIC_DENIED = ErrorCode.TOPIC_AUTHORIZATION_FAILED
_BATCHED_FIND_FROM = 4
_KINDS = {
    0: (ResourceType.GROUP, _GROUP_DENIED),
    1: (ResourceType.TRANSACTIONAL_ID, ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED),
}


def _no_join(ctx: RequestContext, request: JoinGroupRequest) -> JoinGroupResponse:
    return JoinGroupResponse(
        error_code=_GROUP_DENIED, protocol_name="", member_id=request.member_id, members=[]
    )


authorize_join_group = needs_group(_no_join, Operation.READ)
authorize_sync_group = needs_group(
    lambda _ctx, _request: SyncGroupResponse(0, _GROUP_DENIED), Operation.READ
)
authorize_heartbeat = needs_group(
    lambda _ctx, _request: HeartbeatResponse(error_code=_GROUP_DENIED), Operation.READ
)
authorize_leave_group = needs_group(
    lambda _ctx, _request: LeaveGroupResponse(error_code=_GROUP_DENIED), Operation.READ
)


def authorize_consumer_group_heartbeat(
    access: Access, ctx: RequestContext, request: ConsumerGroupHeartbeatRequest, serve: Handle
) -> Result:
    if not access.group(Operation.READ, request.group_id):
        return _no_heartbeat(_GROUP_DENIED)
    names = request.subscribed_topic_names or []
    if len(access.topics(Operation.DESCRIBE, names)) < len(set(names)):
        return _no_heartbeat(_TOPIC_DENIED)
    return serve(ctx, request)


def _no_heartbeat(code: ErrorCode) -> ConsumerGroupHeartbeatResponse:
    return ConsumerGroupHeartbeatResponse(error_code=code, error_message=code.explanation)


# --- coordinators and descriptions ---------------------------------------------------------------


def authorize_find_coordinator(
    access: Access, ctx: RequestContext, request: FindCoordinatorRequest, serve: Handle
) -> Result:
    kind = _KINDS.get(request.key_type)
    if kind is None:
        return serve(ctx, request)
    resource_type, code = kind

    def may_find(key: str) -> bool:
        return access.may(Operation.DESCRIBE, Resource(resource_type, key))

    if ctx.version < _BATCHED_FIND_FROM:
        if may_find(request.key):
            return serve(ctx, request)
        return FindCoordinatorResponse(0, code, code.explanation, -1, "", -1)
    request.coordinator_keys, denied = split(request.coordinator_keys, may_find)

    def amend(response: FindCoordinatorResponse) -> FindCoordinatorResponse:
        response.coordinators += [
            Coordinator(key, -1, "", -1, code, code.explanation) for key in denied
        ]
        return response

    ctx.amend_with(amend)
    return serve(ctx, request)


def authorize_list_groups(
    access: Access, ctx: RequestContext, request: ListGroupsRequest, serve: Handle
) -> Result:
    def amend(response: ListGroupsResponse) -> ListGroupsResponse:
        response.groups = [
            group for group in response.groups if access.group(Operation.DESCRIBE, group.group_id)
        ]
        return response

    if not access.cluster(Operation.DESCRIBE):
        ctx.amend_with(amend)
    return serve(ctx, request)


def authorize_describe_groups(
    access: Access,
    ctx: RequestContext,
    request: classic_groups.DescribeGroupsRequest,
    serve: Handle,
) -> Result:
    denied = _take_denied(access, Operation.DESCRIBE, request, "groups")

    def amend(
        response: classic_groups.DescribeGroupsResponse,
    ) -> classic_groups.DescribeGroupsResponse:
        _set_operations(access, request, response)
        response.groups += [
            classic_groups.DescribedGroup(_GROUP_DENIED, _GROUP_DENIED.explanation, name)
            for name in denied
        ]
        return response

    ctx.amend_with(amend)
    return serve(ctx, request)


def authorize_consumer_group_describe(
    access: Access,
    ctx: RequestContext,
    request: consumer_groups.ConsumerGroupDescribeRequest,
    serve: Handle,
) -> Result:
    denied = _take_denied(access, Operation.DESCRIBE, request, "group_ids")

    def amend(
        response: consumer_groups.ConsumerGroupDescribeResponse,
    ) -> consumer_groups.ConsumerGroupDescribeResponse:
        response.groups = [_without_hidden_topics(access, group) for group in response.groups]
        _set_operations(access, request, response)
        response.groups += [
            consumer_groups.DescribedGroup(_GROUP_DENIED, _GROUP_DENIED.explanation, name)
            for name in denied
        ]
        return response

    ctx.amend_with(amend)
    return serve(ctx, request)


def _without_hidden_topics(
    access: Access, group: consumer_groups.DescribedGroup
) -> consumer_groups.DescribedGroup:
    """Replaces groups that read a topic which the caller must not describe by an error."""
    names = {name for member in group.members for name in member.subscribed_topic_names}
    for member in group.members:
        for assignment in (member.assignment, member.target_assignment):
            names.update(topic.topic_name for topic in assignment.topic_partitions)
    if len(access.topics(Operation.DESCRIBE, names)) == len(names):
        return group
    return consumer_groups.DescribedGroup(_TOPIC_DENIED, _TOPIC_DENIED.explanation, group.group_id)


def _take_denied(access: Access, operation: Operation, request: Message, field: str) -> list[str]:
    names: list[str] = getattr(request, field)
    kept, denied = split(names, lambda name: access.group(operation, name))
    setattr(request, field, kept)
    return denied


def _set_operations(
    access: Access,
    request: classic_groups.DescribeGroupsRequest | consumer_groups.ConsumerGroupDescribeRequest,
    response: classic_groups.DescribeGroupsResponse | consumer_groups.ConsumerGroupDescribeResponse,
) -> None:
    if request.include_authorized_operations:
        for group in response.groups:
            if not group.error_code:
                resource = Resource(ResourceType.GROUP, group.group_id)
                group.authorized_operations = access.operations(resource)


# --- removing ------------------------------------------------------------------------------------


def authorize_delete_groups(
    access: Access, ctx: RequestContext, request: DeleteGroupsRequest, serve: Handle
) -> Result:
    denied = _take_denied(access, Operation.DELETE, request, "groups_names")

    def amend(response: DeleteGroupsResponse) -> DeleteGroupsResponse:
        response.results += [DeletableGroupResult(name, _GROUP_DENIED) for name in denied]
        return response

    ctx.amend_with(amend)
    return serve(ctx, request)


def _kept_offsets(topic: OffsetDeleteRequestTopic) -> OffsetDeleteResponseTopic:
    return OffsetDeleteResponseTopic(
        topic.name,
        [
            OffsetDeleteResponsePartition(item.partition_index, _TOPIC_DENIED)
            for item in topic.partitions
        ],
    )


_topics_of_offset_delete = topic_by_topic(Operation.READ, _kept_offsets)


def authorize_offset_delete(
    access: Access, ctx: RequestContext, request: OffsetDeleteRequest, serve: Handle
) -> Result:
    if not access.group(Operation.DELETE, request.group_id):
        return OffsetDeleteResponse(error_code=_GROUP_DENIED)
    return _topics_of_offset_delete(access, ctx, request, serve)


# --- Committed offsets ----------------------------------------------------------------------------


_IDS_FROM = 10
_BATCHED_FETCH_FROM = 8
_TOP_LEVEL_ERROR_FROM = 2


def _may(
    access: Access,
    operation: Operation,
    ctx: RequestContext,
    topic: OffsetCommitRequestTopic | OffsetFetchRequestTopics,
) -> bool:
    """Allows unknown topic ids: the handler returns the error, and ids are not secret."""
    name: str | None = topic.name
    if ctx.version >= _IDS_FROM:
        name = ctx.services.metadata.topic_name(topic.topic_id)
    return name is None or access.topic(operation, name)


# --- offsets -------------------------------------------------------------------------------------


def authorize_offset_commit(
    access: Access, ctx: RequestContext, request: OffsetCommitRequest, serve: Handle
) -> Result:
    if not access.group(Operation.READ, request.group_id):
        return OffsetCommitResponse(topics=_uncommitted(request.topics, _GROUP_DENIED))
    request.topics, denied = split(
        request.topics, lambda topic: _may(access, Operation.READ, ctx, topic)
    )
    if not denied:
        return serve(ctx, request)
    if not request.topics:
        return OffsetCommitResponse(topics=_uncommitted(denied, _TOPIC_DENIED))

    def amend(response: OffsetCommitResponse) -> OffsetCommitResponse:
        response.topics += _uncommitted(denied, _TOPIC_DENIED)
        return response

    ctx.amend_with(amend)
    return serve(ctx, request)


def _uncommitted(
    topics: Iterable[OffsetCommitRequestTopic], code: ErrorCode
) -> list[OffsetCommitResponseTopic]:
    return [
        OffsetCommitResponseTopic(
            topic.name,
            topic.topic_id,
            [
                OffsetCommitResponsePartition(item.partition_index, code)
                for item in topic.partitions
            ],
        )
        for topic in topics
    ]


def _uncommitted_in_txn(
    topic: TxnOffsetCommitRequestTopic, code: ErrorCode = _TOPIC_DENIED
) -> TxnOffsetCommitResponseTopic:
    return TxnOffsetCommitResponseTopic(
        topic.name,
        [TxnOffsetCommitResponsePartition(item.partition_index, code) for item in topic.partitions],
    )


_topics_of_txn_commit = topic_by_topic(Operation.READ, _uncommitted_in_txn)


def authorize_txn_offset_commit(
    access: Access, ctx: RequestContext, request: TxnOffsetCommitRequest, serve: Handle
) -> Result:
    code = ErrorCode.NONE
    if not access.transactional_id(Operation.WRITE, request.transactional_id):
        code = ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED
    elif not access.group(Operation.READ, request.group_id):
        code = _GROUP_DENIED
    if code is not ErrorCode.NONE:
        return TxnOffsetCommitResponse(
            topics=[_uncommitted_in_txn(topic, code) for topic in request.topics]
        )
    return _topics_of_txn_commit(access, ctx, request, serve)


# --- fetching ------------------------------------------------------------------------------------


def authorize_offset_fetch(
    access: Access, ctx: RequestContext, request: OffsetFetchRequest, serve: Handle
) -> Result:
    if ctx.version >= _BATCHED_FETCH_FROM:
        return _fetch_of_groups(access, ctx, request, serve)
    if not access.group(Operation.DESCRIBE, request.group_id):
        topics = request.topics or [] if ctx.version < _TOP_LEVEL_ERROR_FROM else []
        return OffsetFetchResponse(
            topics=[_unread_old(topic, _GROUP_DENIED) for topic in topics],
            error_code=_GROUP_DENIED,
        )
    if request.topics is None:

        def hide(response: OffsetFetchResponse) -> OffsetFetchResponse:
            response.topics = [
                topic for topic in response.topics if access.topic(Operation.DESCRIBE, topic.name)
            ]
            return response

        ctx.amend_with(hide)
        return serve(ctx, request)
    return _topics_of_fetch(access, ctx, request, serve)


def _unread_old(
    topic: OffsetFetchRequestTopic, code: ErrorCode = _TOPIC_DENIED
) -> OffsetFetchResponseTopic:
    return OffsetFetchResponseTopic(
        topic.name,
        [
            OffsetFetchResponsePartition(number, -1, metadata="", error_code=code)
            for number in topic.partition_indexes
        ],
    )


_topics_of_fetch = topic_by_topic(Operation.DESCRIBE, _unread_old)


def _fetch_of_groups(
    access: Access, ctx: RequestContext, request: OffsetFetchRequest, serve: Handle
) -> Result:
    kept, hidden = split(
        request.groups, lambda group: access.group(Operation.DESCRIBE, group.group_id)
    )
    denied_groups = [
        OffsetFetchResponseGroup(group.group_id, [], _GROUP_DENIED) for group in hidden
    ]
    denied = {group.group_id: _take_denied_topics(access, ctx, group) for group in kept}
    everything = {group.group_id for group in kept if group.topics is None}
    request.groups = kept

    def amend(response: OffsetFetchResponse) -> OffsetFetchResponse:
        for group in response.groups:
            if group.error_code:
                continue
            if group.group_id in everything:
                group.topics = [
                    topic for topic in group.topics if access.topic(Operation.DESCRIBE, topic.name)
                ]
            group.topics += denied[group.group_id]
        response.groups += denied_groups
        return response

    ctx.amend_with(amend)
    return serve(ctx, request)


def _take_denied_topics(
    access: Access, ctx: RequestContext, group: OffsetFetchRequestGroup
) -> list[OffsetFetchResponseTopics]:
    if group.topics is None:
        return []
    group.topics, denied = split(
        group.topics, lambda topic: _may(access, Operation.DESCRIBE, ctx, topic)
    )
    return [
        OffsetFetchResponseTopics(
            topic.name,
            topic.topic_id,
            [
                OffsetFetchResponsePartitions(number, -1, metadata="", error_code=_TOPIC_DENIED)
                for number in topic.partition_indexes
            ],
        )
        for topic in denied
    ]
