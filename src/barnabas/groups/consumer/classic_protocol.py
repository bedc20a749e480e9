"""Classic requests on a KIP-848 group, from members that still use the classic protocol.

JoinGroup has the role of a heartbeat: it carries the subscription and owned partitions and moves
the member towards its target. SyncGroup returns the assignment. Heartbeat returns
REBALANCE_IN_PROGRESS when the member must rejoin. No request is parked, because the coordinator
assigns and no member waits for a leader.
"""

from barnabas.coordination import coordinator_error
from barnabas.groups.classic.group import (
    CONSUMER_PROTOCOL_TYPE,
    decode_subscription,
    embedded_version,
    encode_assignment,
)
from barnabas.groups.consumer import conversion, membership
from barnabas.groups.consumer.draft import ConsumerDraft
from barnabas.groups.consumer.group import (
    ClassicMetadata,
    ConsumerGroup,
    ConsumerGroupMember,
    MemberState,
)
from barnabas.groups.consumer.heartbeat import check_static, move_member
from barnabas.groups.requests import (
    UNKNOWN_MEMBER_ID,
    HeartbeatReply,
    HeartbeatRequest,
    JoinGroupReply,
    JoinGroupRequest,
    LeaveGroupReply,
    LeaveGroupRequest,
    LeavingMember,
    LeftMember,
    SyncGroupReply,
    SyncGroupRequest,
)
from barnabas.groups.step import GroupStep, GroupTable, TimerKey, TimerKind
from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BrokerError, ProtocolError


def join(
    step: GroupStep, groups: GroupTable, group: ConsumerGroup, request: JoinGroupRequest
) -> None:
    """Sets the step's reply; raises BrokerError when the request is rejected."""
    member_id = request.member_id or step.context.new_id()
    _check_join(step, group, request, member_id)
    # KIP-394: the member joins again with this id, so a client that gives up leaves no member.
    if request.requires_known_member_id and not request.member_id and _is_dynamic(request):
        step.outcome.reply = JoinGroupReply(ErrorCode.MEMBER_ID_REQUIRED, member_id)
        return
    draft = ConsumerDraft(group)
    replaced = group.static_member(request.group_instance_id)
    before = _find_member(draft, request, member_id)
    member = _move(step, draft, before, request)
    if conversion.downgrades_replacing(step, group, replaced):
        _settle_with_downgrade(step, groups, group, draft, member)
    else:
        _settle_join(step, groups, draft, member)


def _is_dynamic(request: JoinGroupRequest) -> bool:
    return request.group_instance_id is None


def _check_join(
    step: GroupStep, group: ConsumerGroup, request: JoinGroupRequest, member_id: str
) -> None:
    if len(group.members) >= step.config.consumer_max_size and member_id not in group.members:
        raise BrokerError(ErrorCode.GROUP_MAX_SIZE_REACHED)
    if not group.supports_classic(request.protocol_type, request.protocols):
        raise BrokerError(ErrorCode.INCONSISTENT_GROUP_PROTOCOL)


def _find_member(
    draft: ConsumerDraft, request: JoinGroupRequest, member_id: str
) -> ConsumerGroupMember:
    """Returns the member; a static member without its id replaces the old one, as in classic
    groups.
    """
    if request.group_instance_id is None:
        return draft.group.members.get(member_id, ConsumerGroupMember(member_id))
    static = draft.group.static_member(request.group_instance_id)
    if request.member_id != UNKNOWN_MEMBER_ID:
        return check_static(static, request.group_instance_id, member_id)
    if static is None:
        return ConsumerGroupMember(member_id)
    return draft.replace_member(static, member_id)


def _move(
    step: GroupStep, draft: ConsumerDraft, before: ConsumerGroupMember, request: JoinGroupRequest
) -> ConsumerGroupMember:
    try:
        subscription = decode_subscription(request.protocols[0].metadata)
    except ProtocolError as error:
        raise BrokerError(ErrorCode.INCONSISTENT_GROUP_PROTOCOL, str(error)) from error
    updated = before._replace(
        instance_id=request.group_instance_id,
        rack_id=subscription.rack_id if subscription.rack_id is not None else before.rack_id,
        rebalance_timeout_ms=request.rebalance_timeout_ms,
        subscribed_topic_names=frozenset(subscription.topics),
        client_id=request.client_id,
        client_host=request.client_host,
        classic=ClassicMetadata(request.session_timeout_ms, request.protocols),
    )
    owned = {topic.topic: frozenset(topic.partitions) for topic in subscription.owned_partitions}
    return move_member(step, draft, before, updated, conversion.by_id(owned, step.topics))


def _join_reply(member: ConsumerGroupMember) -> JoinGroupReply:
    """Returns the reply without a leader, because the coordinator assigns."""
    assert member.classic is not None
    return JoinGroupReply(
        error_code=ErrorCode.NONE,
        member_id=member.member_id,
        generation_id=member.member_epoch,
        protocol_type=CONSUMER_PROTOCOL_TYPE,
        protocol_name=member.classic.protocols[0].name,
    )


def _settle_join(
    step: GroupStep, groups: GroupTable, draft: ConsumerDraft, member: ConsumerGroupMember
) -> None:
    def settled(code: ErrorCode) -> None:
        if code is not ErrorCode.NONE:
            step.outcome.reply = JoinGroupReply(coordinator_error(code), UNKNOWN_MEMBER_ID)
            return
        assert member.classic is not None
        group = draft.group
        groups.put(group)
        group.rejoin_timers.discard(member.member_id)
        outcome, group_id, member_id = step.outcome, group.group_id, member.member_id
        outcome.cancel_timer(TimerKey(TimerKind.CLASSIC_JOIN, group_id, member_id))
        session = TimerKey(TimerKind.SESSION, group_id, member_id)
        outcome.set_timer(session, member.classic.session_timeout_ms)
        # The member must fetch its assignment with SyncGroup in this time, or it is removed:
        # otherwise it would keep partitions that it does not know of.
        sync_key = TimerKey(TimerKind.CLASSIC_SYNC, group_id, member_id)
        outcome.set_timer(sync_key, member.rebalance_timeout_ms)
        outcome.reply = _join_reply(member)

    # Timers and the group change only after the append: after a failure the member is as before.
    if draft.records:
        step.write(draft.records, settled)
    else:
        settled(ErrorCode.NONE)


def _settle_with_downgrade(
    step: GroupStep,
    groups: GroupTable,
    group: ConsumerGroup,
    draft: ConsumerDraft,
    member: ConsumerGroupMember,
) -> None:
    """Downgrades the group: its last KIP-848 member rejoined with the classic protocol."""
    classic = conversion.to_classic_group(step, draft.group, list(draft.group.members.values()))
    classic_records = conversion.downgrade_records(step, draft.group, classic)

    def settled(code: ErrorCode) -> None:
        if code is not ErrorCode.NONE:
            step.outcome.reply = JoinGroupReply(coordinator_error(code), UNKNOWN_MEMBER_ID)
            return
        conversion.publish_classic(step, groups, group, classic)
        reply = _join_reply(member)
        step.outcome.reply = reply._replace(generation_id=classic.generation_id)

    step.write([*draft.records, *classic_records], settled)


def sync(step: GroupStep, group: ConsumerGroup, request: SyncGroupRequest) -> None:
    member = _classic_member(group, request.member_id, request.group_instance_id)
    classic = member.classic
    assert classic is not None
    _check_generation(member, request.generation_id)
    protocol = classic.protocols[0]
    if request.protocol_type not in (None, CONSUMER_PROTOCOL_TYPE):
        raise BrokerError(ErrorCode.INCONSISTENT_GROUP_PROTOCOL)
    if request.protocol_name not in (None, protocol.name):
        raise BrokerError(ErrorCode.INCONSISTENT_GROUP_PROTOCOL)
    revoking = member.state is MemberState.UNREVOKED_PARTITIONS
    if group.group_epoch > member.member_epoch and not revoking:
        # A member that revokes has already rejoined and must finish the revocation first.
        _expect_rejoin(step, group, member)
        step.outcome.reply = SyncGroupReply(ErrorCode.REBALANCE_IN_PROGRESS)
        return
    group_id, member_id = group.group_id, member.member_id
    step.outcome.cancel_timer(TimerKey(TimerKind.CLASSIC_SYNC, group_id, member_id))
    session = TimerKey(TimerKind.SESSION, group_id, member_id)
    step.outcome.set_timer(session, classic.session_timeout_ms)
    assigned = conversion.by_name(member.assigned, step.topics)
    step.outcome.reply = SyncGroupReply(
        error_code=ErrorCode.NONE,
        protocol_type=CONSUMER_PROTOCOL_TYPE,
        protocol_name=protocol.name,
        assignment=encode_assignment(assigned, embedded_version(protocol.metadata)),
    )


def heartbeat(step: GroupStep, group: ConsumerGroup, request: HeartbeatRequest) -> None:
    """Replies REBALANCE_IN_PROGRESS when the member must rejoin to reach its target."""
    member = _classic_member(group, request.member_id, request.group_instance_id)
    assert member.classic is not None
    _check_generation(member, request.generation_id)
    session = TimerKey(TimerKind.SESSION, group.group_id, member.member_id)
    step.outcome.set_timer(session, member.classic.session_timeout_ms)
    may_take_more = (
        member.state is MemberState.UNRELEASED_PARTITIONS and not group.waits_for_others(member)
    )
    must_revoke = member.state is MemberState.UNREVOKED_PARTITIONS
    if member.member_epoch < group.group_epoch or must_revoke or may_take_more:
        _expect_rejoin(step, group, member)
        step.outcome.reply = HeartbeatReply(ErrorCode.REBALANCE_IN_PROGRESS)
    else:
        step.outcome.reply = HeartbeatReply(ErrorCode.NONE)


def leave(
    step: GroupStep, groups: GroupTable, group: ConsumerGroup, request: LeaveGroupRequest
) -> None:
    left: list[LeftMember] = []
    leaving: dict[str, ConsumerGroupMember] = {}
    for one in request.members:
        try:
            member = _leaving_member(group, one)
        except BrokerError as error:
            left.append(LeftMember(one.member_id, one.group_instance_id, error.code))
            continue
        leaving[member.member_id] = member
        left.append(LeftMember(member.member_id, one.group_instance_id, ErrorCode.NONE))
    if not leaving:
        step.outcome.reply = LeaveGroupReply(ErrorCode.NONE, tuple(left))
        return
    draft = ConsumerDraft(group)
    membership.remove_members(step, draft, list(leaving.values()))

    def settled(code: ErrorCode) -> None:
        if code is not ErrorCode.NONE:
            step.outcome.reply = LeaveGroupReply(coordinator_error(code))
            return
        groups.put(draft.group)
        for member_id in leaving:
            membership.cancel_timers(step, group, member_id)
        step.outcome.reply = LeaveGroupReply(ErrorCode.NONE, tuple(left))

    step.write(draft.records, settled)


def _leaving_member(group: ConsumerGroup, leaving: LeavingMember) -> ConsumerGroupMember:
    if leaving.group_instance_id is None:
        member = group.member(leaving.member_id)
    else:
        static = group.static_member(leaving.group_instance_id)
        expected = leaving.member_id
        if expected == UNKNOWN_MEMBER_ID and static is not None:
            expected = static.member_id
        member = check_static(static, leaving.group_instance_id, expected)
    return _require_classic(member)


def _classic_member(
    group: ConsumerGroup, member_id: str, instance_id: str | None
) -> ConsumerGroupMember:
    if instance_id is None:
        return _require_classic(group.member(member_id))
    return _require_classic(check_static(group.static_member(instance_id), instance_id, member_id))


def _require_classic(member: ConsumerGroupMember) -> ConsumerGroupMember:
    if not member.uses_classic_protocol:
        raise BrokerError(
            ErrorCode.UNKNOWN_MEMBER_ID,
            f"Member {member.member_id} does not use the classic protocol.",
        )
    return member


def _check_generation(member: ConsumerGroupMember, generation_id: int) -> None:
    if member.member_epoch != generation_id:
        raise BrokerError(ErrorCode.ILLEGAL_GENERATION)


def _expect_rejoin(step: GroupStep, group: ConsumerGroup, member: ConsumerGroupMember) -> None:
    """Starts the rejoin timer; later heartbeats do not extend it."""
    if member.member_id not in group.rejoin_timers:
        group.rejoin_timers.add(member.member_id)
        key = TimerKey(TimerKind.CLASSIC_JOIN, group.group_id, member.member_id)
        step.outcome.set_timer(key, member.rebalance_timeout_ms)
