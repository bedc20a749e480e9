"""Moves a classic group from one generation to the next.

Every wait here has a timer: JOIN while preparing, SYNC while completing (KAFKA-12890, KAFKA-9752
were groups stuck without one), SESSION per member, PENDING_MEMBER per assigned id. The reason of a
rebalance is logged, with the client's text if it sent one (KIP-800).
"""

import logging

from barnabas.groups import records
from barnabas.groups.classic.group import ClassicGroup, ClassicGroupMember, ClassicState
from barnabas.groups.requests import UNKNOWN_MEMBER_ID, JoinGroupReply, SyncGroupReply
from barnabas.groups.step import GroupStep, RebalanceCause, TimerKey, TimerKind
from barnabas.model.error_codes import ErrorCode

_log = logging.getLogger(__name__)

NEW_MEMBER_JOIN_TIMEOUT_MS = 5 * 60_000
"""A new member's parked JoinGroup ends after this long: it cannot heartbeat, and if its client
has gone away, retries would otherwise pile up members (KAFKA-7610)."""


def client_reason(given: str | None) -> str:
    """Formats the client's reason for the log: quoted, at most 255 characters."""
    return f"client's reason: {given[:255]!r}" if given else "no reason given"


def rebalance_or_complete(
    step: GroupStep, group: ClassicGroup, cause: RebalanceCause, reason: str
) -> None:
    """Starts a rebalance, or completes the join phase of the current one if possible."""
    if group.can_rebalance:
        prepare_rebalance(step, group, cause, reason)
    else:
        complete_join_if_ready(step, group)


def prepare_rebalance(
    step: GroupStep, group: ClassicGroup, cause: RebalanceCause, reason: str
) -> None:
    """Makes all members rejoin. The first rebalance of an empty group waits for more members.

    The cause is counted; the reason, which names members and the client's own words, is logged and
    stored with the next generation.
    """
    step.stats.rebalances["classic", cause.value] += 1
    group.rebalance_reason = reason
    group.rebalance_start_ms = step.now_ms
    _log.info(
        "preparing to rebalance group %s in state %s with old generation %d: %s",
        group.group_id,
        group.state.value,
        group.generation_id,
        reason,
    )
    if group.state is ClassicState.COMPLETING_REBALANCE:
        # These members wait for an assignment of a generation that ends now; the error makes them
        # rejoin.
        fail_parked_syncs(step, group, ErrorCode.REBALANCE_IN_PROGRESS)
    # The members of the old generation have nothing to sync any more; its timer would remove
    # members of the next one.
    group.pending_sync.clear()
    step.outcome.cancel_timer(TimerKey(TimerKind.SYNC, group.group_id))
    initial = group.is_empty
    group.transition_to(ClassicState.PREPARING_REBALANCE, step.now_ms)
    # KIP-134: the members of an application start one after the other. Without the delay each of
    # them would cause a rebalance.
    if initial:
        delay = step.config.initial_rebalance_delay_ms
        group.initial_delay_ms = delay
        group.initial_remaining_ms = max(group.rebalance_timeout_ms - delay, 0)
        group.new_member_added = False
        _set_join_timer(step, group, delay)
    elif group.all_joined:
        complete_join(step, group)
    else:
        _set_join_timer(step, group, group.rebalance_timeout_ms)


def complete_join_if_ready(step: GroupStep, group: ClassicGroup) -> None:
    """Ends the join phase when all members have joined, except during the initial delay."""
    preparing = group.state is ClassicState.PREPARING_REBALANCE
    # During the initial delay every known member has joined already; only the timer ends that
    # phase.
    if preparing and group.previous_state is not ClassicState.EMPTY and group.all_joined:
        complete_join(step, group)


def on_join_timer(step: GroupStep, group: ClassicGroup) -> None:
    """Handles the end of the join phase, or of one interval of the initial delay."""
    if group.state is not ClassicState.PREPARING_REBALANCE:
        return
    initial = group.previous_state is ClassicState.EMPTY
    # Each interval with a new member adds another one, up to the rebalance timeout.
    if not (initial and group.new_member_added and group.initial_remaining_ms > 0):
        complete_join(step, group)
        return
    group.new_member_added = False
    delay = min(step.config.initial_rebalance_delay_ms, group.initial_remaining_ms)
    group.initial_remaining_ms = max(group.initial_remaining_ms - group.initial_delay_ms, 0)
    group.initial_delay_ms = delay
    _set_join_timer(step, group, delay)


def complete_join(step: GroupStep, group: ClassicGroup) -> None:
    """Starts the next generation with the members that joined; removes other dynamic members.

    Static members stay until their session expires. When only static members remain and none of
    them has joined, the join phase continues.
    """
    # Otherwise the timer of this generation would end the join phase of the next one early.
    step.outcome.cancel_timer(TimerKey(TimerKind.JOIN, group.group_id))
    for member in group.all_members:
        if member.join_token is None and not member.is_static:
            group.remove(member.member_id)
            cancel_session(step, group, member.member_id)
            _log_removal(group, member.member_id, TimerKind.JOIN)
    # The leader computes the assignment, so it must be a member that has joined and waits for the
    # list of members.
    if group.members and not group.elect_joined_leader():
        _set_join_timer(step, group, group.rebalance_timeout_ms)
        return
    group.next_generation(step.now_ms)
    if group.is_empty:
        _store_empty(step, group)
    else:
        _announce_generation(step, group)


def on_sync_timer(step: GroupStep, group: ClassicGroup) -> None:
    """Removes members that have not synced before the timeout; the other members rebalance."""
    waiting = group.state in (ClassicState.COMPLETING_REBALANCE, ClassicState.STABLE)
    if not waiting or not group.pending_sync:
        return
    late = sorted(group.pending_sync)
    for member_id in late:
        release(step, group, member_id)
        _log_removal(group, member_id, TimerKind.SYNC)
    reason = f"removed for not syncing in time: {', '.join(late)}"
    prepare_rebalance(step, group, RebalanceCause.NOT_SYNCED, reason)


def on_session_timer(step: GroupStep, group: ClassicGroup, member_id: str) -> None:
    """Removes a member whose session expired, unless it has a parked request."""
    member = group.members.get(member_id)
    # A parked JoinGroup or SyncGroup blocks the connection, so the client cannot send heartbeats.
    if member is None or member.is_waiting:
        return
    release(step, group, member_id)
    _log_removal(group, member_id, TimerKind.SESSION)
    after_removal(step, group, f"the session of member {member_id} has ended")


def _log_removal(group: ClassicGroup, member_id: str, kind: TimerKind) -> None:
    _log.info(
        "group %s: member %s is removed, its %s timer has fired",
        group.group_id,
        member_id,
        kind.value,
    )


def on_pending_member_timer(step: GroupStep, group: ClassicGroup, member_id: str) -> None:
    if member_id in group.pending_members:
        group.remove(member_id)
        if group.state is ClassicState.PREPARING_REBALANCE and group.all_joined:
            complete_join(step, group)


def after_removal(step: GroupStep, group: ClassicGroup, reason: str) -> None:
    """Starts or continues a rebalance after the session of a member expired."""
    if group.state in (ClassicState.STABLE, ClassicState.COMPLETING_REBALANCE):
        prepare_rebalance(step, group, RebalanceCause.EXPIRED, reason)
    elif group.state is ClassicState.PREPARING_REBALANCE and group.all_joined:
        complete_join(step, group)


def release(step: GroupStep, group: ClassicGroup, member_id: str) -> None:
    """Removes a member and completes its parked requests; it may rejoin as a new member."""
    member = group.remove(member_id)
    if member is None:
        return
    cancel_session(step, group, member_id)
    if member.join_token is not None:
        reply = JoinGroupReply(ErrorCode.UNKNOWN_MEMBER_ID, UNKNOWN_MEMBER_ID)
        step.outcome.complete(member.join_token, reply)
        member.join_token = None
    # A parked request must always be completed: its connection serves no other request before.
    reply_to_sync(step, member, SyncGroupReply(ErrorCode.UNKNOWN_MEMBER_ID))


def fail_parked_syncs(step: GroupStep, group: ClassicGroup, error_code: ErrorCode) -> None:
    """Fails every parked SyncGroup: the generation ends without an assignment."""
    for member in group.all_members:
        member.assignment = b""
        if reply_to_sync(step, member, SyncGroupReply(error_code)):
            set_session(step, group, member)


def fail_parked_requests(step: GroupStep, group: ClassicGroup, error_code: ErrorCode) -> None:
    """Fails every parked request of the group; its members stay."""
    for member in group.all_members:
        reply_to_join(step, group, member, JoinGroupReply(error_code, member.member_id))
        reply_to_sync(step, member, SyncGroupReply(error_code))


def reply_to_join(
    step: GroupStep, group: ClassicGroup, member: ClassicGroupMember, reply: JoinGroupReply
) -> None:
    token = group.park_join(member, None)
    if token is not None:
        step.outcome.complete(token, reply)


def reply_to_sync(step: GroupStep, member: ClassicGroupMember, reply: SyncGroupReply) -> bool:
    """Completes the parked SyncGroup of a member; returns whether there was one."""
    if member.sync_token is None:
        return False
    step.outcome.complete(member.sync_token, reply)
    member.sync_token = None
    return True


def generation_reply(
    group: ClassicGroup, member_id: str, *, skip_assignment: bool = False
) -> JoinGroupReply:
    """Returns the current generation for this member; only the leader gets the list of members."""
    is_leader = member_id == group.leader_id
    return JoinGroupReply(
        error_code=ErrorCode.NONE,
        member_id=member_id,
        generation_id=group.generation_id,
        protocol_type=group.protocol_type,
        protocol_name=group.protocol_name,
        leader_id=group.leader_id or "",
        skip_assignment=skip_assignment,
        members=group.members_for_leader() if is_leader else (),
    )


def set_session(step: GroupStep, group: ClassicGroup, member: ClassicGroupMember) -> None:
    key = TimerKey(TimerKind.SESSION, group.group_id, member.member_id)
    step.outcome.set_timer(key, member.session_timeout_ms)


def cancel_session(step: GroupStep, group: ClassicGroup, member_id: str) -> None:
    step.outcome.cancel_timer(TimerKey(TimerKind.SESSION, group.group_id, member_id))


def _announce_generation(step: GroupStep, group: ClassicGroup) -> None:
    _log.info(
        "group %s has generation %d with %d members",
        group.group_id,
        group.generation_id,
        len(group.members),
    )
    for member in group.all_members:
        reply_to_join(step, group, member, generation_reply(group, member.member_id))
        # A parked JoinGroup blocks heartbeats, so the session starts again with its response.
        set_session(step, group, member)
        member.is_new = False
        group.pending_sync.add(member.member_id)
    step.outcome.set_timer(TimerKey(TimerKind.SYNC, group.group_id), group.rebalance_timeout_ms)


def _store_empty(step: GroupStep, group: ClassicGroup) -> None:
    """Stores generation and timestamp of the empty group, so that both survive a restart.

    If the append fails, a restart may load an older generation, whose members then expire.
    Therefore the failure does not affect the reply to the request.
    """
    record = records.group_metadata(group, {}, step.now_ms)
    step.write([record], lambda _code: None)


def _set_join_timer(step: GroupStep, group: ClassicGroup, delay_ms: int) -> None:
    step.outcome.set_timer(TimerKey(TimerKind.JOIN, group.group_id), delay_ms)
