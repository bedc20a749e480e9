"""The quota on making and removing partitions (KIP-599): `controller_mutation_rate`.

Whoever is over it is refused with THROTTLING_QUOTA_EXCEEDED in versions that know the code; older
ones are served, told to wait, and not listened to for so long.
"""

from collections.abc import Callable
from typing import Any

from barnabas.broker.access.client_quotas import Meter
from barnabas.broker.access.muting import Muting
from barnabas.broker.access.throttling import Handle, tell
from barnabas.broker.handler import RequestContext, Result
from barnabas.model.error_codes import ErrorCode
from barnabas.wire.api_keys import ApiKey
from barnabas.wire.message import Message
from barnabas.wire.messages.create_partitions import (
    CreatePartitionsRequest,
    CreatePartitionsResponse,
    CreatePartitionsTopicResult,
)
from barnabas.wire.messages.create_topics import (
    CreatableTopicResult,
    CreateTopicsRequest,
    CreateTopicsResponse,
)
from barnabas.wire.messages.delete_topics import (
    DeletableTopicResult,
    DeleteTopicsRequest,
    DeleteTopicsResponse,
)

_CODE = ErrorCode.THROTTLING_QUOTA_EXCEEDED
_REFUSED_FROM = {
    ApiKey.CREATE_TOPICS: 6,
    ApiKey.CREATE_PARTITIONS: 3,
    ApiKey.DELETE_TOPICS: 5,
}
MUTATIONS = frozenset(_REFUSED_FROM)
_STATES_FROM = 6


def limit_mutations(api: ApiKey, serve: Handle, meter: Meter, muting: Muting) -> Handle:
    """A handler of one of the three requests, behind the quota."""
    count, refuse = _COUNTS[api], _REFUSALS[api]

    def handle(ctx: RequestContext, request: Any) -> Result:
        limit = None
        if meter.active and not getattr(request, "validate_only", False):
            limit = meter.limit(ctx.principal.name, ctx.header.client_id or "")
        if limit is None:
            return serve(ctx, request)
        wait_ms = meter.record(limit, 0)
        if wait_ms > 0 and ctx.version >= _REFUSED_FROM[api]:
            muting.mute(ctx.connection, wait_ms)
            return refuse(ctx, request, wait_ms)
        wait_ms = meter.record(limit, count(ctx, request))
        if wait_ms > 0 and ctx.version < _REFUSED_FROM[api]:
            ctx.amend_with(lambda response: tell(response, wait_ms))
            muting.mute(ctx.connection, wait_ms)
        return serve(ctx, request)

    return handle


# --- how many partitions -------------------------------------------------------------------------


def _existing(ctx: RequestContext, name: str | None) -> int:
    return len(ctx.services.metadata.partitions(name or "") or ())


def _created(ctx: RequestContext, request: CreateTopicsRequest) -> int:
    default = ctx.services.layers.broker_value("num.partitions")
    return sum(
        len(topic.assignments) or (topic.num_partitions if topic.num_partitions > 0 else default)
        for topic in request.topics
    )


def _added(ctx: RequestContext, request: CreatePartitionsRequest) -> int:
    return sum(max(topic.count - _existing(ctx, topic.name), 0) for topic in request.topics)


def _names(ctx: RequestContext, request: DeleteTopicsRequest) -> list[str | None]:
    if ctx.version < _STATES_FROM:
        return list(request.topic_names)
    by_id = ctx.services.metadata.topic_name
    return [item.name if item.name is not None else by_id(item.topic_id) for item in request.topics]


def _deleted(ctx: RequestContext, request: DeleteTopicsRequest) -> int:
    return sum(_existing(ctx, name) for name in _names(ctx, request))


# --- refusals ------------------------------------------------------------------------------------


def _not_created(ctx: RequestContext, request: CreateTopicsRequest, wait_ms: int) -> Message:
    results = [
        CreatableTopicResult(
            topic.name, error_code=_CODE, error_message=_CODE.explanation, configs=[]
        )
        for topic in request.topics
    ]
    return CreateTopicsResponse(wait_ms, results)


def _not_added(ctx: RequestContext, request: CreatePartitionsRequest, wait_ms: int) -> Message:
    results = [
        CreatePartitionsTopicResult(topic.name, _CODE, _CODE.explanation)
        for topic in request.topics
    ]
    return CreatePartitionsResponse(wait_ms, results)


def _not_deleted(ctx: RequestContext, request: DeleteTopicsRequest, wait_ms: int) -> Message:
    if ctx.version < _STATES_FROM:
        results = [
            DeletableTopicResult(name, error_code=_CODE, error_message=_CODE.explanation)
            for name in request.topic_names
        ]
    else:
        results = [
            DeletableTopicResult(item.name, item.topic_id, _CODE, _CODE.explanation)
            for item in request.topics
        ]
    return DeleteTopicsResponse(wait_ms, results)


_COUNTS: dict[ApiKey, Callable[[RequestContext, Any], int]] = {
    ApiKey.CREATE_TOPICS: _created,
    ApiKey.CREATE_PARTITIONS: _added,
    ApiKey.DELETE_TOPICS: _deleted,
}
_REFUSALS: dict[ApiKey, Callable[[RequestContext, Any, int], Message]] = {
    ApiKey.CREATE_TOPICS: _not_created,
    ApiKey.CREATE_PARTITIONS: _not_added,
    ApiKey.DELETE_TOPICS: _not_deleted,
}
