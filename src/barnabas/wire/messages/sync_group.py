"""Hands out the assignment that the elected leader of a classic group computed.

Generated from schemas/sync_group.msg by codegen; edit that and run it again.
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
_pack_hi = Struct(">hi").pack
_pack_i = Struct(">i").pack
_pack_ih = Struct(">ih").pack
_pack_ihi = Struct(">ihi").pack
_unpack_h = Struct(">h").unpack_from
_unpack_hi = Struct(">hi").unpack_from
_unpack_i = Struct(">i").unpack_from
_unpack_ih = Struct(">ih").unpack_from
_unpack_ihi = Struct(">ihi").unpack_from


class SyncGroupRequestAssignment(WireStruct):
    __slots__ = (
        "member_id",
        "assignment",
    )
    FIELDS: ClassVar[FieldSpecs] = (
        ("member_id", "string", 0, 5, False),
        ("assignment", "bytes", 0, 5, False),
    )

    def __init__(
        self,
        member_id: str = "",
        assignment: bytes = b"",
    ) -> None:
        self.member_id = member_id
        self.assignment = assignment


class SyncGroupRequest(Request["SyncGroupResponse"]):
    __slots__ = (
        "group_id",
        "generation_id",
        "member_id",
        "group_instance_id",
        "protocol_type",
        "protocol_name",
        "assignments",
    )
    API_KEY: ClassVar[int] = 14
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 5
    FLEXIBLE_FROM: ClassVar[int] = 4
    FIELDS: ClassVar[FieldSpecs] = (
        ("group_id", "string", 0, 5, False),
        ("generation_id", "int32", 0, 5, False),
        ("member_id", "string", 0, 5, False),
        ("group_instance_id", "string", 3, 5, True),
        ("protocol_type", "string", 5, 5, True),
        ("protocol_name", "string", 5, 5, True),
        ("assignments", "[SyncGroupRequestAssignment]", 0, 5, False),
    )

    def __init__(
        self,
        group_id: str = "",
        generation_id: int = 0,
        member_id: str = "",
        group_instance_id: str | None = None,
        protocol_type: str | None = None,
        protocol_name: str | None = None,
        assignments: list[SyncGroupRequestAssignment] = EMPTY,
    ) -> None:
        self.group_id = group_id
        self.generation_id = generation_id
        self.member_id = member_id
        self.group_instance_id = group_instance_id  # set by static members (KIP-345)
        self.protocol_type = protocol_type
        self.protocol_name = protocol_name
        self.assignments = [] if assignments is EMPTY else assignments  # from the leader only


class SyncGroupResponse(Message):
    __slots__ = (
        "throttle_time_ms",
        "error_code",
        "protocol_type",
        "protocol_name",
        "assignment",
    )
    API_KEY: ClassVar[int] = 14
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 5
    FLEXIBLE_FROM: ClassVar[int] = 4
    FIELDS: ClassVar[FieldSpecs] = (
        ("throttle_time_ms", "int32", 1, 5, False),
        ("error_code", "int16", 0, 5, False),
        ("protocol_type", "string", 5, 5, True),
        ("protocol_name", "string", 5, 5, True),
        ("assignment", "bytes", 0, 5, False),
    )

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        protocol_type: str | None = None,
        protocol_name: str | None = None,
        assignment: bytes = b"",
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.protocol_type = protocol_type
        self.protocol_name = protocol_name
        self.assignment = assignment


def _read_sync_group_request_assignment_v0(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[SyncGroupRequestAssignment], int]:
    if count * 6 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 160
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[SyncGroupRequestAssignment] = []
    for _ in range(count):
        o = new(SyncGroupRequestAssignment)
        (n,) = _unpack_h(buf, pos)
        pos += 2
        if n < 0:
            raise unexpected_null(pos, "member_id")
        q = pos + n
        if q > end:
            raise overrun(pos, n)
        o.member_id = str(buf[pos:q], "utf-8")
        pos = q
        (n,) = _unpack_i(buf, pos)
        pos += 4
        if n < 0:
            raise unexpected_null(pos, "assignment")
        q = pos + n
        if q > end:
            raise overrun(pos, n)
        o.assignment = bytes(buf[pos:q])
        pos = q
        items.append(o)
    return items, pos


def _decode_sync_group_request_v0(buf: memoryview, pos: int, end: int, budget: list[int]) -> SyncGroupRequest:
    o = new(SyncGroupRequest)
    o.group_instance_id = None
    o.protocol_type = None
    o.protocol_name = None
    (n,) = _unpack_h(buf, pos)
    pos += 2
    if n < 0:
        raise unexpected_null(pos, "group_id")
    q = pos + n
    if q > end:
        raise overrun(pos, n)
    o.group_id = str(buf[pos:q], "utf-8")
    pos = q
    o.generation_id, n = _unpack_ih(buf, pos)
    pos += 6
    if n < 0:
        raise unexpected_null(pos, "member_id")
    q = pos + n
    if q > end:
        raise overrun(pos, n)
    o.member_id = str(buf[pos:q], "utf-8")
    pos = q
    (n,) = _unpack_i(buf, pos)
    pos += 4
    if n < 0:
        raise unexpected_null(pos, "assignments")
    o.assignments, pos = _read_sync_group_request_assignment_v0(buf, pos, end, n, budget)
    return o


def _write_sync_group_request_assignment_v0(
    out: bytearray, items: Sequence[SyncGroupRequestAssignment]
) -> None:
    for o in items:
        s = o.member_id.encode()
        n = len(s)
        out += _pack_h(n)
        out += s
        n = len(o.assignment)
        out += _pack_i(n)
        out += o.assignment


def _encode_sync_group_request_v0(o: SyncGroupRequest) -> list[Part]:
    out = bytearray()
    s = o.group_id.encode()
    n = len(s)
    out += _pack_h(n)
    out += s
    s = o.member_id.encode()
    n = len(s)
    out += _pack_ih(o.generation_id, n)
    out += s
    n = len(o.assignments)
    out += _pack_i(n)
    _write_sync_group_request_assignment_v0(out, o.assignments)
    return [out]


def _decode_sync_group_request_v3(buf: memoryview, pos: int, end: int, budget: list[int]) -> SyncGroupRequest:
    o = new(SyncGroupRequest)
    o.protocol_type = None
    o.protocol_name = None
    (n,) = _unpack_h(buf, pos)
    pos += 2
    if n < 0:
        raise unexpected_null(pos, "group_id")
    q = pos + n
    if q > end:
        raise overrun(pos, n)
    o.group_id = str(buf[pos:q], "utf-8")
    pos = q
    o.generation_id, n = _unpack_ih(buf, pos)
    pos += 6
    if n < 0:
        raise unexpected_null(pos, "member_id")
    q = pos + n
    if q > end:
        raise overrun(pos, n)
    o.member_id = str(buf[pos:q], "utf-8")
    pos = q
    (n,) = _unpack_h(buf, pos)
    pos += 2
    if n < 0:
        o.group_instance_id = None
    else:
        q = pos + n
        if q > end:
            raise overrun(pos, n)
        o.group_instance_id = str(buf[pos:q], "utf-8")
        pos = q
    (n,) = _unpack_i(buf, pos)
    pos += 4
    if n < 0:
        raise unexpected_null(pos, "assignments")
    o.assignments, pos = _read_sync_group_request_assignment_v0(buf, pos, end, n, budget)
    return o


def _encode_sync_group_request_v3(o: SyncGroupRequest) -> list[Part]:
    out = bytearray()
    s = o.group_id.encode()
    n = len(s)
    out += _pack_h(n)
    out += s
    s = o.member_id.encode()
    n = len(s)
    out += _pack_ih(o.generation_id, n)
    out += s
    if o.group_instance_id is None:
        n = -1
        s = b""
    else:
        s = o.group_instance_id.encode()
        n = len(s)
    out += _pack_h(n)
    out += s
    n = len(o.assignments)
    out += _pack_i(n)
    _write_sync_group_request_assignment_v0(out, o.assignments)
    return [out]


def _read_sync_group_request_assignment_v4(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[SyncGroupRequestAssignment], int]:
    if count * 3 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 160
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[SyncGroupRequestAssignment] = []
    for _ in range(count):
        o = new(SyncGroupRequestAssignment)
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
            n, pos = read_long_uvarint(buf, pos)
        n -= 1
        if n < 0:
            raise unexpected_null(pos, "assignment")
        q = pos + n
        if q > end:
            raise overrun(pos, n)
        o.assignment = bytes(buf[pos:q])
        pos = q
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tags(buf, pos, end)
        items.append(o)
    return items, pos


def _decode_sync_group_request_v4(buf: memoryview, pos: int, end: int, budget: list[int]) -> SyncGroupRequest:
    o = new(SyncGroupRequest)
    o.protocol_type = None
    o.protocol_name = None
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
    (o.generation_id,) = _unpack_i(buf, pos)
    pos += 4
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
        raise unexpected_null(pos, "assignments")
    o.assignments, pos = _read_sync_group_request_assignment_v4(buf, pos, end, n, budget)
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tags(buf, pos, end)
    return o


def _write_sync_group_request_assignment_v4(
    out: bytearray, items: Sequence[SyncGroupRequestAssignment]
) -> None:
    for o in items:
        s = o.member_id.encode()
        n = len(s) + 1
        out += UVARINTS[n] if n < 128 else long_string_length(n)
        out += s
        n = len(o.assignment) + 1
        out += UVARINTS[n] if n < 128 else uvarint(n)
        out += o.assignment
        out.append(0)


def _encode_sync_group_request_v4(o: SyncGroupRequest) -> list[Part]:
    out = bytearray()
    s = o.group_id.encode()
    n = len(s) + 1
    out += UVARINTS[n] if n < 128 else long_string_length(n)
    out += s
    out += _pack_i(o.generation_id)
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
    n = len(o.assignments) + 1
    out += UVARINTS[n] if n < 128 else uvarint(n)
    _write_sync_group_request_assignment_v4(out, o.assignments)
    out.append(0)
    return [out]


def _decode_sync_group_request_v5(buf: memoryview, pos: int, end: int, budget: list[int]) -> SyncGroupRequest:
    o = new(SyncGroupRequest)
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
    (o.generation_id,) = _unpack_i(buf, pos)
    pos += 4
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
        n, pos = read_long_string_length(buf, pos)
    n -= 1
    if n < 0:
        o.protocol_type = None
    else:
        q = pos + n
        if q > end:
            raise overrun(pos, n)
        o.protocol_type = str(buf[pos:q], "utf-8")
        pos = q
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_long_string_length(buf, pos)
    n -= 1
    if n < 0:
        o.protocol_name = None
    else:
        q = pos + n
        if q > end:
            raise overrun(pos, n)
        o.protocol_name = str(buf[pos:q], "utf-8")
        pos = q
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_long_uvarint(buf, pos)
    n -= 1
    if n < 0:
        raise unexpected_null(pos, "assignments")
    o.assignments, pos = _read_sync_group_request_assignment_v4(buf, pos, end, n, budget)
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tags(buf, pos, end)
    return o


def _encode_sync_group_request_v5(o: SyncGroupRequest) -> list[Part]:
    out = bytearray()
    s = o.group_id.encode()
    n = len(s) + 1
    out += UVARINTS[n] if n < 128 else long_string_length(n)
    out += s
    out += _pack_i(o.generation_id)
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
    if o.protocol_type is None:
        out.append(0)
    else:
        s = o.protocol_type.encode()
        n = len(s) + 1
        out += UVARINTS[n] if n < 128 else long_string_length(n)
        out += s
    if o.protocol_name is None:
        out.append(0)
    else:
        s = o.protocol_name.encode()
        n = len(s) + 1
        out += UVARINTS[n] if n < 128 else long_string_length(n)
        out += s
    n = len(o.assignments) + 1
    out += UVARINTS[n] if n < 128 else uvarint(n)
    _write_sync_group_request_assignment_v4(out, o.assignments)
    out.append(0)
    return [out]


def _decode_sync_group_response_v0(buf: memoryview, pos: int, end: int, budget: list[int]) -> SyncGroupResponse:
    o = new(SyncGroupResponse)
    o.throttle_time_ms = 0
    o.protocol_type = None
    o.protocol_name = None
    o.error_code, n = _unpack_hi(buf, pos)
    pos += 6
    if n < 0:
        raise unexpected_null(pos, "assignment")
    q = pos + n
    if q > end:
        raise overrun(pos, n)
    o.assignment = bytes(buf[pos:q])
    pos = q
    return o


def _encode_sync_group_response_v0(o: SyncGroupResponse) -> list[Part]:
    out = bytearray()
    n = len(o.assignment)
    out += _pack_hi(o.error_code, n)
    out += o.assignment
    return [out]


def _decode_sync_group_response_v1(buf: memoryview, pos: int, end: int, budget: list[int]) -> SyncGroupResponse:
    o = new(SyncGroupResponse)
    o.protocol_type = None
    o.protocol_name = None
    o.throttle_time_ms, o.error_code, n = _unpack_ihi(buf, pos)
    pos += 10
    if n < 0:
        raise unexpected_null(pos, "assignment")
    q = pos + n
    if q > end:
        raise overrun(pos, n)
    o.assignment = bytes(buf[pos:q])
    pos = q
    return o


def _encode_sync_group_response_v1(o: SyncGroupResponse) -> list[Part]:
    out = bytearray()
    n = len(o.assignment)
    out += _pack_ihi(o.throttle_time_ms, o.error_code, n)
    out += o.assignment
    return [out]


def _decode_sync_group_response_v4(buf: memoryview, pos: int, end: int, budget: list[int]) -> SyncGroupResponse:
    o = new(SyncGroupResponse)
    o.protocol_type = None
    o.protocol_name = None
    o.throttle_time_ms, o.error_code = _unpack_ih(buf, pos)
    pos += 6
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_long_uvarint(buf, pos)
    n -= 1
    if n < 0:
        raise unexpected_null(pos, "assignment")
    q = pos + n
    if q > end:
        raise overrun(pos, n)
    o.assignment = bytes(buf[pos:q])
    pos = q
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tags(buf, pos, end)
    return o


def _encode_sync_group_response_v4(o: SyncGroupResponse) -> list[Part]:
    out = bytearray()
    out += _pack_ih(o.throttle_time_ms, o.error_code)
    n = len(o.assignment) + 1
    out += UVARINTS[n] if n < 128 else uvarint(n)
    out += o.assignment
    out.append(0)
    return [out]


def _decode_sync_group_response_v5(buf: memoryview, pos: int, end: int, budget: list[int]) -> SyncGroupResponse:
    o = new(SyncGroupResponse)
    o.throttle_time_ms, o.error_code = _unpack_ih(buf, pos)
    pos += 6
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_long_string_length(buf, pos)
    n -= 1
    if n < 0:
        o.protocol_type = None
    else:
        q = pos + n
        if q > end:
            raise overrun(pos, n)
        o.protocol_type = str(buf[pos:q], "utf-8")
        pos = q
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_long_string_length(buf, pos)
    n -= 1
    if n < 0:
        o.protocol_name = None
    else:
        q = pos + n
        if q > end:
            raise overrun(pos, n)
        o.protocol_name = str(buf[pos:q], "utf-8")
        pos = q
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_long_uvarint(buf, pos)
    n -= 1
    if n < 0:
        raise unexpected_null(pos, "assignment")
    q = pos + n
    if q > end:
        raise overrun(pos, n)
    o.assignment = bytes(buf[pos:q])
    pos = q
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tags(buf, pos, end)
    return o


def _encode_sync_group_response_v5(o: SyncGroupResponse) -> list[Part]:
    out = bytearray()
    out += _pack_ih(o.throttle_time_ms, o.error_code)
    if o.protocol_type is None:
        out.append(0)
    else:
        s = o.protocol_type.encode()
        n = len(s) + 1
        out += UVARINTS[n] if n < 128 else long_string_length(n)
        out += s
    if o.protocol_name is None:
        out.append(0)
    else:
        s = o.protocol_name.encode()
        n = len(s) + 1
        out += UVARINTS[n] if n < 128 else long_string_length(n)
        out += s
    n = len(o.assignment) + 1
    out += UVARINTS[n] if n < 128 else uvarint(n)
    out += o.assignment
    out.append(0)
    return [out]


SyncGroupRequest.DECODERS = {
    0: _decode_sync_group_request_v0,
    1: _decode_sync_group_request_v0,
    2: _decode_sync_group_request_v0,
    3: _decode_sync_group_request_v3,
    4: _decode_sync_group_request_v4,
    5: _decode_sync_group_request_v5,
}
SyncGroupRequest.ENCODERS = {
    0: _encode_sync_group_request_v0,
    1: _encode_sync_group_request_v0,
    2: _encode_sync_group_request_v0,
    3: _encode_sync_group_request_v3,
    4: _encode_sync_group_request_v4,
    5: _encode_sync_group_request_v5,
}
SyncGroupResponse.DECODERS = {
    0: _decode_sync_group_response_v0,
    1: _decode_sync_group_response_v1,
    2: _decode_sync_group_response_v1,
    3: _decode_sync_group_response_v1,
    4: _decode_sync_group_response_v4,
    5: _decode_sync_group_response_v5,
}
SyncGroupResponse.ENCODERS = {
    0: _encode_sync_group_response_v0,
    1: _encode_sync_group_response_v1,
    2: _encode_sync_group_response_v1,
    3: _encode_sync_group_response_v1,
    4: _encode_sync_group_response_v4,
    5: _encode_sync_group_response_v5,
}
