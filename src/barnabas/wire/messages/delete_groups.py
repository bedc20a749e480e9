"""Deletes empty groups with their offsets.

Generated from schemas/delete_groups.msg by codegen; edit that and run it again.
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
    read_compact_strings,
    read_long_string_length,
    read_long_uvarint,
    read_strings,
    skip_tags,
    too_many,
    unexpected_null,
    uvarint,
    write_compact_strings,
    write_strings,
)

_pack_h = Struct(">h").pack
_pack_i = Struct(">i").pack
_pack_ii = Struct(">ii").pack
_unpack_h = Struct(">h").unpack_from
_unpack_i = Struct(">i").unpack_from
_unpack_ii = Struct(">ii").unpack_from


class DeletableGroupResult(WireStruct):
    __slots__ = (
        "group_id",
        "error_code",
    )
    FIELDS: ClassVar[FieldSpecs] = (
        ("group_id", "string", 0, 2, False),
        ("error_code", "int16", 0, 2, False),
    )

    def __init__(
        self,
        group_id: str = "",
        error_code: int = 0,
    ) -> None:
        self.group_id = group_id
        self.error_code = error_code


class DeleteGroupsRequest(Request["DeleteGroupsResponse"]):
    __slots__ = (
        "groups_names",
    )
    API_KEY: ClassVar[int] = 42
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 2
    FLEXIBLE_FROM: ClassVar[int] = 2
    FIELDS: ClassVar[FieldSpecs] = (
        ("groups_names", "[string]", 0, 2, False),
    )

    def __init__(
        self,
        groups_names: list[str] = EMPTY,
    ) -> None:
        self.groups_names = [] if groups_names is EMPTY else groups_names


class DeleteGroupsResponse(Message):
    __slots__ = (
        "throttle_time_ms",
        "results",
    )
    API_KEY: ClassVar[int] = 42
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 2
    FLEXIBLE_FROM: ClassVar[int] = 2
    FIELDS: ClassVar[FieldSpecs] = (
        ("throttle_time_ms", "int32", 0, 2, False),
        ("results", "[DeletableGroupResult]", 0, 2, False),
    )

    def __init__(
        self,
        throttle_time_ms: int = 0,
        results: list[DeletableGroupResult] = EMPTY,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.results = [] if results is EMPTY else results


def _decode_delete_groups_request_v0(buf: memoryview, pos: int, end: int, budget: list[int]) -> DeleteGroupsRequest:
    o = new(DeleteGroupsRequest)
    (n,) = _unpack_i(buf, pos)
    pos += 4
    if n < 0:
        raise unexpected_null(pos, "groups_names")
    o.groups_names, pos = read_strings(buf, pos, end, n, budget)
    return o


def _encode_delete_groups_request_v0(o: DeleteGroupsRequest) -> list[Part]:
    out = bytearray()
    n = len(o.groups_names)
    out += _pack_i(n)
    write_strings(out, o.groups_names)
    return [out]


def _decode_delete_groups_request_v2(buf: memoryview, pos: int, end: int, budget: list[int]) -> DeleteGroupsRequest:
    o = new(DeleteGroupsRequest)
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_long_uvarint(buf, pos)
    n -= 1
    if n < 0:
        raise unexpected_null(pos, "groups_names")
    o.groups_names, pos = read_compact_strings(buf, pos, end, n, budget)
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tags(buf, pos, end)
    return o


def _encode_delete_groups_request_v2(o: DeleteGroupsRequest) -> list[Part]:
    out = bytearray()
    n = len(o.groups_names) + 1
    out += UVARINTS[n] if n < 128 else uvarint(n)
    write_compact_strings(out, o.groups_names)
    out.append(0)
    return [out]


def _read_deletable_group_result_v0(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[DeletableGroupResult], int]:
    if count * 4 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 152
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[DeletableGroupResult] = []
    for _ in range(count):
        o = new(DeletableGroupResult)
        (n,) = _unpack_h(buf, pos)
        pos += 2
        if n < 0:
            raise unexpected_null(pos, "group_id")
        q = pos + n
        if q > end:
            raise overrun(pos, n)
        o.group_id = str(buf[pos:q], "utf-8")
        pos = q
        (o.error_code,) = _unpack_h(buf, pos)
        pos += 2
        items.append(o)
    return items, pos


def _decode_delete_groups_response_v0(buf: memoryview, pos: int, end: int, budget: list[int]) -> DeleteGroupsResponse:
    o = new(DeleteGroupsResponse)
    o.throttle_time_ms, n = _unpack_ii(buf, pos)
    pos += 8
    if n < 0:
        raise unexpected_null(pos, "results")
    o.results, pos = _read_deletable_group_result_v0(buf, pos, end, n, budget)
    return o


def _write_deletable_group_result_v0(
    out: bytearray, items: Sequence[DeletableGroupResult]
) -> None:
    for o in items:
        s = o.group_id.encode()
        n = len(s)
        out += _pack_h(n)
        out += s
        out += _pack_h(o.error_code)


def _encode_delete_groups_response_v0(o: DeleteGroupsResponse) -> list[Part]:
    out = bytearray()
    n = len(o.results)
    out += _pack_ii(o.throttle_time_ms, n)
    _write_deletable_group_result_v0(out, o.results)
    return [out]


def _read_deletable_group_result_v2(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[DeletableGroupResult], int]:
    if count * 4 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 152
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[DeletableGroupResult] = []
    for _ in range(count):
        o = new(DeletableGroupResult)
        n = buf[pos]
        pos += 1
        if n > 127:
            n, pos = read_long_string_length(buf, pos)
        n -= 1
        if n < 0:
            raise unexpected_null(pos, "group_id")
        q = pos + n
        if q > end:
            raise overrun(pos, n)
        o.group_id = str(buf[pos:q], "utf-8")
        pos = q
        (o.error_code,) = _unpack_h(buf, pos)
        pos += 2
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tags(buf, pos, end)
        items.append(o)
    return items, pos


def _decode_delete_groups_response_v2(buf: memoryview, pos: int, end: int, budget: list[int]) -> DeleteGroupsResponse:
    o = new(DeleteGroupsResponse)
    (o.throttle_time_ms,) = _unpack_i(buf, pos)
    pos += 4
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_long_uvarint(buf, pos)
    n -= 1
    if n < 0:
        raise unexpected_null(pos, "results")
    o.results, pos = _read_deletable_group_result_v2(buf, pos, end, n, budget)
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tags(buf, pos, end)
    return o


def _write_deletable_group_result_v2(
    out: bytearray, items: Sequence[DeletableGroupResult]
) -> None:
    for o in items:
        s = o.group_id.encode()
        n = len(s) + 1
        out += UVARINTS[n] if n < 128 else long_string_length(n)
        out += s
        out += _pack_h(o.error_code)
        out.append(0)


def _encode_delete_groups_response_v2(o: DeleteGroupsResponse) -> list[Part]:
    out = bytearray()
    out += _pack_i(o.throttle_time_ms)
    n = len(o.results) + 1
    out += UVARINTS[n] if n < 128 else uvarint(n)
    _write_deletable_group_result_v2(out, o.results)
    out.append(0)
    return [out]


DeleteGroupsRequest.DECODERS = {
    0: _decode_delete_groups_request_v0,
    1: _decode_delete_groups_request_v0,
    2: _decode_delete_groups_request_v2,
}
DeleteGroupsRequest.ENCODERS = {
    0: _encode_delete_groups_request_v0,
    1: _encode_delete_groups_request_v0,
    2: _encode_delete_groups_request_v2,
}
DeleteGroupsResponse.DECODERS = {
    0: _decode_delete_groups_response_v0,
    1: _decode_delete_groups_response_v0,
    2: _decode_delete_groups_response_v2,
}
DeleteGroupsResponse.ENCODERS = {
    0: _encode_delete_groups_response_v0,
    1: _encode_delete_groups_response_v0,
    2: _encode_delete_groups_response_v2,
}
