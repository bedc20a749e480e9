"""Renews a delegation token.

Generated from schemas/renew_delegation_token.msg by codegen; edit that and run it again.
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


class RenewDelegationTokenRequest(Request["RenewDelegationTokenResponse"]):
    __slots__ = (
        "hmac",
        "renew_period_ms",
    )
    API_KEY: ClassVar[int] = 39
    MIN_VERSION: ClassVar[int] = 1
    MAX_VERSION: ClassVar[int] = 2
    FLEXIBLE_FROM: ClassVar[int] = 2
    FIELDS: ClassVar[FieldSpecs] = (
        ("hmac", "bytes", 1, 2, False),
        ("renew_period_ms", "int64", 1, 2, False),
    )

    def __init__(
        self,
        hmac: bytes = b"",
        renew_period_ms: int = 0,
    ) -> None:
        self.hmac = hmac
        self.renew_period_ms = renew_period_ms


class RenewDelegationTokenResponse(Message):
    __slots__ = (
        "error_code",
        "expiry_timestamp_ms",
        "throttle_time_ms",
    )
    API_KEY: ClassVar[int] = 39
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


def _decode_renew_delegation_token_request_v1(buf: memoryview, pos: int, end: int, budget: list[int]) -> RenewDelegationTokenRequest:
    o = new(RenewDelegationTokenRequest)
    (n,) = _unpack_i(buf, pos)
    pos += 4
    if n < 0:
        raise unexpected_null(pos, "hmac")
    q = pos + n
    if q > end:
        raise overrun(pos, n)
    o.hmac = bytes(buf[pos:q])
    pos = q
    (o.renew_period_ms,) = _unpack_q(buf, pos)
    pos += 8
    return o


def _encode_renew_delegation_token_request_v1(o: RenewDelegationTokenRequest) -> list[Part]:
    out = bytearray()
    n = len(o.hmac)
    out += _pack_i(n)
    out += o.hmac
    out += _pack_q(o.renew_period_ms)
    return [out]


def _decode_renew_delegation_token_request_v2(buf: memoryview, pos: int, end: int, budget: list[int]) -> RenewDelegationTokenRequest:
    o = new(RenewDelegationTokenRequest)
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
    (o.renew_period_ms,) = _unpack_q(buf, pos)
    pos += 8
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tags(buf, pos, end)
    return o


def _encode_renew_delegation_token_request_v2(o: RenewDelegationTokenRequest) -> list[Part]:
    out = bytearray()
    n = len(o.hmac) + 1
    out += UVARINTS[n] if n < 128 else uvarint(n)
    out += o.hmac
    out += _pack_q(o.renew_period_ms)
    out.append(0)
    return [out]


def _decode_renew_delegation_token_response_v1(buf: memoryview, pos: int, end: int, budget: list[int]) -> RenewDelegationTokenResponse:
    o = new(RenewDelegationTokenResponse)
    o.error_code, o.expiry_timestamp_ms, o.throttle_time_ms = _unpack_hqi(buf, pos)
    pos += 14
    return o


def _encode_renew_delegation_token_response_v1(o: RenewDelegationTokenResponse) -> list[Part]:
    out = bytearray()
    out += _pack_hqi(o.error_code, o.expiry_timestamp_ms, o.throttle_time_ms)
    return [out]


def _decode_renew_delegation_token_response_v2(buf: memoryview, pos: int, end: int, budget: list[int]) -> RenewDelegationTokenResponse:
    o = new(RenewDelegationTokenResponse)
    o.error_code, o.expiry_timestamp_ms, o.throttle_time_ms = _unpack_hqi(buf, pos)
    pos += 14
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tags(buf, pos, end)
    return o


def _encode_renew_delegation_token_response_v2(o: RenewDelegationTokenResponse) -> list[Part]:
    out = bytearray()
    out += _pack_hqi(o.error_code, o.expiry_timestamp_ms, o.throttle_time_ms)
    out.append(0)
    return [out]


RenewDelegationTokenRequest.DECODERS = {
    1: _decode_renew_delegation_token_request_v1,
    2: _decode_renew_delegation_token_request_v2,
}
RenewDelegationTokenRequest.ENCODERS = {
    1: _encode_renew_delegation_token_request_v1,
    2: _encode_renew_delegation_token_request_v2,
}
RenewDelegationTokenResponse.DECODERS = {
    1: _decode_renew_delegation_token_response_v1,
    2: _decode_renew_delegation_token_response_v2,
}
RenewDelegationTokenResponse.ENCODERS = {
    1: _encode_renew_delegation_token_response_v1,
    2: _encode_renew_delegation_token_response_v2,
}
