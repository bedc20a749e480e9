"""What a member of a KIP-848 group should come to own.

Generated from schemas/consumer_group_target_assignment_member_value.msg by codegen; edit that and run it again.
"""

from collections.abc import Sequence
from struct import Struct
from typing import ClassVar

from barnabas.model.errors import LocalError
from barnabas.model.ids import ZERO_UUID, Uuid
from barnabas.wire.message import FieldSpecs, Message, WireStruct
from barnabas.wire.primitives import (
    EMPTY,
    Part,
    UVARINTS,
    int32_elements,
    new,
    over_budget,
    read_int32s,
    read_long_uvarint,
    skip_tags,
    too_many,
    unexpected_null,
    uvarint,
)

_pack_u = Struct(">16s").pack
_unpack_u = Struct(">16s").unpack_from


class TopicPartition(WireStruct):
    __slots__ = (
        "topic_id",
        "partitions",
    )
    FIELDS: ClassVar[FieldSpecs] = (
        ("topic_id", "uuid", 0, 0, False),
        ("partitions", "[int32]", 0, 0, False),
    )

    def __init__(
        self,
        topic_id: Uuid = ZERO_UUID,
        partitions: list[int] = EMPTY,
    ) -> None:
        self.topic_id = topic_id
        self.partitions = [] if partitions is EMPTY else partitions


class ConsumerGroupTargetAssignmentMemberValue(Message):
    __slots__ = (
        "topic_partitions",
    )
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int] = 0
    FIELDS: ClassVar[FieldSpecs] = (
        ("topic_partitions", "[TopicPartition]", 0, 0, False),
    )

    def __init__(
        self,
        topic_partitions: list[TopicPartition] = EMPTY,
    ) -> None:
        self.topic_partitions = [] if topic_partitions is EMPTY else topic_partitions


def _read_topic_partition_v0(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[TopicPartition], int]:
    if count * 18 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 184
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[TopicPartition] = []
    for _ in range(count):
        o = new(TopicPartition)
        (raw_topic_id,) = _unpack_u(buf, pos)
        pos += 16
        o.topic_id = Uuid(raw_topic_id)
        n = buf[pos]
        pos += 1
        if n > 127:
            n, pos = read_long_uvarint(buf, pos)
        n -= 1
        if n < 0:
            raise unexpected_null(pos, "partitions")
        o.partitions, pos = read_int32s(buf, pos, end, n, budget)
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tags(buf, pos, end)
        items.append(o)
    return items, pos


def _decode_consumer_group_target_assignment_member_value_v0(buf: memoryview, pos: int, end: int, budget: list[int]) -> ConsumerGroupTargetAssignmentMemberValue:
    o = new(ConsumerGroupTargetAssignmentMemberValue)
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_long_uvarint(buf, pos)
    n -= 1
    if n < 0:
        raise unexpected_null(pos, "topic_partitions")
    o.topic_partitions, pos = _read_topic_partition_v0(buf, pos, end, n, budget)
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tags(buf, pos, end)
    return o


def _write_topic_partition_v0(
    out: bytearray, items: Sequence[TopicPartition]
) -> None:
    for o in items:
        if len(o.topic_id) != 16:
            raise LocalError("a uuid has 16 bytes")
        out += _pack_u(o.topic_id)
        n = len(o.partitions) + 1
        out += UVARINTS[n] if n < 128 else uvarint(n)
        out += int32_elements(o.partitions)
        out.append(0)


def _encode_consumer_group_target_assignment_member_value_v0(o: ConsumerGroupTargetAssignmentMemberValue) -> list[Part]:
    out = bytearray()
    n = len(o.topic_partitions) + 1
    out += UVARINTS[n] if n < 128 else uvarint(n)
    _write_topic_partition_v0(out, o.topic_partitions)
    out.append(0)
    return [out]


ConsumerGroupTargetAssignmentMemberValue.DECODERS = {
    0: _decode_consumer_group_target_assignment_member_value_v0,
}
ConsumerGroupTargetAssignmentMemberValue.ENCODERS = {
    0: _encode_consumer_group_target_assignment_member_value_v0,
}
