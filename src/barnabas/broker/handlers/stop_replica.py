"""StopReplica: the controller tells which replicas to give up, with or without their logs.

v3 the leader epoch of each partition; v4 a flag for KRaft controllers.
"""

from barnabas.broker.cluster.control_commands import stop_replica_command, stop_replica_response
from barnabas.broker.handler import Handler, RequestContext
from barnabas.wire.api_keys import ApiKey
from barnabas.wire.messages.stop_replica import StopReplicaRequest, StopReplicaResponse


async def handle_stop_replica(
    ctx: RequestContext, request: StopReplicaRequest
) -> StopReplicaResponse:
    command = stop_replica_command(request)
    return stop_replica_response(await ctx.services.cluster.receiver.apply(command))


HANDLER = Handler(ApiKey.STOP_REPLICA, (3, 4), handle_stop_replica)
