"""Appends one record batch per partition to the logs of the leaders.

Generated from schemas/produce.msg by codegen; edit that and run it again.
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
    Records,
    UVARINTS,
    bad_tag,
    long_string_length,
    new,
    over_budget,
    overrun,
    read_long_string_length,
    read_long_uvarint,
    read_tag,
    read_tag_count,
    skip_tags,
    too_many,
    unexpected_null,
    uvarint,
    write_tags,
)

_pack_u = Struct(">16s").pack
_pack_h = Struct(">h").pack
_pack_hi = Struct(">hi").pack
_pack_hii = Struct(">hii").pack
_pack_i = Struct(">i").pack
_pack_ih = Struct(">ih").pack
_pack_ihqq = Struct(">ihqq").pack
_pack_ihqqq = Struct(">ihqqq").pack
_pack_ihqqqi = Struct(">ihqqqi").pack
_pack_ii = Struct(">ii").pack
_unpack_u = Struct(">16s").unpack_from
_unpack_h = Struct(">h").unpack_from
_unpack_hi = Struct(">hi").unpack_from
_unpack_hii = Struct(">hii").unpack_from
_unpack_i = Struct(">i").unpack_from
_unpack_ih = Struct(">ih").unpack_from
_unpack_ihqq = Struct(">ihqq").unpack_from
_unpack_ihqqq = Struct(">ihqqq").unpack_from
_unpack_ihqqqi = Struct(">ihqqqi").unpack_from
_unpack_ii = Struct(">ii").unpack_from


class PartitionProduceData(WireStruct):
    __slots__ = (
        "index",
        "records",
    )
    FIELDS: ClassVar[FieldSpecs] = (
        ("index", "int32", 3, 13, False),
        ("records", "records", 3, 13, True),
    )

    def __init__(
        self,
        index: int = 0,
        records: Records = None,
    ) -> None:
        self.index = index
        self.records = records  # exactly one batch of magic 2


class TopicProduceData(WireStruct):
    __slots__ = (
        "name",
        "topic_id",
        "partition_data",
    )
    FIELDS: ClassVar[FieldSpecs] = (
        ("name", "string", 3, 12, False),
        ("topic_id", "uuid", 13, 13, False),
        ("partition_data", "[PartitionProduceData]", 3, 13, False),
    )

    def __init__(
        self,
        name: str = "",
        topic_id: Uuid = ZERO_UUID,
        partition_data: list[PartitionProduceData] = EMPTY,
    ) -> None:
        self.name = name
        self.topic_id = topic_id
        self.partition_data = [] if partition_data is EMPTY else partition_data


class BatchIndexAndErrorMessage(WireStruct):
    __slots__ = (
        "batch_index",
        "batch_index_error_message",
    )
    FIELDS: ClassVar[FieldSpecs] = (
        ("batch_index", "int32", 8, 13, False),
        ("batch_index_error_message", "string", 8, 13, True),
    )

    def __init__(
        self,
        batch_index: int = 0,
        batch_index_error_message: str | None = None,
    ) -> None:
        self.batch_index = batch_index  # position in the batch
        self.batch_index_error_message = batch_index_error_message


class LeaderIdAndEpoch(WireStruct):
    __slots__ = (
        "leader_id",
        "leader_epoch",
    )
    FIELDS: ClassVar[FieldSpecs] = (
        ("leader_id", "int32", 10, 13, False),
        ("leader_epoch", "int32", 10, 13, False),
    )

    def __init__(
        self,
        leader_id: int = -1,
        leader_epoch: int = -1,
    ) -> None:
        self.leader_id = leader_id
        self.leader_epoch = leader_epoch


class PartitionProduceResponse(WireStruct):
    __slots__ = (
        "index",
        "error_code",
        "base_offset",
        "log_append_time_ms",
        "log_start_offset",
        "record_errors",
        "error_message",
        "current_leader",
    )
    FIELDS: ClassVar[FieldSpecs] = (
        ("index", "int32", 3, 13, False),
        ("error_code", "int16", 3, 13, False),
        ("base_offset", "int64", 3, 13, False),
        ("log_append_time_ms", "int64", 3, 13, False),
        ("log_start_offset", "int64", 5, 13, False),
        ("record_errors", "[BatchIndexAndErrorMessage]", 8, 13, False),
        ("error_message", "string", 8, 13, True),
        ("current_leader", "LeaderIdAndEpoch", 10, 13, True),
    )

    def __init__(
        self,
        index: int = 0,
        error_code: int = 0,
        base_offset: int = 0,
        log_append_time_ms: int = -1,
        log_start_offset: int = -1,
        record_errors: list[BatchIndexAndErrorMessage] = EMPTY,
        error_message: str | None = None,
        current_leader: LeaderIdAndEpoch | None = None,
    ) -> None:
        self.index = index
        self.error_code = error_code
        self.base_offset = base_offset  # offset of the first record; the original one for a duplicate
        self.log_append_time_ms = log_append_time_ms  # -1 when the topic keeps the time of creation
        self.log_start_offset = log_start_offset
        self.record_errors = [] if record_errors is EMPTY else record_errors  # the records that made the broker refuse the batch
        self.error_message = error_message
        self.current_leader = current_leader  # where to go instead (KIP-951)


class TopicProduceResponse(WireStruct):
    __slots__ = (
        "name",
        "topic_id",
        "partition_responses",
    )
    FIELDS: ClassVar[FieldSpecs] = (
        ("name", "string", 3, 12, False),
        ("topic_id", "uuid", 13, 13, False),
        ("partition_responses", "[PartitionProduceResponse]", 3, 13, False),
    )

    def __init__(
        self,
        name: str = "",
        topic_id: Uuid = ZERO_UUID,
        partition_responses: list[PartitionProduceResponse] = EMPTY,
    ) -> None:
        self.name = name
        self.topic_id = topic_id
        self.partition_responses = [] if partition_responses is EMPTY else partition_responses


class NodeEndpoint(WireStruct):
    __slots__ = (
        "node_id",
        "host",
        "port",
        "rack",
    )
    FIELDS: ClassVar[FieldSpecs] = (
        ("node_id", "int32", 10, 13, False),
        ("host", "string", 10, 13, False),
        ("port", "int32", 10, 13, False),
        ("rack", "string", 10, 13, True),
    )

    def __init__(
        self,
        node_id: int = 0,
        host: str = "",
        port: int = 0,
        rack: str | None = None,
    ) -> None:
        self.node_id = node_id
        self.host = host
        self.port = port
        self.rack = rack


class ProduceRequest(Request["ProduceResponse"]):
    __slots__ = (
        "transactional_id",
        "acks",
        "timeout_ms",
        "topic_data",
    )
    API_KEY: ClassVar[int] = 0
    MIN_VERSION: ClassVar[int] = 3
    MAX_VERSION: ClassVar[int] = 13
    FLEXIBLE_FROM: ClassVar[int] = 9
    FIELDS: ClassVar[FieldSpecs] = (
        ("transactional_id", "string", 3, 13, True),
        ("acks", "int16", 3, 13, False),
        ("timeout_ms", "int32", 3, 13, False),
        ("topic_data", "[TopicProduceData]", 3, 13, False),
    )

    def __init__(
        self,
        transactional_id: str | None = None,
        acks: int = 0,
        timeout_ms: int = 0,
        topic_data: list[TopicProduceData] = EMPTY,
    ) -> None:
        self.transactional_id = transactional_id  # null unless the producer is transactional
        self.acks = acks  # 0 none, 1 the leader, -1 all in-sync replicas
        self.timeout_ms = timeout_ms  # how long to wait for the acks
        self.topic_data = [] if topic_data is EMPTY else topic_data


class ProduceResponse(Message):
    __slots__ = (
        "responses",
        "throttle_time_ms",
        "node_endpoints",
    )
    API_KEY: ClassVar[int] = 0
    MIN_VERSION: ClassVar[int] = 3
    MAX_VERSION: ClassVar[int] = 13
    FLEXIBLE_FROM: ClassVar[int] = 9
    FIELDS: ClassVar[FieldSpecs] = (
        ("responses", "[TopicProduceResponse]", 3, 13, False),
        ("throttle_time_ms", "int32", 3, 13, False),
        ("node_endpoints", "[NodeEndpoint]", 10, 13, False),
    )

    def __init__(
        self,
        responses: list[TopicProduceResponse] = EMPTY,
        throttle_time_ms: int = 0,
        node_endpoints: list[NodeEndpoint] = EMPTY,
    ) -> None:
        self.responses = [] if responses is EMPTY else responses
        self.throttle_time_ms = throttle_time_ms
        self.node_endpoints = [] if node_endpoints is EMPTY else node_endpoints  # of the leaders named in current_leader


def _read_partition_produce_data_v3(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[PartitionProduceData], int]:
    if count * 8 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 280
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[PartitionProduceData] = []
    for _ in range(count):
        o = new(PartitionProduceData)
        o.index, n = _unpack_ii(buf, pos)
        pos += 8
        if n < 0:
            o.records = None
        else:
            q = pos + n
            if q > end:
                raise overrun(pos, n)
            o.records = buf[pos:q]
            pos = q
        items.append(o)
    return items, pos


def _read_topic_produce_data_v3(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[TopicProduceData], int]:
    if count * 6 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 192
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[TopicProduceData] = []
    for _ in range(count):
        o = new(TopicProduceData)
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
            raise unexpected_null(pos, "partition_data")
        o.partition_data, pos = _read_partition_produce_data_v3(buf, pos, end, n, budget)
        items.append(o)
    return items, pos


def _decode_produce_request_v3(buf: memoryview, pos: int, end: int, budget: list[int]) -> ProduceRequest:
    o = new(ProduceRequest)
    (n,) = _unpack_h(buf, pos)
    pos += 2
    if n < 0:
        o.transactional_id = None
    else:
        q = pos + n
        if q > end:
            raise overrun(pos, n)
        o.transactional_id = str(buf[pos:q], "utf-8")
        pos = q
    o.acks, o.timeout_ms, n = _unpack_hii(buf, pos)
    pos += 10
    if n < 0:
        raise unexpected_null(pos, "topic_data")
    o.topic_data, pos = _read_topic_produce_data_v3(buf, pos, end, n, budget)
    return o


def _write_partition_produce_data_v3(
    parts: list[Part], out: bytearray, items: Sequence[PartitionProduceData]
) -> bytearray:
    for o in items:
        if o.records is None:
            n = -1
        else:
            n = len(o.records)
        out += _pack_ii(o.index, n)
        if o.records is not None:
            if n > 0:
                parts += (out, o.records)
                out = bytearray()
    return out


def _write_topic_produce_data_v3(
    parts: list[Part], out: bytearray, items: Sequence[TopicProduceData]
) -> bytearray:
    for o in items:
        s = o.name.encode()
        n = len(s)
        out += _pack_h(n)
        out += s
        n = len(o.partition_data)
        out += _pack_i(n)
        out = _write_partition_produce_data_v3(parts, out, o.partition_data)
    return out


def _encode_produce_request_v3(o: ProduceRequest) -> list[Part]:
    parts: list[Part] = []
    out = bytearray()
    if o.transactional_id is None:
        n = -1
        s = b""
    else:
        s = o.transactional_id.encode()
        n = len(s)
    out += _pack_h(n)
    out += s
    n = len(o.topic_data)
    out += _pack_hii(o.acks, o.timeout_ms, n)
    out = _write_topic_produce_data_v3(parts, out, o.topic_data)
    if out:
        parts.append(out)
    return parts


def _read_partition_produce_data_v9(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[PartitionProduceData], int]:
    if count * 6 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 280
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[PartitionProduceData] = []
    for _ in range(count):
        o = new(PartitionProduceData)
        (o.index,) = _unpack_i(buf, pos)
        pos += 4
        n = buf[pos]
        pos += 1
        if n > 127:
            n, pos = read_long_uvarint(buf, pos)
        n -= 1
        if n < 0:
            o.records = None
        else:
            q = pos + n
            if q > end:
                raise overrun(pos, n)
            o.records = buf[pos:q]
            pos = q
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tags(buf, pos, end)
        items.append(o)
    return items, pos


def _read_topic_produce_data_v9(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[TopicProduceData], int]:
    if count * 3 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 192
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[TopicProduceData] = []
    for _ in range(count):
        o = new(TopicProduceData)
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
            raise unexpected_null(pos, "partition_data")
        o.partition_data, pos = _read_partition_produce_data_v9(buf, pos, end, n, budget)
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tags(buf, pos, end)
        items.append(o)
    return items, pos


def _decode_produce_request_v9(buf: memoryview, pos: int, end: int, budget: list[int]) -> ProduceRequest:
    o = new(ProduceRequest)
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_long_string_length(buf, pos)
    n -= 1
    if n < 0:
        o.transactional_id = None
    else:
        q = pos + n
        if q > end:
            raise overrun(pos, n)
        o.transactional_id = str(buf[pos:q], "utf-8")
        pos = q
    o.acks, o.timeout_ms = _unpack_hi(buf, pos)
    pos += 6
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_long_uvarint(buf, pos)
    n -= 1
    if n < 0:
        raise unexpected_null(pos, "topic_data")
    o.topic_data, pos = _read_topic_produce_data_v9(buf, pos, end, n, budget)
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tags(buf, pos, end)
    return o


def _write_partition_produce_data_v9(
    parts: list[Part], out: bytearray, items: Sequence[PartitionProduceData]
) -> bytearray:
    for o in items:
        out += _pack_i(o.index)
        if o.records is None:
            out.append(0)
        else:
            n = len(o.records) + 1
            out += UVARINTS[n] if n < 128 else uvarint(n)
            if n > 1:
                parts += (out, o.records)
                out = bytearray()
        out.append(0)
    return out


def _write_topic_produce_data_v9(
    parts: list[Part], out: bytearray, items: Sequence[TopicProduceData]
) -> bytearray:
    for o in items:
        s = o.name.encode()
        n = len(s) + 1
        out += UVARINTS[n] if n < 128 else long_string_length(n)
        out += s
        n = len(o.partition_data) + 1
        out += UVARINTS[n] if n < 128 else uvarint(n)
        out = _write_partition_produce_data_v9(parts, out, o.partition_data)
        out.append(0)
    return out


def _encode_produce_request_v9(o: ProduceRequest) -> list[Part]:
    parts: list[Part] = []
    out = bytearray()
    if o.transactional_id is None:
        out.append(0)
    else:
        s = o.transactional_id.encode()
        n = len(s) + 1
        out += UVARINTS[n] if n < 128 else long_string_length(n)
        out += s
    out += _pack_hi(o.acks, o.timeout_ms)
    n = len(o.topic_data) + 1
    out += UVARINTS[n] if n < 128 else uvarint(n)
    out = _write_topic_produce_data_v9(parts, out, o.topic_data)
    out.append(0)
    if out:
        parts.append(out)
    return parts


def _read_topic_produce_data_v13(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[TopicProduceData], int]:
    if count * 18 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 192
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[TopicProduceData] = []
    for _ in range(count):
        o = new(TopicProduceData)
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
            raise unexpected_null(pos, "partition_data")
        o.partition_data, pos = _read_partition_produce_data_v9(buf, pos, end, n, budget)
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tags(buf, pos, end)
        items.append(o)
    return items, pos


def _decode_produce_request_v13(buf: memoryview, pos: int, end: int, budget: list[int]) -> ProduceRequest:
    o = new(ProduceRequest)
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_long_string_length(buf, pos)
    n -= 1
    if n < 0:
        o.transactional_id = None
    else:
        q = pos + n
        if q > end:
            raise overrun(pos, n)
        o.transactional_id = str(buf[pos:q], "utf-8")
        pos = q
    o.acks, o.timeout_ms = _unpack_hi(buf, pos)
    pos += 6
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_long_uvarint(buf, pos)
    n -= 1
    if n < 0:
        raise unexpected_null(pos, "topic_data")
    o.topic_data, pos = _read_topic_produce_data_v13(buf, pos, end, n, budget)
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tags(buf, pos, end)
    return o


def _write_topic_produce_data_v13(
    parts: list[Part], out: bytearray, items: Sequence[TopicProduceData]
) -> bytearray:
    for o in items:
        if len(o.topic_id) != 16:
            raise LocalError("a uuid has 16 bytes")
        out += _pack_u(o.topic_id)
        n = len(o.partition_data) + 1
        out += UVARINTS[n] if n < 128 else uvarint(n)
        out = _write_partition_produce_data_v9(parts, out, o.partition_data)
        out.append(0)
    return out


def _encode_produce_request_v13(o: ProduceRequest) -> list[Part]:
    parts: list[Part] = []
    out = bytearray()
    if o.transactional_id is None:
        out.append(0)
    else:
        s = o.transactional_id.encode()
        n = len(s) + 1
        out += UVARINTS[n] if n < 128 else long_string_length(n)
        out += s
    out += _pack_hi(o.acks, o.timeout_ms)
    n = len(o.topic_data) + 1
    out += UVARINTS[n] if n < 128 else uvarint(n)
    out = _write_topic_produce_data_v13(parts, out, o.topic_data)
    out.append(0)
    if out:
        parts.append(out)
    return parts


def _read_partition_produce_response_v3(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[PartitionProduceResponse], int]:
    if count * 22 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 304
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[PartitionProduceResponse] = []
    for _ in range(count):
        o = new(PartitionProduceResponse)
        o.log_start_offset = -1
        o.record_errors = []
        o.error_message = None
        o.current_leader = None
        o.index, o.error_code, o.base_offset, o.log_append_time_ms = _unpack_ihqq(buf, pos)
        pos += 22
        items.append(o)
    return items, pos


def _read_topic_produce_response_v3(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[TopicProduceResponse], int]:
    if count * 6 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 192
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[TopicProduceResponse] = []
    for _ in range(count):
        o = new(TopicProduceResponse)
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
            raise unexpected_null(pos, "partition_responses")
        o.partition_responses, pos = _read_partition_produce_response_v3(buf, pos, end, n, budget)
        items.append(o)
    return items, pos


def _decode_produce_response_v3(buf: memoryview, pos: int, end: int, budget: list[int]) -> ProduceResponse:
    o = new(ProduceResponse)
    o.node_endpoints = []
    (n,) = _unpack_i(buf, pos)
    pos += 4
    if n < 0:
        raise unexpected_null(pos, "responses")
    o.responses, pos = _read_topic_produce_response_v3(buf, pos, end, n, budget)
    (o.throttle_time_ms,) = _unpack_i(buf, pos)
    pos += 4
    return o


def _write_partition_produce_response_v3(
    out: bytearray, items: Sequence[PartitionProduceResponse]
) -> None:
    for o in items:
        out += _pack_ihqq(o.index, o.error_code, o.base_offset, o.log_append_time_ms)


def _write_topic_produce_response_v3(
    out: bytearray, items: Sequence[TopicProduceResponse]
) -> None:
    for o in items:
        s = o.name.encode()
        n = len(s)
        out += _pack_h(n)
        out += s
        n = len(o.partition_responses)
        out += _pack_i(n)
        _write_partition_produce_response_v3(out, o.partition_responses)


def _encode_produce_response_v3(o: ProduceResponse) -> list[Part]:
    out = bytearray()
    n = len(o.responses)
    out += _pack_i(n)
    _write_topic_produce_response_v3(out, o.responses)
    out += _pack_i(o.throttle_time_ms)
    return [out]


def _read_partition_produce_response_v5(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[PartitionProduceResponse], int]:
    if count * 30 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 336
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[PartitionProduceResponse] = []
    for _ in range(count):
        o = new(PartitionProduceResponse)
        o.record_errors = []
        o.error_message = None
        o.current_leader = None
        o.index, o.error_code, o.base_offset, o.log_append_time_ms, o.log_start_offset = _unpack_ihqqq(buf, pos)
        pos += 30
        items.append(o)
    return items, pos


def _read_topic_produce_response_v5(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[TopicProduceResponse], int]:
    if count * 6 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 192
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[TopicProduceResponse] = []
    for _ in range(count):
        o = new(TopicProduceResponse)
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
            raise unexpected_null(pos, "partition_responses")
        o.partition_responses, pos = _read_partition_produce_response_v5(buf, pos, end, n, budget)
        items.append(o)
    return items, pos


def _decode_produce_response_v5(buf: memoryview, pos: int, end: int, budget: list[int]) -> ProduceResponse:
    o = new(ProduceResponse)
    o.node_endpoints = []
    (n,) = _unpack_i(buf, pos)
    pos += 4
    if n < 0:
        raise unexpected_null(pos, "responses")
    o.responses, pos = _read_topic_produce_response_v5(buf, pos, end, n, budget)
    (o.throttle_time_ms,) = _unpack_i(buf, pos)
    pos += 4
    return o


def _write_partition_produce_response_v5(
    out: bytearray, items: Sequence[PartitionProduceResponse]
) -> None:
    for o in items:
        out += _pack_ihqqq(o.index, o.error_code, o.base_offset, o.log_append_time_ms, o.log_start_offset)


def _write_topic_produce_response_v5(
    out: bytearray, items: Sequence[TopicProduceResponse]
) -> None:
    for o in items:
        s = o.name.encode()
        n = len(s)
        out += _pack_h(n)
        out += s
        n = len(o.partition_responses)
        out += _pack_i(n)
        _write_partition_produce_response_v5(out, o.partition_responses)


def _encode_produce_response_v5(o: ProduceResponse) -> list[Part]:
    out = bytearray()
    n = len(o.responses)
    out += _pack_i(n)
    _write_topic_produce_response_v5(out, o.responses)
    out += _pack_i(o.throttle_time_ms)
    return [out]


def _read_batch_index_and_error_message_v8(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[BatchIndexAndErrorMessage], int]:
    if count * 6 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 152
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[BatchIndexAndErrorMessage] = []
    for _ in range(count):
        o = new(BatchIndexAndErrorMessage)
        o.batch_index, n = _unpack_ih(buf, pos)
        pos += 6
        if n < 0:
            o.batch_index_error_message = None
        else:
            q = pos + n
            if q > end:
                raise overrun(pos, n)
            o.batch_index_error_message = str(buf[pos:q], "utf-8")
            pos = q
        items.append(o)
    return items, pos


def _read_partition_produce_response_v8(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[PartitionProduceResponse], int]:
    if count * 36 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 392
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[PartitionProduceResponse] = []
    for _ in range(count):
        o = new(PartitionProduceResponse)
        o.current_leader = None
        o.index, o.error_code, o.base_offset, o.log_append_time_ms, o.log_start_offset, n = _unpack_ihqqqi(buf, pos)
        pos += 34
        if n < 0:
            raise unexpected_null(pos, "record_errors")
        o.record_errors, pos = _read_batch_index_and_error_message_v8(buf, pos, end, n, budget)
        (n,) = _unpack_h(buf, pos)
        pos += 2
        if n < 0:
            o.error_message = None
        else:
            q = pos + n
            if q > end:
                raise overrun(pos, n)
            o.error_message = str(buf[pos:q], "utf-8")
            pos = q
        items.append(o)
    return items, pos


def _read_topic_produce_response_v8(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[TopicProduceResponse], int]:
    if count * 6 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 192
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[TopicProduceResponse] = []
    for _ in range(count):
        o = new(TopicProduceResponse)
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
            raise unexpected_null(pos, "partition_responses")
        o.partition_responses, pos = _read_partition_produce_response_v8(buf, pos, end, n, budget)
        items.append(o)
    return items, pos


def _decode_produce_response_v8(buf: memoryview, pos: int, end: int, budget: list[int]) -> ProduceResponse:
    o = new(ProduceResponse)
    o.node_endpoints = []
    (n,) = _unpack_i(buf, pos)
    pos += 4
    if n < 0:
        raise unexpected_null(pos, "responses")
    o.responses, pos = _read_topic_produce_response_v8(buf, pos, end, n, budget)
    (o.throttle_time_ms,) = _unpack_i(buf, pos)
    pos += 4
    return o


def _write_batch_index_and_error_message_v8(
    out: bytearray, items: Sequence[BatchIndexAndErrorMessage]
) -> None:
    for o in items:
        if o.batch_index_error_message is None:
            n = -1
            s = b""
        else:
            s = o.batch_index_error_message.encode()
            n = len(s)
        out += _pack_ih(o.batch_index, n)
        out += s


def _write_partition_produce_response_v8(
    out: bytearray, items: Sequence[PartitionProduceResponse]
) -> None:
    for o in items:
        n = len(o.record_errors)
        out += _pack_ihqqqi(o.index, o.error_code, o.base_offset, o.log_append_time_ms, o.log_start_offset, n)
        _write_batch_index_and_error_message_v8(out, o.record_errors)
        if o.error_message is None:
            n = -1
            s = b""
        else:
            s = o.error_message.encode()
            n = len(s)
        out += _pack_h(n)
        out += s


def _write_topic_produce_response_v8(
    out: bytearray, items: Sequence[TopicProduceResponse]
) -> None:
    for o in items:
        s = o.name.encode()
        n = len(s)
        out += _pack_h(n)
        out += s
        n = len(o.partition_responses)
        out += _pack_i(n)
        _write_partition_produce_response_v8(out, o.partition_responses)


def _encode_produce_response_v8(o: ProduceResponse) -> list[Part]:
    out = bytearray()
    n = len(o.responses)
    out += _pack_i(n)
    _write_topic_produce_response_v8(out, o.responses)
    out += _pack_i(o.throttle_time_ms)
    return [out]


def _read_batch_index_and_error_message_v9(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[BatchIndexAndErrorMessage], int]:
    if count * 6 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 152
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[BatchIndexAndErrorMessage] = []
    for _ in range(count):
        o = new(BatchIndexAndErrorMessage)
        (o.batch_index,) = _unpack_i(buf, pos)
        pos += 4
        n = buf[pos]
        pos += 1
        if n > 127:
            n, pos = read_long_string_length(buf, pos)
        n -= 1
        if n < 0:
            o.batch_index_error_message = None
        else:
            q = pos + n
            if q > end:
                raise overrun(pos, n)
            o.batch_index_error_message = str(buf[pos:q], "utf-8")
            pos = q
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tags(buf, pos, end)
        items.append(o)
    return items, pos


def _read_partition_produce_response_v9(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[PartitionProduceResponse], int]:
    if count * 33 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 392
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[PartitionProduceResponse] = []
    for _ in range(count):
        o = new(PartitionProduceResponse)
        o.current_leader = None
        o.index, o.error_code, o.base_offset, o.log_append_time_ms, o.log_start_offset = _unpack_ihqqq(buf, pos)
        pos += 30
        n = buf[pos]
        pos += 1
        if n > 127:
            n, pos = read_long_uvarint(buf, pos)
        n -= 1
        if n < 0:
            raise unexpected_null(pos, "record_errors")
        o.record_errors, pos = _read_batch_index_and_error_message_v9(buf, pos, end, n, budget)
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
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tags(buf, pos, end)
        items.append(o)
    return items, pos


def _read_topic_produce_response_v9(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[TopicProduceResponse], int]:
    if count * 3 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 192
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[TopicProduceResponse] = []
    for _ in range(count):
        o = new(TopicProduceResponse)
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
            raise unexpected_null(pos, "partition_responses")
        o.partition_responses, pos = _read_partition_produce_response_v9(buf, pos, end, n, budget)
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tags(buf, pos, end)
        items.append(o)
    return items, pos


def _decode_produce_response_v9(buf: memoryview, pos: int, end: int, budget: list[int]) -> ProduceResponse:
    o = new(ProduceResponse)
    o.node_endpoints = []
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_long_uvarint(buf, pos)
    n -= 1
    if n < 0:
        raise unexpected_null(pos, "responses")
    o.responses, pos = _read_topic_produce_response_v9(buf, pos, end, n, budget)
    (o.throttle_time_ms,) = _unpack_i(buf, pos)
    pos += 4
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tags(buf, pos, end)
    return o


def _write_batch_index_and_error_message_v9(
    out: bytearray, items: Sequence[BatchIndexAndErrorMessage]
) -> None:
    for o in items:
        out += _pack_i(o.batch_index)
        if o.batch_index_error_message is None:
            out.append(0)
        else:
            s = o.batch_index_error_message.encode()
            n = len(s) + 1
            out += UVARINTS[n] if n < 128 else long_string_length(n)
            out += s
        out.append(0)


def _write_partition_produce_response_v9(
    out: bytearray, items: Sequence[PartitionProduceResponse]
) -> None:
    for o in items:
        out += _pack_ihqqq(o.index, o.error_code, o.base_offset, o.log_append_time_ms, o.log_start_offset)
        n = len(o.record_errors) + 1
        out += UVARINTS[n] if n < 128 else uvarint(n)
        _write_batch_index_and_error_message_v9(out, o.record_errors)
        if o.error_message is None:
            out.append(0)
        else:
            s = o.error_message.encode()
            n = len(s) + 1
            out += UVARINTS[n] if n < 128 else long_string_length(n)
            out += s
        out.append(0)


def _write_topic_produce_response_v9(
    out: bytearray, items: Sequence[TopicProduceResponse]
) -> None:
    for o in items:
        s = o.name.encode()
        n = len(s) + 1
        out += UVARINTS[n] if n < 128 else long_string_length(n)
        out += s
        n = len(o.partition_responses) + 1
        out += UVARINTS[n] if n < 128 else uvarint(n)
        _write_partition_produce_response_v9(out, o.partition_responses)
        out.append(0)


def _encode_produce_response_v9(o: ProduceResponse) -> list[Part]:
    out = bytearray()
    n = len(o.responses) + 1
    out += UVARINTS[n] if n < 128 else uvarint(n)
    _write_topic_produce_response_v9(out, o.responses)
    out += _pack_i(o.throttle_time_ms)
    out.append(0)
    return [out]


def _read_leader_id_and_epoch_v10(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[LeaderIdAndEpoch], int]:
    if count * 9 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 128
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[LeaderIdAndEpoch] = []
    for _ in range(count):
        o = new(LeaderIdAndEpoch)
        o.leader_id, o.leader_epoch = _unpack_ii(buf, pos)
        pos += 8
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tags(buf, pos, end)
        items.append(o)
    return items, pos


def _read_partition_produce_response_v10(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[PartitionProduceResponse], int]:
    if count * 33 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 392
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[PartitionProduceResponse] = []
    for _ in range(count):
        o = new(PartitionProduceResponse)
        o.index, o.error_code, o.base_offset, o.log_append_time_ms, o.log_start_offset = _unpack_ihqqq(buf, pos)
        pos += 30
        n = buf[pos]
        pos += 1
        if n > 127:
            n, pos = read_long_uvarint(buf, pos)
        n -= 1
        if n < 0:
            raise unexpected_null(pos, "record_errors")
        o.record_errors, pos = _read_batch_index_and_error_message_v9(buf, pos, end, n, budget)
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
        o.current_leader = None
        if buf[pos] == 0:
            pos += 1
        else:
            tags, pos = read_tag_count(buf, pos, end)
            for _ in range(tags):
                tag, pos, stop = read_tag(buf, pos, end)
                if tag == 0:
                    (o.current_leader,), pos = _read_leader_id_and_epoch_v10(buf, pos, stop, 1, budget)
                    if pos != stop:
                        raise bad_tag(stop, "current_leader")
                else:
                    pos = stop
        items.append(o)
    return items, pos


def _read_topic_produce_response_v10(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[TopicProduceResponse], int]:
    if count * 3 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 192
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[TopicProduceResponse] = []
    for _ in range(count):
        o = new(TopicProduceResponse)
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
            raise unexpected_null(pos, "partition_responses")
        o.partition_responses, pos = _read_partition_produce_response_v10(buf, pos, end, n, budget)
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tags(buf, pos, end)
        items.append(o)
    return items, pos


def _read_node_endpoint_v10(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[NodeEndpoint], int]:
    if count * 11 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 256
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[NodeEndpoint] = []
    for _ in range(count):
        o = new(NodeEndpoint)
        (o.node_id,) = _unpack_i(buf, pos)
        pos += 4
        n = buf[pos]
        pos += 1
        if n > 127:
            n, pos = read_long_string_length(buf, pos)
        n -= 1
        if n < 0:
            raise unexpected_null(pos, "host")
        q = pos + n
        if q > end:
            raise overrun(pos, n)
        o.host = str(buf[pos:q], "utf-8")
        pos = q
        (o.port,) = _unpack_i(buf, pos)
        pos += 4
        n = buf[pos]
        pos += 1
        if n > 127:
            n, pos = read_long_string_length(buf, pos)
        n -= 1
        if n < 0:
            o.rack = None
        else:
            q = pos + n
            if q > end:
                raise overrun(pos, n)
            o.rack = str(buf[pos:q], "utf-8")
            pos = q
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tags(buf, pos, end)
        items.append(o)
    return items, pos


def _decode_produce_response_v10(buf: memoryview, pos: int, end: int, budget: list[int]) -> ProduceResponse:
    o = new(ProduceResponse)
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_long_uvarint(buf, pos)
    n -= 1
    if n < 0:
        raise unexpected_null(pos, "responses")
    o.responses, pos = _read_topic_produce_response_v10(buf, pos, end, n, budget)
    (o.throttle_time_ms,) = _unpack_i(buf, pos)
    pos += 4
    o.node_endpoints = []
    if buf[pos] == 0:
        pos += 1
    else:
        tags, pos = read_tag_count(buf, pos, end)
        for _ in range(tags):
            tag, pos, stop = read_tag(buf, pos, end)
            if tag == 0:
                n = buf[pos]
                pos += 1
                if n > 127:
                    n, pos = read_long_uvarint(buf, pos)
                n -= 1
                if n < 0:
                    raise unexpected_null(pos, "node_endpoints")
                o.node_endpoints, pos = _read_node_endpoint_v10(buf, pos, stop, n, budget)
                if pos != stop:
                    raise bad_tag(stop, "node_endpoints")
            else:
                pos = stop
    return o


def _write_leader_id_and_epoch_v10(
    out: bytearray, items: Sequence[LeaderIdAndEpoch]
) -> None:
    for o in items:
        out += _pack_ii(o.leader_id, o.leader_epoch)
        out.append(0)


def _write_partition_produce_response_v10(
    out: bytearray, items: Sequence[PartitionProduceResponse]
) -> None:
    for o in items:
        out += _pack_ihqqq(o.index, o.error_code, o.base_offset, o.log_append_time_ms, o.log_start_offset)
        n = len(o.record_errors) + 1
        out += UVARINTS[n] if n < 128 else uvarint(n)
        _write_batch_index_and_error_message_v9(out, o.record_errors)
        if o.error_message is None:
            out.append(0)
        else:
            s = o.error_message.encode()
            n = len(s) + 1
            out += UVARINTS[n] if n < 128 else long_string_length(n)
            out += s
        if o.current_leader is not None and o.current_leader != LeaderIdAndEpoch():
            t = bytearray()
            _write_leader_id_and_epoch_v10(t, (o.current_leader,))
            write_tags(out, [(0, t)])
        else:
            out.append(0)


def _write_topic_produce_response_v10(
    out: bytearray, items: Sequence[TopicProduceResponse]
) -> None:
    for o in items:
        s = o.name.encode()
        n = len(s) + 1
        out += UVARINTS[n] if n < 128 else long_string_length(n)
        out += s
        n = len(o.partition_responses) + 1
        out += UVARINTS[n] if n < 128 else uvarint(n)
        _write_partition_produce_response_v10(out, o.partition_responses)
        out.append(0)


def _write_node_endpoint_v10(
    out: bytearray, items: Sequence[NodeEndpoint]
) -> None:
    for o in items:
        out += _pack_i(o.node_id)
        s = o.host.encode()
        n = len(s) + 1
        out += UVARINTS[n] if n < 128 else long_string_length(n)
        out += s
        out += _pack_i(o.port)
        if o.rack is None:
            out.append(0)
        else:
            s = o.rack.encode()
            n = len(s) + 1
            out += UVARINTS[n] if n < 128 else long_string_length(n)
            out += s
        out.append(0)


def _encode_produce_response_v10(o: ProduceResponse) -> list[Part]:
    out = bytearray()
    n = len(o.responses) + 1
    out += UVARINTS[n] if n < 128 else uvarint(n)
    _write_topic_produce_response_v10(out, o.responses)
    out += _pack_i(o.throttle_time_ms)
    if o.node_endpoints:
        t = bytearray()
        n = len(o.node_endpoints) + 1
        t += UVARINTS[n] if n < 128 else uvarint(n)
        _write_node_endpoint_v10(t, o.node_endpoints)
        write_tags(out, [(0, t)])
    else:
        out.append(0)
    return [out]


def _read_topic_produce_response_v13(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[TopicProduceResponse], int]:
    if count * 18 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 192
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[TopicProduceResponse] = []
    for _ in range(count):
        o = new(TopicProduceResponse)
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
            raise unexpected_null(pos, "partition_responses")
        o.partition_responses, pos = _read_partition_produce_response_v10(buf, pos, end, n, budget)
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tags(buf, pos, end)
        items.append(o)
    return items, pos


def _decode_produce_response_v13(buf: memoryview, pos: int, end: int, budget: list[int]) -> ProduceResponse:
    o = new(ProduceResponse)
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_long_uvarint(buf, pos)
    n -= 1
    if n < 0:
        raise unexpected_null(pos, "responses")
    o.responses, pos = _read_topic_produce_response_v13(buf, pos, end, n, budget)
    (o.throttle_time_ms,) = _unpack_i(buf, pos)
    pos += 4
    o.node_endpoints = []
    if buf[pos] == 0:
        pos += 1
    else:
        tags, pos = read_tag_count(buf, pos, end)
        for _ in range(tags):
            tag, pos, stop = read_tag(buf, pos, end)
            if tag == 0:
                n = buf[pos]
                pos += 1
                if n > 127:
                    n, pos = read_long_uvarint(buf, pos)
                n -= 1
                if n < 0:
                    raise unexpected_null(pos, "node_endpoints")
                o.node_endpoints, pos = _read_node_endpoint_v10(buf, pos, stop, n, budget)
                if pos != stop:
                    raise bad_tag(stop, "node_endpoints")
            else:
                pos = stop
    return o


def _write_topic_produce_response_v13(
    out: bytearray, items: Sequence[TopicProduceResponse]
) -> None:
    for o in items:
        if len(o.topic_id) != 16:
            raise LocalError("a uuid has 16 bytes")
        out += _pack_u(o.topic_id)
        n = len(o.partition_responses) + 1
        out += UVARINTS[n] if n < 128 else uvarint(n)
        _write_partition_produce_response_v10(out, o.partition_responses)
        out.append(0)


def _encode_produce_response_v13(o: ProduceResponse) -> list[Part]:
    out = bytearray()
    n = len(o.responses) + 1
    out += UVARINTS[n] if n < 128 else uvarint(n)
    _write_topic_produce_response_v13(out, o.responses)
    out += _pack_i(o.throttle_time_ms)
    if o.node_endpoints:
        t = bytearray()
        n = len(o.node_endpoints) + 1
        t += UVARINTS[n] if n < 128 else uvarint(n)
        _write_node_endpoint_v10(t, o.node_endpoints)
        write_tags(out, [(0, t)])
    else:
        out.append(0)
    return [out]


ProduceRequest.DECODERS = {
    3: _decode_produce_request_v3,
    4: _decode_produce_request_v3,
    5: _decode_produce_request_v3,
    6: _decode_produce_request_v3,
    7: _decode_produce_request_v3,
    8: _decode_produce_request_v3,
    9: _decode_produce_request_v9,
    10: _decode_produce_request_v9,
    11: _decode_produce_request_v9,
    12: _decode_produce_request_v9,
    13: _decode_produce_request_v13,
}
ProduceRequest.ENCODERS = {
    3: _encode_produce_request_v3,
    4: _encode_produce_request_v3,
    5: _encode_produce_request_v3,
    6: _encode_produce_request_v3,
    7: _encode_produce_request_v3,
    8: _encode_produce_request_v3,
    9: _encode_produce_request_v9,
    10: _encode_produce_request_v9,
    11: _encode_produce_request_v9,
    12: _encode_produce_request_v9,
    13: _encode_produce_request_v13,
}
ProduceResponse.DECODERS = {
    3: _decode_produce_response_v3,
    4: _decode_produce_response_v3,
    5: _decode_produce_response_v5,
    6: _decode_produce_response_v5,
    7: _decode_produce_response_v5,
    8: _decode_produce_response_v8,
    9: _decode_produce_response_v9,
    10: _decode_produce_response_v10,
    11: _decode_produce_response_v10,
    12: _decode_produce_response_v10,
    13: _decode_produce_response_v13,
}
ProduceResponse.ENCODERS = {
    3: _encode_produce_response_v3,
    4: _encode_produce_response_v3,
    5: _encode_produce_response_v5,
    6: _encode_produce_response_v5,
    7: _encode_produce_response_v5,
    8: _encode_produce_response_v8,
    9: _encode_produce_response_v9,
    10: _encode_produce_response_v10,
    11: _encode_produce_response_v10,
    12: _encode_produce_response_v10,
    13: _encode_produce_response_v13,
}
