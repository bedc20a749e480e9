"""Moves the log start offset of partitions forward.

Generated from schemas/delete_records.msg by codegen; edit that and run it again.
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
_pack_i = Struct(">i").pack
_pack_ii = Struct(">ii").pack
_pack_iq = Struct(">iq").pack
_pack_iqh = Struct(">iqh").pack
_unpack_h = Struct(">h").unpack_from
_unpack_i = Struct(">i").unpack_from
_unpack_ii = Struct(">ii").unpack_from
_unpack_iq = Struct(">iq").unpack_from
_unpack_iqh = Struct(">iqh").unpack_from


class DeleteRecordsPartition(WireStruct):
    __slots__ = (
        "partition_index",
        "offset",
    )
    FIELDS: ClassVar[FieldSpecs] = (
        ("partition_index", "int32", 0, 2, False),
        ("offset", "int64", 0, 2, False),
    )

    def __init__(
        self,
        partition_index: int = 0,
        offset: int = 0,
    ) -> None:
        self.partition_index = partition_index
        self.offset = offset  # first offset to keep; -1 means the high watermark


class DeleteRecordsTopic(WireStruct):
    __slots__ = (
        "name",
        "partitions",
    )
    FIELDS: ClassVar[FieldSpecs] = (
        ("name", "string", 0, 2, False),
        ("partitions", "[DeleteRecordsPartition]", 0, 2, False),
    )

    def __init__(
        self,
        name: str = "",
        partitions: list[DeleteRecordsPartition] = EMPTY,
    ) -> None:
        self.name = name
        self.partitions = [] if partitions is EMPTY else partitions


class DeleteRecordsPartitionResult(WireStruct):
    __slots__ = (
        "partition_index",
        "low_watermark",
        "error_code",
    )
    FIELDS: ClassVar[FieldSpecs] = (
        ("partition_index", "int32", 0, 2, False),
        ("low_watermark", "int64", 0, 2, False),
        ("error_code", "int16", 0, 2, False),
    )

    def __init__(
        self,
        partition_index: int = 0,
        low_watermark: int = 0,
        error_code: int = 0,
    ) -> None:
        self.partition_index = partition_index
        self.low_watermark = low_watermark  # new log start offset
        self.error_code = error_code


class DeleteRecordsTopicResult(WireStruct):
    __slots__ = (
        "name",
        "partitions",
    )
    FIELDS: ClassVar[FieldSpecs] = (
        ("name", "string", 0, 2, False),
        ("partitions", "[DeleteRecordsPartitionResult]", 0, 2, False),
    )

    def __init__(
        self,
        name: str = "",
        partitions: list[DeleteRecordsPartitionResult] = EMPTY,
    ) -> None:
        self.name = name
        self.partitions = [] if partitions is EMPTY else partitions


class DeleteRecordsRequest(Request["DeleteRecordsResponse"]):
    __slots__ = (
        "topics",
        "timeout_ms",
    )
    API_KEY: ClassVar[int] = 21
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 2
    FLEXIBLE_FROM: ClassVar[int] = 2
    FIELDS: ClassVar[FieldSpecs] = (
        ("topics", "[DeleteRecordsTopic]", 0, 2, False),
        ("timeout_ms", "int32", 0, 2, False),
    )

    def __init__(
        self,
        topics: list[DeleteRecordsTopic] = EMPTY,
        timeout_ms: int = 0,
    ) -> None:
        self.topics = [] if topics is EMPTY else topics
        self.timeout_ms = timeout_ms


class DeleteRecordsResponse(Message):
    __slots__ = (
        "throttle_time_ms",
        "topics",
    )
    API_KEY: ClassVar[int] = 21
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 2
    FLEXIBLE_FROM: ClassVar[int] = 2
    FIELDS: ClassVar[FieldSpecs] = (
        ("throttle_time_ms", "int32", 0, 2, False),
        ("topics", "[DeleteRecordsTopicResult]", 0, 2, False),
    )

    def __init__(
        self,
        throttle_time_ms: int = 0,
        topics: list[DeleteRecordsTopicResult] = EMPTY,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.topics = [] if topics is EMPTY else topics


def _read_delete_records_partition_v0(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[DeleteRecordsPartition], int]:
    if count * 12 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 128
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[DeleteRecordsPartition] = []
    for _ in range(count):
        o = new(DeleteRecordsPartition)
        o.partition_index, o.offset = _unpack_iq(buf, pos)
        pos += 12
        items.append(o)
    return items, pos


def _read_delete_records_topic_v0(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[DeleteRecordsTopic], int]:
    if count * 6 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 184
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[DeleteRecordsTopic] = []
    for _ in range(count):
        o = new(DeleteRecordsTopic)
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
        o.partitions, pos = _read_delete_records_partition_v0(buf, pos, end, n, budget)
        items.append(o)
    return items, pos


def _decode_delete_records_request_v0(buf: memoryview, pos: int, end: int, budget: list[int]) -> DeleteRecordsRequest:
    o = new(DeleteRecordsRequest)
    (n,) = _unpack_i(buf, pos)
    pos += 4
    if n < 0:
        raise unexpected_null(pos, "topics")
    o.topics, pos = _read_delete_records_topic_v0(buf, pos, end, n, budget)
    (o.timeout_ms,) = _unpack_i(buf, pos)
    pos += 4
    return o


def _write_delete_records_partition_v0(
    out: bytearray, items: Sequence[DeleteRecordsPartition]
) -> None:
    for o in items:
        out += _pack_iq(o.partition_index, o.offset)


def _write_delete_records_topic_v0(
    out: bytearray, items: Sequence[DeleteRecordsTopic]
) -> None:
    for o in items:
        s = o.name.encode()
        n = len(s)
        out += _pack_h(n)
        out += s
        n = len(o.partitions)
        out += _pack_i(n)
        _write_delete_records_partition_v0(out, o.partitions)


def _encode_delete_records_request_v0(o: DeleteRecordsRequest) -> list[Part]:
    out = bytearray()
    n = len(o.topics)
    out += _pack_i(n)
    _write_delete_records_topic_v0(out, o.topics)
    out += _pack_i(o.timeout_ms)
    return [out]


def _read_delete_records_partition_v2(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[DeleteRecordsPartition], int]:
    if count * 13 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 128
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[DeleteRecordsPartition] = []
    for _ in range(count):
        o = new(DeleteRecordsPartition)
        o.partition_index, o.offset = _unpack_iq(buf, pos)
        pos += 12
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tags(buf, pos, end)
        items.append(o)
    return items, pos


def _read_delete_records_topic_v2(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[DeleteRecordsTopic], int]:
    if count * 3 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 184
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[DeleteRecordsTopic] = []
    for _ in range(count):
        o = new(DeleteRecordsTopic)
        n = buf[pos]
        pos += 1
        if n > 127:
            n, pos = read_long_string_length(buf, pos)
        n -= 1
        if n < 0:
            raise unexpected_null(pos, "name")
        q = pos + n
        if q > end:
            raise overrun(pos, n)
        o.name = str(buf[pos:q], "utf-8")
        pos = q
        n = buf[pos]
        pos += 1
        if n > 127:
            n, pos = read_long_uvarint(buf, pos)
        n -= 1
        if n < 0:
            raise unexpected_null(pos, "partitions")
        o.partitions, pos = _read_delete_records_partition_v2(buf, pos, end, n, budget)
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tags(buf, pos, end)
        items.append(o)
    return items, pos


def _decode_delete_records_request_v2(buf: memoryview, pos: int, end: int, budget: list[int]) -> DeleteRecordsRequest:
    o = new(DeleteRecordsRequest)
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_long_uvarint(buf, pos)
    n -= 1
    if n < 0:
        raise unexpected_null(pos, "topics")
    o.topics, pos = _read_delete_records_topic_v2(buf, pos, end, n, budget)
    (o.timeout_ms,) = _unpack_i(buf, pos)
    pos += 4
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tags(buf, pos, end)
    return o


def _write_delete_records_partition_v2(
    out: bytearray, items: Sequence[DeleteRecordsPartition]
) -> None:
    for o in items:
        out += _pack_iq(o.partition_index, o.offset)
        out.append(0)


def _write_delete_records_topic_v2(
    out: bytearray, items: Sequence[DeleteRecordsTopic]
) -> None:
    for o in items:
        s = o.name.encode()
        n = len(s) + 1
        out += UVARINTS[n] if n < 128 else long_string_length(n)
        out += s
        n = len(o.partitions) + 1
        out += UVARINTS[n] if n < 128 else uvarint(n)
        _write_delete_records_partition_v2(out, o.partitions)
        out.append(0)


def _encode_delete_records_request_v2(o: DeleteRecordsRequest) -> list[Part]:
    out = bytearray()
    n = len(o.topics) + 1
    out += UVARINTS[n] if n < 128 else uvarint(n)
    _write_delete_records_topic_v2(out, o.topics)
    out += _pack_i(o.timeout_ms)
    out.append(0)
    return [out]


def _read_delete_records_partition_result_v0(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[DeleteRecordsPartitionResult], int]:
    if count * 14 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 168
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[DeleteRecordsPartitionResult] = []
    for _ in range(count):
        o = new(DeleteRecordsPartitionResult)
        o.partition_index, o.low_watermark, o.error_code = _unpack_iqh(buf, pos)
        pos += 14
        items.append(o)
    return items, pos


def _read_delete_records_topic_result_v0(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[DeleteRecordsTopicResult], int]:
    if count * 6 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 184
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[DeleteRecordsTopicResult] = []
    for _ in range(count):
        o = new(DeleteRecordsTopicResult)
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
        o.partitions, pos = _read_delete_records_partition_result_v0(buf, pos, end, n, budget)
        items.append(o)
    return items, pos


def _decode_delete_records_response_v0(buf: memoryview, pos: int, end: int, budget: list[int]) -> DeleteRecordsResponse:
    o = new(DeleteRecordsResponse)
    o.throttle_time_ms, n = _unpack_ii(buf, pos)
    pos += 8
    if n < 0:
        raise unexpected_null(pos, "topics")
    o.topics, pos = _read_delete_records_topic_result_v0(buf, pos, end, n, budget)
    return o


def _write_delete_records_partition_result_v0(
    out: bytearray, items: Sequence[DeleteRecordsPartitionResult]
) -> None:
    for o in items:
        out += _pack_iqh(o.partition_index, o.low_watermark, o.error_code)


def _write_delete_records_topic_result_v0(
    out: bytearray, items: Sequence[DeleteRecordsTopicResult]
) -> None:
    for o in items:
        s = o.name.encode()
        n = len(s)
        out += _pack_h(n)
        out += s
        n = len(o.partitions)
        out += _pack_i(n)
        _write_delete_records_partition_result_v0(out, o.partitions)


def _encode_delete_records_response_v0(o: DeleteRecordsResponse) -> list[Part]:
    out = bytearray()
    n = len(o.topics)
    out += _pack_ii(o.throttle_time_ms, n)
    _write_delete_records_topic_result_v0(out, o.topics)
    return [out]


def _read_delete_records_partition_result_v2(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[DeleteRecordsPartitionResult], int]:
    if count * 15 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 168
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[DeleteRecordsPartitionResult] = []
    for _ in range(count):
        o = new(DeleteRecordsPartitionResult)
        o.partition_index, o.low_watermark, o.error_code = _unpack_iqh(buf, pos)
        pos += 14
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tags(buf, pos, end)
        items.append(o)
    return items, pos


def _read_delete_records_topic_result_v2(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[DeleteRecordsTopicResult], int]:
    if count * 3 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 184
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[DeleteRecordsTopicResult] = []
    for _ in range(count):
        o = new(DeleteRecordsTopicResult)
        n = buf[pos]
        pos += 1
        if n > 127:
            n, pos = read_long_string_length(buf, pos)
        n -= 1
        if n < 0:
            raise unexpected_null(pos, "name")
        q = pos + n
        if q > end:
            raise overrun(pos, n)
        o.name = str(buf[pos:q], "utf-8")
        pos = q
        n = buf[pos]
        pos += 1
        if n > 127:
            n, pos = read_long_uvarint(buf, pos)
        n -= 1
        if n < 0:
            raise unexpected_null(pos, "partitions")
        o.partitions, pos = _read_delete_records_partition_result_v2(buf, pos, end, n, budget)
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tags(buf, pos, end)
        items.append(o)
    return items, pos


def _decode_delete_records_response_v2(buf: memoryview, pos: int, end: int, budget: list[int]) -> DeleteRecordsResponse:
    o = new(DeleteRecordsResponse)
    (o.throttle_time_ms,) = _unpack_i(buf, pos)
    pos += 4
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_long_uvarint(buf, pos)
    n -= 1
    if n < 0:
        raise unexpected_null(pos, "topics")
    o.topics, pos = _read_delete_records_topic_result_v2(buf, pos, end, n, budget)
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tags(buf, pos, end)
    return o


def _write_delete_records_partition_result_v2(
    out: bytearray, items: Sequence[DeleteRecordsPartitionResult]
) -> None:
    for o in items:
        out += _pack_iqh(o.partition_index, o.low_watermark, o.error_code)
        out.append(0)


def _write_delete_records_topic_result_v2(
    out: bytearray, items: Sequence[DeleteRecordsTopicResult]
) -> None:
    for o in items:
        s = o.name.encode()
        n = len(s) + 1
        out += UVARINTS[n] if n < 128 else long_string_length(n)
        out += s
        n = len(o.partitions) + 1
        out += UVARINTS[n] if n < 128 else uvarint(n)
        _write_delete_records_partition_result_v2(out, o.partitions)
        out.append(0)


def _encode_delete_records_response_v2(o: DeleteRecordsResponse) -> list[Part]:
    out = bytearray()
    out += _pack_i(o.throttle_time_ms)
    n = len(o.topics) + 1
    out += UVARINTS[n] if n < 128 else uvarint(n)
    _write_delete_records_topic_result_v2(out, o.topics)
    out.append(0)
    return [out]


DeleteRecordsRequest.DECODERS = {
    0: _decode_delete_records_request_v0,
    1: _decode_delete_records_request_v0,
    2: _decode_delete_records_request_v2,
}
DeleteRecordsRequest.ENCODERS = {
    0: _encode_delete_records_request_v0,
    1: _encode_delete_records_request_v0,
    2: _encode_delete_records_request_v2,
}
DeleteRecordsResponse.DECODERS = {
    0: _decode_delete_records_response_v0,
    1: _decode_delete_records_response_v0,
    2: _decode_delete_records_response_v2,
}
DeleteRecordsResponse.ENCODERS = {
    0: _encode_delete_records_response_v0,
    1: _encode_delete_records_response_v0,
    2: _encode_delete_records_response_v2,
}
