"""What a member of a KIP-848 group owns now, and what it must give up.

Generated from schemas/consumer_group_current_member_assignment_value.msg by codegen; edit that and run it again.
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
_pack_iib = Struct(">iib").pack
_unpack_u = Struct(">16s").unpack_from
_unpack_iib = Struct(">iib").unpack_from


class TopicPartitions(WireStruct):
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


class ConsumerGroupCurrentMemberAssignmentValue(Message):
    __slots__ = (
        "member_epoch",
        "previous_member_epoch",
        "state",
        "assigned_partitions",
        "partitions_pending_revocation",
    )
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int] = 0
    FIELDS: ClassVar[FieldSpecs] = (
        ("member_epoch", "int32", 0, 0, False),
        ("previous_member_epoch", "int32", 0, 0, False),
        ("state", "int8", 0, 0, False),
        ("assigned_partitions", "[TopicPartitions]", 0, 0, False),
        ("partitions_pending_revocation", "[TopicPartitions]", 0, 0, False),
    )

    def __init__(
        self,
        member_epoch: int = 0,
        previous_member_epoch: int = 0,
        state: int = 0,
        assigned_partitions: list[TopicPartitions] = EMPTY,
        partitions_pending_revocation: list[TopicPartitions] = EMPTY,
    ) -> None:
        self.member_epoch = member_epoch
        self.previous_member_epoch = previous_member_epoch  # accepted too: the answer with the bump may be lost
        self.state = state  # 0 stable, 1 must revoke, 2 waits for partitions of others
        self.assigned_partitions = [] if assigned_partitions is EMPTY else assigned_partitions
        self.partitions_pending_revocation = [] if partitions_pending_revocation is EMPTY else partitions_pending_revocation


def _read_topic_partitions_v0(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[TopicPartitions], int]:
    if count * 18 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 184
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[TopicPartitions] = []
    for _ in range(count):
        o = new(TopicPartitions)
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


def _decode_consumer_group_current_member_assignment_value_v0(buf: memoryview, pos: int, end: int, budget: list[int]) -> ConsumerGroupCurrentMemberAssignmentValue:
    o = new(ConsumerGroupCurrentMemberAssignmentValue)
    o.member_epoch, o.previous_member_epoch, o.state = _unpack_iib(buf, pos)
    pos += 9
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_long_uvarint(buf, pos)
    n -= 1
    if n < 0:
        raise unexpected_null(pos, "assigned_partitions")
    o.assigned_partitions, pos = _read_topic_partitions_v0(buf, pos, end, n, budget)
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_long_uvarint(buf, pos)
    n -= 1
    if n < 0:
        raise unexpected_null(pos, "partitions_pending_revocation")
    o.partitions_pending_revocation, pos = _read_topic_partitions_v0(buf, pos, end, n, budget)
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tags(buf, pos, end)
    return o


def _write_topic_partitions_v0(
    out: bytearray, items: Sequence[TopicPartitions]
) -> None:
    for o in items:
        if len(o.topic_id) != 16:
            raise LocalError("a uuid has 16 bytes")
        out += _pack_u(o.topic_id)
        n = len(o.partitions) + 1
        out += UVARINTS[n] if n < 128 else uvarint(n)
        out += int32_elements(o.partitions)
        out.append(0)


def _encode_consumer_group_current_member_assignment_value_v0(o: ConsumerGroupCurrentMemberAssignmentValue) -> list[Part]:
    out = bytearray()
    out += _pack_iib(o.member_epoch, o.previous_member_epoch, o.state)
    n = len(o.assigned_partitions) + 1
    out += UVARINTS[n] if n < 128 else uvarint(n)
    _write_topic_partitions_v0(out, o.assigned_partitions)
    n = len(o.partitions_pending_revocation) + 1
    out += UVARINTS[n] if n < 128 else uvarint(n)
    _write_topic_partitions_v0(out, o.partitions_pending_revocation)
    out.append(0)
    return [out]


ConsumerGroupCurrentMemberAssignmentValue.DECODERS = {
    0: _decode_consumer_group_current_member_assignment_value_v0,
}
ConsumerGroupCurrentMemberAssignmentValue.ENCODERS = {
    0: _encode_consumer_group_current_member_assignment_value_v0,
}
