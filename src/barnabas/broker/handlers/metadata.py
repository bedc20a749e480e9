"""Metadata: returns brokers, controller and leaders; creates missing topics if allowed.

v0 an empty list means all topics; v1 null means all topics, controller id; v2 cluster id; v4 flag
to allow the creation of topics; v5 offline replicas; v7 leader epochs; v8 authorized operations;
v9 flexible; v10 topic ids; v12 topics by id; v13 a top-level error.
"""

from collections.abc import Awaitable
from typing import Protocol

from barnabas.broker.authorized_operations import ALL_ON_CLUSTER, ALL_ON_TOPIC
from barnabas.broker.config_layers import ConfigLayers
from barnabas.broker.error_responses import error_response
from barnabas.broker.handler import ApiHandler, HandlerContext, RequestPorts, Result
from barnabas.broker.topics import NewTopic, Topics
from barnabas.model.control import PartitionState
from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BrokerError
from barnabas.model.ids import ZERO_UUID
from barnabas.model.topic_names import INTERNAL_TOPICS, topic_name_problem
from barnabas.wire.api_keys import ApiKey
from barnabas.wire.messages.metadata import (
    MetadataRequest,
    MetadataRequestTopic,
    MetadataResponse,
    MetadataResponseBroker,
    MetadataResponsePartition,
    MetadataResponseTopic,
)
from barnabas.zk.tree import TreeError

# v10 and v11 have topic ids, but only names are allowed in requests.
_IDS_WITHOUT_LOOKUP = (10, 11)
# Time that the response waits for the leaders of a new topic. Without this wait, clients would
# repeat the request after their retry backoff.
_CREATION_WAIT_MS = 2000


class Ports(RequestPorts, Protocol):
    """Parts of the broker that this handler uses."""

    cluster_id: str
    layers: ConfigLayers
    topics: Topics


def handle_metadata(ctx: HandlerContext[Ports], request: MetadataRequest) -> Result:
    if ctx.version in _IDS_WITHOUT_LOOKUP and _asks_by_id(request):
        return error_response(request, ErrorCode.INVALID_REQUEST)
    missing = _to_create(ctx, request)
    if missing:
        return _create_and_answer(ctx, request, missing)
    return _answer(ctx, request, {})


def _asks_by_id(request: MetadataRequest) -> bool:
    return any(t.name is None or t.topic_id != ZERO_UUID for t in request.topics or ())


def _answer(
    ctx: HandlerContext[Ports], request: MetadataRequest, failed: dict[str, ErrorCode]
) -> MetadataResponse:
    services = ctx.services
    response = MetadataResponse(
        brokers=_brokers(ctx),
        cluster_id=services.cluster_id,
        controller_id=services.metadata.controller_id,
        topics=[_topic(ctx, asked, failed) for asked in _asked(ctx, request)],
    )
    if request.include_cluster_authorized_operations:
        response.cluster_authorized_operations = ALL_ON_CLUSTER
    if request.include_topic_authorized_operations:
        for topic in response.topics:
            if topic.error_code != ErrorCode.UNKNOWN_TOPIC_ID:
                topic.topic_authorized_operations = ALL_ON_TOPIC
    return response


def _asked(ctx: HandlerContext[Ports], request: MetadataRequest) -> list[MetadataRequestTopic]:
    if request.topics is None or (ctx.version == 0 and not request.topics):
        return [MetadataRequestTopic(name=name) for name in ctx.services.metadata.topics()]
    if len(request.topics) == 1:
        return request.topics
    return list({(topic.name, topic.topic_id): topic for topic in request.topics}.values())


def _brokers(ctx: HandlerContext[Ports]) -> list[MetadataResponseBroker]:
    found = []
    for broker in ctx.services.metadata.brokers():
        endpoint = ctx.endpoint_of(broker)
        if endpoint is not None:
            found.append(
                MetadataResponseBroker(broker.broker_id, endpoint.host, endpoint.port, broker.rack)
            )
    return found


def _topic(
    ctx: HandlerContext[Ports], asked: MetadataRequestTopic, failed: dict[str, ErrorCode]
) -> MetadataResponseTopic:
    metadata = ctx.services.metadata
    name = asked.name
    if name is None or (name == "" and asked.topic_id != ZERO_UUID):
        # Java's consumers send an empty name together with the id, not null.
        name = metadata.topic_name(asked.topic_id)
        if name is None:
            return MetadataResponseTopic(ErrorCode.UNKNOWN_TOPIC_ID, None, asked.topic_id)
    partitions = metadata.partitions(name)
    if partitions is None:
        return MetadataResponseTopic(_why_unknown(name, failed), name)
    return MetadataResponseTopic(
        0,
        name,
        metadata.topic_id(name) or ZERO_UUID,
        name in INTERNAL_TOPICS,
        [_partition(ctx, state) for _, state in sorted(partitions.items())],
    )


def _why_unknown(name: str, failed: dict[str, ErrorCode]) -> ErrorCode:
    if topic_name_problem(name) is not None:
        return ErrorCode.INVALID_TOPIC_EXCEPTION
    return failed.get(name, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)


def _partition(ctx: HandlerContext[Ports], state: PartitionState) -> MetadataResponsePartition:
    metadata = ctx.services.metadata
    leader = metadata.broker(state.leader)
    reachable = leader is not None and ctx.endpoint_of(leader) is not None
    error = ErrorCode.NONE
    if leader is None:
        error = ErrorCode.LEADER_NOT_AVAILABLE
    elif not reachable:
        error = ErrorCode.LISTENER_NOT_FOUND
    dead = [replica for replica in state.replicas if not metadata.is_alive(replica)]
    offline: list[int] = list(dict.fromkeys([*state.offline_replicas, *dead]))
    return MetadataResponsePartition(
        error,
        state.topic_partition.partition,
        state.leader if reachable else -1,
        state.leader_epoch,
        list(state.replicas),
        list(state.isr),
        offline,
    )


# --- automatic creation of topics --------------------------------------------------------------


def _to_create(ctx: HandlerContext[Ports], request: MetadataRequest) -> list[str]:
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


def _create_and_answer(
    ctx: HandlerContext[Ports], request: MetadataRequest, missing: list[str]
) -> Awaitable[MetadataResponse]:
    async def create() -> MetadataResponse:
        failed = {}
        for name in missing:
            failed[name] = await _create(ctx, name)
        return _answer(ctx, request, failed)

    return create()


async def _create(ctx: HandlerContext[Ports], name: str) -> ErrorCode:
    topics = ctx.services.topics
    partitions = ctx.services.layers.broker_value("num.partitions")
    try:
        try:
            partitions = (await topics.create(NewTopic(name))).partitions
        except BrokerError as error:
            if error.code is not ErrorCode.TOPIC_ALREADY_EXISTS:
                return error.code
            partitions = 1  # created concurrently, number of partitions unknown
        await topics.wait_for_leaders(name, partitions, _CREATION_WAIT_MS)
    except (BrokerError, TreeError):
        return ErrorCode.LEADER_NOT_AVAILABLE
    return ErrorCode.NONE


HANDLER = ApiHandler(ApiKey.METADATA, (0, 13), handle_metadata)
