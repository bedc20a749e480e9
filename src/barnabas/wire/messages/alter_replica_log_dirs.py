"""Moves replicas between the log directories of one broker.

Generated from schemas/alter_replica_log_dirs.msg by codegen; edit that and run it again.
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
_pack_i = Struct(">i").pack
_pack_ih = Struct(">ih").pack
_pack_ii = Struct(">ii").pack
_unpack_h = Struct(">h").unpack_from
_unpack_i = Struct(">i").unpack_from
_unpack_ih = Struct(">ih").unpack_from
_unpack_ii = Struct(">ii").unpack_from


class AlterReplicaLogDirTopic(WireStruct):
    __slots__ = (
        "name",
        "partitions",
    )
    FIELDS: ClassVar[FieldSpecs] = (
        ("name", "string", 1, 2, False),
        ("partitions", "[int32]", 1, 2, False),
    )

    def __init__(
        self,
        name: str = "",
        partitions: list[int] = EMPTY,
    ) -> None:
        self.name = name
        self.partitions = [] if partitions is EMPTY else partitions


class AlterReplicaLogDir(WireStruct):
    __slots__ = (
        "path",
        "topics",
    )
    FIELDS: ClassVar[FieldSpecs] = (
        ("path", "string", 1, 2, False),
        ("topics", "[AlterReplicaLogDirTopic]", 1, 2, False),
    )

    def __init__(
        self,
        path: str = "",
        topics: list[AlterReplicaLogDirTopic] = EMPTY,
    ) -> None:
        self.path = path  # absolute path of the directory
        self.topics = [] if topics is EMPTY else topics


class AlterReplicaLogDirPartitionResult(WireStruct):
    __slots__ = (
        "partition_index",
        "error_code",
    )
    FIELDS: ClassVar[FieldSpecs] = (
        ("partition_index", "int32", 1, 2, False),
        ("error_code", "int16", 1, 2, False),
    )

    def __init__(
        self,
        partition_index: int = 0,
        error_code: int = 0,
    ) -> None:
        self.partition_index = partition_index
        self.error_code = error_code


class AlterReplicaLogDirTopicResult(WireStruct):
    __slots__ = (
        "topic_name",
        "partitions",
    )
    FIELDS: ClassVar[FieldSpecs] = (
        ("topic_name", "string", 1, 2, False),
        ("partitions", "[AlterReplicaLogDirPartitionResult]", 1, 2, False),
    )

    def __init__(
        self,
        topic_name: str = "",
        partitions: list[AlterReplicaLogDirPartitionResult] = EMPTY,
    ) -> None:
        self.topic_name = topic_name
        self.partitions = [] if partitions is EMPTY else partitions


class AlterReplicaLogDirsRequest(Request["AlterReplicaLogDirsResponse"]):
    __slots__ = (
        "dirs",
    )
    API_KEY: ClassVar[int] = 34
    MIN_VERSION: ClassVar[int] = 1
    MAX_VERSION: ClassVar[int] = 2
    FLEXIBLE_FROM: ClassVar[int] = 2
    FIELDS: ClassVar[FieldSpecs] = (
        ("dirs", "[AlterReplicaLogDir]", 1, 2, False),
    )

    def __init__(
        self,
        dirs: list[AlterReplicaLogDir] = EMPTY,
    ) -> None:
        self.dirs = [] if dirs is EMPTY else dirs


class AlterReplicaLogDirsResponse(Message):
    __slots__ = (
        "throttle_time_ms",
        "results",
    )
    API_KEY: ClassVar[int] = 34
    MIN_VERSION: ClassVar[int] = 1
    MAX_VERSION: ClassVar[int] = 2
    FLEXIBLE_FROM: ClassVar[int] = 2
    FIELDS: ClassVar[FieldSpecs] = (
        ("throttle_time_ms", "int32", 1, 2, False),
        ("results", "[AlterReplicaLogDirTopicResult]", 1, 2, False),
    )

    def __init__(
        self,
        throttle_time_ms: int = 0,
        results: list[AlterReplicaLogDirTopicResult] = EMPTY,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.results = [] if results is EMPTY else results


def _read_alter_replica_log_dir_topic_v1(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[AlterReplicaLogDirTopic], int]:
    if count * 6 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 184
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[AlterReplicaLogDirTopic] = []
    for _ in range(count):
        o = new(AlterReplicaLogDirTopic)
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
        o.partitions, pos = read_int32s(buf, pos, end, n, budget)
        items.append(o)
    return items, pos


def _read_alter_replica_log_dir_v1(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[AlterReplicaLogDir], int]:
    if count * 6 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 184
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[AlterReplicaLogDir] = []
    for _ in range(count):
        o = new(AlterReplicaLogDir)
        (n,) = _unpack_h(buf, pos)
        pos += 2
        if n < 0:
            raise unexpected_null(pos, "path")
        q = pos + n
        if q > end:
            raise overrun(pos, n)
        o.path = str(buf[pos:q], "utf-8")
        pos = q
        (n,) = _unpack_i(buf, pos)
        pos += 4
        if n < 0:
            raise unexpected_null(pos, "topics")
        o.topics, pos = _read_alter_replica_log_dir_topic_v1(buf, pos, end, n, budget)
        items.append(o)
    return items, pos


def _decode_alter_replica_log_dirs_request_v1(buf: memoryview, pos: int, end: int, budget: list[int]) -> AlterReplicaLogDirsRequest:
    o = new(AlterReplicaLogDirsRequest)
    (n,) = _unpack_i(buf, pos)
    pos += 4
    if n < 0:
        raise unexpected_null(pos, "dirs")
    o.dirs, pos = _read_alter_replica_log_dir_v1(buf, pos, end, n, budget)
    return o


def _write_alter_replica_log_dir_topic_v1(
    out: bytearray, items: Sequence[AlterReplicaLogDirTopic]
) -> None:
    for o in items:
        s = o.name.encode()
        n = len(s)
        out += _pack_h(n)
        out += s
        n = len(o.partitions)
        out += _pack_i(n)
        out += int32_elements(o.partitions)


def _write_alter_replica_log_dir_v1(
    out: bytearray, items: Sequence[AlterReplicaLogDir]
) -> None:
    for o in items:
        s = o.path.encode()
        n = len(s)
        out += _pack_h(n)
        out += s
        n = len(o.topics)
        out += _pack_i(n)
        _write_alter_replica_log_dir_topic_v1(out, o.topics)


def _encode_alter_replica_log_dirs_request_v1(o: AlterReplicaLogDirsRequest) -> list[Part]:
    out = bytearray()
    n = len(o.dirs)
    out += _pack_i(n)
    _write_alter_replica_log_dir_v1(out, o.dirs)
    return [out]


def _read_alter_replica_log_dir_topic_v2(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[AlterReplicaLogDirTopic], int]:
    if count * 3 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 184
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[AlterReplicaLogDirTopic] = []
    for _ in range(count):
        o = new(AlterReplicaLogDirTopic)
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
        o.partitions, pos = read_int32s(buf, pos, end, n, budget)
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tags(buf, pos, end)
        items.append(o)
    return items, pos


def _read_alter_replica_log_dir_v2(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[AlterReplicaLogDir], int]:
    if count * 3 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 184
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[AlterReplicaLogDir] = []
    for _ in range(count):
        o = new(AlterReplicaLogDir)
        n = buf[pos]
        pos += 1
        if n > 127:
            n, pos = read_long_string_length(buf, pos)
        n -= 1
        if n < 0:
            raise unexpected_null(pos, "path")
        q = pos + n
        if q > end:
            raise overrun(pos, n)
        o.path = str(buf[pos:q], "utf-8")
        pos = q
        n = buf[pos]
        pos += 1
        if n > 127:
            n, pos = read_long_uvarint(buf, pos)
        n -= 1
        if n < 0:
            raise unexpected_null(pos, "topics")
        o.topics, pos = _read_alter_replica_log_dir_topic_v2(buf, pos, end, n, budget)
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tags(buf, pos, end)
        items.append(o)
    return items, pos


def _decode_alter_replica_log_dirs_request_v2(buf: memoryview, pos: int, end: int, budget: list[int]) -> AlterReplicaLogDirsRequest:
    o = new(AlterReplicaLogDirsRequest)
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_long_uvarint(buf, pos)
    n -= 1
    if n < 0:
        raise unexpected_null(pos, "dirs")
    o.dirs, pos = _read_alter_replica_log_dir_v2(buf, pos, end, n, budget)
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tags(buf, pos, end)
    return o


def _write_alter_replica_log_dir_topic_v2(
    out: bytearray, items: Sequence[AlterReplicaLogDirTopic]
) -> None:
    for o in items:
        s = o.name.encode()
        n = len(s) + 1
        out += UVARINTS[n] if n < 128 else long_string_length(n)
        out += s
        n = len(o.partitions) + 1
        out += UVARINTS[n] if n < 128 else uvarint(n)
        out += int32_elements(o.partitions)
        out.append(0)


def _write_alter_replica_log_dir_v2(
    out: bytearray, items: Sequence[AlterReplicaLogDir]
) -> None:
    for o in items:
        s = o.path.encode()
        n = len(s) + 1
        out += UVARINTS[n] if n < 128 else long_string_length(n)
        out += s
        n = len(o.topics) + 1
        out += UVARINTS[n] if n < 128 else uvarint(n)
        _write_alter_replica_log_dir_topic_v2(out, o.topics)
        out.append(0)


def _encode_alter_replica_log_dirs_request_v2(o: AlterReplicaLogDirsRequest) -> list[Part]:
    out = bytearray()
    n = len(o.dirs) + 1
    out += UVARINTS[n] if n < 128 else uvarint(n)
    _write_alter_replica_log_dir_v2(out, o.dirs)
    out.append(0)
    return [out]


def _read_alter_replica_log_dir_partition_result_v1(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[AlterReplicaLogDirPartitionResult], int]:
    if count * 6 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 128
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[AlterReplicaLogDirPartitionResult] = []
    for _ in range(count):
        o = new(AlterReplicaLogDirPartitionResult)
        o.partition_index, o.error_code = _unpack_ih(buf, pos)
        pos += 6
        items.append(o)
    return items, pos


def _read_alter_replica_log_dir_topic_result_v1(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[AlterReplicaLogDirTopicResult], int]:
    if count * 6 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 184
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[AlterReplicaLogDirTopicResult] = []
    for _ in range(count):
        o = new(AlterReplicaLogDirTopicResult)
        (n,) = _unpack_h(buf, pos)
        pos += 2
        if n < 0:
            raise unexpected_null(pos, "topic_name")
        q = pos + n
        if q > end:
            raise overrun(pos, n)
        o.topic_name = str(buf[pos:q], "utf-8")
        pos = q
        (n,) = _unpack_i(buf, pos)
        pos += 4
        if n < 0:
            raise unexpected_null(pos, "partitions")
        o.partitions, pos = _read_alter_replica_log_dir_partition_result_v1(buf, pos, end, n, budget)
        items.append(o)
    return items, pos


def _decode_alter_replica_log_dirs_response_v1(buf: memoryview, pos: int, end: int, budget: list[int]) -> AlterReplicaLogDirsResponse:
    o = new(AlterReplicaLogDirsResponse)
    o.throttle_time_ms, n = _unpack_ii(buf, pos)
    pos += 8
    if n < 0:
        raise unexpected_null(pos, "results")
    o.results, pos = _read_alter_replica_log_dir_topic_result_v1(buf, pos, end, n, budget)
    return o


def _write_alter_replica_log_dir_partition_result_v1(
    out: bytearray, items: Sequence[AlterReplicaLogDirPartitionResult]
) -> None:
    for o in items:
        out += _pack_ih(o.partition_index, o.error_code)


def _write_alter_replica_log_dir_topic_result_v1(
    out: bytearray, items: Sequence[AlterReplicaLogDirTopicResult]
) -> None:
    for o in items:
        s = o.topic_name.encode()
        n = len(s)
        out += _pack_h(n)
        out += s
        n = len(o.partitions)
        out += _pack_i(n)
        _write_alter_replica_log_dir_partition_result_v1(out, o.partitions)


def _encode_alter_replica_log_dirs_response_v1(o: AlterReplicaLogDirsResponse) -> list[Part]:
    out = bytearray()
    n = len(o.results)
    out += _pack_ii(o.throttle_time_ms, n)
    _write_alter_replica_log_dir_topic_result_v1(out, o.results)
    return [out]


def _read_alter_replica_log_dir_partition_result_v2(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[AlterReplicaLogDirPartitionResult], int]:
    if count * 7 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 128
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[AlterReplicaLogDirPartitionResult] = []
    for _ in range(count):
        o = new(AlterReplicaLogDirPartitionResult)
        o.partition_index, o.error_code = _unpack_ih(buf, pos)
        pos += 6
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tags(buf, pos, end)
        items.append(o)
    return items, pos


def _read_alter_replica_log_dir_topic_result_v2(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[AlterReplicaLogDirTopicResult], int]:
    if count * 3 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 184
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[AlterReplicaLogDirTopicResult] = []
    for _ in range(count):
        o = new(AlterReplicaLogDirTopicResult)
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
        n = buf[pos]
        pos += 1
        if n > 127:
            n, pos = read_long_uvarint(buf, pos)
        n -= 1
        if n < 0:
            raise unexpected_null(pos, "partitions")
        o.partitions, pos = _read_alter_replica_log_dir_partition_result_v2(buf, pos, end, n, budget)
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tags(buf, pos, end)
        items.append(o)
    return items, pos


def _decode_alter_replica_log_dirs_response_v2(buf: memoryview, pos: int, end: int, budget: list[int]) -> AlterReplicaLogDirsResponse:
    o = new(AlterReplicaLogDirsResponse)
    (o.throttle_time_ms,) = _unpack_i(buf, pos)
    pos += 4
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_long_uvarint(buf, pos)
    n -= 1
    if n < 0:
        raise unexpected_null(pos, "results")
    o.results, pos = _read_alter_replica_log_dir_topic_result_v2(buf, pos, end, n, budget)
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tags(buf, pos, end)
    return o


def _write_alter_replica_log_dir_partition_result_v2(
    out: bytearray, items: Sequence[AlterReplicaLogDirPartitionResult]
) -> None:
    for o in items:
        out += _pack_ih(o.partition_index, o.error_code)
        out.append(0)


def _write_alter_replica_log_dir_topic_result_v2(
    out: bytearray, items: Sequence[AlterReplicaLogDirTopicResult]
) -> None:
    for o in items:
        s = o.topic_name.encode()
        n = len(s) + 1
        out += UVARINTS[n] if n < 128 else long_string_length(n)
        out += s
        n = len(o.partitions) + 1
        out += UVARINTS[n] if n < 128 else uvarint(n)
        _write_alter_replica_log_dir_partition_result_v2(out, o.partitions)
        out.append(0)


def _encode_alter_replica_log_dirs_response_v2(o: AlterReplicaLogDirsResponse) -> list[Part]:
    out = bytearray()
    out += _pack_i(o.throttle_time_ms)
    n = len(o.results) + 1
    out += UVARINTS[n] if n < 128 else uvarint(n)
    _write_alter_replica_log_dir_topic_result_v2(out, o.results)
    out.append(0)
    return [out]


AlterReplicaLogDirsRequest.DECODERS = {
    1: _decode_alter_replica_log_dirs_request_v1,
    2: _decode_alter_replica_log_dirs_request_v2,
}
AlterReplicaLogDirsRequest.ENCODERS = {
    1: _encode_alter_replica_log_dirs_request_v1,
    2: _encode_alter_replica_log_dirs_request_v2,
}
AlterReplicaLogDirsResponse.DECODERS = {
    1: _decode_alter_replica_log_dirs_response_v1,
    2: _decode_alter_replica_log_dirs_response_v2,
}
AlterReplicaLogDirsResponse.ENCODERS = {
    1: _encode_alter_replica_log_dirs_response_v1,
    2: _encode_alter_replica_log_dirs_response_v2,
}
