"""LeaveGroup: removes members that leave, or that an administrator removes.

v3 several members, static ones by instance id; v4 flexible; v5 reason.
"""

from barnabas.broker.coordinators.responses import GroupPorts, PendingResponse, run_on_group
from barnabas.broker.handler import ApiHandler, HandlerContext, Result
from barnabas.groups.replies import LeaveGroupReply
from barnabas.groups.requests import LeaveGroupRequest, LeavingMember
from barnabas.model.error_codes import ErrorCode
from barnabas.wire.api_keys import ApiKey
from barnabas.wire.messages.leave_group import LeaveGroupRequest as WireRequest
from barnabas.wire.messages.leave_group import LeaveGroupResponse, MemberResponse

_MEMBERS_FROM = 3


def handle_leave_group(ctx: HandlerContext[GroupPorts], request: WireRequest) -> Result:
    members = tuple(
        LeavingMember(one.member_id, one.group_instance_id, one.reason) for one in request.members
    )
    if ctx.version < _MEMBERS_FROM:
        members = (LeavingMember(request.member_id),)
    leaving = LeaveGroupRequest(request.group_id, members)

    def encode(reply: LeaveGroupReply) -> LeaveGroupResponse:
        return _response(ctx.version, reply)

    return run_on_group(
        ctx,
        request.group_id,
        lambda shard, now_ms: shard.leave_group(leaving, now_ms),
        PendingResponse(ctx, encode, _failed),
    )


def _response(version: int, reply: LeaveGroupReply) -> LeaveGroupResponse:
    code = reply.error_code
    if version < _MEMBERS_FROM:
        if code is ErrorCode.NONE and reply.members:
            code = reply.members[0].error_code
        return LeaveGroupResponse(error_code=code)
    return LeaveGroupResponse(
        error_code=code, members=[MemberResponse(*member) for member in reply.members]
    )


def _failed(code: ErrorCode) -> LeaveGroupResponse:
    return LeaveGroupResponse(error_code=code)


HANDLER = ApiHandler(ApiKey.LEAVE_GROUP, (0, 5), handle_leave_group)
