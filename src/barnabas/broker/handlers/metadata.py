"""Handlers of the metadata APIs: Metadata, DescribeTopicPartitions, DescribeCluster."""

from collections.abc import Awaitable
from typing import Protocol

from barnabas.broker.config_layers import ConfigLayers
from barnabas.broker.error_responses import error_response
from barnabas.broker.handler import (
    ApiHandler,
    HandlerContext,
    RequestContext,
    RequestPorts,
    Result,
)
from barnabas.broker.metadata_cache import MetadataCache
from barnabas.broker.topics import Topics, TopicSpec
from barnabas.model.control import PartitionState
from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BrokerError
from barnabas.model.ids import INTERNAL_TOPICS, NO_BROKER, ZERO_UUID, topic_name_problem
from barnabas.runtime.slices import in_slices
from barnabas.security.acl import NOT_REQUESTED, ResourceType, all_operations
from barnabas.wire.api_keys import ApiKey
from barnabas.wire.messages.describe_cluster import (
    DescribeClusterBroker,
    DescribeClusterRequest,
    DescribeClusterResponse,
)
from barnabas.wire.messages.describe_topic_partitions import (
    Cursor,
    DescribeTopicPartitionsRequest,
    DescribeTopicPartitionsResponse,
    DescribeTopicPartitionsResponsePartition,
    DescribeTopicPartitionsResponseTopic,
)
from barnabas.wire.messages.metadata import (
    MetadataRequest,
    MetadataRequestTopic,
    MetadataResponse,
    MetadataResponseBroker,
    MetadataResponsePartition,
    MetadataResponseTopic,
)
from barnabas.zk.tree import TreeError


class MetadataPorts(RequestPorts, Protocol):
    """Parts of the broker that Metadata uses."""

    cluster_id: str
    layers: ConfigLayers
    topics: Topics


class DescribeClusterPorts(RequestPorts, Protocol):
    """Parts of the broker that DescribeCluster uses."""

    cluster_id: str


# --- Metadata -------------------------------------------------------------------------------------


# v10 and v11 have topic ids, but only names are allowed in requests.
_IDS_WITHOUT_LOOKUP = (10, 11)
# Time that the response waits for the leaders of a new topic. Without this wait, clients would
# repeat the request after their retry backoff.
_CREATION_WAIT_MS = 2000
_MANY_PARTITIONS = 250
_MANY_TOPICS = 50
"""Up to these numbers a response is made at once, in 1 to 2 ms."""
_NO_ERROR = ErrorCode.NONE  # looked up once: it is used for each partition


def handle_metadata(ctx: HandlerContext[MetadataPorts], request: MetadataRequest) -> Result:
    """Returns brokers, controller and leaders; creates missing topics if allowed.

    v0 an empty list means all topics; v1 null means all topics, controller id; v2 cluster id; v4
    flag to allow the creation of topics; v5 offline replicas; v7 leader epochs; v8 authorized
    operations; v9 flexible; v10 topic ids; v12 topics by id; v13 a top-level error.
    """
    if ctx.version in _IDS_WITHOUT_LOOKUP and _names_topic_ids(request):
        return error_response(request, ErrorCode.INVALID_REQUEST)
    missing = _topics_to_create(ctx, request)
    if missing:
        return _create_and_respond(ctx, request, missing)
    requested = _requested_topics(ctx, request)
    if _is_large(ctx, requested):
        return _respond_in_slices(ctx, request, requested)
    return _response(ctx, request, requested, {})


def _names_topic_ids(request: MetadataRequest) -> bool:
    return any(t.name is None or t.topic_id != ZERO_UUID for t in request.topics or ())


def _is_large(ctx: HandlerContext[MetadataPorts], requested: list[MetadataRequestTopic]) -> bool:
    if len(requested) > _MANY_TOPICS:
        return True
    counts = (ctx.services.metadata.partitions(topic.name or "") or () for topic in requested)
    return sum(map(len, counts)) > _MANY_PARTITIONS


async def _respond_in_slices(
    ctx: HandlerContext[MetadataPorts],
    request: MetadataRequest,
    requested: list[MetadataRequestTopic],
) -> MetadataResponse:
    """Returns the response of many partitions, which takes too long for one turn of the loop."""
    metadata = ctx.services.metadata
    response = _response(ctx, request, [], {})
    reachable = {broker.node_id for broker in response.brokers}
    partitions: list[tuple[MetadataResponseTopic, PartitionState]] = []
    async for one in in_slices(requested):
        topic = _topic(ctx, one, {})
        _add_operations(topic, request)
        response.topics.append(topic)
        partitions += [(topic, state) for state in _states(metadata, topic)]
    async for topic, state in in_slices(partitions):
        topic.partitions.append(_partition(metadata, state, reachable))
    return response


def _response(
    ctx: HandlerContext[MetadataPorts],
    request: MetadataRequest,
    requested: list[MetadataRequestTopic],
    failed: dict[str, ErrorCode],
) -> MetadataResponse:
    metadata = ctx.services.metadata
    brokers = _brokers(ctx)
    reachable = {broker.node_id for broker in brokers}
    topics = [_topic(ctx, one, failed) for one in requested]
    for topic in topics:
        topic.partitions = [_partition(metadata, s, reachable) for s in _states(metadata, topic)]
        _add_operations(topic, request)
    response = MetadataResponse(
        brokers=brokers,
        cluster_id=ctx.services.cluster_id,
        controller_id=metadata.controller_id,
        topics=topics,
    )
    if request.include_cluster_authorized_operations:
        response.cluster_authorized_operations = all_operations(ResourceType.CLUSTER)
    return response


def _add_operations(topic: MetadataResponseTopic, request: MetadataRequest) -> None:
    exists = topic.error_code != ErrorCode.UNKNOWN_TOPIC_ID
    if exists and request.include_topic_authorized_operations:
        topic.topic_authorized_operations = all_operations(ResourceType.TOPIC)


def _requested_topics(
    ctx: HandlerContext[MetadataPorts], request: MetadataRequest
) -> list[MetadataRequestTopic]:
    if request.topics is None or (ctx.version == 0 and not request.topics):
        return [MetadataRequestTopic(name=name) for name in ctx.services.metadata.topics()]
    if len(request.topics) == 1:
        return request.topics
    return list({(topic.name, topic.topic_id): topic for topic in request.topics}.values())


def _brokers(ctx: HandlerContext[MetadataPorts]) -> list[MetadataResponseBroker]:
    found = []
    for broker in ctx.services.metadata.brokers():
        endpoint = ctx.endpoint_of(broker)
        if endpoint is not None:
            found.append(
                MetadataResponseBroker(broker.broker_id, endpoint.host, endpoint.port, broker.rack)
            )
    return found


def _topic(
    ctx: HandlerContext[MetadataPorts],
    requested: MetadataRequestTopic,
    failed: dict[str, ErrorCode],
) -> MetadataResponseTopic:
    """Returns a topic without its partitions, or with the reason why there is none."""
    metadata = ctx.services.metadata
    name = requested.name
    if name is None or (name == "" and requested.topic_id != ZERO_UUID):
        # Java's consumers send an empty name together with the id, not null.
        name = metadata.topic_name(requested.topic_id)
        if name is None:
            return MetadataResponseTopic(ErrorCode.UNKNOWN_TOPIC_ID, None, requested.topic_id)
    if not metadata.has_topic(name):
        return MetadataResponseTopic(_unknown_topic_code(name, failed), name)
    topic_id = metadata.topic_id(name) or ZERO_UUID
    return MetadataResponseTopic(0, name, topic_id, name in INTERNAL_TOPICS)


def _states(metadata: MetadataCache, topic: MetadataResponseTopic) -> list[PartitionState]:
    """Returns the partitions of a topic by number; none if the topic has an error."""
    if topic.error_code or topic.name is None:
        return []
    return [state for _, state in sorted((metadata.partitions(topic.name) or {}).items())]


def _unknown_topic_code(name: str, failed: dict[str, ErrorCode]) -> ErrorCode:
    if topic_name_problem(name) is not None:
        return ErrorCode.INVALID_TOPIC_EXCEPTION
    return failed.get(name, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)


def _partition(
    metadata: MetadataCache, state: PartitionState, reachable: set[int]
) -> MetadataResponsePartition:
    """Returns a partition; `reachable` are the brokers with an address on the client's listener."""
    leader = state.leader
    error = _NO_ERROR
    if leader not in reachable:
        alive = metadata.is_alive(leader)
        error = ErrorCode.LISTENER_NOT_FOUND if alive else ErrorCode.LEADER_NOT_AVAILABLE
        leader = NO_BROKER
    offline: list[int] = list(state.offline_replicas)
    for replica in state.replicas:
        if not metadata.is_alive(replica) and replica not in offline:
            offline.append(replica)
    return MetadataResponsePartition(
        error,
        state.topic_partition.partition,
        leader,
        state.leader_epoch,
        list(state.replicas),
        list(state.isr),
        offline,
    )


# --- automatic creation of topics --------------------------------------------------------------


def _topics_to_create(ctx: HandlerContext[MetadataPorts], request: MetadataRequest) -> list[str]:
    services = ctx.services
    if not request.topics or not request.allow_auto_topic_creation:
        return []
    if not services.config["auto.create.topics.enable"]:
        return []
    names = dict.fromkeys(topic.name for topic in request.topics if topic.name is not None)
    return [
        name
        for name in names
        if not services.metadata.has_topic(name)
        and name not in INTERNAL_TOPICS
        and topic_name_problem(name) is None
    ]


def _create_and_respond(
    ctx: HandlerContext[MetadataPorts], request: MetadataRequest, missing: list[str]
) -> Awaitable[MetadataResponse]:
    async def create() -> MetadataResponse:
        failed = {}
        for name in missing:
            failed[name] = await _create_topic(ctx, name)
        return _response(ctx, request, _requested_topics(ctx, request), failed)

    return create()


async def _create_topic(ctx: HandlerContext[MetadataPorts], name: str) -> ErrorCode:
    topics = ctx.services.topics
    partitions = ctx.services.layers.broker_value("num.partitions")
    try:
        try:
            partitions = (await topics.create(TopicSpec(name))).partitions
        except BrokerError as error:
            if error.code is not ErrorCode.TOPIC_ALREADY_EXISTS:
                return error.code
            partitions = 1  # created concurrently, number of partitions unknown
        await topics.wait_for_leaders(name, partitions, _CREATION_WAIT_MS)
    except (BrokerError, TreeError):
        return ErrorCode.LEADER_NOT_AVAILABLE
    return ErrorCode.NONE


# --- DescribeTopicPartitions ----------------------------------------------------------------------


# Kafka's default of max.request.partition.size.limit (KIP-966). The encoding of a full page takes
# 3 ms.
_MAX_PARTITIONS_PER_PAGE = 2000
_PagePartition = tuple[DescribeTopicPartitionsResponseTopic, PartitionState]
"""A partition of a page and the topic of the response to which it belongs."""


async def handle_describe_topic_partitions(
    ctx: RequestContext, request: DescribeTopicPartitionsRequest
) -> DescribeTopicPartitionsResponse:
    """Returns the partitions of topics in pages (KIP-966).

    An empty list means all topics. Topics are sorted by name. A page ends after
    `response_partition_limit` partitions; the cursor is the first partition of the next page.
    """
    metadata = ctx.services.metadata
    requested = {topic.name for topic in request.topics} or set(metadata.topics())
    if request.cursor is not None and not _is_valid_cursor(request.cursor, request):
        rejected = [_invalid_cursor(topic.name) for topic in request.topics]
        return DescribeTopicPartitionsResponse(topics=rejected)
    first = request.cursor.topic_name if request.cursor is not None else ""
    names = sorted(name for name in requested if name >= first)
    limit = min(max(request.response_partition_limit, 1), _MAX_PARTITIONS_PER_PAGE)
    response = DescribeTopicPartitionsResponse()
    partitions: list[_PagePartition] = []
    async for name in in_slices(names):
        start = 0
        if request.cursor is not None and name == first:
            start = request.cursor.partition_index
        if len(partitions) >= limit:
            response.next_cursor = Cursor(name, 0)
            break
        topic = _described_topic(ctx, name)
        response.topics.append(topic)
        known = metadata.partitions(name) or {}
        numbers = [number for number in sorted(known) if number >= start]
        room = limit - len(partitions)
        partitions += [(topic, known[number]) for number in numbers[:room]]
        if len(numbers) > room:
            response.next_cursor = Cursor(name, numbers[room])
            break
    async for topic, state in in_slices(partitions):
        topic.partitions.append(_described_partition(ctx, state))
    return response


def _is_valid_cursor(cursor: Cursor, request: DescribeTopicPartitionsRequest) -> bool:
    """Whether the cursor fits the request; its topic may have been deleted since."""
    named = {topic.name for topic in request.topics}
    return cursor.partition_index >= 0 and (not named or cursor.topic_name in named)


def _invalid_cursor(name: str) -> DescribeTopicPartitionsResponseTopic:
    return DescribeTopicPartitionsResponseTopic(ErrorCode.INVALID_REQUEST, name)


def _described_topic(ctx: RequestContext, name: str) -> DescribeTopicPartitionsResponseTopic:
    """Returns a topic without its partitions, or with the reason why there is none."""
    metadata = ctx.services.metadata
    if not metadata.has_topic(name):
        code = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        if topic_name_problem(name) is not None:
            code = ErrorCode.INVALID_TOPIC_EXCEPTION
        return DescribeTopicPartitionsResponseTopic(code, name)
    return DescribeTopicPartitionsResponseTopic(
        0,
        name,
        metadata.topic_id(name) or ZERO_UUID,
        name in INTERNAL_TOPICS,
        topic_authorized_operations=all_operations(ResourceType.TOPIC),
    )


def _described_partition(
    ctx: RequestContext, state: PartitionState
) -> DescribeTopicPartitionsResponsePartition:
    metadata = ctx.services.metadata
    alive = metadata.is_alive(state.leader)
    return DescribeTopicPartitionsResponsePartition(
        error_code=0 if alive else ErrorCode.LEADER_NOT_AVAILABLE,
        partition_index=state.topic_partition.partition,
        leader_id=state.leader if alive else -1,
        leader_epoch=state.leader_epoch,
        replica_nodes=list(state.replicas),
        isr_nodes=list(state.isr),
        eligible_leader_replicas=[],
        last_known_elr=[],
        offline_replicas=[r for r in state.replicas if not metadata.is_alive(r)],
    )


# --- DescribeCluster ------------------------------------------------------------------------------


_BROKER_ENDPOINTS, _CONTROLLER_ENDPOINTS = 1, 2


def handle_describe_cluster(
    ctx: HandlerContext[DescribeClusterPorts], request: DescribeClusterRequest
) -> Result:
    """Returns the cluster id, the controller and the brokers.

    v1 endpoint type; v2 fenced brokers, which exist only with KRaft.
    """
    services = ctx.services
    if request.endpoint_type != _BROKER_ENDPOINTS:
        code = ErrorCode.UNSUPPORTED_ENDPOINT_TYPE
        if request.endpoint_type == _CONTROLLER_ENDPOINTS:
            code = ErrorCode.MISMATCHED_ENDPOINT_TYPE
        text = "this cluster has no controller endpoints: it does not use KRaft"
        return DescribeClusterResponse(error_code=code, error_message=text)
    brokers = []
    for broker in services.metadata.brokers():
        endpoint = ctx.endpoint_of(broker)
        if endpoint is not None:
            brokers.append(
                DescribeClusterBroker(broker.broker_id, endpoint.host, endpoint.port, broker.rack)
            )
    return DescribeClusterResponse(
        cluster_id=services.cluster_id,
        controller_id=services.metadata.controller_id,
        brokers=brokers,
        cluster_authorized_operations=(
            all_operations(ResourceType.CLUSTER)
            if request.include_cluster_authorized_operations
            else NOT_REQUESTED
        ),
    )


HANDLERS = (
    ApiHandler(ApiKey.METADATA, (0, 13), handle_metadata),
    ApiHandler(ApiKey.DESCRIBE_TOPIC_PARTITIONS, (0, 0), handle_describe_topic_partitions),
    ApiHandler(ApiKey.DESCRIBE_CLUSTER, (0, 2), handle_describe_cluster),
)
