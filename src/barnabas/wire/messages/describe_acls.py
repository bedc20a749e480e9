"""Lists ACLs that match a filter.

Generated from schemas/describe_acls.msg by codegen; edit that and run it again.
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
_pack_bi = Struct(">bi").pack
_pack_h = Struct(">h").pack
_pack_i = Struct(">i").pack
_pack_ih = Struct(">ih").pack
_pack_ihh = Struct(">ihh").pack
_unpack_b = Struct(">b").unpack_from
_unpack_bb = Struct(">bb").unpack_from
_unpack_bh = Struct(">bh").unpack_from
_unpack_bi = Struct(">bi").unpack_from
_unpack_h = Struct(">h").unpack_from
_unpack_i = Struct(">i").unpack_from
_unpack_ih = Struct(">ih").unpack_from
_unpack_ihh = Struct(">ihh").unpack_from


class AclDescription(WireStruct):
    __slots__ = (
        "principal",
        "host",
        "operation",
        "permission_type",
    )
    FIELDS: ClassVar[FieldSpecs] = (
        ("principal", "string", 1, 3, False),
        ("host", "string", 1, 3, False),
        ("operation", "int8", 1, 3, False),
        ("permission_type", "int8", 1, 3, False),
    )

    def __init__(
        self,
        principal: str = "",
        host: str = "",
        operation: int = 0,
        permission_type: int = 0,
    ) -> None:
        self.principal = principal
        self.host = host
        self.operation = operation
        self.permission_type = permission_type  # 2 deny, 3 allow


class DescribeAclsResource(WireStruct):
    __slots__ = (
        "resource_type",
        "resource_name",
        "pattern_type",
        "acls",
    )
    FIELDS: ClassVar[FieldSpecs] = (
        ("resource_type", "int8", 1, 3, False),
        ("resource_name", "string", 1, 3, False),
        ("pattern_type", "int8", 1, 3, False),
        ("acls", "[AclDescription]", 1, 3, False),
    )

    def __init__(
        self,
        resource_type: int = 0,
        resource_name: str = "",
        pattern_type: int = 3,
        acls: list[AclDescription] = EMPTY,
    ) -> None:
        self.resource_type = resource_type
        self.resource_name = resource_name
        self.pattern_type = pattern_type  # 3 literal, 4 prefixed
        self.acls = [] if acls is EMPTY else acls


class DescribeAclsRequest(Request["DescribeAclsResponse"]):
    __slots__ = (
        "resource_type_filter",
        "resource_name_filter",
        "pattern_type_filter",
        "principal_filter",
        "host_filter",
        "operation",
        "permission_type",
    )
    API_KEY: ClassVar[int] = 29
    MIN_VERSION: ClassVar[int] = 1
    MAX_VERSION: ClassVar[int] = 3
    FLEXIBLE_FROM: ClassVar[int] = 2
    FIELDS: ClassVar[FieldSpecs] = (
        ("resource_type_filter", "int8", 1, 3, False),
        ("resource_name_filter", "string", 1, 3, True),
        ("pattern_type_filter", "int8", 1, 3, False),
        ("principal_filter", "string", 1, 3, True),
        ("host_filter", "string", 1, 3, True),
        ("operation", "int8", 1, 3, False),
        ("permission_type", "int8", 1, 3, False),
    )

    def __init__(
        self,
        resource_type_filter: int = 0,
        resource_name_filter: str | None = "",
        pattern_type_filter: int = 3,
        principal_filter: str | None = "",
        host_filter: str | None = "",
        operation: int = 0,
        permission_type: int = 0,
    ) -> None:
        self.resource_type_filter = resource_type_filter
        self.resource_name_filter = resource_name_filter  # null for any
        self.pattern_type_filter = pattern_type_filter  # 1 any, 2 match, 3 literal, 4 prefixed
        self.principal_filter = principal_filter  # null for any
        self.host_filter = host_filter  # null for any
        self.operation = operation
        self.permission_type = permission_type  # 2 deny, 3 allow


class DescribeAclsResponse(Message):
    __slots__ = (
        "throttle_time_ms",
        "error_code",
        "error_message",
        "resources",
    )
    API_KEY: ClassVar[int] = 29
    MIN_VERSION: ClassVar[int] = 1
    MAX_VERSION: ClassVar[int] = 3
    FLEXIBLE_FROM: ClassVar[int] = 2
    FIELDS: ClassVar[FieldSpecs] = (
        ("throttle_time_ms", "int32", 1, 3, False),
        ("error_code", "int16", 1, 3, False),
        ("error_message", "string", 1, 3, True),
        ("resources", "[DescribeAclsResource]", 1, 3, False),
    )

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        error_message: str | None = "",
        resources: list[DescribeAclsResource] = EMPTY,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.error_message = error_message
        self.resources = [] if resources is EMPTY else resources


def _decode_describe_acls_request_v1(buf: memoryview, pos: int, end: int, budget: list[int]) -> DescribeAclsRequest:
    o = new(DescribeAclsRequest)
    o.resource_type_filter, n = _unpack_bh(buf, pos)
    pos += 3
    if n < 0:
        o.resource_name_filter = None
    else:
        q = pos + n
        if q > end:
            raise overrun(pos, n)
        o.resource_name_filter = str(buf[pos:q], "utf-8")
        pos = q
    o.pattern_type_filter, n = _unpack_bh(buf, pos)
    pos += 3
    if n < 0:
        o.principal_filter = None
    else:
        q = pos + n
        if q > end:
            raise overrun(pos, n)
        o.principal_filter = str(buf[pos:q], "utf-8")
        pos = q
    (n,) = _unpack_h(buf, pos)
    pos += 2
    if n < 0:
        o.host_filter = None
    else:
        q = pos + n
        if q > end:
            raise overrun(pos, n)
        o.host_filter = str(buf[pos:q], "utf-8")
        pos = q
    o.operation, o.permission_type = _unpack_bb(buf, pos)
    pos += 2
    return o


def _encode_describe_acls_request_v1(o: DescribeAclsRequest) -> list[Part]:
    out = bytearray()
    if o.resource_name_filter is None:
        n = -1
        s = b""
    else:
        s = o.resource_name_filter.encode()
        n = len(s)
    out += _pack_bh(o.resource_type_filter, n)
    out += s
    if o.principal_filter is None:
        n = -1
        s = b""
    else:
        s = o.principal_filter.encode()
        n = len(s)
    out += _pack_bh(o.pattern_type_filter, n)
    out += s
    if o.host_filter is None:
        n = -1
        s = b""
    else:
        s = o.host_filter.encode()
        n = len(s)
    out += _pack_h(n)
    out += s
    out += _pack_bb(o.operation, o.permission_type)
    return [out]


def _decode_describe_acls_request_v2(buf: memoryview, pos: int, end: int, budget: list[int]) -> DescribeAclsRequest:
    o = new(DescribeAclsRequest)
    (o.resource_type_filter,) = _unpack_b(buf, pos)
    pos += 1
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_long_string_length(buf, pos)
    n -= 1
    if n < 0:
        o.resource_name_filter = None
    else:
        q = pos + n
        if q > end:
            raise overrun(pos, n)
        o.resource_name_filter = str(buf[pos:q], "utf-8")
        pos = q
    (o.pattern_type_filter,) = _unpack_b(buf, pos)
    pos += 1
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_long_string_length(buf, pos)
    n -= 1
    if n < 0:
        o.principal_filter = None
    else:
        q = pos + n
        if q > end:
            raise overrun(pos, n)
        o.principal_filter = str(buf[pos:q], "utf-8")
        pos = q
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_long_string_length(buf, pos)
    n -= 1
    if n < 0:
        o.host_filter = None
    else:
        q = pos + n
        if q > end:
            raise overrun(pos, n)
        o.host_filter = str(buf[pos:q], "utf-8")
        pos = q
    o.operation, o.permission_type = _unpack_bb(buf, pos)
    pos += 2
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tags(buf, pos, end)
    return o


def _encode_describe_acls_request_v2(o: DescribeAclsRequest) -> list[Part]:
    out = bytearray()
    out += _pack_b(o.resource_type_filter)
    if o.resource_name_filter is None:
        out.append(0)
    else:
        s = o.resource_name_filter.encode()
        n = len(s) + 1
        out += UVARINTS[n] if n < 128 else long_string_length(n)
        out += s
    out += _pack_b(o.pattern_type_filter)
    if o.principal_filter is None:
        out.append(0)
    else:
        s = o.principal_filter.encode()
        n = len(s) + 1
        out += UVARINTS[n] if n < 128 else long_string_length(n)
        out += s
    if o.host_filter is None:
        out.append(0)
    else:
        s = o.host_filter.encode()
        n = len(s) + 1
        out += UVARINTS[n] if n < 128 else long_string_length(n)
        out += s
    out += _pack_bb(o.operation, o.permission_type)
    out.append(0)
    return [out]


def _read_acl_description_v1(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[AclDescription], int]:
    if count * 6 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 192
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[AclDescription] = []
    for _ in range(count):
        o = new(AclDescription)
        (n,) = _unpack_h(buf, pos)
        pos += 2
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


def _read_describe_acls_resource_v1(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[DescribeAclsResource], int]:
    if count * 8 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 200
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[DescribeAclsResource] = []
    for _ in range(count):
        o = new(DescribeAclsResource)
        o.resource_type, n = _unpack_bh(buf, pos)
        pos += 3
        if n < 0:
            raise unexpected_null(pos, "resource_name")
        q = pos + n
        if q > end:
            raise overrun(pos, n)
        o.resource_name = str(buf[pos:q], "utf-8")
        pos = q
        o.pattern_type, n = _unpack_bi(buf, pos)
        pos += 5
        if n < 0:
            raise unexpected_null(pos, "acls")
        o.acls, pos = _read_acl_description_v1(buf, pos, end, n, budget)
        items.append(o)
    return items, pos


def _decode_describe_acls_response_v1(buf: memoryview, pos: int, end: int, budget: list[int]) -> DescribeAclsResponse:
    o = new(DescribeAclsResponse)
    o.throttle_time_ms, o.error_code, n = _unpack_ihh(buf, pos)
    pos += 8
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
        raise unexpected_null(pos, "resources")
    o.resources, pos = _read_describe_acls_resource_v1(buf, pos, end, n, budget)
    return o


def _write_acl_description_v1(
    out: bytearray, items: Sequence[AclDescription]
) -> None:
    for o in items:
        s = o.principal.encode()
        n = len(s)
        out += _pack_h(n)
        out += s
        s = o.host.encode()
        n = len(s)
        out += _pack_h(n)
        out += s
        out += _pack_bb(o.operation, o.permission_type)


def _write_describe_acls_resource_v1(
    out: bytearray, items: Sequence[DescribeAclsResource]
) -> None:
    for o in items:
        s = o.resource_name.encode()
        n = len(s)
        out += _pack_bh(o.resource_type, n)
        out += s
        n = len(o.acls)
        out += _pack_bi(o.pattern_type, n)
        _write_acl_description_v1(out, o.acls)


def _encode_describe_acls_response_v1(o: DescribeAclsResponse) -> list[Part]:
    out = bytearray()
    if o.error_message is None:
        n = -1
        s = b""
    else:
        s = o.error_message.encode()
        n = len(s)
    out += _pack_ihh(o.throttle_time_ms, o.error_code, n)
    out += s
    n = len(o.resources)
    out += _pack_i(n)
    _write_describe_acls_resource_v1(out, o.resources)
    return [out]


def _read_acl_description_v2(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[AclDescription], int]:
    if count * 5 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 192
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[AclDescription] = []
    for _ in range(count):
        o = new(AclDescription)
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


def _read_describe_acls_resource_v2(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[DescribeAclsResource], int]:
    if count * 5 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 200
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[DescribeAclsResource] = []
    for _ in range(count):
        o = new(DescribeAclsResource)
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
        (o.pattern_type,) = _unpack_b(buf, pos)
        pos += 1
        n = buf[pos]
        pos += 1
        if n > 127:
            n, pos = read_long_uvarint(buf, pos)
        n -= 1
        if n < 0:
            raise unexpected_null(pos, "acls")
        o.acls, pos = _read_acl_description_v2(buf, pos, end, n, budget)
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tags(buf, pos, end)
        items.append(o)
    return items, pos


def _decode_describe_acls_response_v2(buf: memoryview, pos: int, end: int, budget: list[int]) -> DescribeAclsResponse:
    o = new(DescribeAclsResponse)
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
        raise unexpected_null(pos, "resources")
    o.resources, pos = _read_describe_acls_resource_v2(buf, pos, end, n, budget)
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tags(buf, pos, end)
    return o


def _write_acl_description_v2(
    out: bytearray, items: Sequence[AclDescription]
) -> None:
    for o in items:
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


def _write_describe_acls_resource_v2(
    out: bytearray, items: Sequence[DescribeAclsResource]
) -> None:
    for o in items:
        out += _pack_b(o.resource_type)
        s = o.resource_name.encode()
        n = len(s) + 1
        out += UVARINTS[n] if n < 128 else long_string_length(n)
        out += s
        out += _pack_b(o.pattern_type)
        n = len(o.acls) + 1
        out += UVARINTS[n] if n < 128 else uvarint(n)
        _write_acl_description_v2(out, o.acls)
        out.append(0)


def _encode_describe_acls_response_v2(o: DescribeAclsResponse) -> list[Part]:
    out = bytearray()
    out += _pack_ih(o.throttle_time_ms, o.error_code)
    if o.error_message is None:
        out.append(0)
    else:
        s = o.error_message.encode()
        n = len(s) + 1
        out += UVARINTS[n] if n < 128 else long_string_length(n)
        out += s
    n = len(o.resources) + 1
    out += UVARINTS[n] if n < 128 else uvarint(n)
    _write_describe_acls_resource_v2(out, o.resources)
    out.append(0)
    return [out]


DescribeAclsRequest.DECODERS = {
    1: _decode_describe_acls_request_v1,
    2: _decode_describe_acls_request_v2,
    3: _decode_describe_acls_request_v2,
}
DescribeAclsRequest.ENCODERS = {
    1: _encode_describe_acls_request_v1,
    2: _encode_describe_acls_request_v2,
    3: _encode_describe_acls_request_v2,
}
DescribeAclsResponse.DECODERS = {
    1: _decode_describe_acls_response_v1,
    2: _decode_describe_acls_response_v2,
    3: _decode_describe_acls_response_v2,
}
DescribeAclsResponse.ENCODERS = {
    1: _encode_describe_acls_response_v1,
    2: _encode_describe_acls_response_v2,
    3: _encode_describe_acls_response_v2,
}
