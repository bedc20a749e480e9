"""Heartbeat: keeps the session of a classic group's member. v3 static members; v4 flexible."""

from barnabas.broker.coordinators.responses import GroupPorts, PendingResponse, run_on_group
from barnabas.broker.handler import ApiHandler, HandlerContext, Result
from barnabas.groups.replies import HeartbeatReply
from barnabas.groups.requests import HeartbeatRequest
from barnabas.model.error_codes import ErrorCode
from barnabas.wire.api_keys import ApiKey
from barnabas.wire.messages.heartbeat import HeartbeatRequest as WireRequest
from barnabas.wire.messages.heartbeat import HeartbeatResponse


def handle_heartbeat(ctx: HandlerContext[GroupPorts], request: WireRequest) -> Result:
    beat = HeartbeatRequest(
        request.group_id, request.generation_id, request.member_id, request.group_instance_id
    )
    return run_on_group(
        ctx,
        request.group_id,
        lambda shard, now_ms: shard.heartbeat(beat, now_ms),
        PendingResponse(ctx, _response, _failed),
    )


def _response(reply: HeartbeatReply) -> HeartbeatResponse:
    return HeartbeatResponse(error_code=reply.error_code)


def _failed(code: ErrorCode) -> HeartbeatResponse:
    if code is ErrorCode.COORDINATOR_LOAD_IN_PROGRESS:
        # Session timeouts restart after loading, so the member must not rejoin.
        code = ErrorCode.NONE
    return HeartbeatResponse(error_code=code)


HANDLER = ApiHandler(ApiKey.HEARTBEAT, (0, 4), handle_heartbeat)
