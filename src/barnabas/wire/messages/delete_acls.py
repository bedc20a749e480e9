"""Deletes the ACLs that match filters.

Generated from schemas/delete_acls.msg by codegen; edit that and run it again.
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


class DeleteAclsFilter(WireStruct):
    __slots__ = (
        "resource_type_filter",
        "resource_name_filter",
        "pattern_type_filter",
        "principal_filter",
        "host_filter",
        "operation",
        "permission_type",
    )
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


class DeleteAclsMatchingAcl(WireStruct):
    __slots__ = (
        "error_code",
        "error_message",
        "resource_type",
        "resource_name",
        "pattern_type",
        "principal",
        "host",
        "operation",
        "permission_type",
    )
    FIELDS: ClassVar[FieldSpecs] = (
        ("error_code", "int16", 1, 3, False),
        ("error_message", "string", 1, 3, True),
        ("resource_type", "int8", 1, 3, False),
        ("resource_name", "string", 1, 3, False),
        ("pattern_type", "int8", 1, 3, False),
        ("principal", "string", 1, 3, False),
        ("host", "string", 1, 3, False),
        ("operation", "int8", 1, 3, False),
        ("permission_type", "int8", 1, 3, False),
    )

    def __init__(
        self,
        error_code: int = 0,
        error_message: str | None = "",
        resource_type: int = 0,
        resource_name: str = "",
        pattern_type: int = 3,
        principal: str = "",
        host: str = "",
        operation: int = 0,
        permission_type: int = 0,
    ) -> None:
        self.error_code = error_code
        self.error_message = error_message
        self.resource_type = resource_type
        self.resource_name = resource_name
        self.pattern_type = pattern_type  # 3 literal, 4 prefixed
        self.principal = principal
        self.host = host
        self.operation = operation
        self.permission_type = permission_type  # 2 deny, 3 allow


class DeleteAclsFilterResult(WireStruct):
    __slots__ = (
        "error_code",
        "error_message",
        "matching_acls",
    )
    FIELDS: ClassVar[FieldSpecs] = (
        ("error_code", "int16", 1, 3, False),
        ("error_message", "string", 1, 3, True),
        ("matching_acls", "[DeleteAclsMatchingAcl]", 1, 3, False),
    )

    def __init__(
        self,
        error_code: int = 0,
        error_message: str | None = "",
        matching_acls: list[DeleteAclsMatchingAcl] = EMPTY,
    ) -> None:
        self.error_code = error_code
        self.error_message = error_message
        self.matching_acls = [] if matching_acls is EMPTY else matching_acls


class DeleteAclsRequest(Request["DeleteAclsResponse"]):
    __slots__ = (
        "filters",
    )
    API_KEY: ClassVar[int] = 31
    MIN_VERSION: ClassVar[int] = 1
    MAX_VERSION: ClassVar[int] = 3
    FLEXIBLE_FROM: ClassVar[int] = 2
    FIELDS: ClassVar[FieldSpecs] = (
        ("filters", "[DeleteAclsFilter]", 1, 3, False),
    )

    def __init__(
        self,
        filters: list[DeleteAclsFilter] = EMPTY,
    ) -> None:
        self.filters = [] if filters is EMPTY else filters


class DeleteAclsResponse(Message):
    __slots__ = (
        "throttle_time_ms",
        "filter_results",
    )
    API_KEY: ClassVar[int] = 31
    MIN_VERSION: ClassVar[int] = 1
    MAX_VERSION: ClassVar[int] = 3
    FLEXIBLE_FROM: ClassVar[int] = 2
    FIELDS: ClassVar[FieldSpecs] = (
        ("throttle_time_ms", "int32", 1, 3, False),
        ("filter_results", "[DeleteAclsFilterResult]", 1, 3, False),
    )

    def __init__(
        self,
        throttle_time_ms: int = 0,
        filter_results: list[DeleteAclsFilterResult] = EMPTY,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.filter_results = [] if filter_results is EMPTY else filter_results


def _read_delete_acls_filter_v1(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[DeleteAclsFilter], int]:
    if count * 10 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 272
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[DeleteAclsFilter] = []
    for _ in range(count):
        o = new(DeleteAclsFilter)
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
        items.append(o)
    return items, pos


def _decode_delete_acls_request_v1(buf: memoryview, pos: int, end: int, budget: list[int]) -> DeleteAclsRequest:
    o = new(DeleteAclsRequest)
    (n,) = _unpack_i(buf, pos)
    pos += 4
    if n < 0:
        raise unexpected_null(pos, "filters")
    o.filters, pos = _read_delete_acls_filter_v1(buf, pos, end, n, budget)
    return o


def _write_delete_acls_filter_v1(
    out: bytearray, items: Sequence[DeleteAclsFilter]
) -> None:
    for o in items:
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


def _encode_delete_acls_request_v1(o: DeleteAclsRequest) -> list[Part]:
    out = bytearray()
    n = len(o.filters)
    out += _pack_i(n)
    _write_delete_acls_filter_v1(out, o.filters)
    return [out]


def _read_delete_acls_filter_v2(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[DeleteAclsFilter], int]:
    if count * 8 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 272
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[DeleteAclsFilter] = []
    for _ in range(count):
        o = new(DeleteAclsFilter)
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
        items.append(o)
    return items, pos


def _decode_delete_acls_request_v2(buf: memoryview, pos: int, end: int, budget: list[int]) -> DeleteAclsRequest:
    o = new(DeleteAclsRequest)
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_long_uvarint(buf, pos)
    n -= 1
    if n < 0:
        raise unexpected_null(pos, "filters")
    o.filters, pos = _read_delete_acls_filter_v2(buf, pos, end, n, budget)
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tags(buf, pos, end)
    return o


def _write_delete_acls_filter_v2(
    out: bytearray, items: Sequence[DeleteAclsFilter]
) -> None:
    for o in items:
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


def _encode_delete_acls_request_v2(o: DeleteAclsRequest) -> list[Part]:
    out = bytearray()
    n = len(o.filters) + 1
    out += UVARINTS[n] if n < 128 else uvarint(n)
    _write_delete_acls_filter_v2(out, o.filters)
    out.append(0)
    return [out]


def _read_delete_acls_matching_acl_v1(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[DeleteAclsMatchingAcl], int]:
    if count * 14 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 376
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[DeleteAclsMatchingAcl] = []
    for _ in range(count):
        o = new(DeleteAclsMatchingAcl)
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
        o.resource_type, n = _unpack_bh(buf, pos)
        pos += 3
        if n < 0:
            raise unexpected_null(pos, "resource_name")
        q = pos + n
        if q > end:
            raise overrun(pos, n)
        o.resource_name = str(buf[pos:q], "utf-8")
        pos = q
        o.pattern_type, n = _unpack_bh(buf, pos)
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


def _read_delete_acls_filter_result_v1(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[DeleteAclsFilterResult], int]:
    if count * 8 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 224
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[DeleteAclsFilterResult] = []
    for _ in range(count):
        o = new(DeleteAclsFilterResult)
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
            raise unexpected_null(pos, "matching_acls")
        o.matching_acls, pos = _read_delete_acls_matching_acl_v1(buf, pos, end, n, budget)
        items.append(o)
    return items, pos


def _decode_delete_acls_response_v1(buf: memoryview, pos: int, end: int, budget: list[int]) -> DeleteAclsResponse:
    o = new(DeleteAclsResponse)
    o.throttle_time_ms, n = _unpack_ii(buf, pos)
    pos += 8
    if n < 0:
        raise unexpected_null(pos, "filter_results")
    o.filter_results, pos = _read_delete_acls_filter_result_v1(buf, pos, end, n, budget)
    return o


def _write_delete_acls_matching_acl_v1(
    out: bytearray, items: Sequence[DeleteAclsMatchingAcl]
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
        s = o.resource_name.encode()
        n = len(s)
        out += _pack_bh(o.resource_type, n)
        out += s
        s = o.principal.encode()
        n = len(s)
        out += _pack_bh(o.pattern_type, n)
        out += s
        s = o.host.encode()
        n = len(s)
        out += _pack_h(n)
        out += s
        out += _pack_bb(o.operation, o.permission_type)


def _write_delete_acls_filter_result_v1(
    out: bytearray, items: Sequence[DeleteAclsFilterResult]
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
        n = len(o.matching_acls)
        out += _pack_i(n)
        _write_delete_acls_matching_acl_v1(out, o.matching_acls)


def _encode_delete_acls_response_v1(o: DeleteAclsResponse) -> list[Part]:
    out = bytearray()
    n = len(o.filter_results)
    out += _pack_ii(o.throttle_time_ms, n)
    _write_delete_acls_filter_result_v1(out, o.filter_results)
    return [out]


def _read_delete_acls_matching_acl_v2(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[DeleteAclsMatchingAcl], int]:
    if count * 11 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 376
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[DeleteAclsMatchingAcl] = []
    for _ in range(count):
        o = new(DeleteAclsMatchingAcl)
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


def _read_delete_acls_filter_result_v2(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[DeleteAclsFilterResult], int]:
    if count * 5 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 224
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[DeleteAclsFilterResult] = []
    for _ in range(count):
        o = new(DeleteAclsFilterResult)
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
            raise unexpected_null(pos, "matching_acls")
        o.matching_acls, pos = _read_delete_acls_matching_acl_v2(buf, pos, end, n, budget)
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tags(buf, pos, end)
        items.append(o)
    return items, pos


def _decode_delete_acls_response_v2(buf: memoryview, pos: int, end: int, budget: list[int]) -> DeleteAclsResponse:
    o = new(DeleteAclsResponse)
    (o.throttle_time_ms,) = _unpack_i(buf, pos)
    pos += 4
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_long_uvarint(buf, pos)
    n -= 1
    if n < 0:
        raise unexpected_null(pos, "filter_results")
    o.filter_results, pos = _read_delete_acls_filter_result_v2(buf, pos, end, n, budget)
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tags(buf, pos, end)
    return o


def _write_delete_acls_matching_acl_v2(
    out: bytearray, items: Sequence[DeleteAclsMatchingAcl]
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
        out += _pack_b(o.resource_type)
        s = o.resource_name.encode()
        n = len(s) + 1
        out += UVARINTS[n] if n < 128 else long_string_length(n)
        out += s
        out += _pack_b(o.pattern_type)
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


def _write_delete_acls_filter_result_v2(
    out: bytearray, items: Sequence[DeleteAclsFilterResult]
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
        n = len(o.matching_acls) + 1
        out += UVARINTS[n] if n < 128 else uvarint(n)
        _write_delete_acls_matching_acl_v2(out, o.matching_acls)
        out.append(0)


def _encode_delete_acls_response_v2(o: DeleteAclsResponse) -> list[Part]:
    out = bytearray()
    out += _pack_i(o.throttle_time_ms)
    n = len(o.filter_results) + 1
    out += UVARINTS[n] if n < 128 else uvarint(n)
    _write_delete_acls_filter_result_v2(out, o.filter_results)
    out.append(0)
    return [out]


DeleteAclsRequest.DECODERS = {
    1: _decode_delete_acls_request_v1,
    2: _decode_delete_acls_request_v2,
    3: _decode_delete_acls_request_v2,
}
DeleteAclsRequest.ENCODERS = {
    1: _encode_delete_acls_request_v1,
    2: _encode_delete_acls_request_v2,
    3: _encode_delete_acls_request_v2,
}
DeleteAclsResponse.DECODERS = {
    1: _decode_delete_acls_response_v1,
    2: _decode_delete_acls_response_v2,
    3: _decode_delete_acls_response_v2,
}
DeleteAclsResponse.ENCODERS = {
    1: _encode_delete_acls_response_v1,
    2: _encode_delete_acls_response_v2,
    3: _encode_delete_acls_response_v2,
}
