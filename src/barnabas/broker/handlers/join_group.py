"""JoinGroup: adds a member to a classic group; the response contains the new generation.

v1 rebalance timeout; v4 the first response assigns a member id (KIP-394); v5 static members
(KIP-345); v6 flexible; v7 protocol type; v8 reason; v9 skip_assignment.
"""

from barnabas.broker.coordinators.responses import (
    GroupPorts,
    PendingResponse,
    client_host,
    run_on_group,
)
from barnabas.broker.handler import ApiHandler, HandlerContext, Result
from barnabas.groups.replies import JoinGroupReply
from barnabas.groups.requests import JoinGroupRequest, Protocol
from barnabas.model.error_codes import ErrorCode
from barnabas.wire.api_keys import ApiKey
from barnabas.wire.messages.join_group import JoinGroupRequest as WireRequest
from barnabas.wire.messages.join_group import JoinGroupResponse, JoinGroupResponseMember

_REBALANCE_TIMEOUT_FROM = 1
_KNOWN_ID_FROM = 4
_NULLABLE_PROTOCOL_FROM = 7
_SKIP_ASSIGNMENT_FROM = 9


def handle_join_group(ctx: HandlerContext[GroupPorts], request: WireRequest) -> Result:
    joining = _translate(ctx, request)

    def encode(reply: JoinGroupReply) -> JoinGroupResponse:
        return _response(ctx.version, reply)

    def failed(code: ErrorCode) -> JoinGroupResponse:
        return _response(ctx.version, JoinGroupReply(code, request.member_id))

    return run_on_group(
        ctx,
        request.group_id,
        lambda shard, now_ms: shard.join_group(joining, now_ms),
        PendingResponse(ctx, encode, failed),
    )


def _translate(ctx: HandlerContext[GroupPorts], request: WireRequest) -> JoinGroupRequest:
    timeout_ms = request.rebalance_timeout_ms
    if ctx.version < _REBALANCE_TIMEOUT_FROM:
        timeout_ms = request.session_timeout_ms
    return JoinGroupRequest(
        group_id=request.group_id,
        member_id=request.member_id,
        client_id=ctx.header.client_id or "",
        client_host=client_host(ctx),
        session_timeout_ms=request.session_timeout_ms,
        rebalance_timeout_ms=timeout_ms,
        protocol_type=request.protocol_type,
        protocols=tuple(Protocol(one.name, one.metadata) for one in request.protocols),
        group_instance_id=request.group_instance_id,
        reason=request.reason,
        requires_known_member_id=ctx.version >= _KNOWN_ID_FROM,
        can_skip_assignment=ctx.version >= _SKIP_ASSIGNMENT_FROM,
    )


def _response(version: int, reply: JoinGroupReply) -> JoinGroupResponse:
    protocol_name = reply.protocol_name
    if protocol_name is None and version < _NULLABLE_PROTOCOL_FROM:
        protocol_name = ""
    return JoinGroupResponse(
        error_code=reply.error_code,
        generation_id=reply.generation_id,
        protocol_type=reply.protocol_type,
        protocol_name=protocol_name,
        leader=reply.leader_id,
        skip_assignment=reply.skip_assignment,
        member_id=reply.member_id,
        members=[JoinGroupResponseMember(*member) for member in reply.members],
    )


HANDLER = ApiHandler(ApiKey.JOIN_GROUP, (0, 9), handle_join_group)
