"""Members leave a classic group; from version 3 several at once, static ones by instance id.

Generated from schemas/leave_group.msg by codegen; edit that and run it again.
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
_pack_ihi = Struct(">ihi").pack
_unpack_h = Struct(">h").unpack_from
_unpack_i = Struct(">i").unpack_from
_unpack_ih = Struct(">ih").unpack_from
_unpack_ihi = Struct(">ihi").unpack_from


class MemberIdentity(WireStruct):
    __slots__ = (
        "member_id",
        "group_instance_id",
        "reason",
    )
    FIELDS: ClassVar[FieldSpecs] = (
        ("member_id", "string", 3, 5, False),
        ("group_instance_id", "string", 3, 5, True),
        ("reason", "string", 5, 5, True),
    )

    def __init__(
        self,
        member_id: str = "",
        group_instance_id: str | None = None,
        reason: str | None = None,
    ) -> None:
        self.member_id = member_id
        self.group_instance_id = group_instance_id  # set by static members (KIP-345)
        self.reason = reason  # for the log of the broker (KIP-800)


class MemberResponse(WireStruct):
    __slots__ = (
        "member_id",
        "group_instance_id",
        "error_code",
    )
    FIELDS: ClassVar[FieldSpecs] = (
        ("member_id", "string", 3, 5, False),
        ("group_instance_id", "string", 3, 5, True),
        ("error_code", "int16", 3, 5, False),
    )

    def __init__(
        self,
        member_id: str = "",
        group_instance_id: str | None = "",
        error_code: int = 0,
    ) -> None:
        self.member_id = member_id
        self.group_instance_id = group_instance_id  # set by static members (KIP-345)
        self.error_code = error_code


class LeaveGroupRequest(Request["LeaveGroupResponse"]):
    __slots__ = (
        "group_id",
        "member_id",
        "members",
    )
    API_KEY: ClassVar[int] = 13
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 5
    FLEXIBLE_FROM: ClassVar[int] = 4
    FIELDS: ClassVar[FieldSpecs] = (
        ("group_id", "string", 0, 5, False),
        ("member_id", "string", 0, 2, False),
        ("members", "[MemberIdentity]", 3, 5, False),
    )

    def __init__(
        self,
        group_id: str = "",
        member_id: str = "",
        members: list[MemberIdentity] = EMPTY,
    ) -> None:
        self.group_id = group_id
        self.member_id = member_id
        self.members = [] if members is EMPTY else members


class LeaveGroupResponse(Message):
    __slots__ = (
        "throttle_time_ms",
        "error_code",
        "members",
    )
    API_KEY: ClassVar[int] = 13
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 5
    FLEXIBLE_FROM: ClassVar[int] = 4
    FIELDS: ClassVar[FieldSpecs] = (
        ("throttle_time_ms", "int32", 1, 5, False),
        ("error_code", "int16", 0, 5, False),
        ("members", "[MemberResponse]", 3, 5, False),
    )

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        members: list[MemberResponse] = EMPTY,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.members = [] if members is EMPTY else members


def _decode_leave_group_request_v0(buf: memoryview, pos: int, end: int, budget: list[int]) -> LeaveGroupRequest:
    o = new(LeaveGroupRequest)
    o.members = []
    (n,) = _unpack_h(buf, pos)
    pos += 2
    if n < 0:
        raise unexpected_null(pos, "group_id")
    q = pos + n
    if q > end:
        raise overrun(pos, n)
    o.group_id = str(buf[pos:q], "utf-8")
    pos = q
    (n,) = _unpack_h(buf, pos)
    pos += 2
    if n < 0:
        raise unexpected_null(pos, "member_id")
    q = pos + n
    if q > end:
        raise overrun(pos, n)
    o.member_id = str(buf[pos:q], "utf-8")
    pos = q
    return o


def _encode_leave_group_request_v0(o: LeaveGroupRequest) -> list[Part]:
    out = bytearray()
    s = o.group_id.encode()
    n = len(s)
    out += _pack_h(n)
    out += s
    s = o.member_id.encode()
    n = len(s)
    out += _pack_h(n)
    out += s
    return [out]


def _read_member_identity_v3(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[MemberIdentity], int]:
    if count * 4 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 184
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[MemberIdentity] = []
    for _ in range(count):
        o = new(MemberIdentity)
        o.reason = None
        (n,) = _unpack_h(buf, pos)
        pos += 2
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
        items.append(o)
    return items, pos


def _decode_leave_group_request_v3(buf: memoryview, pos: int, end: int, budget: list[int]) -> LeaveGroupRequest:
    o = new(LeaveGroupRequest)
    o.member_id = ""
    (n,) = _unpack_h(buf, pos)
    pos += 2
    if n < 0:
        raise unexpected_null(pos, "group_id")
    q = pos + n
    if q > end:
        raise overrun(pos, n)
    o.group_id = str(buf[pos:q], "utf-8")
    pos = q
    (n,) = _unpack_i(buf, pos)
    pos += 4
    if n < 0:
        raise unexpected_null(pos, "members")
    o.members, pos = _read_member_identity_v3(buf, pos, end, n, budget)
    return o


def _write_member_identity_v3(
    out: bytearray, items: Sequence[MemberIdentity]
) -> None:
    for o in items:
        s = o.member_id.encode()
        n = len(s)
        out += _pack_h(n)
        out += s
        if o.group_instance_id is None:
            n = -1
            s = b""
        else:
            s = o.group_instance_id.encode()
            n = len(s)
        out += _pack_h(n)
        out += s


def _encode_leave_group_request_v3(o: LeaveGroupRequest) -> list[Part]:
    out = bytearray()
    s = o.group_id.encode()
    n = len(s)
    out += _pack_h(n)
    out += s
    n = len(o.members)
    out += _pack_i(n)
    _write_member_identity_v3(out, o.members)
    return [out]


def _read_member_identity_v4(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[MemberIdentity], int]:
    if count * 3 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 184
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[MemberIdentity] = []
    for _ in range(count):
        o = new(MemberIdentity)
        o.reason = None
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
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tags(buf, pos, end)
        items.append(o)
    return items, pos


def _decode_leave_group_request_v4(buf: memoryview, pos: int, end: int, budget: list[int]) -> LeaveGroupRequest:
    o = new(LeaveGroupRequest)
    o.member_id = ""
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
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_long_uvarint(buf, pos)
    n -= 1
    if n < 0:
        raise unexpected_null(pos, "members")
    o.members, pos = _read_member_identity_v4(buf, pos, end, n, budget)
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tags(buf, pos, end)
    return o


def _write_member_identity_v4(
    out: bytearray, items: Sequence[MemberIdentity]
) -> None:
    for o in items:
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
        out.append(0)


def _encode_leave_group_request_v4(o: LeaveGroupRequest) -> list[Part]:
    out = bytearray()
    s = o.group_id.encode()
    n = len(s) + 1
    out += UVARINTS[n] if n < 128 else long_string_length(n)
    out += s
    n = len(o.members) + 1
    out += UVARINTS[n] if n < 128 else uvarint(n)
    _write_member_identity_v4(out, o.members)
    out.append(0)
    return [out]


def _read_member_identity_v5(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[MemberIdentity], int]:
    if count * 4 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 240
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[MemberIdentity] = []
    for _ in range(count):
        o = new(MemberIdentity)
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
            o.reason = None
        else:
            q = pos + n
            if q > end:
                raise overrun(pos, n)
            o.reason = str(buf[pos:q], "utf-8")
            pos = q
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tags(buf, pos, end)
        items.append(o)
    return items, pos


def _decode_leave_group_request_v5(buf: memoryview, pos: int, end: int, budget: list[int]) -> LeaveGroupRequest:
    o = new(LeaveGroupRequest)
    o.member_id = ""
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
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_long_uvarint(buf, pos)
    n -= 1
    if n < 0:
        raise unexpected_null(pos, "members")
    o.members, pos = _read_member_identity_v5(buf, pos, end, n, budget)
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tags(buf, pos, end)
    return o


def _write_member_identity_v5(
    out: bytearray, items: Sequence[MemberIdentity]
) -> None:
    for o in items:
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
        if o.reason is None:
            out.append(0)
        else:
            s = o.reason.encode()
            n = len(s) + 1
            out += UVARINTS[n] if n < 128 else long_string_length(n)
            out += s
        out.append(0)


def _encode_leave_group_request_v5(o: LeaveGroupRequest) -> list[Part]:
    out = bytearray()
    s = o.group_id.encode()
    n = len(s) + 1
    out += UVARINTS[n] if n < 128 else long_string_length(n)
    out += s
    n = len(o.members) + 1
    out += UVARINTS[n] if n < 128 else uvarint(n)
    _write_member_identity_v5(out, o.members)
    out.append(0)
    return [out]


def _decode_leave_group_response_v0(buf: memoryview, pos: int, end: int, budget: list[int]) -> LeaveGroupResponse:
    o = new(LeaveGroupResponse)
    o.throttle_time_ms = 0
    o.members = []
    (o.error_code,) = _unpack_h(buf, pos)
    pos += 2
    return o


def _encode_leave_group_response_v0(o: LeaveGroupResponse) -> list[Part]:
    out = bytearray()
    out += _pack_h(o.error_code)
    return [out]


def _decode_leave_group_response_v1(buf: memoryview, pos: int, end: int, budget: list[int]) -> LeaveGroupResponse:
    o = new(LeaveGroupResponse)
    o.members = []
    o.throttle_time_ms, o.error_code = _unpack_ih(buf, pos)
    pos += 6
    return o


def _encode_leave_group_response_v1(o: LeaveGroupResponse) -> list[Part]:
    out = bytearray()
    out += _pack_ih(o.throttle_time_ms, o.error_code)
    return [out]


def _read_member_response_v3(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[MemberResponse], int]:
    if count * 6 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 216
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[MemberResponse] = []
    for _ in range(count):
        o = new(MemberResponse)
        (n,) = _unpack_h(buf, pos)
        pos += 2
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
        (o.error_code,) = _unpack_h(buf, pos)
        pos += 2
        items.append(o)
    return items, pos


def _decode_leave_group_response_v3(buf: memoryview, pos: int, end: int, budget: list[int]) -> LeaveGroupResponse:
    o = new(LeaveGroupResponse)
    o.throttle_time_ms, o.error_code, n = _unpack_ihi(buf, pos)
    pos += 10
    if n < 0:
        raise unexpected_null(pos, "members")
    o.members, pos = _read_member_response_v3(buf, pos, end, n, budget)
    return o


def _write_member_response_v3(
    out: bytearray, items: Sequence[MemberResponse]
) -> None:
    for o in items:
        s = o.member_id.encode()
        n = len(s)
        out += _pack_h(n)
        out += s
        if o.group_instance_id is None:
            n = -1
            s = b""
        else:
            s = o.group_instance_id.encode()
            n = len(s)
        out += _pack_h(n)
        out += s
        out += _pack_h(o.error_code)


def _encode_leave_group_response_v3(o: LeaveGroupResponse) -> list[Part]:
    out = bytearray()
    n = len(o.members)
    out += _pack_ihi(o.throttle_time_ms, o.error_code, n)
    _write_member_response_v3(out, o.members)
    return [out]


def _read_member_response_v4(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[MemberResponse], int]:
    if count * 5 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 216
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[MemberResponse] = []
    for _ in range(count):
        o = new(MemberResponse)
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
        (o.error_code,) = _unpack_h(buf, pos)
        pos += 2
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tags(buf, pos, end)
        items.append(o)
    return items, pos


def _decode_leave_group_response_v4(buf: memoryview, pos: int, end: int, budget: list[int]) -> LeaveGroupResponse:
    o = new(LeaveGroupResponse)
    o.throttle_time_ms, o.error_code = _unpack_ih(buf, pos)
    pos += 6
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_long_uvarint(buf, pos)
    n -= 1
    if n < 0:
        raise unexpected_null(pos, "members")
    o.members, pos = _read_member_response_v4(buf, pos, end, n, budget)
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tags(buf, pos, end)
    return o


def _write_member_response_v4(
    out: bytearray, items: Sequence[MemberResponse]
) -> None:
    for o in items:
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
        out += _pack_h(o.error_code)
        out.append(0)


def _encode_leave_group_response_v4(o: LeaveGroupResponse) -> list[Part]:
    out = bytearray()
    out += _pack_ih(o.throttle_time_ms, o.error_code)
    n = len(o.members) + 1
    out += UVARINTS[n] if n < 128 else uvarint(n)
    _write_member_response_v4(out, o.members)
    out.append(0)
    return [out]


LeaveGroupRequest.DECODERS = {
    0: _decode_leave_group_request_v0,
    1: _decode_leave_group_request_v0,
    2: _decode_leave_group_request_v0,
    3: _decode_leave_group_request_v3,
    4: _decode_leave_group_request_v4,
    5: _decode_leave_group_request_v5,
}
LeaveGroupRequest.ENCODERS = {
    0: _encode_leave_group_request_v0,
    1: _encode_leave_group_request_v0,
    2: _encode_leave_group_request_v0,
    3: _encode_leave_group_request_v3,
    4: _encode_leave_group_request_v4,
    5: _encode_leave_group_request_v5,
}
LeaveGroupResponse.DECODERS = {
    0: _decode_leave_group_response_v0,
    1: _decode_leave_group_response_v1,
    2: _decode_leave_group_response_v1,
    3: _decode_leave_group_response_v3,
    4: _decode_leave_group_response_v4,
    5: _decode_leave_group_response_v4,
}
LeaveGroupResponse.ENCODERS = {
    0: _encode_leave_group_response_v0,
    1: _encode_leave_group_response_v1,
    2: _encode_leave_group_response_v1,
    3: _encode_leave_group_response_v3,
    4: _encode_leave_group_response_v4,
    5: _encode_leave_group_response_v4,
}
