"""State and members of classic groups.

Generated from schemas/describe_groups.msg by codegen; edit that and run it again.
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

_pack_t = Struct(">?").pack
_pack_h = Struct(">h").pack
_pack_hh = Struct(">hh").pack
_pack_i = Struct(">i").pack
_pack_ii = Struct(">ii").pack
_unpack_h = Struct(">h").unpack_from
_unpack_hh = Struct(">hh").unpack_from
_unpack_i = Struct(">i").unpack_from
_unpack_ii = Struct(">ii").unpack_from


class DescribedGroupMember(WireStruct):
    __slots__ = (
        "member_id",
        "group_instance_id",
        "client_id",
        "client_host",
        "member_metadata",
        "member_assignment",
    )
    FIELDS: ClassVar[FieldSpecs] = (
        ("member_id", "string", 0, 6, False),
        ("group_instance_id", "string", 4, 6, True),
        ("client_id", "string", 0, 6, False),
        ("client_host", "string", 0, 6, False),
        ("member_metadata", "bytes", 0, 6, False),
        ("member_assignment", "bytes", 0, 6, False),
    )

    def __init__(
        self,
        member_id: str = "",
        group_instance_id: str | None = None,
        client_id: str = "",
        client_host: str = "",
        member_metadata: bytes = b"",
        member_assignment: bytes = b"",
    ) -> None:
        self.member_id = member_id
        self.group_instance_id = group_instance_id  # set by static members (KIP-345)
        self.client_id = client_id
        self.client_host = client_host
        self.member_metadata = member_metadata
        self.member_assignment = member_assignment


class DescribedGroup(WireStruct):
    __slots__ = (
        "error_code",
        "error_message",
        "group_id",
        "group_state",
        "protocol_type",
        "protocol_data",
        "members",
        "authorized_operations",
    )
    FIELDS: ClassVar[FieldSpecs] = (
        ("error_code", "int16", 0, 6, False),
        ("error_message", "string", 6, 6, True),
        ("group_id", "string", 0, 6, False),
        ("group_state", "string", 0, 6, False),
        ("protocol_type", "string", 0, 6, False),
        ("protocol_data", "string", 0, 6, False),
        ("members", "[DescribedGroupMember]", 0, 6, False),
        ("authorized_operations", "int32", 3, 6, False),
    )

    def __init__(
        self,
        error_code: int = 0,
        error_message: str | None = None,
        group_id: str = "",
        group_state: str = "",
        protocol_type: str = "",
        protocol_data: str = "",
        members: list[DescribedGroupMember] = EMPTY,
        authorized_operations: int = -2147483648,
    ) -> None:
        self.error_code = error_code
        self.error_message = error_message
        self.group_id = group_id
        self.group_state = group_state  # name of the state, as Kafka spells it
        self.protocol_type = protocol_type
        self.protocol_data = protocol_data
        self.members = [] if members is EMPTY else members
        self.authorized_operations = authorized_operations  # bit set; the minimum when not asked for


class DescribeGroupsRequest(Request["DescribeGroupsResponse"]):
    __slots__ = (
        "groups",
        "include_authorized_operations",
    )
    API_KEY: ClassVar[int] = 15
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 6
    FLEXIBLE_FROM: ClassVar[int] = 5
    FIELDS: ClassVar[FieldSpecs] = (
        ("groups", "[string]", 0, 6, False),
        ("include_authorized_operations", "bool", 3, 6, False),
    )

    def __init__(
        self,
        groups: list[str] = EMPTY,
        include_authorized_operations: bool = False,
    ) -> None:
        self.groups = [] if groups is EMPTY else groups
        self.include_authorized_operations = include_authorized_operations


class DescribeGroupsResponse(Message):
    __slots__ = (
        "throttle_time_ms",
        "groups",
    )
    API_KEY: ClassVar[int] = 15
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 6
    FLEXIBLE_FROM: ClassVar[int] = 5
    FIELDS: ClassVar[FieldSpecs] = (
        ("throttle_time_ms", "int32", 1, 6, False),
        ("groups", "[DescribedGroup]", 0, 6, False),
    )

    def __init__(
        self,
        throttle_time_ms: int = 0,
        groups: list[DescribedGroup] = EMPTY,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.groups = [] if groups is EMPTY else groups


def _decode_describe_groups_request_v0(buf: memoryview, pos: int, end: int, budget: list[int]) -> DescribeGroupsRequest:
    o = new(DescribeGroupsRequest)
    o.include_authorized_operations = False
    (n,) = _unpack_i(buf, pos)
    pos += 4
    if n < 0:
        raise unexpected_null(pos, "groups")
    o.groups, pos = read_strings(buf, pos, end, n, budget)
    return o


def _encode_describe_groups_request_v0(o: DescribeGroupsRequest) -> list[Part]:
    out = bytearray()
    n = len(o.groups)
    out += _pack_i(n)
    write_strings(out, o.groups)
    return [out]


def _decode_describe_groups_request_v3(buf: memoryview, pos: int, end: int, budget: list[int]) -> DescribeGroupsRequest:
    o = new(DescribeGroupsRequest)
    (n,) = _unpack_i(buf, pos)
    pos += 4
    if n < 0:
        raise unexpected_null(pos, "groups")
    o.groups, pos = read_strings(buf, pos, end, n, budget)
    o.include_authorized_operations = buf[pos] != 0
    pos += 1
    return o


def _encode_describe_groups_request_v3(o: DescribeGroupsRequest) -> list[Part]:
    out = bytearray()
    n = len(o.groups)
    out += _pack_i(n)
    write_strings(out, o.groups)
    out += _pack_t(o.include_authorized_operations)
    return [out]


def _decode_describe_groups_request_v5(buf: memoryview, pos: int, end: int, budget: list[int]) -> DescribeGroupsRequest:
    o = new(DescribeGroupsRequest)
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_long_uvarint(buf, pos)
    n -= 1
    if n < 0:
        raise unexpected_null(pos, "groups")
    o.groups, pos = read_compact_strings(buf, pos, end, n, budget)
    o.include_authorized_operations = buf[pos] != 0
    pos += 1
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tags(buf, pos, end)
    return o


def _encode_describe_groups_request_v5(o: DescribeGroupsRequest) -> list[Part]:
    out = bytearray()
    n = len(o.groups) + 1
    out += UVARINTS[n] if n < 128 else uvarint(n)
    write_compact_strings(out, o.groups)
    out += _pack_t(o.include_authorized_operations)
    out.append(0)
    return [out]


def _read_described_group_member_v0(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[DescribedGroupMember], int]:
    if count * 14 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 344
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[DescribedGroupMember] = []
    for _ in range(count):
        o = new(DescribedGroupMember)
        o.group_instance_id = None
        (n,) = _unpack_h(buf, pos)
        pos += 2
        if n < 0:
            raise unexpected_null(pos, "member_id")
        q = pos + n
        if q > end:
            raise overrun(pos, n)
        o.member_id = str(buf[pos:q], "utf-8")
        pos = q
        (n,) = _unpack_h(buf, pos)
        pos += 2
        if n < 0:
            raise unexpected_null(pos, "client_id")
        q = pos + n
        if q > end:
            raise overrun(pos, n)
        o.client_id = str(buf[pos:q], "utf-8")
        pos = q
        (n,) = _unpack_h(buf, pos)
        pos += 2
        if n < 0:
            raise unexpected_null(pos, "client_host")
        q = pos + n
        if q > end:
            raise overrun(pos, n)
        o.client_host = str(buf[pos:q], "utf-8")
        pos = q
        (n,) = _unpack_i(buf, pos)
        pos += 4
        if n < 0:
            raise unexpected_null(pos, "member_metadata")
        q = pos + n
        if q > end:
            raise overrun(pos, n)
        o.member_metadata = bytes(buf[pos:q])
        pos = q
        (n,) = _unpack_i(buf, pos)
        pos += 4
        if n < 0:
            raise unexpected_null(pos, "member_assignment")
        q = pos + n
        if q > end:
            raise overrun(pos, n)
        o.member_assignment = bytes(buf[pos:q])
        pos = q
        items.append(o)
    return items, pos


def _read_described_group_v0(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[DescribedGroup], int]:
    if count * 14 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 432
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[DescribedGroup] = []
    for _ in range(count):
        o = new(DescribedGroup)
        o.error_message = None
        o.authorized_operations = -2147483648
        o.error_code, n = _unpack_hh(buf, pos)
        pos += 4
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
            raise unexpected_null(pos, "group_state")
        q = pos + n
        if q > end:
            raise overrun(pos, n)
        o.group_state = str(buf[pos:q], "utf-8")
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
        (n,) = _unpack_h(buf, pos)
        pos += 2
        if n < 0:
            raise unexpected_null(pos, "protocol_data")
        q = pos + n
        if q > end:
            raise overrun(pos, n)
        o.protocol_data = str(buf[pos:q], "utf-8")
        pos = q
        (n,) = _unpack_i(buf, pos)
        pos += 4
        if n < 0:
            raise unexpected_null(pos, "members")
        o.members, pos = _read_described_group_member_v0(buf, pos, end, n, budget)
        items.append(o)
    return items, pos


def _decode_describe_groups_response_v0(buf: memoryview, pos: int, end: int, budget: list[int]) -> DescribeGroupsResponse:
    o = new(DescribeGroupsResponse)
    o.throttle_time_ms = 0
    (n,) = _unpack_i(buf, pos)
    pos += 4
    if n < 0:
        raise unexpected_null(pos, "groups")
    o.groups, pos = _read_described_group_v0(buf, pos, end, n, budget)
    return o


def _write_described_group_member_v0(
    out: bytearray, items: Sequence[DescribedGroupMember]
) -> None:
    for o in items:
        s = o.member_id.encode()
        n = len(s)
        out += _pack_h(n)
        out += s
        s = o.client_id.encode()
        n = len(s)
        out += _pack_h(n)
        out += s
        s = o.client_host.encode()
        n = len(s)
        out += _pack_h(n)
        out += s
        n = len(o.member_metadata)
        out += _pack_i(n)
        out += o.member_metadata
        n = len(o.member_assignment)
        out += _pack_i(n)
        out += o.member_assignment


def _write_described_group_v0(
    out: bytearray, items: Sequence[DescribedGroup]
) -> None:
    for o in items:
        s = o.group_id.encode()
        n = len(s)
        out += _pack_hh(o.error_code, n)
        out += s
        s = o.group_state.encode()
        n = len(s)
        out += _pack_h(n)
        out += s
        s = o.protocol_type.encode()
        n = len(s)
        out += _pack_h(n)
        out += s
        s = o.protocol_data.encode()
        n = len(s)
        out += _pack_h(n)
        out += s
        n = len(o.members)
        out += _pack_i(n)
        _write_described_group_member_v0(out, o.members)


def _encode_describe_groups_response_v0(o: DescribeGroupsResponse) -> list[Part]:
    out = bytearray()
    n = len(o.groups)
    out += _pack_i(n)
    _write_described_group_v0(out, o.groups)
    return [out]


def _decode_describe_groups_response_v1(buf: memoryview, pos: int, end: int, budget: list[int]) -> DescribeGroupsResponse:
    o = new(DescribeGroupsResponse)
    o.throttle_time_ms, n = _unpack_ii(buf, pos)
    pos += 8
    if n < 0:
        raise unexpected_null(pos, "groups")
    o.groups, pos = _read_described_group_v0(buf, pos, end, n, budget)
    return o


def _encode_describe_groups_response_v1(o: DescribeGroupsResponse) -> list[Part]:
    out = bytearray()
    n = len(o.groups)
    out += _pack_ii(o.throttle_time_ms, n)
    _write_described_group_v0(out, o.groups)
    return [out]


def _read_described_group_v3(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[DescribedGroup], int]:
    if count * 18 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 464
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[DescribedGroup] = []
    for _ in range(count):
        o = new(DescribedGroup)
        o.error_message = None
        o.error_code, n = _unpack_hh(buf, pos)
        pos += 4
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
            raise unexpected_null(pos, "group_state")
        q = pos + n
        if q > end:
            raise overrun(pos, n)
        o.group_state = str(buf[pos:q], "utf-8")
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
        (n,) = _unpack_h(buf, pos)
        pos += 2
        if n < 0:
            raise unexpected_null(pos, "protocol_data")
        q = pos + n
        if q > end:
            raise overrun(pos, n)
        o.protocol_data = str(buf[pos:q], "utf-8")
        pos = q
        (n,) = _unpack_i(buf, pos)
        pos += 4
        if n < 0:
            raise unexpected_null(pos, "members")
        o.members, pos = _read_described_group_member_v0(buf, pos, end, n, budget)
        (o.authorized_operations,) = _unpack_i(buf, pos)
        pos += 4
        items.append(o)
    return items, pos


def _decode_describe_groups_response_v3(buf: memoryview, pos: int, end: int, budget: list[int]) -> DescribeGroupsResponse:
    o = new(DescribeGroupsResponse)
    o.throttle_time_ms, n = _unpack_ii(buf, pos)
    pos += 8
    if n < 0:
        raise unexpected_null(pos, "groups")
    o.groups, pos = _read_described_group_v3(buf, pos, end, n, budget)
    return o


def _write_described_group_v3(
    out: bytearray, items: Sequence[DescribedGroup]
) -> None:
    for o in items:
        s = o.group_id.encode()
        n = len(s)
        out += _pack_hh(o.error_code, n)
        out += s
        s = o.group_state.encode()
        n = len(s)
        out += _pack_h(n)
        out += s
        s = o.protocol_type.encode()
        n = len(s)
        out += _pack_h(n)
        out += s
        s = o.protocol_data.encode()
        n = len(s)
        out += _pack_h(n)
        out += s
        n = len(o.members)
        out += _pack_i(n)
        _write_described_group_member_v0(out, o.members)
        out += _pack_i(o.authorized_operations)


def _encode_describe_groups_response_v3(o: DescribeGroupsResponse) -> list[Part]:
    out = bytearray()
    n = len(o.groups)
    out += _pack_ii(o.throttle_time_ms, n)
    _write_described_group_v3(out, o.groups)
    return [out]


def _read_described_group_member_v4(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[DescribedGroupMember], int]:
    if count * 16 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 400
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[DescribedGroupMember] = []
    for _ in range(count):
        o = new(DescribedGroupMember)
        (n,) = _unpack_h(buf, pos)
        pos += 2
        if n < 0:
            raise unexpected_null(pos, "member_id")
        q = pos + n
        if q > end:
            raise overrun(pos, n)
        o.member_id = str(buf[pos:q], "utf-8")
        pos = q
        (n,) = _unpack_h(buf, pos)
        pos += 2
        if n < 0:
            o.group_instance_id = None
        else:
            q = pos + n
            if q > end:
                raise overrun(pos, n)
            o.group_instance_id = str(buf[pos:q], "utf-8")
            pos = q
        (n,) = _unpack_h(buf, pos)
        pos += 2
        if n < 0:
            raise unexpected_null(pos, "client_id")
        q = pos + n
        if q > end:
            raise overrun(pos, n)
        o.client_id = str(buf[pos:q], "utf-8")
        pos = q
        (n,) = _unpack_h(buf, pos)
        pos += 2
        if n < 0:
            raise unexpected_null(pos, "client_host")
        q = pos + n
        if q > end:
            raise overrun(pos, n)
        o.client_host = str(buf[pos:q], "utf-8")
        pos = q
        (n,) = _unpack_i(buf, pos)
        pos += 4
        if n < 0:
            raise unexpected_null(pos, "member_metadata")
        q = pos + n
        if q > end:
            raise overrun(pos, n)
        o.member_metadata = bytes(buf[pos:q])
        pos = q
        (n,) = _unpack_i(buf, pos)
        pos += 4
        if n < 0:
            raise unexpected_null(pos, "member_assignment")
        q = pos + n
        if q > end:
            raise overrun(pos, n)
        o.member_assignment = bytes(buf[pos:q])
        pos = q
        items.append(o)
    return items, pos


def _read_described_group_v4(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[DescribedGroup], int]:
    if count * 18 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 464
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[DescribedGroup] = []
    for _ in range(count):
        o = new(DescribedGroup)
        o.error_message = None
        o.error_code, n = _unpack_hh(buf, pos)
        pos += 4
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
            raise unexpected_null(pos, "group_state")
        q = pos + n
        if q > end:
            raise overrun(pos, n)
        o.group_state = str(buf[pos:q], "utf-8")
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
        (n,) = _unpack_h(buf, pos)
        pos += 2
        if n < 0:
            raise unexpected_null(pos, "protocol_data")
        q = pos + n
        if q > end:
            raise overrun(pos, n)
        o.protocol_data = str(buf[pos:q], "utf-8")
        pos = q
        (n,) = _unpack_i(buf, pos)
        pos += 4
        if n < 0:
            raise unexpected_null(pos, "members")
        o.members, pos = _read_described_group_member_v4(buf, pos, end, n, budget)
        (o.authorized_operations,) = _unpack_i(buf, pos)
        pos += 4
        items.append(o)
    return items, pos


def _decode_describe_groups_response_v4(buf: memoryview, pos: int, end: int, budget: list[int]) -> DescribeGroupsResponse:
    o = new(DescribeGroupsResponse)
    o.throttle_time_ms, n = _unpack_ii(buf, pos)
    pos += 8
    if n < 0:
        raise unexpected_null(pos, "groups")
    o.groups, pos = _read_described_group_v4(buf, pos, end, n, budget)
    return o


def _write_described_group_member_v4(
    out: bytearray, items: Sequence[DescribedGroupMember]
) -> None:
    for o in items:
        s = o.member_id.encode()
        n = len(s)
        out += _pack_h(n)
        out += s
        if o.group_instance_id is None:
            n = -1
            s = b""
        else:
            s = o.group_instance_id.encode()
            n = len(s)
        out += _pack_h(n)
        out += s
        s = o.client_id.encode()
        n = len(s)
        out += _pack_h(n)
        out += s
        s = o.client_host.encode()
        n = len(s)
        out += _pack_h(n)
        out += s
        n = len(o.member_metadata)
        out += _pack_i(n)
        out += o.member_metadata
        n = len(o.member_assignment)
        out += _pack_i(n)
        out += o.member_assignment


def _write_described_group_v4(
    out: bytearray, items: Sequence[DescribedGroup]
) -> None:
    for o in items:
        s = o.group_id.encode()
        n = len(s)
        out += _pack_hh(o.error_code, n)
        out += s
        s = o.group_state.encode()
        n = len(s)
        out += _pack_h(n)
        out += s
        s = o.protocol_type.encode()
        n = len(s)
        out += _pack_h(n)
        out += s
        s = o.protocol_data.encode()
        n = len(s)
        out += _pack_h(n)
        out += s
        n = len(o.members)
        out += _pack_i(n)
        _write_described_group_member_v4(out, o.members)
        out += _pack_i(o.authorized_operations)


def _encode_describe_groups_response_v4(o: DescribeGroupsResponse) -> list[Part]:
    out = bytearray()
    n = len(o.groups)
    out += _pack_ii(o.throttle_time_ms, n)
    _write_described_group_v4(out, o.groups)
    return [out]


def _read_described_group_member_v5(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[DescribedGroupMember], int]:
    if count * 7 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 400
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[DescribedGroupMember] = []
    for _ in range(count):
        o = new(DescribedGroupMember)
        n = buf[pos]
        pos += 1
        if n > 127:
            n, pos = read_long_string_length(buf, pos)
        n -= 1
        if n < 0:
            raise unexpected_null(pos, "member_id")
        q = pos + n
        if q > end:
            raise overrun(pos, n)
        o.member_id = str(buf[pos:q], "utf-8")
        pos = q
        n = buf[pos]
        pos += 1
        if n > 127:
            n, pos = read_long_string_length(buf, pos)
        n -= 1
        if n < 0:
            o.group_instance_id = None
        else:
            q = pos + n
            if q > end:
                raise overrun(pos, n)
            o.group_instance_id = str(buf[pos:q], "utf-8")
            pos = q
        n = buf[pos]
        pos += 1
        if n > 127:
            n, pos = read_long_string_length(buf, pos)
        n -= 1
        if n < 0:
            raise unexpected_null(pos, "client_id")
        q = pos + n
        if q > end:
            raise overrun(pos, n)
        o.client_id = str(buf[pos:q], "utf-8")
        pos = q
        n = buf[pos]
        pos += 1
        if n > 127:
            n, pos = read_long_string_length(buf, pos)
        n -= 1
        if n < 0:
            raise unexpected_null(pos, "client_host")
        q = pos + n
        if q > end:
            raise overrun(pos, n)
        o.client_host = str(buf[pos:q], "utf-8")
        pos = q
        n = buf[pos]
        pos += 1
        if n > 127:
            n, pos = read_long_uvarint(buf, pos)
        n -= 1
        if n < 0:
            raise unexpected_null(pos, "member_metadata")
        q = pos + n
        if q > end:
            raise overrun(pos, n)
        o.member_metadata = bytes(buf[pos:q])
        pos = q
        n = buf[pos]
        pos += 1
        if n > 127:
            n, pos = read_long_uvarint(buf, pos)
        n -= 1
        if n < 0:
            raise unexpected_null(pos, "member_assignment")
        q = pos + n
        if q > end:
            raise overrun(pos, n)
        o.member_assignment = bytes(buf[pos:q])
        pos = q
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tags(buf, pos, end)
        items.append(o)
    return items, pos


def _read_described_group_v5(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[DescribedGroup], int]:
    if count * 12 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 464
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[DescribedGroup] = []
    for _ in range(count):
        o = new(DescribedGroup)
        o.error_message = None
        (o.error_code,) = _unpack_h(buf, pos)
        pos += 2
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
            raise unexpected_null(pos, "protocol_data")
        q = pos + n
        if q > end:
            raise overrun(pos, n)
        o.protocol_data = str(buf[pos:q], "utf-8")
        pos = q
        n = buf[pos]
        pos += 1
        if n > 127:
            n, pos = read_long_uvarint(buf, pos)
        n -= 1
        if n < 0:
            raise unexpected_null(pos, "members")
        o.members, pos = _read_described_group_member_v5(buf, pos, end, n, budget)
        (o.authorized_operations,) = _unpack_i(buf, pos)
        pos += 4
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tags(buf, pos, end)
        items.append(o)
    return items, pos


def _decode_describe_groups_response_v5(buf: memoryview, pos: int, end: int, budget: list[int]) -> DescribeGroupsResponse:
    o = new(DescribeGroupsResponse)
    (o.throttle_time_ms,) = _unpack_i(buf, pos)
    pos += 4
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_long_uvarint(buf, pos)
    n -= 1
    if n < 0:
        raise unexpected_null(pos, "groups")
    o.groups, pos = _read_described_group_v5(buf, pos, end, n, budget)
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tags(buf, pos, end)
    return o


def _write_described_group_member_v5(
    out: bytearray, items: Sequence[DescribedGroupMember]
) -> None:
    for o in items:
        s = o.member_id.encode()
        n = len(s) + 1
        out += UVARINTS[n] if n < 128 else long_string_length(n)
        out += s
        if o.group_instance_id is None:
            out.append(0)
        else:
            s = o.group_instance_id.encode()
            n = len(s) + 1
            out += UVARINTS[n] if n < 128 else long_string_length(n)
            out += s
        s = o.client_id.encode()
        n = len(s) + 1
        out += UVARINTS[n] if n < 128 else long_string_length(n)
        out += s
        s = o.client_host.encode()
        n = len(s) + 1
        out += UVARINTS[n] if n < 128 else long_string_length(n)
        out += s
        n = len(o.member_metadata) + 1
        out += UVARINTS[n] if n < 128 else uvarint(n)
        out += o.member_metadata
        n = len(o.member_assignment) + 1
        out += UVARINTS[n] if n < 128 else uvarint(n)
        out += o.member_assignment
        out.append(0)


def _write_described_group_v5(
    out: bytearray, items: Sequence[DescribedGroup]
) -> None:
    for o in items:
        out += _pack_h(o.error_code)
        s = o.group_id.encode()
        n = len(s) + 1
        out += UVARINTS[n] if n < 128 else long_string_length(n)
        out += s
        s = o.group_state.encode()
        n = len(s) + 1
        out += UVARINTS[n] if n < 128 else long_string_length(n)
        out += s
        s = o.protocol_type.encode()
        n = len(s) + 1
        out += UVARINTS[n] if n < 128 else long_string_length(n)
        out += s
        s = o.protocol_data.encode()
        n = len(s) + 1
        out += UVARINTS[n] if n < 128 else long_string_length(n)
        out += s
        n = len(o.members) + 1
        out += UVARINTS[n] if n < 128 else uvarint(n)
        _write_described_group_member_v5(out, o.members)
        out += _pack_i(o.authorized_operations)
        out.append(0)


def _encode_describe_groups_response_v5(o: DescribeGroupsResponse) -> list[Part]:
    out = bytearray()
    out += _pack_i(o.throttle_time_ms)
    n = len(o.groups) + 1
    out += UVARINTS[n] if n < 128 else uvarint(n)
    _write_described_group_v5(out, o.groups)
    out.append(0)
    return [out]


def _read_described_group_v6(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[DescribedGroup], int]:
    if count * 13 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 520
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[DescribedGroup] = []
    for _ in range(count):
        o = new(DescribedGroup)
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
            raise unexpected_null(pos, "protocol_data")
        q = pos + n
        if q > end:
            raise overrun(pos, n)
        o.protocol_data = str(buf[pos:q], "utf-8")
        pos = q
        n = buf[pos]
        pos += 1
        if n > 127:
            n, pos = read_long_uvarint(buf, pos)
        n -= 1
        if n < 0:
            raise unexpected_null(pos, "members")
        o.members, pos = _read_described_group_member_v5(buf, pos, end, n, budget)
        (o.authorized_operations,) = _unpack_i(buf, pos)
        pos += 4
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tags(buf, pos, end)
        items.append(o)
    return items, pos


def _decode_describe_groups_response_v6(buf: memoryview, pos: int, end: int, budget: list[int]) -> DescribeGroupsResponse:
    o = new(DescribeGroupsResponse)
    (o.throttle_time_ms,) = _unpack_i(buf, pos)
    pos += 4
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_long_uvarint(buf, pos)
    n -= 1
    if n < 0:
        raise unexpected_null(pos, "groups")
    o.groups, pos = _read_described_group_v6(buf, pos, end, n, budget)
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tags(buf, pos, end)
    return o


def _write_described_group_v6(
    out: bytearray, items: Sequence[DescribedGroup]
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
        s = o.group_id.encode()
        n = len(s) + 1
        out += UVARINTS[n] if n < 128 else long_string_length(n)
        out += s
        s = o.group_state.encode()
        n = len(s) + 1
        out += UVARINTS[n] if n < 128 else long_string_length(n)
        out += s
        s = o.protocol_type.encode()
        n = len(s) + 1
        out += UVARINTS[n] if n < 128 else long_string_length(n)
        out += s
        s = o.protocol_data.encode()
        n = len(s) + 1
        out += UVARINTS[n] if n < 128 else long_string_length(n)
        out += s
        n = len(o.members) + 1
        out += UVARINTS[n] if n < 128 else uvarint(n)
        _write_described_group_member_v5(out, o.members)
        out += _pack_i(o.authorized_operations)
        out.append(0)


def _encode_describe_groups_response_v6(o: DescribeGroupsResponse) -> list[Part]:
    out = bytearray()
    out += _pack_i(o.throttle_time_ms)
    n = len(o.groups) + 1
    out += UVARINTS[n] if n < 128 else uvarint(n)
    _write_described_group_v6(out, o.groups)
    out.append(0)
    return [out]


DescribeGroupsRequest.DECODERS = {
    0: _decode_describe_groups_request_v0,
    1: _decode_describe_groups_request_v0,
    2: _decode_describe_groups_request_v0,
    3: _decode_describe_groups_request_v3,
    4: _decode_describe_groups_request_v3,
    5: _decode_describe_groups_request_v5,
    6: _decode_describe_groups_request_v5,
}
DescribeGroupsRequest.ENCODERS = {
    0: _encode_describe_groups_request_v0,
    1: _encode_describe_groups_request_v0,
    2: _encode_describe_groups_request_v0,
    3: _encode_describe_groups_request_v3,
    4: _encode_describe_groups_request_v3,
    5: _encode_describe_groups_request_v5,
    6: _encode_describe_groups_request_v5,
}
DescribeGroupsResponse.DECODERS = {
    0: _decode_describe_groups_response_v0,
    1: _decode_describe_groups_response_v1,
    2: _decode_describe_groups_response_v1,
    3: _decode_describe_groups_response_v3,
    4: _decode_describe_groups_response_v4,
    5: _decode_describe_groups_response_v5,
    6: _decode_describe_groups_response_v6,
}
DescribeGroupsResponse.ENCODERS = {
    0: _encode_describe_groups_response_v0,
    1: _encode_describe_groups_response_v1,
    2: _encode_describe_groups_response_v1,
    3: _encode_describe_groups_response_v3,
    4: _encode_describe_groups_response_v4,
    5: _encode_describe_groups_response_v5,
    6: _encode_describe_groups_response_v6,
}
