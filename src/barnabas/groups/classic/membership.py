"""SyncGroup, Heartbeat, LeaveGroup, the check of commits and the description of a classic group."""

from barnabas.coordination import coordinator_error
from barnabas.groups import records
from barnabas.groups.classic import rebalance
from barnabas.groups.classic.group import ClassicGroup, ClassicState
from barnabas.groups.requests import (
    UNKNOWN_MEMBER_ID,
    DescribedGroup,
    DescribedMember,
    HeartbeatReply,
    HeartbeatRequest,
    LeaveGroupReply,
    LeaveGroupRequest,
    LeavingMember,
    LeftMember,
    SyncGroupReply,
    SyncGroupRequest,
)
from barnabas.groups.step import GroupStep, RebalanceCause, TimerKey, TimerKind
from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BrokerError

# --- SyncGroup ------------------------------------------------------------------------------------


def sync(step: GroupStep, group: ClassicGroup, request: SyncGroupRequest) -> None:
    """Sets the step's reply, or parks the request until the leader's assignment is stored."""
    error = _sync_problem(group, request)
    if error is not ErrorCode.NONE:
        step.outcome.reply = SyncGroupReply(error)
    elif group.state is ClassicState.STABLE:
        _mark_synced(step, group, request.member_id)
        step.outcome.reply = _assignment_reply(group, request.member_id)
    else:
        _park(step, group, request)
        if request.member_id == group.leader_id:
            _store_assignment(step, group, request)


def _sync_problem(group: ClassicGroup, request: SyncGroupRequest) -> ErrorCode:
    if group.state is ClassicState.DEAD:
        return ErrorCode.COORDINATOR_NOT_AVAILABLE
    try:
        group.validate_member(request.member_id, request.group_instance_id)
    except BrokerError as error:
        return error.code
    if request.generation_id != group.generation_id:
        return ErrorCode.ILLEGAL_GENERATION
    if _differs(request.protocol_type, group.protocol_type) or _differs(
        request.protocol_name, group.protocol_name
    ):
        return ErrorCode.INCONSISTENT_GROUP_PROTOCOL
    if group.state is ClassicState.PREPARING_REBALANCE:
        return ErrorCode.REBALANCE_IN_PROGRESS
    return ErrorCode.NONE


def _differs(given: str | None, actual: str | None) -> bool:
    return given is not None and actual is not None and given != actual


def _park(step: GroupStep, group: ClassicGroup, request: SyncGroupRequest) -> None:
    member = group.members[request.member_id]
    rebalance.reply_to_sync(step, member, SyncGroupReply(ErrorCode.REBALANCE_IN_PROGRESS))
    member.sync_token = step.park()
    _mark_synced(step, group, request.member_id)


def _mark_synced(step: GroupStep, group: ClassicGroup, member_id: str) -> None:
    group.pending_sync.discard(member_id)
    if not group.pending_sync:
        step.outcome.cancel_timer(TimerKey(TimerKind.SYNC, group.group_id))


def _store_assignment(step: GroupStep, group: ClassicGroup, request: SyncGroupRequest) -> None:
    """Appends the assignment; the generation becomes stable when it is in the log."""
    given = dict(request.assignments)
    assignments = {member_id: given.get(member_id, b"") for member_id in group.members}

    def settled(code: ErrorCode) -> None:
        if code is not ErrorCode.NONE:
            rebalance.fail_parked_syncs(step, group, coordinator_error(code))
            reason = f"assignment not stored: {code.name}"
            rebalance.prepare_rebalance(step, group, RebalanceCause.OTHER, reason)
            return
        for member in group.all_members:
            member.assignment = assignments[member.member_id]
        group.transition_to(ClassicState.STABLE, step.now_ms)
        step.stats.completed += 1
        for member in group.all_members:
            if rebalance.reply_to_sync(step, member, _assignment_reply(group, member.member_id)):
                rebalance.set_session(step, group, member)

    step.write([records.group_metadata(group, assignments, step.now_ms)], settled)


def _assignment_reply(group: ClassicGroup, member_id: str) -> SyncGroupReply:
    return SyncGroupReply(
        error_code=ErrorCode.NONE,
        protocol_type=group.protocol_type,
        protocol_name=group.protocol_name,
        assignment=group.members[member_id].assignment,
    )


# --- Heartbeat, LeaveGroup, commits, description --------------------------------------------------


def heartbeat(step: GroupStep, group: ClassicGroup, request: HeartbeatRequest) -> None:
    """Extends the session, also while the group prepares a rebalance."""
    try:
        group.validate_member(request.member_id, request.group_instance_id)
    except BrokerError as error:
        step.outcome.reply = HeartbeatReply(error.code)
        return
    if request.generation_id != group.generation_id:
        step.outcome.reply = HeartbeatReply(ErrorCode.ILLEGAL_GENERATION)
        return
    rebalance.set_session(step, group, group.members[request.member_id])
    preparing = group.state is ClassicState.PREPARING_REBALANCE
    code = ErrorCode.REBALANCE_IN_PROGRESS if preparing else ErrorCode.NONE
    step.outcome.reply = HeartbeatReply(code)


def leave(step: GroupStep, group: ClassicGroup, request: LeaveGroupRequest) -> None:
    """Removes members, each with its error code; the group rebalances once for all."""
    left = tuple(_leave_one(step, group, leaving) for leaving in request.members)
    step.outcome.reply = LeaveGroupReply(ErrorCode.NONE, left)
    if not any(member.error_code is ErrorCode.NONE for member in left):
        return
    if group.state in (ClassicState.STABLE, ClassicState.COMPLETING_REBALANCE):
        why = [f"{m.member_id} ({rebalance.client_reason(m.reason)})" for m in request.members]
        reason = f"members leave: {', '.join(why)}"
        rebalance.prepare_rebalance(step, group, RebalanceCause.LEFT, reason)
    else:
        rebalance.complete_join_if_ready(step, group)


def _leave_one(step: GroupStep, group: ClassicGroup, leaving: LeavingMember) -> LeftMember:
    member_id, instance_id = leaving.member_id, leaving.group_instance_id
    if member_id in group.pending_members:
        group.remove(member_id)
        key = TimerKey(TimerKind.PENDING_MEMBER, group.group_id, member_id)
        step.outcome.cancel_timer(key)
        return LeftMember(member_id, instance_id, ErrorCode.NONE)
    try:
        actual_id = _resolve(group, leaving)
    except BrokerError as error:
        return LeftMember(member_id, instance_id, error.code)
    rebalance.release(step, group, actual_id)
    return LeftMember(member_id, instance_id, ErrorCode.NONE)


def _resolve(group: ClassicGroup, leaving: LeavingMember) -> str:
    """Returns the member id; tools send only the instance id of a static member (KIP-345)."""
    if leaving.member_id == UNKNOWN_MEMBER_ID and leaving.group_instance_id is not None:
        owner = group.static_members.get(leaving.group_instance_id)
        if owner is None:
            raise BrokerError(ErrorCode.UNKNOWN_MEMBER_ID)
        return owner
    group.validate_member(leaving.member_id, leaving.group_instance_id)
    return leaving.member_id


def validate_commit(
    group: ClassicGroup,
    member_id: str,
    group_instance_id: str | None,
    generation_id: int,
    *,
    transactional: bool,
) -> None:
    """Raises unless a commit of this member and generation may be stored now."""
    if group.state is ClassicState.DEAD:
        raise BrokerError(ErrorCode.COORDINATOR_NOT_AVAILABLE)
    # A consumer that assigns its partitions itself has no generation; it may use the group as
    # storage of offsets while the group has no members.
    if generation_id < 0 and group.is_empty:
        return
    if generation_id >= 0 or member_id or group_instance_id is not None:
        group.validate_member(member_id, group_instance_id)
        if generation_id != group.generation_id:
            raise BrokerError(ErrorCode.ILLEGAL_GENERATION)
    # A transactional commit without a member id comes from a producer older than KIP-447, which is
    # fenced by its transactional id instead.
    elif not transactional and not group.is_empty:
        raise BrokerError(ErrorCode.UNKNOWN_MEMBER_ID)
    # The member and its generation are valid, but it has no assignment yet. This error makes it
    # finish the rebalance and commit again, instead of losing its membership.
    if not transactional and group.state is ClassicState.COMPLETING_REBALANCE:
        raise BrokerError(ErrorCode.REBALANCE_IN_PROGRESS)


def describe(group: ClassicGroup) -> DescribedGroup:
    """Describes a group; as in Kafka, only a stable group has subscriptions and assignments."""
    stable = group.state is ClassicState.STABLE
    return DescribedGroup(
        group_id=group.group_id,
        error_code=ErrorCode.NONE,
        state=group.state.value,
        protocol_type=group.protocol_type or "",
        protocol_name=(group.protocol_name or "") if stable else "",
        members=tuple(
            DescribedMember(
                member_id=member.member_id,
                group_instance_id=member.group_instance_id,
                client_id=member.client_id,
                client_host=member.client_host,
                metadata=member.metadata(group.protocol_name) if stable else b"",
                assignment=member.assignment if stable else b"",
            )
            for member in group.members.values()
        ),
    )
