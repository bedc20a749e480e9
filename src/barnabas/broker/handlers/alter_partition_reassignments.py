"""AlterPartitionReassignments: starts or cancels moves of replicas between brokers (KIP-455).

v0 flexible; v1 whether the replication factor may change.
"""

from typing import Protocol

from barnabas.broker.cluster.wiring import ClusterPorts
from barnabas.broker.handler import ApiHandler, HandlerContext, RequestPorts
from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BrokerError
from barnabas.model.ids import BrokerId, TopicPartition
from barnabas.model.replica_assignment import Replicas
from barnabas.wire.api_keys import ApiKey
from barnabas.wire.messages.alter_partition_reassignments import (
    AlterPartitionReassignmentsRequest,
    AlterPartitionReassignmentsResponse,
    ReassignablePartitionResponse,
    ReassignableTopicResponse,
)
from barnabas.zk.tree import TreeError

_Targets = dict[TopicPartition, Replicas | None]


class Ports(RequestPorts, Protocol):
    """Parts of the broker that this handler uses."""

    cluster: ClusterPorts


async def handle_alter_partition_reassignments(
    ctx: HandlerContext[Ports], request: AlterPartitionReassignmentsRequest
) -> AlterPartitionReassignmentsResponse:
    targets: _Targets = {
        TopicPartition(topic.name, item.partition_index): None
        if item.replicas is None
        else tuple(BrokerId(replica) for replica in item.replicas)
        for topic in request.topics
        for item in topic.partitions
    }
    refused = {}
    if not request.allow_replication_factor_change:
        refused = _other_factors(ctx, targets)
    wanted = {place: target for place, target in targets.items() if place not in refused}
    try:
        codes = await ctx.services.cluster.controller.alter_reassignments(wanted)
    except BrokerError as error:
        return AlterPartitionReassignmentsResponse(error_code=error.code, error_message=str(error))
    except TreeError as error:
        code = ErrorCode.REQUEST_TIMED_OUT
        return AlterPartitionReassignmentsResponse(error_code=code, error_message=str(error))
    return AlterPartitionReassignmentsResponse(
        allow_replication_factor_change=request.allow_replication_factor_change,
        error_message=None,
        responses=_responses({**codes, **refused}),
    )


def _other_factors(
    ctx: HandlerContext[Ports], targets: _Targets
) -> dict[TopicPartition, ErrorCode]:
    refused = {}
    for place, target in targets.items():
        state = ctx.services.metadata.partition(place)
        if target is None or state is None:
            continue
        present = set(state.replicas) - set(state.adding)
        if len(target) != len(present):
            refused[place] = ErrorCode.INVALID_REPLICATION_FACTOR
    return refused


def _responses(codes: dict[TopicPartition, ErrorCode]) -> list[ReassignableTopicResponse]:
    topics: dict[str, ReassignableTopicResponse] = {}
    for place, code in codes.items():
        topic = topics.setdefault(place.topic, ReassignableTopicResponse(place.topic, []))
        text = None if code is ErrorCode.NONE else code.explanation
        topic.partitions.append(ReassignablePartitionResponse(place.partition, code, text))
    return list(topics.values())


HANDLER = ApiHandler(
    ApiKey.ALTER_PARTITION_REASSIGNMENTS, (0, 1), handle_alter_partition_reassignments
)
