"""ListPartitionReassignments: returns reassignments in progress; null means all topics."""

from typing import Protocol

from barnabas.broker.cluster.wiring import ClusterPorts
from barnabas.broker.handler import ApiHandler, HandlerContext, RequestPorts
from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BrokerError
from barnabas.model.ids import TopicPartition
from barnabas.wire.api_keys import ApiKey
from barnabas.wire.messages.list_partition_reassignments import (
    ListPartitionReassignmentsRequest,
    ListPartitionReassignmentsResponse,
    OngoingPartitionReassignment,
    OngoingTopicReassignment,
)
from barnabas.zk.tree import TreeError


class Ports(RequestPorts, Protocol):
    """Parts of the broker that this handler uses."""

    cluster: ClusterPorts


async def handle_list_partition_reassignments(
    ctx: HandlerContext[Ports], request: ListPartitionReassignmentsRequest
) -> ListPartitionReassignmentsResponse:
    partitions = None
    if request.topics is not None:
        partitions = [
            TopicPartition(topic.name, number)
            for topic in request.topics
            for number in topic.partition_indexes
        ]
    try:
        moves = await ctx.services.cluster.controller.list_reassignments(partitions)
    except BrokerError as error:
        return ListPartitionReassignmentsResponse(error_code=error.code, error_message=str(error))
    except TreeError as error:
        code = ErrorCode.REQUEST_TIMED_OUT
        return ListPartitionReassignmentsResponse(error_code=code, error_message=str(error))
    topics: dict[str, OngoingTopicReassignment] = {}
    for place, move in moves.items():
        topic = topics.setdefault(place.topic, OngoingTopicReassignment(place.topic, []))
        topic.partitions.append(
            OngoingPartitionReassignment(
                place.partition, list(move.replicas), list(move.adding), list(move.removing)
            )
        )
    return ListPartitionReassignmentsResponse(error_message=None, topics=list(topics.values()))


HANDLER = ApiHandler(
    ApiKey.LIST_PARTITION_REASSIGNMENTS, (0, 0), handle_list_partition_reassignments
)
