"""End offset of a leader epoch, with which replicas and consumers detect truncation (KIP-101, KIP-320).

Generated from schemas/offset_for_leader_epoch.msg by codegen; edit that and run it again.
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
_pack_hiiq = Struct(">hiiq").pack
_pack_i = Struct(">i").pack
_pack_ii = Struct(">ii").pack
_pack_iii = Struct(">iii").pack
_unpack_h = Struct(">h").unpack_from
_unpack_hiiq = Struct(">hiiq").unpack_from
_unpack_i = Struct(">i").unpack_from
_unpack_ii = Struct(">ii").unpack_from
_unpack_iii = Struct(">iii").unpack_from


class OffsetForLeaderPartition(WireStruct):
    __slots__ = (
        "partition",
        "current_leader_epoch",
        "leader_epoch",
    )
    FIELDS: ClassVar[FieldSpecs] = (
        ("partition", "int32", 2, 4, False),
        ("current_leader_epoch", "int32", 2, 4, False),
        ("leader_epoch", "int32", 2, 4, False),
    )

    def __init__(
        self,
        partition: int = 0,
        current_leader_epoch: int = -1,
        leader_epoch: int = 0,
    ) -> None:
        self.partition = partition
        self.current_leader_epoch = current_leader_epoch  # -1 skips the check for a stale caller (KIP-320)
        self.leader_epoch = leader_epoch


class OffsetForLeaderTopic(WireStruct):
    __slots__ = (
        "topic",
        "partitions",
    )
    FIELDS: ClassVar[FieldSpecs] = (
        ("topic", "string", 2, 4, False),
        ("partitions", "[OffsetForLeaderPartition]", 2, 4, False),
    )

    def __init__(
        self,
        topic: str = "",
        partitions: list[OffsetForLeaderPartition] = EMPTY,
    ) -> None:
        self.topic = topic
        self.partitions = [] if partitions is EMPTY else partitions


class EpochEndOffset(WireStruct):
    __slots__ = (
        "error_code",
        "partition",
        "leader_epoch",
        "end_offset",
    )
    FIELDS: ClassVar[FieldSpecs] = (
        ("error_code", "int16", 2, 4, False),
        ("partition", "int32", 2, 4, False),
        ("leader_epoch", "int32", 2, 4, False),
        ("end_offset", "int64", 2, 4, False),
    )

    def __init__(
        self,
        error_code: int = 0,
        partition: int = 0,
        leader_epoch: int = -1,
        end_offset: int = -1,
    ) -> None:
        self.error_code = error_code
        self.partition = partition
        self.leader_epoch = leader_epoch  # largest epoch at or below the one asked
        self.end_offset = end_offset  # where that epoch ends


class OffsetForLeaderTopicResult(WireStruct):
    __slots__ = (
        "topic",
        "partitions",
    )
    FIELDS: ClassVar[FieldSpecs] = (
        ("topic", "string", 2, 4, False),
        ("partitions", "[EpochEndOffset]", 2, 4, False),
    )

    def __init__(
        self,
        topic: str = "",
        partitions: list[EpochEndOffset] = EMPTY,
    ) -> None:
        self.topic = topic
        self.partitions = [] if partitions is EMPTY else partitions


class OffsetForLeaderEpochRequest(Request["OffsetForLeaderEpochResponse"]):
    __slots__ = (
        "replica_id",
        "topics",
    )
    API_KEY: ClassVar[int] = 23
    MIN_VERSION: ClassVar[int] = 2
    MAX_VERSION: ClassVar[int] = 4
    FLEXIBLE_FROM: ClassVar[int] = 4
    FIELDS: ClassVar[FieldSpecs] = (
        ("replica_id", "int32", 3, 4, False),
        ("topics", "[OffsetForLeaderTopic]", 2, 4, False),
    )

    def __init__(
        self,
        replica_id: int = -2,
        topics: list[OffsetForLeaderTopic] = EMPTY,
    ) -> None:
        self.replica_id = replica_id  # -1 a consumer, -2 a tool
        self.topics = [] if topics is EMPTY else topics


class OffsetForLeaderEpochResponse(Message):
    __slots__ = (
        "throttle_time_ms",
        "topics",
    )
    API_KEY: ClassVar[int] = 23
    MIN_VERSION: ClassVar[int] = 2
    MAX_VERSION: ClassVar[int] = 4
    FLEXIBLE_FROM: ClassVar[int] = 4
    FIELDS: ClassVar[FieldSpecs] = (
        ("throttle_time_ms", "int32", 2, 4, False),
        ("topics", "[OffsetForLeaderTopicResult]", 2, 4, False),
    )

    def __init__(
        self,
        throttle_time_ms: int = 0,
        topics: list[OffsetForLeaderTopicResult] = EMPTY,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.topics = [] if topics is EMPTY else topics


def _read_offset_for_leader_partition_v2(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[OffsetForLeaderPartition], int]:
    if count * 12 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 168
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[OffsetForLeaderPartition] = []
    for _ in range(count):
        o = new(OffsetForLeaderPartition)
        o.partition, o.current_leader_epoch, o.leader_epoch = _unpack_iii(buf, pos)
        pos += 12
        items.append(o)
    return items, pos


def _read_offset_for_leader_topic_v2(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[OffsetForLeaderTopic], int]:
    if count * 6 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 184
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[OffsetForLeaderTopic] = []
    for _ in range(count):
        o = new(OffsetForLeaderTopic)
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
        o.partitions, pos = _read_offset_for_leader_partition_v2(buf, pos, end, n, budget)
        items.append(o)
    return items, pos


def _decode_offset_for_leader_epoch_request_v2(buf: memoryview, pos: int, end: int, budget: list[int]) -> OffsetForLeaderEpochRequest:
    o = new(OffsetForLeaderEpochRequest)
    o.replica_id = -2
    (n,) = _unpack_i(buf, pos)
    pos += 4
    if n < 0:
        raise unexpected_null(pos, "topics")
    o.topics, pos = _read_offset_for_leader_topic_v2(buf, pos, end, n, budget)
    return o


def _write_offset_for_leader_partition_v2(
    out: bytearray, items: Sequence[OffsetForLeaderPartition]
) -> None:
    for o in items:
        out += _pack_iii(o.partition, o.current_leader_epoch, o.leader_epoch)


def _write_offset_for_leader_topic_v2(
    out: bytearray, items: Sequence[OffsetForLeaderTopic]
) -> None:
    for o in items:
        s = o.topic.encode()
        n = len(s)
        out += _pack_h(n)
        out += s
        n = len(o.partitions)
        out += _pack_i(n)
        _write_offset_for_leader_partition_v2(out, o.partitions)


def _encode_offset_for_leader_epoch_request_v2(o: OffsetForLeaderEpochRequest) -> list[Part]:
    out = bytearray()
    n = len(o.topics)
    out += _pack_i(n)
    _write_offset_for_leader_topic_v2(out, o.topics)
    return [out]


def _decode_offset_for_leader_epoch_request_v3(buf: memoryview, pos: int, end: int, budget: list[int]) -> OffsetForLeaderEpochRequest:
    o = new(OffsetForLeaderEpochRequest)
    o.replica_id, n = _unpack_ii(buf, pos)
    pos += 8
    if n < 0:
        raise unexpected_null(pos, "topics")
    o.topics, pos = _read_offset_for_leader_topic_v2(buf, pos, end, n, budget)
    return o


def _encode_offset_for_leader_epoch_request_v3(o: OffsetForLeaderEpochRequest) -> list[Part]:
    out = bytearray()
    n = len(o.topics)
    out += _pack_ii(o.replica_id, n)
    _write_offset_for_leader_topic_v2(out, o.topics)
    return [out]


def _read_offset_for_leader_partition_v4(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[OffsetForLeaderPartition], int]:
    if count * 13 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 168
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[OffsetForLeaderPartition] = []
    for _ in range(count):
        o = new(OffsetForLeaderPartition)
        o.partition, o.current_leader_epoch, o.leader_epoch = _unpack_iii(buf, pos)
        pos += 12
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tags(buf, pos, end)
        items.append(o)
    return items, pos


def _read_offset_for_leader_topic_v4(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[OffsetForLeaderTopic], int]:
    if count * 3 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 184
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[OffsetForLeaderTopic] = []
    for _ in range(count):
        o = new(OffsetForLeaderTopic)
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
        o.partitions, pos = _read_offset_for_leader_partition_v4(buf, pos, end, n, budget)
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tags(buf, pos, end)
        items.append(o)
    return items, pos


def _decode_offset_for_leader_epoch_request_v4(buf: memoryview, pos: int, end: int, budget: list[int]) -> OffsetForLeaderEpochRequest:
    o = new(OffsetForLeaderEpochRequest)
    (o.replica_id,) = _unpack_i(buf, pos)
    pos += 4
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_long_uvarint(buf, pos)
    n -= 1
    if n < 0:
        raise unexpected_null(pos, "topics")
    o.topics, pos = _read_offset_for_leader_topic_v4(buf, pos, end, n, budget)
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tags(buf, pos, end)
    return o


def _write_offset_for_leader_partition_v4(
    out: bytearray, items: Sequence[OffsetForLeaderPartition]
) -> None:
    for o in items:
        out += _pack_iii(o.partition, o.current_leader_epoch, o.leader_epoch)
        out.append(0)


def _write_offset_for_leader_topic_v4(
    out: bytearray, items: Sequence[OffsetForLeaderTopic]
) -> None:
    for o in items:
        s = o.topic.encode()
        n = len(s) + 1
        out += UVARINTS[n] if n < 128 else long_string_length(n)
        out += s
        n = len(o.partitions) + 1
        out += UVARINTS[n] if n < 128 else uvarint(n)
        _write_offset_for_leader_partition_v4(out, o.partitions)
        out.append(0)


def _encode_offset_for_leader_epoch_request_v4(o: OffsetForLeaderEpochRequest) -> list[Part]:
    out = bytearray()
    out += _pack_i(o.replica_id)
    n = len(o.topics) + 1
    out += UVARINTS[n] if n < 128 else uvarint(n)
    _write_offset_for_leader_topic_v4(out, o.topics)
    out.append(0)
    return [out]


def _read_epoch_end_offset_v2(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[EpochEndOffset], int]:
    if count * 18 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 208
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[EpochEndOffset] = []
    for _ in range(count):
        o = new(EpochEndOffset)
        o.error_code, o.partition, o.leader_epoch, o.end_offset = _unpack_hiiq(buf, pos)
        pos += 18
        items.append(o)
    return items, pos


def _read_offset_for_leader_topic_result_v2(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[OffsetForLeaderTopicResult], int]:
    if count * 6 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 184
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[OffsetForLeaderTopicResult] = []
    for _ in range(count):
        o = new(OffsetForLeaderTopicResult)
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
        o.partitions, pos = _read_epoch_end_offset_v2(buf, pos, end, n, budget)
        items.append(o)
    return items, pos


def _decode_offset_for_leader_epoch_response_v2(buf: memoryview, pos: int, end: int, budget: list[int]) -> OffsetForLeaderEpochResponse:
    o = new(OffsetForLeaderEpochResponse)
    o.throttle_time_ms, n = _unpack_ii(buf, pos)
    pos += 8
    if n < 0:
        raise unexpected_null(pos, "topics")
    o.topics, pos = _read_offset_for_leader_topic_result_v2(buf, pos, end, n, budget)
    return o


def _write_epoch_end_offset_v2(
    out: bytearray, items: Sequence[EpochEndOffset]
) -> None:
    for o in items:
        out += _pack_hiiq(o.error_code, o.partition, o.leader_epoch, o.end_offset)


def _write_offset_for_leader_topic_result_v2(
    out: bytearray, items: Sequence[OffsetForLeaderTopicResult]
) -> None:
    for o in items:
        s = o.topic.encode()
        n = len(s)
        out += _pack_h(n)
        out += s
        n = len(o.partitions)
        out += _pack_i(n)
        _write_epoch_end_offset_v2(out, o.partitions)


def _encode_offset_for_leader_epoch_response_v2(o: OffsetForLeaderEpochResponse) -> list[Part]:
    out = bytearray()
    n = len(o.topics)
    out += _pack_ii(o.throttle_time_ms, n)
    _write_offset_for_leader_topic_result_v2(out, o.topics)
    return [out]


def _read_epoch_end_offset_v4(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[EpochEndOffset], int]:
    if count * 19 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 208
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[EpochEndOffset] = []
    for _ in range(count):
        o = new(EpochEndOffset)
        o.error_code, o.partition, o.leader_epoch, o.end_offset = _unpack_hiiq(buf, pos)
        pos += 18
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tags(buf, pos, end)
        items.append(o)
    return items, pos


def _read_offset_for_leader_topic_result_v4(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[OffsetForLeaderTopicResult], int]:
    if count * 3 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 184
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[OffsetForLeaderTopicResult] = []
    for _ in range(count):
        o = new(OffsetForLeaderTopicResult)
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
        o.partitions, pos = _read_epoch_end_offset_v4(buf, pos, end, n, budget)
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tags(buf, pos, end)
        items.append(o)
    return items, pos


def _decode_offset_for_leader_epoch_response_v4(buf: memoryview, pos: int, end: int, budget: list[int]) -> OffsetForLeaderEpochResponse:
    o = new(OffsetForLeaderEpochResponse)
    (o.throttle_time_ms,) = _unpack_i(buf, pos)
    pos += 4
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_long_uvarint(buf, pos)
    n -= 1
    if n < 0:
        raise unexpected_null(pos, "topics")
    o.topics, pos = _read_offset_for_leader_topic_result_v4(buf, pos, end, n, budget)
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tags(buf, pos, end)
    return o


def _write_epoch_end_offset_v4(
    out: bytearray, items: Sequence[EpochEndOffset]
) -> None:
    for o in items:
        out += _pack_hiiq(o.error_code, o.partition, o.leader_epoch, o.end_offset)
        out.append(0)


def _write_offset_for_leader_topic_result_v4(
    out: bytearray, items: Sequence[OffsetForLeaderTopicResult]
) -> None:
    for o in items:
        s = o.topic.encode()
        n = len(s) + 1
        out += UVARINTS[n] if n < 128 else long_string_length(n)
        out += s
        n = len(o.partitions) + 1
        out += UVARINTS[n] if n < 128 else uvarint(n)
        _write_epoch_end_offset_v4(out, o.partitions)
        out.append(0)


def _encode_offset_for_leader_epoch_response_v4(o: OffsetForLeaderEpochResponse) -> list[Part]:
    out = bytearray()
    out += _pack_i(o.throttle_time_ms)
    n = len(o.topics) + 1
    out += UVARINTS[n] if n < 128 else uvarint(n)
    _write_offset_for_leader_topic_result_v4(out, o.topics)
    out.append(0)
    return [out]


OffsetForLeaderEpochRequest.DECODERS = {
    2: _decode_offset_for_leader_epoch_request_v2,
    3: _decode_offset_for_leader_epoch_request_v3,
    4: _decode_offset_for_leader_epoch_request_v4,
}
OffsetForLeaderEpochRequest.ENCODERS = {
    2: _encode_offset_for_leader_epoch_request_v2,
    3: _encode_offset_for_leader_epoch_request_v3,
    4: _encode_offset_for_leader_epoch_request_v4,
}
OffsetForLeaderEpochResponse.DECODERS = {
    2: _decode_offset_for_leader_epoch_response_v2,
    3: _decode_offset_for_leader_epoch_response_v2,
    4: _decode_offset_for_leader_epoch_response_v4,
}
OffsetForLeaderEpochResponse.ENCODERS = {
    2: _encode_offset_for_leader_epoch_response_v2,
    3: _encode_offset_for_leader_epoch_response_v2,
    4: _encode_offset_for_leader_epoch_response_v4,
}
