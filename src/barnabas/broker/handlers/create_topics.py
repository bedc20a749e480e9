"""CreateTopics: responds when the new partitions have leaders, or at the timeout.

v2 first served; v4 defaults for partitions and replication factor; v5 flexible, returns the
configuration; v6 quota errors; v7 topic ids.
"""

import asyncio
from collections import Counter
from collections.abc import Iterator
from typing import Protocol, TypeVar

from barnabas.broker.config_layers import ConfigLayers
from barnabas.broker.handler import ApiHandler, HandlerContext, RequestPorts
from barnabas.broker.topics import DEFAULT, CreatedTopic, NewTopic, Topics
from barnabas.model.clock import Clock
from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BrokerError
from barnabas.model.ids import ZERO_UUID, BrokerId
from barnabas.wire.api_keys import ApiKey
from barnabas.wire.messages.create_topics import (
    CreatableTopic,
    CreatableTopicConfigs,
    CreatableTopicResult,
    CreateTopicsRequest,
    CreateTopicsResponse,
)
from barnabas.zk.tree import TreeError

_T = TypeVar("_T")
_SLICE = 500
_CONFIGS_FROM = 5
_Described = dict[frozenset[tuple[str, str]], list[CreatableTopicConfigs]]

MAX_PARTITIONS_PER_REQUEST = 10_000
"""Kafka's limit for all topics of one request; above it the error is POLICY_VIOLATION.

A request for a single topic may exceed it, up to the size limit of the topic's node."""


class Ports(RequestPorts, Protocol):
    """Parts of the broker that this handler uses."""

    clock: Clock
    layers: ConfigLayers
    topics: Topics


async def handle_create_topics(
    ctx: HandlerContext[Ports], request: CreateTopicsRequest
) -> CreateTopicsResponse:
    deadline_ms = ctx.services.clock.monotonic_ms() + request.timeout_ms
    named: Counter[str] = Counter()
    partitions = 0
    for topics in _slices(request.topics):
        named.update(topic.name for topic in topics)
        partitions += _count_partitions(ctx, topics)
        await asyncio.sleep(0)  # lets the loop serve other requests
    if len(named) > 1 and partitions > MAX_PARTITIONS_PER_REQUEST:
        return await _refuse_all(list(named))
    results = []
    described: _Described = {}
    for topic in {topic.name: topic for topic in request.topics}.values():
        await asyncio.sleep(0)  # lets the loop serve other requests
        result = CreatableTopicResult(topic.name, error_message=None, configs=[])
        results.append(result)
        try:
            ctx.require_controller()
            if named[topic.name] > 1:
                raise BrokerError(ErrorCode.INVALID_REQUEST, f"topic {topic.name} is repeated")
            created = await ctx.services.topics.create(
                _new_topic(topic), validate_only=request.validate_only, charge=ctx.charge
            )
            _describe(ctx, result, created, described)
        except BrokerError as error:
            _fail(result, error)
        except TreeError as error:
            _fail(result, BrokerError(ErrorCode.REQUEST_TIMED_OUT, str(error)))
    if not request.validate_only:
        await _wait_for_leaders(ctx, results, deadline_ms)
    return CreateTopicsResponse(topics=results)


def _slices(items: list[_T]) -> Iterator[list[_T]]:
    return (items[start : start + _SLICE] for start in range(0, len(items), _SLICE))


def _count_partitions(ctx: HandlerContext[Ports], topics: list[CreatableTopic]) -> int:
    default = ctx.services.layers.broker_value("num.partitions")
    return sum(
        len(topic.assignments) or (default if topic.num_partitions < 1 else topic.num_partitions)
        for topic in topics
    )


async def _refuse_all(names: list[str]) -> CreateTopicsResponse:
    code = ErrorCode.POLICY_VIOLATION
    text = f"the request creates more than {MAX_PARTITIONS_PER_REQUEST} partitions"
    response = CreateTopicsResponse()
    for some in _slices(names):
        response.topics += [
            CreatableTopicResult(name, error_code=code, error_message=text) for name in some
        ]
        await asyncio.sleep(0)
    return response


def _new_topic(topic: CreatableTopic) -> NewTopic:
    assignment = {
        item.partition_index: tuple(BrokerId(broker) for broker in item.broker_ids)
        for item in topic.assignments
    }
    if len(assignment) != len(topic.assignments):
        raise BrokerError(ErrorCode.INVALID_REPLICA_ASSIGNMENT, "a partition is repeated")
    configs = {item.name: item.value for item in topic.configs}
    return NewTopic(topic.name, topic.num_partitions, topic.replication_factor, assignment, configs)


def _describe(
    ctx: HandlerContext[Ports],
    result: CreatableTopicResult,
    created: CreatedTopic,
    described: _Described,
) -> None:
    """Fills in a result; topics with equal settings share one list from `described`."""
    result.topic_id = created.topic_id or ZERO_UUID
    result.num_partitions = created.partitions
    result.replication_factor = created.replication_factor
    if ctx.version < _CONFIGS_FROM:
        return
    given = frozenset(created.configs.items())
    if given not in described:
        described[given] = [
            CreatableTopicConfigs(
                entry.key.name, entry.value, entry.read_only, entry.source, entry.key.sensitive
            )
            for entry in ctx.services.layers.describe_topic_with(created.configs)
        ]
    result.configs = described[given]


def _fail(result: CreatableTopicResult, error: BrokerError) -> None:
    result.error_code = error.code
    result.error_message = error.message
    result.topic_id = ZERO_UUID
    result.num_partitions = result.replication_factor = DEFAULT
    result.configs = []


async def _wait_for_leaders(
    ctx: HandlerContext[Ports], results: list[CreatableTopicResult], deadline_ms: int
) -> None:
    for result in results:
        if result.error_code:
            continue
        left_ms = deadline_ms - ctx.services.clock.monotonic_ms()
        try:
            await ctx.services.topics.wait_for_leaders(result.name, result.num_partitions, left_ms)
        except BrokerError as error:
            _fail(result, error)


HANDLER = ApiHandler(ApiKey.CREATE_TOPICS, (2, 7), handle_create_topics)
