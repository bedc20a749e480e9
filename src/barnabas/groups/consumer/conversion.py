"""Online conversion between classic and consumer groups.

Upgrade: the first member with the consumer protocol converts a classic group of consumers into a
KIP-848 group; its classic members stay and continue to use the classic protocol. Downgrade: when
the last member with the consumer protocol leaves, the other members get a classic group. Offsets
are stored by group id and do not change.
"""

from dataclasses import dataclass, field

from barnabas.coordination import CoordinatorRecord, coordinator_error
from barnabas.groups import records
from barnabas.groups.classic import rebalance
from barnabas.groups.classic.group import (
    CONSUMER_PROTOCOL_TYPE,
    ClassicGroup,
    ClassicGroupMember,
    ClassicState,
    decode_assignment,
    decode_subscription,
    embedded_version,
    encode_assignment,
)
from barnabas.groups.consumer.draft import ConsumerDraft
from barnabas.groups.consumer.group import (
    ClassicMetadata,
    ConsumerGroup,
    ConsumerGroupMember,
    Partitions,
)
from barnabas.groups.requests import ConsumerGroupHeartbeatReply
from barnabas.groups.step import (
    GroupStep,
    GroupTable,
    RebalanceCause,
    TimerKey,
    TimerKind,
    TopicsImage,
)
from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BrokerError, ProtocolError
from barnabas.model.ids import Uuid


@dataclass(slots=True)
class GroupDraft:
    """A draft of a KIP-848 group, and the classic group that it replaces, if any."""

    draft: ConsumerDraft
    replaced: ClassicGroup | None = None
    _converted: list[ConsumerGroupMember] = field(default_factory=list)

    def publish(self, step: GroupStep, groups: GroupTable) -> None:
        """Makes the draft the current group after its records were appended."""
        groups.put(self.draft.group)
        if self.replaced is None:
            return
        # After the new group is in the table: the members rejoin at once and must find it.
        _fail_parked_requests(step, self.replaced)
        for member in self._converted:
            assert member.classic is not None
            key = TimerKey(TimerKind.SESSION, self.replaced.group_id, member.member_id)
            step.outcome.set_timer(key, member.classic.session_timeout_ms)


def open_for_heartbeat(
    step: GroupStep, groups: GroupTable, group_id: str, *, create: bool
) -> GroupDraft:
    """Returns the KIP-848 group of this id; `create` allows a new or converted group."""
    group = groups.get(group_id)
    if isinstance(group, ConsumerGroup):
        return GroupDraft(ConsumerDraft(group))
    if not create:
        groups.existing_consumer(group_id)
    if group is None:
        return GroupDraft(ConsumerDraft.of_new(ConsumerGroup(group_id)))
    assert isinstance(group, ClassicGroup)
    if group.is_empty:
        draft = ConsumerDraft.of_new(ConsumerGroup(group_id))
        draft.records.append(records.group_tombstone(group_id))
        return GroupDraft(draft, group)
    return _upgrade(step, group)


def _upgrade_error(group: ClassicGroup, why: str) -> BrokerError:
    return BrokerError(
        ErrorCode.GROUP_ID_NOT_FOUND, f"Group {group.group_id} is not a consumer group: {why}."
    )


def _upgrade(step: GroupStep, group: ClassicGroup) -> GroupDraft:
    if not step.config.upgrade_allowed:
        raise _upgrade_error(group, "online upgrade is disabled")
    if not group.uses_consumer_protocol:
        raise _upgrade_error(group, f"its protocol type is {group.protocol_type}")
    if len(group.members) > step.config.consumer_max_size:
        raise _upgrade_error(group, "it has too many members")
    try:
        members = [_to_consumer_member(group, m, step.topics) for m in group.all_members]
    except ProtocolError as error:
        raise _upgrade_error(group, str(error)) from error
    draft = ConsumerDraft.of_new(ConsumerGroup(group.group_id))
    draft.records.append(records.group_tombstone(group.group_id))
    for member in members:
        draft.put_member(member)
    # The epoch continues the generation, so that members which still use the classic protocol find
    # their generation valid (KIP-848).
    draft.set_epoch(group.generation_id, RebalanceCause.CONVERTED.value)
    for member in members:
        draft.put_target(member.member_id, member.assigned)
    draft.set_target_epoch(group.generation_id)
    for member in members:
        draft.put_current_assignment(member)
    return GroupDraft(draft, group, members)


def _to_consumer_member(
    group: ClassicGroup, member: ClassicGroupMember, topics: TopicsImage
) -> ConsumerGroupMember:
    protocol_name = group.protocol_name or group.select_protocol()
    subscription = decode_subscription(member.metadata(protocol_name))
    return ConsumerGroupMember(
        member_id=member.member_id,
        member_epoch=group.generation_id,
        previous_member_epoch=group.generation_id,
        instance_id=member.group_instance_id,
        rack_id=subscription.rack_id,
        client_id=member.client_id,
        client_host=member.client_host,
        rebalance_timeout_ms=member.rebalance_timeout_ms,
        subscribed_topic_names=frozenset(subscription.topics),
        classic=ClassicMetadata(member.session_timeout_ms, member.protocols),
        assigned=by_id(decode_assignment(member.assignment), topics),
    )


def _fail_parked_requests(step: GroupStep, group: ClassicGroup) -> None:
    """Fails requests parked in the classic rebalance, so that the members rejoin."""
    rebalance.fail_parked_requests(step, group, ErrorCode.REBALANCE_IN_PROGRESS)
    for kind in (TimerKind.JOIN, TimerKind.SYNC):
        step.outcome.cancel_timer(TimerKey(kind, group.group_id))
    for member_id in group.pending_members:
        step.outcome.cancel_timer(TimerKey(TimerKind.PENDING_MEMBER, group.group_id, member_id))


# Downgrade


def downgrades_without(step: GroupStep, group: ConsumerGroup, member_id: str) -> bool:
    """Returns whether the group becomes classic when this member leaves.

    This needs a policy that allows it, and no other member with the consumer protocol.
    """
    return _is_last_of_new_protocol(step, group, member_id) and len(group.members) > 1


def downgrades_replacing(
    step: GroupStep, group: ConsumerGroup, replaced: ConsumerGroupMember | None
) -> bool:
    """Returns the same for a static member that a classic member replaces."""
    return replaced is not None and _is_last_of_new_protocol(step, group, replaced.member_id)


def _is_last_of_new_protocol(step: GroupStep, group: ConsumerGroup, member_id: str) -> bool:
    others = [member for member in group.members.values() if member.member_id != member_id]
    return (
        not group.members[member_id].uses_classic_protocol
        and all(member.uses_classic_protocol for member in others)
        and step.config.downgrade_allowed
        and len(others) <= step.config.max_size
    )


def downgrade(
    step: GroupStep,
    groups: GroupTable,
    group: ConsumerGroup,
    leaving_id: str,
    reply: ConsumerGroupHeartbeatReply | None,
) -> None:
    """Converts all members but one to a classic group, which rebalances at once."""
    stay = [member for member in group.members.values() if member.member_id != leaving_id]
    classic = to_classic_group(step, group, stay)

    def settled(code: ErrorCode) -> None:
        if code is not ErrorCode.NONE:
            fail_or_retry(step, group, leaving_id, code, reply)
            return
        publish_classic(step, groups, group, classic)
        reason = f"turned into a classic group without {leaving_id}"
        rebalance.prepare_rebalance(step, classic, RebalanceCause.CONVERTED, reason)
        step.outcome.reply = reply

    step.write(downgrade_records(step, group, classic), settled)


def fail_or_retry(
    step: GroupStep,
    group: ConsumerGroup,
    member_id: str,
    code: ErrorCode,
    reply: ConsumerGroupHeartbeatReply | None,
) -> None:
    """Fails the request, or sets the timer again; else an expired member would stay forever."""
    if reply is not None:
        step.outcome.reply = ConsumerGroupHeartbeatReply(coordinator_error(code))
        return
    key = TimerKey(TimerKind.SESSION, group.group_id, member_id)
    step.outcome.set_timer(key, step.heartbeat_interval_ms(group.group_id))


def downgrade_records(
    step: GroupStep, group: ConsumerGroup, classic: ClassicGroup
) -> list[CoordinatorRecord]:
    return [
        *records.consumer_group_tombstones(
            group.group_id, list(group.members), sorted(group.regexes)
        ),
        records.group_metadata(classic, classic.assignments(), step.now_ms),
    ]


def to_classic_group(
    step: GroupStep, group: ConsumerGroup, members: list[ConsumerGroupMember]
) -> ClassicGroup:
    """Returns a stable classic group at the group's epoch; assignments are the targets."""
    classic = ClassicGroup(
        group_id=group.group_id,
        state=ClassicState.STABLE,
        state_timestamp_ms=step.now_ms,
        generation_id=group.group_epoch,
        protocol_type=CONSUMER_PROTOCOL_TYPE,
    )
    for member in members:
        classic.add(_to_classic_member(member))
    classic.protocol_name = classic.select_protocol()
    classic.refresh_subscribed_topics()
    for one in classic.all_members:
        version = embedded_version(one.metadata(classic.protocol_name))
        target = by_name(group.target_of(one.member_id), step.topics)
        one.assignment = encode_assignment(target, version)
    return classic


def _to_classic_member(member: ConsumerGroupMember) -> ClassicGroupMember:
    assert member.classic is not None
    return ClassicGroupMember(
        member_id=member.member_id,
        group_instance_id=member.instance_id,
        client_id=member.client_id,
        client_host=member.client_host,
        rebalance_timeout_ms=member.rebalance_timeout_ms,
        session_timeout_ms=member.classic.session_timeout_ms,
        protocol_type=CONSUMER_PROTOCOL_TYPE,
        protocols=member.classic.protocols,
    )


def publish_classic(
    step: GroupStep, groups: GroupTable, group: ConsumerGroup, classic: ClassicGroup
) -> None:
    """Makes the classic group current after the records of the downgrade were appended."""
    groups.put(classic)
    for member_id in group.members:
        for kind in (TimerKind.REVOCATION, TimerKind.CLASSIC_JOIN, TimerKind.CLASSIC_SYNC):
            step.outcome.cancel_timer(TimerKey(kind, group.group_id, member_id))
        if member_id not in classic.members:
            step.outcome.cancel_timer(TimerKey(TimerKind.SESSION, group.group_id, member_id))
    for member in classic.all_members:
        rebalance.set_session(step, classic, member)


# Topic names and ids


def by_id(partitions: dict[str, frozenset[int]], topics: TopicsImage) -> dict[Uuid, frozenset[int]]:
    """Maps topic names to ids; deleted topics are omitted."""
    found = ((topics.topic_id(topic), numbers) for topic, numbers in partitions.items())
    return {topic_id: numbers for topic_id, numbers in found if topic_id is not None and numbers}


def by_name(partitions: Partitions, topics: TopicsImage) -> dict[str, frozenset[int]]:
    found = ((topics.topic_name(topic_id), numbers) for topic_id, numbers in partitions.items())
    return {topic: numbers for topic, numbers in found if topic is not None}
