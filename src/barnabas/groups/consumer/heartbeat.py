"""ConsumerGroupHeartbeat: join, heartbeat, change of subscription, leave.

A heartbeat updates the member, then epoch and target of the group if the change affects other
members, then moves the member towards its target. All records are appended as one batch.
"""

from barnabas.coordination import coordinator_error
from barnabas.groups.consumer import conversion, membership, target_assignment
from barnabas.groups.consumer.draft import ConsumerDraft
from barnabas.groups.consumer.group import (
    NO_PARTITIONS,
    ConsumerGroup,
    ConsumerGroupMember,
    MemberState,
    Partitions,
    to_owned,
    to_partitions,
)
from barnabas.groups.consumer.topic_regex import compile_topic_regex
from barnabas.groups.requests import (
    JOIN_EPOCH,
    LEAVE_EPOCH,
    LEAVE_STATIC_EPOCH,
    ConsumerGroupHeartbeatReply,
    ConsumerGroupHeartbeatRequest,
)
from barnabas.groups.step import GroupStep, GroupTable, TimerKey, TimerKind
from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BrokerError
from barnabas.model.ids import Uuid

# --- Reconciliation -------------------------------------------------------------------------------


def reconcile(
    group: ConsumerGroup, member: ConsumerGroupMember, owned: Partitions | None
) -> ConsumerGroupMember:
    """Returns the member in its next state, or unchanged when it cannot move.

    `owned` are the partitions that the member reports as owned. None means that it sent no list;
    then the coordinator assumes that the member has revoked nothing.

    A member first revokes partitions that are not in its target, then gets the free ones. It moves
    to the target epoch when nothing remains to revoke, so a member epoch proves that the member has
    revoked. A partition is free when no other member owns it; so each partition has one owner.
    """
    match member.state:
        case MemberState.STABLE:
            if member.member_epoch == group.target_epoch:
                return member
            return _advance(group, member, member.member_epoch, owned)
        case MemberState.UNREVOKED_PARTITIONS:
            if _still_owns(owned, member.pending_revocation):
                return member
            return _advance(group, member, member.member_epoch + 1, owned)
        case MemberState.UNRELEASED_PARTITIONS:
            return _advance(group, member, member.member_epoch, owned)
        case MemberState.UNKNOWN:
            if owned is None or owned:
                raise BrokerError(
                    ErrorCode.FENCED_MEMBER_EPOCH,
                    "The member is in an unknown state; it must give up all partitions and rejoin.",
                )
            return _advance(group, member, group.target_epoch, owned)


def _still_owns(owned: Partitions | None, revoked: Partitions) -> bool:
    if owned is None:
        return True
    return any(numbers & revoked.get(topic_id, frozenset()) for topic_id, numbers in owned.items())


def _advance(
    group: ConsumerGroup, member: ConsumerGroupMember, epoch: int, owned: Partitions | None
) -> ConsumerGroupMember:
    target = group.target_of(member.member_id)
    kept = _intersection(member.assigned, target)
    to_revoke = _difference(member.assigned, kept)
    # Revocation before assignment: a partition must never have two owners, so the member gets new
    # partitions only after it no longer reports the ones to revoke (KIP-848).
    if to_revoke and _still_owns(owned, to_revoke):
        return member._replace(
            state=MemberState.UNREVOKED_PARTITIONS,
            member_epoch=epoch,
            previous_member_epoch=member.member_epoch,
            assigned=kept,
            pending_revocation=to_revoke,
        )
    # Partitions that another member has not released yet stay out; a later heartbeat assigns them.
    free, others_hold_some = _free(group, member, _difference(target, kept))
    state = MemberState.UNRELEASED_PARTITIONS if others_hold_some else MemberState.STABLE
    return member._replace(
        state=state,
        member_epoch=group.target_epoch,
        previous_member_epoch=member.member_epoch,
        assigned=_union(kept, free),
        pending_revocation=NO_PARTITIONS,
    )


def _free(
    group: ConsumerGroup, member: ConsumerGroupMember, wanted: Partitions
) -> tuple[Partitions, bool]:
    """Returns the wanted partitions that no other member owns, and whether some are owned."""
    free: dict[Uuid, frozenset[int]] = {}
    held = False
    for topic_id, numbers in wanted.items():
        available = frozenset(
            number
            for number in numbers
            if group.owners.get((topic_id, number), member.member_id) == member.member_id
        )
        held = held or len(available) < len(numbers)
        if available:
            free[topic_id] = available
    return free, held


def _intersection(one: Partitions, other: Partitions) -> Partitions:
    both = {topic: numbers & other.get(topic, frozenset()) for topic, numbers in one.items()}
    return {topic: numbers for topic, numbers in both.items() if numbers}


def _difference(one: Partitions, other: Partitions) -> Partitions:
    rest = {topic: numbers - other.get(topic, frozenset()) for topic, numbers in one.items()}
    return {topic: numbers for topic, numbers in rest.items() if numbers}


def _union(one: Partitions, other: Partitions) -> Partitions:
    result = dict(one)
    for topic, numbers in other.items():
        result[topic] = result.get(topic, frozenset()) | numbers
    return result


# --- ConsumerGroupHeartbeat -----------------------------------------------------------------------


def heartbeat(step: GroupStep, groups: GroupTable, request: ConsumerGroupHeartbeatRequest) -> None:
    """Sets the step's reply; raises BrokerError when the request is rejected."""
    if "consumer" not in step.config.rebalance_protocols:
        raise BrokerError(ErrorCode.UNSUPPORTED_VERSION, "The consumer protocol is disabled.")
    _validate(step, request)
    if request.member_epoch in (LEAVE_EPOCH, LEAVE_STATIC_EPOCH):
        membership.leave(step, groups, request)
    else:
        _stay(step, groups, request)


def _invalid(message: str) -> BrokerError:
    return BrokerError(ErrorCode.INVALID_REQUEST, message)


def _validate(step: GroupStep, request: ConsumerGroupHeartbeatRequest) -> None:
    for name, value in (
        ("GroupId", request.group_id),
        ("InstanceId", request.instance_id),
        ("RackId", request.rack_id),
    ):
        if value == "":
            raise _invalid(f"{name} can't be empty.")
    # A client of version 0 joins without a member id, and the coordinator generates one; later
    # versions generate it themselves, so that a repeated join is the same member (KIP-1082).
    if not request.member_id and (
        request.member_epoch != JOIN_EPOCH or request.generates_member_id
    ):
        raise _invalid("MemberId can't be empty.")
    if request.member_epoch == JOIN_EPOCH:
        _validate_join(request)
    elif request.member_epoch == LEAVE_STATIC_EPOCH and request.instance_id is None:
        raise _invalid("InstanceId can't be null.")
    elif request.member_epoch < LEAVE_STATIC_EPOCH:
        raise _invalid("MemberEpoch is invalid.")
    assignor = request.server_assignor
    if assignor is not None and assignor not in step.config.consumer_assignors:
        known = ", ".join(step.config.consumer_assignors)
        raise BrokerError(
            ErrorCode.UNSUPPORTED_ASSIGNOR,
            f"ServerAssignor {assignor} is not supported. Supported assignors: {known}.",
        )
    # Compiled only to reject an invalid expression here, where the member gets the error.
    if request.subscribed_topic_regex:
        compile_topic_regex(request.subscribed_topic_regex)


def _validate_join(request: ConsumerGroupHeartbeatRequest) -> None:
    if request.rebalance_timeout_ms == -1:
        raise _invalid("RebalanceTimeoutMs must be provided in first request.")
    if request.topic_partitions is None or request.topic_partitions:
        raise _invalid("TopicPartitions must be empty when (re-)joining.")
    if request.subscribed_topic_names is None and not request.subscribed_topic_regex:
        raise _invalid(
            "Either SubscribedTopicNames or SubscribedTopicRegex must be set in first request."
        )


def _stay(step: GroupStep, groups: GroupTable, request: ConsumerGroupHeartbeatRequest) -> None:
    joining = request.member_epoch == JOIN_EPOCH
    # All changes are made to a draft. The group itself changes in `settled`, after the records are
    # in the log; a failed append leaves it as it was.
    opening = conversion.open_for_heartbeat(step, groups, request.group_id, create=joining)
    draft = opening.draft
    _check_room(step, draft.group, request.member_id)
    member_id = request.member_id or step.context.new_id()
    owned = None if request.topic_partitions is None else to_partitions(request.topic_partitions)
    # Checks the member epoch too: an outdated member is fenced here, before anything of the request
    # is applied.
    before = _find_member(draft, request, member_id, owned)
    updated = _updated(before, request)
    _check_memory(step, draft.group, updated)
    member = move_member(step, draft, before, updated, owned)
    set_timers = _MemberTimers(step, request.group_id, member, before)
    reply = ConsumerGroupHeartbeatReply(
        error_code=ErrorCode.NONE,
        member_id=member.member_id,
        member_epoch=member.member_epoch,
        heartbeat_interval_ms=step.heartbeat_interval_ms(request.group_id),
        assignment=(
            to_owned(member.assigned)
            if _is_full(request) or member.assigned != before.assigned
            else None
        ),
    )

    def settled(code: ErrorCode) -> None:
        if code is not ErrorCode.NONE:
            step.outcome.reply = ConsumerGroupHeartbeatReply(coordinator_error(code))
            return
        # Now the group may change: the records are in the log, so a new coordinator would load the
        # same state.
        opening.publish(step, groups)
        # Not before: a failed append must not extend the session of a member that got an error.
        set_timers.apply()
        step.outcome.reply = reply

    if draft.records:
        step.write(draft.records, settled)
    else:
        settled(ErrorCode.NONE)


def _check_room(step: GroupStep, group: ConsumerGroup, member_id: str) -> None:
    limit = step.config.consumer_max_size
    if len(group.members) >= limit and member_id not in group.members:
        raise BrokerError(
            ErrorCode.GROUP_MAX_SIZE_REACHED,
            f"The consumer group has reached its maximum capacity of {limit} members.",
        )


def _check_memory(step: GroupStep, group: ConsumerGroup, member: ConsumerGroupMember) -> None:
    kept = group.members.get(member.member_id)
    freed = 0 if kept is None else kept.kept_bytes
    if kept is not member and group.kept_bytes - freed + member.kept_bytes > step.config.max_bytes:
        raise BrokerError(
            ErrorCode.GROUP_MAX_SIZE_REACHED,
            f"The subscriptions of the consumer group exceed {step.config.max_bytes} bytes.",
        )


def _find_member(
    draft: ConsumerDraft,
    request: ConsumerGroupHeartbeatRequest,
    member_id: str,
    owned: Partitions | None,
) -> ConsumerGroupMember:
    """Returns the member of the heartbeat: known, new, or a static member that rejoins."""
    group = draft.group
    joining = request.member_epoch == JOIN_EPOCH
    if request.instance_id is None:
        known = group.members.get(member_id)
        if known is None and joining:
            return ConsumerGroupMember(member_id)
        member = group.member(member_id)
    else:
        static = group.static_member(request.instance_id)
        if joining:
            return _join_static(draft, static, request.instance_id, member_id)
        member = check_static(static, request.instance_id, member_id)
    _check_epoch(member, request.member_epoch, owned)
    return member


def _join_static(
    draft: ConsumerDraft, static: ConsumerGroupMember | None, instance_id: str, member_id: str
) -> ConsumerGroupMember:
    """Joins a static member, if the previous member with its instance id has left."""
    if static is None:
        return draft.group.members.get(member_id, ConsumerGroupMember(member_id))
    # Unlike the classic protocol, the new process waits: the previous one has to leave or expire
    # first (KIP-848).
    if not static.uses_classic_protocol and static.member_epoch != LEAVE_STATIC_EPOCH:
        raise BrokerError(
            ErrorCode.UNRELEASED_INSTANCE_ID,
            f"Static member {member_id} with instance id {instance_id} cannot join the group"
            f" because the instance id is owned by {static.member_id} member.",
        )
    return draft.replace_member(static, member_id)


def check_static(
    static: ConsumerGroupMember | None, instance_id: str, member_id: str
) -> ConsumerGroupMember:
    """Returns the owner of the instance id; raises BrokerError if it is another member."""
    if static is None:
        raise BrokerError(ErrorCode.UNKNOWN_MEMBER_ID, f"Instance id {instance_id} is unknown.")
    if static.member_id != member_id:
        raise BrokerError(
            ErrorCode.FENCED_INSTANCE_ID,
            f"Static member {member_id} with instance id {instance_id}"
            f" was fenced by member {static.member_id}.",
        )
    return static


def _check_epoch(member: ConsumerGroupMember, epoch: int, owned: Partitions | None) -> None:
    """Accepts the previous epoch if the member owns only assigned partitions: the response with
    the new epoch may have been lost."""
    if epoch == member.member_epoch:
        return
    # A member with the previous epoch that owns more than its assignment has missed a revocation:
    # it could process a partition of another member, so it is fenced.
    retried = epoch == member.previous_member_epoch and owned is not None
    if epoch < member.member_epoch and retried and _is_within(owned, member.assigned):
        return
    relation = "greater" if epoch > member.member_epoch else "smaller"
    raise BrokerError(
        ErrorCode.FENCED_MEMBER_EPOCH,
        f"The consumer group member has a {relation} member epoch ({epoch}) than the one known by"
        f" the group coordinator ({member.member_epoch}). The member must abandon all its"
        " partitions and rejoin.",
    )


def _is_within(owned: Partitions | None, assigned: Partitions) -> bool:
    return owned is not None and all(
        numbers <= assigned.get(topic_id, frozenset()) for topic_id, numbers in owned.items()
    )


def _updated(
    member: ConsumerGroupMember, request: ConsumerGroupHeartbeatRequest
) -> ConsumerGroupMember:
    """Returns the member with the fields of this heartbeat."""
    names, timeout = request.subscribed_topic_names, request.rebalance_timeout_ms
    regex, assignor = request.subscribed_topic_regex, request.server_assignor
    return member._replace(
        instance_id=request.instance_id if request.instance_id is not None else member.instance_id,
        rack_id=request.rack_id if request.rack_id is not None else member.rack_id,
        rebalance_timeout_ms=timeout if timeout != -1 else member.rebalance_timeout_ms,
        server_assignor=assignor if assignor is not None else member.server_assignor,
        subscribed_topic_names=(
            frozenset(names) if names is not None else member.subscribed_topic_names
        ),
        subscribed_topic_regex=regex if regex is not None else member.subscribed_topic_regex,
        client_id=request.client_id,
        client_host=request.client_host,
        classic=None,
    )


def move_member(
    step: GroupStep,
    draft: ConsumerDraft,
    before: ConsumerGroupMember,
    updated: ConsumerGroupMember,
    owned: Partitions | None,
) -> ConsumerGroupMember:
    """Updates a member, the group and its target, then moves the member towards the target."""
    is_new = updated.member_id not in draft.group.members
    if is_new or updated != before:
        draft.put_member(updated)
    changed = (
        updated.subscribed_topic_names != before.subscribed_topic_names
        or updated.subscribed_topic_regex != before.subscribed_topic_regex
    )
    # The order matters: subscriptions determine the group epoch, the epoch the target, and the
    # member moves towards the target.
    target_assignment.refresh(step, draft, subscriptions_changed=is_new or changed)
    target_assignment.update_target(step, draft)
    member = reconcile(draft.group, updated, owned)
    if member != updated:
        draft.put_current_assignment(member)
    return member


def _is_full(request: ConsumerGroupHeartbeatRequest) -> bool:
    """Returns whether the request is a full one, whose response must contain the assignment."""
    subscribes = request.subscribed_topic_names is not None or (
        request.subscribed_topic_regex is not None
    )
    is_complete = request.rebalance_timeout_ms != -1 and request.topic_partitions is not None
    return request.member_epoch == JOIN_EPOCH or (is_complete and subscribes)


class _MemberTimers:
    """The session timer, and a deadline while the member has partitions to revoke."""

    __slots__ = ("_before", "_group_id", "_member", "_step")

    def __init__(
        self,
        step: GroupStep,
        group_id: str,
        member: ConsumerGroupMember,
        before: ConsumerGroupMember,
    ) -> None:
        self._step = step
        self._group_id = group_id
        self._member = member
        self._before = before

    def apply(self) -> None:
        member, outcome = self._member, self._step.outcome
        session = TimerKey(TimerKind.SESSION, self._group_id, member.member_id)
        outcome.set_timer(session, self._step.session_timeout_ms(self._group_id))
        revocation = TimerKey(TimerKind.REVOCATION, self._group_id, member.member_id)
        unrevoked = member.state is MemberState.UNREVOKED_PARTITIONS
        moved = (
            member.state is not self._before.state
            or member.member_epoch != self._before.member_epoch
        )
        # Only for a new revocation: a heartbeat must not extend the deadline of the current one.
        if unrevoked and moved:
            outcome.set_timer(revocation, member.rebalance_timeout_ms)
        elif moved and self._before.state is MemberState.UNREVOKED_PARTITIONS:
            outcome.cancel_timer(revocation)
