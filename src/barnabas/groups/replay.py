"""Applies records read from the log to the state, when a shard is loaded.

Compaction keeps the newest record per key, so records of a group may appear in any order, and
tombstones may refer to unknown groups; both are valid. Unknown record types are skipped, because
a newer broker may have written them.
"""

from collections.abc import Iterable
from typing import Protocol as TypingProtocol

from barnabas.coordination import CoordinatorRecord
from barnabas.groups.classic.group import ClassicGroup, ClassicGroupMember, ClassicState
from barnabas.groups.consumer.group import (
    NO_PARTITIONS,
    ClassicMetadata,
    ConsumerGroup,
    ConsumerGroupMember,
    MemberState,
    Partitions,
    ResolvedRegex,
    TopicMetadata,
)
from barnabas.groups.offset_store import CommittedOffset, OffsetStore
from barnabas.groups.requests import LEAVE_EPOCH, Protocol
from barnabas.groups.step import GroupTable
from barnabas.model.ids import TopicPartition, Uuid
from barnabas.wire.coordinator_records import maybe_decode_offsets_record
from barnabas.wire.message import Message
from barnabas.wire.messages.consumer_group_current_member_assignment_key import (
    ConsumerGroupCurrentMemberAssignmentKey,
)
from barnabas.wire.messages.consumer_group_current_member_assignment_value import (
    ConsumerGroupCurrentMemberAssignmentValue,
)
from barnabas.wire.messages.consumer_group_member_metadata_key import (
    ConsumerGroupMemberMetadataKey,
)
from barnabas.wire.messages.consumer_group_member_metadata_value import (
    ConsumerGroupMemberMetadataValue,
)
from barnabas.wire.messages.consumer_group_metadata_key import ConsumerGroupMetadataKey
from barnabas.wire.messages.consumer_group_metadata_value import ConsumerGroupMetadataValue
from barnabas.wire.messages.consumer_group_partition_metadata_key import (
    ConsumerGroupPartitionMetadataKey,
)
from barnabas.wire.messages.consumer_group_partition_metadata_value import (
    ConsumerGroupPartitionMetadataValue,
)
from barnabas.wire.messages.consumer_group_regular_expression_key import (
    ConsumerGroupRegularExpressionKey,
)
from barnabas.wire.messages.consumer_group_regular_expression_value import (
    ConsumerGroupRegularExpressionValue,
)
from barnabas.wire.messages.consumer_group_target_assignment_member_key import (
    ConsumerGroupTargetAssignmentMemberKey,
)
from barnabas.wire.messages.consumer_group_target_assignment_member_value import (
    ConsumerGroupTargetAssignmentMemberValue,
)
from barnabas.wire.messages.consumer_group_target_assignment_metadata_key import (
    ConsumerGroupTargetAssignmentMetadataKey,
)
from barnabas.wire.messages.consumer_group_target_assignment_metadata_value import (
    ConsumerGroupTargetAssignmentMetadataValue,
)
from barnabas.wire.messages.group_metadata_key import GroupMetadataKey
from barnabas.wire.messages.group_metadata_value import GroupMetadataValue, MemberMetadata
from barnabas.wire.messages.offset_commit_key import OffsetCommitKey
from barnabas.wire.messages.offset_commit_value import OffsetCommitValue

_NO_PRODUCER = -1
_ConsumerKey = (
    ConsumerGroupMemberMetadataKey
    | ConsumerGroupCurrentMemberAssignmentKey
    | ConsumerGroupTargetAssignmentMemberKey
    | ConsumerGroupTargetAssignmentMetadataKey
    | ConsumerGroupPartitionMetadataKey
    | ConsumerGroupRegularExpressionKey
)
"""Keys of the records that hold a part of a consumer group."""


class _TopicPartitions(TypingProtocol):
    """The partitions of one topic; two record types have a class of this shape."""

    topic_id: Uuid
    partitions: list[int]


def replay(
    groups: GroupTable, store: OffsetStore, record: CoordinatorRecord, producer_id: int
) -> None:
    match maybe_decode_offsets_record(record.key, record.value):
        case OffsetCommitKey() as offset_key, (OffsetCommitValue() | None) as offset:
            _offset(groups, store, offset_key, offset, producer_id)
        case GroupMetadataKey() as classic_key, (GroupMetadataValue() | None) as classic:
            _classic_group(groups, classic_key.group, classic)
        case ConsumerGroupMetadataKey() as epoch_key, (
            ConsumerGroupMetadataValue() | None
        ) as epoch:
            _consumer_epoch(groups, epoch_key.group_id, epoch)
        case key, value if isinstance(key, _ConsumerKey):
            _consumer_part(groups, key, value)


def _offset(
    groups: GroupTable,
    store: OffsetStore,
    key: OffsetCommitKey,
    value: OffsetCommitValue | None,
    producer_id: int,
) -> None:
    partition = TopicPartition(key.topic, key.partition)
    if value is None:
        store.remove(key.group, partition)
        return
    if groups.get(key.group) is None:
        # Offsets without membership make a simple group.
        groups.put(ClassicGroup(key.group))
    committed = CommittedOffset(
        offset=value.offset,
        leader_epoch=value.leader_epoch,
        metadata=value.metadata,
        commit_timestamp_ms=value.commit_timestamp,
        expire_timestamp_ms=value.expire_timestamp if value.expire_timestamp != -1 else None,
    )
    if producer_id == _NO_PRODUCER:
        store.put(key.group, partition, committed)
    else:
        store.put_pending(producer_id, key.group, partition, committed)


def _classic_group(groups: GroupTable, group_id: str, value: GroupMetadataValue | None) -> None:
    if value is None:
        # An upgraded group has records of both kinds: the tombstone of its classic record must not
        # remove the consumer group that replaced it (KIP-848).
        if isinstance(groups.get(group_id), ClassicGroup):
            groups.remove(group_id)
        return
    # Only the result of a rebalance is stored. A rebalance that was in progress begins again when
    # its members send their next requests.
    group = ClassicGroup(
        group_id=group_id,
        state=ClassicState.STABLE if value.members else ClassicState.EMPTY,
        generation_id=value.generation,
        protocol_type=value.protocol_type or None,
        protocol_name=value.protocol,
        state_timestamp_ms=(
            value.current_state_timestamp if value.current_state_timestamp != -1 else None
        ),
    )
    for one in value.members:
        group.add(_classic_member(one, value))
    group.leader_id = value.leader if value.leader in group.members else group.leader_id
    group.refresh_subscribed_topics()
    groups.put(group)


def _classic_member(one: MemberMetadata, value: GroupMetadataValue) -> ClassicGroupMember:
    """Decodes a member. A record has only the selected protocol; version 0 has no timeout."""
    rebalance_timeout_ms = one.rebalance_timeout if one.rebalance_timeout > 0 else -1
    return ClassicGroupMember(
        member_id=one.member_id,
        group_instance_id=one.group_instance_id,
        client_id=one.client_id,
        client_host=one.client_host,
        rebalance_timeout_ms=(
            rebalance_timeout_ms if rebalance_timeout_ms != -1 else one.session_timeout
        ),
        session_timeout_ms=one.session_timeout,
        protocol_type=value.protocol_type,
        protocols=(Protocol(value.protocol or "", bytes(one.subscription)),),
        assignment=bytes(one.assignment),
    )


def _consumer_group(groups: GroupTable, group_id: str, *, create: bool) -> ConsumerGroup | None:
    group = groups.get(group_id)
    if isinstance(group, ConsumerGroup):
        return group
    if not create or (group is not None and not group.is_empty):
        return None
    # Replaces the simple group that was created for offsets read earlier.
    made = ConsumerGroup(group_id)
    groups.put(made)
    return made


def _consumer_epoch(
    groups: GroupTable, group_id: str, value: ConsumerGroupMetadataValue | None
) -> None:
    group = _consumer_group(groups, group_id, create=value is not None)
    if group is None:
        return
    if value is None:
        groups.remove(group_id)
    else:
        group.group_epoch = value.epoch


def _consumer_part(groups: GroupTable, key: _ConsumerKey, value: Message | None) -> None:
    group = _consumer_group(groups, key.group_id, create=value is not None)
    if group is None:
        return
    match key, value:
        case (
            ConsumerGroupMemberMetadataKey(member_id=member_id),
            (ConsumerGroupMemberMetadataValue() | None) as member,
        ):
            _consumer_member(group, member_id, member)
        case (
            ConsumerGroupCurrentMemberAssignmentKey(member_id=member_id),
            (ConsumerGroupCurrentMemberAssignmentValue() | None) as current,
        ):
            _current_assignment(group, member_id, current)
        case ConsumerGroupTargetAssignmentMemberKey(member_id=member_id), None:
            group.target.pop(member_id, None)
        case (
            ConsumerGroupTargetAssignmentMemberKey(member_id=member_id),
            ConsumerGroupTargetAssignmentMemberValue() as target,
        ):
            group.target[member_id] = _partitions(target.topic_partitions)
        case ConsumerGroupTargetAssignmentMetadataKey(), None:
            group.target_epoch = 0
        case (
            ConsumerGroupTargetAssignmentMetadataKey(),
            ConsumerGroupTargetAssignmentMetadataValue() as target_epoch,
        ):
            group.target_epoch = target_epoch.assignment_epoch
        case (
            ConsumerGroupPartitionMetadataKey(),
            (ConsumerGroupPartitionMetadataValue() | None) as topics,
        ):
            group.subscription_metadata = _topics(topics)
        case (
            ConsumerGroupRegularExpressionKey(regular_expression=regex),
            (ConsumerGroupRegularExpressionValue() | None) as resolved,
        ):
            _regex(group, regex, resolved)


def _consumer_member(
    group: ConsumerGroup, member_id: str, value: ConsumerGroupMemberMetadataValue | None
) -> None:
    if value is None:
        group.remove_member(member_id)
        return
    classic = None
    if value.classic_member_metadata is not None:
        metadata = value.classic_member_metadata
        classic = ClassicMetadata(
            metadata.session_timeout_ms,
            tuple(Protocol(one.name, bytes(one.metadata)) for one in metadata.supported_protocols),
        )
    member = group.members.get(member_id, ConsumerGroupMember(member_id))
    group.put_member(
        member._replace(
            instance_id=value.instance_id,
            rack_id=value.rack_id,
            client_id=value.client_id,
            client_host=value.client_host,
            rebalance_timeout_ms=value.rebalance_timeout_ms,
            subscribed_topic_names=frozenset(value.subscribed_topic_names),
            subscribed_topic_regex=value.subscribed_topic_regex or "",
            server_assignor=value.server_assignor,
            classic=classic,
        )
    )


def _current_assignment(
    group: ConsumerGroup, member_id: str, value: ConsumerGroupCurrentMemberAssignmentValue | None
) -> None:
    member = group.members.get(member_id)
    if value is None:
        if member is not None:
            group.put_member(
                member._replace(
                    member_epoch=LEAVE_EPOCH,
                    previous_member_epoch=LEAVE_EPOCH,
                    assigned=NO_PARTITIONS,
                    pending_revocation=NO_PARTITIONS,
                )
            )
        return
    group.put_member(
        (member or ConsumerGroupMember(member_id))._replace(
            member_epoch=value.member_epoch,
            previous_member_epoch=value.previous_member_epoch,
            state=MemberState.of(value.state),
            assigned=_partitions(value.assigned_partitions),
            pending_revocation=_partitions(value.partitions_pending_revocation),
        )
    )


def _partitions(topics: Iterable[_TopicPartitions]) -> Partitions:
    return {one.topic_id: frozenset(one.partitions) for one in topics if one.partitions}


def _topics(value: ConsumerGroupPartitionMetadataValue | None) -> dict[str, TopicMetadata]:
    if value is None:
        return {}
    return {one.topic_name: TopicMetadata(one.topic_id, one.num_partitions) for one in value.topics}


def _regex(
    group: ConsumerGroup, regex: str, value: ConsumerGroupRegularExpressionValue | None
) -> None:
    if value is None:
        group.regexes.pop(regex, None)
    else:
        # The stored version belongs to an earlier metadata image, so the regex is resolved again.
        group.regexes[regex] = ResolvedRegex(frozenset(value.topics), -1, value.timestamp)
