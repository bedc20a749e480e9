"""The consumer protocol embedded in the classic one: subscriptions and assignments.

The coordinator of a classic group does not interpret these bytes, except that it reads the
subscribed topics to decide which offsets may expire. KIP-848 groups read and write them for classic
members. Both begin with an int16 version. A newer version is decoded as the newest supported one,
which it extends by definition.
"""

from collections.abc import Mapping

from barnabas.model.errors import ProtocolError
from barnabas.wire.coordinator_records import decode_versioned, encode_versioned, version_of
from barnabas.wire.messages.consumer_protocol_assignment import (
    ConsumerProtocolAssignment,
)
from barnabas.wire.messages.consumer_protocol_assignment import (
    TopicPartition as AssignedTopic,
)
from barnabas.wire.messages.consumer_protocol_subscription import ConsumerProtocolSubscription

CONSUMER_PROTOCOL_TYPE = "consumer"

TopicPartitions = Mapping[str, frozenset[int]]


def embedded_version(data: bytes) -> int:
    """Returns the version of a subscription or assignment."""
    version = version_of(data)
    if version < 0:
        raise ProtocolError(f"version {version} of the embedded consumer protocol")
    return min(version, ConsumerProtocolAssignment.MAX_VERSION)


def decode_subscription(data: bytes) -> ConsumerProtocolSubscription:
    return decode_versioned(ConsumerProtocolSubscription, data)


def subscribed_topics(data: bytes) -> frozenset[str]:
    """Returns the topics of a subscription; version 0 is a prefix of all others."""
    embedded_version(data)
    return frozenset(ConsumerProtocolSubscription.decode(memoryview(data), 0, 2).topics)


def decode_assignment(data: bytes) -> dict[str, frozenset[int]]:
    """Returns the assignment; empty bytes mean that the member has none."""
    if not data:
        return {}
    message = decode_versioned(ConsumerProtocolAssignment, data)
    return {topic.topic: frozenset(topic.partitions) for topic in message.assigned_partitions}


def encode_assignment(assignment: TopicPartitions, version: int) -> bytes:
    topics = [
        AssignedTopic(topic, sorted(partitions)) for topic, partitions in sorted(assignment.items())
    ]
    return encode_versioned(ConsumerProtocolAssignment(assigned_partitions=topics), version)
