"""SyncGroup: the group leader sends the assignments, every member receives its own.

v3 static members; v4 flexible; v5 protocol type and name (KIP-559).
"""

from barnabas.broker.coordinators.responses import GroupPorts, PendingResponse, run_on_group
from barnabas.broker.handler import ApiHandler, HandlerContext, Result
from barnabas.groups.replies import SyncGroupReply
from barnabas.groups.requests import SyncGroupRequest
from barnabas.model.error_codes import ErrorCode
from barnabas.wire.api_keys import ApiKey
from barnabas.wire.messages.sync_group import SyncGroupRequest as WireRequest
from barnabas.wire.messages.sync_group import SyncGroupResponse


def handle_sync_group(ctx: HandlerContext[GroupPorts], request: WireRequest) -> Result:
    syncing = SyncGroupRequest(
        group_id=request.group_id,
        generation_id=request.generation_id,
        member_id=request.member_id,
        group_instance_id=request.group_instance_id,
        protocol_type=request.protocol_type,
        protocol_name=request.protocol_name,
        assignments=tuple((one.member_id, one.assignment) for one in request.assignments),
    )
    return run_on_group(
        ctx,
        request.group_id,
        lambda shard, now_ms: shard.sync_group(syncing, now_ms),
        PendingResponse(ctx, _response, _failed),
    )


def _response(reply: SyncGroupReply) -> SyncGroupResponse:
    return SyncGroupResponse(
        error_code=reply.error_code,
        protocol_type=reply.protocol_type,
        protocol_name=reply.protocol_name,
        assignment=reply.assignment,
    )


def _failed(code: ErrorCode) -> SyncGroupResponse:
    if code is ErrorCode.COORDINATOR_LOAD_IN_PROGRESS:
        # Clients join again after this error. They must do so, because
        # the join phase was not stored.
        code = ErrorCode.REBALANCE_IN_PROGRESS
    return SyncGroupResponse(error_code=code)


HANDLER = ApiHandler(ApiKey.SYNC_GROUP, (0, 5), handle_sync_group)
