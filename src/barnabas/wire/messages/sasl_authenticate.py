"""One step of a SASL exchange.

Generated from schemas/sasl_authenticate.msg by codegen; edit that and run it again.
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
    read_long_uvarint,
    skip_tags,
    unexpected_null,
    uvarint,
)

_pack_h = Struct(">h").pack
_pack_hh = Struct(">hh").pack
_pack_i = Struct(">i").pack
_pack_q = Struct(">q").pack
_unpack_h = Struct(">h").unpack_from
_unpack_hh = Struct(">hh").unpack_from
_unpack_i = Struct(">i").unpack_from
_unpack_q = Struct(">q").unpack_from


class SaslAuthenticateRequest(Request["SaslAuthenticateResponse"]):
    __slots__ = (
        "auth_bytes",
    )
    API_KEY: ClassVar[int] = 36
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 2
    FLEXIBLE_FROM: ClassVar[int] = 2
    FIELDS: ClassVar[FieldSpecs] = (
        ("auth_bytes", "bytes", 0, 2, False),
    )

    def __init__(
        self,
        auth_bytes: bytes = b"",
    ) -> None:
        self.auth_bytes = auth_bytes


class SaslAuthenticateResponse(Message):
    __slots__ = (
        "error_code",
        "error_message",
        "auth_bytes",
        "session_lifetime_ms",
    )
    API_KEY: ClassVar[int] = 36
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 2
    FLEXIBLE_FROM: ClassVar[int] = 2
    FIELDS: ClassVar[FieldSpecs] = (
        ("error_code", "int16", 0, 2, False),
        ("error_message", "string", 0, 2, True),
        ("auth_bytes", "bytes", 0, 2, False),
        ("session_lifetime_ms", "int64", 1, 2, False),
    )

    def __init__(
        self,
        error_code: int = 0,
        error_message: str | None = "",
        auth_bytes: bytes = b"",
        session_lifetime_ms: int = 0,
    ) -> None:
        self.error_code = error_code
        self.error_message = error_message
        self.auth_bytes = auth_bytes
        self.session_lifetime_ms = session_lifetime_ms  # after which the client must authenticate again (KIP-368); 0 never


def _decode_sasl_authenticate_request_v0(buf: memoryview, pos: int, end: int, budget: list[int]) -> SaslAuthenticateRequest:
    o = new(SaslAuthenticateRequest)
    (n,) = _unpack_i(buf, pos)
    pos += 4
    if n < 0:
        raise unexpected_null(pos, "auth_bytes")
    q = pos + n
    if q > end:
        raise overrun(pos, n)
    o.auth_bytes = bytes(buf[pos:q])
    pos = q
    return o


def _encode_sasl_authenticate_request_v0(o: SaslAuthenticateRequest) -> list[Part]:
    out = bytearray()
    n = len(o.auth_bytes)
    out += _pack_i(n)
    out += o.auth_bytes
    return [out]


def _decode_sasl_authenticate_request_v2(buf: memoryview, pos: int, end: int, budget: list[int]) -> SaslAuthenticateRequest:
    o = new(SaslAuthenticateRequest)
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_long_uvarint(buf, pos)
    n -= 1
    if n < 0:
        raise unexpected_null(pos, "auth_bytes")
    q = pos + n
    if q > end:
        raise overrun(pos, n)
    o.auth_bytes = bytes(buf[pos:q])
    pos = q
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tags(buf, pos, end)
    return o


def _encode_sasl_authenticate_request_v2(o: SaslAuthenticateRequest) -> list[Part]:
    out = bytearray()
    n = len(o.auth_bytes) + 1
    out += UVARINTS[n] if n < 128 else uvarint(n)
    out += o.auth_bytes
    out.append(0)
    return [out]


def _decode_sasl_authenticate_response_v0(buf: memoryview, pos: int, end: int, budget: list[int]) -> SaslAuthenticateResponse:
    o = new(SaslAuthenticateResponse)
    o.session_lifetime_ms = 0
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
    (n,) = _unpack_i(buf, pos)
    pos += 4
    if n < 0:
        raise unexpected_null(pos, "auth_bytes")
    q = pos + n
    if q > end:
        raise overrun(pos, n)
    o.auth_bytes = bytes(buf[pos:q])
    pos = q
    return o


def _encode_sasl_authenticate_response_v0(o: SaslAuthenticateResponse) -> list[Part]:
    out = bytearray()
    if o.error_message is None:
        n = -1
        s = b""
    else:
        s = o.error_message.encode()
        n = len(s)
    out += _pack_hh(o.error_code, n)
    out += s
    n = len(o.auth_bytes)
    out += _pack_i(n)
    out += o.auth_bytes
    return [out]


def _decode_sasl_authenticate_response_v1(buf: memoryview, pos: int, end: int, budget: list[int]) -> SaslAuthenticateResponse:
    o = new(SaslAuthenticateResponse)
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
    (n,) = _unpack_i(buf, pos)
    pos += 4
    if n < 0:
        raise unexpected_null(pos, "auth_bytes")
    q = pos + n
    if q > end:
        raise overrun(pos, n)
    o.auth_bytes = bytes(buf[pos:q])
    pos = q
    (o.session_lifetime_ms,) = _unpack_q(buf, pos)
    pos += 8
    return o


def _encode_sasl_authenticate_response_v1(o: SaslAuthenticateResponse) -> list[Part]:
    out = bytearray()
    if o.error_message is None:
        n = -1
        s = b""
    else:
        s = o.error_message.encode()
        n = len(s)
    out += _pack_hh(o.error_code, n)
    out += s
    n = len(o.auth_bytes)
    out += _pack_i(n)
    out += o.auth_bytes
    out += _pack_q(o.session_lifetime_ms)
    return [out]


def _decode_sasl_authenticate_response_v2(buf: memoryview, pos: int, end: int, budget: list[int]) -> SaslAuthenticateResponse:
    o = new(SaslAuthenticateResponse)
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
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_long_uvarint(buf, pos)
    n -= 1
    if n < 0:
        raise unexpected_null(pos, "auth_bytes")
    q = pos + n
    if q > end:
        raise overrun(pos, n)
    o.auth_bytes = bytes(buf[pos:q])
    pos = q
    (o.session_lifetime_ms,) = _unpack_q(buf, pos)
    pos += 8
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tags(buf, pos, end)
    return o


def _encode_sasl_authenticate_response_v2(o: SaslAuthenticateResponse) -> list[Part]:
    out = bytearray()
    out += _pack_h(o.error_code)
    if o.error_message is None:
        out.append(0)
    else:
        s = o.error_message.encode()
        n = len(s) + 1
        out += UVARINTS[n] if n < 128 else long_string_length(n)
        out += s
    n = len(o.auth_bytes) + 1
    out += UVARINTS[n] if n < 128 else uvarint(n)
    out += o.auth_bytes
    out += _pack_q(o.session_lifetime_ms)
    out.append(0)
    return [out]


SaslAuthenticateRequest.DECODERS = {
    0: _decode_sasl_authenticate_request_v0,
    1: _decode_sasl_authenticate_request_v0,
    2: _decode_sasl_authenticate_request_v2,
}
SaslAuthenticateRequest.ENCODERS = {
    0: _encode_sasl_authenticate_request_v0,
    1: _encode_sasl_authenticate_request_v0,
    2: _encode_sasl_authenticate_request_v2,
}
SaslAuthenticateResponse.DECODERS = {
    0: _decode_sasl_authenticate_response_v0,
    1: _decode_sasl_authenticate_response_v1,
    2: _decode_sasl_authenticate_response_v2,
}
SaslAuthenticateResponse.ENCODERS = {
    0: _encode_sasl_authenticate_response_v0,
    1: _encode_sasl_authenticate_response_v1,
    2: _encode_sasl_authenticate_response_v2,
}
