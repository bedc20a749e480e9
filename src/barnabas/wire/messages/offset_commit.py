"""Stores consumed positions of a group.

Generated from schemas/offset_commit.msg by codegen; edit that and run it again.
"""

from collections.abc import Sequence
from struct import Struct
from typing import ClassVar

from barnabas.model.errors import LocalError
from barnabas.model.ids import ZERO_UUID, Uuid
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

_pack_u = Struct(">16s").pack
_pack_h = Struct(">h").pack
_pack_i = Struct(">i").pack
_pack_ih = Struct(">ih").pack
_pack_ii = Struct(">ii").pack
_pack_iqh = Struct(">iqh").pack
_pack_iqi = Struct(">iqi").pack
_pack_iqih = Struct(">iqih").pack
_pack_qi = Struct(">qi").pack
_unpack_u = Struct(">16s").unpack_from
_unpack_h = Struct(">h").unpack_from
_unpack_i = Struct(">i").unpack_from
_unpack_ih = Struct(">ih").unpack_from
_unpack_ii = Struct(">ii").unpack_from
_unpack_iqh = Struct(">iqh").unpack_from
_unpack_iqi = Struct(">iqi").unpack_from
_unpack_iqih = Struct(">iqih").unpack_from
_unpack_qi = Struct(">qi").unpack_from


class OffsetCommitRequestPartition(WireStruct):
    __slots__ = (
        "partition_index",
        "committed_offset",
        "committed_leader_epoch",
        "committed_metadata",
    )
    FIELDS: ClassVar[FieldSpecs] = (
        ("partition_index", "int32", 2, 10, False),
        ("committed_offset", "int64", 2, 10, False),
        ("committed_leader_epoch", "int32", 6, 10, False),
        ("committed_metadata", "string", 2, 10, True),
    )

    def __init__(
        self,
        partition_index: int = 0,
        committed_offset: int = 0,
        committed_leader_epoch: int = -1,
        committed_metadata: str | None = "",
    ) -> None:
        self.partition_index = partition_index
        self.committed_offset = committed_offset
        self.committed_leader_epoch = committed_leader_epoch  # of the last record consumed; -1 unknown
        self.committed_metadata = committed_metadata  # any text of the client


class OffsetCommitRequestTopic(WireStruct):
    __slots__ = (
        "name",
        "topic_id",
        "partitions",
    )
    FIELDS: ClassVar[FieldSpecs] = (
        ("name", "string", 2, 9, False),
        ("topic_id", "uuid", 10, 10, False),
        ("partitions", "[OffsetCommitRequestPartition]", 2, 10, False),
    )

    def __init__(
        self,
        name: str = "",
        topic_id: Uuid = ZERO_UUID,
        partitions: list[OffsetCommitRequestPartition] = EMPTY,
    ) -> None:
        self.name = name
        self.topic_id = topic_id
        self.partitions = [] if partitions is EMPTY else partitions


class OffsetCommitResponsePartition(WireStruct):
    __slots__ = (
        "partition_index",
        "error_code",
    )
    FIELDS: ClassVar[FieldSpecs] = (
        ("partition_index", "int32", 2, 10, False),
        ("error_code", "int16", 2, 10, False),
    )

    def __init__(
        self,
        partition_index: int = 0,
        error_code: int = 0,
    ) -> None:
        self.partition_index = partition_index
        self.error_code = error_code


class OffsetCommitResponseTopic(WireStruct):
    __slots__ = (
        "name",
        "topic_id",
        "partitions",
    )
    FIELDS: ClassVar[FieldSpecs] = (
        ("name", "string", 2, 9, False),
        ("topic_id", "uuid", 10, 10, False),
        ("partitions", "[OffsetCommitResponsePartition]", 2, 10, False),
    )

    def __init__(
        self,
        name: str = "",
        topic_id: Uuid = ZERO_UUID,
        partitions: list[OffsetCommitResponsePartition] = EMPTY,
    ) -> None:
        self.name = name
        self.topic_id = topic_id
        self.partitions = [] if partitions is EMPTY else partitions


class OffsetCommitRequest(Request["OffsetCommitResponse"]):
    __slots__ = (
        "group_id",
        "generation_id_or_member_epoch",
        "member_id",
        "group_instance_id",
        "retention_time_ms",
        "topics",
    )
    API_KEY: ClassVar[int] = 8
    MIN_VERSION: ClassVar[int] = 2
    MAX_VERSION: ClassVar[int] = 10
    FLEXIBLE_FROM: ClassVar[int] = 8
    FIELDS: ClassVar[FieldSpecs] = (
        ("group_id", "string", 2, 10, False),
        ("generation_id_or_member_epoch", "int32", 2, 10, False),
        ("member_id", "string", 2, 10, False),
        ("group_instance_id", "string", 7, 10, True),
        ("retention_time_ms", "int64", 2, 4, False),
        ("topics", "[OffsetCommitRequestTopic]", 2, 10, False),
    )

    def __init__(
        self,
        group_id: str = "",
        generation_id_or_member_epoch: int = -1,
        member_id: str = "",
        group_instance_id: str | None = None,
        retention_time_ms: int = -1,
        topics: list[OffsetCommitRequestTopic] = EMPTY,
    ) -> None:
        self.group_id = group_id
        self.generation_id_or_member_epoch = generation_id_or_member_epoch  # -1 from a client that only stores offsets
        self.member_id = member_id
        self.group_instance_id = group_instance_id  # set by static members (KIP-345)
        self.retention_time_ms = retention_time_ms  # -1 takes the setting of the broker
        self.topics = [] if topics is EMPTY else topics


class OffsetCommitResponse(Message):
    __slots__ = (
        "throttle_time_ms",
        "topics",
    )
    API_KEY: ClassVar[int] = 8
    MIN_VERSION: ClassVar[int] = 2
    MAX_VERSION: ClassVar[int] = 10
    FLEXIBLE_FROM: ClassVar[int] = 8
    FIELDS: ClassVar[FieldSpecs] = (
        ("throttle_time_ms", "int32", 3, 10, False),
        ("topics", "[OffsetCommitResponseTopic]", 2, 10, False),
    )

    def __init__(
        self,
        throttle_time_ms: int = 0,
        topics: list[OffsetCommitResponseTopic] = EMPTY,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.topics = [] if topics is EMPTY else topics


def _read_offset_commit_request_partition_v2(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[OffsetCommitRequestPartition], int]:
    if count * 14 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 200
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[OffsetCommitRequestPartition] = []
    for _ in range(count):
        o = new(OffsetCommitRequestPartition)
        o.committed_leader_epoch = -1
        o.partition_index, o.committed_offset, n = _unpack_iqh(buf, pos)
        pos += 14
        if n < 0:
            o.committed_metadata = None
        else:
            q = pos + n
            if q > end:
                raise overrun(pos, n)
            o.committed_metadata = str(buf[pos:q], "utf-8")
            pos = q
        items.append(o)
    return items, pos


def _read_offset_commit_request_topic_v2(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[OffsetCommitRequestTopic], int]:
    if count * 6 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 192
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[OffsetCommitRequestTopic] = []
    for _ in range(count):
        o = new(OffsetCommitRequestTopic)
        o.topic_id = ZERO_UUID
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
        o.partitions, pos = _read_offset_commit_request_partition_v2(buf, pos, end, n, budget)
        items.append(o)
    return items, pos


def _decode_offset_commit_request_v2(buf: memoryview, pos: int, end: int, budget: list[int]) -> OffsetCommitRequest:
    o = new(OffsetCommitRequest)
    o.group_instance_id = None
    (n,) = _unpack_h(buf, pos)
    pos += 2
    if n < 0:
        raise unexpected_null(pos, "group_id")
    q = pos + n
    if q > end:
        raise overrun(pos, n)
    o.group_id = str(buf[pos:q], "utf-8")
    pos = q
    o.generation_id_or_member_epoch, n = _unpack_ih(buf, pos)
    pos += 6
    if n < 0:
        raise unexpected_null(pos, "member_id")
    q = pos + n
    if q > end:
        raise overrun(pos, n)
    o.member_id = str(buf[pos:q], "utf-8")
    pos = q
    o.retention_time_ms, n = _unpack_qi(buf, pos)
    pos += 12
    if n < 0:
        raise unexpected_null(pos, "topics")
    o.topics, pos = _read_offset_commit_request_topic_v2(buf, pos, end, n, budget)
    return o


def _write_offset_commit_request_partition_v2(
    out: bytearray, items: Sequence[OffsetCommitRequestPartition]
) -> None:
    for o in items:
        if o.committed_metadata is None:
            n = -1
            s = b""
        else:
            s = o.committed_metadata.encode()
            n = len(s)
        out += _pack_iqh(o.partition_index, o.committed_offset, n)
        out += s


def _write_offset_commit_request_topic_v2(
    out: bytearray, items: Sequence[OffsetCommitRequestTopic]
) -> None:
    for o in items:
        s = o.name.encode()
        n = len(s)
        out += _pack_h(n)
        out += s
        n = len(o.partitions)
        out += _pack_i(n)
        _write_offset_commit_request_partition_v2(out, o.partitions)


def _encode_offset_commit_request_v2(o: OffsetCommitRequest) -> list[Part]:
    out = bytearray()
    s = o.group_id.encode()
    n = len(s)
    out += _pack_h(n)
    out += s
    s = o.member_id.encode()
    n = len(s)
    out += _pack_ih(o.generation_id_or_member_epoch, n)
    out += s
    n = len(o.topics)
    out += _pack_qi(o.retention_time_ms, n)
    _write_offset_commit_request_topic_v2(out, o.topics)
    return [out]


def _decode_offset_commit_request_v5(buf: memoryview, pos: int, end: int, budget: list[int]) -> OffsetCommitRequest:
    o = new(OffsetCommitRequest)
    o.group_instance_id = None
    o.retention_time_ms = -1
    (n,) = _unpack_h(buf, pos)
    pos += 2
    if n < 0:
        raise unexpected_null(pos, "group_id")
    q = pos + n
    if q > end:
        raise overrun(pos, n)
    o.group_id = str(buf[pos:q], "utf-8")
    pos = q
    o.generation_id_or_member_epoch, n = _unpack_ih(buf, pos)
    pos += 6
    if n < 0:
        raise unexpected_null(pos, "member_id")
    q = pos + n
    if q > end:
        raise overrun(pos, n)
    o.member_id = str(buf[pos:q], "utf-8")
    pos = q
    (n,) = _unpack_i(buf, pos)
    pos += 4
    if n < 0:
        raise unexpected_null(pos, "topics")
    o.topics, pos = _read_offset_commit_request_topic_v2(buf, pos, end, n, budget)
    return o


def _encode_offset_commit_request_v5(o: OffsetCommitRequest) -> list[Part]:
    out = bytearray()
    s = o.group_id.encode()
    n = len(s)
    out += _pack_h(n)
    out += s
    s = o.member_id.encode()
    n = len(s)
    out += _pack_ih(o.generation_id_or_member_epoch, n)
    out += s
    n = len(o.topics)
    out += _pack_i(n)
    _write_offset_commit_request_topic_v2(out, o.topics)
    return [out]


def _read_offset_commit_request_partition_v6(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[OffsetCommitRequestPartition], int]:
    if count * 18 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 232
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[OffsetCommitRequestPartition] = []
    for _ in range(count):
        o = new(OffsetCommitRequestPartition)
        o.partition_index, o.committed_offset, o.committed_leader_epoch, n = _unpack_iqih(buf, pos)
        pos += 18
        if n < 0:
            o.committed_metadata = None
        else:
            q = pos + n
            if q > end:
                raise overrun(pos, n)
            o.committed_metadata = str(buf[pos:q], "utf-8")
            pos = q
        items.append(o)
    return items, pos


def _read_offset_commit_request_topic_v6(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[OffsetCommitRequestTopic], int]:
    if count * 6 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 192
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[OffsetCommitRequestTopic] = []
    for _ in range(count):
        o = new(OffsetCommitRequestTopic)
        o.topic_id = ZERO_UUID
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
        o.partitions, pos = _read_offset_commit_request_partition_v6(buf, pos, end, n, budget)
        items.append(o)
    return items, pos


def _decode_offset_commit_request_v6(buf: memoryview, pos: int, end: int, budget: list[int]) -> OffsetCommitRequest:
    o = new(OffsetCommitRequest)
    o.group_instance_id = None
    o.retention_time_ms = -1
    (n,) = _unpack_h(buf, pos)
    pos += 2
    if n < 0:
        raise unexpected_null(pos, "group_id")
    q = pos + n
    if q > end:
        raise overrun(pos, n)
    o.group_id = str(buf[pos:q], "utf-8")
    pos = q
    o.generation_id_or_member_epoch, n = _unpack_ih(buf, pos)
    pos += 6
    if n < 0:
        raise unexpected_null(pos, "member_id")
    q = pos + n
    if q > end:
        raise overrun(pos, n)
    o.member_id = str(buf[pos:q], "utf-8")
    pos = q
    (n,) = _unpack_i(buf, pos)
    pos += 4
    if n < 0:
        raise unexpected_null(pos, "topics")
    o.topics, pos = _read_offset_commit_request_topic_v6(buf, pos, end, n, budget)
    return o


def _write_offset_commit_request_partition_v6(
    out: bytearray, items: Sequence[OffsetCommitRequestPartition]
) -> None:
    for o in items:
        if o.committed_metadata is None:
            n = -1
            s = b""
        else:
            s = o.committed_metadata.encode()
            n = len(s)
        out += _pack_iqih(o.partition_index, o.committed_offset, o.committed_leader_epoch, n)
        out += s


def _write_offset_commit_request_topic_v6(
    out: bytearray, items: Sequence[OffsetCommitRequestTopic]
) -> None:
    for o in items:
        s = o.name.encode()
        n = len(s)
        out += _pack_h(n)
        out += s
        n = len(o.partitions)
        out += _pack_i(n)
        _write_offset_commit_request_partition_v6(out, o.partitions)


def _encode_offset_commit_request_v6(o: OffsetCommitRequest) -> list[Part]:
    out = bytearray()
    s = o.group_id.encode()
    n = len(s)
    out += _pack_h(n)
    out += s
    s = o.member_id.encode()
    n = len(s)
    out += _pack_ih(o.generation_id_or_member_epoch, n)
    out += s
    n = len(o.topics)
    out += _pack_i(n)
    _write_offset_commit_request_topic_v6(out, o.topics)
    return [out]


def _decode_offset_commit_request_v7(buf: memoryview, pos: int, end: int, budget: list[int]) -> OffsetCommitRequest:
    o = new(OffsetCommitRequest)
    o.retention_time_ms = -1
    (n,) = _unpack_h(buf, pos)
    pos += 2
    if n < 0:
        raise unexpected_null(pos, "group_id")
    q = pos + n
    if q > end:
        raise overrun(pos, n)
    o.group_id = str(buf[pos:q], "utf-8")
    pos = q
    o.generation_id_or_member_epoch, n = _unpack_ih(buf, pos)
    pos += 6
    if n < 0:
        raise unexpected_null(pos, "member_id")
    q = pos + n
    if q > end:
        raise overrun(pos, n)
    o.member_id = str(buf[pos:q], "utf-8")
    pos = q
    (n,) = _unpack_h(buf, pos)
    pos += 2
    if n < 0:
        o.group_instance_id = None
    else:
        q = pos + n
        if q > end:
            raise overrun(pos, n)
        o.group_instance_id = str(buf[pos:q], "utf-8")
        pos = q
    (n,) = _unpack_i(buf, pos)
    pos += 4
    if n < 0:
        raise unexpected_null(pos, "topics")
    o.topics, pos = _read_offset_commit_request_topic_v6(buf, pos, end, n, budget)
    return o


def _encode_offset_commit_request_v7(o: OffsetCommitRequest) -> list[Part]:
    out = bytearray()
    s = o.group_id.encode()
    n = len(s)
    out += _pack_h(n)
    out += s
    s = o.member_id.encode()
    n = len(s)
    out += _pack_ih(o.generation_id_or_member_epoch, n)
    out += s
    if o.group_instance_id is None:
        n = -1
        s = b""
    else:
        s = o.group_instance_id.encode()
        n = len(s)
    out += _pack_h(n)
    out += s
    n = len(o.topics)
    out += _pack_i(n)
    _write_offset_commit_request_topic_v6(out, o.topics)
    return [out]


def _read_offset_commit_request_partition_v8(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[OffsetCommitRequestPartition], int]:
    if count * 18 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 232
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[OffsetCommitRequestPartition] = []
    for _ in range(count):
        o = new(OffsetCommitRequestPartition)
        o.partition_index, o.committed_offset, o.committed_leader_epoch = _unpack_iqi(buf, pos)
        pos += 16
        n = buf[pos]
        pos += 1
        if n > 127:
            n, pos = read_long_string_length(buf, pos)
        n -= 1
        if n < 0:
            o.committed_metadata = None
        else:
            q = pos + n
            if q > end:
                raise overrun(pos, n)
            o.committed_metadata = str(buf[pos:q], "utf-8")
            pos = q
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tags(buf, pos, end)
        items.append(o)
    return items, pos


def _read_offset_commit_request_topic_v8(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[OffsetCommitRequestTopic], int]:
    if count * 3 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 192
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[OffsetCommitRequestTopic] = []
    for _ in range(count):
        o = new(OffsetCommitRequestTopic)
        o.topic_id = ZERO_UUID
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
        o.partitions, pos = _read_offset_commit_request_partition_v8(buf, pos, end, n, budget)
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tags(buf, pos, end)
        items.append(o)
    return items, pos


def _decode_offset_commit_request_v8(buf: memoryview, pos: int, end: int, budget: list[int]) -> OffsetCommitRequest:
    o = new(OffsetCommitRequest)
    o.retention_time_ms = -1
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_long_string_length(buf, pos)
    n -= 1
    if n < 0:
        raise unexpected_null(pos, "group_id")
    q = pos + n
    if q > end:
        raise overrun(pos, n)
    o.group_id = str(buf[pos:q], "utf-8")
    pos = q
    (o.generation_id_or_member_epoch,) = _unpack_i(buf, pos)
    pos += 4
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_long_string_length(buf, pos)
    n -= 1
    if n < 0:
        raise unexpected_null(pos, "member_id")
    q = pos + n
    if q > end:
        raise overrun(pos, n)
    o.member_id = str(buf[pos:q], "utf-8")
    pos = q
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_long_string_length(buf, pos)
    n -= 1
    if n < 0:
        o.group_instance_id = None
    else:
        q = pos + n
        if q > end:
            raise overrun(pos, n)
        o.group_instance_id = str(buf[pos:q], "utf-8")
        pos = q
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_long_uvarint(buf, pos)
    n -= 1
    if n < 0:
        raise unexpected_null(pos, "topics")
    o.topics, pos = _read_offset_commit_request_topic_v8(buf, pos, end, n, budget)
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tags(buf, pos, end)
    return o


def _write_offset_commit_request_partition_v8(
    out: bytearray, items: Sequence[OffsetCommitRequestPartition]
) -> None:
    for o in items:
        out += _pack_iqi(o.partition_index, o.committed_offset, o.committed_leader_epoch)
        if o.committed_metadata is None:
            out.append(0)
        else:
            s = o.committed_metadata.encode()
            n = len(s) + 1
            out += UVARINTS[n] if n < 128 else long_string_length(n)
            out += s
        out.append(0)


def _write_offset_commit_request_topic_v8(
    out: bytearray, items: Sequence[OffsetCommitRequestTopic]
) -> None:
    for o in items:
        s = o.name.encode()
        n = len(s) + 1
        out += UVARINTS[n] if n < 128 else long_string_length(n)
        out += s
        n = len(o.partitions) + 1
        out += UVARINTS[n] if n < 128 else uvarint(n)
        _write_offset_commit_request_partition_v8(out, o.partitions)
        out.append(0)


def _encode_offset_commit_request_v8(o: OffsetCommitRequest) -> list[Part]:
    out = bytearray()
    s = o.group_id.encode()
    n = len(s) + 1
    out += UVARINTS[n] if n < 128 else long_string_length(n)
    out += s
    out += _pack_i(o.generation_id_or_member_epoch)
    s = o.member_id.encode()
    n = len(s) + 1
    out += UVARINTS[n] if n < 128 else long_string_length(n)
    out += s
    if o.group_instance_id is None:
        out.append(0)
    else:
        s = o.group_instance_id.encode()
        n = len(s) + 1
        out += UVARINTS[n] if n < 128 else long_string_length(n)
        out += s
    n = len(o.topics) + 1
    out += UVARINTS[n] if n < 128 else uvarint(n)
    _write_offset_commit_request_topic_v8(out, o.topics)
    out.append(0)
    return [out]


def _read_offset_commit_request_topic_v10(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[OffsetCommitRequestTopic], int]:
    if count * 18 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 192
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[OffsetCommitRequestTopic] = []
    for _ in range(count):
        o = new(OffsetCommitRequestTopic)
        o.name = ""
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
        o.partitions, pos = _read_offset_commit_request_partition_v8(buf, pos, end, n, budget)
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tags(buf, pos, end)
        items.append(o)
    return items, pos


def _decode_offset_commit_request_v10(buf: memoryview, pos: int, end: int, budget: list[int]) -> OffsetCommitRequest:
    o = new(OffsetCommitRequest)
    o.retention_time_ms = -1
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_long_string_length(buf, pos)
    n -= 1
    if n < 0:
        raise unexpected_null(pos, "group_id")
    q = pos + n
    if q > end:
        raise overrun(pos, n)
    o.group_id = str(buf[pos:q], "utf-8")
    pos = q
    (o.generation_id_or_member_epoch,) = _unpack_i(buf, pos)
    pos += 4
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_long_string_length(buf, pos)
    n -= 1
    if n < 0:
        raise unexpected_null(pos, "member_id")
    q = pos + n
    if q > end:
        raise overrun(pos, n)
    o.member_id = str(buf[pos:q], "utf-8")
    pos = q
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_long_string_length(buf, pos)
    n -= 1
    if n < 0:
        o.group_instance_id = None
    else:
        q = pos + n
        if q > end:
            raise overrun(pos, n)
        o.group_instance_id = str(buf[pos:q], "utf-8")
        pos = q
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_long_uvarint(buf, pos)
    n -= 1
    if n < 0:
        raise unexpected_null(pos, "topics")
    o.topics, pos = _read_offset_commit_request_topic_v10(buf, pos, end, n, budget)
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tags(buf, pos, end)
    return o


def _write_offset_commit_request_topic_v10(
    out: bytearray, items: Sequence[OffsetCommitRequestTopic]
) -> None:
    for o in items:
        if len(o.topic_id) != 16:
            raise LocalError("a uuid has 16 bytes")
        out += _pack_u(o.topic_id)
        n = len(o.partitions) + 1
        out += UVARINTS[n] if n < 128 else uvarint(n)
        _write_offset_commit_request_partition_v8(out, o.partitions)
        out.append(0)


def _encode_offset_commit_request_v10(o: OffsetCommitRequest) -> list[Part]:
    out = bytearray()
    s = o.group_id.encode()
    n = len(s) + 1
    out += UVARINTS[n] if n < 128 else long_string_length(n)
    out += s
    out += _pack_i(o.generation_id_or_member_epoch)
    s = o.member_id.encode()
    n = len(s) + 1
    out += UVARINTS[n] if n < 128 else long_string_length(n)
    out += s
    if o.group_instance_id is None:
        out.append(0)
    else:
        s = o.group_instance_id.encode()
        n = len(s) + 1
        out += UVARINTS[n] if n < 128 else long_string_length(n)
        out += s
    n = len(o.topics) + 1
    out += UVARINTS[n] if n < 128 else uvarint(n)
    _write_offset_commit_request_topic_v10(out, o.topics)
    out.append(0)
    return [out]


def _read_offset_commit_response_partition_v2(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[OffsetCommitResponsePartition], int]:
    if count * 6 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 128
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[OffsetCommitResponsePartition] = []
    for _ in range(count):
        o = new(OffsetCommitResponsePartition)
        o.partition_index, o.error_code = _unpack_ih(buf, pos)
        pos += 6
        items.append(o)
    return items, pos


def _read_offset_commit_response_topic_v2(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[OffsetCommitResponseTopic], int]:
    if count * 6 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 192
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[OffsetCommitResponseTopic] = []
    for _ in range(count):
        o = new(OffsetCommitResponseTopic)
        o.topic_id = ZERO_UUID
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
        o.partitions, pos = _read_offset_commit_response_partition_v2(buf, pos, end, n, budget)
        items.append(o)
    return items, pos


def _decode_offset_commit_response_v2(buf: memoryview, pos: int, end: int, budget: list[int]) -> OffsetCommitResponse:
    o = new(OffsetCommitResponse)
    o.throttle_time_ms = 0
    (n,) = _unpack_i(buf, pos)
    pos += 4
    if n < 0:
        raise unexpected_null(pos, "topics")
    o.topics, pos = _read_offset_commit_response_topic_v2(buf, pos, end, n, budget)
    return o


def _write_offset_commit_response_partition_v2(
    out: bytearray, items: Sequence[OffsetCommitResponsePartition]
) -> None:
    for o in items:
        out += _pack_ih(o.partition_index, o.error_code)


def _write_offset_commit_response_topic_v2(
    out: bytearray, items: Sequence[OffsetCommitResponseTopic]
) -> None:
    for o in items:
        s = o.name.encode()
        n = len(s)
        out += _pack_h(n)
        out += s
        n = len(o.partitions)
        out += _pack_i(n)
        _write_offset_commit_response_partition_v2(out, o.partitions)


def _encode_offset_commit_response_v2(o: OffsetCommitResponse) -> list[Part]:
    out = bytearray()
    n = len(o.topics)
    out += _pack_i(n)
    _write_offset_commit_response_topic_v2(out, o.topics)
    return [out]


def _decode_offset_commit_response_v3(buf: memoryview, pos: int, end: int, budget: list[int]) -> OffsetCommitResponse:
    o = new(OffsetCommitResponse)
    o.throttle_time_ms, n = _unpack_ii(buf, pos)
    pos += 8
    if n < 0:
        raise unexpected_null(pos, "topics")
    o.topics, pos = _read_offset_commit_response_topic_v2(buf, pos, end, n, budget)
    return o


def _encode_offset_commit_response_v3(o: OffsetCommitResponse) -> list[Part]:
    out = bytearray()
    n = len(o.topics)
    out += _pack_ii(o.throttle_time_ms, n)
    _write_offset_commit_response_topic_v2(out, o.topics)
    return [out]


def _read_offset_commit_response_partition_v8(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[OffsetCommitResponsePartition], int]:
    if count * 7 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 128
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[OffsetCommitResponsePartition] = []
    for _ in range(count):
        o = new(OffsetCommitResponsePartition)
        o.partition_index, o.error_code = _unpack_ih(buf, pos)
        pos += 6
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tags(buf, pos, end)
        items.append(o)
    return items, pos


def _read_offset_commit_response_topic_v8(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[OffsetCommitResponseTopic], int]:
    if count * 3 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 192
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[OffsetCommitResponseTopic] = []
    for _ in range(count):
        o = new(OffsetCommitResponseTopic)
        o.topic_id = ZERO_UUID
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
        o.partitions, pos = _read_offset_commit_response_partition_v8(buf, pos, end, n, budget)
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tags(buf, pos, end)
        items.append(o)
    return items, pos


def _decode_offset_commit_response_v8(buf: memoryview, pos: int, end: int, budget: list[int]) -> OffsetCommitResponse:
    o = new(OffsetCommitResponse)
    (o.throttle_time_ms,) = _unpack_i(buf, pos)
    pos += 4
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_long_uvarint(buf, pos)
    n -= 1
    if n < 0:
        raise unexpected_null(pos, "topics")
    o.topics, pos = _read_offset_commit_response_topic_v8(buf, pos, end, n, budget)
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tags(buf, pos, end)
    return o


def _write_offset_commit_response_partition_v8(
    out: bytearray, items: Sequence[OffsetCommitResponsePartition]
) -> None:
    for o in items:
        out += _pack_ih(o.partition_index, o.error_code)
        out.append(0)


def _write_offset_commit_response_topic_v8(
    out: bytearray, items: Sequence[OffsetCommitResponseTopic]
) -> None:
    for o in items:
        s = o.name.encode()
        n = len(s) + 1
        out += UVARINTS[n] if n < 128 else long_string_length(n)
        out += s
        n = len(o.partitions) + 1
        out += UVARINTS[n] if n < 128 else uvarint(n)
        _write_offset_commit_response_partition_v8(out, o.partitions)
        out.append(0)


def _encode_offset_commit_response_v8(o: OffsetCommitResponse) -> list[Part]:
    out = bytearray()
    out += _pack_i(o.throttle_time_ms)
    n = len(o.topics) + 1
    out += UVARINTS[n] if n < 128 else uvarint(n)
    _write_offset_commit_response_topic_v8(out, o.topics)
    out.append(0)
    return [out]


def _read_offset_commit_response_topic_v10(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[OffsetCommitResponseTopic], int]:
    if count * 18 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 192
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[OffsetCommitResponseTopic] = []
    for _ in range(count):
        o = new(OffsetCommitResponseTopic)
        o.name = ""
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
        o.partitions, pos = _read_offset_commit_response_partition_v8(buf, pos, end, n, budget)
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tags(buf, pos, end)
        items.append(o)
    return items, pos


def _decode_offset_commit_response_v10(buf: memoryview, pos: int, end: int, budget: list[int]) -> OffsetCommitResponse:
    o = new(OffsetCommitResponse)
    (o.throttle_time_ms,) = _unpack_i(buf, pos)
    pos += 4
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_long_uvarint(buf, pos)
    n -= 1
    if n < 0:
        raise unexpected_null(pos, "topics")
    o.topics, pos = _read_offset_commit_response_topic_v10(buf, pos, end, n, budget)
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tags(buf, pos, end)
    return o


def _write_offset_commit_response_topic_v10(
    out: bytearray, items: Sequence[OffsetCommitResponseTopic]
) -> None:
    for o in items:
        if len(o.topic_id) != 16:
            raise LocalError("a uuid has 16 bytes")
        out += _pack_u(o.topic_id)
        n = len(o.partitions) + 1
        out += UVARINTS[n] if n < 128 else uvarint(n)
        _write_offset_commit_response_partition_v8(out, o.partitions)
        out.append(0)


def _encode_offset_commit_response_v10(o: OffsetCommitResponse) -> list[Part]:
    out = bytearray()
    out += _pack_i(o.throttle_time_ms)
    n = len(o.topics) + 1
    out += UVARINTS[n] if n < 128 else uvarint(n)
    _write_offset_commit_response_topic_v10(out, o.topics)
    out.append(0)
    return [out]


OffsetCommitRequest.DECODERS = {
    2: _decode_offset_commit_request_v2,
    3: _decode_offset_commit_request_v2,
    4: _decode_offset_commit_request_v2,
    5: _decode_offset_commit_request_v5,
    6: _decode_offset_commit_request_v6,
    7: _decode_offset_commit_request_v7,
    8: _decode_offset_commit_request_v8,
    9: _decode_offset_commit_request_v8,
    10: _decode_offset_commit_request_v10,
}
OffsetCommitRequest.ENCODERS = {
    2: _encode_offset_commit_request_v2,
    3: _encode_offset_commit_request_v2,
    4: _encode_offset_commit_request_v2,
    5: _encode_offset_commit_request_v5,
    6: _encode_offset_commit_request_v6,
    7: _encode_offset_commit_request_v7,
    8: _encode_offset_commit_request_v8,
    9: _encode_offset_commit_request_v8,
    10: _encode_offset_commit_request_v10,
}
OffsetCommitResponse.DECODERS = {
    2: _decode_offset_commit_response_v2,
    3: _decode_offset_commit_response_v3,
    4: _decode_offset_commit_response_v3,
    5: _decode_offset_commit_response_v3,
    6: _decode_offset_commit_response_v3,
    7: _decode_offset_commit_response_v3,
    8: _decode_offset_commit_response_v8,
    9: _decode_offset_commit_response_v8,
    10: _decode_offset_commit_response_v10,
}
OffsetCommitResponse.ENCODERS = {
    2: _encode_offset_commit_response_v2,
    3: _encode_offset_commit_response_v3,
    4: _encode_offset_commit_response_v3,
    5: _encode_offset_commit_response_v3,
    6: _encode_offset_commit_response_v3,
    7: _encode_offset_commit_response_v3,
    8: _encode_offset_commit_response_v8,
    9: _encode_offset_commit_response_v8,
    10: _encode_offset_commit_response_v10,
}
