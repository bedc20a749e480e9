"""Which SCRAM mechanisms users have; never the secrets.

Generated from schemas/describe_user_scram_credentials.msg by codegen; edit that and run it again.
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

_pack_bi = Struct(">bi").pack
_pack_h = Struct(">h").pack
_pack_ih = Struct(">ih").pack
_unpack_bi = Struct(">bi").unpack_from
_unpack_h = Struct(">h").unpack_from
_unpack_ih = Struct(">ih").unpack_from


class UserName(WireStruct):
    __slots__ = (
        "name",
    )
    FIELDS: ClassVar[FieldSpecs] = (
        ("name", "string", 0, 0, False),
    )

    def __init__(
        self,
        name: str = "",
    ) -> None:
        self.name = name


class CredentialInfo(WireStruct):
    __slots__ = (
        "mechanism",
        "iterations",
    )
    FIELDS: ClassVar[FieldSpecs] = (
        ("mechanism", "int8", 0, 0, False),
        ("iterations", "int32", 0, 0, False),
    )

    def __init__(
        self,
        mechanism: int = 0,
        iterations: int = 0,
    ) -> None:
        self.mechanism = mechanism
        self.iterations = iterations


class DescribeUserScramCredentialsResult(WireStruct):
    __slots__ = (
        "user",
        "error_code",
        "error_message",
        "credential_infos",
    )
    FIELDS: ClassVar[FieldSpecs] = (
        ("user", "string", 0, 0, False),
        ("error_code", "int16", 0, 0, False),
        ("error_message", "string", 0, 0, True),
        ("credential_infos", "[CredentialInfo]", 0, 0, False),
    )

    def __init__(
        self,
        user: str = "",
        error_code: int = 0,
        error_message: str | None = "",
        credential_infos: list[CredentialInfo] = EMPTY,
    ) -> None:
        self.user = user
        self.error_code = error_code
        self.error_message = error_message
        self.credential_infos = [] if credential_infos is EMPTY else credential_infos


class DescribeUserScramCredentialsRequest(Request["DescribeUserScramCredentialsResponse"]):
    __slots__ = (
        "users",
    )
    API_KEY: ClassVar[int] = 50
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int] = 0
    FIELDS: ClassVar[FieldSpecs] = (
        ("users", "[UserName]", 0, 0, True),
    )

    def __init__(
        self,
        users: list[UserName] | None = EMPTY,
    ) -> None:
        self.users = [] if users is EMPTY else users


class DescribeUserScramCredentialsResponse(Message):
    __slots__ = (
        "throttle_time_ms",
        "error_code",
        "error_message",
        "results",
    )
    API_KEY: ClassVar[int] = 50
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int] = 0
    FIELDS: ClassVar[FieldSpecs] = (
        ("throttle_time_ms", "int32", 0, 0, False),
        ("error_code", "int16", 0, 0, False),
        ("error_message", "string", 0, 0, True),
        ("results", "[DescribeUserScramCredentialsResult]", 0, 0, False),
    )

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        error_message: str | None = "",
        results: list[DescribeUserScramCredentialsResult] = EMPTY,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.error_message = error_message
        self.results = [] if results is EMPTY else results


def _read_user_name_v0(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[UserName], int]:
    if count * 2 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 112
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[UserName] = []
    for _ in range(count):
        o = new(UserName)
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
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tags(buf, pos, end)
        items.append(o)
    return items, pos


def _decode_describe_user_scram_credentials_request_v0(buf: memoryview, pos: int, end: int, budget: list[int]) -> DescribeUserScramCredentialsRequest:
    o = new(DescribeUserScramCredentialsRequest)
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_long_uvarint(buf, pos)
    n -= 1
    if n < 0:
        o.users = None
    else:
        o.users, pos = _read_user_name_v0(buf, pos, end, n, budget)
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tags(buf, pos, end)
    return o


def _write_user_name_v0(
    out: bytearray, items: Sequence[UserName]
) -> None:
    for o in items:
        s = o.name.encode()
        n = len(s) + 1
        out += UVARINTS[n] if n < 128 else long_string_length(n)
        out += s
        out.append(0)


def _encode_describe_user_scram_credentials_request_v0(o: DescribeUserScramCredentialsRequest) -> list[Part]:
    out = bytearray()
    if o.users is None:
        out.append(0)
    else:
        n = len(o.users) + 1
        out += UVARINTS[n] if n < 128 else uvarint(n)
        _write_user_name_v0(out, o.users)
    out.append(0)
    return [out]


def _read_credential_info_v0(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[CredentialInfo], int]:
    if count * 6 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 96
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[CredentialInfo] = []
    for _ in range(count):
        o = new(CredentialInfo)
        o.mechanism, o.iterations = _unpack_bi(buf, pos)
        pos += 5
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tags(buf, pos, end)
        items.append(o)
    return items, pos


def _read_describe_user_scram_credentials_result_v0(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[DescribeUserScramCredentialsResult], int]:
    if count * 6 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 288
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[DescribeUserScramCredentialsResult] = []
    for _ in range(count):
        o = new(DescribeUserScramCredentialsResult)
        n = buf[pos]
        pos += 1
        if n > 127:
            n, pos = read_long_string_length(buf, pos)
        n -= 1
        if n < 0:
            raise unexpected_null(pos, "user")
        q = pos + n
        if q > end:
            raise overrun(pos, n)
        o.user = str(buf[pos:q], "utf-8")
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
        n = buf[pos]
        pos += 1
        if n > 127:
            n, pos = read_long_uvarint(buf, pos)
        n -= 1
        if n < 0:
            raise unexpected_null(pos, "credential_infos")
        o.credential_infos, pos = _read_credential_info_v0(buf, pos, end, n, budget)
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tags(buf, pos, end)
        items.append(o)
    return items, pos


def _decode_describe_user_scram_credentials_response_v0(buf: memoryview, pos: int, end: int, budget: list[int]) -> DescribeUserScramCredentialsResponse:
    o = new(DescribeUserScramCredentialsResponse)
    o.throttle_time_ms, o.error_code = _unpack_ih(buf, pos)
    pos += 6
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
        raise unexpected_null(pos, "results")
    o.results, pos = _read_describe_user_scram_credentials_result_v0(buf, pos, end, n, budget)
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tags(buf, pos, end)
    return o


def _write_credential_info_v0(
    out: bytearray, items: Sequence[CredentialInfo]
) -> None:
    for o in items:
        out += _pack_bi(o.mechanism, o.iterations)
        out.append(0)


def _write_describe_user_scram_credentials_result_v0(
    out: bytearray, items: Sequence[DescribeUserScramCredentialsResult]
) -> None:
    for o in items:
        s = o.user.encode()
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
        n = len(o.credential_infos) + 1
        out += UVARINTS[n] if n < 128 else uvarint(n)
        _write_credential_info_v0(out, o.credential_infos)
        out.append(0)


def _encode_describe_user_scram_credentials_response_v0(o: DescribeUserScramCredentialsResponse) -> list[Part]:
    out = bytearray()
    out += _pack_ih(o.throttle_time_ms, o.error_code)
    if o.error_message is None:
        out.append(0)
    else:
        s = o.error_message.encode()
        n = len(s) + 1
        out += UVARINTS[n] if n < 128 else long_string_length(n)
        out += s
    n = len(o.results) + 1
    out += UVARINTS[n] if n < 128 else uvarint(n)
    _write_describe_user_scram_credentials_result_v0(out, o.results)
    out.append(0)
    return [out]


DescribeUserScramCredentialsRequest.DECODERS = {
    0: _decode_describe_user_scram_credentials_request_v0,
}
DescribeUserScramCredentialsRequest.ENCODERS = {
    0: _encode_describe_user_scram_credentials_request_v0,
}
DescribeUserScramCredentialsResponse.DECODERS = {
    0: _decode_describe_user_scram_credentials_response_v0,
}
DescribeUserScramCredentialsResponse.ENCODERS = {
    0: _encode_describe_user_scram_credentials_response_v0,
}
