"""Creates a delegation token (KIP-48).

Generated from schemas/create_delegation_token.msg by codegen; edit that and run it again.
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
_pack_hh = Struct(">hh").pack
_pack_i = Struct(">i").pack
_pack_q = Struct(">q").pack
_pack_qqq = Struct(">qqq").pack
_pack_qqqh = Struct(">qqqh").pack
_unpack_h = Struct(">h").unpack_from
_unpack_hh = Struct(">hh").unpack_from
_unpack_i = Struct(">i").unpack_from
_unpack_q = Struct(">q").unpack_from
_unpack_qqq = Struct(">qqq").unpack_from
_unpack_qqqh = Struct(">qqqh").unpack_from


class CreatableRenewers(WireStruct):
    __slots__ = (
        "principal_type",
        "principal_name",
    )
    FIELDS: ClassVar[FieldSpecs] = (
        ("principal_type", "string", 1, 3, False),
        ("principal_name", "string", 1, 3, False),
    )

    def __init__(
        self,
        principal_type: str = "",
        principal_name: str = "",
    ) -> None:
        self.principal_type = principal_type
        self.principal_name = principal_name


class CreateDelegationTokenRequest(Request["CreateDelegationTokenResponse"]):
    __slots__ = (
        "owner_principal_type",
        "owner_principal_name",
        "renewers",
        "max_lifetime_ms",
    )
    API_KEY: ClassVar[int] = 38
    MIN_VERSION: ClassVar[int] = 1
    MAX_VERSION: ClassVar[int] = 3
    FLEXIBLE_FROM: ClassVar[int] = 2
    FIELDS: ClassVar[FieldSpecs] = (
        ("owner_principal_type", "string", 3, 3, True),
        ("owner_principal_name", "string", 3, 3, True),
        ("renewers", "[CreatableRenewers]", 1, 3, False),
        ("max_lifetime_ms", "int64", 1, 3, False),
    )

    def __init__(
        self,
        owner_principal_type: str | None = "",
        owner_principal_name: str | None = "",
        renewers: list[CreatableRenewers] = EMPTY,
        max_lifetime_ms: int = 0,
    ) -> None:
        self.owner_principal_type = owner_principal_type  # null for the caller
        self.owner_principal_name = owner_principal_name  # null for the caller
        self.renewers = [] if renewers is EMPTY else renewers  # who else may renew it
        self.max_lifetime_ms = max_lifetime_ms  # -1 takes the setting of the broker


class CreateDelegationTokenResponse(Message):
    __slots__ = (
        "error_code",
        "principal_type",
        "principal_name",
        "token_requester_principal_type",
        "token_requester_principal_name",
        "issue_timestamp_ms",
        "expiry_timestamp_ms",
        "max_timestamp_ms",
        "token_id",
        "hmac",
        "throttle_time_ms",
    )
    API_KEY: ClassVar[int] = 38
    MIN_VERSION: ClassVar[int] = 1
    MAX_VERSION: ClassVar[int] = 3
    FLEXIBLE_FROM: ClassVar[int] = 2
    FIELDS: ClassVar[FieldSpecs] = (
        ("error_code", "int16", 1, 3, False),
        ("principal_type", "string", 1, 3, False),
        ("principal_name", "string", 1, 3, False),
        ("token_requester_principal_type", "string", 3, 3, False),
        ("token_requester_principal_name", "string", 3, 3, False),
        ("issue_timestamp_ms", "int64", 1, 3, False),
        ("expiry_timestamp_ms", "int64", 1, 3, False),
        ("max_timestamp_ms", "int64", 1, 3, False),
        ("token_id", "string", 1, 3, False),
        ("hmac", "bytes", 1, 3, False),
        ("throttle_time_ms", "int32", 1, 3, False),
    )

    def __init__(
        self,
        error_code: int = 0,
        principal_type: str = "",
        principal_name: str = "",
        token_requester_principal_type: str = "",
        token_requester_principal_name: str = "",
        issue_timestamp_ms: int = 0,
        expiry_timestamp_ms: int = 0,
        max_timestamp_ms: int = 0,
        token_id: str = "",
        hmac: bytes = b"",
        throttle_time_ms: int = 0,
    ) -> None:
        self.error_code = error_code
        self.principal_type = principal_type
        self.principal_name = principal_name
        self.token_requester_principal_type = token_requester_principal_type
        self.token_requester_principal_name = token_requester_principal_name
        self.issue_timestamp_ms = issue_timestamp_ms
        self.expiry_timestamp_ms = expiry_timestamp_ms
        self.max_timestamp_ms = max_timestamp_ms  # it cannot be renewed beyond
        self.token_id = token_id
        self.hmac = hmac
        self.throttle_time_ms = throttle_time_ms


def _read_creatable_renewers_v1(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[CreatableRenewers], int]:
    if count * 4 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 176
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[CreatableRenewers] = []
    for _ in range(count):
        o = new(CreatableRenewers)
        (n,) = _unpack_h(buf, pos)
        pos += 2
        if n < 0:
            raise unexpected_null(pos, "principal_type")
        q = pos + n
        if q > end:
            raise overrun(pos, n)
        o.principal_type = str(buf[pos:q], "utf-8")
        pos = q
        (n,) = _unpack_h(buf, pos)
        pos += 2
        if n < 0:
            raise unexpected_null(pos, "principal_name")
        q = pos + n
        if q > end:
            raise overrun(pos, n)
        o.principal_name = str(buf[pos:q], "utf-8")
        pos = q
        items.append(o)
    return items, pos


def _decode_create_delegation_token_request_v1(buf: memoryview, pos: int, end: int, budget: list[int]) -> CreateDelegationTokenRequest:
    o = new(CreateDelegationTokenRequest)
    o.owner_principal_type = ""
    o.owner_principal_name = ""
    (n,) = _unpack_i(buf, pos)
    pos += 4
    if n < 0:
        raise unexpected_null(pos, "renewers")
    o.renewers, pos = _read_creatable_renewers_v1(buf, pos, end, n, budget)
    (o.max_lifetime_ms,) = _unpack_q(buf, pos)
    pos += 8
    return o


def _write_creatable_renewers_v1(
    out: bytearray, items: Sequence[CreatableRenewers]
) -> None:
    for o in items:
        s = o.principal_type.encode()
        n = len(s)
        out += _pack_h(n)
        out += s
        s = o.principal_name.encode()
        n = len(s)
        out += _pack_h(n)
        out += s


def _encode_create_delegation_token_request_v1(o: CreateDelegationTokenRequest) -> list[Part]:
    out = bytearray()
    n = len(o.renewers)
    out += _pack_i(n)
    _write_creatable_renewers_v1(out, o.renewers)
    out += _pack_q(o.max_lifetime_ms)
    return [out]


def _read_creatable_renewers_v2(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[CreatableRenewers], int]:
    if count * 3 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 176
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[CreatableRenewers] = []
    for _ in range(count):
        o = new(CreatableRenewers)
        n = buf[pos]
        pos += 1
        if n > 127:
            n, pos = read_long_string_length(buf, pos)
        n -= 1
        if n < 0:
            raise unexpected_null(pos, "principal_type")
        q = pos + n
        if q > end:
            raise overrun(pos, n)
        o.principal_type = str(buf[pos:q], "utf-8")
        pos = q
        n = buf[pos]
        pos += 1
        if n > 127:
            n, pos = read_long_string_length(buf, pos)
        n -= 1
        if n < 0:
            raise unexpected_null(pos, "principal_name")
        q = pos + n
        if q > end:
            raise overrun(pos, n)
        o.principal_name = str(buf[pos:q], "utf-8")
        pos = q
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tags(buf, pos, end)
        items.append(o)
    return items, pos


def _decode_create_delegation_token_request_v2(buf: memoryview, pos: int, end: int, budget: list[int]) -> CreateDelegationTokenRequest:
    o = new(CreateDelegationTokenRequest)
    o.owner_principal_type = ""
    o.owner_principal_name = ""
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_long_uvarint(buf, pos)
    n -= 1
    if n < 0:
        raise unexpected_null(pos, "renewers")
    o.renewers, pos = _read_creatable_renewers_v2(buf, pos, end, n, budget)
    (o.max_lifetime_ms,) = _unpack_q(buf, pos)
    pos += 8
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tags(buf, pos, end)
    return o


def _write_creatable_renewers_v2(
    out: bytearray, items: Sequence[CreatableRenewers]
) -> None:
    for o in items:
        s = o.principal_type.encode()
        n = len(s) + 1
        out += UVARINTS[n] if n < 128 else long_string_length(n)
        out += s
        s = o.principal_name.encode()
        n = len(s) + 1
        out += UVARINTS[n] if n < 128 else long_string_length(n)
        out += s
        out.append(0)


def _encode_create_delegation_token_request_v2(o: CreateDelegationTokenRequest) -> list[Part]:
    out = bytearray()
    n = len(o.renewers) + 1
    out += UVARINTS[n] if n < 128 else uvarint(n)
    _write_creatable_renewers_v2(out, o.renewers)
    out += _pack_q(o.max_lifetime_ms)
    out.append(0)
    return [out]


def _decode_create_delegation_token_request_v3(buf: memoryview, pos: int, end: int, budget: list[int]) -> CreateDelegationTokenRequest:
    o = new(CreateDelegationTokenRequest)
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_long_string_length(buf, pos)
    n -= 1
    if n < 0:
        o.owner_principal_type = None
    else:
        q = pos + n
        if q > end:
            raise overrun(pos, n)
        o.owner_principal_type = str(buf[pos:q], "utf-8")
        pos = q
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_long_string_length(buf, pos)
    n -= 1
    if n < 0:
        o.owner_principal_name = None
    else:
        q = pos + n
        if q > end:
            raise overrun(pos, n)
        o.owner_principal_name = str(buf[pos:q], "utf-8")
        pos = q
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_long_uvarint(buf, pos)
    n -= 1
    if n < 0:
        raise unexpected_null(pos, "renewers")
    o.renewers, pos = _read_creatable_renewers_v2(buf, pos, end, n, budget)
    (o.max_lifetime_ms,) = _unpack_q(buf, pos)
    pos += 8
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tags(buf, pos, end)
    return o


def _encode_create_delegation_token_request_v3(o: CreateDelegationTokenRequest) -> list[Part]:
    out = bytearray()
    if o.owner_principal_type is None:
        out.append(0)
    else:
        s = o.owner_principal_type.encode()
        n = len(s) + 1
        out += UVARINTS[n] if n < 128 else long_string_length(n)
        out += s
    if o.owner_principal_name is None:
        out.append(0)
    else:
        s = o.owner_principal_name.encode()
        n = len(s) + 1
        out += UVARINTS[n] if n < 128 else long_string_length(n)
        out += s
    n = len(o.renewers) + 1
    out += UVARINTS[n] if n < 128 else uvarint(n)
    _write_creatable_renewers_v2(out, o.renewers)
    out += _pack_q(o.max_lifetime_ms)
    out.append(0)
    return [out]


def _decode_create_delegation_token_response_v1(buf: memoryview, pos: int, end: int, budget: list[int]) -> CreateDelegationTokenResponse:
    o = new(CreateDelegationTokenResponse)
    o.token_requester_principal_type = ""
    o.token_requester_principal_name = ""
    o.error_code, n = _unpack_hh(buf, pos)
    pos += 4
    if n < 0:
        raise unexpected_null(pos, "principal_type")
    q = pos + n
    if q > end:
        raise overrun(pos, n)
    o.principal_type = str(buf[pos:q], "utf-8")
    pos = q
    (n,) = _unpack_h(buf, pos)
    pos += 2
    if n < 0:
        raise unexpected_null(pos, "principal_name")
    q = pos + n
    if q > end:
        raise overrun(pos, n)
    o.principal_name = str(buf[pos:q], "utf-8")
    pos = q
    o.issue_timestamp_ms, o.expiry_timestamp_ms, o.max_timestamp_ms, n = _unpack_qqqh(buf, pos)
    pos += 26
    if n < 0:
        raise unexpected_null(pos, "token_id")
    q = pos + n
    if q > end:
        raise overrun(pos, n)
    o.token_id = str(buf[pos:q], "utf-8")
    pos = q
    (n,) = _unpack_i(buf, pos)
    pos += 4
    if n < 0:
        raise unexpected_null(pos, "hmac")
    q = pos + n
    if q > end:
        raise overrun(pos, n)
    o.hmac = bytes(buf[pos:q])
    pos = q
    (o.throttle_time_ms,) = _unpack_i(buf, pos)
    pos += 4
    return o


def _encode_create_delegation_token_response_v1(o: CreateDelegationTokenResponse) -> list[Part]:
    out = bytearray()
    s = o.principal_type.encode()
    n = len(s)
    out += _pack_hh(o.error_code, n)
    out += s
    s = o.principal_name.encode()
    n = len(s)
    out += _pack_h(n)
    out += s
    s = o.token_id.encode()
    n = len(s)
    out += _pack_qqqh(o.issue_timestamp_ms, o.expiry_timestamp_ms, o.max_timestamp_ms, n)
    out += s
    n = len(o.hmac)
    out += _pack_i(n)
    out += o.hmac
    out += _pack_i(o.throttle_time_ms)
    return [out]


def _decode_create_delegation_token_response_v2(buf: memoryview, pos: int, end: int, budget: list[int]) -> CreateDelegationTokenResponse:
    o = new(CreateDelegationTokenResponse)
    o.token_requester_principal_type = ""
    o.token_requester_principal_name = ""
    (o.error_code,) = _unpack_h(buf, pos)
    pos += 2
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_long_string_length(buf, pos)
    n -= 1
    if n < 0:
        raise unexpected_null(pos, "principal_type")
    q = pos + n
    if q > end:
        raise overrun(pos, n)
    o.principal_type = str(buf[pos:q], "utf-8")
    pos = q
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_long_string_length(buf, pos)
    n -= 1
    if n < 0:
        raise unexpected_null(pos, "principal_name")
    q = pos + n
    if q > end:
        raise overrun(pos, n)
    o.principal_name = str(buf[pos:q], "utf-8")
    pos = q
    o.issue_timestamp_ms, o.expiry_timestamp_ms, o.max_timestamp_ms = _unpack_qqq(buf, pos)
    pos += 24
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_long_string_length(buf, pos)
    n -= 1
    if n < 0:
        raise unexpected_null(pos, "token_id")
    q = pos + n
    if q > end:
        raise overrun(pos, n)
    o.token_id = str(buf[pos:q], "utf-8")
    pos = q
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
    (o.throttle_time_ms,) = _unpack_i(buf, pos)
    pos += 4
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tags(buf, pos, end)
    return o


def _encode_create_delegation_token_response_v2(o: CreateDelegationTokenResponse) -> list[Part]:
    out = bytearray()
    out += _pack_h(o.error_code)
    s = o.principal_type.encode()
    n = len(s) + 1
    out += UVARINTS[n] if n < 128 else long_string_length(n)
    out += s
    s = o.principal_name.encode()
    n = len(s) + 1
    out += UVARINTS[n] if n < 128 else long_string_length(n)
    out += s
    out += _pack_qqq(o.issue_timestamp_ms, o.expiry_timestamp_ms, o.max_timestamp_ms)
    s = o.token_id.encode()
    n = len(s) + 1
    out += UVARINTS[n] if n < 128 else long_string_length(n)
    out += s
    n = len(o.hmac) + 1
    out += UVARINTS[n] if n < 128 else uvarint(n)
    out += o.hmac
    out += _pack_i(o.throttle_time_ms)
    out.append(0)
    return [out]


def _decode_create_delegation_token_response_v3(buf: memoryview, pos: int, end: int, budget: list[int]) -> CreateDelegationTokenResponse:
    o = new(CreateDelegationTokenResponse)
    (o.error_code,) = _unpack_h(buf, pos)
    pos += 2
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_long_string_length(buf, pos)
    n -= 1
    if n < 0:
        raise unexpected_null(pos, "principal_type")
    q = pos + n
    if q > end:
        raise overrun(pos, n)
    o.principal_type = str(buf[pos:q], "utf-8")
    pos = q
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_long_string_length(buf, pos)
    n -= 1
    if n < 0:
        raise unexpected_null(pos, "principal_name")
    q = pos + n
    if q > end:
        raise overrun(pos, n)
    o.principal_name = str(buf[pos:q], "utf-8")
    pos = q
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_long_string_length(buf, pos)
    n -= 1
    if n < 0:
        raise unexpected_null(pos, "token_requester_principal_type")
    q = pos + n
    if q > end:
        raise overrun(pos, n)
    o.token_requester_principal_type = str(buf[pos:q], "utf-8")
    pos = q
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_long_string_length(buf, pos)
    n -= 1
    if n < 0:
        raise unexpected_null(pos, "token_requester_principal_name")
    q = pos + n
    if q > end:
        raise overrun(pos, n)
    o.token_requester_principal_name = str(buf[pos:q], "utf-8")
    pos = q
    o.issue_timestamp_ms, o.expiry_timestamp_ms, o.max_timestamp_ms = _unpack_qqq(buf, pos)
    pos += 24
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_long_string_length(buf, pos)
    n -= 1
    if n < 0:
        raise unexpected_null(pos, "token_id")
    q = pos + n
    if q > end:
        raise overrun(pos, n)
    o.token_id = str(buf[pos:q], "utf-8")
    pos = q
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
    (o.throttle_time_ms,) = _unpack_i(buf, pos)
    pos += 4
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tags(buf, pos, end)
    return o


def _encode_create_delegation_token_response_v3(o: CreateDelegationTokenResponse) -> list[Part]:
    out = bytearray()
    out += _pack_h(o.error_code)
    s = o.principal_type.encode()
    n = len(s) + 1
    out += UVARINTS[n] if n < 128 else long_string_length(n)
    out += s
    s = o.principal_name.encode()
    n = len(s) + 1
    out += UVARINTS[n] if n < 128 else long_string_length(n)
    out += s
    s = o.token_requester_principal_type.encode()
    n = len(s) + 1
    out += UVARINTS[n] if n < 128 else long_string_length(n)
    out += s
    s = o.token_requester_principal_name.encode()
    n = len(s) + 1
    out += UVARINTS[n] if n < 128 else long_string_length(n)
    out += s
    out += _pack_qqq(o.issue_timestamp_ms, o.expiry_timestamp_ms, o.max_timestamp_ms)
    s = o.token_id.encode()
    n = len(s) + 1
    out += UVARINTS[n] if n < 128 else long_string_length(n)
    out += s
    n = len(o.hmac) + 1
    out += UVARINTS[n] if n < 128 else uvarint(n)
    out += o.hmac
    out += _pack_i(o.throttle_time_ms)
    out.append(0)
    return [out]


CreateDelegationTokenRequest.DECODERS = {
    1: _decode_create_delegation_token_request_v1,
    2: _decode_create_delegation_token_request_v2,
    3: _decode_create_delegation_token_request_v3,
}
CreateDelegationTokenRequest.ENCODERS = {
    1: _encode_create_delegation_token_request_v1,
    2: _encode_create_delegation_token_request_v2,
    3: _encode_create_delegation_token_request_v3,
}
CreateDelegationTokenResponse.DECODERS = {
    1: _decode_create_delegation_token_response_v1,
    2: _decode_create_delegation_token_response_v2,
    3: _decode_create_delegation_token_response_v3,
}
CreateDelegationTokenResponse.ENCODERS = {
    1: _encode_create_delegation_token_response_v1,
    2: _encode_create_delegation_token_response_v2,
    3: _encode_create_delegation_token_response_v3,
}
