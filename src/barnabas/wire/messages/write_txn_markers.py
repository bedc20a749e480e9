"""A transaction coordinator has COMMIT or ABORT markers written by partition leaders.

Generated from schemas/write_txn_markers.msg by codegen; edit that and run it again.
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
_pack_ib = Struct(">ib").pack
_pack_ih = Struct(">ih").pack
_pack_q = Struct(">q").pack
_pack_qht = Struct(">qh?").pack
_unpack_i = Struct(">i").unpack_from
_unpack_ib = Struct(">ib").unpack_from
_unpack_ih = Struct(">ih").unpack_from
_unpack_q = Struct(">q").unpack_from
_unpack_qht = Struct(">qh?").unpack_from


class WritableTxnMarkerTopic(WireStruct):
    __slots__ = (
        "name",
        "partition_indexes",
    )
    FIELDS: ClassVar[FieldSpecs] = (
        ("name", "string", 1, 2, False),
        ("partition_indexes", "[int32]", 1, 2, False),
    )

    def __init__(
        self,
        name: str = "",
        partition_indexes: list[int] = EMPTY,
    ) -> None:
        self.name = name
        self.partition_indexes = [] if partition_indexes is EMPTY else partition_indexes


class WritableTxnMarker(WireStruct):
    __slots__ = (
        "producer_id",
        "producer_epoch",
        "transaction_result",
        "topics",
        "coordinator_epoch",
        "transaction_version",
    )
    FIELDS: ClassVar[FieldSpecs] = (
        ("producer_id", "int64", 1, 2, False),
        ("producer_epoch", "int16", 1, 2, False),
        ("transaction_result", "bool", 1, 2, False),
        ("topics", "[WritableTxnMarkerTopic]", 1, 2, False),
        ("coordinator_epoch", "int32", 1, 2, False),
        ("transaction_version", "int8", 2, 2, False),
    )

    def __init__(
        self,
        producer_id: int = 0,
        producer_epoch: int = 0,
        transaction_result: bool = False,
        topics: list[WritableTxnMarkerTopic] = EMPTY,
        coordinator_epoch: int = 0,
        transaction_version: int = 0,
    ) -> None:
        self.producer_id = producer_id
        self.producer_epoch = producer_epoch
        self.transaction_result = transaction_result  # true COMMIT, false ABORT
        self.topics = [] if topics is EMPTY else topics
        self.coordinator_epoch = coordinator_epoch  # of the transaction coordinator: fences an old one
        self.transaction_version = transaction_version  # 2 checks epochs strictly (KIP-1228)


class WritableTxnMarkerPartitionResult(WireStruct):
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


class WritableTxnMarkerTopicResult(WireStruct):
    __slots__ = (
        "name",
        "partitions",
    )
    FIELDS: ClassVar[FieldSpecs] = (
        ("name", "string", 1, 2, False),
        ("partitions", "[WritableTxnMarkerPartitionResult]", 1, 2, False),
    )

    def __init__(
        self,
        name: str = "",
        partitions: list[WritableTxnMarkerPartitionResult] = EMPTY,
    ) -> None:
        self.name = name
        self.partitions = [] if partitions is EMPTY else partitions


class WritableTxnMarkerResult(WireStruct):
    __slots__ = (
        "producer_id",
        "topics",
    )
    FIELDS: ClassVar[FieldSpecs] = (
        ("producer_id", "int64", 1, 2, False),
        ("topics", "[WritableTxnMarkerTopicResult]", 1, 2, False),
    )

    def __init__(
        self,
        producer_id: int = 0,
        topics: list[WritableTxnMarkerTopicResult] = EMPTY,
    ) -> None:
        self.producer_id = producer_id
        self.topics = [] if topics is EMPTY else topics


class WriteTxnMarkersRequest(Request["WriteTxnMarkersResponse"]):
    __slots__ = (
        "markers",
    )
    API_KEY: ClassVar[int] = 27
    MIN_VERSION: ClassVar[int] = 1
    MAX_VERSION: ClassVar[int] = 2
    FLEXIBLE_FROM: ClassVar[int] = 1
    FIELDS: ClassVar[FieldSpecs] = (
        ("markers", "[WritableTxnMarker]", 1, 2, False),
    )

    def __init__(
        self,
        markers: list[WritableTxnMarker] = EMPTY,
    ) -> None:
        self.markers = [] if markers is EMPTY else markers


class WriteTxnMarkersResponse(Message):
    __slots__ = (
        "markers",
    )
    API_KEY: ClassVar[int] = 27
    MIN_VERSION: ClassVar[int] = 1
    MAX_VERSION: ClassVar[int] = 2
    FLEXIBLE_FROM: ClassVar[int] = 1
    FIELDS: ClassVar[FieldSpecs] = (
        ("markers", "[WritableTxnMarkerResult]", 1, 2, False),
    )

    def __init__(
        self,
        markers: list[WritableTxnMarkerResult] = EMPTY,
    ) -> None:
        self.markers = [] if markers is EMPTY else markers


def _read_writable_txn_marker_topic_v1(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[WritableTxnMarkerTopic], int]:
    if count * 3 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 184
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[WritableTxnMarkerTopic] = []
    for _ in range(count):
        o = new(WritableTxnMarkerTopic)
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


def _read_writable_txn_marker_v1(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[WritableTxnMarker], int]:
    if count * 17 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 256
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[WritableTxnMarker] = []
    for _ in range(count):
        o = new(WritableTxnMarker)
        o.transaction_version = 0
        o.producer_id, o.producer_epoch, o.transaction_result = _unpack_qht(buf, pos)
        pos += 11
        n = buf[pos]
        pos += 1
        if n > 127:
            n, pos = read_long_uvarint(buf, pos)
        n -= 1
        if n < 0:
            raise unexpected_null(pos, "topics")
        o.topics, pos = _read_writable_txn_marker_topic_v1(buf, pos, end, n, budget)
        (o.coordinator_epoch,) = _unpack_i(buf, pos)
        pos += 4
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tags(buf, pos, end)
        items.append(o)
    return items, pos


def _decode_write_txn_markers_request_v1(buf: memoryview, pos: int, end: int, budget: list[int]) -> WriteTxnMarkersRequest:
    o = new(WriteTxnMarkersRequest)
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_long_uvarint(buf, pos)
    n -= 1
    if n < 0:
        raise unexpected_null(pos, "markers")
    o.markers, pos = _read_writable_txn_marker_v1(buf, pos, end, n, budget)
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tags(buf, pos, end)
    return o


def _write_writable_txn_marker_topic_v1(
    out: bytearray, items: Sequence[WritableTxnMarkerTopic]
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


def _write_writable_txn_marker_v1(
    out: bytearray, items: Sequence[WritableTxnMarker]
) -> None:
    for o in items:
        out += _pack_qht(o.producer_id, o.producer_epoch, o.transaction_result)
        n = len(o.topics) + 1
        out += UVARINTS[n] if n < 128 else uvarint(n)
        _write_writable_txn_marker_topic_v1(out, o.topics)
        out += _pack_i(o.coordinator_epoch)
        out.append(0)


def _encode_write_txn_markers_request_v1(o: WriteTxnMarkersRequest) -> list[Part]:
    out = bytearray()
    n = len(o.markers) + 1
    out += UVARINTS[n] if n < 128 else uvarint(n)
    _write_writable_txn_marker_v1(out, o.markers)
    out.append(0)
    return [out]


def _read_writable_txn_marker_v2(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[WritableTxnMarker], int]:
    if count * 18 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 256
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[WritableTxnMarker] = []
    for _ in range(count):
        o = new(WritableTxnMarker)
        o.producer_id, o.producer_epoch, o.transaction_result = _unpack_qht(buf, pos)
        pos += 11
        n = buf[pos]
        pos += 1
        if n > 127:
            n, pos = read_long_uvarint(buf, pos)
        n -= 1
        if n < 0:
            raise unexpected_null(pos, "topics")
        o.topics, pos = _read_writable_txn_marker_topic_v1(buf, pos, end, n, budget)
        o.coordinator_epoch, o.transaction_version = _unpack_ib(buf, pos)
        pos += 5
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tags(buf, pos, end)
        items.append(o)
    return items, pos


def _decode_write_txn_markers_request_v2(buf: memoryview, pos: int, end: int, budget: list[int]) -> WriteTxnMarkersRequest:
    o = new(WriteTxnMarkersRequest)
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_long_uvarint(buf, pos)
    n -= 1
    if n < 0:
        raise unexpected_null(pos, "markers")
    o.markers, pos = _read_writable_txn_marker_v2(buf, pos, end, n, budget)
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tags(buf, pos, end)
    return o


def _write_writable_txn_marker_v2(
    out: bytearray, items: Sequence[WritableTxnMarker]
) -> None:
    for o in items:
        out += _pack_qht(o.producer_id, o.producer_epoch, o.transaction_result)
        n = len(o.topics) + 1
        out += UVARINTS[n] if n < 128 else uvarint(n)
        _write_writable_txn_marker_topic_v1(out, o.topics)
        out += _pack_ib(o.coordinator_epoch, o.transaction_version)
        out.append(0)


def _encode_write_txn_markers_request_v2(o: WriteTxnMarkersRequest) -> list[Part]:
    out = bytearray()
    n = len(o.markers) + 1
    out += UVARINTS[n] if n < 128 else uvarint(n)
    _write_writable_txn_marker_v2(out, o.markers)
    out.append(0)
    return [out]


def _read_writable_txn_marker_partition_result_v1(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[WritableTxnMarkerPartitionResult], int]:
    if count * 7 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 128
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[WritableTxnMarkerPartitionResult] = []
    for _ in range(count):
        o = new(WritableTxnMarkerPartitionResult)
        o.partition_index, o.error_code = _unpack_ih(buf, pos)
        pos += 6
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tags(buf, pos, end)
        items.append(o)
    return items, pos


def _read_writable_txn_marker_topic_result_v1(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[WritableTxnMarkerTopicResult], int]:
    if count * 3 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 184
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[WritableTxnMarkerTopicResult] = []
    for _ in range(count):
        o = new(WritableTxnMarkerTopicResult)
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
        o.partitions, pos = _read_writable_txn_marker_partition_result_v1(buf, pos, end, n, budget)
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tags(buf, pos, end)
        items.append(o)
    return items, pos


def _read_writable_txn_marker_result_v1(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[WritableTxnMarkerResult], int]:
    if count * 10 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 160
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[WritableTxnMarkerResult] = []
    for _ in range(count):
        o = new(WritableTxnMarkerResult)
        (o.producer_id,) = _unpack_q(buf, pos)
        pos += 8
        n = buf[pos]
        pos += 1
        if n > 127:
            n, pos = read_long_uvarint(buf, pos)
        n -= 1
        if n < 0:
            raise unexpected_null(pos, "topics")
        o.topics, pos = _read_writable_txn_marker_topic_result_v1(buf, pos, end, n, budget)
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tags(buf, pos, end)
        items.append(o)
    return items, pos


def _decode_write_txn_markers_response_v1(buf: memoryview, pos: int, end: int, budget: list[int]) -> WriteTxnMarkersResponse:
    o = new(WriteTxnMarkersResponse)
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_long_uvarint(buf, pos)
    n -= 1
    if n < 0:
        raise unexpected_null(pos, "markers")
    o.markers, pos = _read_writable_txn_marker_result_v1(buf, pos, end, n, budget)
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tags(buf, pos, end)
    return o


def _write_writable_txn_marker_partition_result_v1(
    out: bytearray, items: Sequence[WritableTxnMarkerPartitionResult]
) -> None:
    for o in items:
        out += _pack_ih(o.partition_index, o.error_code)
        out.append(0)


def _write_writable_txn_marker_topic_result_v1(
    out: bytearray, items: Sequence[WritableTxnMarkerTopicResult]
) -> None:
    for o in items:
        s = o.name.encode()
        n = len(s) + 1
        out += UVARINTS[n] if n < 128 else long_string_length(n)
        out += s
        n = len(o.partitions) + 1
        out += UVARINTS[n] if n < 128 else uvarint(n)
        _write_writable_txn_marker_partition_result_v1(out, o.partitions)
        out.append(0)


def _write_writable_txn_marker_result_v1(
    out: bytearray, items: Sequence[WritableTxnMarkerResult]
) -> None:
    for o in items:
        out += _pack_q(o.producer_id)
        n = len(o.topics) + 1
        out += UVARINTS[n] if n < 128 else uvarint(n)
        _write_writable_txn_marker_topic_result_v1(out, o.topics)
        out.append(0)


def _encode_write_txn_markers_response_v1(o: WriteTxnMarkersResponse) -> list[Part]:
    out = bytearray()
    n = len(o.markers) + 1
    out += UVARINTS[n] if n < 128 else uvarint(n)
    _write_writable_txn_marker_result_v1(out, o.markers)
    out.append(0)
    return [out]


WriteTxnMarkersRequest.DECODERS = {
    1: _decode_write_txn_markers_request_v1,
    2: _decode_write_txn_markers_request_v2,
}
WriteTxnMarkersRequest.ENCODERS = {
    1: _encode_write_txn_markers_request_v1,
    2: _encode_write_txn_markers_request_v2,
}
WriteTxnMarkersResponse.DECODERS = {
    1: _decode_write_txn_markers_response_v1,
    2: _decode_write_txn_markers_response_v1,
}
WriteTxnMarkersResponse.ENCODERS = {
    1: _encode_write_txn_markers_response_v1,
    2: _encode_write_txn_markers_response_v1,
}
