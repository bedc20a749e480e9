"""Creates ACLs.

Generated from schemas/create_acls.msg by codegen; edit that and run it again.
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
_pack_bb = Struct(">bb").pack
_pack_bh = Struct(">bh").pack
_pack_h = Struct(">h").pack
_pack_hh = Struct(">hh").pack
_pack_i = Struct(">i").pack
_pack_ii = Struct(">ii").pack
_unpack_b = Struct(">b").unpack_from
_unpack_bb = Struct(">bb").unpack_from
_unpack_bh = Struct(">bh").unpack_from
_unpack_h = Struct(">h").unpack_from
_unpack_hh = Struct(">hh").unpack_from
_unpack_i = Struct(">i").unpack_from
_unpack_ii = Struct(">ii").unpack_from


class AclCreation(WireStruct):
    __slots__ = (
        "resource_type",
        "resource_name",
        "resource_pattern_type",
        "principal",
        "host",
        "operation",
        "permission_type",
    )
    FIELDS: ClassVar[FieldSpecs] = (
        ("resource_type", "int8", 1, 3, False),
        ("resource_name", "string", 1, 3, False),
        ("resource_pattern_type", "int8", 1, 3, False),
        ("principal", "string", 1, 3, False),
        ("host", "string", 1, 3, False),
        ("operation", "int8", 1, 3, False),
        ("permission_type", "int8", 1, 3, False),
    )

    def __init__(
        self,
        resource_type: int = 0,
        resource_name: str = "",
        resource_pattern_type: int = 3,
        principal: str = "",
        host: str = "",
        operation: int = 0,
        permission_type: int = 0,
    ) -> None:
        self.resource_type = resource_type
        self.resource_name = resource_name
        self.resource_pattern_type = resource_pattern_type  # 3 literal, 4 prefixed
        self.principal = principal
        self.host = host
        self.operation = operation
        self.permission_type = permission_type  # 2 deny, 3 allow


class AclCreationResult(WireStruct):
    __slots__ = (
        "error_code",
        "error_message",
    )
    FIELDS: ClassVar[FieldSpecs] = (
        ("error_code", "int16", 1, 3, False),
        ("error_message", "string", 1, 3, True),
    )

    def __init__(
        self,
        error_code: int = 0,
        error_message: str | None = "",
    ) -> None:
        self.error_code = error_code
        self.error_message = error_message


class CreateAclsRequest(Request["CreateAclsResponse"]):
    __slots__ = (
        "creations",
    )
    API_KEY: ClassVar[int] = 30
    MIN_VERSION: ClassVar[int] = 1
    MAX_VERSION: ClassVar[int] = 3
    FLEXIBLE_FROM: ClassVar[int] = 2
    FIELDS: ClassVar[FieldSpecs] = (
        ("creations", "[AclCreation]", 1, 3, False),
    )

    def __init__(
        self,
        creations: list[AclCreation] = EMPTY,
    ) -> None:
        self.creations = [] if creations is EMPTY else creations


class CreateAclsResponse(Message):
    __slots__ = (
        "throttle_time_ms",
        "results",
    )
    API_KEY: ClassVar[int] = 30
    MIN_VERSION: ClassVar[int] = 1
    MAX_VERSION: ClassVar[int] = 3
    FLEXIBLE_FROM: ClassVar[int] = 2
    FIELDS: ClassVar[FieldSpecs] = (
        ("throttle_time_ms", "int32", 1, 3, False),
        ("results", "[AclCreationResult]", 1, 3, False),
    )

    def __init__(
        self,
        throttle_time_ms: int = 0,
        results: list[AclCreationResult] = EMPTY,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.results = [] if results is EMPTY else results


def _read_acl_creation_v1(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[AclCreation], int]:
    if count * 10 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 272
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[AclCreation] = []
    for _ in range(count):
        o = new(AclCreation)
        o.resource_type, n = _unpack_bh(buf, pos)
        pos += 3
        if n < 0:
            raise unexpected_null(pos, "resource_name")
        q = pos + n
        if q > end:
            raise overrun(pos, n)
        o.resource_name = str(buf[pos:q], "utf-8")
        pos = q
        o.resource_pattern_type, n = _unpack_bh(buf, pos)
        pos += 3
        if n < 0:
            raise unexpected_null(pos, "principal")
        q = pos + n
        if q > end:
            raise overrun(pos, n)
        o.principal = str(buf[pos:q], "utf-8")
        pos = q
        (n,) = _unpack_h(buf, pos)
        pos += 2
        if n < 0:
            raise unexpected_null(pos, "host")
        q = pos + n
        if q > end:
            raise overrun(pos, n)
        o.host = str(buf[pos:q], "utf-8")
        pos = q
        o.operation, o.permission_type = _unpack_bb(buf, pos)
        pos += 2
        items.append(o)
    return items, pos


def _decode_create_acls_request_v1(buf: memoryview, pos: int, end: int, budget: list[int]) -> CreateAclsRequest:
    o = new(CreateAclsRequest)
    (n,) = _unpack_i(buf, pos)
    pos += 4
    if n < 0:
        raise unexpected_null(pos, "creations")
    o.creations, pos = _read_acl_creation_v1(buf, pos, end, n, budget)
    return o


def _write_acl_creation_v1(
    out: bytearray, items: Sequence[AclCreation]
) -> None:
    for o in items:
        s = o.resource_name.encode()
        n = len(s)
        out += _pack_bh(o.resource_type, n)
        out += s
        s = o.principal.encode()
        n = len(s)
        out += _pack_bh(o.resource_pattern_type, n)
        out += s
        s = o.host.encode()
        n = len(s)
        out += _pack_h(n)
        out += s
        out += _pack_bb(o.operation, o.permission_type)


def _encode_create_acls_request_v1(o: CreateAclsRequest) -> list[Part]:
    out = bytearray()
    n = len(o.creations)
    out += _pack_i(n)
    _write_acl_creation_v1(out, o.creations)
    return [out]


def _read_acl_creation_v2(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[AclCreation], int]:
    if count * 8 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 272
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[AclCreation] = []
    for _ in range(count):
        o = new(AclCreation)
        (o.resource_type,) = _unpack_b(buf, pos)
        pos += 1
        n = buf[pos]
        pos += 1
        if n > 127:
            n, pos = read_long_string_length(buf, pos)
        n -= 1
        if n < 0:
            raise unexpected_null(pos, "resource_name")
        q = pos + n
        if q > end:
            raise overrun(pos, n)
        o.resource_name = str(buf[pos:q], "utf-8")
        pos = q
        (o.resource_pattern_type,) = _unpack_b(buf, pos)
        pos += 1
        n = buf[pos]
        pos += 1
        if n > 127:
            n, pos = read_long_string_length(buf, pos)
        n -= 1
        if n < 0:
            raise unexpected_null(pos, "principal")
        q = pos + n
        if q > end:
            raise overrun(pos, n)
        o.principal = str(buf[pos:q], "utf-8")
        pos = q
        n = buf[pos]
        pos += 1
        if n > 127:
            n, pos = read_long_string_length(buf, pos)
        n -= 1
        if n < 0:
            raise unexpected_null(pos, "host")
        q = pos + n
        if q > end:
            raise overrun(pos, n)
        o.host = str(buf[pos:q], "utf-8")
        pos = q
        o.operation, o.permission_type = _unpack_bb(buf, pos)
        pos += 2
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tags(buf, pos, end)
        items.append(o)
    return items, pos


def _decode_create_acls_request_v2(buf: memoryview, pos: int, end: int, budget: list[int]) -> CreateAclsRequest:
    o = new(CreateAclsRequest)
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_long_uvarint(buf, pos)
    n -= 1
    if n < 0:
        raise unexpected_null(pos, "creations")
    o.creations, pos = _read_acl_creation_v2(buf, pos, end, n, budget)
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tags(buf, pos, end)
    return o


def _write_acl_creation_v2(
    out: bytearray, items: Sequence[AclCreation]
) -> None:
    for o in items:
        out += _pack_b(o.resource_type)
        s = o.resource_name.encode()
        n = len(s) + 1
        out += UVARINTS[n] if n < 128 else long_string_length(n)
        out += s
        out += _pack_b(o.resource_pattern_type)
        s = o.principal.encode()
        n = len(s) + 1
        out += UVARINTS[n] if n < 128 else long_string_length(n)
        out += s
        s = o.host.encode()
        n = len(s) + 1
        out += UVARINTS[n] if n < 128 else long_string_length(n)
        out += s
        out += _pack_bb(o.operation, o.permission_type)
        out.append(0)


def _encode_create_acls_request_v2(o: CreateAclsRequest) -> list[Part]:
    out = bytearray()
    n = len(o.creations) + 1
    out += UVARINTS[n] if n < 128 else uvarint(n)
    _write_acl_creation_v2(out, o.creations)
    out.append(0)
    return [out]


def _read_acl_creation_result_v1(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[AclCreationResult], int]:
    if count * 4 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 152
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[AclCreationResult] = []
    for _ in range(count):
        o = new(AclCreationResult)
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
        items.append(o)
    return items, pos


def _decode_create_acls_response_v1(buf: memoryview, pos: int, end: int, budget: list[int]) -> CreateAclsResponse:
    o = new(CreateAclsResponse)
    o.throttle_time_ms, n = _unpack_ii(buf, pos)
    pos += 8
    if n < 0:
        raise unexpected_null(pos, "results")
    o.results, pos = _read_acl_creation_result_v1(buf, pos, end, n, budget)
    return o


def _write_acl_creation_result_v1(
    out: bytearray, items: Sequence[AclCreationResult]
) -> None:
    for o in items:
        if o.error_message is None:
            n = -1
            s = b""
        else:
            s = o.error_message.encode()
            n = len(s)
        out += _pack_hh(o.error_code, n)
        out += s


def _encode_create_acls_response_v1(o: CreateAclsResponse) -> list[Part]:
    out = bytearray()
    n = len(o.results)
    out += _pack_ii(o.throttle_time_ms, n)
    _write_acl_creation_result_v1(out, o.results)
    return [out]


def _read_acl_creation_result_v2(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[AclCreationResult], int]:
    if count * 4 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 152
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[AclCreationResult] = []
    for _ in range(count):
        o = new(AclCreationResult)
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


def _decode_create_acls_response_v2(buf: memoryview, pos: int, end: int, budget: list[int]) -> CreateAclsResponse:
    o = new(CreateAclsResponse)
    (o.throttle_time_ms,) = _unpack_i(buf, pos)
    pos += 4
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_long_uvarint(buf, pos)
    n -= 1
    if n < 0:
        raise unexpected_null(pos, "results")
    o.results, pos = _read_acl_creation_result_v2(buf, pos, end, n, budget)
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tags(buf, pos, end)
    return o


def _write_acl_creation_result_v2(
    out: bytearray, items: Sequence[AclCreationResult]
) -> None:
    for o in items:
        out += _pack_h(o.error_code)
        if o.error_message is None:
            out.append(0)
        else:
            s = o.error_message.encode()
            n = len(s) + 1
            out += UVARINTS[n] if n < 128 else long_string_length(n)
            out += s
        out.append(0)


def _encode_create_acls_response_v2(o: CreateAclsResponse) -> list[Part]:
    out = bytearray()
    out += _pack_i(o.throttle_time_ms)
    n = len(o.results) + 1
    out += UVARINTS[n] if n < 128 else uvarint(n)
    _write_acl_creation_result_v2(out, o.results)
    out.append(0)
    return [out]


CreateAclsRequest.DECODERS = {
    1: _decode_create_acls_request_v1,
    2: _decode_create_acls_request_v2,
    3: _decode_create_acls_request_v2,
}
CreateAclsRequest.ENCODERS = {
    1: _encode_create_acls_request_v1,
    2: _encode_create_acls_request_v2,
    3: _encode_create_acls_request_v2,
}
CreateAclsResponse.DECODERS = {
    1: _decode_create_acls_response_v1,
    2: _decode_create_acls_response_v2,
    3: _decode_create_acls_response_v2,
}
CreateAclsResponse.ENCODERS = {
    1: _encode_create_acls_response_v1,
    2: _encode_create_acls_response_v2,
    3: _encode_create_acls_response_v2,
}
