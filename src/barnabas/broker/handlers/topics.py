"""Handlers that change the set of topics: CreateTopics, CreatePartitions, DeleteTopics."""

from collections import Counter
from typing import Protocol, cast

from barnabas.broker.config_layers import ConfigLayers
from barnabas.broker.error_responses import code_and_message
from barnabas.broker.handler import ApiHandler, HandlerContext, RequestPorts
from barnabas.broker.topics import DEFAULT, TopicCreation, Topics, TopicSpec
from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BrokerError
from barnabas.model.ids import ZERO_UUID, BrokerId, Uuid
from barnabas.runtime.clock import Clock
from barnabas.runtime.slices import in_slices
from barnabas.wire.api_keys import ApiKey
from barnabas.wire.messages.create_partitions import (
    CreatePartitionsRequest,
    CreatePartitionsResponse,
    CreatePartitionsTopic,
    CreatePartitionsTopicResult,
)
from barnabas.wire.messages.create_topics import (
    CreatableTopic,
    CreatableTopicConfigs,
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
from barnabas.zk.tree import TreeError


class CreateTopicsPorts(RequestPorts, Protocol):
    """Parts of the broker that CreateTopics uses."""

    clock: Clock
    layers: ConfigLayers
    topics: Topics


class CreatePartitionsPorts(RequestPorts, Protocol):
    """Parts of the broker that CreatePartitions uses."""

    topics: Topics


class DeleteTopicsPorts(RequestPorts, Protocol):
    """Parts of the broker that DeleteTopics uses."""

    clock: Clock
    topics: Topics


# --- CreateTopics ---------------------------------------------------------------------------------


_CONFIGS_FROM = 5
_Described = dict[frozenset[tuple[str, str]], list[CreatableTopicConfigs]]

MAX_PARTITIONS_PER_REQUEST = 10_000
"""Kafka's limit for all topics of one request; above it the error is POLICY_VIOLATION.

A request for a single topic may exceed it, up to the size limit of the topic's node."""


async def handle_create_topics(
    ctx: HandlerContext[CreateTopicsPorts], request: CreateTopicsRequest
) -> CreateTopicsResponse:
    """Responds when the new partitions have leaders, or at the timeout.

    v2 first served; v4 defaults for partitions and replication factor; v5 flexible, returns the
    configuration; v6 quota errors; v7 topic ids.
    """
    deadline_ms = ctx.services.clock.monotonic_ms() + request.timeout_ms
    named: Counter[str] = Counter()
    partitions = 0
    async for topic in in_slices(request.topics):
        named[topic.name] += 1
        partitions += _count_partitions(ctx, topic)
    if len(named) > 1 and partitions > MAX_PARTITIONS_PER_REQUEST:
        return await _reject_all(list(named))
    results = []
    described: _Described = {}
    async for topic in in_slices({topic.name: topic for topic in request.topics}.values()):
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
            _fail_creation(result, error)
        except TreeError as error:
            _fail_creation(result, BrokerError(ErrorCode.REQUEST_TIMED_OUT, str(error)))
    if not request.validate_only:
        await _wait_for_leaders(ctx, results, deadline_ms)
    return CreateTopicsResponse(topics=results)


def _count_partitions(ctx: HandlerContext[CreateTopicsPorts], topic: CreatableTopic) -> int:
    if topic.assignments or topic.num_partitions > 0:
        return len(topic.assignments) or topic.num_partitions
    default: int = ctx.services.layers.broker_value("num.partitions")
    return default


async def _reject_all(names: list[str]) -> CreateTopicsResponse:
    code = ErrorCode.POLICY_VIOLATION
    text = f"the request creates more than {MAX_PARTITIONS_PER_REQUEST} partitions"
    response = CreateTopicsResponse()
    async for name in in_slices(names):
        response.topics.append(CreatableTopicResult(name, error_code=code, error_message=text))
    return response


def _new_topic(topic: CreatableTopic) -> TopicSpec:
    assignment = {
        item.partition_index: cast(tuple[BrokerId, ...], tuple(item.broker_ids))
        for item in topic.assignments
    }
    if len(assignment) != len(topic.assignments):
        raise BrokerError(ErrorCode.INVALID_REPLICA_ASSIGNMENT, "a partition is repeated")
    configs = {item.name: item.value for item in topic.configs}
    return TopicSpec(
        topic.name, topic.num_partitions, topic.replication_factor, assignment, configs
    )


def _describe(
    ctx: HandlerContext[CreateTopicsPorts],
    result: CreatableTopicResult,
    created: TopicCreation,
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


def _fail_creation(result: CreatableTopicResult, error: BrokerError) -> None:
    result.error_code = error.code
    result.error_message = error.message
    result.topic_id = ZERO_UUID
    result.num_partitions = result.replication_factor = DEFAULT
    result.configs = []


async def _wait_for_leaders(
    ctx: HandlerContext[CreateTopicsPorts], results: list[CreatableTopicResult], deadline_ms: int
) -> None:
    for result in results:
        if result.error_code:
            continue
        left_ms = deadline_ms - ctx.services.clock.monotonic_ms()
        try:
            await ctx.services.topics.wait_for_leaders(result.name, result.num_partitions, left_ms)
        except BrokerError as error:
            _fail_creation(result, error)


# --- CreatePartitions -----------------------------------------------------------------------------


async def handle_create_partitions(
    ctx: HandlerContext[CreatePartitionsPorts], request: CreatePartitionsRequest
) -> CreatePartitionsResponse:
    """Increases the number of partitions of topics.

    v2 flexible; v3 quota errors.
    """
    named = Counter(topic.name for topic in request.topics)
    results = []
    async for topic in in_slices({topic.name: topic for topic in request.topics}.values()):
        result = CreatePartitionsTopicResult(topic.name)
        results.append(result)
        try:
            if named[topic.name] > 1:
                raise BrokerError(ErrorCode.INVALID_REQUEST, f"topic {topic.name} is repeated")
            await _add_partitions(ctx, topic, request)
        except (BrokerError, TreeError) as error:
            result.error_code, result.error_message = code_and_message(error)
    return CreatePartitionsResponse(results=results)


async def _add_partitions(
    ctx: HandlerContext[CreatePartitionsPorts],
    topic: CreatePartitionsTopic,
    request: CreatePartitionsRequest,
) -> None:
    ctx.require_controller()
    assignments = None
    if topic.assignments is not None:
        assignments = [
            cast(tuple[BrokerId, ...], tuple(item.broker_ids)) for item in topic.assignments
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


# --- DeleteTopics ---------------------------------------------------------------------------------


_TOPIC_IDS_FROM = 6


async def handle_delete_topics(
    ctx: HandlerContext[DeleteTopicsPorts], request: DeleteTopicsRequest
) -> DeleteTopicsResponse:
    """Deletes topics by name or id; responds when the deletion is complete.

    v4 flexible; v5 error messages; v6 topic ids.
    """
    deadline_ms = ctx.services.clock.monotonic_ms() + request.timeout_ms
    requested = request.topics
    if ctx.version < _TOPIC_IDS_FROM:
        requested = [DeleteTopicState(name=name) for name in request.topic_names]
    named = Counter(_name_or_id(ctx, topic) for topic in requested)
    results = []
    different = {(topic.name, topic.topic_id): topic for topic in requested}
    async for topic in in_slices(different.values()):
        results.append(await _delete(ctx, topic, named[_name_or_id(ctx, topic)]))
    async for result in in_slices(results):
        if result.error_code or result.name is None:
            continue
        left_ms = deadline_ms - ctx.services.clock.monotonic_ms()
        try:
            await ctx.services.topics.wait_until_gone(result.name, result.topic_id, left_ms)
        except (BrokerError, TreeError) as error:
            result.error_code, result.error_message = code_and_message(error)
    return DeleteTopicsResponse(responses=results)


def _name_or_id(ctx: HandlerContext[DeleteTopicsPorts], topic: DeleteTopicState) -> str | Uuid:
    """Returns the name of the topic, or its id if no topic has this id."""
    if topic.name is not None:
        return topic.name
    return ctx.services.metadata.topic_name(topic.topic_id) or topic.topic_id


async def _delete(
    ctx: HandlerContext[DeleteTopicsPorts], topic: DeleteTopicState, times: int
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
    except (BrokerError, TreeError) as error:
        result.error_code, result.error_message = code_and_message(error)
    return result


HANDLERS = (
    ApiHandler(ApiKey.CREATE_TOPICS, (2, 7), handle_create_topics),
    ApiHandler(ApiKey.CREATE_PARTITIONS, (0, 3), handle_create_partitions),
    ApiHandler(ApiKey.DELETE_TOPICS, (1, 6), handle_delete_topics),
)
