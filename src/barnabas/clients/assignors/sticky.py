"""Sticky assignor: balanced, and most partitions stay with their owner (KIP-54).

An eager assignor: members revoke all partitions before the rebalance, so each one stores its last
assignment and sends it to the leader as user data.

User data, big-endian: array of (topic: string, partitions: array of int32), then, in its version 1,
generation: int32.
"""

from collections.abc import Mapping, Sequence
from itertools import groupby
from struct import Struct, error

from barnabas.clients.assignors.balanced import balanced_assignment
from barnabas.clients.assignors.port import Assignment, MemberSubscription
from barnabas.model.ids import TopicPartition

_INT32 = Struct(">i")
_INT16 = Struct(">h")


def encode_sticky_data(owned: Sequence[TopicPartition], generation: int) -> bytes:
    """Encodes version 1 of the user data."""
    by_topic = [(topic, list(items)) for topic, items in groupby(sorted(owned), lambda p: p.topic)]
    parts = [_INT32.pack(len(by_topic))]
    for topic, topic_partitions in by_topic:
        name = topic.encode()
        parts += [_INT16.pack(len(name)), name, _INT32.pack(len(topic_partitions))]
        parts += [_INT32.pack(topic_partition.partition) for topic_partition in topic_partitions]
    parts.append(_INT32.pack(generation))
    return b"".join(parts)


def decode_sticky_data(data: bytes | None) -> tuple[list[TopicPartition], int]:
    """Decodes both versions; returns no partitions for invalid data, as Kafka does."""
    try:
        return _decode(data) if data else ([], -1)
    except (error, UnicodeDecodeError):
        return [], -1


def _decode(data: bytes) -> tuple[list[TopicPartition], int]:
    owned: list[TopicPartition] = []
    (topics,), position = _INT32.unpack_from(data, 0), 4
    for _ in range(topics):
        (size,) = _INT16.unpack_from(data, position)
        topic = data[position + 2 : position + 2 + size].decode()
        position += 2 + size
        (count,) = _INT32.unpack_from(data, position)
        position += 4
        for _ in range(count):
            owned.append(TopicPartition(topic, _INT32.unpack_from(data, position)[0]))
            position += 4
    generation = _INT32.unpack_from(data, position)[0] if len(data) >= position + 4 else -1
    return owned, generation


class StickyAssignor:
    """Balanced assignment that keeps owned partitions. See the module."""

    name = "sticky"
    cooperative = False

    def user_data(self, owned: Sequence[TopicPartition], generation: int) -> bytes | None:
        return encode_sticky_data(owned, generation) if owned else None

    def assign(
        self, partitions: Mapping[str, int], members: Sequence[MemberSubscription]
    ) -> Assignment:
        claims = {member.member_id: decode_sticky_data(member.user_data) for member in members}
        return balanced_assignment(partitions, members, claims)
