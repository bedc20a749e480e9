"""Deletes committed positions of topics that a group no longer consumes.

Generated from schemas/offset_delete.msg by codegen; edit that and run it again.
"""

from collections.abc import Sequence
from struct import Struct
from typing import ClassVar

from barnabas.wire.message import FieldSpecs, Message, Request, WireStruct
from barnabas.wire.primitives import (
    EMPTY,
    Part,
    new,
    over_budget,
    overrun,
    too_many,
    unexpected_null,
)

_pack_h = Struct(">h").pack
_pack_hii = Struct(">hii").pack
_pack_i = Struct(">i").pack
_pack_ih = Struct(">ih").pack
_unpack_h = Struct(">h").unpack_from
_unpack_hii = Struct(">hii").unpack_from
_unpack_i = Struct(">i").unpack_from
_unpack_ih = Struct(">ih").unpack_from


class OffsetDeleteRequestPartition(WireStruct):
    __slots__ = (
        "partition_index",
    )
    FIELDS: ClassVar[FieldSpecs] = (
        ("partition_index", "int32", 0, 0, False),
    )

    def __init__(
        self,
        partition_index: int = 0,
    ) -> None:
        self.partition_index = partition_index


class OffsetDeleteRequestTopic(WireStruct):
    __slots__ = (
        "name",
        "partitions",
    )
    FIELDS: ClassVar[FieldSpecs] = (
        ("name", "string", 0, 0, False),
        ("partitions", "[OffsetDeleteRequestPartition]", 0, 0, False),
    )

    def __init__(
        self,
        name: str = "",
        partitions: list[OffsetDeleteRequestPartition] = EMPTY,
    ) -> None:
        self.name = name
        self.partitions = [] if partitions is EMPTY else partitions


class OffsetDeleteResponsePartition(WireStruct):
    __slots__ = (
        "partition_index",
        "error_code",
    )
    FIELDS: ClassVar[FieldSpecs] = (
        ("partition_index", "int32", 0, 0, False),
        ("error_code", "int16", 0, 0, False),
    )

    def __init__(
        self,
        partition_index: int = 0,
        error_code: int = 0,
    ) -> None:
        self.partition_index = partition_index
        self.error_code = error_code


class OffsetDeleteResponseTopic(WireStruct):
    __slots__ = (
        "name",
        "partitions",
    )
    FIELDS: ClassVar[FieldSpecs] = (
        ("name", "string", 0, 0, False),
        ("partitions", "[OffsetDeleteResponsePartition]", 0, 0, False),
    )

    def __init__(
        self,
        name: str = "",
        partitions: list[OffsetDeleteResponsePartition] = EMPTY,
    ) -> None:
        self.name = name
        self.partitions = [] if partitions is EMPTY else partitions


class OffsetDeleteRequest(Request["OffsetDeleteResponse"]):
    __slots__ = (
        "group_id",
        "topics",
    )
    API_KEY: ClassVar[int] = 47
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int] = 32767
    FIELDS: ClassVar[FieldSpecs] = (
        ("group_id", "string", 0, 0, False),
        ("topics", "[OffsetDeleteRequestTopic]", 0, 0, False),
    )

    def __init__(
        self,
        group_id: str = "",
        topics: list[OffsetDeleteRequestTopic] = EMPTY,
    ) -> None:
        self.group_id = group_id
        self.topics = [] if topics is EMPTY else topics


class OffsetDeleteResponse(Message):
    __slots__ = (
        "error_code",
        "throttle_time_ms",
        "topics",
    )
    API_KEY: ClassVar[int] = 47
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int] = 32767
    FIELDS: ClassVar[FieldSpecs] = (
        ("error_code", "int16", 0, 0, False),
        ("throttle_time_ms", "int32", 0, 0, False),
        ("topics", "[OffsetDeleteResponseTopic]", 0, 0, False),
    )

    def __init__(
        self,
        error_code: int = 0,
        throttle_time_ms: int = 0,
        topics: list[OffsetDeleteResponseTopic] = EMPTY,
    ) -> None:
        self.error_code = error_code
        self.throttle_time_ms = throttle_time_ms
        self.topics = [] if topics is EMPTY else topics


def _read_offset_delete_request_partition_v0(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[OffsetDeleteRequestPartition], int]:
    if count * 4 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 88
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[OffsetDeleteRequestPartition] = []
    for _ in range(count):
        o = new(OffsetDeleteRequestPartition)
        (o.partition_index,) = _unpack_i(buf, pos)
        pos += 4
        items.append(o)
    return items, pos


def _read_offset_delete_request_topic_v0(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[OffsetDeleteRequestTopic], int]:
    if count * 6 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 184
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[OffsetDeleteRequestTopic] = []
    for _ in range(count):
        o = new(OffsetDeleteRequestTopic)
        (n,) = _unpack_h(buf, pos)
        pos += 2
        if n < 0:
            raise unexpected_null(pos, "name")
        q = pos + n
        if q > end:
            raise overrun(pos, n)
        o.name = str(buf[pos:q], "utf-8")
        pos = q
        (n,) = _unpack_i(buf, pos)
        pos += 4
        if n < 0:
            raise unexpected_null(pos, "partitions")
        o.partitions, pos = _read_offset_delete_request_partition_v0(buf, pos, end, n, budget)
        items.append(o)
    return items, pos


def _decode_offset_delete_request_v0(buf: memoryview, pos: int, end: int, budget: list[int]) -> OffsetDeleteRequest:
    o = new(OffsetDeleteRequest)
    (n,) = _unpack_h(buf, pos)
    pos += 2
    if n < 0:
        raise unexpected_null(pos, "group_id")
    q = pos + n
    if q > end:
        raise overrun(pos, n)
    o.group_id = str(buf[pos:q], "utf-8")
    pos = q
    (n,) = _unpack_i(buf, pos)
    pos += 4
    if n < 0:
        raise unexpected_null(pos, "topics")
    o.topics, pos = _read_offset_delete_request_topic_v0(buf, pos, end, n, budget)
    return o


def _write_offset_delete_request_partition_v0(
    out: bytearray, items: Sequence[OffsetDeleteRequestPartition]
) -> None:
    for o in items:
        out += _pack_i(o.partition_index)


def _write_offset_delete_request_topic_v0(
    out: bytearray, items: Sequence[OffsetDeleteRequestTopic]
) -> None:
    for o in items:
        s = o.name.encode()
        n = len(s)
        out += _pack_h(n)
        out += s
        n = len(o.partitions)
        out += _pack_i(n)
        _write_offset_delete_request_partition_v0(out, o.partitions)


def _encode_offset_delete_request_v0(o: OffsetDeleteRequest) -> list[Part]:
    out = bytearray()
    s = o.group_id.encode()
    n = len(s)
    out += _pack_h(n)
    out += s
    n = len(o.topics)
    out += _pack_i(n)
    _write_offset_delete_request_topic_v0(out, o.topics)
    return [out]


def _read_offset_delete_response_partition_v0(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[OffsetDeleteResponsePartition], int]:
    if count * 6 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 128
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[OffsetDeleteResponsePartition] = []
    for _ in range(count):
        o = new(OffsetDeleteResponsePartition)
        o.partition_index, o.error_code = _unpack_ih(buf, pos)
        pos += 6
        items.append(o)
    return items, pos


def _read_offset_delete_response_topic_v0(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[OffsetDeleteResponseTopic], int]:
    if count * 6 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 184
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[OffsetDeleteResponseTopic] = []
    for _ in range(count):
        o = new(OffsetDeleteResponseTopic)
        (n,) = _unpack_h(buf, pos)
        pos += 2
        if n < 0:
            raise unexpected_null(pos, "name")
        q = pos + n
        if q > end:
            raise overrun(pos, n)
        o.name = str(buf[pos:q], "utf-8")
        pos = q
        (n,) = _unpack_i(buf, pos)
        pos += 4
        if n < 0:
            raise unexpected_null(pos, "partitions")
        o.partitions, pos = _read_offset_delete_response_partition_v0(buf, pos, end, n, budget)
        items.append(o)
    return items, pos


def _decode_offset_delete_response_v0(buf: memoryview, pos: int, end: int, budget: list[int]) -> OffsetDeleteResponse:
    o = new(OffsetDeleteResponse)
    o.error_code, o.throttle_time_ms, n = _unpack_hii(buf, pos)
    pos += 10
    if n < 0:
        raise unexpected_null(pos, "topics")
    o.topics, pos = _read_offset_delete_response_topic_v0(buf, pos, end, n, budget)
    return o


def _write_offset_delete_response_partition_v0(
    out: bytearray, items: Sequence[OffsetDeleteResponsePartition]
) -> None:
    for o in items:
        out += _pack_ih(o.partition_index, o.error_code)


def _write_offset_delete_response_topic_v0(
    out: bytearray, items: Sequence[OffsetDeleteResponseTopic]
) -> None:
    for o in items:
        s = o.name.encode()
        n = len(s)
        out += _pack_h(n)
        out += s
        n = len(o.partitions)
        out += _pack_i(n)
        _write_offset_delete_response_partition_v0(out, o.partitions)


def _encode_offset_delete_response_v0(o: OffsetDeleteResponse) -> list[Part]:
    out = bytearray()
    n = len(o.topics)
    out += _pack_hii(o.error_code, o.throttle_time_ms, n)
    _write_offset_delete_response_topic_v0(out, o.topics)
    return [out]


OffsetDeleteRequest.DECODERS = {
    0: _decode_offset_delete_request_v0,
}
OffsetDeleteRequest.ENCODERS = {
    0: _encode_offset_delete_request_v0,
}
OffsetDeleteResponse.DECODERS = {
    0: _decode_offset_delete_response_v0,
}
OffsetDeleteResponse.ENCODERS = {
    0: _encode_offset_delete_response_v0,
}
