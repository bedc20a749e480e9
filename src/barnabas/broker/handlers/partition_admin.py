"""Handlers that change replicas and leaders of partitions.

They serve AlterPartitionReassignments, ListPartitionReassignments and ElectLeaders. Only the
controller accepts these requests.
"""

from typing import Protocol, cast

from barnabas.broker.cluster.wiring import ClusterPorts
from barnabas.broker.error_responses import code_and_message
from barnabas.broker.handler import ApiHandler, HandlerContext, RequestPorts
from barnabas.controller.machines.leader_election import ElectionKind
from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BrokerError
from barnabas.model.ids import BrokerId, Replicas, TopicPartition
from barnabas.wire.api_keys import ApiKey
from barnabas.wire.messages.alter_partition_reassignments import (
    AlterPartitionReassignmentsRequest,
    AlterPartitionReassignmentsResponse,
    ReassignablePartitionResponse,
    ReassignableTopicResponse,
)
from barnabas.wire.messages.elect_leaders import (
    ElectLeadersRequest,
    ElectLeadersResponse,
    PartitionResult,
    ReplicaElectionResult,
)
from barnabas.wire.messages.list_partition_reassignments import (
    ListPartitionReassignmentsRequest,
    ListPartitionReassignmentsResponse,
    OngoingPartitionReassignment,
    OngoingTopicReassignment,
)
from barnabas.zk.tree import TreeError


class ClusterHandlerPorts(RequestPorts, Protocol):
    """Parts of the broker that these handlers use."""

    cluster: ClusterPorts


# --- AlterPartitionReassignments ------------------------------------------------------------------


_Targets = dict[TopicPartition, Replicas | None]


async def handle_alter_partition_reassignments(
    ctx: HandlerContext[ClusterHandlerPorts], request: AlterPartitionReassignmentsRequest
) -> AlterPartitionReassignmentsResponse:
    """Starts or cancels moves of replicas between brokers (KIP-455).

    v0 flexible; v1 whether the replication factor may change.
    """
    targets: _Targets = {
        TopicPartition(topic.name, item.partition_index): None
        if item.replicas is None
        else cast(tuple[BrokerId, ...], tuple(item.replicas))
        for topic in request.topics
        for item in topic.partitions
    }
    rejected = {}
    if not request.allow_replication_factor_change:
        rejected = _changed_replication_factors(ctx, targets)
    wanted = {
        topic_partition: target
        for topic_partition, target in targets.items()
        if topic_partition not in rejected
    }
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
        responses=_topic_responses({**codes, **rejected}),
    )


def _changed_replication_factors(
    ctx: HandlerContext[ClusterHandlerPorts], targets: _Targets
) -> dict[TopicPartition, ErrorCode]:
    rejected = {}
    for topic_partition, target in targets.items():
        state = ctx.services.metadata.partition(topic_partition)
        if target is None or state is None:
            continue
        present = set(state.replicas) - set(state.adding)
        if len(target) != len(present):
            rejected[topic_partition] = ErrorCode.INVALID_REPLICATION_FACTOR
    return rejected


def _topic_responses(codes: dict[TopicPartition, ErrorCode]) -> list[ReassignableTopicResponse]:
    topics: dict[str, ReassignableTopicResponse] = {}
    for topic_partition, code in codes.items():
        topic = topics.setdefault(
            topic_partition.topic, ReassignableTopicResponse(topic_partition.topic, [])
        )
        text = None if code is ErrorCode.NONE else code.explanation
        topic.partitions.append(
            ReassignablePartitionResponse(topic_partition.partition, code, text)
        )
    return list(topics.values())


# --- ListPartitionReassignments -------------------------------------------------------------------


async def handle_list_partition_reassignments(
    ctx: HandlerContext[ClusterHandlerPorts], request: ListPartitionReassignmentsRequest
) -> ListPartitionReassignmentsResponse:
    """Returns reassignments in progress; null means all topics."""
    partitions = None
    if request.topics is not None:
        partitions = [
            TopicPartition(topic.name, partition)
            for topic in request.topics
            for partition in topic.partition_indexes
        ]
    try:
        moves = await ctx.services.cluster.controller.list_reassignments(partitions)
    except (BrokerError, TreeError) as error:
        code, text = code_and_message(error)
        return ListPartitionReassignmentsResponse(error_code=code, error_message=text)
    topics: dict[str, OngoingTopicReassignment] = {}
    for topic_partition, move in moves.items():
        topic = topics.setdefault(
            topic_partition.topic, OngoingTopicReassignment(topic_partition.topic, [])
        )
        topic.partitions.append(
            OngoingPartitionReassignment(
                topic_partition.partition,
                list(move.replicas),
                list(move.adding),
                list(move.removing),
            )
        )
    return ListPartitionReassignmentsResponse(error_message=None, topics=list(topics.values()))


# --- ElectLeaders ---------------------------------------------------------------------------------


_ELECTION_KINDS = {0: ElectionKind.PREFERRED, 1: ElectionKind.UNCLEAN}


async def handle_elect_leaders(
    ctx: HandlerContext[ClusterHandlerPorts], request: ElectLeadersRequest
) -> ElectLeadersResponse:
    """Elects the preferred replica, or any live one if records may be lost (KIP-460).

    v1 unclean elections, partition errors; v2 flexible. A null list means every partition that
    needs an election.
    """
    kind = _ELECTION_KINDS.get(request.election_type if ctx.version >= 1 else 0)
    if kind is None:
        return ElectLeadersResponse(error_code=ErrorCode.INVALID_REQUEST)
    partitions = None
    if request.topic_partitions is not None:
        partitions = [
            TopicPartition(topic.topic, partition)
            for topic in request.topic_partitions
            for partition in topic.partitions
        ]
    try:
        codes = await ctx.services.cluster.controller.elect_leaders(kind, partitions)
    except (BrokerError, TreeError) as error:
        return ElectLeadersResponse(error_code=code_and_message(error)[0])
    topics: dict[str, ReplicaElectionResult] = {}
    for topic_partition, code in codes.items():
        result = topics.setdefault(
            topic_partition.topic, ReplicaElectionResult(topic_partition.topic, [])
        )
        text = None if code is ErrorCode.NONE else code.explanation
        result.partition_result.append(PartitionResult(topic_partition.partition, code, text))
    return ElectLeadersResponse(replica_election_results=list(topics.values()))


HANDLERS = (
    ApiHandler(ApiKey.ALTER_PARTITION_REASSIGNMENTS, (0, 1), handle_alter_partition_reassignments),
    ApiHandler(ApiKey.LIST_PARTITION_REASSIGNMENTS, (0, 0), handle_list_partition_reassignments),
    ApiHandler(ApiKey.ELECT_LEADERS, (0, 2), handle_elect_leaders),
)
