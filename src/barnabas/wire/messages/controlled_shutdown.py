"""A broker asks the controller to move its leaderships away before it stops (ZooKeeper mode).
Version 0 alone uses a request header without client id.

Generated from schemas/controlled_shutdown.msg by codegen; edit that and run it again.
"""

from collections.abc import Sequence
from struct import Struct
from typing import ClassVar

from barnabas.wire.message import FieldSpecs, Message, Request, WireStruct
from barnabas.wire.primitives import (
    EMPTY,
    Part,
    UVARINTS,
    long_string_length,
    new,
    over_budget,
    overrun,
    read_long_string_length,
    read_long_uvarint,
    skip_tags,
    too_many,
    unexpected_null,
    uvarint,
)

_pack_h = Struct(">h").pack
_pack_hi = Struct(">hi").pack
_pack_i = Struct(">i").pack
_pack_iq = Struct(">iq").pack
_unpack_h = Struct(">h").unpack_from
_unpack_hi = Struct(">hi").unpack_from
_unpack_i = Struct(">i").unpack_from
_unpack_iq = Struct(">iq").unpack_from


class RemainingPartition(WireStruct):
    __slots__ = (
        "topic_name",
        "partition_index",
    )
    FIELDS: ClassVar[FieldSpecs] = (
        ("topic_name", "string", 0, 3, False),
        ("partition_index", "int32", 0, 3, False),
    )

    def __init__(
        self,
        topic_name: str = "",
        partition_index: int = 0,
    ) -> None:
        self.topic_name = topic_name
        self.partition_index = partition_index


class ControlledShutdownRequest(Request["ControlledShutdownResponse"]):
    __slots__ = (
        "broker_id",
        "broker_epoch",
    )
    API_KEY: ClassVar[int] = 7
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 3
    FLEXIBLE_FROM: ClassVar[int] = 3
    FIELDS: ClassVar[FieldSpecs] = (
        ("broker_id", "int32", 0, 3, False),
        ("broker_epoch", "int64", 2, 3, False),
    )

    def __init__(
        self,
        broker_id: int = 0,
        broker_epoch: int = -1,
    ) -> None:
        self.broker_id = broker_id
        self.broker_epoch = broker_epoch


class ControlledShutdownResponse(Message):
    __slots__ = (
        "error_code",
        "remaining_partitions",
    )
    API_KEY: ClassVar[int] = 7
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 3
    FLEXIBLE_FROM: ClassVar[int] = 3
    FIELDS: ClassVar[FieldSpecs] = (
        ("error_code", "int16", 0, 3, False),
        ("remaining_partitions", "[RemainingPartition]", 0, 3, False),
    )

    def __init__(
        self,
        error_code: int = 0,
        remaining_partitions: list[RemainingPartition] = EMPTY,
    ) -> None:
        self.error_code = error_code
        self.remaining_partitions = [] if remaining_partitions is EMPTY else remaining_partitions  # still led by that broker


def _decode_controlled_shutdown_request_v0(buf: memoryview, pos: int, end: int, budget: list[int]) -> ControlledShutdownRequest:
    o = new(ControlledShutdownRequest)
    o.broker_epoch = -1
    (o.broker_id,) = _unpack_i(buf, pos)
    pos += 4
    return o


def _encode_controlled_shutdown_request_v0(o: ControlledShutdownRequest) -> list[Part]:
    out = bytearray()
    out += _pack_i(o.broker_id)
    return [out]


def _decode_controlled_shutdown_request_v2(buf: memoryview, pos: int, end: int, budget: list[int]) -> ControlledShutdownRequest:
    o = new(ControlledShutdownRequest)
    o.broker_id, o.broker_epoch = _unpack_iq(buf, pos)
    pos += 12
    return o


def _encode_controlled_shutdown_request_v2(o: ControlledShutdownRequest) -> list[Part]:
    out = bytearray()
    out += _pack_iq(o.broker_id, o.broker_epoch)
    return [out]


def _decode_controlled_shutdown_request_v3(buf: memoryview, pos: int, end: int, budget: list[int]) -> ControlledShutdownRequest:
    o = new(ControlledShutdownRequest)
    o.broker_id, o.broker_epoch = _unpack_iq(buf, pos)
    pos += 12
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tags(buf, pos, end)
    return o


def _encode_controlled_shutdown_request_v3(o: ControlledShutdownRequest) -> list[Part]:
    out = bytearray()
    out += _pack_iq(o.broker_id, o.broker_epoch)
    out.append(0)
    return [out]


def _read_remaining_partition_v0(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[RemainingPartition], int]:
    if count * 6 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 152
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[RemainingPartition] = []
    for _ in range(count):
        o = new(RemainingPartition)
        (n,) = _unpack_h(buf, pos)
        pos += 2
        if n < 0:
            raise unexpected_null(pos, "topic_name")
        q = pos + n
        if q > end:
            raise overrun(pos, n)
        o.topic_name = str(buf[pos:q], "utf-8")
        pos = q
        (o.partition_index,) = _unpack_i(buf, pos)
        pos += 4
        items.append(o)
    return items, pos


def _decode_controlled_shutdown_response_v0(buf: memoryview, pos: int, end: int, budget: list[int]) -> ControlledShutdownResponse:
    o = new(ControlledShutdownResponse)
    o.error_code, n = _unpack_hi(buf, pos)
    pos += 6
    if n < 0:
        raise unexpected_null(pos, "remaining_partitions")
    o.remaining_partitions, pos = _read_remaining_partition_v0(buf, pos, end, n, budget)
    return o


def _write_remaining_partition_v0(
    out: bytearray, items: Sequence[RemainingPartition]
) -> None:
    for o in items:
        s = o.topic_name.encode()
        n = len(s)
        out += _pack_h(n)
        out += s
        out += _pack_i(o.partition_index)


def _encode_controlled_shutdown_response_v0(o: ControlledShutdownResponse) -> list[Part]:
    out = bytearray()
    n = len(o.remaining_partitions)
    out += _pack_hi(o.error_code, n)
    _write_remaining_partition_v0(out, o.remaining_partitions)
    return [out]


def _read_remaining_partition_v3(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[RemainingPartition], int]:
    if count * 6 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 152
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[RemainingPartition] = []
    for _ in range(count):
        o = new(RemainingPartition)
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
        (o.partition_index,) = _unpack_i(buf, pos)
        pos += 4
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tags(buf, pos, end)
        items.append(o)
    return items, pos


def _decode_controlled_shutdown_response_v3(buf: memoryview, pos: int, end: int, budget: list[int]) -> ControlledShutdownResponse:
    o = new(ControlledShutdownResponse)
    (o.error_code,) = _unpack_h(buf, pos)
    pos += 2
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_long_uvarint(buf, pos)
    n -= 1
    if n < 0:
        raise unexpected_null(pos, "remaining_partitions")
    o.remaining_partitions, pos = _read_remaining_partition_v3(buf, pos, end, n, budget)
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tags(buf, pos, end)
    return o


def _write_remaining_partition_v3(
    out: bytearray, items: Sequence[RemainingPartition]
) -> None:
    for o in items:
        s = o.topic_name.encode()
        n = len(s) + 1
        out += UVARINTS[n] if n < 128 else long_string_length(n)
        out += s
        out += _pack_i(o.partition_index)
        out.append(0)


def _encode_controlled_shutdown_response_v3(o: ControlledShutdownResponse) -> list[Part]:
    out = bytearray()
    out += _pack_h(o.error_code)
    n = len(o.remaining_partitions) + 1
    out += UVARINTS[n] if n < 128 else uvarint(n)
    _write_remaining_partition_v3(out, o.remaining_partitions)
    out.append(0)
    return [out]


ControlledShutdownRequest.DECODERS = {
    0: _decode_controlled_shutdown_request_v0,
    1: _decode_controlled_shutdown_request_v0,
    2: _decode_controlled_shutdown_request_v2,
    3: _decode_controlled_shutdown_request_v3,
}
ControlledShutdownRequest.ENCODERS = {
    0: _encode_controlled_shutdown_request_v0,
    1: _encode_controlled_shutdown_request_v0,
    2: _encode_controlled_shutdown_request_v2,
    3: _encode_controlled_shutdown_request_v3,
}
ControlledShutdownResponse.DECODERS = {
    0: _decode_controlled_shutdown_response_v0,
    1: _decode_controlled_shutdown_response_v0,
    2: _decode_controlled_shutdown_response_v0,
    3: _decode_controlled_shutdown_response_v3,
}
ControlledShutdownResponse.ENCODERS = {
    0: _encode_controlled_shutdown_response_v0,
    1: _encode_controlled_shutdown_response_v0,
    2: _encode_controlled_shutdown_response_v0,
    3: _encode_controlled_shutdown_response_v3,
}
