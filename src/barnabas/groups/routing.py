"""Routes classic requests by the type of the group, and timers by their kind."""

from barnabas.coordination.outcome import coordinator_error
from barnabas.groups import records
from barnabas.groups.classic import join as classic_join
from barnabas.groups.classic import membership as classic_membership
from barnabas.groups.classic import rebalance
from barnabas.groups.classic.group import ClassicGroup
from barnabas.groups.consumer import classic_protocol
from barnabas.groups.consumer import membership as consumer_membership
from barnabas.groups.consumer.group import ConsumerGroup, MemberState
from barnabas.groups.registry import GroupTable
from barnabas.groups.requests import (
    UNKNOWN_MEMBER_ID,
    HeartbeatRequest,
    JoinGroupReply,
    JoinGroupRequest,
    LeaveGroupReply,
    LeaveGroupRequest,
    LeftMember,
    SyncGroupRequest,
)
from barnabas.groups.step import GroupStep, RebalanceCause, TimerKey, TimerKind
from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BrokerError


def join(step: GroupStep, groups: GroupTable, request: JoinGroupRequest) -> None:
    """Serves JoinGroup; raises BrokerError when the request is rejected."""
    _validate_join(step, request)
    group = groups.get(request.group_id)
    if isinstance(group, ConsumerGroup) and not group.is_empty:
        classic_protocol.join(step, groups, group, request)
    elif group is None and request.member_id != UNKNOWN_MEMBER_ID:
        raise BrokerError(ErrorCode.UNKNOWN_MEMBER_ID)
    elif isinstance(group, ConsumerGroup):
        _join_instead_of(step, groups, group, request)
    else:
        _join_classic(step, groups, group or ClassicGroup(request.group_id), request)


def _validate_join(step: GroupStep, request: JoinGroupRequest) -> None:
    if not request.group_id:
        raise BrokerError(ErrorCode.INVALID_GROUP_ID)
    config = step.config
    allowed = range(config.min_session_timeout_ms, config.max_session_timeout_ms + 1)
    if request.session_timeout_ms not in allowed:
        raise BrokerError(ErrorCode.INVALID_SESSION_TIMEOUT)


def _join_classic(
    step: GroupStep, groups: GroupTable, group: ClassicGroup, request: JoinGroupRequest
) -> None:
    classic_join.join(step, group, request)
    if group.members or group.pending_members:
        # A rejected first member must not create an empty group.
        groups.put(group)


def _join_instead_of(
    step: GroupStep, groups: GroupTable, empty: ConsumerGroup, request: JoinGroupRequest
) -> None:
    """Replaces an empty KIP-848 group by a classic group when a classic member joins."""
    group = ClassicGroup(request.group_id)
    tombstones = records.consumer_group_tombstones(
        empty.group_id, list(empty.members), sorted(empty.regexes)
    )

    def settled(code: ErrorCode) -> None:
        if code is not ErrorCode.NONE:
            step.outcome.reply = JoinGroupReply(coordinator_error(code), request.member_id)
            return
        groups.put(group)
        classic_join.join(step, group, request)

    step.write([*tombstones, records.group_metadata(group, {}, step.now_ms)], settled)


def sync(step: GroupStep, groups: GroupTable, request: SyncGroupRequest) -> None:
    group = _member_group(groups, request.group_id)
    if isinstance(group, ClassicGroup):
        classic_membership.sync(step, group, request)
    else:
        classic_protocol.sync(step, group, request)


def heartbeat(step: GroupStep, groups: GroupTable, request: HeartbeatRequest) -> None:
    group = _member_group(groups, request.group_id)
    if isinstance(group, ClassicGroup):
        classic_membership.heartbeat(step, group, request)
    else:
        classic_protocol.heartbeat(step, group, request)


def leave(step: GroupStep, groups: GroupTable, request: LeaveGroupRequest) -> None:
    if request.group_id and groups.get(request.group_id) is None:
        unknown = ErrorCode.UNKNOWN_MEMBER_ID
        left = (LeftMember(m.member_id, m.group_instance_id, unknown) for m in request.members)
        step.outcome.reply = LeaveGroupReply(ErrorCode.NONE, tuple(left))
        return
    group = _member_group(groups, request.group_id)
    if isinstance(group, ClassicGroup):
        classic_membership.leave(step, group, request)
    else:
        classic_protocol.leave(step, groups, group, request)


def _member_group(groups: GroupTable, group_id: str) -> ClassicGroup | ConsumerGroup:
    if not group_id:
        raise BrokerError(ErrorCode.INVALID_GROUP_ID)
    group = groups.get(group_id)
    if group is None:
        raise BrokerError(ErrorCode.UNKNOWN_MEMBER_ID, f"Group {group_id} not found.")
    return group


def on_timer(step: GroupStep, groups: GroupTable, key: TimerKey) -> None:
    """Handles a timer; ignores timers of removed groups and of another group type."""
    group = groups.get(key.group_id)
    if isinstance(group, ConsumerGroup):
        consumer_membership.on_timer(step, groups, group, key)
        return
    if group is None:
        return
    match key.kind:
        case TimerKind.JOIN:
            rebalance.on_join_timer(step, group)
        case TimerKind.SYNC:
            rebalance.on_sync_timer(step, group)
        case TimerKind.SESSION:
            rebalance.on_session_timer(step, group, key.member_id)
        case TimerKind.PENDING_MEMBER:
            rebalance.on_pending_member_timer(step, group, key.member_id)
        case _:
            return


def start_timers(step: GroupStep, groups: GroupTable) -> None:
    """Starts a full session timeout for every member after a load."""
    for group in groups.groups.values():
        if isinstance(group, ConsumerGroup):
            _start_consumer_timers(step, group)
            continue
        for member in group.all_members:
            rebalance.set_session(step, group, member)
        if len(group.members) > step.config.max_size:
            # group.max.size was lowered; the rebalance removes the last members (KIP-389).
            reason = "loaded with more members than allowed"
            rebalance.prepare_rebalance(step, group, RebalanceCause.OTHER, reason)


def _start_consumer_timers(step: GroupStep, group: ConsumerGroup) -> None:
    for member in group.members.values():
        timeout_ms = step.session_timeout_ms(group.group_id)
        if member.classic is not None:
            timeout_ms = member.classic.session_timeout_ms
        session = TimerKey(TimerKind.SESSION, group.group_id, member.member_id)
        step.outcome.set_timer(session, timeout_ms)
        if member.classic is None and member.state is MemberState.UNREVOKED_PARTITIONS:
            key = TimerKey(TimerKind.REVOCATION, group.group_id, member.member_id)
            step.outcome.set_timer(key, member.rebalance_timeout_ms)


def dismiss_all(step: GroupStep, groups: GroupTable) -> None:
    """Fails every parked request: this broker is no longer the coordinator."""
    for group in groups.groups.values():
        if isinstance(group, ClassicGroup):
            rebalance.dismiss(step, group, ErrorCode.NOT_COORDINATOR)
