"""Reads committed positions; from version 8 of several groups at once.

Generated from schemas/offset_fetch.msg by codegen; edit that and run it again.
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

_pack_u = Struct(">16s").pack
_pack_t = Struct(">?").pack
_pack_h = Struct(">h").pack
_pack_i = Struct(">i").pack
_pack_ii = Struct(">ii").pack
_pack_iqh = Struct(">iqh").pack
_pack_iqi = Struct(">iqi").pack
_pack_iqih = Struct(">iqih").pack
_unpack_u = Struct(">16s").unpack_from
_unpack_h = Struct(">h").unpack_from
_unpack_i = Struct(">i").unpack_from
_unpack_ii = Struct(">ii").unpack_from
_unpack_iqh = Struct(">iqh").unpack_from
_unpack_iqi = Struct(">iqi").unpack_from
_unpack_iqih = Struct(">iqih").unpack_from


class OffsetFetchRequestTopic(WireStruct):
    __slots__ = (
        "name",
        "partition_indexes",
    )
    FIELDS: ClassVar[FieldSpecs] = (
        ("name", "string", 1, 7, False),
        ("partition_indexes", "[int32]", 1, 7, False),
    )

    def __init__(
        self,
        name: str = "",
        partition_indexes: list[int] = EMPTY,
    ) -> None:
        self.name = name
        self.partition_indexes = [] if partition_indexes is EMPTY else partition_indexes


class OffsetFetchRequestTopics(WireStruct):
    __slots__ = (
        "name",
        "topic_id",
        "partition_indexes",
    )
    FIELDS: ClassVar[FieldSpecs] = (
        ("name", "string", 8, 9, False),
        ("topic_id", "uuid", 10, 10, False),
        ("partition_indexes", "[int32]", 8, 10, False),
    )

    def __init__(
        self,
        name: str = "",
        topic_id: Uuid = ZERO_UUID,
        partition_indexes: list[int] = EMPTY,
    ) -> None:
        self.name = name
        self.topic_id = topic_id
        self.partition_indexes = [] if partition_indexes is EMPTY else partition_indexes


class OffsetFetchRequestGroup(WireStruct):
    __slots__ = (
        "group_id",
        "member_id",
        "member_epoch",
        "topics",
    )
    FIELDS: ClassVar[FieldSpecs] = (
        ("group_id", "string", 8, 10, False),
        ("member_id", "string", 9, 10, True),
        ("member_epoch", "int32", 9, 10, False),
        ("topics", "[OffsetFetchRequestTopics]", 8, 10, True),
    )

    def __init__(
        self,
        group_id: str = "",
        member_id: str | None = None,
        member_epoch: int = -1,
        topics: list[OffsetFetchRequestTopics] | None = EMPTY,
    ) -> None:
        self.group_id = group_id
        self.member_id = member_id
        self.member_epoch = member_epoch
        self.topics = [] if topics is EMPTY else topics  # null asks for all topics of the group


class OffsetFetchResponsePartition(WireStruct):
    __slots__ = (
        "partition_index",
        "committed_offset",
        "committed_leader_epoch",
        "metadata",
        "error_code",
    )
    FIELDS: ClassVar[FieldSpecs] = (
        ("partition_index", "int32", 1, 7, False),
        ("committed_offset", "int64", 1, 7, False),
        ("committed_leader_epoch", "int32", 5, 7, False),
        ("metadata", "string", 1, 7, True),
        ("error_code", "int16", 1, 7, False),
    )

    def __init__(
        self,
        partition_index: int = 0,
        committed_offset: int = 0,
        committed_leader_epoch: int = -1,
        metadata: str | None = "",
        error_code: int = 0,
    ) -> None:
        self.partition_index = partition_index
        self.committed_offset = committed_offset  # -1 when nothing was committed
        self.committed_leader_epoch = committed_leader_epoch  # of the last record consumed; -1 unknown
        self.metadata = metadata
        self.error_code = error_code


class OffsetFetchResponseTopic(WireStruct):
    __slots__ = (
        "name",
        "partitions",
    )
    FIELDS: ClassVar[FieldSpecs] = (
        ("name", "string", 1, 7, False),
        ("partitions", "[OffsetFetchResponsePartition]", 1, 7, False),
    )

    def __init__(
        self,
        name: str = "",
        partitions: list[OffsetFetchResponsePartition] = EMPTY,
    ) -> None:
        self.name = name
        self.partitions = [] if partitions is EMPTY else partitions


class OffsetFetchResponsePartitions(WireStruct):
    __slots__ = (
        "partition_index",
        "committed_offset",
        "committed_leader_epoch",
        "metadata",
        "error_code",
    )
    FIELDS: ClassVar[FieldSpecs] = (
        ("partition_index", "int32", 8, 10, False),
        ("committed_offset", "int64", 8, 10, False),
        ("committed_leader_epoch", "int32", 8, 10, False),
        ("metadata", "string", 8, 10, True),
        ("error_code", "int16", 8, 10, False),
    )

    def __init__(
        self,
        partition_index: int = 0,
        committed_offset: int = 0,
        committed_leader_epoch: int = -1,
        metadata: str | None = "",
        error_code: int = 0,
    ) -> None:
        self.partition_index = partition_index
        self.committed_offset = committed_offset  # -1 when nothing was committed
        self.committed_leader_epoch = committed_leader_epoch  # of the last record consumed; -1 unknown
        self.metadata = metadata
        self.error_code = error_code


class OffsetFetchResponseTopics(WireStruct):
    __slots__ = (
        "name",
        "topic_id",
        "partitions",
    )
    FIELDS: ClassVar[FieldSpecs] = (
        ("name", "string", 8, 9, False),
        ("topic_id", "uuid", 10, 10, False),
        ("partitions", "[OffsetFetchResponsePartitions]", 8, 10, False),
    )

    def __init__(
        self,
        name: str = "",
        topic_id: Uuid = ZERO_UUID,
        partitions: list[OffsetFetchResponsePartitions] = EMPTY,
    ) -> None:
        self.name = name
        self.topic_id = topic_id
        self.partitions = [] if partitions is EMPTY else partitions


class OffsetFetchResponseGroup(WireStruct):
    __slots__ = (
        "group_id",
        "topics",
        "error_code",
    )
    FIELDS: ClassVar[FieldSpecs] = (
        ("group_id", "string", 8, 10, False),
        ("topics", "[OffsetFetchResponseTopics]", 8, 10, False),
        ("error_code", "int16", 8, 10, False),
    )

    def __init__(
        self,
        group_id: str = "",
        topics: list[OffsetFetchResponseTopics] = EMPTY,
        error_code: int = 0,
    ) -> None:
        self.group_id = group_id
        self.topics = [] if topics is EMPTY else topics  # null asks for all topics of the group
        self.error_code = error_code


class OffsetFetchRequest(Request["OffsetFetchResponse"]):
    __slots__ = (
        "group_id",
        "topics",
        "groups",
        "require_stable",
    )
    API_KEY: ClassVar[int] = 9
    MIN_VERSION: ClassVar[int] = 1
    MAX_VERSION: ClassVar[int] = 10
    FLEXIBLE_FROM: ClassVar[int] = 6
    FIELDS: ClassVar[FieldSpecs] = (
        ("group_id", "string", 1, 7, False),
        ("topics", "[OffsetFetchRequestTopic]", 1, 7, True),
        ("groups", "[OffsetFetchRequestGroup]", 8, 10, False),
        ("require_stable", "bool", 7, 10, False),
    )

    def __init__(
        self,
        group_id: str = "",
        topics: list[OffsetFetchRequestTopic] | None = EMPTY,
        groups: list[OffsetFetchRequestGroup] = EMPTY,
        require_stable: bool = False,
    ) -> None:
        self.group_id = group_id
        self.topics = [] if topics is EMPTY else topics  # null asks for all topics of the group
        self.groups = [] if groups is EMPTY else groups
        self.require_stable = require_stable  # refuse while a transaction is open (KIP-447)


class OffsetFetchResponse(Message):
    __slots__ = (
        "throttle_time_ms",
        "topics",
        "error_code",
        "groups",
    )
    API_KEY: ClassVar[int] = 9
    MIN_VERSION: ClassVar[int] = 1
    MAX_VERSION: ClassVar[int] = 10
    FLEXIBLE_FROM: ClassVar[int] = 6
    FIELDS: ClassVar[FieldSpecs] = (
        ("throttle_time_ms", "int32", 3, 10, False),
        ("topics", "[OffsetFetchResponseTopic]", 1, 7, False),
        ("error_code", "int16", 2, 7, False),
        ("groups", "[OffsetFetchResponseGroup]", 8, 10, False),
    )

    def __init__(
        self,
        throttle_time_ms: int = 0,
        topics: list[OffsetFetchResponseTopic] = EMPTY,
        error_code: int = 0,
        groups: list[OffsetFetchResponseGroup] = EMPTY,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.topics = [] if topics is EMPTY else topics  # null asks for all topics of the group
        self.error_code = error_code
        self.groups = [] if groups is EMPTY else groups


def _read_offset_fetch_request_topic_v1(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[OffsetFetchRequestTopic], int]:
    if count * 6 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 184
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[OffsetFetchRequestTopic] = []
    for _ in range(count):
        o = new(OffsetFetchRequestTopic)
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
            raise unexpected_null(pos, "partition_indexes")
        o.partition_indexes, pos = read_int32s(buf, pos, end, n, budget)
        items.append(o)
    return items, pos


def _decode_offset_fetch_request_v1(buf: memoryview, pos: int, end: int, budget: list[int]) -> OffsetFetchRequest:
    o = new(OffsetFetchRequest)
    o.groups = []
    o.require_stable = False
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
    o.topics, pos = _read_offset_fetch_request_topic_v1(buf, pos, end, n, budget)
    return o


def _write_offset_fetch_request_topic_v1(
    out: bytearray, items: Sequence[OffsetFetchRequestTopic]
) -> None:
    for o in items:
        s = o.name.encode()
        n = len(s)
        out += _pack_h(n)
        out += s
        n = len(o.partition_indexes)
        out += _pack_i(n)
        out += int32_elements(o.partition_indexes)


def _encode_offset_fetch_request_v1(o: OffsetFetchRequest) -> list[Part]:
    out = bytearray()
    s = o.group_id.encode()
    n = len(s)
    out += _pack_h(n)
    out += s
    if o.topics is None:
        raise LocalError("topics must not be None in this version")
    n = len(o.topics)
    out += _pack_i(n)
    _write_offset_fetch_request_topic_v1(out, o.topics)
    return [out]


def _decode_offset_fetch_request_v2(buf: memoryview, pos: int, end: int, budget: list[int]) -> OffsetFetchRequest:
    o = new(OffsetFetchRequest)
    o.groups = []
    o.require_stable = False
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
        o.topics = None
    else:
        o.topics, pos = _read_offset_fetch_request_topic_v1(buf, pos, end, n, budget)
    return o


def _encode_offset_fetch_request_v2(o: OffsetFetchRequest) -> list[Part]:
    out = bytearray()
    s = o.group_id.encode()
    n = len(s)
    out += _pack_h(n)
    out += s
    if o.topics is None:
        n = -1
    else:
        n = len(o.topics)
    out += _pack_i(n)
    if o.topics is not None:
        _write_offset_fetch_request_topic_v1(out, o.topics)
    return [out]


def _read_offset_fetch_request_topic_v6(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[OffsetFetchRequestTopic], int]:
    if count * 3 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 184
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[OffsetFetchRequestTopic] = []
    for _ in range(count):
        o = new(OffsetFetchRequestTopic)
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
            raise unexpected_null(pos, "partition_indexes")
        o.partition_indexes, pos = read_int32s(buf, pos, end, n, budget)
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tags(buf, pos, end)
        items.append(o)
    return items, pos


def _decode_offset_fetch_request_v6(buf: memoryview, pos: int, end: int, budget: list[int]) -> OffsetFetchRequest:
    o = new(OffsetFetchRequest)
    o.groups = []
    o.require_stable = False
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
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_long_uvarint(buf, pos)
    n -= 1
    if n < 0:
        o.topics = None
    else:
        o.topics, pos = _read_offset_fetch_request_topic_v6(buf, pos, end, n, budget)
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tags(buf, pos, end)
    return o


def _write_offset_fetch_request_topic_v6(
    out: bytearray, items: Sequence[OffsetFetchRequestTopic]
) -> None:
    for o in items:
        s = o.name.encode()
        n = len(s) + 1
        out += UVARINTS[n] if n < 128 else long_string_length(n)
        out += s
        n = len(o.partition_indexes) + 1
        out += UVARINTS[n] if n < 128 else uvarint(n)
        out += int32_elements(o.partition_indexes)
        out.append(0)


def _encode_offset_fetch_request_v6(o: OffsetFetchRequest) -> list[Part]:
    out = bytearray()
    s = o.group_id.encode()
    n = len(s) + 1
    out += UVARINTS[n] if n < 128 else long_string_length(n)
    out += s
    if o.topics is None:
        out.append(0)
    else:
        n = len(o.topics) + 1
        out += UVARINTS[n] if n < 128 else uvarint(n)
        _write_offset_fetch_request_topic_v6(out, o.topics)
    out.append(0)
    return [out]


def _decode_offset_fetch_request_v7(buf: memoryview, pos: int, end: int, budget: list[int]) -> OffsetFetchRequest:
    o = new(OffsetFetchRequest)
    o.groups = []
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
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_long_uvarint(buf, pos)
    n -= 1
    if n < 0:
        o.topics = None
    else:
        o.topics, pos = _read_offset_fetch_request_topic_v6(buf, pos, end, n, budget)
    o.require_stable = buf[pos] != 0
    pos += 1
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tags(buf, pos, end)
    return o


def _encode_offset_fetch_request_v7(o: OffsetFetchRequest) -> list[Part]:
    out = bytearray()
    s = o.group_id.encode()
    n = len(s) + 1
    out += UVARINTS[n] if n < 128 else long_string_length(n)
    out += s
    if o.topics is None:
        out.append(0)
    else:
        n = len(o.topics) + 1
        out += UVARINTS[n] if n < 128 else uvarint(n)
        _write_offset_fetch_request_topic_v6(out, o.topics)
    out += _pack_t(o.require_stable)
    out.append(0)
    return [out]


def _read_offset_fetch_request_topics_v8(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[OffsetFetchRequestTopics], int]:
    if count * 3 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 192
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[OffsetFetchRequestTopics] = []
    for _ in range(count):
        o = new(OffsetFetchRequestTopics)
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
            raise unexpected_null(pos, "partition_indexes")
        o.partition_indexes, pos = read_int32s(buf, pos, end, n, budget)
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tags(buf, pos, end)
        items.append(o)
    return items, pos


def _read_offset_fetch_request_group_v8(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[OffsetFetchRequestGroup], int]:
    if count * 3 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 200
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[OffsetFetchRequestGroup] = []
    for _ in range(count):
        o = new(OffsetFetchRequestGroup)
        o.member_id = None
        o.member_epoch = -1
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
        n = buf[pos]
        pos += 1
        if n > 127:
            n, pos = read_long_uvarint(buf, pos)
        n -= 1
        if n < 0:
            o.topics = None
        else:
            o.topics, pos = _read_offset_fetch_request_topics_v8(buf, pos, end, n, budget)
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tags(buf, pos, end)
        items.append(o)
    return items, pos


def _decode_offset_fetch_request_v8(buf: memoryview, pos: int, end: int, budget: list[int]) -> OffsetFetchRequest:
    o = new(OffsetFetchRequest)
    o.group_id = ""
    o.topics = []
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_long_uvarint(buf, pos)
    n -= 1
    if n < 0:
        raise unexpected_null(pos, "groups")
    o.groups, pos = _read_offset_fetch_request_group_v8(buf, pos, end, n, budget)
    o.require_stable = buf[pos] != 0
    pos += 1
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tags(buf, pos, end)
    return o


def _write_offset_fetch_request_topics_v8(
    out: bytearray, items: Sequence[OffsetFetchRequestTopics]
) -> None:
    for o in items:
        s = o.name.encode()
        n = len(s) + 1
        out += UVARINTS[n] if n < 128 else long_string_length(n)
        out += s
        n = len(o.partition_indexes) + 1
        out += UVARINTS[n] if n < 128 else uvarint(n)
        out += int32_elements(o.partition_indexes)
        out.append(0)


def _write_offset_fetch_request_group_v8(
    out: bytearray, items: Sequence[OffsetFetchRequestGroup]
) -> None:
    for o in items:
        s = o.group_id.encode()
        n = len(s) + 1
        out += UVARINTS[n] if n < 128 else long_string_length(n)
        out += s
        if o.topics is None:
            out.append(0)
        else:
            n = len(o.topics) + 1
            out += UVARINTS[n] if n < 128 else uvarint(n)
            _write_offset_fetch_request_topics_v8(out, o.topics)
        out.append(0)


def _encode_offset_fetch_request_v8(o: OffsetFetchRequest) -> list[Part]:
    out = bytearray()
    n = len(o.groups) + 1
    out += UVARINTS[n] if n < 128 else uvarint(n)
    _write_offset_fetch_request_group_v8(out, o.groups)
    out += _pack_t(o.require_stable)
    out.append(0)
    return [out]


def _read_offset_fetch_request_group_v9(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[OffsetFetchRequestGroup], int]:
    if count * 8 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 288
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[OffsetFetchRequestGroup] = []
    for _ in range(count):
        o = new(OffsetFetchRequestGroup)
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
        n = buf[pos]
        pos += 1
        if n > 127:
            n, pos = read_long_string_length(buf, pos)
        n -= 1
        if n < 0:
            o.member_id = None
        else:
            q = pos + n
            if q > end:
                raise overrun(pos, n)
            o.member_id = str(buf[pos:q], "utf-8")
            pos = q
        (o.member_epoch,) = _unpack_i(buf, pos)
        pos += 4
        n = buf[pos]
        pos += 1
        if n > 127:
            n, pos = read_long_uvarint(buf, pos)
        n -= 1
        if n < 0:
            o.topics = None
        else:
            o.topics, pos = _read_offset_fetch_request_topics_v8(buf, pos, end, n, budget)
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tags(buf, pos, end)
        items.append(o)
    return items, pos


def _decode_offset_fetch_request_v9(buf: memoryview, pos: int, end: int, budget: list[int]) -> OffsetFetchRequest:
    o = new(OffsetFetchRequest)
    o.group_id = ""
    o.topics = []
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_long_uvarint(buf, pos)
    n -= 1
    if n < 0:
        raise unexpected_null(pos, "groups")
    o.groups, pos = _read_offset_fetch_request_group_v9(buf, pos, end, n, budget)
    o.require_stable = buf[pos] != 0
    pos += 1
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tags(buf, pos, end)
    return o


def _write_offset_fetch_request_group_v9(
    out: bytearray, items: Sequence[OffsetFetchRequestGroup]
) -> None:
    for o in items:
        s = o.group_id.encode()
        n = len(s) + 1
        out += UVARINTS[n] if n < 128 else long_string_length(n)
        out += s
        if o.member_id is None:
            out.append(0)
        else:
            s = o.member_id.encode()
            n = len(s) + 1
            out += UVARINTS[n] if n < 128 else long_string_length(n)
            out += s
        out += _pack_i(o.member_epoch)
        if o.topics is None:
            out.append(0)
        else:
            n = len(o.topics) + 1
            out += UVARINTS[n] if n < 128 else uvarint(n)
            _write_offset_fetch_request_topics_v8(out, o.topics)
        out.append(0)


def _encode_offset_fetch_request_v9(o: OffsetFetchRequest) -> list[Part]:
    out = bytearray()
    n = len(o.groups) + 1
    out += UVARINTS[n] if n < 128 else uvarint(n)
    _write_offset_fetch_request_group_v9(out, o.groups)
    out += _pack_t(o.require_stable)
    out.append(0)
    return [out]


def _read_offset_fetch_request_topics_v10(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[OffsetFetchRequestTopics], int]:
    if count * 18 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 192
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[OffsetFetchRequestTopics] = []
    for _ in range(count):
        o = new(OffsetFetchRequestTopics)
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
            raise unexpected_null(pos, "partition_indexes")
        o.partition_indexes, pos = read_int32s(buf, pos, end, n, budget)
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tags(buf, pos, end)
        items.append(o)
    return items, pos


def _read_offset_fetch_request_group_v10(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[OffsetFetchRequestGroup], int]:
    if count * 8 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 288
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[OffsetFetchRequestGroup] = []
    for _ in range(count):
        o = new(OffsetFetchRequestGroup)
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
        n = buf[pos]
        pos += 1
        if n > 127:
            n, pos = read_long_string_length(buf, pos)
        n -= 1
        if n < 0:
            o.member_id = None
        else:
            q = pos + n
            if q > end:
                raise overrun(pos, n)
            o.member_id = str(buf[pos:q], "utf-8")
            pos = q
        (o.member_epoch,) = _unpack_i(buf, pos)
        pos += 4
        n = buf[pos]
        pos += 1
        if n > 127:
            n, pos = read_long_uvarint(buf, pos)
        n -= 1
        if n < 0:
            o.topics = None
        else:
            o.topics, pos = _read_offset_fetch_request_topics_v10(buf, pos, end, n, budget)
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tags(buf, pos, end)
        items.append(o)
    return items, pos


def _decode_offset_fetch_request_v10(buf: memoryview, pos: int, end: int, budget: list[int]) -> OffsetFetchRequest:
    o = new(OffsetFetchRequest)
    o.group_id = ""
    o.topics = []
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_long_uvarint(buf, pos)
    n -= 1
    if n < 0:
        raise unexpected_null(pos, "groups")
    o.groups, pos = _read_offset_fetch_request_group_v10(buf, pos, end, n, budget)
    o.require_stable = buf[pos] != 0
    pos += 1
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tags(buf, pos, end)
    return o


def _write_offset_fetch_request_topics_v10(
    out: bytearray, items: Sequence[OffsetFetchRequestTopics]
) -> None:
    for o in items:
        if len(o.topic_id) != 16:
            raise LocalError("a uuid has 16 bytes")
        out += _pack_u(o.topic_id)
        n = len(o.partition_indexes) + 1
        out += UVARINTS[n] if n < 128 else uvarint(n)
        out += int32_elements(o.partition_indexes)
        out.append(0)


def _write_offset_fetch_request_group_v10(
    out: bytearray, items: Sequence[OffsetFetchRequestGroup]
) -> None:
    for o in items:
        s = o.group_id.encode()
        n = len(s) + 1
        out += UVARINTS[n] if n < 128 else long_string_length(n)
        out += s
        if o.member_id is None:
            out.append(0)
        else:
            s = o.member_id.encode()
            n = len(s) + 1
            out += UVARINTS[n] if n < 128 else long_string_length(n)
            out += s
        out += _pack_i(o.member_epoch)
        if o.topics is None:
            out.append(0)
        else:
            n = len(o.topics) + 1
            out += UVARINTS[n] if n < 128 else uvarint(n)
            _write_offset_fetch_request_topics_v10(out, o.topics)
        out.append(0)


def _encode_offset_fetch_request_v10(o: OffsetFetchRequest) -> list[Part]:
    out = bytearray()
    n = len(o.groups) + 1
    out += UVARINTS[n] if n < 128 else uvarint(n)
    _write_offset_fetch_request_group_v10(out, o.groups)
    out += _pack_t(o.require_stable)
    out.append(0)
    return [out]


def _read_offset_fetch_response_partition_v1(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[OffsetFetchResponsePartition], int]:
    if count * 16 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 240
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[OffsetFetchResponsePartition] = []
    for _ in range(count):
        o = new(OffsetFetchResponsePartition)
        o.committed_leader_epoch = -1
        o.partition_index, o.committed_offset, n = _unpack_iqh(buf, pos)
        pos += 14
        if n < 0:
            o.metadata = None
        else:
            q = pos + n
            if q > end:
                raise overrun(pos, n)
            o.metadata = str(buf[pos:q], "utf-8")
            pos = q
        (o.error_code,) = _unpack_h(buf, pos)
        pos += 2
        items.append(o)
    return items, pos


def _read_offset_fetch_response_topic_v1(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[OffsetFetchResponseTopic], int]:
    if count * 6 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 184
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[OffsetFetchResponseTopic] = []
    for _ in range(count):
        o = new(OffsetFetchResponseTopic)
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
        o.partitions, pos = _read_offset_fetch_response_partition_v1(buf, pos, end, n, budget)
        items.append(o)
    return items, pos


def _decode_offset_fetch_response_v1(buf: memoryview, pos: int, end: int, budget: list[int]) -> OffsetFetchResponse:
    o = new(OffsetFetchResponse)
    o.throttle_time_ms = 0
    o.error_code = 0
    o.groups = []
    (n,) = _unpack_i(buf, pos)
    pos += 4
    if n < 0:
        raise unexpected_null(pos, "topics")
    o.topics, pos = _read_offset_fetch_response_topic_v1(buf, pos, end, n, budget)
    return o


def _write_offset_fetch_response_partition_v1(
    out: bytearray, items: Sequence[OffsetFetchResponsePartition]
) -> None:
    for o in items:
        if o.metadata is None:
            n = -1
            s = b""
        else:
            s = o.metadata.encode()
            n = len(s)
        out += _pack_iqh(o.partition_index, o.committed_offset, n)
        out += s
        out += _pack_h(o.error_code)


def _write_offset_fetch_response_topic_v1(
    out: bytearray, items: Sequence[OffsetFetchResponseTopic]
) -> None:
    for o in items:
        s = o.name.encode()
        n = len(s)
        out += _pack_h(n)
        out += s
        n = len(o.partitions)
        out += _pack_i(n)
        _write_offset_fetch_response_partition_v1(out, o.partitions)


def _encode_offset_fetch_response_v1(o: OffsetFetchResponse) -> list[Part]:
    out = bytearray()
    n = len(o.topics)
    out += _pack_i(n)
    _write_offset_fetch_response_topic_v1(out, o.topics)
    return [out]


def _decode_offset_fetch_response_v2(buf: memoryview, pos: int, end: int, budget: list[int]) -> OffsetFetchResponse:
    o = new(OffsetFetchResponse)
    o.throttle_time_ms = 0
    o.groups = []
    (n,) = _unpack_i(buf, pos)
    pos += 4
    if n < 0:
        raise unexpected_null(pos, "topics")
    o.topics, pos = _read_offset_fetch_response_topic_v1(buf, pos, end, n, budget)
    (o.error_code,) = _unpack_h(buf, pos)
    pos += 2
    return o


def _encode_offset_fetch_response_v2(o: OffsetFetchResponse) -> list[Part]:
    out = bytearray()
    n = len(o.topics)
    out += _pack_i(n)
    _write_offset_fetch_response_topic_v1(out, o.topics)
    out += _pack_h(o.error_code)
    return [out]


def _decode_offset_fetch_response_v3(buf: memoryview, pos: int, end: int, budget: list[int]) -> OffsetFetchResponse:
    o = new(OffsetFetchResponse)
    o.groups = []
    o.throttle_time_ms, n = _unpack_ii(buf, pos)
    pos += 8
    if n < 0:
        raise unexpected_null(pos, "topics")
    o.topics, pos = _read_offset_fetch_response_topic_v1(buf, pos, end, n, budget)
    (o.error_code,) = _unpack_h(buf, pos)
    pos += 2
    return o


def _encode_offset_fetch_response_v3(o: OffsetFetchResponse) -> list[Part]:
    out = bytearray()
    n = len(o.topics)
    out += _pack_ii(o.throttle_time_ms, n)
    _write_offset_fetch_response_topic_v1(out, o.topics)
    out += _pack_h(o.error_code)
    return [out]


def _read_offset_fetch_response_partition_v5(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[OffsetFetchResponsePartition], int]:
    if count * 20 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 272
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[OffsetFetchResponsePartition] = []
    for _ in range(count):
        o = new(OffsetFetchResponsePartition)
        o.partition_index, o.committed_offset, o.committed_leader_epoch, n = _unpack_iqih(buf, pos)
        pos += 18
        if n < 0:
            o.metadata = None
        else:
            q = pos + n
            if q > end:
                raise overrun(pos, n)
            o.metadata = str(buf[pos:q], "utf-8")
            pos = q
        (o.error_code,) = _unpack_h(buf, pos)
        pos += 2
        items.append(o)
    return items, pos


def _read_offset_fetch_response_topic_v5(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[OffsetFetchResponseTopic], int]:
    if count * 6 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 184
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[OffsetFetchResponseTopic] = []
    for _ in range(count):
        o = new(OffsetFetchResponseTopic)
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
        o.partitions, pos = _read_offset_fetch_response_partition_v5(buf, pos, end, n, budget)
        items.append(o)
    return items, pos


def _decode_offset_fetch_response_v5(buf: memoryview, pos: int, end: int, budget: list[int]) -> OffsetFetchResponse:
    o = new(OffsetFetchResponse)
    o.groups = []
    o.throttle_time_ms, n = _unpack_ii(buf, pos)
    pos += 8
    if n < 0:
        raise unexpected_null(pos, "topics")
    o.topics, pos = _read_offset_fetch_response_topic_v5(buf, pos, end, n, budget)
    (o.error_code,) = _unpack_h(buf, pos)
    pos += 2
    return o


def _write_offset_fetch_response_partition_v5(
    out: bytearray, items: Sequence[OffsetFetchResponsePartition]
) -> None:
    for o in items:
        if o.metadata is None:
            n = -1
            s = b""
        else:
            s = o.metadata.encode()
            n = len(s)
        out += _pack_iqih(o.partition_index, o.committed_offset, o.committed_leader_epoch, n)
        out += s
        out += _pack_h(o.error_code)


def _write_offset_fetch_response_topic_v5(
    out: bytearray, items: Sequence[OffsetFetchResponseTopic]
) -> None:
    for o in items:
        s = o.name.encode()
        n = len(s)
        out += _pack_h(n)
        out += s
        n = len(o.partitions)
        out += _pack_i(n)
        _write_offset_fetch_response_partition_v5(out, o.partitions)


def _encode_offset_fetch_response_v5(o: OffsetFetchResponse) -> list[Part]:
    out = bytearray()
    n = len(o.topics)
    out += _pack_ii(o.throttle_time_ms, n)
    _write_offset_fetch_response_topic_v5(out, o.topics)
    out += _pack_h(o.error_code)
    return [out]


def _read_offset_fetch_response_partition_v6(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[OffsetFetchResponsePartition], int]:
    if count * 20 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 272
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[OffsetFetchResponsePartition] = []
    for _ in range(count):
        o = new(OffsetFetchResponsePartition)
        o.partition_index, o.committed_offset, o.committed_leader_epoch = _unpack_iqi(buf, pos)
        pos += 16
        n = buf[pos]
        pos += 1
        if n > 127:
            n, pos = read_long_string_length(buf, pos)
        n -= 1
        if n < 0:
            o.metadata = None
        else:
            q = pos + n
            if q > end:
                raise overrun(pos, n)
            o.metadata = str(buf[pos:q], "utf-8")
            pos = q
        (o.error_code,) = _unpack_h(buf, pos)
        pos += 2
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tags(buf, pos, end)
        items.append(o)
    return items, pos


def _read_offset_fetch_response_topic_v6(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[OffsetFetchResponseTopic], int]:
    if count * 3 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 184
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[OffsetFetchResponseTopic] = []
    for _ in range(count):
        o = new(OffsetFetchResponseTopic)
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
        o.partitions, pos = _read_offset_fetch_response_partition_v6(buf, pos, end, n, budget)
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tags(buf, pos, end)
        items.append(o)
    return items, pos


def _decode_offset_fetch_response_v6(buf: memoryview, pos: int, end: int, budget: list[int]) -> OffsetFetchResponse:
    o = new(OffsetFetchResponse)
    o.groups = []
    (o.throttle_time_ms,) = _unpack_i(buf, pos)
    pos += 4
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_long_uvarint(buf, pos)
    n -= 1
    if n < 0:
        raise unexpected_null(pos, "topics")
    o.topics, pos = _read_offset_fetch_response_topic_v6(buf, pos, end, n, budget)
    (o.error_code,) = _unpack_h(buf, pos)
    pos += 2
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tags(buf, pos, end)
    return o


def _write_offset_fetch_response_partition_v6(
    out: bytearray, items: Sequence[OffsetFetchResponsePartition]
) -> None:
    for o in items:
        out += _pack_iqi(o.partition_index, o.committed_offset, o.committed_leader_epoch)
        if o.metadata is None:
            out.append(0)
        else:
            s = o.metadata.encode()
            n = len(s) + 1
            out += UVARINTS[n] if n < 128 else long_string_length(n)
            out += s
        out += _pack_h(o.error_code)
        out.append(0)


def _write_offset_fetch_response_topic_v6(
    out: bytearray, items: Sequence[OffsetFetchResponseTopic]
) -> None:
    for o in items:
        s = o.name.encode()
        n = len(s) + 1
        out += UVARINTS[n] if n < 128 else long_string_length(n)
        out += s
        n = len(o.partitions) + 1
        out += UVARINTS[n] if n < 128 else uvarint(n)
        _write_offset_fetch_response_partition_v6(out, o.partitions)
        out.append(0)


def _encode_offset_fetch_response_v6(o: OffsetFetchResponse) -> list[Part]:
    out = bytearray()
    out += _pack_i(o.throttle_time_ms)
    n = len(o.topics) + 1
    out += UVARINTS[n] if n < 128 else uvarint(n)
    _write_offset_fetch_response_topic_v6(out, o.topics)
    out += _pack_h(o.error_code)
    out.append(0)
    return [out]


def _read_offset_fetch_response_partitions_v8(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[OffsetFetchResponsePartitions], int]:
    if count * 20 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 272
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[OffsetFetchResponsePartitions] = []
    for _ in range(count):
        o = new(OffsetFetchResponsePartitions)
        o.partition_index, o.committed_offset, o.committed_leader_epoch = _unpack_iqi(buf, pos)
        pos += 16
        n = buf[pos]
        pos += 1
        if n > 127:
            n, pos = read_long_string_length(buf, pos)
        n -= 1
        if n < 0:
            o.metadata = None
        else:
            q = pos + n
            if q > end:
                raise overrun(pos, n)
            o.metadata = str(buf[pos:q], "utf-8")
            pos = q
        (o.error_code,) = _unpack_h(buf, pos)
        pos += 2
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tags(buf, pos, end)
        items.append(o)
    return items, pos


def _read_offset_fetch_response_topics_v8(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[OffsetFetchResponseTopics], int]:
    if count * 3 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 192
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[OffsetFetchResponseTopics] = []
    for _ in range(count):
        o = new(OffsetFetchResponseTopics)
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
        o.partitions, pos = _read_offset_fetch_response_partitions_v8(buf, pos, end, n, budget)
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tags(buf, pos, end)
        items.append(o)
    return items, pos


def _read_offset_fetch_response_group_v8(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[OffsetFetchResponseGroup], int]:
    if count * 5 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 224
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[OffsetFetchResponseGroup] = []
    for _ in range(count):
        o = new(OffsetFetchResponseGroup)
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
        n = buf[pos]
        pos += 1
        if n > 127:
            n, pos = read_long_uvarint(buf, pos)
        n -= 1
        if n < 0:
            raise unexpected_null(pos, "topics")
        o.topics, pos = _read_offset_fetch_response_topics_v8(buf, pos, end, n, budget)
        (o.error_code,) = _unpack_h(buf, pos)
        pos += 2
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tags(buf, pos, end)
        items.append(o)
    return items, pos


def _decode_offset_fetch_response_v8(buf: memoryview, pos: int, end: int, budget: list[int]) -> OffsetFetchResponse:
    o = new(OffsetFetchResponse)
    o.topics = []
    o.error_code = 0
    (o.throttle_time_ms,) = _unpack_i(buf, pos)
    pos += 4
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_long_uvarint(buf, pos)
    n -= 1
    if n < 0:
        raise unexpected_null(pos, "groups")
    o.groups, pos = _read_offset_fetch_response_group_v8(buf, pos, end, n, budget)
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tags(buf, pos, end)
    return o


def _write_offset_fetch_response_partitions_v8(
    out: bytearray, items: Sequence[OffsetFetchResponsePartitions]
) -> None:
    for o in items:
        out += _pack_iqi(o.partition_index, o.committed_offset, o.committed_leader_epoch)
        if o.metadata is None:
            out.append(0)
        else:
            s = o.metadata.encode()
            n = len(s) + 1
            out += UVARINTS[n] if n < 128 else long_string_length(n)
            out += s
        out += _pack_h(o.error_code)
        out.append(0)


def _write_offset_fetch_response_topics_v8(
    out: bytearray, items: Sequence[OffsetFetchResponseTopics]
) -> None:
    for o in items:
        s = o.name.encode()
        n = len(s) + 1
        out += UVARINTS[n] if n < 128 else long_string_length(n)
        out += s
        n = len(o.partitions) + 1
        out += UVARINTS[n] if n < 128 else uvarint(n)
        _write_offset_fetch_response_partitions_v8(out, o.partitions)
        out.append(0)


def _write_offset_fetch_response_group_v8(
    out: bytearray, items: Sequence[OffsetFetchResponseGroup]
) -> None:
    for o in items:
        s = o.group_id.encode()
        n = len(s) + 1
        out += UVARINTS[n] if n < 128 else long_string_length(n)
        out += s
        n = len(o.topics) + 1
        out += UVARINTS[n] if n < 128 else uvarint(n)
        _write_offset_fetch_response_topics_v8(out, o.topics)
        out += _pack_h(o.error_code)
        out.append(0)


def _encode_offset_fetch_response_v8(o: OffsetFetchResponse) -> list[Part]:
    out = bytearray()
    out += _pack_i(o.throttle_time_ms)
    n = len(o.groups) + 1
    out += UVARINTS[n] if n < 128 else uvarint(n)
    _write_offset_fetch_response_group_v8(out, o.groups)
    out.append(0)
    return [out]


def _read_offset_fetch_response_topics_v10(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[OffsetFetchResponseTopics], int]:
    if count * 18 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 192
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[OffsetFetchResponseTopics] = []
    for _ in range(count):
        o = new(OffsetFetchResponseTopics)
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
        o.partitions, pos = _read_offset_fetch_response_partitions_v8(buf, pos, end, n, budget)
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tags(buf, pos, end)
        items.append(o)
    return items, pos


def _read_offset_fetch_response_group_v10(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[OffsetFetchResponseGroup], int]:
    if count * 5 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 224
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[OffsetFetchResponseGroup] = []
    for _ in range(count):
        o = new(OffsetFetchResponseGroup)
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
        n = buf[pos]
        pos += 1
        if n > 127:
            n, pos = read_long_uvarint(buf, pos)
        n -= 1
        if n < 0:
            raise unexpected_null(pos, "topics")
        o.topics, pos = _read_offset_fetch_response_topics_v10(buf, pos, end, n, budget)
        (o.error_code,) = _unpack_h(buf, pos)
        pos += 2
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tags(buf, pos, end)
        items.append(o)
    return items, pos


def _decode_offset_fetch_response_v10(buf: memoryview, pos: int, end: int, budget: list[int]) -> OffsetFetchResponse:
    o = new(OffsetFetchResponse)
    o.topics = []
    o.error_code = 0
    (o.throttle_time_ms,) = _unpack_i(buf, pos)
    pos += 4
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_long_uvarint(buf, pos)
    n -= 1
    if n < 0:
        raise unexpected_null(pos, "groups")
    o.groups, pos = _read_offset_fetch_response_group_v10(buf, pos, end, n, budget)
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tags(buf, pos, end)
    return o


def _write_offset_fetch_response_topics_v10(
    out: bytearray, items: Sequence[OffsetFetchResponseTopics]
) -> None:
    for o in items:
        if len(o.topic_id) != 16:
            raise LocalError("a uuid has 16 bytes")
        out += _pack_u(o.topic_id)
        n = len(o.partitions) + 1
        out += UVARINTS[n] if n < 128 else uvarint(n)
        _write_offset_fetch_response_partitions_v8(out, o.partitions)
        out.append(0)


def _write_offset_fetch_response_group_v10(
    out: bytearray, items: Sequence[OffsetFetchResponseGroup]
) -> None:
    for o in items:
        s = o.group_id.encode()
        n = len(s) + 1
        out += UVARINTS[n] if n < 128 else long_string_length(n)
        out += s
        n = len(o.topics) + 1
        out += UVARINTS[n] if n < 128 else uvarint(n)
        _write_offset_fetch_response_topics_v10(out, o.topics)
        out += _pack_h(o.error_code)
        out.append(0)


def _encode_offset_fetch_response_v10(o: OffsetFetchResponse) -> list[Part]:
    out = bytearray()
    out += _pack_i(o.throttle_time_ms)
    n = len(o.groups) + 1
    out += UVARINTS[n] if n < 128 else uvarint(n)
    _write_offset_fetch_response_group_v10(out, o.groups)
    out.append(0)
    return [out]


OffsetFetchRequest.DECODERS = {
    1: _decode_offset_fetch_request_v1,
    2: _decode_offset_fetch_request_v2,
    3: _decode_offset_fetch_request_v2,
    4: _decode_offset_fetch_request_v2,
    5: _decode_offset_fetch_request_v2,
    6: _decode_offset_fetch_request_v6,
    7: _decode_offset_fetch_request_v7,
    8: _decode_offset_fetch_request_v8,
    9: _decode_offset_fetch_request_v9,
    10: _decode_offset_fetch_request_v10,
}
OffsetFetchRequest.ENCODERS = {
    1: _encode_offset_fetch_request_v1,
    2: _encode_offset_fetch_request_v2,
    3: _encode_offset_fetch_request_v2,
    4: _encode_offset_fetch_request_v2,
    5: _encode_offset_fetch_request_v2,
    6: _encode_offset_fetch_request_v6,
    7: _encode_offset_fetch_request_v7,
    8: _encode_offset_fetch_request_v8,
    9: _encode_offset_fetch_request_v9,
    10: _encode_offset_fetch_request_v10,
}
OffsetFetchResponse.DECODERS = {
    1: _decode_offset_fetch_response_v1,
    2: _decode_offset_fetch_response_v2,
    3: _decode_offset_fetch_response_v3,
    4: _decode_offset_fetch_response_v3,
    5: _decode_offset_fetch_response_v5,
    6: _decode_offset_fetch_response_v6,
    7: _decode_offset_fetch_response_v6,
    8: _decode_offset_fetch_response_v8,
    9: _decode_offset_fetch_response_v8,
    10: _decode_offset_fetch_response_v10,
}
OffsetFetchResponse.ENCODERS = {
    1: _encode_offset_fetch_response_v1,
    2: _encode_offset_fetch_response_v2,
    3: _encode_offset_fetch_response_v3,
    4: _encode_offset_fetch_response_v3,
    5: _encode_offset_fetch_response_v5,
    6: _encode_offset_fetch_response_v6,
    7: _encode_offset_fetch_response_v6,
    8: _encode_offset_fetch_response_v8,
    9: _encode_offset_fetch_response_v8,
    10: _encode_offset_fetch_response_v10,
}
