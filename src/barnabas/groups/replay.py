"""Applies records read from the log to the state, when a shard is loaded.

Compaction keeps the newest record per key, so records of a group may appear in any order, and
tombstones may refer to unknown groups; both are valid. Unknown record types are skipped, because
a newer broker may have written them.
"""

from typing import Any

from barnabas.coordination.outcome import CoordinatorRecord
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
from barnabas.groups.offsets.store import CommittedOffset, OffsetStore
from barnabas.groups.registry import GroupTable
from barnabas.groups.requests import LEAVE_EPOCH, Protocol
from barnabas.model.ids import TopicPartition
from barnabas.wire.coordinator_records import maybe_decode_offsets_record
from barnabas.wire.messages.consumer_group_current_member_assignment_key import (
    ConsumerGroupCurrentMemberAssignmentKey,
)
from barnabas.wire.messages.consumer_group_member_metadata_key import (
    ConsumerGroupMemberMetadataKey,
)
from barnabas.wire.messages.consumer_group_metadata_key import ConsumerGroupMetadataKey
from barnabas.wire.messages.consumer_group_partition_metadata_key import (
    ConsumerGroupPartitionMetadataKey,
)
from barnabas.wire.messages.consumer_group_regular_expression_key import (
    ConsumerGroupRegularExpressionKey,
)
from barnabas.wire.messages.consumer_group_target_assignment_member_key import (
    ConsumerGroupTargetAssignmentMemberKey,
)
from barnabas.wire.messages.consumer_group_target_assignment_metadata_key import (
    ConsumerGroupTargetAssignmentMetadataKey,
)
from barnabas.wire.messages.group_metadata_key import GroupMetadataKey
from barnabas.wire.messages.offset_commit_key import OffsetCommitKey

_NO_PRODUCER = -1


def replay(
    groups: GroupTable, store: OffsetStore, record: CoordinatorRecord, producer_id: int
) -> None:
    decoded = maybe_decode_offsets_record(record.key, record.value)
    if decoded is None:
        return
    key, value = decoded
    match key:
        case OffsetCommitKey():
            _offset(groups, store, key, value, producer_id)
        case GroupMetadataKey():
            _classic_group(groups, key.group, value)
        case ConsumerGroupMetadataKey():
            _consumer_epoch(groups, key.group_id, value)
        case _:
            _consumer_part(groups, key, value)


def _offset(
    groups: GroupTable, store: OffsetStore, key: OffsetCommitKey, value: Any, producer_id: int
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


def _classic_group(groups: GroupTable, group_id: str, value: Any) -> None:
    if value is None:
        if isinstance(groups.get(group_id), ClassicGroup):
            groups.remove(group_id)
        return
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


def _classic_member(one: Any, value: Any) -> ClassicGroupMember:
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


def _consumer_epoch(groups: GroupTable, group_id: str, value: Any) -> None:
    group = _consumer_group(groups, group_id, create=value is not None)
    if group is None:
        return
    if value is None:
        groups.remove(group_id)
    else:
        group.group_epoch = value.epoch


def _consumer_part(groups: GroupTable, key: Any, value: Any) -> None:
    group = _consumer_group(groups, key.group_id, create=value is not None)
    if group is None:
        return
    match key:
        case ConsumerGroupMemberMetadataKey():
            _consumer_member(group, key.member_id, value)
        case ConsumerGroupCurrentMemberAssignmentKey():
            _current_assignment(group, key.member_id, value)
        case ConsumerGroupTargetAssignmentMemberKey():
            if value is None:
                group.target.pop(key.member_id, None)
            else:
                group.target[key.member_id] = _partitions(value.topic_partitions)
        case ConsumerGroupTargetAssignmentMetadataKey():
            group.target_epoch = 0 if value is None else value.assignment_epoch
        case ConsumerGroupPartitionMetadataKey():
            group.subscription_metadata = _topics(value)
        case ConsumerGroupRegularExpressionKey():
            _regex(group, key.regular_expression, value)


def _consumer_member(group: ConsumerGroup, member_id: str, value: Any) -> None:
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


def _current_assignment(group: ConsumerGroup, member_id: str, value: Any) -> None:
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


def _partitions(topics: Any) -> Partitions:
    return {one.topic_id: frozenset(one.partitions) for one in topics if one.partitions}


def _topics(value: Any) -> dict[str, TopicMetadata]:
    if value is None:
        return {}
    return {one.topic_name: TopicMetadata(one.topic_id, one.num_partitions) for one in value.topics}


def _regex(group: ConsumerGroup, regex: str, value: Any) -> None:
    if value is None:
        group.regexes.pop(regex, None)
    else:
        # The stored version belongs to an earlier metadata image, so the regex is resolved again.
        group.regexes[regex] = ResolvedRegex(frozenset(value.topics), -1, value.timestamp)
