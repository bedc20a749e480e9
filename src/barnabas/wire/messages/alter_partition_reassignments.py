"""Starts or cancels moving partitions to other brokers (KIP-455).

Generated from schemas/alter_partition_reassignments.msg by codegen; edit that and run it again.
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
_pack_it = Struct(">i?").pack
_pack_ith = Struct(">i?h").pack
_pack_ih = Struct(">ih").pack
_unpack_i = Struct(">i").unpack_from
_unpack_it = Struct(">i?").unpack_from
_unpack_ith = Struct(">i?h").unpack_from
_unpack_ih = Struct(">ih").unpack_from


class ReassignablePartition(WireStruct):
    __slots__ = (
        "partition_index",
        "replicas",
    )
    FIELDS: ClassVar[FieldSpecs] = (
        ("partition_index", "int32", 0, 1, False),
        ("replicas", "[int32]", 0, 1, True),
    )

    def __init__(
        self,
        partition_index: int = 0,
        replicas: list[int] | None = None,
    ) -> None:
        self.partition_index = partition_index
        self.replicas = replicas  # the target, or null to cancel


class ReassignableTopic(WireStruct):
    __slots__ = (
        "name",
        "partitions",
    )
    FIELDS: ClassVar[FieldSpecs] = (
        ("name", "string", 0, 1, False),
        ("partitions", "[ReassignablePartition]", 0, 1, False),
    )

    def __init__(
        self,
        name: str = "",
        partitions: list[ReassignablePartition] = EMPTY,
    ) -> None:
        self.name = name
        self.partitions = [] if partitions is EMPTY else partitions


class ReassignablePartitionResponse(WireStruct):
    __slots__ = (
        "partition_index",
        "error_code",
        "error_message",
    )
    FIELDS: ClassVar[FieldSpecs] = (
        ("partition_index", "int32", 0, 1, False),
        ("error_code", "int16", 0, 1, False),
        ("error_message", "string", 0, 1, True),
    )

    def __init__(
        self,
        partition_index: int = 0,
        error_code: int = 0,
        error_message: str | None = "",
    ) -> None:
        self.partition_index = partition_index
        self.error_code = error_code
        self.error_message = error_message


class ReassignableTopicResponse(WireStruct):
    __slots__ = (
        "name",
        "partitions",
    )
    FIELDS: ClassVar[FieldSpecs] = (
        ("name", "string", 0, 1, False),
        ("partitions", "[ReassignablePartitionResponse]", 0, 1, False),
    )

    def __init__(
        self,
        name: str = "",
        partitions: list[ReassignablePartitionResponse] = EMPTY,
    ) -> None:
        self.name = name
        self.partitions = [] if partitions is EMPTY else partitions


class AlterPartitionReassignmentsRequest(Request["AlterPartitionReassignmentsResponse"]):
    __slots__ = (
        "timeout_ms",
        "allow_replication_factor_change",
        "topics",
    )
    API_KEY: ClassVar[int] = 45
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 1
    FLEXIBLE_FROM: ClassVar[int] = 0
    FIELDS: ClassVar[FieldSpecs] = (
        ("timeout_ms", "int32", 0, 1, False),
        ("allow_replication_factor_change", "bool", 1, 1, False),
        ("topics", "[ReassignableTopic]", 0, 1, False),
    )

    def __init__(
        self,
        timeout_ms: int = 60000,
        allow_replication_factor_change: bool = True,
        topics: list[ReassignableTopic] = EMPTY,
    ) -> None:
        self.timeout_ms = timeout_ms
        self.allow_replication_factor_change = allow_replication_factor_change
        self.topics = [] if topics is EMPTY else topics


class AlterPartitionReassignmentsResponse(Message):
    __slots__ = (
        "throttle_time_ms",
        "allow_replication_factor_change",
        "error_code",
        "error_message",
        "responses",
    )
    API_KEY: ClassVar[int] = 45
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 1
    FLEXIBLE_FROM: ClassVar[int] = 0
    FIELDS: ClassVar[FieldSpecs] = (
        ("throttle_time_ms", "int32", 0, 1, False),
        ("allow_replication_factor_change", "bool", 1, 1, False),
        ("error_code", "int16", 0, 1, False),
        ("error_message", "string", 0, 1, True),
        ("responses", "[ReassignableTopicResponse]", 0, 1, False),
    )

    def __init__(
        self,
        throttle_time_ms: int = 0,
        allow_replication_factor_change: bool = True,
        error_code: int = 0,
        error_message: str | None = "",
        responses: list[ReassignableTopicResponse] = EMPTY,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.allow_replication_factor_change = allow_replication_factor_change
        self.error_code = error_code
        self.error_message = error_message
        self.responses = [] if responses is EMPTY else responses


def _read_reassignable_partition_v0(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[ReassignablePartition], int]:
    if count * 6 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 160
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[ReassignablePartition] = []
    for _ in range(count):
        o = new(ReassignablePartition)
        (o.partition_index,) = _unpack_i(buf, pos)
        pos += 4
        n = buf[pos]
        pos += 1
        if n > 127:
            n, pos = read_long_uvarint(buf, pos)
        n -= 1
        if n < 0:
            o.replicas = None
        else:
            o.replicas, pos = read_int32s(buf, pos, end, n, budget)
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tags(buf, pos, end)
        items.append(o)
    return items, pos


def _read_reassignable_topic_v0(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[ReassignableTopic], int]:
    if count * 3 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 184
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[ReassignableTopic] = []
    for _ in range(count):
        o = new(ReassignableTopic)
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
        o.partitions, pos = _read_reassignable_partition_v0(buf, pos, end, n, budget)
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tags(buf, pos, end)
        items.append(o)
    return items, pos


def _decode_alter_partition_reassignments_request_v0(buf: memoryview, pos: int, end: int, budget: list[int]) -> AlterPartitionReassignmentsRequest:
    o = new(AlterPartitionReassignmentsRequest)
    o.allow_replication_factor_change = True
    (o.timeout_ms,) = _unpack_i(buf, pos)
    pos += 4
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_long_uvarint(buf, pos)
    n -= 1
    if n < 0:
        raise unexpected_null(pos, "topics")
    o.topics, pos = _read_reassignable_topic_v0(buf, pos, end, n, budget)
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tags(buf, pos, end)
    return o


def _write_reassignable_partition_v0(
    out: bytearray, items: Sequence[ReassignablePartition]
) -> None:
    for o in items:
        out += _pack_i(o.partition_index)
        if o.replicas is None:
            out.append(0)
        else:
            n = len(o.replicas) + 1
            out += UVARINTS[n] if n < 128 else uvarint(n)
            out += int32_elements(o.replicas)
        out.append(0)


def _write_reassignable_topic_v0(
    out: bytearray, items: Sequence[ReassignableTopic]
) -> None:
    for o in items:
        s = o.name.encode()
        n = len(s) + 1
        out += UVARINTS[n] if n < 128 else long_string_length(n)
        out += s
        n = len(o.partitions) + 1
        out += UVARINTS[n] if n < 128 else uvarint(n)
        _write_reassignable_partition_v0(out, o.partitions)
        out.append(0)


def _encode_alter_partition_reassignments_request_v0(o: AlterPartitionReassignmentsRequest) -> list[Part]:
    out = bytearray()
    out += _pack_i(o.timeout_ms)
    n = len(o.topics) + 1
    out += UVARINTS[n] if n < 128 else uvarint(n)
    _write_reassignable_topic_v0(out, o.topics)
    out.append(0)
    return [out]


def _decode_alter_partition_reassignments_request_v1(buf: memoryview, pos: int, end: int, budget: list[int]) -> AlterPartitionReassignmentsRequest:
    o = new(AlterPartitionReassignmentsRequest)
    o.timeout_ms, o.allow_replication_factor_change = _unpack_it(buf, pos)
    pos += 5
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_long_uvarint(buf, pos)
    n -= 1
    if n < 0:
        raise unexpected_null(pos, "topics")
    o.topics, pos = _read_reassignable_topic_v0(buf, pos, end, n, budget)
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tags(buf, pos, end)
    return o


def _encode_alter_partition_reassignments_request_v1(o: AlterPartitionReassignmentsRequest) -> list[Part]:
    out = bytearray()
    out += _pack_it(o.timeout_ms, o.allow_replication_factor_change)
    n = len(o.topics) + 1
    out += UVARINTS[n] if n < 128 else uvarint(n)
    _write_reassignable_topic_v0(out, o.topics)
    out.append(0)
    return [out]


def _read_reassignable_partition_response_v0(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[ReassignablePartitionResponse], int]:
    if count * 8 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 192
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[ReassignablePartitionResponse] = []
    for _ in range(count):
        o = new(ReassignablePartitionResponse)
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
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tags(buf, pos, end)
        items.append(o)
    return items, pos


def _read_reassignable_topic_response_v0(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[ReassignableTopicResponse], int]:
    if count * 3 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 184
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[ReassignableTopicResponse] = []
    for _ in range(count):
        o = new(ReassignableTopicResponse)
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
        o.partitions, pos = _read_reassignable_partition_response_v0(buf, pos, end, n, budget)
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tags(buf, pos, end)
        items.append(o)
    return items, pos


def _decode_alter_partition_reassignments_response_v0(buf: memoryview, pos: int, end: int, budget: list[int]) -> AlterPartitionReassignmentsResponse:
    o = new(AlterPartitionReassignmentsResponse)
    o.allow_replication_factor_change = True
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
        raise unexpected_null(pos, "responses")
    o.responses, pos = _read_reassignable_topic_response_v0(buf, pos, end, n, budget)
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tags(buf, pos, end)
    return o


def _write_reassignable_partition_response_v0(
    out: bytearray, items: Sequence[ReassignablePartitionResponse]
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
        out.append(0)


def _write_reassignable_topic_response_v0(
    out: bytearray, items: Sequence[ReassignableTopicResponse]
) -> None:
    for o in items:
        s = o.name.encode()
        n = len(s) + 1
        out += UVARINTS[n] if n < 128 else long_string_length(n)
        out += s
        n = len(o.partitions) + 1
        out += UVARINTS[n] if n < 128 else uvarint(n)
        _write_reassignable_partition_response_v0(out, o.partitions)
        out.append(0)


def _encode_alter_partition_reassignments_response_v0(o: AlterPartitionReassignmentsResponse) -> list[Part]:
    out = bytearray()
    out += _pack_ih(o.throttle_time_ms, o.error_code)
    if o.error_message is None:
        out.append(0)
    else:
        s = o.error_message.encode()
        n = len(s) + 1
        out += UVARINTS[n] if n < 128 else long_string_length(n)
        out += s
    n = len(o.responses) + 1
    out += UVARINTS[n] if n < 128 else uvarint(n)
    _write_reassignable_topic_response_v0(out, o.responses)
    out.append(0)
    return [out]


def _decode_alter_partition_reassignments_response_v1(buf: memoryview, pos: int, end: int, budget: list[int]) -> AlterPartitionReassignmentsResponse:
    o = new(AlterPartitionReassignmentsResponse)
    o.throttle_time_ms, o.allow_replication_factor_change, o.error_code = _unpack_ith(buf, pos)
    pos += 7
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
        raise unexpected_null(pos, "responses")
    o.responses, pos = _read_reassignable_topic_response_v0(buf, pos, end, n, budget)
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tags(buf, pos, end)
    return o


def _encode_alter_partition_reassignments_response_v1(o: AlterPartitionReassignmentsResponse) -> list[Part]:
    out = bytearray()
    out += _pack_ith(o.throttle_time_ms, o.allow_replication_factor_change, o.error_code)
    if o.error_message is None:
        out.append(0)
    else:
        s = o.error_message.encode()
        n = len(s) + 1
        out += UVARINTS[n] if n < 128 else long_string_length(n)
        out += s
    n = len(o.responses) + 1
    out += UVARINTS[n] if n < 128 else uvarint(n)
    _write_reassignable_topic_response_v0(out, o.responses)
    out.append(0)
    return [out]


AlterPartitionReassignmentsRequest.DECODERS = {
    0: _decode_alter_partition_reassignments_request_v0,
    1: _decode_alter_partition_reassignments_request_v1,
}
AlterPartitionReassignmentsRequest.ENCODERS = {
    0: _encode_alter_partition_reassignments_request_v0,
    1: _encode_alter_partition_reassignments_request_v1,
}
AlterPartitionReassignmentsResponse.DECODERS = {
    0: _decode_alter_partition_reassignments_response_v0,
    1: _decode_alter_partition_reassignments_response_v1,
}
AlterPartitionReassignmentsResponse.ENCODERS = {
    0: _encode_alter_partition_reassignments_response_v0,
    1: _encode_alter_partition_reassignments_response_v1,
}
