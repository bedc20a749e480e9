"""DeleteGroups, ListGroups, DescribeGroups, ConsumerGroupDescribe."""

from collections.abc import Iterable, Sequence

from barnabas.coordination import offset_commit_error
from barnabas.groups import offsets
from barnabas.groups.classic import membership
from barnabas.groups.classic.group import CONSUMER_PROTOCOL_TYPE, ClassicGroup
from barnabas.groups.consumer import membership as consumer
from barnabas.groups.offset_store import OffsetStore
from barnabas.groups.requests import (
    DeleteGroupsReply,
    DescribedConsumerGroup,
    DescribedGroup,
    ListedGroup,
)
from barnabas.groups.step import Group, GroupContext, GroupStep, GroupTable
from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BrokerError

_DEAD = "Dead"


def delete_groups(
    step: GroupStep, groups: GroupTable, store: OffsetStore, group_ids: Sequence[str]
) -> None:
    """Deletes empty groups with their offsets; other groups get an error code."""
    removal = offsets.OffsetRemoval.nothing()
    results: dict[str, ErrorCode] = {}
    for group_id in group_ids:
        group = groups.get(group_id)
        results[group_id] = _deletion_problem(group)
        if group is None or results[group_id] is not ErrorCode.NONE:
            continue
        partitions = store.of_group(group_id).keys() | store.pending_of_group(group_id)
        removal.offsets += [(group_id, partition) for partition in sorted(partitions)]
        removal.add_group(group)

    def settled(code: ErrorCode) -> None:
        if code is ErrorCode.NONE:
            removal.apply(groups, store)
        else:
            failed = dict.fromkeys(removal.group_ids, offset_commit_error(code))
            results.update(failed)
        step.outcome.reply = DeleteGroupsReply(tuple(results.items()))

    offsets.write_removal(step, removal, settled)


def _deletion_problem(group: Group | None) -> ErrorCode:
    """Returns why a group cannot be deleted. The group "" can: old clients could commit to it."""
    if group is None:
        return ErrorCode.GROUP_ID_NOT_FOUND
    return ErrorCode.NONE if group.is_empty else ErrorCode.NON_EMPTY_GROUP


def list_groups(
    groups: GroupTable, states: Iterable[str], types: Iterable[str]
) -> list[ListedGroup]:
    wanted_states = {state.lower() for state in states}
    wanted_types = {group_type.lower() for group_type in types}
    listed = [_listed(group) for group in groups.groups.values()]
    return [
        group
        for group in listed
        if (not wanted_states or group.state.lower() in wanted_states)
        and (not wanted_types or group.group_type in wanted_types)
    ]


def _listed(group: Group) -> ListedGroup:
    if isinstance(group, ClassicGroup):
        return ListedGroup(group.group_id, group.protocol_type or "", group.state.value, "classic")
    return ListedGroup(group.group_id, CONSUMER_PROTOCOL_TYPE, group.state.value, "consumer")


def describe_group(groups: GroupTable, group_id: str) -> DescribedGroup:
    group = groups.get(group_id)
    if isinstance(group, ClassicGroup):
        return membership.describe(group)
    why = "not found" if group is None else "is not a classic group"
    return DescribedGroup(
        group_id, ErrorCode.GROUP_ID_NOT_FOUND, f"Group {group_id} {why}.", state=_DEAD
    )


def describe_consumer_group(
    groups: GroupTable, context: GroupContext, group_id: str
) -> DescribedConsumerGroup:
    try:
        group = groups.existing_consumer(group_id)
    except BrokerError as error:
        return DescribedConsumerGroup(group_id, error.code, error.message)
    return consumer.describe(group, context.topics, context.config)
