"""State of a transactional id in __transaction_state. The tags come with KIP-890.

Generated from schemas/transaction_log_value.msg by codegen; edit that and run it again.
"""

from collections.abc import Sequence
from struct import Struct
from typing import ClassVar

from barnabas.wire.message import FieldSpecs, Message, WireStruct
from barnabas.wire.primitives import (
    EMPTY,
    Part,
    UVARINTS,
    bad_tag,
    int32_elements,
    long_string_length,
    new,
    over_budget,
    overrun,
    read_int32s,
    read_long_string_length,
    read_long_uvarint,
    read_tag,
    read_tag_count,
    skip_tags,
    too_many,
    unexpected_null,
    uvarint,
    write_tags,
)

_pack_h = Struct(">h").pack
_pack_i = Struct(">i").pack
_pack_q = Struct(">q").pack
_pack_qhib = Struct(">qhib").pack
_pack_qhibi = Struct(">qhibi").pack
_pack_qq = Struct(">qq").pack
_unpack_h = Struct(">h").unpack_from
_unpack_i = Struct(">i").unpack_from
_unpack_q = Struct(">q").unpack_from
_unpack_qhib = Struct(">qhib").unpack_from
_unpack_qhibi = Struct(">qhibi").unpack_from
_unpack_qq = Struct(">qq").unpack_from


class PartitionsSchema(WireStruct):
    __slots__ = (
        "topic",
        "partition_ids",
    )
    FIELDS: ClassVar[FieldSpecs] = (
        ("topic", "string", 0, 1, False),
        ("partition_ids", "[int32]", 0, 1, False),
    )

    def __init__(
        self,
        topic: str = "",
        partition_ids: list[int] = EMPTY,
    ) -> None:
        self.topic = topic
        self.partition_ids = [] if partition_ids is EMPTY else partition_ids


class TransactionLogValue(Message):
    __slots__ = (
        "producer_id",
        "previous_producer_id",
        "next_producer_id",
        "producer_epoch",
        "transaction_timeout_ms",
        "transaction_status",
        "transaction_partitions",
        "transaction_last_update_timestamp_ms",
        "transaction_start_timestamp_ms",
        "client_transaction_version",
        "next_producer_epoch",
    )
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 1
    FLEXIBLE_FROM: ClassVar[int] = 1
    FIELDS: ClassVar[FieldSpecs] = (
        ("producer_id", "int64", 0, 1, False),
        ("previous_producer_id", "int64", 1, 1, False),
        ("next_producer_id", "int64", 1, 1, False),
        ("producer_epoch", "int16", 0, 1, False),
        ("transaction_timeout_ms", "int32", 0, 1, False),
        ("transaction_status", "int8", 0, 1, False),
        ("transaction_partitions", "[PartitionsSchema]", 0, 1, True),
        ("transaction_last_update_timestamp_ms", "int64", 0, 1, False),
        ("transaction_start_timestamp_ms", "int64", 0, 1, False),
        ("client_transaction_version", "int16", 1, 1, False),
        ("next_producer_epoch", "int16", 1, 1, False),
    )

    def __init__(
        self,
        producer_id: int = 0,
        previous_producer_id: int = -1,
        next_producer_id: int = -1,
        producer_epoch: int = 0,
        transaction_timeout_ms: int = 0,
        transaction_status: int = 0,
        transaction_partitions: list[PartitionsSchema] | None = EMPTY,
        transaction_last_update_timestamp_ms: int = 0,
        transaction_start_timestamp_ms: int = 0,
        client_transaction_version: int = 0,
        next_producer_epoch: int = -1,
    ) -> None:
        self.producer_id = producer_id
        self.previous_producer_id = previous_producer_id  # of the last finished transaction
        self.next_producer_id = next_producer_id  # given out, but not yet in use
        self.producer_epoch = producer_epoch
        self.transaction_timeout_ms = transaction_timeout_ms
        self.transaction_status = transaction_status
        self.transaction_partitions = [] if transaction_partitions is EMPTY else transaction_partitions  # null when none is in the transaction
        self.transaction_last_update_timestamp_ms = transaction_last_update_timestamp_ms
        self.transaction_start_timestamp_ms = transaction_start_timestamp_ms
        self.client_transaction_version = client_transaction_version
        self.next_producer_epoch = next_producer_epoch


def _read_partitions_schema_v0(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[PartitionsSchema], int]:
    if count * 6 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 184
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[PartitionsSchema] = []
    for _ in range(count):
        o = new(PartitionsSchema)
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
            raise unexpected_null(pos, "partition_ids")
        o.partition_ids, pos = read_int32s(buf, pos, end, n, budget)
        items.append(o)
    return items, pos


def _decode_transaction_log_value_v0(buf: memoryview, pos: int, end: int, budget: list[int]) -> TransactionLogValue:
    o = new(TransactionLogValue)
    o.previous_producer_id = -1
    o.next_producer_id = -1
    o.client_transaction_version = 0
    o.next_producer_epoch = -1
    o.producer_id, o.producer_epoch, o.transaction_timeout_ms, o.transaction_status, n = _unpack_qhibi(buf, pos)
    pos += 19
    if n < 0:
        o.transaction_partitions = None
    else:
        o.transaction_partitions, pos = _read_partitions_schema_v0(buf, pos, end, n, budget)
    o.transaction_last_update_timestamp_ms, o.transaction_start_timestamp_ms = _unpack_qq(buf, pos)
    pos += 16
    return o


def _write_partitions_schema_v0(
    out: bytearray, items: Sequence[PartitionsSchema]
) -> None:
    for o in items:
        s = o.topic.encode()
        n = len(s)
        out += _pack_h(n)
        out += s
        n = len(o.partition_ids)
        out += _pack_i(n)
        out += int32_elements(o.partition_ids)


def _encode_transaction_log_value_v0(o: TransactionLogValue) -> list[Part]:
    out = bytearray()
    if o.transaction_partitions is None:
        n = -1
    else:
        n = len(o.transaction_partitions)
    out += _pack_qhibi(o.producer_id, o.producer_epoch, o.transaction_timeout_ms, o.transaction_status, n)
    if o.transaction_partitions is not None:
        _write_partitions_schema_v0(out, o.transaction_partitions)
    out += _pack_qq(o.transaction_last_update_timestamp_ms, o.transaction_start_timestamp_ms)
    return [out]


def _read_partitions_schema_v1(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[PartitionsSchema], int]:
    if count * 3 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 184
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[PartitionsSchema] = []
    for _ in range(count):
        o = new(PartitionsSchema)
        n = buf[pos]
        pos += 1
        if n > 127:
            n, pos = read_long_string_length(buf, pos)
        n -= 1
        if n < 0:
            raise unexpected_null(pos, "topic")
        q = pos + n
        if q > end:
            raise overrun(pos, n)
        o.topic = str(buf[pos:q], "utf-8")
        pos = q
        n = buf[pos]
        pos += 1
        if n > 127:
            n, pos = read_long_uvarint(buf, pos)
        n -= 1
        if n < 0:
            raise unexpected_null(pos, "partition_ids")
        o.partition_ids, pos = read_int32s(buf, pos, end, n, budget)
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tags(buf, pos, end)
        items.append(o)
    return items, pos


def _decode_transaction_log_value_v1(buf: memoryview, pos: int, end: int, budget: list[int]) -> TransactionLogValue:
    o = new(TransactionLogValue)
    o.producer_id, o.producer_epoch, o.transaction_timeout_ms, o.transaction_status = _unpack_qhib(buf, pos)
    pos += 15
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_long_uvarint(buf, pos)
    n -= 1
    if n < 0:
        o.transaction_partitions = None
    else:
        o.transaction_partitions, pos = _read_partitions_schema_v1(buf, pos, end, n, budget)
    o.transaction_last_update_timestamp_ms, o.transaction_start_timestamp_ms = _unpack_qq(buf, pos)
    pos += 16
    o.previous_producer_id = -1
    o.next_producer_id = -1
    o.client_transaction_version = 0
    o.next_producer_epoch = -1
    if buf[pos] == 0:
        pos += 1
    else:
        tags, pos = read_tag_count(buf, pos, end)
        for _ in range(tags):
            tag, pos, stop = read_tag(buf, pos, end)
            if tag == 0:
                (o.previous_producer_id,) = _unpack_q(buf, pos)
                pos += 8
                if pos != stop:
                    raise bad_tag(stop, "previous_producer_id")
            elif tag == 1:
                (o.next_producer_id,) = _unpack_q(buf, pos)
                pos += 8
                if pos != stop:
                    raise bad_tag(stop, "next_producer_id")
            elif tag == 2:
                (o.client_transaction_version,) = _unpack_h(buf, pos)
                pos += 2
                if pos != stop:
                    raise bad_tag(stop, "client_transaction_version")
            elif tag == 3:
                (o.next_producer_epoch,) = _unpack_h(buf, pos)
                pos += 2
                if pos != stop:
                    raise bad_tag(stop, "next_producer_epoch")
            else:
                pos = stop
    return o


def _write_partitions_schema_v1(
    out: bytearray, items: Sequence[PartitionsSchema]
) -> None:
    for o in items:
        s = o.topic.encode()
        n = len(s) + 1
        out += UVARINTS[n] if n < 128 else long_string_length(n)
        out += s
        n = len(o.partition_ids) + 1
        out += UVARINTS[n] if n < 128 else uvarint(n)
        out += int32_elements(o.partition_ids)
        out.append(0)


def _encode_transaction_log_value_v1(o: TransactionLogValue) -> list[Part]:
    out = bytearray()
    out += _pack_qhib(o.producer_id, o.producer_epoch, o.transaction_timeout_ms, o.transaction_status)
    if o.transaction_partitions is None:
        out.append(0)
    else:
        n = len(o.transaction_partitions) + 1
        out += UVARINTS[n] if n < 128 else uvarint(n)
        _write_partitions_schema_v1(out, o.transaction_partitions)
    out += _pack_qq(o.transaction_last_update_timestamp_ms, o.transaction_start_timestamp_ms)
    if o.previous_producer_id == -1 and o.next_producer_id == -1 and o.client_transaction_version == 0 and o.next_producer_epoch == -1:
        out.append(0)
    else:
        tags: list[tuple[int, bytearray]] = []
        if o.previous_producer_id != -1:
            t = bytearray()
            t += _pack_q(o.previous_producer_id)
            tags.append((0, t))
        if o.next_producer_id != -1:
            t = bytearray()
            t += _pack_q(o.next_producer_id)
            tags.append((1, t))
        if o.client_transaction_version != 0:
            t = bytearray()
            t += _pack_h(o.client_transaction_version)
            tags.append((2, t))
        if o.next_producer_epoch != -1:
            t = bytearray()
            t += _pack_h(o.next_producer_epoch)
            tags.append((3, t))
        write_tags(out, tags)
    return [out]


TransactionLogValue.DECODERS = {
    0: _decode_transaction_log_value_v0,
    1: _decode_transaction_log_value_v1,
}
TransactionLogValue.ENCODERS = {
    0: _encode_transaction_log_value_v0,
    1: _encode_transaction_log_value_v1,
}
