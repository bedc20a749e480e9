"""Reassignments in progress.

Generated from schemas/list_partition_reassignments.msg by codegen; edit that and run it again.
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
_unpack_i = Struct(">i").unpack_from
_unpack_ih = Struct(">ih").unpack_from


class ListPartitionReassignmentsTopics(WireStruct):
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


class OngoingPartitionReassignment(WireStruct):
    __slots__ = (
        "partition_index",
        "replicas",
        "adding_replicas",
        "removing_replicas",
    )
    FIELDS: ClassVar[FieldSpecs] = (
        ("partition_index", "int32", 0, 0, False),
        ("replicas", "[int32]", 0, 0, False),
        ("adding_replicas", "[int32]", 0, 0, False),
        ("removing_replicas", "[int32]", 0, 0, False),
    )

    def __init__(
        self,
        partition_index: int = 0,
        replicas: list[int] = EMPTY,
        adding_replicas: list[int] = EMPTY,
        removing_replicas: list[int] = EMPTY,
    ) -> None:
        self.partition_index = partition_index
        self.replicas = [] if replicas is EMPTY else replicas
        self.adding_replicas = [] if adding_replicas is EMPTY else adding_replicas
        self.removing_replicas = [] if removing_replicas is EMPTY else removing_replicas


class OngoingTopicReassignment(WireStruct):
    __slots__ = (
        "name",
        "partitions",
    )
    FIELDS: ClassVar[FieldSpecs] = (
        ("name", "string", 0, 0, False),
        ("partitions", "[OngoingPartitionReassignment]", 0, 0, False),
    )

    def __init__(
        self,
        name: str = "",
        partitions: list[OngoingPartitionReassignment] = EMPTY,
    ) -> None:
        self.name = name
        self.partitions = [] if partitions is EMPTY else partitions


class ListPartitionReassignmentsRequest(Request["ListPartitionReassignmentsResponse"]):
    __slots__ = (
        "timeout_ms",
        "topics",
    )
    API_KEY: ClassVar[int] = 46
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int] = 0
    FIELDS: ClassVar[FieldSpecs] = (
        ("timeout_ms", "int32", 0, 0, False),
        ("topics", "[ListPartitionReassignmentsTopics]", 0, 0, True),
    )

    def __init__(
        self,
        timeout_ms: int = 60000,
        topics: list[ListPartitionReassignmentsTopics] | None = None,
    ) -> None:
        self.timeout_ms = timeout_ms
        self.topics = topics  # null for all


class ListPartitionReassignmentsResponse(Message):
    __slots__ = (
        "throttle_time_ms",
        "error_code",
        "error_message",
        "topics",
    )
    API_KEY: ClassVar[int] = 46
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int] = 0
    FIELDS: ClassVar[FieldSpecs] = (
        ("throttle_time_ms", "int32", 0, 0, False),
        ("error_code", "int16", 0, 0, False),
        ("error_message", "string", 0, 0, True),
        ("topics", "[OngoingTopicReassignment]", 0, 0, False),
    )

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        error_message: str | None = "",
        topics: list[OngoingTopicReassignment] = EMPTY,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.error_message = error_message
        self.topics = [] if topics is EMPTY else topics  # null for all


def _read_list_partition_reassignments_topics_v0(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[ListPartitionReassignmentsTopics], int]:
    if count * 3 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 184
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[ListPartitionReassignmentsTopics] = []
    for _ in range(count):
        o = new(ListPartitionReassignmentsTopics)
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


def _decode_list_partition_reassignments_request_v0(buf: memoryview, pos: int, end: int, budget: list[int]) -> ListPartitionReassignmentsRequest:
    o = new(ListPartitionReassignmentsRequest)
    (o.timeout_ms,) = _unpack_i(buf, pos)
    pos += 4
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_long_uvarint(buf, pos)
    n -= 1
    if n < 0:
        o.topics = None
    else:
        o.topics, pos = _read_list_partition_reassignments_topics_v0(buf, pos, end, n, budget)
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tags(buf, pos, end)
    return o


def _write_list_partition_reassignments_topics_v0(
    out: bytearray, items: Sequence[ListPartitionReassignmentsTopics]
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


def _encode_list_partition_reassignments_request_v0(o: ListPartitionReassignmentsRequest) -> list[Part]:
    out = bytearray()
    out += _pack_i(o.timeout_ms)
    if o.topics is None:
        out.append(0)
    else:
        n = len(o.topics) + 1
        out += UVARINTS[n] if n < 128 else uvarint(n)
        _write_list_partition_reassignments_topics_v0(out, o.topics)
    out.append(0)
    return [out]


def _read_ongoing_partition_reassignment_v0(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[OngoingPartitionReassignment], int]:
    if count * 8 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 304
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[OngoingPartitionReassignment] = []
    for _ in range(count):
        o = new(OngoingPartitionReassignment)
        (o.partition_index,) = _unpack_i(buf, pos)
        pos += 4
        n = buf[pos]
        pos += 1
        if n > 127:
            n, pos = read_long_uvarint(buf, pos)
        n -= 1
        if n < 0:
            raise unexpected_null(pos, "replicas")
        o.replicas, pos = read_int32s(buf, pos, end, n, budget)
        n = buf[pos]
        pos += 1
        if n > 127:
            n, pos = read_long_uvarint(buf, pos)
        n -= 1
        if n < 0:
            raise unexpected_null(pos, "adding_replicas")
        o.adding_replicas, pos = read_int32s(buf, pos, end, n, budget)
        n = buf[pos]
        pos += 1
        if n > 127:
            n, pos = read_long_uvarint(buf, pos)
        n -= 1
        if n < 0:
            raise unexpected_null(pos, "removing_replicas")
        o.removing_replicas, pos = read_int32s(buf, pos, end, n, budget)
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tags(buf, pos, end)
        items.append(o)
    return items, pos


def _read_ongoing_topic_reassignment_v0(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[OngoingTopicReassignment], int]:
    if count * 3 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 184
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[OngoingTopicReassignment] = []
    for _ in range(count):
        o = new(OngoingTopicReassignment)
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
        o.partitions, pos = _read_ongoing_partition_reassignment_v0(buf, pos, end, n, budget)
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tags(buf, pos, end)
        items.append(o)
    return items, pos


def _decode_list_partition_reassignments_response_v0(buf: memoryview, pos: int, end: int, budget: list[int]) -> ListPartitionReassignmentsResponse:
    o = new(ListPartitionReassignmentsResponse)
    o.throttle_time_ms, o.error_code = _unpack_ih(buf, pos)
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
        raise unexpected_null(pos, "topics")
    o.topics, pos = _read_ongoing_topic_reassignment_v0(buf, pos, end, n, budget)
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tags(buf, pos, end)
    return o


def _write_ongoing_partition_reassignment_v0(
    out: bytearray, items: Sequence[OngoingPartitionReassignment]
) -> None:
    for o in items:
        out += _pack_i(o.partition_index)
        n = len(o.replicas) + 1
        out += UVARINTS[n] if n < 128 else uvarint(n)
        out += int32_elements(o.replicas)
        n = len(o.adding_replicas) + 1
        out += UVARINTS[n] if n < 128 else uvarint(n)
        out += int32_elements(o.adding_replicas)
        n = len(o.removing_replicas) + 1
        out += UVARINTS[n] if n < 128 else uvarint(n)
        out += int32_elements(o.removing_replicas)
        out.append(0)


def _write_ongoing_topic_reassignment_v0(
    out: bytearray, items: Sequence[OngoingTopicReassignment]
) -> None:
    for o in items:
        s = o.name.encode()
        n = len(s) + 1
        out += UVARINTS[n] if n < 128 else long_string_length(n)
        out += s
        n = len(o.partitions) + 1
        out += UVARINTS[n] if n < 128 else uvarint(n)
        _write_ongoing_partition_reassignment_v0(out, o.partitions)
        out.append(0)


def _encode_list_partition_reassignments_response_v0(o: ListPartitionReassignmentsResponse) -> list[Part]:
    out = bytearray()
    out += _pack_ih(o.throttle_time_ms, o.error_code)
    if o.error_message is None:
        out.append(0)
    else:
        s = o.error_message.encode()
        n = len(s) + 1
        out += UVARINTS[n] if n < 128 else long_string_length(n)
        out += s
    n = len(o.topics) + 1
    out += UVARINTS[n] if n < 128 else uvarint(n)
    _write_ongoing_topic_reassignment_v0(out, o.topics)
    out.append(0)
    return [out]


ListPartitionReassignmentsRequest.DECODERS = {
    0: _decode_list_partition_reassignments_request_v0,
}
ListPartitionReassignmentsRequest.ENCODERS = {
    0: _encode_list_partition_reassignments_request_v0,
}
ListPartitionReassignmentsResponse.DECODERS = {
    0: _decode_list_partition_reassignments_response_v0,
}
ListPartitionReassignmentsResponse.ENCODERS = {
    0: _encode_list_partition_reassignments_response_v0,
}
