"""FindCoordinator: returns the coordinator of a group or a transactional id.

v1 key types; v3 flexible; v4 several keys; v5 a transaction error that older clients do not
support; v6 share groups, which are not served. The first request creates the internal topic of the
coordinator.
"""

from collections.abc import Sequence
from typing import Protocol

from barnabas.broker.coordinators.internal_topics import InternalTopics
from barnabas.broker.handler import ApiHandler, HandlerContext, RequestPorts, Result
from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BrokerError
from barnabas.model.ids import OFFSETS_TOPIC, TRANSACTIONS_TOPIC
from barnabas.wire.api_keys import ApiKey
from barnabas.wire.messages.find_coordinator import (
    Coordinator,
    FindCoordinatorRequest,
    FindCoordinatorResponse,
)
from barnabas.zk.tree import TreeError

_BATCHED_FROM = 4
_TOPICS = {0: OFFSETS_TOPIC, 1: TRANSACTIONS_TOPIC}


class FindCoordinatorPorts(RequestPorts, Protocol):
    """Parts of the broker that this handler uses."""

    internal_topics: InternalTopics


def handle_find_coordinator(
    ctx: HandlerContext[FindCoordinatorPorts], request: FindCoordinatorRequest
) -> Result:
    batched = ctx.version >= _BATCHED_FROM
    keys = request.coordinator_keys if batched else [request.key]
    topic = _TOPICS.get(request.key_type)
    if topic is None:
        text = f"coordinators of key type {request.key_type} are not supported"
        return _response(ctx, [_missing(key, ErrorCode.INVALID_REQUEST, text) for key in keys])
    if ctx.services.internal_topics.exists(topic):
        return _response(ctx, [_find(ctx, topic, key) for key in keys])
    return _create_and_find(ctx, topic, keys)


async def _create_and_find(
    ctx: HandlerContext[FindCoordinatorPorts], topic: str, keys: Sequence[str]
) -> FindCoordinatorResponse:
    try:
        await ctx.services.internal_topics.ensure(topic)
    except (BrokerError, TreeError) as error:
        code = ErrorCode.COORDINATOR_NOT_AVAILABLE
        return _response(ctx, [_missing(key, code, str(error)) for key in keys])
    return _response(ctx, [_find(ctx, topic, key) for key in keys])


def _find(ctx: HandlerContext[FindCoordinatorPorts], topic: str, key: str) -> Coordinator:
    metadata = ctx.services.metadata
    state = metadata.partition(ctx.services.internal_topics.partition_of(topic, key))
    broker = None if state is None else metadata.broker(state.leader)
    endpoint = None if broker is None else ctx.endpoint_of(broker)
    if broker is None or endpoint is None:
        return _missing(key, ErrorCode.COORDINATOR_NOT_AVAILABLE)
    return Coordinator(key, broker.broker_id, endpoint.host, endpoint.port, 0, None)


def _missing(key: str, code: ErrorCode, text: str | None = None) -> Coordinator:
    return Coordinator(key, -1, "", -1, code, text or code.explanation)


def _response(
    ctx: HandlerContext[FindCoordinatorPorts], found: list[Coordinator]
) -> FindCoordinatorResponse:
    if ctx.version >= _BATCHED_FROM:
        return FindCoordinatorResponse(coordinators=found)
    one = found[0]
    return FindCoordinatorResponse(
        0, one.error_code, one.error_message, one.node_id, one.host, one.port
    )


HANDLERS = (ApiHandler(ApiKey.FIND_COORDINATOR, (0, 6), handle_find_coordinator),)
