"""Log directories of a broker, with the size and lag of the replicas in each.

Generated from schemas/describe_log_dirs.msg by codegen; edit that and run it again.
"""

from collections.abc import Sequence
from struct import Struct
from typing import ClassVar

from barnabas.wire.message import FieldSpecs, Message, Request, WireStruct
from barnabas.wire.primitives import (
    EMPTY,
    Part,
    UVARINTS,
    int32_elements,
    long_string_length,
    new,
    over_budget,
    overrun,
    read_int32s,
    read_long_string_length,
    read_long_uvarint,
    skip_tags,
    too_many,
    unexpected_null,
    uvarint,
)

_pack_h = Struct(">h").pack
_pack_hh = Struct(">hh").pack
_pack_i = Struct(">i").pack
_pack_ih = Struct(">ih").pack
_pack_ii = Struct(">ii").pack
_pack_iqqt = Struct(">iqq?").pack
_pack_qq = Struct(">qq").pack
_pack_qqt = Struct(">qq?").pack
_unpack_h = Struct(">h").unpack_from
_unpack_hh = Struct(">hh").unpack_from
_unpack_i = Struct(">i").unpack_from
_unpack_ih = Struct(">ih").unpack_from
_unpack_ii = Struct(">ii").unpack_from
_unpack_iqqt = Struct(">iqq?").unpack_from
_unpack_qq = Struct(">qq").unpack_from
_unpack_qqt = Struct(">qq?").unpack_from


class DescribableLogDirTopic(WireStruct):
    __slots__ = (
        "topic",
        "partitions",
    )
    FIELDS: ClassVar[FieldSpecs] = (
        ("topic", "string", 1, 5, False),
        ("partitions", "[int32]", 1, 5, False),
    )

    def __init__(
        self,
        topic: str = "",
        partitions: list[int] = EMPTY,
    ) -> None:
        self.topic = topic
        self.partitions = [] if partitions is EMPTY else partitions


class DescribeLogDirsPartition(WireStruct):
    __slots__ = (
        "partition_index",
        "partition_size",
        "offset_lag",
        "is_future_key",
    )
    FIELDS: ClassVar[FieldSpecs] = (
        ("partition_index", "int32", 1, 5, False),
        ("partition_size", "int64", 1, 5, False),
        ("offset_lag", "int64", 1, 5, False),
        ("is_future_key", "bool", 1, 5, False),
    )

    def __init__(
        self,
        partition_index: int = 0,
        partition_size: int = 0,
        offset_lag: int = 0,
        is_future_key: bool = False,
    ) -> None:
        self.partition_index = partition_index
        self.partition_size = partition_size
        self.offset_lag = offset_lag  # behind the high watermark, or behind the current replica for a future one
        self.is_future_key = is_future_key  # a replica being moved into this directory


class DescribeLogDirsTopic(WireStruct):
    __slots__ = (
        "name",
        "partitions",
    )
    FIELDS: ClassVar[FieldSpecs] = (
        ("name", "string", 1, 5, False),
        ("partitions", "[DescribeLogDirsPartition]", 1, 5, False),
    )

    def __init__(
        self,
        name: str = "",
        partitions: list[DescribeLogDirsPartition] = EMPTY,
    ) -> None:
        self.name = name
        self.partitions = [] if partitions is EMPTY else partitions


class DescribeLogDirsResult(WireStruct):
    __slots__ = (
        "error_code",
        "log_dir",
        "topics",
        "total_bytes",
        "usable_bytes",
        "is_cordoned",
    )
    FIELDS: ClassVar[FieldSpecs] = (
        ("error_code", "int16", 1, 5, False),
        ("log_dir", "string", 1, 5, False),
        ("topics", "[DescribeLogDirsTopic]", 1, 5, False),
        ("total_bytes", "int64", 4, 5, False),
        ("usable_bytes", "int64", 4, 5, False),
        ("is_cordoned", "bool", 5, 5, False),
    )

    def __init__(
        self,
        error_code: int = 0,
        log_dir: str = "",
        topics: list[DescribeLogDirsTopic] = EMPTY,
        total_bytes: int = -1,
        usable_bytes: int = -1,
        is_cordoned: bool = False,
    ) -> None:
        self.error_code = error_code
        self.log_dir = log_dir
        self.topics = [] if topics is EMPTY else topics  # null for all
        self.total_bytes = total_bytes  # of the volume; -1 unknown
        self.usable_bytes = usable_bytes  # of the volume; -1 unknown
        self.is_cordoned = is_cordoned  # takes no new replicas


class DescribeLogDirsRequest(Request["DescribeLogDirsResponse"]):
    __slots__ = (
        "topics",
    )
    API_KEY: ClassVar[int] = 35
    MIN_VERSION: ClassVar[int] = 1
    MAX_VERSION: ClassVar[int] = 5
    FLEXIBLE_FROM: ClassVar[int] = 2
    FIELDS: ClassVar[FieldSpecs] = (
        ("topics", "[DescribableLogDirTopic]", 1, 5, True),
    )

    def __init__(
        self,
        topics: list[DescribableLogDirTopic] | None = EMPTY,
    ) -> None:
        self.topics = [] if topics is EMPTY else topics  # null for all


class DescribeLogDirsResponse(Message):
    __slots__ = (
        "throttle_time_ms",
        "error_code",
        "results",
    )
    API_KEY: ClassVar[int] = 35
    MIN_VERSION: ClassVar[int] = 1
    MAX_VERSION: ClassVar[int] = 5
    FLEXIBLE_FROM: ClassVar[int] = 2
    FIELDS: ClassVar[FieldSpecs] = (
        ("throttle_time_ms", "int32", 1, 5, False),
        ("error_code", "int16", 3, 5, False),
        ("results", "[DescribeLogDirsResult]", 1, 5, False),
    )

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        results: list[DescribeLogDirsResult] = EMPTY,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.results = [] if results is EMPTY else results


def _read_describable_log_dir_topic_v1(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[DescribableLogDirTopic], int]:
    if count * 6 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 184
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[DescribableLogDirTopic] = []
    for _ in range(count):
        o = new(DescribableLogDirTopic)
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


def _decode_describe_log_dirs_request_v1(buf: memoryview, pos: int, end: int, budget: list[int]) -> DescribeLogDirsRequest:
    o = new(DescribeLogDirsRequest)
    (n,) = _unpack_i(buf, pos)
    pos += 4
    if n < 0:
        o.topics = None
    else:
        o.topics, pos = _read_describable_log_dir_topic_v1(buf, pos, end, n, budget)
    return o


def _write_describable_log_dir_topic_v1(
    out: bytearray, items: Sequence[DescribableLogDirTopic]
) -> None:
    for o in items:
        s = o.topic.encode()
        n = len(s)
        out += _pack_h(n)
        out += s
        n = len(o.partitions)
        out += _pack_i(n)
        out += int32_elements(o.partitions)


def _encode_describe_log_dirs_request_v1(o: DescribeLogDirsRequest) -> list[Part]:
    out = bytearray()
    if o.topics is None:
        n = -1
    else:
        n = len(o.topics)
    out += _pack_i(n)
    if o.topics is not None:
        _write_describable_log_dir_topic_v1(out, o.topics)
    return [out]


def _read_describable_log_dir_topic_v2(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[DescribableLogDirTopic], int]:
    if count * 3 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 184
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[DescribableLogDirTopic] = []
    for _ in range(count):
        o = new(DescribableLogDirTopic)
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
            raise unexpected_null(pos, "partitions")
        o.partitions, pos = read_int32s(buf, pos, end, n, budget)
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tags(buf, pos, end)
        items.append(o)
    return items, pos


def _decode_describe_log_dirs_request_v2(buf: memoryview, pos: int, end: int, budget: list[int]) -> DescribeLogDirsRequest:
    o = new(DescribeLogDirsRequest)
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_long_uvarint(buf, pos)
    n -= 1
    if n < 0:
        o.topics = None
    else:
        o.topics, pos = _read_describable_log_dir_topic_v2(buf, pos, end, n, budget)
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tags(buf, pos, end)
    return o


def _write_describable_log_dir_topic_v2(
    out: bytearray, items: Sequence[DescribableLogDirTopic]
) -> None:
    for o in items:
        s = o.topic.encode()
        n = len(s) + 1
        out += UVARINTS[n] if n < 128 else long_string_length(n)
        out += s
        n = len(o.partitions) + 1
        out += UVARINTS[n] if n < 128 else uvarint(n)
        out += int32_elements(o.partitions)
        out.append(0)


def _encode_describe_log_dirs_request_v2(o: DescribeLogDirsRequest) -> list[Part]:
    out = bytearray()
    if o.topics is None:
        out.append(0)
    else:
        n = len(o.topics) + 1
        out += UVARINTS[n] if n < 128 else uvarint(n)
        _write_describable_log_dir_topic_v2(out, o.topics)
    out.append(0)
    return [out]


def _read_describe_log_dirs_partition_v1(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[DescribeLogDirsPartition], int]:
    if count * 21 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 176
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[DescribeLogDirsPartition] = []
    for _ in range(count):
        o = new(DescribeLogDirsPartition)
        o.partition_index, o.partition_size, o.offset_lag, o.is_future_key = _unpack_iqqt(buf, pos)
        pos += 21
        items.append(o)
    return items, pos


def _read_describe_log_dirs_topic_v1(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[DescribeLogDirsTopic], int]:
    if count * 6 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 184
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[DescribeLogDirsTopic] = []
    for _ in range(count):
        o = new(DescribeLogDirsTopic)
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
        o.partitions, pos = _read_describe_log_dirs_partition_v1(buf, pos, end, n, budget)
        items.append(o)
    return items, pos


def _read_describe_log_dirs_result_v1(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[DescribeLogDirsResult], int]:
    if count * 8 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 248
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[DescribeLogDirsResult] = []
    for _ in range(count):
        o = new(DescribeLogDirsResult)
        o.total_bytes = -1
        o.usable_bytes = -1
        o.is_cordoned = False
        o.error_code, n = _unpack_hh(buf, pos)
        pos += 4
        if n < 0:
            raise unexpected_null(pos, "log_dir")
        q = pos + n
        if q > end:
            raise overrun(pos, n)
        o.log_dir = str(buf[pos:q], "utf-8")
        pos = q
        (n,) = _unpack_i(buf, pos)
        pos += 4
        if n < 0:
            raise unexpected_null(pos, "topics")
        o.topics, pos = _read_describe_log_dirs_topic_v1(buf, pos, end, n, budget)
        items.append(o)
    return items, pos


def _decode_describe_log_dirs_response_v1(buf: memoryview, pos: int, end: int, budget: list[int]) -> DescribeLogDirsResponse:
    o = new(DescribeLogDirsResponse)
    o.error_code = 0
    o.throttle_time_ms, n = _unpack_ii(buf, pos)
    pos += 8
    if n < 0:
        raise unexpected_null(pos, "results")
    o.results, pos = _read_describe_log_dirs_result_v1(buf, pos, end, n, budget)
    return o


def _write_describe_log_dirs_partition_v1(
    out: bytearray, items: Sequence[DescribeLogDirsPartition]
) -> None:
    for o in items:
        out += _pack_iqqt(o.partition_index, o.partition_size, o.offset_lag, o.is_future_key)


def _write_describe_log_dirs_topic_v1(
    out: bytearray, items: Sequence[DescribeLogDirsTopic]
) -> None:
    for o in items:
        s = o.name.encode()
        n = len(s)
        out += _pack_h(n)
        out += s
        n = len(o.partitions)
        out += _pack_i(n)
        _write_describe_log_dirs_partition_v1(out, o.partitions)


def _write_describe_log_dirs_result_v1(
    out: bytearray, items: Sequence[DescribeLogDirsResult]
) -> None:
    for o in items:
        s = o.log_dir.encode()
        n = len(s)
        out += _pack_hh(o.error_code, n)
        out += s
        n = len(o.topics)
        out += _pack_i(n)
        _write_describe_log_dirs_topic_v1(out, o.topics)


def _encode_describe_log_dirs_response_v1(o: DescribeLogDirsResponse) -> list[Part]:
    out = bytearray()
    n = len(o.results)
    out += _pack_ii(o.throttle_time_ms, n)
    _write_describe_log_dirs_result_v1(out, o.results)
    return [out]


def _read_describe_log_dirs_partition_v2(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[DescribeLogDirsPartition], int]:
    if count * 22 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 176
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[DescribeLogDirsPartition] = []
    for _ in range(count):
        o = new(DescribeLogDirsPartition)
        o.partition_index, o.partition_size, o.offset_lag, o.is_future_key = _unpack_iqqt(buf, pos)
        pos += 21
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tags(buf, pos, end)
        items.append(o)
    return items, pos


def _read_describe_log_dirs_topic_v2(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[DescribeLogDirsTopic], int]:
    if count * 3 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 184
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[DescribeLogDirsTopic] = []
    for _ in range(count):
        o = new(DescribeLogDirsTopic)
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
        o.partitions, pos = _read_describe_log_dirs_partition_v2(buf, pos, end, n, budget)
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tags(buf, pos, end)
        items.append(o)
    return items, pos


def _read_describe_log_dirs_result_v2(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[DescribeLogDirsResult], int]:
    if count * 5 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 248
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[DescribeLogDirsResult] = []
    for _ in range(count):
        o = new(DescribeLogDirsResult)
        o.total_bytes = -1
        o.usable_bytes = -1
        o.is_cordoned = False
        (o.error_code,) = _unpack_h(buf, pos)
        pos += 2
        n = buf[pos]
        pos += 1
        if n > 127:
            n, pos = read_long_string_length(buf, pos)
        n -= 1
        if n < 0:
            raise unexpected_null(pos, "log_dir")
        q = pos + n
        if q > end:
            raise overrun(pos, n)
        o.log_dir = str(buf[pos:q], "utf-8")
        pos = q
        n = buf[pos]
        pos += 1
        if n > 127:
            n, pos = read_long_uvarint(buf, pos)
        n -= 1
        if n < 0:
            raise unexpected_null(pos, "topics")
        o.topics, pos = _read_describe_log_dirs_topic_v2(buf, pos, end, n, budget)
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tags(buf, pos, end)
        items.append(o)
    return items, pos


def _decode_describe_log_dirs_response_v2(buf: memoryview, pos: int, end: int, budget: list[int]) -> DescribeLogDirsResponse:
    o = new(DescribeLogDirsResponse)
    o.error_code = 0
    (o.throttle_time_ms,) = _unpack_i(buf, pos)
    pos += 4
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_long_uvarint(buf, pos)
    n -= 1
    if n < 0:
        raise unexpected_null(pos, "results")
    o.results, pos = _read_describe_log_dirs_result_v2(buf, pos, end, n, budget)
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tags(buf, pos, end)
    return o


def _write_describe_log_dirs_partition_v2(
    out: bytearray, items: Sequence[DescribeLogDirsPartition]
) -> None:
    for o in items:
        out += _pack_iqqt(o.partition_index, o.partition_size, o.offset_lag, o.is_future_key)
        out.append(0)


def _write_describe_log_dirs_topic_v2(
    out: bytearray, items: Sequence[DescribeLogDirsTopic]
) -> None:
    for o in items:
        s = o.name.encode()
        n = len(s) + 1
        out += UVARINTS[n] if n < 128 else long_string_length(n)
        out += s
        n = len(o.partitions) + 1
        out += UVARINTS[n] if n < 128 else uvarint(n)
        _write_describe_log_dirs_partition_v2(out, o.partitions)
        out.append(0)


def _write_describe_log_dirs_result_v2(
    out: bytearray, items: Sequence[DescribeLogDirsResult]
) -> None:
    for o in items:
        out += _pack_h(o.error_code)
        s = o.log_dir.encode()
        n = len(s) + 1
        out += UVARINTS[n] if n < 128 else long_string_length(n)
        out += s
        n = len(o.topics) + 1
        out += UVARINTS[n] if n < 128 else uvarint(n)
        _write_describe_log_dirs_topic_v2(out, o.topics)
        out.append(0)


def _encode_describe_log_dirs_response_v2(o: DescribeLogDirsResponse) -> list[Part]:
    out = bytearray()
    out += _pack_i(o.throttle_time_ms)
    n = len(o.results) + 1
    out += UVARINTS[n] if n < 128 else uvarint(n)
    _write_describe_log_dirs_result_v2(out, o.results)
    out.append(0)
    return [out]


def _decode_describe_log_dirs_response_v3(buf: memoryview, pos: int, end: int, budget: list[int]) -> DescribeLogDirsResponse:
    o = new(DescribeLogDirsResponse)
    o.throttle_time_ms, o.error_code = _unpack_ih(buf, pos)
    pos += 6
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_long_uvarint(buf, pos)
    n -= 1
    if n < 0:
        raise unexpected_null(pos, "results")
    o.results, pos = _read_describe_log_dirs_result_v2(buf, pos, end, n, budget)
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tags(buf, pos, end)
    return o


def _encode_describe_log_dirs_response_v3(o: DescribeLogDirsResponse) -> list[Part]:
    out = bytearray()
    out += _pack_ih(o.throttle_time_ms, o.error_code)
    n = len(o.results) + 1
    out += UVARINTS[n] if n < 128 else uvarint(n)
    _write_describe_log_dirs_result_v2(out, o.results)
    out.append(0)
    return [out]


def _read_describe_log_dirs_result_v4(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[DescribeLogDirsResult], int]:
    if count * 21 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 312
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[DescribeLogDirsResult] = []
    for _ in range(count):
        o = new(DescribeLogDirsResult)
        o.is_cordoned = False
        (o.error_code,) = _unpack_h(buf, pos)
        pos += 2
        n = buf[pos]
        pos += 1
        if n > 127:
            n, pos = read_long_string_length(buf, pos)
        n -= 1
        if n < 0:
            raise unexpected_null(pos, "log_dir")
        q = pos + n
        if q > end:
            raise overrun(pos, n)
        o.log_dir = str(buf[pos:q], "utf-8")
        pos = q
        n = buf[pos]
        pos += 1
        if n > 127:
            n, pos = read_long_uvarint(buf, pos)
        n -= 1
        if n < 0:
            raise unexpected_null(pos, "topics")
        o.topics, pos = _read_describe_log_dirs_topic_v2(buf, pos, end, n, budget)
        o.total_bytes, o.usable_bytes = _unpack_qq(buf, pos)
        pos += 16
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tags(buf, pos, end)
        items.append(o)
    return items, pos


def _decode_describe_log_dirs_response_v4(buf: memoryview, pos: int, end: int, budget: list[int]) -> DescribeLogDirsResponse:
    o = new(DescribeLogDirsResponse)
    o.throttle_time_ms, o.error_code = _unpack_ih(buf, pos)
    pos += 6
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_long_uvarint(buf, pos)
    n -= 1
    if n < 0:
        raise unexpected_null(pos, "results")
    o.results, pos = _read_describe_log_dirs_result_v4(buf, pos, end, n, budget)
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tags(buf, pos, end)
    return o


def _write_describe_log_dirs_result_v4(
    out: bytearray, items: Sequence[DescribeLogDirsResult]
) -> None:
    for o in items:
        out += _pack_h(o.error_code)
        s = o.log_dir.encode()
        n = len(s) + 1
        out += UVARINTS[n] if n < 128 else long_string_length(n)
        out += s
        n = len(o.topics) + 1
        out += UVARINTS[n] if n < 128 else uvarint(n)
        _write_describe_log_dirs_topic_v2(out, o.topics)
        out += _pack_qq(o.total_bytes, o.usable_bytes)
        out.append(0)


def _encode_describe_log_dirs_response_v4(o: DescribeLogDirsResponse) -> list[Part]:
    out = bytearray()
    out += _pack_ih(o.throttle_time_ms, o.error_code)
    n = len(o.results) + 1
    out += UVARINTS[n] if n < 128 else uvarint(n)
    _write_describe_log_dirs_result_v4(out, o.results)
    out.append(0)
    return [out]


def _read_describe_log_dirs_result_v5(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[DescribeLogDirsResult], int]:
    if count * 22 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 312
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[DescribeLogDirsResult] = []
    for _ in range(count):
        o = new(DescribeLogDirsResult)
        (o.error_code,) = _unpack_h(buf, pos)
        pos += 2
        n = buf[pos]
        pos += 1
        if n > 127:
            n, pos = read_long_string_length(buf, pos)
        n -= 1
        if n < 0:
            raise unexpected_null(pos, "log_dir")
        q = pos + n
        if q > end:
            raise overrun(pos, n)
        o.log_dir = str(buf[pos:q], "utf-8")
        pos = q
        n = buf[pos]
        pos += 1
        if n > 127:
            n, pos = read_long_uvarint(buf, pos)
        n -= 1
        if n < 0:
            raise unexpected_null(pos, "topics")
        o.topics, pos = _read_describe_log_dirs_topic_v2(buf, pos, end, n, budget)
        o.total_bytes, o.usable_bytes, o.is_cordoned = _unpack_qqt(buf, pos)
        pos += 17
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tags(buf, pos, end)
        items.append(o)
    return items, pos


def _decode_describe_log_dirs_response_v5(buf: memoryview, pos: int, end: int, budget: list[int]) -> DescribeLogDirsResponse:
    o = new(DescribeLogDirsResponse)
    o.throttle_time_ms, o.error_code = _unpack_ih(buf, pos)
    pos += 6
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_long_uvarint(buf, pos)
    n -= 1
    if n < 0:
        raise unexpected_null(pos, "results")
    o.results, pos = _read_describe_log_dirs_result_v5(buf, pos, end, n, budget)
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tags(buf, pos, end)
    return o


def _write_describe_log_dirs_result_v5(
    out: bytearray, items: Sequence[DescribeLogDirsResult]
) -> None:
    for o in items:
        out += _pack_h(o.error_code)
        s = o.log_dir.encode()
        n = len(s) + 1
        out += UVARINTS[n] if n < 128 else long_string_length(n)
        out += s
        n = len(o.topics) + 1
        out += UVARINTS[n] if n < 128 else uvarint(n)
        _write_describe_log_dirs_topic_v2(out, o.topics)
        out += _pack_qqt(o.total_bytes, o.usable_bytes, o.is_cordoned)
        out.append(0)


def _encode_describe_log_dirs_response_v5(o: DescribeLogDirsResponse) -> list[Part]:
    out = bytearray()
    out += _pack_ih(o.throttle_time_ms, o.error_code)
    n = len(o.results) + 1
    out += UVARINTS[n] if n < 128 else uvarint(n)
    _write_describe_log_dirs_result_v5(out, o.results)
    out.append(0)
    return [out]


DescribeLogDirsRequest.DECODERS = {
    1: _decode_describe_log_dirs_request_v1,
    2: _decode_describe_log_dirs_request_v2,
    3: _decode_describe_log_dirs_request_v2,
    4: _decode_describe_log_dirs_request_v2,
    5: _decode_describe_log_dirs_request_v2,
}
DescribeLogDirsRequest.ENCODERS = {
    1: _encode_describe_log_dirs_request_v1,
    2: _encode_describe_log_dirs_request_v2,
    3: _encode_describe_log_dirs_request_v2,
    4: _encode_describe_log_dirs_request_v2,
    5: _encode_describe_log_dirs_request_v2,
}
DescribeLogDirsResponse.DECODERS = {
    1: _decode_describe_log_dirs_response_v1,
    2: _decode_describe_log_dirs_response_v2,
    3: _decode_describe_log_dirs_response_v3,
    4: _decode_describe_log_dirs_response_v4,
    5: _decode_describe_log_dirs_response_v5,
}
DescribeLogDirsResponse.ENCODERS = {
    1: _encode_describe_log_dirs_response_v1,
    2: _encode_describe_log_dirs_response_v2,
    3: _encode_describe_log_dirs_response_v3,
    4: _encode_describe_log_dirs_response_v4,
    5: _encode_describe_log_dirs_response_v5,
}
