"""DescribeGroups: returns state and members of classic groups.

v3 authorized operations; v4 static members; v5 flexible; v6 an error for groups that do not exist;
older versions return them in state Dead.
"""

from typing import Protocol

from barnabas.broker.coordinators.group_coordinator import GroupCoordinator
from barnabas.broker.handler import ApiHandler, HandlerContext, RequestPorts
from barnabas.groups.replies import DescribedGroup as Reply
from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BrokerError
from barnabas.wire.api_keys import ApiKey
from barnabas.wire.messages.describe_groups import (
    DescribedGroup,
    DescribedGroupMember,
    DescribeGroupsRequest,
    DescribeGroupsResponse,
)

_NOT_FOUND_FROM = 6
GROUP_OPERATIONS = 1 << 3 | 1 << 6 | 1 << 8 | 1 << 10 | 1 << 11
"""READ, DELETE, DESCRIBE, DESCRIBE_CONFIGS and ALTER_CONFIGS as bits of authorized_operations."""


class Ports(RequestPorts, Protocol):
    """Parts of the broker that this handler uses."""

    groups: GroupCoordinator


def handle_describe_groups(
    ctx: HandlerContext[Ports], request: DescribeGroupsRequest
) -> DescribeGroupsResponse:
    return DescribeGroupsResponse(
        groups=[
            _describe(ctx, group_id, request.include_authorized_operations)
            for group_id in request.groups
        ]
    )


def _describe(ctx: HandlerContext[Ports], group_id: str, with_operations: bool) -> DescribedGroup:
    try:
        driver = ctx.services.groups.shard_of(group_id)
    except BrokerError as error:
        return DescribedGroup(error.code, error.message, group_id)
    found = _described(ctx.version, driver.shard.describe_group(group_id))
    if with_operations and not found.error_code:
        found.authorized_operations = GROUP_OPERATIONS
    return found


def _described(version: int, reply: Reply) -> DescribedGroup:
    code, message = reply.error_code, reply.error_message
    if code is ErrorCode.GROUP_ID_NOT_FOUND and version < _NOT_FOUND_FROM:
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


HANDLER = ApiHandler(ApiKey.DESCRIBE_GROUPS, (0, 6), handle_describe_groups)
