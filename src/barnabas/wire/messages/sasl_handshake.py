"""Agrees on a SASL mechanism before SaslAuthenticate.

Generated from schemas/sasl_handshake.msg by codegen; edit that and run it again.
"""

from struct import Struct
from typing import ClassVar

from barnabas.wire.message import FieldSpecs, Message, Request
from barnabas.wire.primitives import (
    EMPTY,
    Part,
    new,
    overrun,
    read_strings,
    unexpected_null,
    write_strings,
)

_pack_h = Struct(">h").pack
_pack_hi = Struct(">hi").pack
_unpack_h = Struct(">h").unpack_from
_unpack_hi = Struct(">hi").unpack_from


class SaslHandshakeRequest(Request["SaslHandshakeResponse"]):
    __slots__ = (
        "mechanism",
    )
    API_KEY: ClassVar[int] = 17
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 1
    FLEXIBLE_FROM: ClassVar[int] = 32767
    FIELDS: ClassVar[FieldSpecs] = (
        ("mechanism", "string", 0, 1, False),
    )

    def __init__(
        self,
        mechanism: str = "",
    ) -> None:
        self.mechanism = mechanism


class SaslHandshakeResponse(Message):
    __slots__ = (
        "error_code",
        "mechanisms",
    )
    API_KEY: ClassVar[int] = 17
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 1
    FLEXIBLE_FROM: ClassVar[int] = 32767
    FIELDS: ClassVar[FieldSpecs] = (
        ("error_code", "int16", 0, 1, False),
        ("mechanisms", "[string]", 0, 1, False),
    )

    def __init__(
        self,
        error_code: int = 0,
        mechanisms: list[str] = EMPTY,
    ) -> None:
        self.error_code = error_code
        self.mechanisms = [] if mechanisms is EMPTY else mechanisms  # what the broker offers


def _decode_sasl_handshake_request_v0(buf: memoryview, pos: int, end: int, budget: list[int]) -> SaslHandshakeRequest:
    o = new(SaslHandshakeRequest)
    (n,) = _unpack_h(buf, pos)
    pos += 2
    if n < 0:
        raise unexpected_null(pos, "mechanism")
    q = pos + n
    if q > end:
        raise overrun(pos, n)
    o.mechanism = str(buf[pos:q], "utf-8")
    pos = q
    return o


def _encode_sasl_handshake_request_v0(o: SaslHandshakeRequest) -> list[Part]:
    out = bytearray()
    s = o.mechanism.encode()
    n = len(s)
    out += _pack_h(n)
    out += s
    return [out]


def _decode_sasl_handshake_response_v0(buf: memoryview, pos: int, end: int, budget: list[int]) -> SaslHandshakeResponse:
    o = new(SaslHandshakeResponse)
    o.error_code, n = _unpack_hi(buf, pos)
    pos += 6
    if n < 0:
        raise unexpected_null(pos, "mechanisms")
    o.mechanisms, pos = read_strings(buf, pos, end, n, budget)
    return o


def _encode_sasl_handshake_response_v0(o: SaslHandshakeResponse) -> list[Part]:
    out = bytearray()
    n = len(o.mechanisms)
    out += _pack_hi(o.error_code, n)
    write_strings(out, o.mechanisms)
    return [out]


SaslHandshakeRequest.DECODERS = {
    0: _decode_sasl_handshake_request_v0,
    1: _decode_sasl_handshake_request_v0,
}
SaslHandshakeRequest.ENCODERS = {
    0: _encode_sasl_handshake_request_v0,
    1: _encode_sasl_handshake_request_v0,
}
SaslHandshakeResponse.DECODERS = {
    0: _decode_sasl_handshake_response_v0,
    1: _decode_sasl_handshake_response_v0,
}
SaslHandshakeResponse.ENCODERS = {
    0: _encode_sasl_handshake_response_v0,
    1: _encode_sasl_handshake_response_v0,
}
