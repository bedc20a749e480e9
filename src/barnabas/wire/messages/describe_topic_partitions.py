"""Topics page by page, for clusters whose Metadata answer would be too large (KIP-966).

Generated from schemas/describe_topic_partitions.msg by codegen; edit that and run it again.
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

_pack_ut = Struct(">16s?").pack
_pack_h = Struct(">h").pack
_pack_hiii = Struct(">hiii").pack
_pack_i = Struct(">i").pack
_unpack_ut = Struct(">16s?").unpack_from
_unpack_h = Struct(">h").unpack_from
_unpack_hiii = Struct(">hiii").unpack_from
_unpack_i = Struct(">i").unpack_from


class Cursor(WireStruct):
    __slots__ = (
        "topic_name",
        "partition_index",
    )
    FIELDS: ClassVar[FieldSpecs] = (
        ("topic_name", "string", 0, 0, False),
        ("partition_index", "int32", 0, 0, False),
    )

    def __init__(
        self,
        topic_name: str = "",
        partition_index: int = 0,
    ) -> None:
        self.topic_name = topic_name
        self.partition_index = partition_index


class TopicRequest(WireStruct):
    __slots__ = (
        "name",
    )
    FIELDS: ClassVar[FieldSpecs] = (
        ("name", "string", 0, 0, False),
    )

    def __init__(
        self,
        name: str = "",
    ) -> None:
        self.name = name


class DescribeTopicPartitionsResponsePartition(WireStruct):
    __slots__ = (
        "error_code",
        "partition_index",
        "leader_id",
        "leader_epoch",
        "replica_nodes",
        "isr_nodes",
        "eligible_leader_replicas",
        "last_known_elr",
        "offline_replicas",
    )
    FIELDS: ClassVar[FieldSpecs] = (
        ("error_code", "int16", 0, 0, False),
        ("partition_index", "int32", 0, 0, False),
        ("leader_id", "int32", 0, 0, False),
        ("leader_epoch", "int32", 0, 0, False),
        ("replica_nodes", "[int32]", 0, 0, False),
        ("isr_nodes", "[int32]", 0, 0, False),
        ("eligible_leader_replicas", "[int32]", 0, 0, True),
        ("last_known_elr", "[int32]", 0, 0, True),
        ("offline_replicas", "[int32]", 0, 0, False),
    )

    def __init__(
        self,
        error_code: int = 0,
        partition_index: int = 0,
        leader_id: int = 0,
        leader_epoch: int = -1,
        replica_nodes: list[int] = EMPTY,
        isr_nodes: list[int] = EMPTY,
        eligible_leader_replicas: list[int] | None = None,
        last_known_elr: list[int] | None = None,
        offline_replicas: list[int] = EMPTY,
    ) -> None:
        self.error_code = error_code
        self.partition_index = partition_index
        self.leader_id = leader_id
        self.leader_epoch = leader_epoch
        self.replica_nodes = [] if replica_nodes is EMPTY else replica_nodes
        self.isr_nodes = [] if isr_nodes is EMPTY else isr_nodes
        self.eligible_leader_replicas = eligible_leader_replicas  # KIP-966
        self.last_known_elr = last_known_elr  # KIP-966
        self.offline_replicas = [] if offline_replicas is EMPTY else offline_replicas


class DescribeTopicPartitionsResponseTopic(WireStruct):
    __slots__ = (
        "error_code",
        "name",
        "topic_id",
        "is_internal",
        "partitions",
        "topic_authorized_operations",
    )
    FIELDS: ClassVar[FieldSpecs] = (
        ("error_code", "int16", 0, 0, False),
        ("name", "string", 0, 0, True),
        ("topic_id", "uuid", 0, 0, False),
        ("is_internal", "bool", 0, 0, False),
        ("partitions", "[DescribeTopicPartitionsResponsePartition]", 0, 0, False),
        ("topic_authorized_operations", "int32", 0, 0, False),
    )

    def __init__(
        self,
        error_code: int = 0,
        name: str | None = "",
        topic_id: Uuid = ZERO_UUID,
        is_internal: bool = False,
        partitions: list[DescribeTopicPartitionsResponsePartition] = EMPTY,
        topic_authorized_operations: int = -2147483648,
    ) -> None:
        self.error_code = error_code
        self.name = name
        self.topic_id = topic_id
        self.is_internal = is_internal
        self.partitions = [] if partitions is EMPTY else partitions
        self.topic_authorized_operations = topic_authorized_operations  # bit set; the minimum when not asked for


class DescribeTopicPartitionsRequest(Request["DescribeTopicPartitionsResponse"]):
    __slots__ = (
        "topics",
        "response_partition_limit",
        "cursor",
    )
    API_KEY: ClassVar[int] = 75
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int] = 0
    FIELDS: ClassVar[FieldSpecs] = (
        ("topics", "[TopicRequest]", 0, 0, False),
        ("response_partition_limit", "int32", 0, 0, False),
        ("cursor", "Cursor", 0, 0, True),
    )

    def __init__(
        self,
        topics: list[TopicRequest] = EMPTY,
        response_partition_limit: int = 2000,
        cursor: Cursor | None = None,
    ) -> None:
        self.topics = [] if topics is EMPTY else topics
        self.response_partition_limit = response_partition_limit
        self.cursor = cursor  # where to begin; null for the first page


class DescribeTopicPartitionsResponse(Message):
    __slots__ = (
        "throttle_time_ms",
        "topics",
        "next_cursor",
    )
    API_KEY: ClassVar[int] = 75
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int] = 0
    FIELDS: ClassVar[FieldSpecs] = (
        ("throttle_time_ms", "int32", 0, 0, False),
        ("topics", "[DescribeTopicPartitionsResponseTopic]", 0, 0, False),
        ("next_cursor", "Cursor", 0, 0, True),
    )

    def __init__(
        self,
        throttle_time_ms: int = 0,
        topics: list[DescribeTopicPartitionsResponseTopic] = EMPTY,
        next_cursor: Cursor | None = None,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.topics = [] if topics is EMPTY else topics
        self.next_cursor = next_cursor  # null on the last page


def _read_topic_request_v0(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[TopicRequest], int]:
    if count * 2 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 112
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
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tags(buf, pos, end)
        items.append(o)
    return items, pos


def _read_cursor_v0(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[Cursor], int]:
    if count * 6 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 152
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[Cursor] = []
    for _ in range(count):
        o = new(Cursor)
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
        (o.partition_index,) = _unpack_i(buf, pos)
        pos += 4
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tags(buf, pos, end)
        items.append(o)
    return items, pos


def _decode_describe_topic_partitions_request_v0(buf: memoryview, pos: int, end: int, budget: list[int]) -> DescribeTopicPartitionsRequest:
    o = new(DescribeTopicPartitionsRequest)
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_long_uvarint(buf, pos)
    n -= 1
    if n < 0:
        raise unexpected_null(pos, "topics")
    o.topics, pos = _read_topic_request_v0(buf, pos, end, n, budget)
    (o.response_partition_limit,) = _unpack_i(buf, pos)
    pos += 4
    n = buf[pos]
    pos += 1
    if n > 127:
        o.cursor = None
    else:
        (o.cursor,), pos = _read_cursor_v0(buf, pos, end, 1, budget)
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
        out.append(0)


def _write_cursor_v0(
    out: bytearray, items: Sequence[Cursor]
) -> None:
    for o in items:
        s = o.topic_name.encode()
        n = len(s) + 1
        out += UVARINTS[n] if n < 128 else long_string_length(n)
        out += s
        out += _pack_i(o.partition_index)
        out.append(0)


def _encode_describe_topic_partitions_request_v0(o: DescribeTopicPartitionsRequest) -> list[Part]:
    out = bytearray()
    n = len(o.topics) + 1
    out += UVARINTS[n] if n < 128 else uvarint(n)
    _write_topic_request_v0(out, o.topics)
    out += _pack_i(o.response_partition_limit)
    if o.cursor is None:
        out.append(255)
    else:
        out.append(1)
        _write_cursor_v0(out, (o.cursor,))
    out.append(0)
    return [out]


def _read_describe_topic_partitions_response_partition_v0(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[DescribeTopicPartitionsResponsePartition], int]:
    if count * 20 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 568
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[DescribeTopicPartitionsResponsePartition] = []
    for _ in range(count):
        o = new(DescribeTopicPartitionsResponsePartition)
        o.error_code, o.partition_index, o.leader_id, o.leader_epoch = _unpack_hiii(buf, pos)
        pos += 14
        n = buf[pos]
        pos += 1
        if n > 127:
            n, pos = read_long_uvarint(buf, pos)
        n -= 1
        if n < 0:
            raise unexpected_null(pos, "replica_nodes")
        o.replica_nodes, pos = read_int32s(buf, pos, end, n, budget)
        n = buf[pos]
        pos += 1
        if n > 127:
            n, pos = read_long_uvarint(buf, pos)
        n -= 1
        if n < 0:
            raise unexpected_null(pos, "isr_nodes")
        o.isr_nodes, pos = read_int32s(buf, pos, end, n, budget)
        n = buf[pos]
        pos += 1
        if n > 127:
            n, pos = read_long_uvarint(buf, pos)
        n -= 1
        if n < 0:
            o.eligible_leader_replicas = None
        else:
            o.eligible_leader_replicas, pos = read_int32s(buf, pos, end, n, budget)
        n = buf[pos]
        pos += 1
        if n > 127:
            n, pos = read_long_uvarint(buf, pos)
        n -= 1
        if n < 0:
            o.last_known_elr = None
        else:
            o.last_known_elr, pos = read_int32s(buf, pos, end, n, budget)
        n = buf[pos]
        pos += 1
        if n > 127:
            n, pos = read_long_uvarint(buf, pos)
        n -= 1
        if n < 0:
            raise unexpected_null(pos, "offline_replicas")
        o.offline_replicas, pos = read_int32s(buf, pos, end, n, budget)
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tags(buf, pos, end)
        items.append(o)
    return items, pos


def _read_describe_topic_partitions_response_topic_v0(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[DescribeTopicPartitionsResponseTopic], int]:
    if count * 26 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 336
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[DescribeTopicPartitionsResponseTopic] = []
    for _ in range(count):
        o = new(DescribeTopicPartitionsResponseTopic)
        (o.error_code,) = _unpack_h(buf, pos)
        pos += 2
        n = buf[pos]
        pos += 1
        if n > 127:
            n, pos = read_long_string_length(buf, pos)
        n -= 1
        if n < 0:
            o.name = None
        else:
            q = pos + n
            if q > end:
                raise overrun(pos, n)
            o.name = str(buf[pos:q], "utf-8")
            pos = q
        raw_topic_id, o.is_internal = _unpack_ut(buf, pos)
        pos += 17
        o.topic_id = Uuid(raw_topic_id)
        n = buf[pos]
        pos += 1
        if n > 127:
            n, pos = read_long_uvarint(buf, pos)
        n -= 1
        if n < 0:
            raise unexpected_null(pos, "partitions")
        o.partitions, pos = _read_describe_topic_partitions_response_partition_v0(buf, pos, end, n, budget)
        (o.topic_authorized_operations,) = _unpack_i(buf, pos)
        pos += 4
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tags(buf, pos, end)
        items.append(o)
    return items, pos


def _decode_describe_topic_partitions_response_v0(buf: memoryview, pos: int, end: int, budget: list[int]) -> DescribeTopicPartitionsResponse:
    o = new(DescribeTopicPartitionsResponse)
    (o.throttle_time_ms,) = _unpack_i(buf, pos)
    pos += 4
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_long_uvarint(buf, pos)
    n -= 1
    if n < 0:
        raise unexpected_null(pos, "topics")
    o.topics, pos = _read_describe_topic_partitions_response_topic_v0(buf, pos, end, n, budget)
    n = buf[pos]
    pos += 1
    if n > 127:
        o.next_cursor = None
    else:
        (o.next_cursor,), pos = _read_cursor_v0(buf, pos, end, 1, budget)
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tags(buf, pos, end)
    return o


def _write_describe_topic_partitions_response_partition_v0(
    out: bytearray, items: Sequence[DescribeTopicPartitionsResponsePartition]
) -> None:
    for o in items:
        out += _pack_hiii(o.error_code, o.partition_index, o.leader_id, o.leader_epoch)
        n = len(o.replica_nodes) + 1
        out += UVARINTS[n] if n < 128 else uvarint(n)
        out += int32_elements(o.replica_nodes)
        n = len(o.isr_nodes) + 1
        out += UVARINTS[n] if n < 128 else uvarint(n)
        out += int32_elements(o.isr_nodes)
        if o.eligible_leader_replicas is None:
            out.append(0)
        else:
            n = len(o.eligible_leader_replicas) + 1
            out += UVARINTS[n] if n < 128 else uvarint(n)
            out += int32_elements(o.eligible_leader_replicas)
        if o.last_known_elr is None:
            out.append(0)
        else:
            n = len(o.last_known_elr) + 1
            out += UVARINTS[n] if n < 128 else uvarint(n)
            out += int32_elements(o.last_known_elr)
        n = len(o.offline_replicas) + 1
        out += UVARINTS[n] if n < 128 else uvarint(n)
        out += int32_elements(o.offline_replicas)
        out.append(0)


def _write_describe_topic_partitions_response_topic_v0(
    out: bytearray, items: Sequence[DescribeTopicPartitionsResponseTopic]
) -> None:
    for o in items:
        out += _pack_h(o.error_code)
        if o.name is None:
            out.append(0)
        else:
            s = o.name.encode()
            n = len(s) + 1
            out += UVARINTS[n] if n < 128 else long_string_length(n)
            out += s
        if len(o.topic_id) != 16:
            raise LocalError("a uuid has 16 bytes")
        out += _pack_ut(o.topic_id, o.is_internal)
        n = len(o.partitions) + 1
        out += UVARINTS[n] if n < 128 else uvarint(n)
        _write_describe_topic_partitions_response_partition_v0(out, o.partitions)
        out += _pack_i(o.topic_authorized_operations)
        out.append(0)


def _encode_describe_topic_partitions_response_v0(o: DescribeTopicPartitionsResponse) -> list[Part]:
    out = bytearray()
    out += _pack_i(o.throttle_time_ms)
    n = len(o.topics) + 1
    out += UVARINTS[n] if n < 128 else uvarint(n)
    _write_describe_topic_partitions_response_topic_v0(out, o.topics)
    if o.next_cursor is None:
        out.append(255)
    else:
        out.append(1)
        _write_cursor_v0(out, (o.next_cursor,))
    out.append(0)
    return [out]


DescribeTopicPartitionsRequest.DECODERS = {
    0: _decode_describe_topic_partitions_request_v0,
}
DescribeTopicPartitionsRequest.ENCODERS = {
    0: _encode_describe_topic_partitions_request_v0,
}
DescribeTopicPartitionsResponse.DECODERS = {
    0: _decode_describe_topic_partitions_response_v0,
}
DescribeTopicPartitionsResponse.ENCODERS = {
    0: _encode_describe_topic_partitions_response_v0,
}
