"""Removes members of a KIP-848 group: on leave, on session expiry, on a missed revocation.

When the last member with the consumer protocol is removed and classic members remain, the group is
converted to a classic group if the migration policy allows it.
"""

import logging

from barnabas.coordination.append_errors import coordinator_error
from barnabas.groups.consumer import conversion
from barnabas.groups.consumer.draft import ConsumerDraft
from barnabas.groups.consumer.group import ConsumerGroup
from barnabas.groups.consumer.member import NO_PARTITIONS, ConsumerGroupMember, MemberState
from barnabas.groups.consumer.subscription import subscription_metadata
from barnabas.groups.registry import GroupTable
from barnabas.groups.replies import ConsumerGroupHeartbeatReply
from barnabas.groups.requests import LEAVE_STATIC_EPOCH, ConsumerGroupHeartbeatRequest
from barnabas.groups.step import GroupStep
from barnabas.groups.timers import TimerKey, TimerKind
from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BrokerError

_log = logging.getLogger(__name__)

MEMBER_TIMERS = (
    TimerKind.SESSION,
    TimerKind.REVOCATION,
    TimerKind.CLASSIC_JOIN,
    TimerKind.CLASSIC_SYNC,
)


def leave(step: GroupStep, groups: GroupTable, request: ConsumerGroupHeartbeatRequest) -> None:
    """Epoch -1 removes the member; epoch -2 keeps a static member that will rejoin."""
    group = groups.existing_consumer(request.group_id)
    if request.instance_id is None:
        member = group.member(request.member_id)
    else:
        member = _static(group, request.instance_id, request.member_id)
    reply = ConsumerGroupHeartbeatReply(
        ErrorCode.NONE, member_id=request.member_id, member_epoch=request.member_epoch
    )
    if request.member_epoch == LEAVE_STATIC_EPOCH:
        _leave_temporarily(step, groups, group, member, reply)
    else:
        fence(step, groups, group, member, reply)


def _static(group: ConsumerGroup, instance_id: str, member_id: str) -> ConsumerGroupMember:
    static = group.static_member(instance_id)
    if static is None:
        raise BrokerError(ErrorCode.UNKNOWN_MEMBER_ID, f"Instance id {instance_id} is unknown.")
    if static.member_id != member_id:
        raise BrokerError(
            ErrorCode.FENCED_INSTANCE_ID,
            f"Static member {member_id} was fenced by member {static.member_id}.",
        )
    return static


def _leave_temporarily(
    step: GroupStep,
    groups: GroupTable,
    group: ConsumerGroup,
    member: ConsumerGroupMember,
    reply: ConsumerGroupHeartbeatReply,
) -> None:
    """The member keeps its partitions until its session expires or a member with its id joins."""
    draft = ConsumerDraft(group)
    draft.put_current_assignment(
        member._replace(member_epoch=LEAVE_STATIC_EPOCH, pending_revocation=NO_PARTITIONS)
    )

    def settled(code: ErrorCode) -> None:
        if code is not ErrorCode.NONE:
            step.outcome.reply = ConsumerGroupHeartbeatReply(coordinator_error(code))
            return
        groups.put(draft.group)
        key = TimerKey(TimerKind.REVOCATION, group.group_id, member.member_id)
        step.outcome.cancel_timer(key)
        step.outcome.reply = reply

    step.write(draft.records, settled)


def fence(
    step: GroupStep,
    groups: GroupTable,
    group: ConsumerGroup,
    member: ConsumerGroupMember,
    reply: ConsumerGroupHeartbeatReply | None,
) -> None:
    """Removes a member; the next target assignment gives its partitions to other members."""
    if conversion.downgrades_without(step, group, member.member_id):
        conversion.downgrade(step, groups, group, member.member_id, reply)
        return
    draft = ConsumerDraft(group)
    remove_members(step, draft, [member])

    def settled(code: ErrorCode) -> None:
        if code is not ErrorCode.NONE:
            _fail_or_retry(step, group, member, code, reply)
            return
        groups.put(draft.group)
        cancel_timers(step, group, member.member_id)
        step.outcome.reply = reply

    step.write(draft.records, settled)


def _fail_or_retry(
    step: GroupStep,
    group: ConsumerGroup,
    member: ConsumerGroupMember,
    code: ErrorCode,
    reply: ConsumerGroupHeartbeatReply | None,
) -> None:
    """Fails the request, or sets the timer again; else an expired member would stay forever."""
    if reply is not None:
        step.outcome.reply = ConsumerGroupHeartbeatReply(coordinator_error(code))
        return
    key = TimerKey(TimerKind.SESSION, group.group_id, member.member_id)
    step.outcome.set_timer(key, step.heartbeat_interval_ms(group.group_id))


def remove_members(
    step: GroupStep, draft: ConsumerDraft, members: list[ConsumerGroupMember]
) -> None:
    """Removes members from the draft and starts a new group epoch."""
    for member in members:
        draft.remove_member(member.member_id)
    wanted = {member.subscribed_topic_regex for member in draft.group.members.values()}
    for regex in sorted(draft.group.regexes.keys() - wanted):
        draft.remove_regex(regex)
    metadata = subscription_metadata(draft.group, step.topics)
    if metadata != draft.group.subscription_metadata:
        draft.set_subscription_metadata(metadata)
    draft.bump_epoch()


def cancel_timers(step: GroupStep, group: ConsumerGroup, member_id: str) -> None:
    group.rejoin_timers.discard(member_id)
    for kind in MEMBER_TIMERS:
        step.outcome.cancel_timer(TimerKey(kind, group.group_id, member_id))


def on_timer(step: GroupStep, groups: GroupTable, group: ConsumerGroup, key: TimerKey) -> None:
    """Fences the member of a timer that fired, if the condition still holds."""
    if key.kind not in MEMBER_TIMERS:
        return
    if key.kind is TimerKind.CLASSIC_JOIN:
        group.rejoin_timers.discard(key.member_id)
    member = group.members.get(key.member_id)
    if member is None:
        return
    unrevoked = member.state is MemberState.UNREVOKED_PARTITIONS
    if key.kind is TimerKind.REVOCATION and not unrevoked:
        return
    _log.info(
        "group %s: member %s is removed, its %s timer has fired",
        group.group_id,
        member.member_id,
        key.kind.value,
    )
    fence(step, groups, group, member, None)
