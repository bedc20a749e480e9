"""What a classic consumer receives as its assignment. Bytes begin with the int16 version.

Generated from schemas/consumer_protocol_assignment.msg by codegen; edit that and run it again.
"""

from collections.abc import Sequence
from struct import Struct
from typing import ClassVar

from barnabas.wire.message import FieldSpecs, Message, WireStruct
from barnabas.wire.primitives import (
    EMPTY,
    Part,
    int32_elements,
    new,
    over_budget,
    overrun,
    read_int32s,
    too_many,
    unexpected_null,
)

_pack_h = Struct(">h").pack
_pack_i = Struct(">i").pack
_unpack_h = Struct(">h").unpack_from
_unpack_i = Struct(">i").unpack_from


class TopicPartition(WireStruct):
    __slots__ = (
        "topic",
        "partitions",
    )
    FIELDS: ClassVar[FieldSpecs] = (
        ("topic", "string", 0, 3, False),
        ("partitions", "[int32]", 0, 3, False),
    )

    def __init__(
        self,
        topic: str = "",
        partitions: list[int] = EMPTY,
    ) -> None:
        self.topic = topic
        self.partitions = [] if partitions is EMPTY else partitions


class ConsumerProtocolAssignment(Message):
    __slots__ = (
        "assigned_partitions",
        "user_data",
    )
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 3
    FLEXIBLE_FROM: ClassVar[int] = 32767
    FIELDS: ClassVar[FieldSpecs] = (
        ("assigned_partitions", "[TopicPartition]", 0, 3, False),
        ("user_data", "bytes", 0, 3, True),
    )

    def __init__(
        self,
        assigned_partitions: list[TopicPartition] = EMPTY,
        user_data: bytes | None = None,
    ) -> None:
        self.assigned_partitions = [] if assigned_partitions is EMPTY else assigned_partitions
        self.user_data = user_data


def _read_topic_partition_v0(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[TopicPartition], int]:
    if count * 6 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 184
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[TopicPartition] = []
    for _ in range(count):
        o = new(TopicPartition)
        (n,) = _unpack_h(buf, pos)
        pos += 2
        if n < 0:
            raise unexpected_null(pos, "topic")
        q = pos + n
        if q > end:
            raise overrun(pos, n)
        o.topic = str(buf[pos:q], "utf-8")
        pos = q
        (n,) = _unpack_i(buf, pos)
        pos += 4
        if n < 0:
            raise unexpected_null(pos, "partitions")
        o.partitions, pos = read_int32s(buf, pos, end, n, budget)
        items.append(o)
    return items, pos


def _decode_consumer_protocol_assignment_v0(buf: memoryview, pos: int, end: int, budget: list[int]) -> ConsumerProtocolAssignment:
    o = new(ConsumerProtocolAssignment)
    (n,) = _unpack_i(buf, pos)
    pos += 4
    if n < 0:
        raise unexpected_null(pos, "assigned_partitions")
    o.assigned_partitions, pos = _read_topic_partition_v0(buf, pos, end, n, budget)
    (n,) = _unpack_i(buf, pos)
    pos += 4
    if n < 0:
        o.user_data = None
    else:
        q = pos + n
        if q > end:
            raise overrun(pos, n)
        o.user_data = bytes(buf[pos:q])
        pos = q
    return o


def _write_topic_partition_v0(
    out: bytearray, items: Sequence[TopicPartition]
) -> None:
    for o in items:
        s = o.topic.encode()
        n = len(s)
        out += _pack_h(n)
        out += s
        n = len(o.partitions)
        out += _pack_i(n)
        out += int32_elements(o.partitions)


def _encode_consumer_protocol_assignment_v0(o: ConsumerProtocolAssignment) -> list[Part]:
    out = bytearray()
    n = len(o.assigned_partitions)
    out += _pack_i(n)
    _write_topic_partition_v0(out, o.assigned_partitions)
    if o.user_data is None:
        n = -1
    else:
        n = len(o.user_data)
    out += _pack_i(n)
    if o.user_data is not None:
        out += o.user_data
    return [out]


ConsumerProtocolAssignment.DECODERS = {
    0: _decode_consumer_protocol_assignment_v0,
    1: _decode_consumer_protocol_assignment_v0,
    2: _decode_consumer_protocol_assignment_v0,
    3: _decode_consumer_protocol_assignment_v0,
}
ConsumerProtocolAssignment.ENCODERS = {
    0: _encode_consumer_protocol_assignment_v0,
    1: _encode_consumer_protocol_assignment_v0,
    2: _encode_consumer_protocol_assignment_v0,
    3: _encode_consumer_protocol_assignment_v0,
}
