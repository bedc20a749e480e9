"""SyncGroup on a classic group: the leader's assignment is stored, then handed out."""

from barnabas.coordination.append_errors import coordinator_error
from barnabas.groups import records
from barnabas.groups.classic import rebalance
from barnabas.groups.classic.group import ClassicGroup
from barnabas.groups.classic.states import ClassicState
from barnabas.groups.replies import SyncGroupReply
from barnabas.groups.requests import SyncGroupRequest
from barnabas.groups.step import GroupStep
from barnabas.groups.timers import TimerKey, TimerKind
from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BrokerError


def sync(step: GroupStep, group: ClassicGroup, request: SyncGroupRequest) -> None:
    """Sets the step's reply, or parks the request until the leader's assignment is stored."""
    error = _problem(group, request)
    if error is not ErrorCode.NONE:
        step.outcome.reply = SyncGroupReply(error)
    elif group.state is ClassicState.STABLE:
        _mark_synced(step, group, request.member_id)
        step.outcome.reply = _assignment_reply(group, request.member_id)
    else:
        _park(step, group, request)
        if request.member_id == group.leader_id:
            _store_assignment(step, group, request)


def _problem(group: ClassicGroup, request: SyncGroupRequest) -> ErrorCode:
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
    rebalance.answer_sync(step, member, SyncGroupReply(ErrorCode.REBALANCE_IN_PROGRESS))
    member.sync_token = step.park()
    _mark_synced(step, group, request.member_id)


def _mark_synced(step: GroupStep, group: ClassicGroup, member_id: str) -> None:
    group.pending_sync.discard(member_id)
    if not group.pending_sync:
        step.outcome.cancel_timer(TimerKey(TimerKind.SYNC, group.group_id))


def _store_assignment(step: GroupStep, group: ClassicGroup, request: SyncGroupRequest) -> None:
    """The generation becomes stable only once its assignment is in the log."""
    given = dict(request.assignments)
    assignments = {member_id: given.get(member_id, b"") for member_id in group.members}

    def settled(code: ErrorCode) -> None:
        if code is not ErrorCode.NONE:
            rebalance.fail_parked_syncs(step, group, coordinator_error(code))
            rebalance.prepare_rebalance(step, group, f"assignment not stored: {code.name}")
            return
        for member in group.all_members:
            member.assignment = assignments[member.member_id]
        group.transition_to(ClassicState.STABLE, step.now_ms)
        for member in group.all_members:
            if rebalance.answer_sync(step, member, _assignment_reply(group, member.member_id)):
                rebalance.set_session(step, group, member)

    step.write([records.group_metadata(group, assignments, step.now_ms)], settled)


def _assignment_reply(group: ClassicGroup, member_id: str) -> SyncGroupReply:
    return SyncGroupReply(
        error_code=ErrorCode.NONE,
        protocol_type=group.protocol_type,
        protocol_name=group.protocol_name,
        assignment=group.members[member_id].assignment,
    )
