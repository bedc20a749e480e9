"""Finds offsets by timestamp, or the earliest, latest and other named positions.

Generated from schemas/list_offsets.msg by codegen; edit that and run it again.
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
_pack_ib = Struct(">ib").pack
_pack_ibi = Struct(">ibi").pack
_pack_ihqq = Struct(">ihqq").pack
_pack_ihqqi = Struct(">ihqqi").pack
_pack_ii = Struct(">ii").pack
_pack_iiq = Struct(">iiq").pack
_pack_iq = Struct(">iq").pack
_unpack_h = Struct(">h").unpack_from
_unpack_i = Struct(">i").unpack_from
_unpack_ib = Struct(">ib").unpack_from
_unpack_ibi = Struct(">ibi").unpack_from
_unpack_ihqq = Struct(">ihqq").unpack_from
_unpack_ihqqi = Struct(">ihqqi").unpack_from
_unpack_ii = Struct(">ii").unpack_from
_unpack_iiq = Struct(">iiq").unpack_from
_unpack_iq = Struct(">iq").unpack_from


class ListOffsetsPartition(WireStruct):
    __slots__ = (
        "partition_index",
        "current_leader_epoch",
        "timestamp",
    )
    FIELDS: ClassVar[FieldSpecs] = (
        ("partition_index", "int32", 1, 11, False),
        ("current_leader_epoch", "int32", 4, 11, False),
        ("timestamp", "int64", 1, 11, False),
    )

    def __init__(
        self,
        partition_index: int = 0,
        current_leader_epoch: int = -1,
        timestamp: int = 0,
    ) -> None:
        self.partition_index = partition_index
        self.current_leader_epoch = current_leader_epoch  # -1 skips the check for a stale caller (KIP-320)
        self.timestamp = timestamp  # -1 latest, -2 earliest, -3 largest timestamp, -4 earliest local, -5 latest tiered


class ListOffsetsTopic(WireStruct):
    __slots__ = (
        "name",
        "partitions",
    )
    FIELDS: ClassVar[FieldSpecs] = (
        ("name", "string", 1, 11, False),
        ("partitions", "[ListOffsetsPartition]", 1, 11, False),
    )

    def __init__(
        self,
        name: str = "",
        partitions: list[ListOffsetsPartition] = EMPTY,
    ) -> None:
        self.name = name
        self.partitions = [] if partitions is EMPTY else partitions


class ListOffsetsPartitionResponse(WireStruct):
    __slots__ = (
        "partition_index",
        "error_code",
        "timestamp",
        "offset",
        "leader_epoch",
    )
    FIELDS: ClassVar[FieldSpecs] = (
        ("partition_index", "int32", 1, 11, False),
        ("error_code", "int16", 1, 11, False),
        ("timestamp", "int64", 1, 11, False),
        ("offset", "int64", 1, 11, False),
        ("leader_epoch", "int32", 4, 11, False),
    )

    def __init__(
        self,
        partition_index: int = 0,
        error_code: int = 0,
        timestamp: int = -1,
        offset: int = -1,
        leader_epoch: int = -1,
    ) -> None:
        self.partition_index = partition_index
        self.error_code = error_code
        self.timestamp = timestamp  # of the record found; -1 none
        self.offset = offset  # -1 when no record is that young
        self.leader_epoch = leader_epoch


class ListOffsetsTopicResponse(WireStruct):
    __slots__ = (
        "name",
        "partitions",
    )
    FIELDS: ClassVar[FieldSpecs] = (
        ("name", "string", 1, 11, False),
        ("partitions", "[ListOffsetsPartitionResponse]", 1, 11, False),
    )

    def __init__(
        self,
        name: str = "",
        partitions: list[ListOffsetsPartitionResponse] = EMPTY,
    ) -> None:
        self.name = name
        self.partitions = [] if partitions is EMPTY else partitions


class ListOffsetsRequest(Request["ListOffsetsResponse"]):
    __slots__ = (
        "replica_id",
        "isolation_level",
        "topics",
        "timeout_ms",
    )
    API_KEY: ClassVar[int] = 2
    MIN_VERSION: ClassVar[int] = 1
    MAX_VERSION: ClassVar[int] = 11
    FLEXIBLE_FROM: ClassVar[int] = 6
    FIELDS: ClassVar[FieldSpecs] = (
        ("replica_id", "int32", 1, 11, False),
        ("isolation_level", "int8", 2, 11, False),
        ("topics", "[ListOffsetsTopic]", 1, 11, False),
        ("timeout_ms", "int32", 10, 11, False),
    )

    def __init__(
        self,
        replica_id: int = 0,
        isolation_level: int = 0,
        topics: list[ListOffsetsTopic] = EMPTY,
        timeout_ms: int = 0,
    ) -> None:
        self.replica_id = replica_id  # -1 from a consumer
        self.isolation_level = isolation_level  # 0 read uncommitted, 1 read committed
        self.topics = [] if topics is EMPTY else topics
        self.timeout_ms = timeout_ms  # for lookups in tiered storage


class ListOffsetsResponse(Message):
    __slots__ = (
        "throttle_time_ms",
        "topics",
    )
    API_KEY: ClassVar[int] = 2
    MIN_VERSION: ClassVar[int] = 1
    MAX_VERSION: ClassVar[int] = 11
    FLEXIBLE_FROM: ClassVar[int] = 6
    FIELDS: ClassVar[FieldSpecs] = (
        ("throttle_time_ms", "int32", 2, 11, False),
        ("topics", "[ListOffsetsTopicResponse]", 1, 11, False),
    )

    def __init__(
        self,
        throttle_time_ms: int = 0,
        topics: list[ListOffsetsTopicResponse] = EMPTY,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.topics = [] if topics is EMPTY else topics


def _read_list_offsets_partition_v1(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[ListOffsetsPartition], int]:
    if count * 12 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 136
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[ListOffsetsPartition] = []
    for _ in range(count):
        o = new(ListOffsetsPartition)
        o.current_leader_epoch = -1
        o.partition_index, o.timestamp = _unpack_iq(buf, pos)
        pos += 12
        items.append(o)
    return items, pos


def _read_list_offsets_topic_v1(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[ListOffsetsTopic], int]:
    if count * 6 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 184
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[ListOffsetsTopic] = []
    for _ in range(count):
        o = new(ListOffsetsTopic)
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
        o.partitions, pos = _read_list_offsets_partition_v1(buf, pos, end, n, budget)
        items.append(o)
    return items, pos


def _decode_list_offsets_request_v1(buf: memoryview, pos: int, end: int, budget: list[int]) -> ListOffsetsRequest:
    o = new(ListOffsetsRequest)
    o.isolation_level = 0
    o.timeout_ms = 0
    o.replica_id, n = _unpack_ii(buf, pos)
    pos += 8
    if n < 0:
        raise unexpected_null(pos, "topics")
    o.topics, pos = _read_list_offsets_topic_v1(buf, pos, end, n, budget)
    return o


def _write_list_offsets_partition_v1(
    out: bytearray, items: Sequence[ListOffsetsPartition]
) -> None:
    for o in items:
        out += _pack_iq(o.partition_index, o.timestamp)


def _write_list_offsets_topic_v1(
    out: bytearray, items: Sequence[ListOffsetsTopic]
) -> None:
    for o in items:
        s = o.name.encode()
        n = len(s)
        out += _pack_h(n)
        out += s
        n = len(o.partitions)
        out += _pack_i(n)
        _write_list_offsets_partition_v1(out, o.partitions)


def _encode_list_offsets_request_v1(o: ListOffsetsRequest) -> list[Part]:
    out = bytearray()
    n = len(o.topics)
    out += _pack_ii(o.replica_id, n)
    _write_list_offsets_topic_v1(out, o.topics)
    return [out]


def _decode_list_offsets_request_v2(buf: memoryview, pos: int, end: int, budget: list[int]) -> ListOffsetsRequest:
    o = new(ListOffsetsRequest)
    o.timeout_ms = 0
    o.replica_id, o.isolation_level, n = _unpack_ibi(buf, pos)
    pos += 9
    if n < 0:
        raise unexpected_null(pos, "topics")
    o.topics, pos = _read_list_offsets_topic_v1(buf, pos, end, n, budget)
    return o


def _encode_list_offsets_request_v2(o: ListOffsetsRequest) -> list[Part]:
    out = bytearray()
    n = len(o.topics)
    out += _pack_ibi(o.replica_id, o.isolation_level, n)
    _write_list_offsets_topic_v1(out, o.topics)
    return [out]


def _read_list_offsets_partition_v4(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[ListOffsetsPartition], int]:
    if count * 16 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 168
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[ListOffsetsPartition] = []
    for _ in range(count):
        o = new(ListOffsetsPartition)
        o.partition_index, o.current_leader_epoch, o.timestamp = _unpack_iiq(buf, pos)
        pos += 16
        items.append(o)
    return items, pos


def _read_list_offsets_topic_v4(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[ListOffsetsTopic], int]:
    if count * 6 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 184
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[ListOffsetsTopic] = []
    for _ in range(count):
        o = new(ListOffsetsTopic)
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
        o.partitions, pos = _read_list_offsets_partition_v4(buf, pos, end, n, budget)
        items.append(o)
    return items, pos


def _decode_list_offsets_request_v4(buf: memoryview, pos: int, end: int, budget: list[int]) -> ListOffsetsRequest:
    o = new(ListOffsetsRequest)
    o.timeout_ms = 0
    o.replica_id, o.isolation_level, n = _unpack_ibi(buf, pos)
    pos += 9
    if n < 0:
        raise unexpected_null(pos, "topics")
    o.topics, pos = _read_list_offsets_topic_v4(buf, pos, end, n, budget)
    return o


def _write_list_offsets_partition_v4(
    out: bytearray, items: Sequence[ListOffsetsPartition]
) -> None:
    for o in items:
        out += _pack_iiq(o.partition_index, o.current_leader_epoch, o.timestamp)


def _write_list_offsets_topic_v4(
    out: bytearray, items: Sequence[ListOffsetsTopic]
) -> None:
    for o in items:
        s = o.name.encode()
        n = len(s)
        out += _pack_h(n)
        out += s
        n = len(o.partitions)
        out += _pack_i(n)
        _write_list_offsets_partition_v4(out, o.partitions)


def _encode_list_offsets_request_v4(o: ListOffsetsRequest) -> list[Part]:
    out = bytearray()
    n = len(o.topics)
    out += _pack_ibi(o.replica_id, o.isolation_level, n)
    _write_list_offsets_topic_v4(out, o.topics)
    return [out]


def _read_list_offsets_partition_v6(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[ListOffsetsPartition], int]:
    if count * 17 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 168
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[ListOffsetsPartition] = []
    for _ in range(count):
        o = new(ListOffsetsPartition)
        o.partition_index, o.current_leader_epoch, o.timestamp = _unpack_iiq(buf, pos)
        pos += 16
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tags(buf, pos, end)
        items.append(o)
    return items, pos


def _read_list_offsets_topic_v6(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[ListOffsetsTopic], int]:
    if count * 3 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 184
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[ListOffsetsTopic] = []
    for _ in range(count):
        o = new(ListOffsetsTopic)
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
        o.partitions, pos = _read_list_offsets_partition_v6(buf, pos, end, n, budget)
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tags(buf, pos, end)
        items.append(o)
    return items, pos


def _decode_list_offsets_request_v6(buf: memoryview, pos: int, end: int, budget: list[int]) -> ListOffsetsRequest:
    o = new(ListOffsetsRequest)
    o.timeout_ms = 0
    o.replica_id, o.isolation_level = _unpack_ib(buf, pos)
    pos += 5
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_long_uvarint(buf, pos)
    n -= 1
    if n < 0:
        raise unexpected_null(pos, "topics")
    o.topics, pos = _read_list_offsets_topic_v6(buf, pos, end, n, budget)
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tags(buf, pos, end)
    return o


def _write_list_offsets_partition_v6(
    out: bytearray, items: Sequence[ListOffsetsPartition]
) -> None:
    for o in items:
        out += _pack_iiq(o.partition_index, o.current_leader_epoch, o.timestamp)
        out.append(0)


def _write_list_offsets_topic_v6(
    out: bytearray, items: Sequence[ListOffsetsTopic]
) -> None:
    for o in items:
        s = o.name.encode()
        n = len(s) + 1
        out += UVARINTS[n] if n < 128 else long_string_length(n)
        out += s
        n = len(o.partitions) + 1
        out += UVARINTS[n] if n < 128 else uvarint(n)
        _write_list_offsets_partition_v6(out, o.partitions)
        out.append(0)


def _encode_list_offsets_request_v6(o: ListOffsetsRequest) -> list[Part]:
    out = bytearray()
    out += _pack_ib(o.replica_id, o.isolation_level)
    n = len(o.topics) + 1
    out += UVARINTS[n] if n < 128 else uvarint(n)
    _write_list_offsets_topic_v6(out, o.topics)
    out.append(0)
    return [out]


def _decode_list_offsets_request_v10(buf: memoryview, pos: int, end: int, budget: list[int]) -> ListOffsetsRequest:
    o = new(ListOffsetsRequest)
    o.replica_id, o.isolation_level = _unpack_ib(buf, pos)
    pos += 5
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_long_uvarint(buf, pos)
    n -= 1
    if n < 0:
        raise unexpected_null(pos, "topics")
    o.topics, pos = _read_list_offsets_topic_v6(buf, pos, end, n, budget)
    (o.timeout_ms,) = _unpack_i(buf, pos)
    pos += 4
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tags(buf, pos, end)
    return o


def _encode_list_offsets_request_v10(o: ListOffsetsRequest) -> list[Part]:
    out = bytearray()
    out += _pack_ib(o.replica_id, o.isolation_level)
    n = len(o.topics) + 1
    out += UVARINTS[n] if n < 128 else uvarint(n)
    _write_list_offsets_topic_v6(out, o.topics)
    out += _pack_i(o.timeout_ms)
    out.append(0)
    return [out]


def _read_list_offsets_partition_response_v1(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[ListOffsetsPartitionResponse], int]:
    if count * 22 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 216
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[ListOffsetsPartitionResponse] = []
    for _ in range(count):
        o = new(ListOffsetsPartitionResponse)
        o.leader_epoch = -1
        o.partition_index, o.error_code, o.timestamp, o.offset = _unpack_ihqq(buf, pos)
        pos += 22
        items.append(o)
    return items, pos


def _read_list_offsets_topic_response_v1(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[ListOffsetsTopicResponse], int]:
    if count * 6 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 184
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[ListOffsetsTopicResponse] = []
    for _ in range(count):
        o = new(ListOffsetsTopicResponse)
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
        o.partitions, pos = _read_list_offsets_partition_response_v1(buf, pos, end, n, budget)
        items.append(o)
    return items, pos


def _decode_list_offsets_response_v1(buf: memoryview, pos: int, end: int, budget: list[int]) -> ListOffsetsResponse:
    o = new(ListOffsetsResponse)
    o.throttle_time_ms = 0
    (n,) = _unpack_i(buf, pos)
    pos += 4
    if n < 0:
        raise unexpected_null(pos, "topics")
    o.topics, pos = _read_list_offsets_topic_response_v1(buf, pos, end, n, budget)
    return o


def _write_list_offsets_partition_response_v1(
    out: bytearray, items: Sequence[ListOffsetsPartitionResponse]
) -> None:
    for o in items:
        out += _pack_ihqq(o.partition_index, o.error_code, o.timestamp, o.offset)


def _write_list_offsets_topic_response_v1(
    out: bytearray, items: Sequence[ListOffsetsTopicResponse]
) -> None:
    for o in items:
        s = o.name.encode()
        n = len(s)
        out += _pack_h(n)
        out += s
        n = len(o.partitions)
        out += _pack_i(n)
        _write_list_offsets_partition_response_v1(out, o.partitions)


def _encode_list_offsets_response_v1(o: ListOffsetsResponse) -> list[Part]:
    out = bytearray()
    n = len(o.topics)
    out += _pack_i(n)
    _write_list_offsets_topic_response_v1(out, o.topics)
    return [out]


def _decode_list_offsets_response_v2(buf: memoryview, pos: int, end: int, budget: list[int]) -> ListOffsetsResponse:
    o = new(ListOffsetsResponse)
    o.throttle_time_ms, n = _unpack_ii(buf, pos)
    pos += 8
    if n < 0:
        raise unexpected_null(pos, "topics")
    o.topics, pos = _read_list_offsets_topic_response_v1(buf, pos, end, n, budget)
    return o


def _encode_list_offsets_response_v2(o: ListOffsetsResponse) -> list[Part]:
    out = bytearray()
    n = len(o.topics)
    out += _pack_ii(o.throttle_time_ms, n)
    _write_list_offsets_topic_response_v1(out, o.topics)
    return [out]


def _read_list_offsets_partition_response_v4(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[ListOffsetsPartitionResponse], int]:
    if count * 26 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 248
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[ListOffsetsPartitionResponse] = []
    for _ in range(count):
        o = new(ListOffsetsPartitionResponse)
        o.partition_index, o.error_code, o.timestamp, o.offset, o.leader_epoch = _unpack_ihqqi(buf, pos)
        pos += 26
        items.append(o)
    return items, pos


def _read_list_offsets_topic_response_v4(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[ListOffsetsTopicResponse], int]:
    if count * 6 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 184
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[ListOffsetsTopicResponse] = []
    for _ in range(count):
        o = new(ListOffsetsTopicResponse)
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
        o.partitions, pos = _read_list_offsets_partition_response_v4(buf, pos, end, n, budget)
        items.append(o)
    return items, pos


def _decode_list_offsets_response_v4(buf: memoryview, pos: int, end: int, budget: list[int]) -> ListOffsetsResponse:
    o = new(ListOffsetsResponse)
    o.throttle_time_ms, n = _unpack_ii(buf, pos)
    pos += 8
    if n < 0:
        raise unexpected_null(pos, "topics")
    o.topics, pos = _read_list_offsets_topic_response_v4(buf, pos, end, n, budget)
    return o


def _write_list_offsets_partition_response_v4(
    out: bytearray, items: Sequence[ListOffsetsPartitionResponse]
) -> None:
    for o in items:
        out += _pack_ihqqi(o.partition_index, o.error_code, o.timestamp, o.offset, o.leader_epoch)


def _write_list_offsets_topic_response_v4(
    out: bytearray, items: Sequence[ListOffsetsTopicResponse]
) -> None:
    for o in items:
        s = o.name.encode()
        n = len(s)
        out += _pack_h(n)
        out += s
        n = len(o.partitions)
        out += _pack_i(n)
        _write_list_offsets_partition_response_v4(out, o.partitions)


def _encode_list_offsets_response_v4(o: ListOffsetsResponse) -> list[Part]:
    out = bytearray()
    n = len(o.topics)
    out += _pack_ii(o.throttle_time_ms, n)
    _write_list_offsets_topic_response_v4(out, o.topics)
    return [out]


def _read_list_offsets_partition_response_v6(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[ListOffsetsPartitionResponse], int]:
    if count * 27 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 248
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[ListOffsetsPartitionResponse] = []
    for _ in range(count):
        o = new(ListOffsetsPartitionResponse)
        o.partition_index, o.error_code, o.timestamp, o.offset, o.leader_epoch = _unpack_ihqqi(buf, pos)
        pos += 26
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tags(buf, pos, end)
        items.append(o)
    return items, pos


def _read_list_offsets_topic_response_v6(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[ListOffsetsTopicResponse], int]:
    if count * 3 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 184
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[ListOffsetsTopicResponse] = []
    for _ in range(count):
        o = new(ListOffsetsTopicResponse)
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
        o.partitions, pos = _read_list_offsets_partition_response_v6(buf, pos, end, n, budget)
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tags(buf, pos, end)
        items.append(o)
    return items, pos


def _decode_list_offsets_response_v6(buf: memoryview, pos: int, end: int, budget: list[int]) -> ListOffsetsResponse:
    o = new(ListOffsetsResponse)
    (o.throttle_time_ms,) = _unpack_i(buf, pos)
    pos += 4
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_long_uvarint(buf, pos)
    n -= 1
    if n < 0:
        raise unexpected_null(pos, "topics")
    o.topics, pos = _read_list_offsets_topic_response_v6(buf, pos, end, n, budget)
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tags(buf, pos, end)
    return o


def _write_list_offsets_partition_response_v6(
    out: bytearray, items: Sequence[ListOffsetsPartitionResponse]
) -> None:
    for o in items:
        out += _pack_ihqqi(o.partition_index, o.error_code, o.timestamp, o.offset, o.leader_epoch)
        out.append(0)


def _write_list_offsets_topic_response_v6(
    out: bytearray, items: Sequence[ListOffsetsTopicResponse]
) -> None:
    for o in items:
        s = o.name.encode()
        n = len(s) + 1
        out += UVARINTS[n] if n < 128 else long_string_length(n)
        out += s
        n = len(o.partitions) + 1
        out += UVARINTS[n] if n < 128 else uvarint(n)
        _write_list_offsets_partition_response_v6(out, o.partitions)
        out.append(0)


def _encode_list_offsets_response_v6(o: ListOffsetsResponse) -> list[Part]:
    out = bytearray()
    out += _pack_i(o.throttle_time_ms)
    n = len(o.topics) + 1
    out += UVARINTS[n] if n < 128 else uvarint(n)
    _write_list_offsets_topic_response_v6(out, o.topics)
    out.append(0)
    return [out]


ListOffsetsRequest.DECODERS = {
    1: _decode_list_offsets_request_v1,
    2: _decode_list_offsets_request_v2,
    3: _decode_list_offsets_request_v2,
    4: _decode_list_offsets_request_v4,
    5: _decode_list_offsets_request_v4,
    6: _decode_list_offsets_request_v6,
    7: _decode_list_offsets_request_v6,
    8: _decode_list_offsets_request_v6,
    9: _decode_list_offsets_request_v6,
    10: _decode_list_offsets_request_v10,
    11: _decode_list_offsets_request_v10,
}
ListOffsetsRequest.ENCODERS = {
    1: _encode_list_offsets_request_v1,
    2: _encode_list_offsets_request_v2,
    3: _encode_list_offsets_request_v2,
    4: _encode_list_offsets_request_v4,
    5: _encode_list_offsets_request_v4,
    6: _encode_list_offsets_request_v6,
    7: _encode_list_offsets_request_v6,
    8: _encode_list_offsets_request_v6,
    9: _encode_list_offsets_request_v6,
    10: _encode_list_offsets_request_v10,
    11: _encode_list_offsets_request_v10,
}
ListOffsetsResponse.DECODERS = {
    1: _decode_list_offsets_response_v1,
    2: _decode_list_offsets_response_v2,
    3: _decode_list_offsets_response_v2,
    4: _decode_list_offsets_response_v4,
    5: _decode_list_offsets_response_v4,
    6: _decode_list_offsets_response_v6,
    7: _decode_list_offsets_response_v6,
    8: _decode_list_offsets_response_v6,
    9: _decode_list_offsets_response_v6,
    10: _decode_list_offsets_response_v6,
    11: _decode_list_offsets_response_v6,
}
ListOffsetsResponse.ENCODERS = {
    1: _encode_list_offsets_response_v1,
    2: _encode_list_offsets_response_v2,
    3: _encode_list_offsets_response_v2,
    4: _encode_list_offsets_response_v4,
    5: _encode_list_offsets_response_v4,
    6: _encode_list_offsets_response_v6,
    7: _encode_list_offsets_response_v6,
    8: _encode_list_offsets_response_v6,
    9: _encode_list_offsets_response_v6,
    10: _encode_list_offsets_response_v6,
    11: _encode_list_offsets_response_v6,
}
