"""Creates, replaces or deletes SCRAM credentials.

Generated from schemas/alter_user_scram_credentials.msg by codegen; edit that and run it again.
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

_pack_b = Struct(">b").pack
_pack_bi = Struct(">bi").pack
_pack_h = Struct(">h").pack
_pack_i = Struct(">i").pack
_unpack_b = Struct(">b").unpack_from
_unpack_bi = Struct(">bi").unpack_from
_unpack_h = Struct(">h").unpack_from
_unpack_i = Struct(">i").unpack_from


class ScramCredentialDeletion(WireStruct):
    __slots__ = (
        "name",
        "mechanism",
    )
    FIELDS: ClassVar[FieldSpecs] = (
        ("name", "string", 0, 0, False),
        ("mechanism", "int8", 0, 0, False),
    )

    def __init__(
        self,
        name: str = "",
        mechanism: int = 0,
    ) -> None:
        self.name = name
        self.mechanism = mechanism


class ScramCredentialUpsertion(WireStruct):
    __slots__ = (
        "name",
        "mechanism",
        "iterations",
        "salt",
        "salted_password",
    )
    FIELDS: ClassVar[FieldSpecs] = (
        ("name", "string", 0, 0, False),
        ("mechanism", "int8", 0, 0, False),
        ("iterations", "int32", 0, 0, False),
        ("salt", "bytes", 0, 0, False),
        ("salted_password", "bytes", 0, 0, False),
    )

    def __init__(
        self,
        name: str = "",
        mechanism: int = 0,
        iterations: int = 0,
        salt: bytes = b"",
        salted_password: bytes = b"",
    ) -> None:
        self.name = name
        self.mechanism = mechanism
        self.iterations = iterations
        self.salt = salt
        self.salted_password = salted_password


class AlterUserScramCredentialsResult(WireStruct):
    __slots__ = (
        "user",
        "error_code",
        "error_message",
    )
    FIELDS: ClassVar[FieldSpecs] = (
        ("user", "string", 0, 0, False),
        ("error_code", "int16", 0, 0, False),
        ("error_message", "string", 0, 0, True),
    )

    def __init__(
        self,
        user: str = "",
        error_code: int = 0,
        error_message: str | None = "",
    ) -> None:
        self.user = user
        self.error_code = error_code
        self.error_message = error_message


class AlterUserScramCredentialsRequest(Request["AlterUserScramCredentialsResponse"]):
    __slots__ = (
        "deletions",
        "upsertions",
    )
    API_KEY: ClassVar[int] = 51
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int] = 0
    FIELDS: ClassVar[FieldSpecs] = (
        ("deletions", "[ScramCredentialDeletion]", 0, 0, False),
        ("upsertions", "[ScramCredentialUpsertion]", 0, 0, False),
    )

    def __init__(
        self,
        deletions: list[ScramCredentialDeletion] = EMPTY,
        upsertions: list[ScramCredentialUpsertion] = EMPTY,
    ) -> None:
        self.deletions = [] if deletions is EMPTY else deletions
        self.upsertions = [] if upsertions is EMPTY else upsertions


class AlterUserScramCredentialsResponse(Message):
    __slots__ = (
        "throttle_time_ms",
        "results",
    )
    API_KEY: ClassVar[int] = 51
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int] = 0
    FIELDS: ClassVar[FieldSpecs] = (
        ("throttle_time_ms", "int32", 0, 0, False),
        ("results", "[AlterUserScramCredentialsResult]", 0, 0, False),
    )

    def __init__(
        self,
        throttle_time_ms: int = 0,
        results: list[AlterUserScramCredentialsResult] = EMPTY,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.results = [] if results is EMPTY else results


def _read_scram_credential_deletion_v0(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[ScramCredentialDeletion], int]:
    if count * 3 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 120
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[ScramCredentialDeletion] = []
    for _ in range(count):
        o = new(ScramCredentialDeletion)
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
        (o.mechanism,) = _unpack_b(buf, pos)
        pos += 1
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tags(buf, pos, end)
        items.append(o)
    return items, pos


def _read_scram_credential_upsertion_v0(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[ScramCredentialUpsertion], int]:
    if count * 9 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 256
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[ScramCredentialUpsertion] = []
    for _ in range(count):
        o = new(ScramCredentialUpsertion)
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
        o.mechanism, o.iterations = _unpack_bi(buf, pos)
        pos += 5
        n = buf[pos]
        pos += 1
        if n > 127:
            n, pos = read_long_uvarint(buf, pos)
        n -= 1
        if n < 0:
            raise unexpected_null(pos, "salt")
        q = pos + n
        if q > end:
            raise overrun(pos, n)
        o.salt = bytes(buf[pos:q])
        pos = q
        n = buf[pos]
        pos += 1
        if n > 127:
            n, pos = read_long_uvarint(buf, pos)
        n -= 1
        if n < 0:
            raise unexpected_null(pos, "salted_password")
        q = pos + n
        if q > end:
            raise overrun(pos, n)
        o.salted_password = bytes(buf[pos:q])
        pos = q
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tags(buf, pos, end)
        items.append(o)
    return items, pos


def _decode_alter_user_scram_credentials_request_v0(buf: memoryview, pos: int, end: int, budget: list[int]) -> AlterUserScramCredentialsRequest:
    o = new(AlterUserScramCredentialsRequest)
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_long_uvarint(buf, pos)
    n -= 1
    if n < 0:
        raise unexpected_null(pos, "deletions")
    o.deletions, pos = _read_scram_credential_deletion_v0(buf, pos, end, n, budget)
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_long_uvarint(buf, pos)
    n -= 1
    if n < 0:
        raise unexpected_null(pos, "upsertions")
    o.upsertions, pos = _read_scram_credential_upsertion_v0(buf, pos, end, n, budget)
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tags(buf, pos, end)
    return o


def _write_scram_credential_deletion_v0(
    out: bytearray, items: Sequence[ScramCredentialDeletion]
) -> None:
    for o in items:
        s = o.name.encode()
        n = len(s) + 1
        out += UVARINTS[n] if n < 128 else long_string_length(n)
        out += s
        out += _pack_b(o.mechanism)
        out.append(0)


def _write_scram_credential_upsertion_v0(
    out: bytearray, items: Sequence[ScramCredentialUpsertion]
) -> None:
    for o in items:
        s = o.name.encode()
        n = len(s) + 1
        out += UVARINTS[n] if n < 128 else long_string_length(n)
        out += s
        out += _pack_bi(o.mechanism, o.iterations)
        n = len(o.salt) + 1
        out += UVARINTS[n] if n < 128 else uvarint(n)
        out += o.salt
        n = len(o.salted_password) + 1
        out += UVARINTS[n] if n < 128 else uvarint(n)
        out += o.salted_password
        out.append(0)


def _encode_alter_user_scram_credentials_request_v0(o: AlterUserScramCredentialsRequest) -> list[Part]:
    out = bytearray()
    n = len(o.deletions) + 1
    out += UVARINTS[n] if n < 128 else uvarint(n)
    _write_scram_credential_deletion_v0(out, o.deletions)
    n = len(o.upsertions) + 1
    out += UVARINTS[n] if n < 128 else uvarint(n)
    _write_scram_credential_upsertion_v0(out, o.upsertions)
    out.append(0)
    return [out]


def _read_alter_user_scram_credentials_result_v0(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[AlterUserScramCredentialsResult], int]:
    if count * 5 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 216
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[AlterUserScramCredentialsResult] = []
    for _ in range(count):
        o = new(AlterUserScramCredentialsResult)
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
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tags(buf, pos, end)
        items.append(o)
    return items, pos


def _decode_alter_user_scram_credentials_response_v0(buf: memoryview, pos: int, end: int, budget: list[int]) -> AlterUserScramCredentialsResponse:
    o = new(AlterUserScramCredentialsResponse)
    (o.throttle_time_ms,) = _unpack_i(buf, pos)
    pos += 4
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_long_uvarint(buf, pos)
    n -= 1
    if n < 0:
        raise unexpected_null(pos, "results")
    o.results, pos = _read_alter_user_scram_credentials_result_v0(buf, pos, end, n, budget)
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tags(buf, pos, end)
    return o


def _write_alter_user_scram_credentials_result_v0(
    out: bytearray, items: Sequence[AlterUserScramCredentialsResult]
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
        out.append(0)


def _encode_alter_user_scram_credentials_response_v0(o: AlterUserScramCredentialsResponse) -> list[Part]:
    out = bytearray()
    out += _pack_i(o.throttle_time_ms)
    n = len(o.results) + 1
    out += UVARINTS[n] if n < 128 else uvarint(n)
    _write_alter_user_scram_credentials_result_v0(out, o.results)
    out.append(0)
    return [out]


AlterUserScramCredentialsRequest.DECODERS = {
    0: _decode_alter_user_scram_credentials_request_v0,
}
AlterUserScramCredentialsRequest.ENCODERS = {
    0: _encode_alter_user_scram_credentials_request_v0,
}
AlterUserScramCredentialsResponse.DECODERS = {
    0: _decode_alter_user_scram_credentials_response_v0,
}
AlterUserScramCredentialsResponse.ENCODERS = {
    0: _encode_alter_user_scram_credentials_response_v0,
}
