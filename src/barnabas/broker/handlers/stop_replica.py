"""StopReplica: stops replicas of this broker and, if requested, deletes their logs.

v3 the leader epoch of each partition; v4 a flag for KRaft controllers.
"""

from typing import Protocol

from barnabas.broker.cluster.control_commands import stop_replica_command, stop_replica_response
from barnabas.broker.cluster.wiring import ClusterPorts
from barnabas.broker.handler import ApiHandler, HandlerContext, RequestPorts
from barnabas.wire.api_keys import ApiKey
from barnabas.wire.messages.stop_replica import StopReplicaRequest, StopReplicaResponse


class Ports(RequestPorts, Protocol):
    """Parts of the broker that this handler uses."""

    cluster: ClusterPorts


async def handle_stop_replica(
    ctx: HandlerContext[Ports], request: StopReplicaRequest
) -> StopReplicaResponse:
    command = stop_replica_command(request)
    return stop_replica_response(await ctx.services.cluster.receiver.apply(command))


HANDLER = ApiHandler(ApiKey.STOP_REPLICA, (3, 4), handle_stop_replica)
