"""ElectLeaders: elects the preferred replica, or any live one if records may be lost (KIP-460).

v1 unclean elections, partition errors; v2 flexible. A null list means every partition that needs
an election.
"""

from typing import Protocol

from barnabas.broker.cluster.wiring import ClusterPorts
from barnabas.broker.handler import ApiHandler, HandlerContext, RequestPorts
from barnabas.controller.machines.election import ElectionKind
from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BrokerError
from barnabas.model.ids import TopicPartition
from barnabas.wire.api_keys import ApiKey
from barnabas.wire.messages.elect_leaders import (
    ElectLeadersRequest,
    ElectLeadersResponse,
    PartitionResult,
    ReplicaElectionResult,
)
from barnabas.zk.tree import TreeError

_KINDS = {0: ElectionKind.PREFERRED, 1: ElectionKind.UNCLEAN}


class Ports(RequestPorts, Protocol):
    """Parts of the broker that this handler uses."""

    cluster: ClusterPorts


async def handle_elect_leaders(
    ctx: HandlerContext[Ports], request: ElectLeadersRequest
) -> ElectLeadersResponse:
    kind = _KINDS.get(request.election_type if ctx.version >= 1 else 0)
    if kind is None:
        return ElectLeadersResponse(error_code=ErrorCode.INVALID_REQUEST)
    partitions = None
    if request.topic_partitions is not None:
        partitions = [
            TopicPartition(topic.topic, number)
            for topic in request.topic_partitions
            for number in topic.partitions
        ]
    try:
        codes = await ctx.services.cluster.controller.elect_leaders(kind, partitions)
    except BrokerError as error:
        return ElectLeadersResponse(error_code=error.code)
    except TreeError:
        return ElectLeadersResponse(error_code=ErrorCode.REQUEST_TIMED_OUT)
    topics: dict[str, ReplicaElectionResult] = {}
    for place, code in codes.items():
        result = topics.setdefault(place.topic, ReplicaElectionResult(place.topic, []))
        text = None if code is ErrorCode.NONE else code.explanation
        result.partition_result.append(PartitionResult(place.partition, code, text))
    return ElectLeadersResponse(replica_election_results=list(topics.values()))


HANDLER = ApiHandler(ApiKey.ELECT_LEADERS, (0, 2), handle_elect_leaders)
