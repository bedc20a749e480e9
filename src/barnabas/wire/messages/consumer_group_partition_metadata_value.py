"""Topics that a KIP-848 group last saw; brokers of 4.1 and later write a hash instead.

Generated from schemas/consumer_group_partition_metadata_value.msg by codegen; edit that and run it again.
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
    long_string_length,
    new,
    over_budget,
    overrun,
    read_compact_strings,
    read_long_string_length,
    read_long_uvarint,
    skip_tags,
    too_many,
    unexpected_null,
    uvarint,
    write_compact_strings,
)

_pack_u = Struct(">16s").pack
_pack_i = Struct(">i").pack
_unpack_u = Struct(">16s").unpack_from
_unpack_i = Struct(">i").unpack_from


class PartitionMetadata(WireStruct):
    __slots__ = (
        "partition",
        "racks",
    )
    FIELDS: ClassVar[FieldSpecs] = (
        ("partition", "int32", 0, 0, False),
        ("racks", "[string]", 0, 0, False),
    )

    def __init__(
        self,
        partition: int = 0,
        racks: list[str] = EMPTY,
    ) -> None:
        self.partition = partition
        self.racks = [] if racks is EMPTY else racks


class TopicMetadata(WireStruct):
    __slots__ = (
        "topic_id",
        "topic_name",
        "num_partitions",
        "partition_metadata",
    )
    FIELDS: ClassVar[FieldSpecs] = (
        ("topic_id", "uuid", 0, 0, False),
        ("topic_name", "string", 0, 0, False),
        ("num_partitions", "int32", 0, 0, False),
        ("partition_metadata", "[PartitionMetadata]", 0, 0, False),
    )

    def __init__(
        self,
        topic_id: Uuid = ZERO_UUID,
        topic_name: str = "",
        num_partitions: int = 0,
        partition_metadata: list[PartitionMetadata] = EMPTY,
    ) -> None:
        self.topic_id = topic_id
        self.topic_name = topic_name
        self.num_partitions = num_partitions
        self.partition_metadata = [] if partition_metadata is EMPTY else partition_metadata


class ConsumerGroupPartitionMetadataValue(Message):
    __slots__ = (
        "topics",
    )
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int] = 0
    FIELDS: ClassVar[FieldSpecs] = (
        ("topics", "[TopicMetadata]", 0, 0, False),
    )

    def __init__(
        self,
        topics: list[TopicMetadata] = EMPTY,
    ) -> None:
        self.topics = [] if topics is EMPTY else topics


def _read_partition_metadata_v0(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[PartitionMetadata], int]:
    if count * 6 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 160
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[PartitionMetadata] = []
    for _ in range(count):
        o = new(PartitionMetadata)
        (o.partition,) = _unpack_i(buf, pos)
        pos += 4
        n = buf[pos]
        pos += 1
        if n > 127:
            n, pos = read_long_uvarint(buf, pos)
        n -= 1
        if n < 0:
            raise unexpected_null(pos, "racks")
        o.racks, pos = read_compact_strings(buf, pos, end, n, budget)
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tags(buf, pos, end)
        items.append(o)
    return items, pos


def _read_topic_metadata_v0(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[TopicMetadata], int]:
    if count * 23 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 288
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[TopicMetadata] = []
    for _ in range(count):
        o = new(TopicMetadata)
        (raw_topic_id,) = _unpack_u(buf, pos)
        pos += 16
        o.topic_id = Uuid(raw_topic_id)
        n = buf[pos]
        pos += 1
        if n > 127:
            n, pos = read_long_string_length(buf, pos)
        n -= 1
        if n < 0:
            raise unexpected_null(pos, "topic_name")
        q = pos + n
        if q > end:
            raise overrun(pos, n)
        o.topic_name = str(buf[pos:q], "utf-8")
        pos = q
        (o.num_partitions,) = _unpack_i(buf, pos)
        pos += 4
        n = buf[pos]
        pos += 1
        if n > 127:
            n, pos = read_long_uvarint(buf, pos)
        n -= 1
        if n < 0:
            raise unexpected_null(pos, "partition_metadata")
        o.partition_metadata, pos = _read_partition_metadata_v0(buf, pos, end, n, budget)
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tags(buf, pos, end)
        items.append(o)
    return items, pos


def _decode_consumer_group_partition_metadata_value_v0(buf: memoryview, pos: int, end: int, budget: list[int]) -> ConsumerGroupPartitionMetadataValue:
    o = new(ConsumerGroupPartitionMetadataValue)
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_long_uvarint(buf, pos)
    n -= 1
    if n < 0:
        raise unexpected_null(pos, "topics")
    o.topics, pos = _read_topic_metadata_v0(buf, pos, end, n, budget)
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tags(buf, pos, end)
    return o


def _write_partition_metadata_v0(
    out: bytearray, items: Sequence[PartitionMetadata]
) -> None:
    for o in items:
        out += _pack_i(o.partition)
        n = len(o.racks) + 1
        out += UVARINTS[n] if n < 128 else uvarint(n)
        write_compact_strings(out, o.racks)
        out.append(0)


def _write_topic_metadata_v0(
    out: bytearray, items: Sequence[TopicMetadata]
) -> None:
    for o in items:
        if len(o.topic_id) != 16:
            raise LocalError("a uuid has 16 bytes")
        out += _pack_u(o.topic_id)
        s = o.topic_name.encode()
        n = len(s) + 1
        out += UVARINTS[n] if n < 128 else long_string_length(n)
        out += s
        out += _pack_i(o.num_partitions)
        n = len(o.partition_metadata) + 1
        out += UVARINTS[n] if n < 128 else uvarint(n)
        _write_partition_metadata_v0(out, o.partition_metadata)
        out.append(0)


def _encode_consumer_group_partition_metadata_value_v0(o: ConsumerGroupPartitionMetadataValue) -> list[Part]:
    out = bytearray()
    n = len(o.topics) + 1
    out += UVARINTS[n] if n < 128 else uvarint(n)
    _write_topic_metadata_v0(out, o.topics)
    out.append(0)
    return [out]


ConsumerGroupPartitionMetadataValue.DECODERS = {
    0: _decode_consumer_group_partition_metadata_value_v0,
}
ConsumerGroupPartitionMetadataValue.ENCODERS = {
    0: _encode_consumer_group_partition_metadata_value_v0,
}
