"""Records of `__consumer_offsets`: encodes state; `replay` decodes it.

Keys begin with an int16 that names the kind of record: 0-1 committed offset, 2 classic group,
3-8 and 16 KIP-848 groups. Values begin with an int16 version.
"""

from collections.abc import Mapping, Sequence

from barnabas.coordination import CoordinatorRecord
from barnabas.groups.classic.group import ClassicGroup
from barnabas.groups.consumer.group import (
    ConsumerGroupMember,
    Partitions,
    ResolvedRegex,
    TopicMetadata,
)
from barnabas.groups.offset_store import CommittedOffset
from barnabas.model.records import Header
from barnabas.wire.coordinator_records import (
    REBALANCE_REASON,
    REBALANCE_START_MS,
    encode_versioned,
)
from barnabas.wire.messages import consumer_group_current_member_assignment_key as current_key
from barnabas.wire.messages import consumer_group_current_member_assignment_value as current_value
from barnabas.wire.messages import consumer_group_member_metadata_key as member_key
from barnabas.wire.messages import consumer_group_member_metadata_value as member_value
from barnabas.wire.messages import consumer_group_metadata_key as epoch_key
from barnabas.wire.messages import consumer_group_metadata_value as epoch_value
from barnabas.wire.messages import consumer_group_partition_metadata_key as topics_key
from barnabas.wire.messages import consumer_group_partition_metadata_value as topics_value
from barnabas.wire.messages import consumer_group_regular_expression_key as regex_key
from barnabas.wire.messages import consumer_group_regular_expression_value as regex_value
from barnabas.wire.messages import consumer_group_target_assignment_member_key as target_key
from barnabas.wire.messages import consumer_group_target_assignment_member_value as target_value
from barnabas.wire.messages import (
    consumer_group_target_assignment_metadata_key as target_epoch_key,
)
from barnabas.wire.messages import (
    consumer_group_target_assignment_metadata_value as target_epoch_value,
)
from barnabas.wire.messages.group_metadata_key import GroupMetadataKey
from barnabas.wire.messages.group_metadata_value import GroupMetadataValue, MemberMetadata
from barnabas.wire.messages.offset_commit_key import OffsetCommitKey
from barnabas.wire.messages.offset_commit_value import OffsetCommitValue

_OFFSET_KEY_VERSION = 1
_OFFSET_VALUE_VERSION = 3
_OFFSET_VALUE_WITH_EXPIRY_VERSION = 1
_GROUP_VALUE_VERSION = 3


# Offsets


def offset_commit(
    group_id: str, topic: str, partition: int, committed: CommittedOffset
) -> CoordinatorRecord:
    """Encodes a commit: version 3 has the leader epoch, version 1 an expiry (old clients)."""
    expires = committed.expire_timestamp_ms
    value = OffsetCommitValue(
        offset=committed.offset,
        leader_epoch=committed.leader_epoch,
        metadata=committed.metadata,
        commit_timestamp=committed.commit_timestamp_ms,
        expire_timestamp=expires if expires is not None else -1,
    )
    version = _OFFSET_VALUE_VERSION if expires is None else _OFFSET_VALUE_WITH_EXPIRY_VERSION
    return CoordinatorRecord(
        _offset_key(group_id, topic, partition), encode_versioned(value, version)
    )


def offset_tombstone(group_id: str, topic: str, partition: int) -> CoordinatorRecord:
    return CoordinatorRecord(_offset_key(group_id, topic, partition), None)


def _offset_key(group_id: str, topic: str, partition: int) -> bytes:
    return encode_versioned(OffsetCommitKey(group_id, topic, partition), _OFFSET_KEY_VERSION)


# Classic groups


def group_metadata(
    group: ClassicGroup, assignments: Mapping[str, bytes], now_ms: int
) -> CoordinatorRecord:
    """Encodes a generation with its members and their assignments."""
    value = GroupMetadataValue(
        protocol_type=group.protocol_type or "",
        generation=group.generation_id,
        protocol=group.protocol_name,
        leader=group.leader_id,
        current_state_timestamp=(
            group.state_timestamp_ms if group.state_timestamp_ms is not None else now_ms
        ),
        members=[
            MemberMetadata(
                member_id=member.member_id,
                group_instance_id=member.group_instance_id,
                client_id=member.client_id,
                client_host=member.client_host,
                rebalance_timeout=member.rebalance_timeout_ms,
                session_timeout=member.session_timeout_ms,
                subscription=member.metadata(group.protocol_name),
                assignment=assignments.get(member.member_id, b""),
            )
            for member in group.members.values()
        ],
    )
    return CoordinatorRecord(
        encode_versioned(GroupMetadataKey(group.group_id), 2),
        encode_versioned(value, _GROUP_VALUE_VERSION),
        _rebalance_headers(group.rebalance_reason, group.rebalance_start_ms),
    )


def _rebalance_headers(reason: str, start_ms: int | None) -> Sequence[Header]:
    """Returns headers for tools that show why and when a group rebalanced."""
    headers: list[Header] = []
    if reason:
        headers.append((REBALANCE_REASON, reason.encode()))
    if start_ms is not None:
        headers.append((REBALANCE_START_MS, str(start_ms).encode()))
    return headers


def group_tombstone(group_id: str) -> CoordinatorRecord:
    return CoordinatorRecord(encode_versioned(GroupMetadataKey(group_id), 2), None)


# KIP-848 groups


def consumer_epoch(group_id: str, epoch: int, reason: str = "") -> CoordinatorRecord:
    value = epoch_value.ConsumerGroupMetadataValue(epoch=epoch)
    headers = _rebalance_headers(reason, None)
    return CoordinatorRecord(_epoch_key(group_id), encode_versioned(value, 0), headers)


def consumer_subscription_metadata(
    group_id: str, metadata: Mapping[str, TopicMetadata]
) -> CoordinatorRecord:
    topics = [
        topics_value.TopicMetadata(
            topic_id=topic.topic_id, topic_name=name, num_partitions=topic.partition_count
        )
        for name, topic in sorted(metadata.items())
    ]
    value = topics_value.ConsumerGroupPartitionMetadataValue(topics=topics)
    return CoordinatorRecord(_topics_key(group_id), encode_versioned(value, 0))


def consumer_member(group_id: str, member: ConsumerGroupMember) -> CoordinatorRecord:
    classic = None
    if member.classic is not None:
        classic = member_value.ClassicMemberMetadata(
            session_timeout_ms=member.classic.session_timeout_ms,
            supported_protocols=[
                member_value.ClassicProtocol(name=name, metadata=metadata)
                for name, metadata in member.classic.protocols
            ],
        )
    value = member_value.ConsumerGroupMemberMetadataValue(
        instance_id=member.instance_id,
        rack_id=member.rack_id,
        client_id=member.client_id,
        client_host=member.client_host,
        subscribed_topic_names=sorted(member.subscribed_topic_names),
        subscribed_topic_regex=member.subscribed_topic_regex,
        rebalance_timeout_ms=member.rebalance_timeout_ms,
        server_assignor=member.server_assignor,
        classic_member_metadata=classic,
    )
    return CoordinatorRecord(_member_key(group_id, member.member_id), encode_versioned(value, 0))


def consumer_current_assignment(group_id: str, member: ConsumerGroupMember) -> CoordinatorRecord:
    def topics(partitions: Partitions) -> list[current_value.TopicPartitions]:
        return [
            current_value.TopicPartitions(topic_id=topic_id, partitions=sorted(numbers))
            for topic_id, numbers in sorted(partitions.items())
        ]

    value = current_value.ConsumerGroupCurrentMemberAssignmentValue(
        member_epoch=member.member_epoch,
        previous_member_epoch=member.previous_member_epoch,
        state=int(member.state),
        assigned_partitions=topics(member.assigned),
        partitions_pending_revocation=topics(member.pending_revocation),
    )
    return CoordinatorRecord(_current_key(group_id, member.member_id), encode_versioned(value, 0))


def consumer_target_member(
    group_id: str, member_id: str, partitions: Partitions
) -> CoordinatorRecord:
    value = target_value.ConsumerGroupTargetAssignmentMemberValue(
        topic_partitions=[
            target_value.TopicPartition(topic_id=topic_id, partitions=sorted(numbers))
            for topic_id, numbers in sorted(partitions.items())
        ]
    )
    return CoordinatorRecord(_target_key(group_id, member_id), encode_versioned(value, 0))


def consumer_target_epoch(group_id: str, epoch: int) -> CoordinatorRecord:
    value = target_epoch_value.ConsumerGroupTargetAssignmentMetadataValue(assignment_epoch=epoch)
    return CoordinatorRecord(_target_epoch_key(group_id), encode_versioned(value, 0))


def consumer_regex(group_id: str, regex: str, resolved: ResolvedRegex) -> CoordinatorRecord:
    value = regex_value.ConsumerGroupRegularExpressionValue(
        topics=sorted(resolved.topics),
        version=resolved.image_version,
        timestamp=resolved.timestamp_ms,
    )
    return CoordinatorRecord(_regex_key(group_id, regex), encode_versioned(value, 0))


def consumer_regex_tombstone(group_id: str, regex: str) -> CoordinatorRecord:
    return CoordinatorRecord(_regex_key(group_id, regex), None)


def consumer_member_tombstones(group_id: str, member_id: str) -> list[CoordinatorRecord]:
    """Returns the tombstones in an order that never leaves a partial member."""
    return [
        CoordinatorRecord(_current_key(group_id, member_id), None),
        CoordinatorRecord(_target_key(group_id, member_id), None),
        CoordinatorRecord(_member_key(group_id, member_id), None),
    ]


def consumer_group_tombstones(
    group_id: str, member_ids: list[str], regexes: list[str]
) -> list[CoordinatorRecord]:
    """Returns tombstones for every record of a KIP-848 group, except its offsets."""
    tombstones: list[CoordinatorRecord] = []
    for member_id in member_ids:
        tombstones += consumer_member_tombstones(group_id, member_id)
    tombstones.append(CoordinatorRecord(_target_epoch_key(group_id), None))
    tombstones += [consumer_regex_tombstone(group_id, regex) for regex in regexes]
    tombstones.append(CoordinatorRecord(_topics_key(group_id), None))
    tombstones.append(CoordinatorRecord(_epoch_key(group_id), None))
    return tombstones


def _epoch_key(group_id: str) -> bytes:
    return encode_versioned(epoch_key.ConsumerGroupMetadataKey(group_id), 3)


def _topics_key(group_id: str) -> bytes:
    return encode_versioned(topics_key.ConsumerGroupPartitionMetadataKey(group_id), 4)


def _member_key(group_id: str, member_id: str) -> bytes:
    return encode_versioned(member_key.ConsumerGroupMemberMetadataKey(group_id, member_id), 5)


def _target_epoch_key(group_id: str) -> bytes:
    return encode_versioned(target_epoch_key.ConsumerGroupTargetAssignmentMetadataKey(group_id), 6)


def _target_key(group_id: str, member_id: str) -> bytes:
    return encode_versioned(
        target_key.ConsumerGroupTargetAssignmentMemberKey(group_id, member_id), 7
    )


def _current_key(group_id: str, member_id: str) -> bytes:
    return encode_versioned(
        current_key.ConsumerGroupCurrentMemberAssignmentKey(group_id, member_id), 8
    )


def _regex_key(group_id: str, regex: str) -> bytes:
    return encode_versioned(regex_key.ConsumerGroupRegularExpressionKey(group_id, regex), 16)
