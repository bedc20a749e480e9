"""Handlers for the administration of groups of any type: ListGroups, DeleteGroups."""

from collections.abc import Callable

from barnabas.broker.coordinators.group_coordinator import GroupOperation, GroupShardDriver
from barnabas.broker.coordinators.responses import GroupPorts, PendingResponse
from barnabas.broker.handler import ApiHandler, HandlerContext, Result
from barnabas.groups.requests import DeleteGroupsReply, Reply
from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BrokerError
from barnabas.runtime.slices import in_slices
from barnabas.wire.api_keys import ApiKey
from barnabas.wire.messages.delete_groups import (
    DeletableGroupResult,
    DeleteGroupsRequest,
    DeleteGroupsResponse,
)
from barnabas.wire.messages.list_groups import ListedGroup, ListGroupsRequest, ListGroupsResponse

# --- ListGroups -----------------------------------------------------------------------------------


async def handle_list_groups(
    ctx: HandlerContext[GroupPorts], request: ListGroupsRequest
) -> ListGroupsResponse:
    """Returns the groups that this broker coordinates.

    v3 flexible; v4 filter by state; v5 filter by type (KIP-848).
    """
    try:
        shards = list(ctx.services.groups.all_shards())
    except BrokerError as error:
        return ListGroupsResponse(error_code=error.code)
    response = ListGroupsResponse()
    async for driver in in_slices(shards):
        found = driver.shard.list_groups(request.states_filter, request.types_filter)
        async for group in in_slices(found):
            response.groups.append(
                ListedGroup(group.group_id, group.protocol_type, group.state, group.group_type)
            )
    return response


# --- DeleteGroups ---------------------------------------------------------------------------------


def handle_delete_groups(ctx: HandlerContext[GroupPorts], request: DeleteGroupsRequest) -> Result:
    """Deletes empty groups and their committed offsets. v2 flexible."""
    requested = list(dict.fromkeys(request.groups_names))
    results: dict[str, ErrorCode] = {}
    by_shard: dict[GroupShardDriver, list[str]] = {}
    for group_id in requested:
        try:
            by_shard.setdefault(ctx.services.groups.shard_of(group_id), []).append(group_id)
        except BrokerError as error:
            results[group_id] = error.code

    def encode(_: None) -> DeleteGroupsResponse:
        return DeleteGroupsResponse(
            results=[DeletableGroupResult(name, results[name]) for name in requested]
        )

    response: PendingResponse[None] = PendingResponse(ctx, encode, lambda _code: encode(None))

    def collect(part: dict[str, ErrorCode]) -> None:
        results.update(part)
        if len(results) == len(requested):
            response.complete(None)

    if not by_shard:
        response.complete(None)
    for driver, group_ids in by_shard.items():
        driver.run(_deletion(group_ids), _ShardDeletion(group_ids, collect))
    return response.result()


def _deletion(group_ids: list[str]) -> GroupOperation:
    return lambda shard, now_ms: shard.delete_groups(group_ids, now_ms)


class _ShardDeletion:
    """A `ReplyReceiver` for the groups of one shard; adds their results to the response."""

    def __init__(
        self, group_ids: list[str], collect: Callable[[dict[str, ErrorCode]], None]
    ) -> None:
        self._group_ids = group_ids
        self._collect = collect

    def complete(self, reply: Reply) -> None:
        if isinstance(reply, DeleteGroupsReply):
            self._collect(dict(reply.results))

    def fail(self, code: ErrorCode) -> None:
        self._collect(dict.fromkeys(self._group_ids, code))


HANDLERS = (
    ApiHandler(ApiKey.LIST_GROUPS, (0, 5), handle_list_groups),
    ApiHandler(ApiKey.DELETE_GROUPS, (0, 2), handle_delete_groups),
)
