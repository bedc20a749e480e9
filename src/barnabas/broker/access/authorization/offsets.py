"""Authorization of OffsetCommit, OffsetFetch and TxnOffsetCommit, for each topic."""

from collections.abc import Iterable
from typing import Any

from barnabas.broker.access.access import Access
from barnabas.broker.access.authorization.rules import split
from barnabas.broker.access.authorization.topics import topic_by_topic
from barnabas.broker.handler import Handle, RequestContext, Result
from barnabas.model.error_codes import ErrorCode
from barnabas.security.acl import Operation
from barnabas.wire.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestTopic,
    OffsetCommitResponse,
    OffsetCommitResponsePartition,
    OffsetCommitResponseTopic,
)
from barnabas.wire.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchResponse,
    OffsetFetchResponseGroup,
    OffsetFetchResponsePartition,
    OffsetFetchResponsePartitions,
    OffsetFetchResponseTopic,
    OffsetFetchResponseTopics,
)
from barnabas.wire.messages.txn_offset_commit import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestTopic,
    TxnOffsetCommitResponse,
    TxnOffsetCommitResponsePartition,
    TxnOffsetCommitResponseTopic,
)

_GROUP_DENIED = ErrorCode.GROUP_AUTHORIZATION_FAILED
_TOPIC_DENIED = ErrorCode.TOPIC_AUTHORIZATION_FAILED
_IDS_FROM = 10
_BATCHED_FROM = 8
_TOP_LEVEL_ERROR_FROM = 2


def _may(access: Access, operation: Operation, ctx: RequestContext, topic: Any) -> bool:
    """Allows unknown topic ids: the handler returns the error, and ids are not secret."""
    name: str | None = topic.name
    if ctx.version >= _IDS_FROM:
        name = ctx.services.metadata.topic_name(topic.topic_id)
    return name is None or access.topic(operation, name)


# --- committing ----------------------------------------------------------------------------------


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
    if ctx.version >= _BATCHED_FROM:
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


def _unread_old(topic: Any, code: ErrorCode = _TOPIC_DENIED) -> OffsetFetchResponseTopic:
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
    refused = [OffsetFetchResponseGroup(group.group_id, [], _GROUP_DENIED) for group in hidden]
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
        response.groups += refused
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
