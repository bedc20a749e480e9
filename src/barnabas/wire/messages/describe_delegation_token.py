"""Lists delegation tokens by owner.

Generated from schemas/describe_delegation_token.msg by codegen; edit that and run it again.
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
_pack_qqq = Struct(">qqq").pack
_pack_qqqh = Struct(">qqqh").pack
_unpack_h = Struct(">h").unpack_from
_unpack_hi = Struct(">hi").unpack_from
_unpack_i = Struct(">i").unpack_from
_unpack_qqq = Struct(">qqq").unpack_from
_unpack_qqqh = Struct(">qqqh").unpack_from


class DescribeDelegationTokenOwner(WireStruct):
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


class DescribedDelegationTokenRenewer(WireStruct):
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


class DescribedDelegationToken(WireStruct):
    __slots__ = (
        "principal_type",
        "principal_name",
        "token_requester_principal_type",
        "token_requester_principal_name",
        "issue_timestamp",
        "expiry_timestamp",
        "max_timestamp",
        "token_id",
        "hmac",
        "renewers",
    )
    FIELDS: ClassVar[FieldSpecs] = (
        ("principal_type", "string", 1, 3, False),
        ("principal_name", "string", 1, 3, False),
        ("token_requester_principal_type", "string", 3, 3, False),
        ("token_requester_principal_name", "string", 3, 3, False),
        ("issue_timestamp", "int64", 1, 3, False),
        ("expiry_timestamp", "int64", 1, 3, False),
        ("max_timestamp", "int64", 1, 3, False),
        ("token_id", "string", 1, 3, False),
        ("hmac", "bytes", 1, 3, False),
        ("renewers", "[DescribedDelegationTokenRenewer]", 1, 3, False),
    )

    def __init__(
        self,
        principal_type: str = "",
        principal_name: str = "",
        token_requester_principal_type: str = "",
        token_requester_principal_name: str = "",
        issue_timestamp: int = 0,
        expiry_timestamp: int = 0,
        max_timestamp: int = 0,
        token_id: str = "",
        hmac: bytes = b"",
        renewers: list[DescribedDelegationTokenRenewer] = EMPTY,
    ) -> None:
        self.principal_type = principal_type
        self.principal_name = principal_name
        self.token_requester_principal_type = token_requester_principal_type
        self.token_requester_principal_name = token_requester_principal_name
        self.issue_timestamp = issue_timestamp
        self.expiry_timestamp = expiry_timestamp
        self.max_timestamp = max_timestamp
        self.token_id = token_id
        self.hmac = hmac
        self.renewers = [] if renewers is EMPTY else renewers


class DescribeDelegationTokenRequest(Request["DescribeDelegationTokenResponse"]):
    __slots__ = (
        "owners",
    )
    API_KEY: ClassVar[int] = 41
    MIN_VERSION: ClassVar[int] = 1
    MAX_VERSION: ClassVar[int] = 3
    FLEXIBLE_FROM: ClassVar[int] = 2
    FIELDS: ClassVar[FieldSpecs] = (
        ("owners", "[DescribeDelegationTokenOwner]", 1, 3, True),
    )

    def __init__(
        self,
        owners: list[DescribeDelegationTokenOwner] | None = EMPTY,
    ) -> None:
        self.owners = [] if owners is EMPTY else owners  # null for all


class DescribeDelegationTokenResponse(Message):
    __slots__ = (
        "error_code",
        "tokens",
        "throttle_time_ms",
    )
    API_KEY: ClassVar[int] = 41
    MIN_VERSION: ClassVar[int] = 1
    MAX_VERSION: ClassVar[int] = 3
    FLEXIBLE_FROM: ClassVar[int] = 2
    FIELDS: ClassVar[FieldSpecs] = (
        ("error_code", "int16", 1, 3, False),
        ("tokens", "[DescribedDelegationToken]", 1, 3, False),
        ("throttle_time_ms", "int32", 1, 3, False),
    )

    def __init__(
        self,
        error_code: int = 0,
        tokens: list[DescribedDelegationToken] = EMPTY,
        throttle_time_ms: int = 0,
    ) -> None:
        self.error_code = error_code
        self.tokens = [] if tokens is EMPTY else tokens
        self.throttle_time_ms = throttle_time_ms


def _read_describe_delegation_token_owner_v1(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[DescribeDelegationTokenOwner], int]:
    if count * 4 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 176
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[DescribeDelegationTokenOwner] = []
    for _ in range(count):
        o = new(DescribeDelegationTokenOwner)
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


def _decode_describe_delegation_token_request_v1(buf: memoryview, pos: int, end: int, budget: list[int]) -> DescribeDelegationTokenRequest:
    o = new(DescribeDelegationTokenRequest)
    (n,) = _unpack_i(buf, pos)
    pos += 4
    if n < 0:
        o.owners = None
    else:
        o.owners, pos = _read_describe_delegation_token_owner_v1(buf, pos, end, n, budget)
    return o


def _write_describe_delegation_token_owner_v1(
    out: bytearray, items: Sequence[DescribeDelegationTokenOwner]
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


def _encode_describe_delegation_token_request_v1(o: DescribeDelegationTokenRequest) -> list[Part]:
    out = bytearray()
    if o.owners is None:
        n = -1
    else:
        n = len(o.owners)
    out += _pack_i(n)
    if o.owners is not None:
        _write_describe_delegation_token_owner_v1(out, o.owners)
    return [out]


def _read_describe_delegation_token_owner_v2(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[DescribeDelegationTokenOwner], int]:
    if count * 3 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 176
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[DescribeDelegationTokenOwner] = []
    for _ in range(count):
        o = new(DescribeDelegationTokenOwner)
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


def _decode_describe_delegation_token_request_v2(buf: memoryview, pos: int, end: int, budget: list[int]) -> DescribeDelegationTokenRequest:
    o = new(DescribeDelegationTokenRequest)
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_long_uvarint(buf, pos)
    n -= 1
    if n < 0:
        o.owners = None
    else:
        o.owners, pos = _read_describe_delegation_token_owner_v2(buf, pos, end, n, budget)
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tags(buf, pos, end)
    return o


def _write_describe_delegation_token_owner_v2(
    out: bytearray, items: Sequence[DescribeDelegationTokenOwner]
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


def _encode_describe_delegation_token_request_v2(o: DescribeDelegationTokenRequest) -> list[Part]:
    out = bytearray()
    if o.owners is None:
        out.append(0)
    else:
        n = len(o.owners) + 1
        out += UVARINTS[n] if n < 128 else uvarint(n)
        _write_describe_delegation_token_owner_v2(out, o.owners)
    out.append(0)
    return [out]


def _read_described_delegation_token_renewer_v1(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[DescribedDelegationTokenRenewer], int]:
    if count * 4 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 176
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[DescribedDelegationTokenRenewer] = []
    for _ in range(count):
        o = new(DescribedDelegationTokenRenewer)
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


def _read_described_delegation_token_v1(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[DescribedDelegationToken], int]:
    if count * 38 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 496
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[DescribedDelegationToken] = []
    for _ in range(count):
        o = new(DescribedDelegationToken)
        o.token_requester_principal_type = ""
        o.token_requester_principal_name = ""
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
        o.issue_timestamp, o.expiry_timestamp, o.max_timestamp, n = _unpack_qqqh(buf, pos)
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
        (n,) = _unpack_i(buf, pos)
        pos += 4
        if n < 0:
            raise unexpected_null(pos, "renewers")
        o.renewers, pos = _read_described_delegation_token_renewer_v1(buf, pos, end, n, budget)
        items.append(o)
    return items, pos


def _decode_describe_delegation_token_response_v1(buf: memoryview, pos: int, end: int, budget: list[int]) -> DescribeDelegationTokenResponse:
    o = new(DescribeDelegationTokenResponse)
    o.error_code, n = _unpack_hi(buf, pos)
    pos += 6
    if n < 0:
        raise unexpected_null(pos, "tokens")
    o.tokens, pos = _read_described_delegation_token_v1(buf, pos, end, n, budget)
    (o.throttle_time_ms,) = _unpack_i(buf, pos)
    pos += 4
    return o


def _write_described_delegation_token_renewer_v1(
    out: bytearray, items: Sequence[DescribedDelegationTokenRenewer]
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


def _write_described_delegation_token_v1(
    out: bytearray, items: Sequence[DescribedDelegationToken]
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
        s = o.token_id.encode()
        n = len(s)
        out += _pack_qqqh(o.issue_timestamp, o.expiry_timestamp, o.max_timestamp, n)
        out += s
        n = len(o.hmac)
        out += _pack_i(n)
        out += o.hmac
        n = len(o.renewers)
        out += _pack_i(n)
        _write_described_delegation_token_renewer_v1(out, o.renewers)


def _encode_describe_delegation_token_response_v1(o: DescribeDelegationTokenResponse) -> list[Part]:
    out = bytearray()
    n = len(o.tokens)
    out += _pack_hi(o.error_code, n)
    _write_described_delegation_token_v1(out, o.tokens)
    out += _pack_i(o.throttle_time_ms)
    return [out]


def _read_described_delegation_token_renewer_v2(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[DescribedDelegationTokenRenewer], int]:
    if count * 3 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 176
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[DescribedDelegationTokenRenewer] = []
    for _ in range(count):
        o = new(DescribedDelegationTokenRenewer)
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


def _read_described_delegation_token_v2(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[DescribedDelegationToken], int]:
    if count * 30 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 496
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[DescribedDelegationToken] = []
    for _ in range(count):
        o = new(DescribedDelegationToken)
        o.token_requester_principal_type = ""
        o.token_requester_principal_name = ""
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
        o.issue_timestamp, o.expiry_timestamp, o.max_timestamp = _unpack_qqq(buf, pos)
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
        n = buf[pos]
        pos += 1
        if n > 127:
            n, pos = read_long_uvarint(buf, pos)
        n -= 1
        if n < 0:
            raise unexpected_null(pos, "renewers")
        o.renewers, pos = _read_described_delegation_token_renewer_v2(buf, pos, end, n, budget)
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tags(buf, pos, end)
        items.append(o)
    return items, pos


def _decode_describe_delegation_token_response_v2(buf: memoryview, pos: int, end: int, budget: list[int]) -> DescribeDelegationTokenResponse:
    o = new(DescribeDelegationTokenResponse)
    (o.error_code,) = _unpack_h(buf, pos)
    pos += 2
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_long_uvarint(buf, pos)
    n -= 1
    if n < 0:
        raise unexpected_null(pos, "tokens")
    o.tokens, pos = _read_described_delegation_token_v2(buf, pos, end, n, budget)
    (o.throttle_time_ms,) = _unpack_i(buf, pos)
    pos += 4
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tags(buf, pos, end)
    return o


def _write_described_delegation_token_renewer_v2(
    out: bytearray, items: Sequence[DescribedDelegationTokenRenewer]
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


def _write_described_delegation_token_v2(
    out: bytearray, items: Sequence[DescribedDelegationToken]
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
        out += _pack_qqq(o.issue_timestamp, o.expiry_timestamp, o.max_timestamp)
        s = o.token_id.encode()
        n = len(s) + 1
        out += UVARINTS[n] if n < 128 else long_string_length(n)
        out += s
        n = len(o.hmac) + 1
        out += UVARINTS[n] if n < 128 else uvarint(n)
        out += o.hmac
        n = len(o.renewers) + 1
        out += UVARINTS[n] if n < 128 else uvarint(n)
        _write_described_delegation_token_renewer_v2(out, o.renewers)
        out.append(0)


def _encode_describe_delegation_token_response_v2(o: DescribeDelegationTokenResponse) -> list[Part]:
    out = bytearray()
    out += _pack_h(o.error_code)
    n = len(o.tokens) + 1
    out += UVARINTS[n] if n < 128 else uvarint(n)
    _write_described_delegation_token_v2(out, o.tokens)
    out += _pack_i(o.throttle_time_ms)
    out.append(0)
    return [out]


def _read_described_delegation_token_v3(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[DescribedDelegationToken], int]:
    if count * 32 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 608
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[DescribedDelegationToken] = []
    for _ in range(count):
        o = new(DescribedDelegationToken)
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
        o.issue_timestamp, o.expiry_timestamp, o.max_timestamp = _unpack_qqq(buf, pos)
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
        n = buf[pos]
        pos += 1
        if n > 127:
            n, pos = read_long_uvarint(buf, pos)
        n -= 1
        if n < 0:
            raise unexpected_null(pos, "renewers")
        o.renewers, pos = _read_described_delegation_token_renewer_v2(buf, pos, end, n, budget)
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tags(buf, pos, end)
        items.append(o)
    return items, pos


def _decode_describe_delegation_token_response_v3(buf: memoryview, pos: int, end: int, budget: list[int]) -> DescribeDelegationTokenResponse:
    o = new(DescribeDelegationTokenResponse)
    (o.error_code,) = _unpack_h(buf, pos)
    pos += 2
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_long_uvarint(buf, pos)
    n -= 1
    if n < 0:
        raise unexpected_null(pos, "tokens")
    o.tokens, pos = _read_described_delegation_token_v3(buf, pos, end, n, budget)
    (o.throttle_time_ms,) = _unpack_i(buf, pos)
    pos += 4
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tags(buf, pos, end)
    return o


def _write_described_delegation_token_v3(
    out: bytearray, items: Sequence[DescribedDelegationToken]
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
        s = o.token_requester_principal_type.encode()
        n = len(s) + 1
        out += UVARINTS[n] if n < 128 else long_string_length(n)
        out += s
        s = o.token_requester_principal_name.encode()
        n = len(s) + 1
        out += UVARINTS[n] if n < 128 else long_string_length(n)
        out += s
        out += _pack_qqq(o.issue_timestamp, o.expiry_timestamp, o.max_timestamp)
        s = o.token_id.encode()
        n = len(s) + 1
        out += UVARINTS[n] if n < 128 else long_string_length(n)
        out += s
        n = len(o.hmac) + 1
        out += UVARINTS[n] if n < 128 else uvarint(n)
        out += o.hmac
        n = len(o.renewers) + 1
        out += UVARINTS[n] if n < 128 else uvarint(n)
        _write_described_delegation_token_renewer_v2(out, o.renewers)
        out.append(0)


def _encode_describe_delegation_token_response_v3(o: DescribeDelegationTokenResponse) -> list[Part]:
    out = bytearray()
    out += _pack_h(o.error_code)
    n = len(o.tokens) + 1
    out += UVARINTS[n] if n < 128 else uvarint(n)
    _write_described_delegation_token_v3(out, o.tokens)
    out += _pack_i(o.throttle_time_ms)
    out.append(0)
    return [out]


DescribeDelegationTokenRequest.DECODERS = {
    1: _decode_describe_delegation_token_request_v1,
    2: _decode_describe_delegation_token_request_v2,
    3: _decode_describe_delegation_token_request_v2,
}
DescribeDelegationTokenRequest.ENCODERS = {
    1: _encode_describe_delegation_token_request_v1,
    2: _encode_describe_delegation_token_request_v2,
    3: _encode_describe_delegation_token_request_v2,
}
DescribeDelegationTokenResponse.DECODERS = {
    1: _decode_describe_delegation_token_response_v1,
    2: _decode_describe_delegation_token_response_v2,
    3: _decode_describe_delegation_token_response_v3,
}
DescribeDelegationTokenResponse.ENCODERS = {
    1: _encode_describe_delegation_token_response_v1,
    2: _encode_describe_delegation_token_response_v2,
    3: _encode_describe_delegation_token_response_v3,
}
