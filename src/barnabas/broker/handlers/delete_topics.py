"""DeleteTopics: deletes topics by name or id; responds when the deletion is complete.

v4 flexible; v5 error messages; v6 topic ids.
"""

from collections import Counter
from typing import Protocol

from barnabas.broker.handler import ApiHandler, HandlerContext, RequestPorts
from barnabas.broker.topics import Topics
from barnabas.model.clock import Clock
from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BrokerError
from barnabas.model.ids import ZERO_UUID, Uuid
from barnabas.wire.api_keys import ApiKey
from barnabas.wire.messages.delete_topics import (
    DeletableTopicResult,
    DeleteTopicsRequest,
    DeleteTopicsResponse,
    DeleteTopicState,
)
from barnabas.zk.tree import TreeError

_STATES_FROM = 6


class Ports(RequestPorts, Protocol):
    """Parts of the broker that this handler uses."""

    clock: Clock
    topics: Topics


async def handle_delete_topics(
    ctx: HandlerContext[Ports], request: DeleteTopicsRequest
) -> DeleteTopicsResponse:
    deadline_ms = ctx.services.clock.monotonic_ms() + request.timeout_ms
    asked = request.topics
    if ctx.version < _STATES_FROM:
        asked = [DeleteTopicState(name=name) for name in request.topic_names]
    named = Counter(_named(ctx, topic) for topic in asked)
    results = [
        await _delete(ctx, topic, named[_named(ctx, topic)])
        for topic in {(topic.name, topic.topic_id): topic for topic in asked}.values()
    ]
    for result in results:
        if result.error_code or result.name is None:
            continue
        left_ms = deadline_ms - ctx.services.clock.monotonic_ms()
        try:
            await ctx.services.topics.wait_until_gone(result.name, result.topic_id, left_ms)
        except BrokerError as error:
            result.error_code, result.error_message = error.code, error.message
        except TreeError as error:
            result.error_code, result.error_message = ErrorCode.REQUEST_TIMED_OUT, str(error)
    return DeleteTopicsResponse(responses=results)


def _named(ctx: HandlerContext[Ports], topic: DeleteTopicState) -> str | Uuid:
    """Returns the name of the topic, or its id if no topic has this id."""
    if topic.name is not None:
        return topic.name
    return ctx.services.metadata.topic_name(topic.topic_id) or topic.topic_id


async def _delete(
    ctx: HandlerContext[Ports], topic: DeleteTopicState, times: int
) -> DeletableTopicResult:
    metadata = ctx.services.metadata
    result = DeletableTopicResult(topic.name, topic.topic_id)
    try:
        ctx.require_controller()
        if (topic.name is None) is (topic.topic_id == ZERO_UUID):
            raise BrokerError(ErrorCode.INVALID_REQUEST, "each topic needs either a name or an id")
        if times > 1:
            raise BrokerError(ErrorCode.INVALID_REQUEST, "the topic is repeated")
        name = topic.name if topic.name is not None else metadata.topic_name(topic.topic_id)
        if name is None:
            raise BrokerError(ErrorCode.UNKNOWN_TOPIC_ID)
        result.name, result.topic_id = name, metadata.topic_id(name) or ZERO_UUID
        await ctx.services.topics.delete(name, ctx.charge)
    except BrokerError as error:
        result.error_code, result.error_message = error.code, error.message
    except TreeError as error:
        result.error_code, result.error_message = ErrorCode.REQUEST_TIMED_OUT, str(error)
    return result


HANDLER = ApiHandler(ApiKey.DELETE_TOPICS, (1, 6), handle_delete_topics)
