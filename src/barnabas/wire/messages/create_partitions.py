"""Raises the partition count of topics.

Generated from schemas/create_partitions.msg by codegen; edit that and run it again.
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

_pack_h = Struct(">h").pack
_pack_hh = Struct(">hh").pack
_pack_i = Struct(">i").pack
_pack_it = Struct(">i?").pack
_pack_ii = Struct(">ii").pack
_unpack_h = Struct(">h").unpack_from
_unpack_hh = Struct(">hh").unpack_from
_unpack_i = Struct(">i").unpack_from
_unpack_it = Struct(">i?").unpack_from
_unpack_ii = Struct(">ii").unpack_from


class CreatePartitionsAssignment(WireStruct):
    __slots__ = (
        "broker_ids",
    )
    FIELDS: ClassVar[FieldSpecs] = (
        ("broker_ids", "[int32]", 0, 3, False),
    )

    def __init__(
        self,
        broker_ids: list[int] = EMPTY,
    ) -> None:
        self.broker_ids = [] if broker_ids is EMPTY else broker_ids


class CreatePartitionsTopic(WireStruct):
    __slots__ = (
        "name",
        "count",
        "assignments",
    )
    FIELDS: ClassVar[FieldSpecs] = (
        ("name", "string", 0, 3, False),
        ("count", "int32", 0, 3, False),
        ("assignments", "[CreatePartitionsAssignment]", 0, 3, True),
    )

    def __init__(
        self,
        name: str = "",
        count: int = 0,
        assignments: list[CreatePartitionsAssignment] | None = EMPTY,
    ) -> None:
        self.name = name
        self.count = count  # in total, not to be added
        self.assignments = [] if assignments is EMPTY else assignments  # of the new partitions; null for automatic


class CreatePartitionsTopicResult(WireStruct):
    __slots__ = (
        "name",
        "error_code",
        "error_message",
    )
    FIELDS: ClassVar[FieldSpecs] = (
        ("name", "string", 0, 3, False),
        ("error_code", "int16", 0, 3, False),
        ("error_message", "string", 0, 3, True),
    )

    def __init__(
        self,
        name: str = "",
        error_code: int = 0,
        error_message: str | None = None,
    ) -> None:
        self.name = name
        self.error_code = error_code
        self.error_message = error_message


class CreatePartitionsRequest(Request["CreatePartitionsResponse"]):
    __slots__ = (
        "topics",
        "timeout_ms",
        "validate_only",
    )
    API_KEY: ClassVar[int] = 37
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 3
    FLEXIBLE_FROM: ClassVar[int] = 2
    FIELDS: ClassVar[FieldSpecs] = (
        ("topics", "[CreatePartitionsTopic]", 0, 3, False),
        ("timeout_ms", "int32", 0, 3, False),
        ("validate_only", "bool", 0, 3, False),
    )

    def __init__(
        self,
        topics: list[CreatePartitionsTopic] = EMPTY,
        timeout_ms: int = 0,
        validate_only: bool = False,
    ) -> None:
        self.topics = [] if topics is EMPTY else topics
        self.timeout_ms = timeout_ms
        self.validate_only = validate_only  # check, but change nothing


class CreatePartitionsResponse(Message):
    __slots__ = (
        "throttle_time_ms",
        "results",
    )
    API_KEY: ClassVar[int] = 37
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 3
    FLEXIBLE_FROM: ClassVar[int] = 2
    FIELDS: ClassVar[FieldSpecs] = (
        ("throttle_time_ms", "int32", 0, 3, False),
        ("results", "[CreatePartitionsTopicResult]", 0, 3, False),
    )

    def __init__(
        self,
        throttle_time_ms: int = 0,
        results: list[CreatePartitionsTopicResult] = EMPTY,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.results = [] if results is EMPTY else results


def _read_create_partitions_assignment_v0(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[CreatePartitionsAssignment], int]:
    if count * 4 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 120
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[CreatePartitionsAssignment] = []
    for _ in range(count):
        o = new(CreatePartitionsAssignment)
        (n,) = _unpack_i(buf, pos)
        pos += 4
        if n < 0:
            raise unexpected_null(pos, "broker_ids")
        o.broker_ids, pos = read_int32s(buf, pos, end, n, budget)
        items.append(o)
    return items, pos


def _read_create_partitions_topic_v0(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[CreatePartitionsTopic], int]:
    if count * 10 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 224
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[CreatePartitionsTopic] = []
    for _ in range(count):
        o = new(CreatePartitionsTopic)
        (n,) = _unpack_h(buf, pos)
        pos += 2
        if n < 0:
            raise unexpected_null(pos, "name")
        q = pos + n
        if q > end:
            raise overrun(pos, n)
        o.name = str(buf[pos:q], "utf-8")
        pos = q
        o.count, n = _unpack_ii(buf, pos)
        pos += 8
        if n < 0:
            o.assignments = None
        else:
            o.assignments, pos = _read_create_partitions_assignment_v0(buf, pos, end, n, budget)
        items.append(o)
    return items, pos


def _decode_create_partitions_request_v0(buf: memoryview, pos: int, end: int, budget: list[int]) -> CreatePartitionsRequest:
    o = new(CreatePartitionsRequest)
    (n,) = _unpack_i(buf, pos)
    pos += 4
    if n < 0:
        raise unexpected_null(pos, "topics")
    o.topics, pos = _read_create_partitions_topic_v0(buf, pos, end, n, budget)
    o.timeout_ms, o.validate_only = _unpack_it(buf, pos)
    pos += 5
    return o


def _write_create_partitions_assignment_v0(
    out: bytearray, items: Sequence[CreatePartitionsAssignment]
) -> None:
    for o in items:
        n = len(o.broker_ids)
        out += _pack_i(n)
        out += int32_elements(o.broker_ids)


def _write_create_partitions_topic_v0(
    out: bytearray, items: Sequence[CreatePartitionsTopic]
) -> None:
    for o in items:
        s = o.name.encode()
        n = len(s)
        out += _pack_h(n)
        out += s
        if o.assignments is None:
            n = -1
        else:
            n = len(o.assignments)
        out += _pack_ii(o.count, n)
        if o.assignments is not None:
            _write_create_partitions_assignment_v0(out, o.assignments)


def _encode_create_partitions_request_v0(o: CreatePartitionsRequest) -> list[Part]:
    out = bytearray()
    n = len(o.topics)
    out += _pack_i(n)
    _write_create_partitions_topic_v0(out, o.topics)
    out += _pack_it(o.timeout_ms, o.validate_only)
    return [out]


def _read_create_partitions_assignment_v2(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[CreatePartitionsAssignment], int]:
    if count * 2 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 120
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[CreatePartitionsAssignment] = []
    for _ in range(count):
        o = new(CreatePartitionsAssignment)
        n = buf[pos]
        pos += 1
        if n > 127:
            n, pos = read_long_uvarint(buf, pos)
        n -= 1
        if n < 0:
            raise unexpected_null(pos, "broker_ids")
        o.broker_ids, pos = read_int32s(buf, pos, end, n, budget)
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tags(buf, pos, end)
        items.append(o)
    return items, pos


def _read_create_partitions_topic_v2(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[CreatePartitionsTopic], int]:
    if count * 7 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 224
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[CreatePartitionsTopic] = []
    for _ in range(count):
        o = new(CreatePartitionsTopic)
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
        (o.count,) = _unpack_i(buf, pos)
        pos += 4
        n = buf[pos]
        pos += 1
        if n > 127:
            n, pos = read_long_uvarint(buf, pos)
        n -= 1
        if n < 0:
            o.assignments = None
        else:
            o.assignments, pos = _read_create_partitions_assignment_v2(buf, pos, end, n, budget)
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tags(buf, pos, end)
        items.append(o)
    return items, pos


def _decode_create_partitions_request_v2(buf: memoryview, pos: int, end: int, budget: list[int]) -> CreatePartitionsRequest:
    o = new(CreatePartitionsRequest)
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_long_uvarint(buf, pos)
    n -= 1
    if n < 0:
        raise unexpected_null(pos, "topics")
    o.topics, pos = _read_create_partitions_topic_v2(buf, pos, end, n, budget)
    o.timeout_ms, o.validate_only = _unpack_it(buf, pos)
    pos += 5
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tags(buf, pos, end)
    return o


def _write_create_partitions_assignment_v2(
    out: bytearray, items: Sequence[CreatePartitionsAssignment]
) -> None:
    for o in items:
        n = len(o.broker_ids) + 1
        out += UVARINTS[n] if n < 128 else uvarint(n)
        out += int32_elements(o.broker_ids)
        out.append(0)


def _write_create_partitions_topic_v2(
    out: bytearray, items: Sequence[CreatePartitionsTopic]
) -> None:
    for o in items:
        s = o.name.encode()
        n = len(s) + 1
        out += UVARINTS[n] if n < 128 else long_string_length(n)
        out += s
        out += _pack_i(o.count)
        if o.assignments is None:
            out.append(0)
        else:
            n = len(o.assignments) + 1
            out += UVARINTS[n] if n < 128 else uvarint(n)
            _write_create_partitions_assignment_v2(out, o.assignments)
        out.append(0)


def _encode_create_partitions_request_v2(o: CreatePartitionsRequest) -> list[Part]:
    out = bytearray()
    n = len(o.topics) + 1
    out += UVARINTS[n] if n < 128 else uvarint(n)
    _write_create_partitions_topic_v2(out, o.topics)
    out += _pack_it(o.timeout_ms, o.validate_only)
    out.append(0)
    return [out]


def _read_create_partitions_topic_result_v0(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[CreatePartitionsTopicResult], int]:
    if count * 6 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 216
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[CreatePartitionsTopicResult] = []
    for _ in range(count):
        o = new(CreatePartitionsTopicResult)
        (n,) = _unpack_h(buf, pos)
        pos += 2
        if n < 0:
            raise unexpected_null(pos, "name")
        q = pos + n
        if q > end:
            raise overrun(pos, n)
        o.name = str(buf[pos:q], "utf-8")
        pos = q
        o.error_code, n = _unpack_hh(buf, pos)
        pos += 4
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


def _decode_create_partitions_response_v0(buf: memoryview, pos: int, end: int, budget: list[int]) -> CreatePartitionsResponse:
    o = new(CreatePartitionsResponse)
    o.throttle_time_ms, n = _unpack_ii(buf, pos)
    pos += 8
    if n < 0:
        raise unexpected_null(pos, "results")
    o.results, pos = _read_create_partitions_topic_result_v0(buf, pos, end, n, budget)
    return o


def _write_create_partitions_topic_result_v0(
    out: bytearray, items: Sequence[CreatePartitionsTopicResult]
) -> None:
    for o in items:
        s = o.name.encode()
        n = len(s)
        out += _pack_h(n)
        out += s
        if o.error_message is None:
            n = -1
            s = b""
        else:
            s = o.error_message.encode()
            n = len(s)
        out += _pack_hh(o.error_code, n)
        out += s


def _encode_create_partitions_response_v0(o: CreatePartitionsResponse) -> list[Part]:
    out = bytearray()
    n = len(o.results)
    out += _pack_ii(o.throttle_time_ms, n)
    _write_create_partitions_topic_result_v0(out, o.results)
    return [out]


def _read_create_partitions_topic_result_v2(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[CreatePartitionsTopicResult], int]:
    if count * 5 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 216
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[CreatePartitionsTopicResult] = []
    for _ in range(count):
        o = new(CreatePartitionsTopicResult)
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
        (o.error_code,) = _unpack_h(buf, pos)
        pos += 2
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


def _decode_create_partitions_response_v2(buf: memoryview, pos: int, end: int, budget: list[int]) -> CreatePartitionsResponse:
    o = new(CreatePartitionsResponse)
    (o.throttle_time_ms,) = _unpack_i(buf, pos)
    pos += 4
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_long_uvarint(buf, pos)
    n -= 1
    if n < 0:
        raise unexpected_null(pos, "results")
    o.results, pos = _read_create_partitions_topic_result_v2(buf, pos, end, n, budget)
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tags(buf, pos, end)
    return o


def _write_create_partitions_topic_result_v2(
    out: bytearray, items: Sequence[CreatePartitionsTopicResult]
) -> None:
    for o in items:
        s = o.name.encode()
        n = len(s) + 1
        out += UVARINTS[n] if n < 128 else long_string_length(n)
        out += s
        out += _pack_h(o.error_code)
        if o.error_message is None:
            out.append(0)
        else:
            s = o.error_message.encode()
            n = len(s) + 1
            out += UVARINTS[n] if n < 128 else long_string_length(n)
            out += s
        out.append(0)


def _encode_create_partitions_response_v2(o: CreatePartitionsResponse) -> list[Part]:
    out = bytearray()
    out += _pack_i(o.throttle_time_ms)
    n = len(o.results) + 1
    out += UVARINTS[n] if n < 128 else uvarint(n)
    _write_create_partitions_topic_result_v2(out, o.results)
    out.append(0)
    return [out]


CreatePartitionsRequest.DECODERS = {
    0: _decode_create_partitions_request_v0,
    1: _decode_create_partitions_request_v0,
    2: _decode_create_partitions_request_v2,
    3: _decode_create_partitions_request_v2,
}
CreatePartitionsRequest.ENCODERS = {
    0: _encode_create_partitions_request_v0,
    1: _encode_create_partitions_request_v0,
    2: _encode_create_partitions_request_v2,
    3: _encode_create_partitions_request_v2,
}
CreatePartitionsResponse.DECODERS = {
    0: _decode_create_partitions_response_v0,
    1: _decode_create_partitions_response_v0,
    2: _decode_create_partitions_response_v2,
    3: _decode_create_partitions_response_v2,
}
CreatePartitionsResponse.ENCODERS = {
    0: _encode_create_partitions_response_v0,
    1: _encode_create_partitions_response_v0,
    2: _encode_create_partitions_response_v2,
    3: _encode_create_partitions_response_v2,
}
