"""The classic protocol's requests, and the bytes members exchange through the coordinator. Pure."""

from collections.abc import Iterable, Mapping, Sequence

from barnabas.clients.assignors import Assignment, MemberSubscription
from barnabas.clients.group.settings import GroupSettings
from barnabas.model.errors import ProtocolError
from barnabas.model.ids import TopicPartition, by_topic
from barnabas.model.records import GroupMetadata
from barnabas.wire.messages.consumer_protocol_assignment import ConsumerProtocolAssignment
from barnabas.wire.messages.consumer_protocol_assignment import (
    TopicPartition as AssignedTopic,
)
from barnabas.wire.messages.consumer_protocol_subscription import ConsumerProtocolSubscription
from barnabas.wire.messages.consumer_protocol_subscription import TopicPartition as OwnedTopic
from barnabas.wire.messages.heartbeat import HeartbeatRequest
from barnabas.wire.messages.join_group import (
    JoinGroupRequest,
    JoinGroupRequestProtocol,
    JoinGroupResponseMember,
)
from barnabas.wire.messages.leave_group import LeaveGroupRequest, MemberIdentity
from barnabas.wire.messages.sync_group import SyncGroupRequest, SyncGroupRequestAssignment
from barnabas.wire.primitives import Part, join_parts

PROTOCOL_TYPE = "consumer"
SUBSCRIPTION_VERSION = 3
ASSIGNMENT_VERSION = 3


def encode_subscription(
    topics: Iterable[str],
    owned: Sequence[TopicPartition],
    generation: int,
    user_data: bytes | None,
    rack: str,
) -> bytes:
    """Encodes the subscription that a member sends to the leader; begins with its version."""
    message = ConsumerProtocolSubscription(
        topics=sorted(topics),
        user_data=user_data,
        owned_partitions=[
            OwnedTopic(topic=topic, partitions=partitions)
            for topic, partitions in by_topic(sorted(owned)).items()
        ],
        generation_id=generation,
        rack_id=rack or None,
    )
    return _versioned(SUBSCRIPTION_VERSION, message.encode(SUBSCRIPTION_VERSION))


def decode_subscription(member: JoinGroupResponseMember) -> MemberSubscription:
    version, body = _split(member.metadata)
    known = min(version, SUBSCRIPTION_VERSION)
    found = ConsumerProtocolSubscription.decode(body, known)
    return MemberSubscription(
        member.member_id,
        frozenset(found.topics),
        member.group_instance_id,
        tuple(
            TopicPartition(item.topic, partition)
            for item in found.owned_partitions
            for partition in item.partitions
        ),
        found.generation_id,
        found.user_data,
        found.rack_id,
    )


def encode_assignment(topic_partitions: Iterable[TopicPartition]) -> bytes:
    message = ConsumerProtocolAssignment(
        assigned_partitions=[
            AssignedTopic(topic=topic, partitions=partitions)
            for topic, partitions in by_topic(sorted(topic_partitions)).items()
        ]
    )
    return _versioned(ASSIGNMENT_VERSION, message.encode(ASSIGNMENT_VERSION))


def decode_assignment(data: bytes) -> frozenset[TopicPartition]:
    """Decodes the assigned partitions; no bytes mean no partitions."""
    if not data:
        return frozenset()
    version, body = _split(data)
    found = ConsumerProtocolAssignment.decode(body, min(version, ASSIGNMENT_VERSION))
    return frozenset(
        TopicPartition(item.topic, partition)
        for item in found.assigned_partitions
        for partition in item.partitions
    )


def _versioned(version: int, parts: Iterable[Part]) -> bytes:
    return version.to_bytes(2, "big") + join_parts(parts)


def _split(data: bytes) -> tuple[int, memoryview]:
    version = int.from_bytes(data[:2], "big", signed=True)
    if len(data) < 2 or version < 0:
        raise ProtocolError("a member's metadata does not begin with a version")
    return version, memoryview(data)[2:]


def join_request(
    settings: GroupSettings, member_id: str, protocols: Mapping[str, bytes], reason: str
) -> JoinGroupRequest:
    return JoinGroupRequest(
        group_id=settings.group_id,
        session_timeout_ms=settings.session_timeout_ms,
        rebalance_timeout_ms=settings.max_poll_interval_ms,
        member_id=member_id,
        group_instance_id=settings.instance_id,
        protocol_type=PROTOCOL_TYPE,
        protocols=[
            JoinGroupRequestProtocol(name=name, metadata=data) for name, data in protocols.items()
        ],
        reason=reason[:255],
    )


def sync_request(
    group: GroupMetadata, protocol_name: str, assignment: Assignment
) -> SyncGroupRequest:
    return SyncGroupRequest(
        group_id=group.group_id,
        generation_id=group.generation_id,
        member_id=group.member_id,
        group_instance_id=group.group_instance_id,
        protocol_type=PROTOCOL_TYPE,
        protocol_name=protocol_name,
        assignments=[
            SyncGroupRequestAssignment(
                member_id=member_id, assignment=encode_assignment(topic_partitions)
            )
            for member_id, topic_partitions in assignment.items()
        ],
    )


def heartbeat_request(group: GroupMetadata) -> HeartbeatRequest:
    return HeartbeatRequest(
        group_id=group.group_id,
        generation_id=group.generation_id,
        member_id=group.member_id,
        group_instance_id=group.group_instance_id,
    )


def leave_request(group: GroupMetadata, reason: str) -> LeaveGroupRequest:
    identity = MemberIdentity(
        member_id=group.member_id,
        group_instance_id=group.group_instance_id,
        reason=reason[:255],
    )
    return LeaveGroupRequest(group_id=group.group_id, member_id=group.member_id, members=[identity])
