"""Handlers of the classic group protocol.

They serve JoinGroup, SyncGroup, Heartbeat, LeaveGroup and DescribeGroups.
"""

from barnabas.broker.coordinators.responses import (
    GroupPorts,
    PendingResponse,
    client_host,
    run_on_group,
)
from barnabas.broker.handler import ApiHandler, HandlerContext, Result
from barnabas.groups.requests import DescribedGroup as DescribedGroupReply
from barnabas.groups.requests import (
    HeartbeatReply,
    HeartbeatRequest,
    JoinGroupReply,
    JoinGroupRequest,
    LeaveGroupReply,
    LeaveGroupRequest,
    LeavingMember,
    SyncGroupReply,
    SyncGroupRequest,
)
from barnabas.groups.requests import Protocol as GroupProtocol
from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BrokerError
from barnabas.security.acl import ResourceType, all_operations
from barnabas.wire.api_keys import ApiKey
from barnabas.wire.messages.describe_groups import (
    DescribedGroup,
    DescribedGroupMember,
    DescribeGroupsRequest,
    DescribeGroupsResponse,
)
from barnabas.wire.messages.heartbeat import HeartbeatRequest as WireHeartbeatRequest
from barnabas.wire.messages.heartbeat import HeartbeatResponse
from barnabas.wire.messages.join_group import JoinGroupRequest as WireJoinGroupRequest
from barnabas.wire.messages.join_group import JoinGroupResponse, JoinGroupResponseMember
from barnabas.wire.messages.leave_group import LeaveGroupRequest as WireLeaveGroupRequest
from barnabas.wire.messages.leave_group import LeaveGroupResponse, MemberResponse
from barnabas.wire.messages.sync_group import SyncGroupRequest as WireSyncGroupRequest
from barnabas.wire.messages.sync_group import SyncGroupResponse

# --- JoinGroup ------------------------------------------------------------------------------------


_REBALANCE_TIMEOUT_FROM = 1
_KNOWN_MEMBER_ID_FROM = 4
_NULLABLE_PROTOCOL_FROM = 7
_SKIP_ASSIGNMENT_FROM = 9


def handle_join_group(ctx: HandlerContext[GroupPorts], request: WireJoinGroupRequest) -> Result:
    """Adds a member to a classic group; the response contains the new generation.

    v1 rebalance timeout; v4 the first response assigns a member id (KIP-394); v5 static members
    (KIP-345); v6 flexible; v7 protocol type; v8 reason; v9 skip_assignment.
    """
    joining = _translate_join(ctx, request)

    def encode(reply: JoinGroupReply) -> JoinGroupResponse:
        return _join_response(ctx.version, reply)

    def failed(code: ErrorCode) -> JoinGroupResponse:
        return _join_response(ctx.version, JoinGroupReply(code, request.member_id))

    return run_on_group(
        ctx,
        request.group_id,
        lambda shard, now_ms: shard.join_group(joining, now_ms),
        PendingResponse(ctx, encode, failed),
    )


def _translate_join(
    ctx: HandlerContext[GroupPorts], request: WireJoinGroupRequest
) -> JoinGroupRequest:
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
        protocols=tuple(GroupProtocol(one.name, one.metadata) for one in request.protocols),
        group_instance_id=request.group_instance_id,
        reason=request.reason,
        requires_known_member_id=ctx.version >= _KNOWN_MEMBER_ID_FROM,
        can_skip_assignment=ctx.version >= _SKIP_ASSIGNMENT_FROM,
    )


def _join_response(version: int, reply: JoinGroupReply) -> JoinGroupResponse:
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


# --- SyncGroup ------------------------------------------------------------------------------------


def handle_sync_group(ctx: HandlerContext[GroupPorts], request: WireSyncGroupRequest) -> Result:
    """Stores the assignments that the group leader sends; each member receives its own.

    v3 static members; v4 flexible; v5 protocol type and name (KIP-559).
    """
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
        PendingResponse(ctx, _sync_response, _failed_sync),
    )


def _sync_response(reply: SyncGroupReply) -> SyncGroupResponse:
    return SyncGroupResponse(
        error_code=reply.error_code,
        protocol_type=reply.protocol_type,
        protocol_name=reply.protocol_name,
        assignment=reply.assignment,
    )


def _failed_sync(code: ErrorCode) -> SyncGroupResponse:
    if code is ErrorCode.COORDINATOR_LOAD_IN_PROGRESS:
        # Clients join again after this error. They must, because the join phase is not stored.
        code = ErrorCode.REBALANCE_IN_PROGRESS
    return SyncGroupResponse(error_code=code)


# --- Heartbeat ------------------------------------------------------------------------------------


def handle_heartbeat(ctx: HandlerContext[GroupPorts], request: WireHeartbeatRequest) -> Result:
    """Keeps the session of a classic group's member. v3 static members; v4 flexible."""
    beat = HeartbeatRequest(
        request.group_id, request.generation_id, request.member_id, request.group_instance_id
    )
    return run_on_group(
        ctx,
        request.group_id,
        lambda shard, now_ms: shard.heartbeat(beat, now_ms),
        PendingResponse(ctx, _heartbeat_response, _failed_heartbeat),
    )


def _heartbeat_response(reply: HeartbeatReply) -> HeartbeatResponse:
    return HeartbeatResponse(error_code=reply.error_code)


def _failed_heartbeat(code: ErrorCode) -> HeartbeatResponse:
    if code is ErrorCode.COORDINATOR_LOAD_IN_PROGRESS:
        # Session timeouts restart after loading, so the member must not rejoin.
        code = ErrorCode.NONE
    return HeartbeatResponse(error_code=code)


# --- LeaveGroup -----------------------------------------------------------------------------------


_MEMBERS_FROM = 3


def handle_leave_group(ctx: HandlerContext[GroupPorts], request: WireLeaveGroupRequest) -> Result:
    """Removes members that leave, or that an administrator removes.

    v3 several members, static ones by instance id; v4 flexible; v5 reason.
    """
    members = tuple(
        LeavingMember(one.member_id, one.group_instance_id, one.reason) for one in request.members
    )
    if ctx.version < _MEMBERS_FROM:
        members = (LeavingMember(request.member_id),)
    leaving = LeaveGroupRequest(request.group_id, members)

    def encode(reply: LeaveGroupReply) -> LeaveGroupResponse:
        return _leave_response(ctx.version, reply)

    return run_on_group(
        ctx,
        request.group_id,
        lambda shard, now_ms: shard.leave_group(leaving, now_ms),
        PendingResponse(ctx, encode, _failed_leave),
    )


def _leave_response(version: int, reply: LeaveGroupReply) -> LeaveGroupResponse:
    code = reply.error_code
    if version < _MEMBERS_FROM:
        if code is ErrorCode.NONE and reply.members:
            code = reply.members[0].error_code
        return LeaveGroupResponse(error_code=code)
    return LeaveGroupResponse(
        error_code=code, members=[MemberResponse(*member) for member in reply.members]
    )


def _failed_leave(code: ErrorCode) -> LeaveGroupResponse:
    return LeaveGroupResponse(error_code=code)


# --- DescribeGroups -------------------------------------------------------------------------------


_GROUP_NOT_FOUND_FROM = 6


def handle_describe_groups(
    ctx: HandlerContext[GroupPorts], request: DescribeGroupsRequest
) -> DescribeGroupsResponse:
    """Returns state and members of classic groups.

    v3 authorized operations; v4 static members; v5 flexible; v6 an error for groups that do not
    exist; older versions return them in state Dead.
    """
    return DescribeGroupsResponse(
        groups=[
            _describe(ctx, group_id, request.include_authorized_operations)
            for group_id in request.groups
        ]
    )


def _describe(
    ctx: HandlerContext[GroupPorts], group_id: str, with_operations: bool
) -> DescribedGroup:
    try:
        driver = ctx.services.groups.shard_of(group_id)
    except BrokerError as error:
        return DescribedGroup(error.code, error.message, group_id)
    found = _described(ctx.version, driver.shard.describe_group(group_id))
    if with_operations and not found.error_code:
        found.authorized_operations = all_operations(ResourceType.GROUP)
    return found


def _described(version: int, reply: DescribedGroupReply) -> DescribedGroup:
    code, message = reply.error_code, reply.error_message
    if code is ErrorCode.GROUP_ID_NOT_FOUND and version < _GROUP_NOT_FOUND_FROM:
        code, message = ErrorCode.NONE, None
    return DescribedGroup(
        code,
        message,
        reply.group_id,
        reply.state,
        reply.protocol_type,
        reply.protocol_name,
        [
            DescribedGroupMember(
                member.member_id,
                member.group_instance_id,
                member.client_id,
                member.client_host,
                member.metadata,
                member.assignment,
            )
            for member in reply.members
        ],
    )


HANDLERS = (
    ApiHandler(ApiKey.JOIN_GROUP, (0, 9), handle_join_group),
    ApiHandler(ApiKey.SYNC_GROUP, (0, 5), handle_sync_group),
    ApiHandler(ApiKey.HEARTBEAT, (0, 4), handle_heartbeat),
    ApiHandler(ApiKey.LEAVE_GROUP, (0, 5), handle_leave_group),
    ApiHandler(ApiKey.DESCRIBE_GROUPS, (0, 6), handle_describe_groups),
)
