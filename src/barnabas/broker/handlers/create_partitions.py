"""CreatePartitions: increases the number of partitions of topics.

v2 flexible; v3 quota errors.
"""

from collections import Counter
from typing import Protocol

from barnabas.broker.handler import ApiHandler, HandlerContext, RequestPorts
from barnabas.broker.topics import Topics
from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BrokerError
from barnabas.model.ids import BrokerId
from barnabas.wire.api_keys import ApiKey
from barnabas.wire.messages.create_partitions import (
    CreatePartitionsRequest,
    CreatePartitionsResponse,
    CreatePartitionsTopic,
    CreatePartitionsTopicResult,
)
from barnabas.zk.tree import TreeError


class Ports(RequestPorts, Protocol):
    """Parts of the broker that this handler uses."""

    topics: Topics


async def handle_create_partitions(
    ctx: HandlerContext[Ports], request: CreatePartitionsRequest
) -> CreatePartitionsResponse:
    named = Counter(topic.name for topic in request.topics)
    results = []
    for topic in {topic.name: topic for topic in request.topics}.values():
        result = CreatePartitionsTopicResult(topic.name)
        results.append(result)
        try:
            if named[topic.name] > 1:
                raise BrokerError(ErrorCode.INVALID_REQUEST, f"topic {topic.name} is repeated")
            await _grow(ctx, topic, request)
        except BrokerError as error:
            result.error_code, result.error_message = error.code, error.message
        except TreeError as error:
            result.error_code, result.error_message = ErrorCode.REQUEST_TIMED_OUT, str(error)
    return CreatePartitionsResponse(results=results)


async def _grow(
    ctx: HandlerContext[Ports], topic: CreatePartitionsTopic, request: CreatePartitionsRequest
) -> None:
    ctx.require_controller()
    assignments = None
    if topic.assignments is not None:
        assignments = [
            tuple(BrokerId(broker) for broker in item.broker_ids) for item in topic.assignments
        ]
    topics = ctx.services.topics
    await topics.add_partitions(
        topic.name,
        topic.count,
        assignments,
        validate_only=request.validate_only,
        charge=ctx.charge,
    )
    if not request.validate_only:
        await topics.wait_for_leaders(topic.name, topic.count, request.timeout_ms)


HANDLER = ApiHandler(ApiKey.CREATE_PARTITIONS, (0, 3), handle_create_partitions)
