"""Changes when a delegation token expires.

Generated from schemas/expire_delegation_token.msg by codegen; edit that and run it again.
"""

from struct import Struct
from typing import ClassVar

from barnabas.wire.message import FieldSpecs, Message, Request
from barnabas.wire.primitives import (
    Part,
    UVARINTS,
    new,
    overrun,
    read_long_uvarint,
    skip_tags,
    unexpected_null,
    uvarint,
)

_pack_hqi = Struct(">hqi").pack
_pack_i = Struct(">i").pack
_pack_q = Struct(">q").pack
_unpack_hqi = Struct(">hqi").unpack_from
_unpack_i = Struct(">i").unpack_from
_unpack_q = Struct(">q").unpack_from


class ExpireDelegationTokenRequest(Request["ExpireDelegationTokenResponse"]):
    __slots__ = (
        "hmac",
        "expiry_time_period_ms",
    )
    API_KEY: ClassVar[int] = 40
    MIN_VERSION: ClassVar[int] = 1
    MAX_VERSION: ClassVar[int] = 2
    FLEXIBLE_FROM: ClassVar[int] = 2
    FIELDS: ClassVar[FieldSpecs] = (
        ("hmac", "bytes", 1, 2, False),
        ("expiry_time_period_ms", "int64", 1, 2, False),
    )

    def __init__(
        self,
        hmac: bytes = b"",
        expiry_time_period_ms: int = 0,
    ) -> None:
        self.hmac = hmac
        self.expiry_time_period_ms = expiry_time_period_ms  # below 0 expires it now


class ExpireDelegationTokenResponse(Message):
    __slots__ = (
        "error_code",
        "expiry_timestamp_ms",
        "throttle_time_ms",
    )
    API_KEY: ClassVar[int] = 40
    MIN_VERSION: ClassVar[int] = 1
    MAX_VERSION: ClassVar[int] = 2
    FLEXIBLE_FROM: ClassVar[int] = 2
    FIELDS: ClassVar[FieldSpecs] = (
        ("error_code", "int16", 1, 2, False),
        ("expiry_timestamp_ms", "int64", 1, 2, False),
        ("throttle_time_ms", "int32", 1, 2, False),
    )

    def __init__(
        self,
        error_code: int = 0,
        expiry_timestamp_ms: int = 0,
        throttle_time_ms: int = 0,
    ) -> None:
        self.error_code = error_code
        self.expiry_timestamp_ms = expiry_timestamp_ms
        self.throttle_time_ms = throttle_time_ms


def _decode_expire_delegation_token_request_v1(buf: memoryview, pos: int, end: int, budget: list[int]) -> ExpireDelegationTokenRequest:
    o = new(ExpireDelegationTokenRequest)
    (n,) = _unpack_i(buf, pos)
    pos += 4
    if n < 0:
        raise unexpected_null(pos, "hmac")
    q = pos + n
    if q > end:
        raise overrun(pos, n)
    o.hmac = bytes(buf[pos:q])
    pos = q
    (o.expiry_time_period_ms,) = _unpack_q(buf, pos)
    pos += 8
    return o


def _encode_expire_delegation_token_request_v1(o: ExpireDelegationTokenRequest) -> list[Part]:
    out = bytearray()
    n = len(o.hmac)
    out += _pack_i(n)
    out += o.hmac
    out += _pack_q(o.expiry_time_period_ms)
    return [out]


def _decode_expire_delegation_token_request_v2(buf: memoryview, pos: int, end: int, budget: list[int]) -> ExpireDelegationTokenRequest:
    o = new(ExpireDelegationTokenRequest)
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_long_uvarint(buf, pos)
    n -= 1
    if n < 0:
        raise unexpected_null(pos, "hmac")
    q = pos + n
    if q > end:
        raise overrun(pos, n)
    o.hmac = bytes(buf[pos:q])
    pos = q
    (o.expiry_time_period_ms,) = _unpack_q(buf, pos)
    pos += 8
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tags(buf, pos, end)
    return o


def _encode_expire_delegation_token_request_v2(o: ExpireDelegationTokenRequest) -> list[Part]:
    out = bytearray()
    n = len(o.hmac) + 1
    out += UVARINTS[n] if n < 128 else uvarint(n)
    out += o.hmac
    out += _pack_q(o.expiry_time_period_ms)
    out.append(0)
    return [out]


def _decode_expire_delegation_token_response_v1(buf: memoryview, pos: int, end: int, budget: list[int]) -> ExpireDelegationTokenResponse:
    o = new(ExpireDelegationTokenResponse)
    o.error_code, o.expiry_timestamp_ms, o.throttle_time_ms = _unpack_hqi(buf, pos)
    pos += 14
    return o


def _encode_expire_delegation_token_response_v1(o: ExpireDelegationTokenResponse) -> list[Part]:
    out = bytearray()
    out += _pack_hqi(o.error_code, o.expiry_timestamp_ms, o.throttle_time_ms)
    return [out]


def _decode_expire_delegation_token_response_v2(buf: memoryview, pos: int, end: int, budget: list[int]) -> ExpireDelegationTokenResponse:
    o = new(ExpireDelegationTokenResponse)
    o.error_code, o.expiry_timestamp_ms, o.throttle_time_ms = _unpack_hqi(buf, pos)
    pos += 14
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tags(buf, pos, end)
    return o


def _encode_expire_delegation_token_response_v2(o: ExpireDelegationTokenResponse) -> list[Part]:
    out = bytearray()
    out += _pack_hqi(o.error_code, o.expiry_timestamp_ms, o.throttle_time_ms)
    out.append(0)
    return [out]


ExpireDelegationTokenRequest.DECODERS = {
    1: _decode_expire_delegation_token_request_v1,
    2: _decode_expire_delegation_token_request_v2,
}
ExpireDelegationTokenRequest.ENCODERS = {
    1: _encode_expire_delegation_token_request_v1,
    2: _encode_expire_delegation_token_request_v2,
}
ExpireDelegationTokenResponse.DECODERS = {
    1: _decode_expire_delegation_token_response_v1,
    2: _decode_expire_delegation_token_response_v2,
}
ExpireDelegationTokenResponse.ENCODERS = {
    1: _encode_expire_delegation_token_response_v1,
    2: _encode_expire_delegation_token_response_v2,
}
