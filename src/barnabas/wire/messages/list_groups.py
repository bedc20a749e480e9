"""The groups that a broker coordinates.

Generated from schemas/list_groups.msg by codegen; edit that and run it again.
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
    skip_tags,
    too_many,
    unexpected_null,
    uvarint,
    write_compact_strings,
)

_pack_h = Struct(">h").pack
_pack_hi = Struct(">hi").pack
_pack_ih = Struct(">ih").pack
_pack_ihi = Struct(">ihi").pack
_unpack_h = Struct(">h").unpack_from
_unpack_hi = Struct(">hi").unpack_from
_unpack_ih = Struct(">ih").unpack_from
_unpack_ihi = Struct(">ihi").unpack_from


class ListedGroup(WireStruct):
    __slots__ = (
        "group_id",
        "protocol_type",
        "group_state",
        "group_type",
    )
    FIELDS: ClassVar[FieldSpecs] = (
        ("group_id", "string", 0, 5, False),
        ("protocol_type", "string", 0, 5, False),
        ("group_state", "string", 4, 5, False),
        ("group_type", "string", 5, 5, False),
    )

    def __init__(
        self,
        group_id: str = "",
        protocol_type: str = "",
        group_state: str = "",
        group_type: str = "",
    ) -> None:
        self.group_id = group_id
        self.protocol_type = protocol_type
        self.group_state = group_state
        self.group_type = group_type


class ListGroupsRequest(Request["ListGroupsResponse"]):
    __slots__ = (
        "states_filter",
        "types_filter",
    )
    API_KEY: ClassVar[int] = 16
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 5
    FLEXIBLE_FROM: ClassVar[int] = 3
    FIELDS: ClassVar[FieldSpecs] = (
        ("states_filter", "[string]", 4, 5, False),
        ("types_filter", "[string]", 5, 5, False),
    )

    def __init__(
        self,
        states_filter: list[str] = EMPTY,
        types_filter: list[str] = EMPTY,
    ) -> None:
        self.states_filter = [] if states_filter is EMPTY else states_filter  # empty for all
        self.types_filter = [] if types_filter is EMPTY else types_filter  # empty for all (KIP-848)


class ListGroupsResponse(Message):
    __slots__ = (
        "throttle_time_ms",
        "error_code",
        "groups",
    )
    API_KEY: ClassVar[int] = 16
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 5
    FLEXIBLE_FROM: ClassVar[int] = 3
    FIELDS: ClassVar[FieldSpecs] = (
        ("throttle_time_ms", "int32", 1, 5, False),
        ("error_code", "int16", 0, 5, False),
        ("groups", "[ListedGroup]", 0, 5, False),
    )

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        groups: list[ListedGroup] = EMPTY,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.groups = [] if groups is EMPTY else groups


def _decode_list_groups_request_v0(buf: memoryview, pos: int, end: int, budget: list[int]) -> ListGroupsRequest:
    o = new(ListGroupsRequest)
    o.states_filter = []
    o.types_filter = []
    return o


def _encode_list_groups_request_v0(o: ListGroupsRequest) -> list[Part]:
    out = bytearray()
    pass
    return [out]


def _decode_list_groups_request_v3(buf: memoryview, pos: int, end: int, budget: list[int]) -> ListGroupsRequest:
    o = new(ListGroupsRequest)
    o.states_filter = []
    o.types_filter = []
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tags(buf, pos, end)
    return o


def _encode_list_groups_request_v3(o: ListGroupsRequest) -> list[Part]:
    out = bytearray()
    out.append(0)
    return [out]


def _decode_list_groups_request_v4(buf: memoryview, pos: int, end: int, budget: list[int]) -> ListGroupsRequest:
    o = new(ListGroupsRequest)
    o.types_filter = []
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_long_uvarint(buf, pos)
    n -= 1
    if n < 0:
        raise unexpected_null(pos, "states_filter")
    o.states_filter, pos = read_compact_strings(buf, pos, end, n, budget)
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tags(buf, pos, end)
    return o


def _encode_list_groups_request_v4(o: ListGroupsRequest) -> list[Part]:
    out = bytearray()
    n = len(o.states_filter) + 1
    out += UVARINTS[n] if n < 128 else uvarint(n)
    write_compact_strings(out, o.states_filter)
    out.append(0)
    return [out]


def _decode_list_groups_request_v5(buf: memoryview, pos: int, end: int, budget: list[int]) -> ListGroupsRequest:
    o = new(ListGroupsRequest)
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_long_uvarint(buf, pos)
    n -= 1
    if n < 0:
        raise unexpected_null(pos, "states_filter")
    o.states_filter, pos = read_compact_strings(buf, pos, end, n, budget)
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_long_uvarint(buf, pos)
    n -= 1
    if n < 0:
        raise unexpected_null(pos, "types_filter")
    o.types_filter, pos = read_compact_strings(buf, pos, end, n, budget)
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tags(buf, pos, end)
    return o


def _encode_list_groups_request_v5(o: ListGroupsRequest) -> list[Part]:
    out = bytearray()
    n = len(o.states_filter) + 1
    out += UVARINTS[n] if n < 128 else uvarint(n)
    write_compact_strings(out, o.states_filter)
    n = len(o.types_filter) + 1
    out += UVARINTS[n] if n < 128 else uvarint(n)
    write_compact_strings(out, o.types_filter)
    out.append(0)
    return [out]


def _read_listed_group_v0(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[ListedGroup], int]:
    if count * 4 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 192
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[ListedGroup] = []
    for _ in range(count):
        o = new(ListedGroup)
        o.group_state = ""
        o.group_type = ""
        (n,) = _unpack_h(buf, pos)
        pos += 2
        if n < 0:
            raise unexpected_null(pos, "group_id")
        q = pos + n
        if q > end:
            raise overrun(pos, n)
        o.group_id = str(buf[pos:q], "utf-8")
        pos = q
        (n,) = _unpack_h(buf, pos)
        pos += 2
        if n < 0:
            raise unexpected_null(pos, "protocol_type")
        q = pos + n
        if q > end:
            raise overrun(pos, n)
        o.protocol_type = str(buf[pos:q], "utf-8")
        pos = q
        items.append(o)
    return items, pos


def _decode_list_groups_response_v0(buf: memoryview, pos: int, end: int, budget: list[int]) -> ListGroupsResponse:
    o = new(ListGroupsResponse)
    o.throttle_time_ms = 0
    o.error_code, n = _unpack_hi(buf, pos)
    pos += 6
    if n < 0:
        raise unexpected_null(pos, "groups")
    o.groups, pos = _read_listed_group_v0(buf, pos, end, n, budget)
    return o


def _write_listed_group_v0(
    out: bytearray, items: Sequence[ListedGroup]
) -> None:
    for o in items:
        s = o.group_id.encode()
        n = len(s)
        out += _pack_h(n)
        out += s
        s = o.protocol_type.encode()
        n = len(s)
        out += _pack_h(n)
        out += s


def _encode_list_groups_response_v0(o: ListGroupsResponse) -> list[Part]:
    out = bytearray()
    n = len(o.groups)
    out += _pack_hi(o.error_code, n)
    _write_listed_group_v0(out, o.groups)
    return [out]


def _decode_list_groups_response_v1(buf: memoryview, pos: int, end: int, budget: list[int]) -> ListGroupsResponse:
    o = new(ListGroupsResponse)
    o.throttle_time_ms, o.error_code, n = _unpack_ihi(buf, pos)
    pos += 10
    if n < 0:
        raise unexpected_null(pos, "groups")
    o.groups, pos = _read_listed_group_v0(buf, pos, end, n, budget)
    return o


def _encode_list_groups_response_v1(o: ListGroupsResponse) -> list[Part]:
    out = bytearray()
    n = len(o.groups)
    out += _pack_ihi(o.throttle_time_ms, o.error_code, n)
    _write_listed_group_v0(out, o.groups)
    return [out]


def _read_listed_group_v3(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[ListedGroup], int]:
    if count * 3 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 192
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[ListedGroup] = []
    for _ in range(count):
        o = new(ListedGroup)
        o.group_state = ""
        o.group_type = ""
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
        n = buf[pos]
        pos += 1
        if n > 127:
            n, pos = read_long_string_length(buf, pos)
        n -= 1
        if n < 0:
            raise unexpected_null(pos, "protocol_type")
        q = pos + n
        if q > end:
            raise overrun(pos, n)
        o.protocol_type = str(buf[pos:q], "utf-8")
        pos = q
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tags(buf, pos, end)
        items.append(o)
    return items, pos


def _decode_list_groups_response_v3(buf: memoryview, pos: int, end: int, budget: list[int]) -> ListGroupsResponse:
    o = new(ListGroupsResponse)
    o.throttle_time_ms, o.error_code = _unpack_ih(buf, pos)
    pos += 6
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_long_uvarint(buf, pos)
    n -= 1
    if n < 0:
        raise unexpected_null(pos, "groups")
    o.groups, pos = _read_listed_group_v3(buf, pos, end, n, budget)
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tags(buf, pos, end)
    return o


def _write_listed_group_v3(
    out: bytearray, items: Sequence[ListedGroup]
) -> None:
    for o in items:
        s = o.group_id.encode()
        n = len(s) + 1
        out += UVARINTS[n] if n < 128 else long_string_length(n)
        out += s
        s = o.protocol_type.encode()
        n = len(s) + 1
        out += UVARINTS[n] if n < 128 else long_string_length(n)
        out += s
        out.append(0)


def _encode_list_groups_response_v3(o: ListGroupsResponse) -> list[Part]:
    out = bytearray()
    out += _pack_ih(o.throttle_time_ms, o.error_code)
    n = len(o.groups) + 1
    out += UVARINTS[n] if n < 128 else uvarint(n)
    _write_listed_group_v3(out, o.groups)
    out.append(0)
    return [out]


def _read_listed_group_v4(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[ListedGroup], int]:
    if count * 4 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 248
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[ListedGroup] = []
    for _ in range(count):
        o = new(ListedGroup)
        o.group_type = ""
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
        n = buf[pos]
        pos += 1
        if n > 127:
            n, pos = read_long_string_length(buf, pos)
        n -= 1
        if n < 0:
            raise unexpected_null(pos, "protocol_type")
        q = pos + n
        if q > end:
            raise overrun(pos, n)
        o.protocol_type = str(buf[pos:q], "utf-8")
        pos = q
        n = buf[pos]
        pos += 1
        if n > 127:
            n, pos = read_long_string_length(buf, pos)
        n -= 1
        if n < 0:
            raise unexpected_null(pos, "group_state")
        q = pos + n
        if q > end:
            raise overrun(pos, n)
        o.group_state = str(buf[pos:q], "utf-8")
        pos = q
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tags(buf, pos, end)
        items.append(o)
    return items, pos


def _decode_list_groups_response_v4(buf: memoryview, pos: int, end: int, budget: list[int]) -> ListGroupsResponse:
    o = new(ListGroupsResponse)
    o.throttle_time_ms, o.error_code = _unpack_ih(buf, pos)
    pos += 6
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_long_uvarint(buf, pos)
    n -= 1
    if n < 0:
        raise unexpected_null(pos, "groups")
    o.groups, pos = _read_listed_group_v4(buf, pos, end, n, budget)
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tags(buf, pos, end)
    return o


def _write_listed_group_v4(
    out: bytearray, items: Sequence[ListedGroup]
) -> None:
    for o in items:
        s = o.group_id.encode()
        n = len(s) + 1
        out += UVARINTS[n] if n < 128 else long_string_length(n)
        out += s
        s = o.protocol_type.encode()
        n = len(s) + 1
        out += UVARINTS[n] if n < 128 else long_string_length(n)
        out += s
        s = o.group_state.encode()
        n = len(s) + 1
        out += UVARINTS[n] if n < 128 else long_string_length(n)
        out += s
        out.append(0)


def _encode_list_groups_response_v4(o: ListGroupsResponse) -> list[Part]:
    out = bytearray()
    out += _pack_ih(o.throttle_time_ms, o.error_code)
    n = len(o.groups) + 1
    out += UVARINTS[n] if n < 128 else uvarint(n)
    _write_listed_group_v4(out, o.groups)
    out.append(0)
    return [out]


def _read_listed_group_v5(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[ListedGroup], int]:
    if count * 5 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 304
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[ListedGroup] = []
    for _ in range(count):
        o = new(ListedGroup)
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
        n = buf[pos]
        pos += 1
        if n > 127:
            n, pos = read_long_string_length(buf, pos)
        n -= 1
        if n < 0:
            raise unexpected_null(pos, "protocol_type")
        q = pos + n
        if q > end:
            raise overrun(pos, n)
        o.protocol_type = str(buf[pos:q], "utf-8")
        pos = q
        n = buf[pos]
        pos += 1
        if n > 127:
            n, pos = read_long_string_length(buf, pos)
        n -= 1
        if n < 0:
            raise unexpected_null(pos, "group_state")
        q = pos + n
        if q > end:
            raise overrun(pos, n)
        o.group_state = str(buf[pos:q], "utf-8")
        pos = q
        n = buf[pos]
        pos += 1
        if n > 127:
            n, pos = read_long_string_length(buf, pos)
        n -= 1
        if n < 0:
            raise unexpected_null(pos, "group_type")
        q = pos + n
        if q > end:
            raise overrun(pos, n)
        o.group_type = str(buf[pos:q], "utf-8")
        pos = q
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tags(buf, pos, end)
        items.append(o)
    return items, pos


def _decode_list_groups_response_v5(buf: memoryview, pos: int, end: int, budget: list[int]) -> ListGroupsResponse:
    o = new(ListGroupsResponse)
    o.throttle_time_ms, o.error_code = _unpack_ih(buf, pos)
    pos += 6
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_long_uvarint(buf, pos)
    n -= 1
    if n < 0:
        raise unexpected_null(pos, "groups")
    o.groups, pos = _read_listed_group_v5(buf, pos, end, n, budget)
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tags(buf, pos, end)
    return o


def _write_listed_group_v5(
    out: bytearray, items: Sequence[ListedGroup]
) -> None:
    for o in items:
        s = o.group_id.encode()
        n = len(s) + 1
        out += UVARINTS[n] if n < 128 else long_string_length(n)
        out += s
        s = o.protocol_type.encode()
        n = len(s) + 1
        out += UVARINTS[n] if n < 128 else long_string_length(n)
        out += s
        s = o.group_state.encode()
        n = len(s) + 1
        out += UVARINTS[n] if n < 128 else long_string_length(n)
        out += s
        s = o.group_type.encode()
        n = len(s) + 1
        out += UVARINTS[n] if n < 128 else long_string_length(n)
        out += s
        out.append(0)


def _encode_list_groups_response_v5(o: ListGroupsResponse) -> list[Part]:
    out = bytearray()
    out += _pack_ih(o.throttle_time_ms, o.error_code)
    n = len(o.groups) + 1
    out += UVARINTS[n] if n < 128 else uvarint(n)
    _write_listed_group_v5(out, o.groups)
    out.append(0)
    return [out]


ListGroupsRequest.DECODERS = {
    0: _decode_list_groups_request_v0,
    1: _decode_list_groups_request_v0,
    2: _decode_list_groups_request_v0,
    3: _decode_list_groups_request_v3,
    4: _decode_list_groups_request_v4,
    5: _decode_list_groups_request_v5,
}
ListGroupsRequest.ENCODERS = {
    0: _encode_list_groups_request_v0,
    1: _encode_list_groups_request_v0,
    2: _encode_list_groups_request_v0,
    3: _encode_list_groups_request_v3,
    4: _encode_list_groups_request_v4,
    5: _encode_list_groups_request_v5,
}
ListGroupsResponse.DECODERS = {
    0: _decode_list_groups_response_v0,
    1: _decode_list_groups_response_v1,
    2: _decode_list_groups_response_v1,
    3: _decode_list_groups_response_v3,
    4: _decode_list_groups_response_v4,
    5: _decode_list_groups_response_v5,
}
ListGroupsResponse.ENCODERS = {
    0: _encode_list_groups_response_v0,
    1: _encode_list_groups_response_v1,
    2: _encode_list_groups_response_v1,
    3: _encode_list_groups_response_v3,
    4: _encode_list_groups_response_v4,
    5: _encode_list_groups_response_v5,
}
