"""Stores consumed positions as part of a transaction.

Generated from schemas/txn_offset_commit.msg by codegen; edit that and run it again.
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
_pack_ih = Struct(">ih").pack
_pack_ii = Struct(">ii").pack
_pack_iqh = Struct(">iqh").pack
_pack_iqi = Struct(">iqi").pack
_pack_iqih = Struct(">iqih").pack
_pack_qhi = Struct(">qhi").pack
_unpack_h = Struct(">h").unpack_from
_unpack_i = Struct(">i").unpack_from
_unpack_ih = Struct(">ih").unpack_from
_unpack_ii = Struct(">ii").unpack_from
_unpack_iqh = Struct(">iqh").unpack_from
_unpack_iqi = Struct(">iqi").unpack_from
_unpack_iqih = Struct(">iqih").unpack_from
_unpack_qhi = Struct(">qhi").unpack_from


class TxnOffsetCommitRequestPartition(WireStruct):
    __slots__ = (
        "partition_index",
        "committed_offset",
        "committed_leader_epoch",
        "committed_metadata",
    )
    FIELDS: ClassVar[FieldSpecs] = (
        ("partition_index", "int32", 0, 5, False),
        ("committed_offset", "int64", 0, 5, False),
        ("committed_leader_epoch", "int32", 2, 5, False),
        ("committed_metadata", "string", 0, 5, True),
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


class TxnOffsetCommitRequestTopic(WireStruct):
    __slots__ = (
        "name",
        "partitions",
    )
    FIELDS: ClassVar[FieldSpecs] = (
        ("name", "string", 0, 5, False),
        ("partitions", "[TxnOffsetCommitRequestPartition]", 0, 5, False),
    )

    def __init__(
        self,
        name: str = "",
        partitions: list[TxnOffsetCommitRequestPartition] = EMPTY,
    ) -> None:
        self.name = name
        self.partitions = [] if partitions is EMPTY else partitions


class TxnOffsetCommitResponsePartition(WireStruct):
    __slots__ = (
        "partition_index",
        "error_code",
    )
    FIELDS: ClassVar[FieldSpecs] = (
        ("partition_index", "int32", 0, 5, False),
        ("error_code", "int16", 0, 5, False),
    )

    def __init__(
        self,
        partition_index: int = 0,
        error_code: int = 0,
    ) -> None:
        self.partition_index = partition_index
        self.error_code = error_code


class TxnOffsetCommitResponseTopic(WireStruct):
    __slots__ = (
        "name",
        "partitions",
    )
    FIELDS: ClassVar[FieldSpecs] = (
        ("name", "string", 0, 5, False),
        ("partitions", "[TxnOffsetCommitResponsePartition]", 0, 5, False),
    )

    def __init__(
        self,
        name: str = "",
        partitions: list[TxnOffsetCommitResponsePartition] = EMPTY,
    ) -> None:
        self.name = name
        self.partitions = [] if partitions is EMPTY else partitions


class TxnOffsetCommitRequest(Request["TxnOffsetCommitResponse"]):
    __slots__ = (
        "transactional_id",
        "group_id",
        "producer_id",
        "producer_epoch",
        "generation_id",
        "member_id",
        "group_instance_id",
        "topics",
    )
    API_KEY: ClassVar[int] = 28
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 5
    FLEXIBLE_FROM: ClassVar[int] = 3
    FIELDS: ClassVar[FieldSpecs] = (
        ("transactional_id", "string", 0, 5, False),
        ("group_id", "string", 0, 5, False),
        ("producer_id", "int64", 0, 5, False),
        ("producer_epoch", "int16", 0, 5, False),
        ("generation_id", "int32", 3, 5, False),
        ("member_id", "string", 3, 5, False),
        ("group_instance_id", "string", 3, 5, True),
        ("topics", "[TxnOffsetCommitRequestTopic]", 0, 5, False),
    )

    def __init__(
        self,
        transactional_id: str = "",
        group_id: str = "",
        producer_id: int = 0,
        producer_epoch: int = 0,
        generation_id: int = -1,
        member_id: str = "",
        group_instance_id: str | None = None,
        topics: list[TxnOffsetCommitRequestTopic] = EMPTY,
    ) -> None:
        self.transactional_id = transactional_id
        self.group_id = group_id
        self.producer_id = producer_id
        self.producer_epoch = producer_epoch
        self.generation_id = generation_id  # -1 from clients before KIP-447
        self.member_id = member_id
        self.group_instance_id = group_instance_id  # set by static members (KIP-345)
        self.topics = [] if topics is EMPTY else topics


class TxnOffsetCommitResponse(Message):
    __slots__ = (
        "throttle_time_ms",
        "topics",
    )
    API_KEY: ClassVar[int] = 28
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 5
    FLEXIBLE_FROM: ClassVar[int] = 3
    FIELDS: ClassVar[FieldSpecs] = (
        ("throttle_time_ms", "int32", 0, 5, False),
        ("topics", "[TxnOffsetCommitResponseTopic]", 0, 5, False),
    )

    def __init__(
        self,
        throttle_time_ms: int = 0,
        topics: list[TxnOffsetCommitResponseTopic] = EMPTY,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.topics = [] if topics is EMPTY else topics


def _read_txn_offset_commit_request_partition_v0(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[TxnOffsetCommitRequestPartition], int]:
    if count * 14 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 200
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[TxnOffsetCommitRequestPartition] = []
    for _ in range(count):
        o = new(TxnOffsetCommitRequestPartition)
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


def _read_txn_offset_commit_request_topic_v0(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[TxnOffsetCommitRequestTopic], int]:
    if count * 6 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 184
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[TxnOffsetCommitRequestTopic] = []
    for _ in range(count):
        o = new(TxnOffsetCommitRequestTopic)
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
        o.partitions, pos = _read_txn_offset_commit_request_partition_v0(buf, pos, end, n, budget)
        items.append(o)
    return items, pos


def _decode_txn_offset_commit_request_v0(buf: memoryview, pos: int, end: int, budget: list[int]) -> TxnOffsetCommitRequest:
    o = new(TxnOffsetCommitRequest)
    o.generation_id = -1
    o.member_id = ""
    o.group_instance_id = None
    (n,) = _unpack_h(buf, pos)
    pos += 2
    if n < 0:
        raise unexpected_null(pos, "transactional_id")
    q = pos + n
    if q > end:
        raise overrun(pos, n)
    o.transactional_id = str(buf[pos:q], "utf-8")
    pos = q
    (n,) = _unpack_h(buf, pos)
    pos += 2
    if n < 0:
        raise unexpected_null(pos, "group_id")
    q = pos + n
    if q > end:
        raise overrun(pos, n)
    o.group_id = str(buf[pos:q], "utf-8")
    pos = q
    o.producer_id, o.producer_epoch, n = _unpack_qhi(buf, pos)
    pos += 14
    if n < 0:
        raise unexpected_null(pos, "topics")
    o.topics, pos = _read_txn_offset_commit_request_topic_v0(buf, pos, end, n, budget)
    return o


def _write_txn_offset_commit_request_partition_v0(
    out: bytearray, items: Sequence[TxnOffsetCommitRequestPartition]
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


def _write_txn_offset_commit_request_topic_v0(
    out: bytearray, items: Sequence[TxnOffsetCommitRequestTopic]
) -> None:
    for o in items:
        s = o.name.encode()
        n = len(s)
        out += _pack_h(n)
        out += s
        n = len(o.partitions)
        out += _pack_i(n)
        _write_txn_offset_commit_request_partition_v0(out, o.partitions)


def _encode_txn_offset_commit_request_v0(o: TxnOffsetCommitRequest) -> list[Part]:
    out = bytearray()
    s = o.transactional_id.encode()
    n = len(s)
    out += _pack_h(n)
    out += s
    s = o.group_id.encode()
    n = len(s)
    out += _pack_h(n)
    out += s
    n = len(o.topics)
    out += _pack_qhi(o.producer_id, o.producer_epoch, n)
    _write_txn_offset_commit_request_topic_v0(out, o.topics)
    return [out]


def _read_txn_offset_commit_request_partition_v2(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[TxnOffsetCommitRequestPartition], int]:
    if count * 18 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 232
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[TxnOffsetCommitRequestPartition] = []
    for _ in range(count):
        o = new(TxnOffsetCommitRequestPartition)
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


def _read_txn_offset_commit_request_topic_v2(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[TxnOffsetCommitRequestTopic], int]:
    if count * 6 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 184
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[TxnOffsetCommitRequestTopic] = []
    for _ in range(count):
        o = new(TxnOffsetCommitRequestTopic)
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
        o.partitions, pos = _read_txn_offset_commit_request_partition_v2(buf, pos, end, n, budget)
        items.append(o)
    return items, pos


def _decode_txn_offset_commit_request_v2(buf: memoryview, pos: int, end: int, budget: list[int]) -> TxnOffsetCommitRequest:
    o = new(TxnOffsetCommitRequest)
    o.generation_id = -1
    o.member_id = ""
    o.group_instance_id = None
    (n,) = _unpack_h(buf, pos)
    pos += 2
    if n < 0:
        raise unexpected_null(pos, "transactional_id")
    q = pos + n
    if q > end:
        raise overrun(pos, n)
    o.transactional_id = str(buf[pos:q], "utf-8")
    pos = q
    (n,) = _unpack_h(buf, pos)
    pos += 2
    if n < 0:
        raise unexpected_null(pos, "group_id")
    q = pos + n
    if q > end:
        raise overrun(pos, n)
    o.group_id = str(buf[pos:q], "utf-8")
    pos = q
    o.producer_id, o.producer_epoch, n = _unpack_qhi(buf, pos)
    pos += 14
    if n < 0:
        raise unexpected_null(pos, "topics")
    o.topics, pos = _read_txn_offset_commit_request_topic_v2(buf, pos, end, n, budget)
    return o


def _write_txn_offset_commit_request_partition_v2(
    out: bytearray, items: Sequence[TxnOffsetCommitRequestPartition]
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


def _write_txn_offset_commit_request_topic_v2(
    out: bytearray, items: Sequence[TxnOffsetCommitRequestTopic]
) -> None:
    for o in items:
        s = o.name.encode()
        n = len(s)
        out += _pack_h(n)
        out += s
        n = len(o.partitions)
        out += _pack_i(n)
        _write_txn_offset_commit_request_partition_v2(out, o.partitions)


def _encode_txn_offset_commit_request_v2(o: TxnOffsetCommitRequest) -> list[Part]:
    out = bytearray()
    s = o.transactional_id.encode()
    n = len(s)
    out += _pack_h(n)
    out += s
    s = o.group_id.encode()
    n = len(s)
    out += _pack_h(n)
    out += s
    n = len(o.topics)
    out += _pack_qhi(o.producer_id, o.producer_epoch, n)
    _write_txn_offset_commit_request_topic_v2(out, o.topics)
    return [out]


def _read_txn_offset_commit_request_partition_v3(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[TxnOffsetCommitRequestPartition], int]:
    if count * 18 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 232
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[TxnOffsetCommitRequestPartition] = []
    for _ in range(count):
        o = new(TxnOffsetCommitRequestPartition)
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


def _read_txn_offset_commit_request_topic_v3(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[TxnOffsetCommitRequestTopic], int]:
    if count * 3 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 184
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[TxnOffsetCommitRequestTopic] = []
    for _ in range(count):
        o = new(TxnOffsetCommitRequestTopic)
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
        o.partitions, pos = _read_txn_offset_commit_request_partition_v3(buf, pos, end, n, budget)
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tags(buf, pos, end)
        items.append(o)
    return items, pos


def _decode_txn_offset_commit_request_v3(buf: memoryview, pos: int, end: int, budget: list[int]) -> TxnOffsetCommitRequest:
    o = new(TxnOffsetCommitRequest)
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_long_string_length(buf, pos)
    n -= 1
    if n < 0:
        raise unexpected_null(pos, "transactional_id")
    q = pos + n
    if q > end:
        raise overrun(pos, n)
    o.transactional_id = str(buf[pos:q], "utf-8")
    pos = q
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
    o.producer_id, o.producer_epoch, o.generation_id = _unpack_qhi(buf, pos)
    pos += 14
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
    o.topics, pos = _read_txn_offset_commit_request_topic_v3(buf, pos, end, n, budget)
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tags(buf, pos, end)
    return o


def _write_txn_offset_commit_request_partition_v3(
    out: bytearray, items: Sequence[TxnOffsetCommitRequestPartition]
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


def _write_txn_offset_commit_request_topic_v3(
    out: bytearray, items: Sequence[TxnOffsetCommitRequestTopic]
) -> None:
    for o in items:
        s = o.name.encode()
        n = len(s) + 1
        out += UVARINTS[n] if n < 128 else long_string_length(n)
        out += s
        n = len(o.partitions) + 1
        out += UVARINTS[n] if n < 128 else uvarint(n)
        _write_txn_offset_commit_request_partition_v3(out, o.partitions)
        out.append(0)


def _encode_txn_offset_commit_request_v3(o: TxnOffsetCommitRequest) -> list[Part]:
    out = bytearray()
    s = o.transactional_id.encode()
    n = len(s) + 1
    out += UVARINTS[n] if n < 128 else long_string_length(n)
    out += s
    s = o.group_id.encode()
    n = len(s) + 1
    out += UVARINTS[n] if n < 128 else long_string_length(n)
    out += s
    out += _pack_qhi(o.producer_id, o.producer_epoch, o.generation_id)
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
    _write_txn_offset_commit_request_topic_v3(out, o.topics)
    out.append(0)
    return [out]


def _read_txn_offset_commit_response_partition_v0(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[TxnOffsetCommitResponsePartition], int]:
    if count * 6 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 128
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[TxnOffsetCommitResponsePartition] = []
    for _ in range(count):
        o = new(TxnOffsetCommitResponsePartition)
        o.partition_index, o.error_code = _unpack_ih(buf, pos)
        pos += 6
        items.append(o)
    return items, pos


def _read_txn_offset_commit_response_topic_v0(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[TxnOffsetCommitResponseTopic], int]:
    if count * 6 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 184
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[TxnOffsetCommitResponseTopic] = []
    for _ in range(count):
        o = new(TxnOffsetCommitResponseTopic)
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
        o.partitions, pos = _read_txn_offset_commit_response_partition_v0(buf, pos, end, n, budget)
        items.append(o)
    return items, pos


def _decode_txn_offset_commit_response_v0(buf: memoryview, pos: int, end: int, budget: list[int]) -> TxnOffsetCommitResponse:
    o = new(TxnOffsetCommitResponse)
    o.throttle_time_ms, n = _unpack_ii(buf, pos)
    pos += 8
    if n < 0:
        raise unexpected_null(pos, "topics")
    o.topics, pos = _read_txn_offset_commit_response_topic_v0(buf, pos, end, n, budget)
    return o


def _write_txn_offset_commit_response_partition_v0(
    out: bytearray, items: Sequence[TxnOffsetCommitResponsePartition]
) -> None:
    for o in items:
        out += _pack_ih(o.partition_index, o.error_code)


def _write_txn_offset_commit_response_topic_v0(
    out: bytearray, items: Sequence[TxnOffsetCommitResponseTopic]
) -> None:
    for o in items:
        s = o.name.encode()
        n = len(s)
        out += _pack_h(n)
        out += s
        n = len(o.partitions)
        out += _pack_i(n)
        _write_txn_offset_commit_response_partition_v0(out, o.partitions)


def _encode_txn_offset_commit_response_v0(o: TxnOffsetCommitResponse) -> list[Part]:
    out = bytearray()
    n = len(o.topics)
    out += _pack_ii(o.throttle_time_ms, n)
    _write_txn_offset_commit_response_topic_v0(out, o.topics)
    return [out]


def _read_txn_offset_commit_response_partition_v3(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[TxnOffsetCommitResponsePartition], int]:
    if count * 7 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 128
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[TxnOffsetCommitResponsePartition] = []
    for _ in range(count):
        o = new(TxnOffsetCommitResponsePartition)
        o.partition_index, o.error_code = _unpack_ih(buf, pos)
        pos += 6
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tags(buf, pos, end)
        items.append(o)
    return items, pos


def _read_txn_offset_commit_response_topic_v3(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[TxnOffsetCommitResponseTopic], int]:
    if count * 3 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 184
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[TxnOffsetCommitResponseTopic] = []
    for _ in range(count):
        o = new(TxnOffsetCommitResponseTopic)
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
        o.partitions, pos = _read_txn_offset_commit_response_partition_v3(buf, pos, end, n, budget)
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tags(buf, pos, end)
        items.append(o)
    return items, pos


def _decode_txn_offset_commit_response_v3(buf: memoryview, pos: int, end: int, budget: list[int]) -> TxnOffsetCommitResponse:
    o = new(TxnOffsetCommitResponse)
    (o.throttle_time_ms,) = _unpack_i(buf, pos)
    pos += 4
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_long_uvarint(buf, pos)
    n -= 1
    if n < 0:
        raise unexpected_null(pos, "topics")
    o.topics, pos = _read_txn_offset_commit_response_topic_v3(buf, pos, end, n, budget)
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tags(buf, pos, end)
    return o


def _write_txn_offset_commit_response_partition_v3(
    out: bytearray, items: Sequence[TxnOffsetCommitResponsePartition]
) -> None:
    for o in items:
        out += _pack_ih(o.partition_index, o.error_code)
        out.append(0)


def _write_txn_offset_commit_response_topic_v3(
    out: bytearray, items: Sequence[TxnOffsetCommitResponseTopic]
) -> None:
    for o in items:
        s = o.name.encode()
        n = len(s) + 1
        out += UVARINTS[n] if n < 128 else long_string_length(n)
        out += s
        n = len(o.partitions) + 1
        out += UVARINTS[n] if n < 128 else uvarint(n)
        _write_txn_offset_commit_response_partition_v3(out, o.partitions)
        out.append(0)


def _encode_txn_offset_commit_response_v3(o: TxnOffsetCommitResponse) -> list[Part]:
    out = bytearray()
    out += _pack_i(o.throttle_time_ms)
    n = len(o.topics) + 1
    out += UVARINTS[n] if n < 128 else uvarint(n)
    _write_txn_offset_commit_response_topic_v3(out, o.topics)
    out.append(0)
    return [out]


TxnOffsetCommitRequest.DECODERS = {
    0: _decode_txn_offset_commit_request_v0,
    1: _decode_txn_offset_commit_request_v0,
    2: _decode_txn_offset_commit_request_v2,
    3: _decode_txn_offset_commit_request_v3,
    4: _decode_txn_offset_commit_request_v3,
    5: _decode_txn_offset_commit_request_v3,
}
TxnOffsetCommitRequest.ENCODERS = {
    0: _encode_txn_offset_commit_request_v0,
    1: _encode_txn_offset_commit_request_v0,
    2: _encode_txn_offset_commit_request_v2,
    3: _encode_txn_offset_commit_request_v3,
    4: _encode_txn_offset_commit_request_v3,
    5: _encode_txn_offset_commit_request_v3,
}
TxnOffsetCommitResponse.DECODERS = {
    0: _decode_txn_offset_commit_response_v0,
    1: _decode_txn_offset_commit_response_v0,
    2: _decode_txn_offset_commit_response_v0,
    3: _decode_txn_offset_commit_response_v3,
    4: _decode_txn_offset_commit_response_v3,
    5: _decode_txn_offset_commit_response_v3,
}
TxnOffsetCommitResponse.ENCODERS = {
    0: _encode_txn_offset_commit_response_v0,
    1: _encode_txn_offset_commit_response_v0,
    2: _encode_txn_offset_commit_response_v0,
    3: _encode_txn_offset_commit_response_v3,
    4: _encode_txn_offset_commit_response_v3,
    5: _encode_txn_offset_commit_response_v3,
}
