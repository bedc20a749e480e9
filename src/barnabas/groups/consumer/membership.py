"""Members of a KIP-848 group: removal, description, the checks of commits and fetches.

Members are removed when they leave, when their session expires, and when they do not revoke
partitions in time. When the last member with the consumer protocol is removed and classic members
remain, the group is converted to a classic group if the migration policy allows it.
"""

import logging

from barnabas.coordination import coordinator_error
from barnabas.groups.consumer import conversion
from barnabas.groups.consumer.draft import ConsumerDraft
from barnabas.groups.consumer.group import (
    NO_PARTITIONS,
    ConsumerGroup,
    ConsumerGroupMember,
    MemberState,
    Partitions,
    to_owned,
)
from barnabas.groups.consumer.target_assignment import subscription_metadata
from barnabas.groups.requests import (
    LEAVE_STATIC_EPOCH,
    ConsumerGroupHeartbeatReply,
    ConsumerGroupHeartbeatRequest,
    DescribedConsumerGroup,
    DescribedConsumerMember,
    NamedPartitions,
)
from barnabas.groups.step import (
    GroupConfig,
    GroupStep,
    GroupTable,
    RebalanceCause,
    TimerKey,
    TimerKind,
    TopicsImage,
)
from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BrokerError

_log = logging.getLogger(__name__)
MEMBER_TIMERS = (
    TimerKind.SESSION,
    TimerKind.REVOCATION,
    TimerKind.CLASSIC_JOIN,
    TimerKind.CLASSIC_SYNC,
)
_CLASSIC_MEMBER = 0
_CONSUMER_MEMBER = 1


# --- Removal --------------------------------------------------------------------------------------


def leave(step: GroupStep, groups: GroupTable, request: ConsumerGroupHeartbeatRequest) -> None:
    """Removes the member (epoch -1), or keeps a static member that will rejoin (epoch -2)."""
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
    """Keeps the member and its partitions until its session expires or its instance rejoins."""
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
    cause = RebalanceCause.EXPIRED if reply is None else RebalanceCause.LEFT
    remove_members(step, draft, [member], cause)

    def settled(code: ErrorCode) -> None:
        if code is not ErrorCode.NONE:
            conversion.fail_or_retry(step, group, member.member_id, code, reply)
            return
        groups.put(draft.group)
        cancel_timers(step, group, member.member_id)
        step.outcome.reply = reply

    step.write(draft.records, settled)


def remove_members(
    step: GroupStep,
    draft: ConsumerDraft,
    members: list[ConsumerGroupMember],
    cause: RebalanceCause = RebalanceCause.LEFT,
) -> None:
    """Removes members from the draft and starts a new group epoch."""
    for member in members:
        draft.remove_member(member.member_id)
    # After the members are removed: an expression that no member uses any more need not be matched
    # again.
    wanted = {member.subscribed_topic_regex for member in draft.group.members.values()}
    for regex in sorted(draft.group.regexes.keys() - wanted):
        draft.remove_regex(regex)
    metadata = subscription_metadata(draft.group, step.topics)
    if metadata != draft.group.subscription_metadata:
        draft.set_subscription_metadata(metadata)
    names = ", ".join(member.member_id for member in members)
    draft.bump_epoch(f"{cause.value}: {names}")
    step.stats.rebalances["consumer", cause.value] += 1


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
    # The member has given up its partitions between the timer and this step.
    if key.kind is TimerKind.REVOCATION and not unrevoked:
        return
    _log.info(
        "group %s: member %s is removed, its %s timer has fired",
        group.group_id,
        member.member_id,
        key.kind.value,
    )
    fence(step, groups, group, member, None)


# --- Description and checks -----------------------------------------------------------------------


def describe(
    group: ConsumerGroup, topics: TopicsImage, config: GroupConfig
) -> DescribedConsumerGroup:
    return DescribedConsumerGroup(
        group_id=group.group_id,
        error_code=ErrorCode.NONE,
        state=group.state.value,
        group_epoch=group.group_epoch,
        assignment_epoch=group.target_epoch,
        assignor_name=group.preferred_assignor() or config.consumer_assignors[0],
        members=tuple(_describe_member(group, m, topics) for m in group.members.values()),
    )


def _describe_member(
    group: ConsumerGroup, member: ConsumerGroupMember, topics: TopicsImage
) -> DescribedConsumerMember:
    classic = member.uses_classic_protocol
    return DescribedConsumerMember(
        member_id=member.member_id,
        instance_id=member.instance_id,
        rack_id=member.rack_id,
        member_epoch=member.member_epoch,
        client_id=member.client_id,
        client_host=member.client_host,
        subscribed_topic_names=tuple(sorted(member.subscribed_topic_names)),
        subscribed_topic_regex=member.subscribed_topic_regex,
        assignment=_named(member.assigned, topics),
        target_assignment=_named(group.target_of(member.member_id), topics),
        member_type=_CLASSIC_MEMBER if classic else _CONSUMER_MEMBER,
    )


def _named(partitions: Partitions, topics: TopicsImage) -> tuple[NamedPartitions, ...]:
    """Returns the partitions with topic names; deleted topics are omitted."""
    named = ((topics.topic_name(owned.topic_id), owned) for owned in to_owned(partitions))
    return tuple(NamedPartitions(topic, owned) for topic, owned in named if topic is not None)


def validate_commit(
    group: ConsumerGroup,
    member_id: str,
    epoch: int,
    *,
    transactional: bool,
    supports_member_epochs: bool,
) -> None:
    """Raises unless a commit of this member and epoch may be stored now.

    `supports_member_epochs`: the client supports member epochs (OffsetCommit v9+).
    """
    if epoch < 0 and group.is_empty:
        return
    member = group.member(member_id)
    if not transactional and not member.uses_classic_protocol and not supports_member_epochs:
        raise BrokerError(
            ErrorCode.UNSUPPORTED_VERSION,
            "OffsetCommit version 9 or above must be used by members using the consumer protocol.",
        )
    _check_epoch(member, epoch)


def validate_fetch(group: ConsumerGroup, member_id: str | None, epoch: int) -> None:
    """Raises unless the member has its current epoch; tools and old clients send no member."""
    if member_id is None and epoch < 0:
        return
    _check_epoch(group.member(member_id or ""), epoch)


def _check_epoch(member: ConsumerGroupMember, epoch: int) -> None:
    if epoch == member.member_epoch:
        return
    if member.uses_classic_protocol:
        raise BrokerError(ErrorCode.ILLEGAL_GENERATION)
    raise BrokerError(
        ErrorCode.STALE_MEMBER_EPOCH,
        f"The received member epoch {epoch} does not match the expected one {member.member_epoch}.",
    )
