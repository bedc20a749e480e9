"""Routes of groups."""

import asyncio
from collections.abc import AsyncIterator

from fastapi import APIRouter, Request
from fastapi.responses import StreamingResponse

from barnabas.console.api.routing import (
    ERRORS,
    ClusterRoute,
    ConsoleDep,
    GroupName,
    ListQueryDep,
    Operator,
    Reader,
    audit,
    event_stream,
)
from barnabas.console.composition import Console
from barnabas.console.models.common import ListPage
from barnabas.console.models.groups import (
    GroupDetail,
    GroupSummary,
    RebalancesBody,
    RemovedMembersBody,
    RemoveMembersBody,
    ResetBody,
    ResetPlanBody,
)
from barnabas.console.services.groups import GroupSource

router = APIRouter(prefix="/groups", tags=["groups"], responses=ERRORS, route_class=ClusterRoute)
_LIVE_S = 2.0


@router.get("", dependencies=[Reader])
async def list_groups(console: ConsoleDep, query: ListQueryDep) -> ListPage[GroupSummary]:
    """Groups with state and lag, one page at a time."""
    return await console.groups.list_groups(query)


@router.get("/{group}/events", dependencies=[Reader])
async def follow_group(
    console: ConsoleDep, group: GroupName, source: GroupSource = "brokers"
) -> StreamingResponse:
    """The group every two seconds, as server-sent events."""
    return event_stream(_states(console, group, source))


@router.get("/{group}/rebalances", dependencies=[Reader])
async def list_rebalances(console: ConsoleDep, group: GroupName) -> RebalancesBody:
    """Rebalances of the group, the newest first."""
    return await console.rebalances.list_rebalances(group)


@router.post("/{group}/reset-plan", dependencies=[Reader])
async def plan_reset(console: ConsoleDep, group: GroupName, body: ResetBody) -> ResetPlanBody:
    """The effect of a reset of committed offsets; changes nothing."""
    return await console.group_resets.plan(group, body)


@router.post("/{group}/reset", dependencies=[Operator])
async def reset_offsets(
    console: ConsoleDep, group: GroupName, body: ResetBody, request: Request
) -> ResetPlanBody:
    """Sets committed offsets of a group without members."""
    audit(request, group=group, rule=body.rule, topic=body.topic)
    return await console.group_resets.apply(group, body)


@router.post("/{group}/remove-members", dependencies=[Operator])
async def remove_members(
    console: ConsoleDep, group: GroupName, body: RemoveMembersBody, request: Request
) -> RemovedMembersBody:
    """Removes members from a group; clients that are still running join again."""
    audit(request, group=group, members=body.members)
    return await console.groups.remove_members(group, body)


@router.delete("/{group}/offsets/{topic}", status_code=204, dependencies=[Operator])
async def delete_offsets(
    console: ConsoleDep, group: GroupName, topic: str, request: Request
) -> None:
    """Deletes the committed offsets of one topic."""
    audit(request, group=group, topic=topic)
    await console.groups.delete_offsets(group, topic)


@router.get("/{group}", dependencies=[Reader])
async def describe_group(
    console: ConsoleDep, group: GroupName, source: GroupSource = "brokers"
) -> GroupDetail:
    """A group with members, assignment, and lag of each partition."""
    return await console.groups.describe(group, source)


@router.delete("/{group}", status_code=204, dependencies=[Operator])
async def delete_group(
    console: ConsoleDep, group: GroupName, request: Request, source: GroupSource = "brokers"
) -> None:
    """Deletes a group without members and its committed offsets."""
    audit(request, group=group)
    await console.groups.delete(group, source)


async def _states(console: Console, group: str, source: GroupSource) -> AsyncIterator[GroupDetail]:
    while True:
        yield await console.groups.describe(group, source)
        await asyncio.sleep(_LIVE_S)
