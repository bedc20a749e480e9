"""A member of a classic group shows that it lives and learns of rebalances.

Generated from schemas/heartbeat.msg by codegen; edit that and run it again.
"""

from struct import Struct
from typing import ClassVar

from barnabas.wire.message import FieldSpecs, Message, Request
from barnabas.wire.primitives import (
    Part,
    UVARINTS,
    long_string_length,
    new,
    overrun,
    read_long_string_length,
    skip_tags,
    unexpected_null,
)

_pack_h = Struct(">h").pack
_pack_i = Struct(">i").pack
_pack_ih = Struct(">ih").pack
_unpack_h = Struct(">h").unpack_from
_unpack_i = Struct(">i").unpack_from
_unpack_ih = Struct(">ih").unpack_from


class HeartbeatRequest(Request["HeartbeatResponse"]):
    __slots__ = (
        "group_id",
        "generation_id",
        "member_id",
        "group_instance_id",
    )
    API_KEY: ClassVar[int] = 12
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 4
    FLEXIBLE_FROM: ClassVar[int] = 4
    FIELDS: ClassVar[FieldSpecs] = (
        ("group_id", "string", 0, 4, False),
        ("generation_id", "int32", 0, 4, False),
        ("member_id", "string", 0, 4, False),
        ("group_instance_id", "string", 3, 4, True),
    )

    def __init__(
        self,
        group_id: str = "",
        generation_id: int = 0,
        member_id: str = "",
        group_instance_id: str | None = None,
    ) -> None:
        self.group_id = group_id
        self.generation_id = generation_id
        self.member_id = member_id
        self.group_instance_id = group_instance_id  # set by static members (KIP-345)


class HeartbeatResponse(Message):
    __slots__ = (
        "throttle_time_ms",
        "error_code",
    )
    API_KEY: ClassVar[int] = 12
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 4
    FLEXIBLE_FROM: ClassVar[int] = 4
    FIELDS: ClassVar[FieldSpecs] = (
        ("throttle_time_ms", "int32", 1, 4, False),
        ("error_code", "int16", 0, 4, False),
    )

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code


def _decode_heartbeat_request_v0(buf: memoryview, pos: int, end: int, budget: list[int]) -> HeartbeatRequest:
    o = new(HeartbeatRequest)
    o.group_instance_id = None
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
    return o


def _encode_heartbeat_request_v0(o: HeartbeatRequest) -> list[Part]:
    out = bytearray()
    s = o.group_id.encode()
    n = len(s)
    out += _pack_h(n)
    out += s
    s = o.member_id.encode()
    n = len(s)
    out += _pack_ih(o.generation_id, n)
    out += s
    return [out]


def _decode_heartbeat_request_v3(buf: memoryview, pos: int, end: int, budget: list[int]) -> HeartbeatRequest:
    o = new(HeartbeatRequest)
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
    return o


def _encode_heartbeat_request_v3(o: HeartbeatRequest) -> list[Part]:
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
    return [out]


def _decode_heartbeat_request_v4(buf: memoryview, pos: int, end: int, budget: list[int]) -> HeartbeatRequest:
    o = new(HeartbeatRequest)
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
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tags(buf, pos, end)
    return o


def _encode_heartbeat_request_v4(o: HeartbeatRequest) -> list[Part]:
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
    out.append(0)
    return [out]


def _decode_heartbeat_response_v0(buf: memoryview, pos: int, end: int, budget: list[int]) -> HeartbeatResponse:
    o = new(HeartbeatResponse)
    o.throttle_time_ms = 0
    (o.error_code,) = _unpack_h(buf, pos)
    pos += 2
    return o


def _encode_heartbeat_response_v0(o: HeartbeatResponse) -> list[Part]:
    out = bytearray()
    out += _pack_h(o.error_code)
    return [out]


def _decode_heartbeat_response_v1(buf: memoryview, pos: int, end: int, budget: list[int]) -> HeartbeatResponse:
    o = new(HeartbeatResponse)
    o.throttle_time_ms, o.error_code = _unpack_ih(buf, pos)
    pos += 6
    return o


def _encode_heartbeat_response_v1(o: HeartbeatResponse) -> list[Part]:
    out = bytearray()
    out += _pack_ih(o.throttle_time_ms, o.error_code)
    return [out]


def _decode_heartbeat_response_v4(buf: memoryview, pos: int, end: int, budget: list[int]) -> HeartbeatResponse:
    o = new(HeartbeatResponse)
    o.throttle_time_ms, o.error_code = _unpack_ih(buf, pos)
    pos += 6
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tags(buf, pos, end)
    return o


def _encode_heartbeat_response_v4(o: HeartbeatResponse) -> list[Part]:
    out = bytearray()
    out += _pack_ih(o.throttle_time_ms, o.error_code)
    out.append(0)
    return [out]


HeartbeatRequest.DECODERS = {
    0: _decode_heartbeat_request_v0,
    1: _decode_heartbeat_request_v0,
    2: _decode_heartbeat_request_v0,
    3: _decode_heartbeat_request_v3,
    4: _decode_heartbeat_request_v4,
}
HeartbeatRequest.ENCODERS = {
    0: _encode_heartbeat_request_v0,
    1: _encode_heartbeat_request_v0,
    2: _encode_heartbeat_request_v0,
    3: _encode_heartbeat_request_v3,
    4: _encode_heartbeat_request_v4,
}
HeartbeatResponse.DECODERS = {
    0: _decode_heartbeat_response_v0,
    1: _decode_heartbeat_response_v1,
    2: _decode_heartbeat_response_v1,
    3: _decode_heartbeat_response_v1,
    4: _decode_heartbeat_response_v4,
}
HeartbeatResponse.ENCODERS = {
    0: _encode_heartbeat_response_v0,
    1: _encode_heartbeat_response_v1,
    2: _encode_heartbeat_response_v1,
    3: _encode_heartbeat_response_v1,
    4: _encode_heartbeat_response_v4,
}
