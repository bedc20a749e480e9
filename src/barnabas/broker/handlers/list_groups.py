"""ListGroups: returns the groups that this broker coordinates.

v3 flexible; v4 filter by state; v5 filter by type (KIP-848).
"""

from typing import Protocol

from barnabas.broker.coordinators.group_coordinator import GroupCoordinator
from barnabas.broker.handler import ApiHandler, HandlerContext, RequestPorts
from barnabas.model.errors import BrokerError
from barnabas.wire.api_keys import ApiKey
from barnabas.wire.messages.list_groups import ListedGroup, ListGroupsRequest, ListGroupsResponse


class Ports(RequestPorts, Protocol):
    """Parts of the broker that this handler uses."""

    groups: GroupCoordinator


def handle_list_groups(
    ctx: HandlerContext[Ports], request: ListGroupsRequest
) -> ListGroupsResponse:
    try:
        shards = list(ctx.services.groups.all_shards())
    except BrokerError as error:
        return ListGroupsResponse(error_code=error.code)
    return ListGroupsResponse(
        groups=[
            ListedGroup(group.group_id, group.protocol_type, group.state, group.group_type)
            for driver in shards
            for group in driver.shard.list_groups(request.states_filter, request.types_filter)
        ]
    )


HANDLER = ApiHandler(ApiKey.LIST_GROUPS, (0, 5), handle_list_groups)
