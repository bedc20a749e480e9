"""JoinGroup on a classic group."""

from barnabas.coordination import coordinator_error
from barnabas.groups import records
from barnabas.groups.classic import rebalance
from barnabas.groups.classic.group import ClassicGroup, ClassicGroupMember, ClassicState
from barnabas.groups.requests import (
    UNKNOWN_MEMBER_ID,
    JoinGroupReply,
    JoinGroupRequest,
    SyncGroupReply,
    protocols_bytes,
)
from barnabas.groups.step import GroupStep, RebalanceCause, TimerKey, TimerKind
from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BrokerError

_PENDING_BYTES = 256
"""Memory of a pending member, which has received a member id and has not joined yet."""


def join(step: GroupStep, group: ClassicGroup, request: JoinGroupRequest) -> None:
    """Sets the step's reply, or parks the request until the join phase ends."""
    if not _has_room(step, group, request.member_id) or not _has_memory(step, group, request):
        _reject_and_remove(step, group, request.member_id)
    elif group.state is ClassicState.DEAD:
        _reject(step, ErrorCode.COORDINATOR_NOT_AVAILABLE, request.member_id)
    elif not group.supports(request.protocol_type, request.protocols):
        _reject(step, ErrorCode.INCONSISTENT_GROUP_PROTOCOL, request.member_id)
    elif request.member_id == UNKNOWN_MEMBER_ID:
        _join_new(step, group, request)
    # The second JoinGroup of a new member, with the id from the response to the first (KIP-394).
    elif request.member_id in group.pending_members and request.group_instance_id is None:
        _add_member(step, group, request, request.member_id)
    else:
        _rejoin(step, group, request)


def _reject(step: GroupStep, error_code: ErrorCode, member_id: str = UNKNOWN_MEMBER_ID) -> None:
    step.outcome.reply = JoinGroupReply(error_code, member_id)


def _reason(request: JoinGroupRequest, event: str) -> str:
    return f"{event} ({rebalance.client_reason(request.reason)})"


def _has_room(step: GroupStep, group: ClassicGroup, member_id: str) -> bool:
    """Whether the group accepts one more member.

    During a rebalance only members that rejoined count: after the limit was lowered, the members
    that rejoin last are removed (KIP-389).
    """
    limit = step.config.max_size
    member = group.members.get(member_id)
    if group.state is ClassicState.PREPARING_REBALANCE:
        rejoined = member is not None and member.join_token is not None
        return rejoined or group.awaiting_join < limit
    if group.state in (ClassicState.COMPLETING_REBALANCE, ClassicState.STABLE):
        return member is not None or len(group.members) < limit
    return True


def _has_memory(step: GroupStep, group: ClassicGroup, request: JoinGroupRequest) -> bool:
    """Returns whether the group stays below `group.max.bytes` with this member's protocols."""
    member = group.members.get(request.member_id)
    freed = 0 if member is None else protocols_bytes(member.protocols)
    kept = group.kept_bytes - freed + len(group.pending_members) * _PENDING_BYTES
    return kept + protocols_bytes(request.protocols) <= step.config.max_bytes


def _reject_and_remove(step: GroupStep, group: ClassicGroup, member_id: str) -> None:
    rebalance.release(step, group, member_id)
    group.remove(member_id)
    _reject(step, ErrorCode.GROUP_MAX_SIZE_REACHED)
    rebalance.complete_join_if_ready(step, group)


def _join_new(step: GroupStep, group: ClassicGroup, request: JoinGroupRequest) -> None:
    instance_id = request.group_instance_id
    prefix = instance_id if instance_id is not None else request.client_id
    member_id = f"{prefix}-{step.context.new_id()}"
    if instance_id is not None and instance_id in group.static_members:
        _replace_static(step, group, request, member_id)
    elif instance_id is None and request.requires_known_member_id:
        _require_member_id(step, group, request, member_id)
    else:
        _add_member(step, group, request, member_id)


def _require_member_id(
    step: GroupStep, group: ClassicGroup, request: JoinGroupRequest, member_id: str
) -> None:
    """Returns a member id with which the client must rejoin (KIP-394).

    Without this step, every lost response would leave an unused member.
    """
    # The id is removed again after the session timeout if no second JoinGroup arrives.
    group.pending_members.add(member_id)
    key = TimerKey(TimerKind.PENDING_MEMBER, group.group_id, member_id)
    step.outcome.set_timer(key, request.session_timeout_ms)
    _reject(step, ErrorCode.MEMBER_ID_REQUIRED, member_id)


def _add_member(
    step: GroupStep, group: ClassicGroup, request: JoinGroupRequest, member_id: str
) -> None:
    member = ClassicGroupMember(
        member_id=member_id,
        group_instance_id=request.group_instance_id,
        client_id=request.client_id,
        client_host=request.client_host,
        rebalance_timeout_ms=request.rebalance_timeout_ms,
        session_timeout_ms=request.session_timeout_ms,
        protocol_type=request.protocol_type,
        protocols=request.protocols,
        is_new=True,
    )
    if group.state is ClassicState.PREPARING_REBALANCE:
        group.new_member_added = group.previous_state is ClassicState.EMPTY
    step.outcome.cancel_timer(TimerKey(TimerKind.PENDING_MEMBER, group.group_id, member_id))
    group.add(member, step.park())
    key = TimerKey(TimerKind.SESSION, group.group_id, member_id)
    step.outcome.set_timer(key, rebalance.NEW_MEMBER_JOIN_TIMEOUT_MS)
    reason = _reason(request, f"new member {member_id}")
    rebalance.rebalance_or_complete(step, group, RebalanceCause.NEW_MEMBER, reason)


def _rejoin(step: GroupStep, group: ClassicGroup, request: JoinGroupRequest) -> None:
    try:
        group.validate_member(request.member_id, request.group_instance_id)
    except BrokerError as error:
        _reject(step, error.code, request.member_id)
        return
    member = group.members[request.member_id]
    if _repeats_generation(group, member, request):
        step.outcome.reply = rebalance.generation_reply(group, member.member_id)
    elif group.is_empty:
        _reject(step, ErrorCode.UNKNOWN_MEMBER_ID, request.member_id)
    else:
        _update_member(step, group, member, request)
        reason = _reason(request, f"member {member.member_id} rejoins")
        rebalance.rebalance_or_complete(step, group, RebalanceCause.REJOINED, reason)


def _repeats_generation(
    group: ClassicGroup, member: ClassicGroupMember, request: JoinGroupRequest
) -> bool:
    """Returns whether the current generation is the response to this request.

    The leader of a stable group always causes a rebalance: it may have seen changes that are not
    in the metadata of members, such as new partitions.
    """
    unchanged = member.protocols == request.protocols
    if group.state is ClassicState.COMPLETING_REBALANCE:
        return unchanged
    return group.state is ClassicState.STABLE and unchanged and member.member_id != group.leader_id


def _update_member(
    step: GroupStep, group: ClassicGroup, member: ClassicGroupMember, request: JoinGroupRequest
) -> None:
    group.update(
        member, request.protocols, request.rebalance_timeout_ms, request.session_timeout_ms
    )
    # A client that timed out has sent JoinGroup again; its earlier request must not stay parked.
    superseded = group.park_join(member, step.park())
    if superseded is not None:
        reply = JoinGroupReply(ErrorCode.REBALANCE_IN_PROGRESS, member.member_id)
        step.outcome.complete(superseded, reply)


def _replace_static(
    step: GroupStep, group: ClassicGroup, request: JoinGroupRequest, new_id: str
) -> None:
    """Replaces the id of a static member that rejoins without its member id (KIP-345)."""
    assert request.group_instance_id is not None
    old_id = group.static_members[request.group_instance_id]
    member = group.members[old_id]
    # Two processes have the same group.instance.id: the newer one wins, and the older one must
    # stop.
    fenced = JoinGroupReply(ErrorCode.FENCED_INSTANCE_ID, old_id)
    rebalance.reply_to_join(step, group, member, fenced)
    rebalance.reply_to_sync(step, member, SyncGroupReply(ErrorCode.FENCED_INSTANCE_ID))
    # Taken before the change, because it remembers the leader and the member as they were.
    undo = _StaticReplacement(group, member, old_id, new_id)
    rebalance.cancel_session(step, group, old_id)
    group.replace_static(old_id, new_id)
    _update_member(step, group, member, request)
    rebalance.set_session(step, group, member)
    reason = _reason(request, f"static member {request.group_instance_id} is now {new_id}")
    if group.state is ClassicState.COMPLETING_REBALANCE:
        # The leader may already compute an assignment for the old id, which no member would get.
        rebalance.prepare_rebalance(step, group, RebalanceCause.STATIC_REPLACED, reason)
    elif group.state is not ClassicState.STABLE:
        rebalance.complete_join_if_ready(step, group)
    elif group.select_protocol() != group.protocol_name:
        rebalance.rebalance_or_complete(step, group, RebalanceCause.STATIC_REPLACED, reason)
    else:
        _store_replacement(step, undo, request)


class _StaticReplacement:
    """The state needed to revert a replacement whose record could not be stored."""

    __slots__ = ("before", "group", "leader_id", "member", "new_id", "old_id")

    def __init__(
        self, group: ClassicGroup, member: ClassicGroupMember, old_id: str, new_id: str
    ) -> None:
        self.group = group
        self.member = member
        self.old_id = old_id
        self.new_id = new_id
        self.leader_id = group.leader_id
        self.before = (member.protocols, member.rebalance_timeout_ms, member.session_timeout_ms)

    def undo(self, step: GroupStep) -> None:
        rebalance.cancel_session(step, self.group, self.new_id)
        self.group.update(self.member, *self.before)
        self.group.replace_static(self.new_id, self.old_id)
        rebalance.set_session(step, self.group, self.member)


def _store_replacement(
    step: GroupStep, replacement: _StaticReplacement, request: JoinGroupRequest
) -> None:
    """Stores the new id before the response, without a rebalance.

    Otherwise a new coordinator would load the old id and fence the active member (KAFKA-10284).
    """
    group, member = replacement.group, replacement.member

    def settled(code: ErrorCode) -> None:
        if code is not ErrorCode.NONE:
            reply = JoinGroupReply(coordinator_error(code), UNKNOWN_MEMBER_ID)
            rebalance.reply_to_join(step, group, member, reply)
            replacement.undo(step)
        else:
            reply = _replacement_reply(replacement, request)
            rebalance.reply_to_join(step, group, member, reply)

    record = records.group_metadata(group, group.assignments(), step.now_ms)
    step.write([record], settled)


def _replacement_reply(
    replacement: _StaticReplacement, request: JoinGroupRequest
) -> JoinGroupReply:
    """Returns the reply to a static member that rejoined.

    A leader that rejoins must not assign again, because the other members would not sync. Clients
    with KIP-814 get `skip_assignment`; older clients get the old member id as leader.
    """
    group, new_id = replacement.group, replacement.new_id
    if request.can_skip_assignment:
        skip = group.leader_id == new_id
        return rebalance.generation_reply(group, new_id, skip_assignment=skip)
    return JoinGroupReply(
        error_code=ErrorCode.NONE,
        member_id=new_id,
        generation_id=group.generation_id,
        protocol_type=group.protocol_type,
        protocol_name=group.protocol_name,
        leader_id=replacement.leader_id or "",
    )
