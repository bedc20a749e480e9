"""Producer states that the leader of a partition holds.

Generated from schemas/describe_producers.msg by codegen; edit that and run it again.
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

_pack_i = Struct(">i").pack
_pack_ih = Struct(">ih").pack
_pack_qiiqiq = Struct(">qiiqiq").pack
_unpack_i = Struct(">i").unpack_from
_unpack_ih = Struct(">ih").unpack_from
_unpack_qiiqiq = Struct(">qiiqiq").unpack_from


class TopicRequest(WireStruct):
    __slots__ = (
        "name",
        "partition_indexes",
    )
    FIELDS: ClassVar[FieldSpecs] = (
        ("name", "string", 0, 0, False),
        ("partition_indexes", "[int32]", 0, 0, False),
    )

    def __init__(
        self,
        name: str = "",
        partition_indexes: list[int] = EMPTY,
    ) -> None:
        self.name = name
        self.partition_indexes = [] if partition_indexes is EMPTY else partition_indexes


class ProducerState(WireStruct):
    __slots__ = (
        "producer_id",
        "producer_epoch",
        "last_sequence",
        "last_timestamp",
        "coordinator_epoch",
        "current_txn_start_offset",
    )
    FIELDS: ClassVar[FieldSpecs] = (
        ("producer_id", "int64", 0, 0, False),
        ("producer_epoch", "int32", 0, 0, False),
        ("last_sequence", "int32", 0, 0, False),
        ("last_timestamp", "int64", 0, 0, False),
        ("coordinator_epoch", "int32", 0, 0, False),
        ("current_txn_start_offset", "int64", 0, 0, False),
    )

    def __init__(
        self,
        producer_id: int = 0,
        producer_epoch: int = 0,
        last_sequence: int = -1,
        last_timestamp: int = -1,
        coordinator_epoch: int = 0,
        current_txn_start_offset: int = -1,
    ) -> None:
        self.producer_id = producer_id
        self.producer_epoch = producer_epoch
        self.last_sequence = last_sequence
        self.last_timestamp = last_timestamp
        self.coordinator_epoch = coordinator_epoch
        self.current_txn_start_offset = current_txn_start_offset  # -1 when no transaction is open


class PartitionResponse(WireStruct):
    __slots__ = (
        "partition_index",
        "error_code",
        "error_message",
        "active_producers",
    )
    FIELDS: ClassVar[FieldSpecs] = (
        ("partition_index", "int32", 0, 0, False),
        ("error_code", "int16", 0, 0, False),
        ("error_message", "string", 0, 0, True),
        ("active_producers", "[ProducerState]", 0, 0, False),
    )

    def __init__(
        self,
        partition_index: int = 0,
        error_code: int = 0,
        error_message: str | None = None,
        active_producers: list[ProducerState] = EMPTY,
    ) -> None:
        self.partition_index = partition_index
        self.error_code = error_code
        self.error_message = error_message
        self.active_producers = [] if active_producers is EMPTY else active_producers


class TopicResponse(WireStruct):
    __slots__ = (
        "name",
        "partitions",
    )
    FIELDS: ClassVar[FieldSpecs] = (
        ("name", "string", 0, 0, False),
        ("partitions", "[PartitionResponse]", 0, 0, False),
    )

    def __init__(
        self,
        name: str = "",
        partitions: list[PartitionResponse] = EMPTY,
    ) -> None:
        self.name = name
        self.partitions = [] if partitions is EMPTY else partitions


class DescribeProducersRequest(Request["DescribeProducersResponse"]):
    __slots__ = (
        "topics",
    )
    API_KEY: ClassVar[int] = 61
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int] = 0
    FIELDS: ClassVar[FieldSpecs] = (
        ("topics", "[TopicRequest]", 0, 0, False),
    )

    def __init__(
        self,
        topics: list[TopicRequest] = EMPTY,
    ) -> None:
        self.topics = [] if topics is EMPTY else topics


class DescribeProducersResponse(Message):
    __slots__ = (
        "throttle_time_ms",
        "topics",
    )
    API_KEY: ClassVar[int] = 61
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int] = 0
    FIELDS: ClassVar[FieldSpecs] = (
        ("throttle_time_ms", "int32", 0, 0, False),
        ("topics", "[TopicResponse]", 0, 0, False),
    )

    def __init__(
        self,
        throttle_time_ms: int = 0,
        topics: list[TopicResponse] = EMPTY,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.topics = [] if topics is EMPTY else topics


def _read_topic_request_v0(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[TopicRequest], int]:
    if count * 3 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 184
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[TopicRequest] = []
    for _ in range(count):
        o = new(TopicRequest)
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


def _decode_describe_producers_request_v0(buf: memoryview, pos: int, end: int, budget: list[int]) -> DescribeProducersRequest:
    o = new(DescribeProducersRequest)
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_long_uvarint(buf, pos)
    n -= 1
    if n < 0:
        raise unexpected_null(pos, "topics")
    o.topics, pos = _read_topic_request_v0(buf, pos, end, n, budget)
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tags(buf, pos, end)
    return o


def _write_topic_request_v0(
    out: bytearray, items: Sequence[TopicRequest]
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


def _encode_describe_producers_request_v0(o: DescribeProducersRequest) -> list[Part]:
    out = bytearray()
    n = len(o.topics) + 1
    out += UVARINTS[n] if n < 128 else uvarint(n)
    _write_topic_request_v0(out, o.topics)
    out.append(0)
    return [out]


def _read_producer_state_v0(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[ProducerState], int]:
    if count * 37 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 288
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[ProducerState] = []
    for _ in range(count):
        o = new(ProducerState)
        o.producer_id, o.producer_epoch, o.last_sequence, o.last_timestamp, o.coordinator_epoch, o.current_txn_start_offset = _unpack_qiiqiq(buf, pos)
        pos += 36
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tags(buf, pos, end)
        items.append(o)
    return items, pos


def _read_partition_response_v0(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[PartitionResponse], int]:
    if count * 9 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 264
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[PartitionResponse] = []
    for _ in range(count):
        o = new(PartitionResponse)
        o.partition_index, o.error_code = _unpack_ih(buf, pos)
        pos += 6
        n = buf[pos]
        pos += 1
        if n > 127:
            n, pos = read_long_string_length(buf, pos)
        n -= 1
        if n < 0:
            o.error_message = None
        else:
            q = pos + n
            if q > end:
                raise overrun(pos, n)
            o.error_message = str(buf[pos:q], "utf-8")
            pos = q
        n = buf[pos]
        pos += 1
        if n > 127:
            n, pos = read_long_uvarint(buf, pos)
        n -= 1
        if n < 0:
            raise unexpected_null(pos, "active_producers")
        o.active_producers, pos = _read_producer_state_v0(buf, pos, end, n, budget)
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tags(buf, pos, end)
        items.append(o)
    return items, pos


def _read_topic_response_v0(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[TopicResponse], int]:
    if count * 3 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 184
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[TopicResponse] = []
    for _ in range(count):
        o = new(TopicResponse)
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
        o.partitions, pos = _read_partition_response_v0(buf, pos, end, n, budget)
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tags(buf, pos, end)
        items.append(o)
    return items, pos


def _decode_describe_producers_response_v0(buf: memoryview, pos: int, end: int, budget: list[int]) -> DescribeProducersResponse:
    o = new(DescribeProducersResponse)
    (o.throttle_time_ms,) = _unpack_i(buf, pos)
    pos += 4
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_long_uvarint(buf, pos)
    n -= 1
    if n < 0:
        raise unexpected_null(pos, "topics")
    o.topics, pos = _read_topic_response_v0(buf, pos, end, n, budget)
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tags(buf, pos, end)
    return o


def _write_producer_state_v0(
    out: bytearray, items: Sequence[ProducerState]
) -> None:
    for o in items:
        out += _pack_qiiqiq(o.producer_id, o.producer_epoch, o.last_sequence, o.last_timestamp, o.coordinator_epoch, o.current_txn_start_offset)
        out.append(0)


def _write_partition_response_v0(
    out: bytearray, items: Sequence[PartitionResponse]
) -> None:
    for o in items:
        out += _pack_ih(o.partition_index, o.error_code)
        if o.error_message is None:
            out.append(0)
        else:
            s = o.error_message.encode()
            n = len(s) + 1
            out += UVARINTS[n] if n < 128 else long_string_length(n)
            out += s
        n = len(o.active_producers) + 1
        out += UVARINTS[n] if n < 128 else uvarint(n)
        _write_producer_state_v0(out, o.active_producers)
        out.append(0)


def _write_topic_response_v0(
    out: bytearray, items: Sequence[TopicResponse]
) -> None:
    for o in items:
        s = o.name.encode()
        n = len(s) + 1
        out += UVARINTS[n] if n < 128 else long_string_length(n)
        out += s
        n = len(o.partitions) + 1
        out += UVARINTS[n] if n < 128 else uvarint(n)
        _write_partition_response_v0(out, o.partitions)
        out.append(0)


def _encode_describe_producers_response_v0(o: DescribeProducersResponse) -> list[Part]:
    out = bytearray()
    out += _pack_i(o.throttle_time_ms)
    n = len(o.topics) + 1
    out += UVARINTS[n] if n < 128 else uvarint(n)
    _write_topic_response_v0(out, o.topics)
    out.append(0)
    return [out]


DescribeProducersRequest.DECODERS = {
    0: _decode_describe_producers_request_v0,
}
DescribeProducersRequest.ENCODERS = {
    0: _encode_describe_producers_request_v0,
}
DescribeProducersResponse.DECODERS = {
    0: _decode_describe_producers_response_v0,
}
DescribeProducersResponse.ENCODERS = {
    0: _encode_describe_producers_response_v0,
}
