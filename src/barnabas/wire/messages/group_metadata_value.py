"""A classic group in __consumer_offsets. Version 3 is the one written.

Generated from schemas/group_metadata_value.msg by codegen; edit that and run it again.
"""

from collections.abc import Sequence
from struct import Struct
from typing import ClassVar

from barnabas.wire.message import FieldSpecs, Message, WireStruct
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
_pack_i = Struct(">i").pack
_pack_ih = Struct(">ih").pack
_pack_ii = Struct(">ii").pack
_pack_iii = Struct(">iii").pack
_pack_q = Struct(">q").pack
_pack_qi = Struct(">qi").pack
_unpack_h = Struct(">h").unpack_from
_unpack_i = Struct(">i").unpack_from
_unpack_ih = Struct(">ih").unpack_from
_unpack_ii = Struct(">ii").unpack_from
_unpack_iii = Struct(">iii").unpack_from
_unpack_q = Struct(">q").unpack_from
_unpack_qi = Struct(">qi").unpack_from


class MemberMetadata(WireStruct):
    __slots__ = (
        "member_id",
        "group_instance_id",
        "client_id",
        "client_host",
        "rebalance_timeout",
        "session_timeout",
        "subscription",
        "assignment",
    )
    FIELDS: ClassVar[FieldSpecs] = (
        ("member_id", "string", 0, 4, False),
        ("group_instance_id", "string", 3, 4, True),
        ("client_id", "string", 0, 4, False),
        ("client_host", "string", 0, 4, False),
        ("rebalance_timeout", "int32", 1, 4, False),
        ("session_timeout", "int32", 0, 4, False),
        ("subscription", "bytes", 0, 4, False),
        ("assignment", "bytes", 0, 4, False),
    )

    def __init__(
        self,
        member_id: str = "",
        group_instance_id: str | None = None,
        client_id: str = "",
        client_host: str = "",
        rebalance_timeout: int = -1,
        session_timeout: int = 0,
        subscription: bytes = b"",
        assignment: bytes = b"",
    ) -> None:
        self.member_id = member_id
        self.group_instance_id = group_instance_id
        self.client_id = client_id
        self.client_host = client_host
        self.rebalance_timeout = rebalance_timeout
        self.session_timeout = session_timeout
        self.subscription = subscription
        self.assignment = assignment


class GroupMetadataValue(Message):
    __slots__ = (
        "protocol_type",
        "generation",
        "protocol",
        "leader",
        "current_state_timestamp",
        "members",
    )
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 4
    FLEXIBLE_FROM: ClassVar[int] = 4
    FIELDS: ClassVar[FieldSpecs] = (
        ("protocol_type", "string", 0, 4, False),
        ("generation", "int32", 0, 4, False),
        ("protocol", "string", 0, 4, True),
        ("leader", "string", 0, 4, True),
        ("current_state_timestamp", "int64", 2, 4, False),
        ("members", "[MemberMetadata]", 0, 4, False),
    )

    def __init__(
        self,
        protocol_type: str = "",
        generation: int = 0,
        protocol: str | None = "",
        leader: str | None = "",
        current_state_timestamp: int = -1,
        members: list[MemberMetadata] = EMPTY,
    ) -> None:
        self.protocol_type = protocol_type
        self.generation = generation
        self.protocol = protocol
        self.leader = leader
        self.current_state_timestamp = current_state_timestamp
        self.members = [] if members is EMPTY else members


def _read_member_metadata_v0(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[MemberMetadata], int]:
    if count * 18 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 392
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[MemberMetadata] = []
    for _ in range(count):
        o = new(MemberMetadata)
        o.group_instance_id = None
        o.rebalance_timeout = -1
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
        o.session_timeout, n = _unpack_ii(buf, pos)
        pos += 8
        if n < 0:
            raise unexpected_null(pos, "subscription")
        q = pos + n
        if q > end:
            raise overrun(pos, n)
        o.subscription = bytes(buf[pos:q])
        pos = q
        (n,) = _unpack_i(buf, pos)
        pos += 4
        if n < 0:
            raise unexpected_null(pos, "assignment")
        q = pos + n
        if q > end:
            raise overrun(pos, n)
        o.assignment = bytes(buf[pos:q])
        pos = q
        items.append(o)
    return items, pos


def _decode_group_metadata_value_v0(buf: memoryview, pos: int, end: int, budget: list[int]) -> GroupMetadataValue:
    o = new(GroupMetadataValue)
    o.current_state_timestamp = -1
    (n,) = _unpack_h(buf, pos)
    pos += 2
    if n < 0:
        raise unexpected_null(pos, "protocol_type")
    q = pos + n
    if q > end:
        raise overrun(pos, n)
    o.protocol_type = str(buf[pos:q], "utf-8")
    pos = q
    o.generation, n = _unpack_ih(buf, pos)
    pos += 6
    if n < 0:
        o.protocol = None
    else:
        q = pos + n
        if q > end:
            raise overrun(pos, n)
        o.protocol = str(buf[pos:q], "utf-8")
        pos = q
    (n,) = _unpack_h(buf, pos)
    pos += 2
    if n < 0:
        o.leader = None
    else:
        q = pos + n
        if q > end:
            raise overrun(pos, n)
        o.leader = str(buf[pos:q], "utf-8")
        pos = q
    (n,) = _unpack_i(buf, pos)
    pos += 4
    if n < 0:
        raise unexpected_null(pos, "members")
    o.members, pos = _read_member_metadata_v0(buf, pos, end, n, budget)
    return o


def _write_member_metadata_v0(
    out: bytearray, items: Sequence[MemberMetadata]
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
        n = len(o.subscription)
        out += _pack_ii(o.session_timeout, n)
        out += o.subscription
        n = len(o.assignment)
        out += _pack_i(n)
        out += o.assignment


def _encode_group_metadata_value_v0(o: GroupMetadataValue) -> list[Part]:
    out = bytearray()
    s = o.protocol_type.encode()
    n = len(s)
    out += _pack_h(n)
    out += s
    if o.protocol is None:
        n = -1
        s = b""
    else:
        s = o.protocol.encode()
        n = len(s)
    out += _pack_ih(o.generation, n)
    out += s
    if o.leader is None:
        n = -1
        s = b""
    else:
        s = o.leader.encode()
        n = len(s)
    out += _pack_h(n)
    out += s
    n = len(o.members)
    out += _pack_i(n)
    _write_member_metadata_v0(out, o.members)
    return [out]


def _read_member_metadata_v1(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[MemberMetadata], int]:
    if count * 22 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 424
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[MemberMetadata] = []
    for _ in range(count):
        o = new(MemberMetadata)
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
        o.rebalance_timeout, o.session_timeout, n = _unpack_iii(buf, pos)
        pos += 12
        if n < 0:
            raise unexpected_null(pos, "subscription")
        q = pos + n
        if q > end:
            raise overrun(pos, n)
        o.subscription = bytes(buf[pos:q])
        pos = q
        (n,) = _unpack_i(buf, pos)
        pos += 4
        if n < 0:
            raise unexpected_null(pos, "assignment")
        q = pos + n
        if q > end:
            raise overrun(pos, n)
        o.assignment = bytes(buf[pos:q])
        pos = q
        items.append(o)
    return items, pos


def _decode_group_metadata_value_v1(buf: memoryview, pos: int, end: int, budget: list[int]) -> GroupMetadataValue:
    o = new(GroupMetadataValue)
    o.current_state_timestamp = -1
    (n,) = _unpack_h(buf, pos)
    pos += 2
    if n < 0:
        raise unexpected_null(pos, "protocol_type")
    q = pos + n
    if q > end:
        raise overrun(pos, n)
    o.protocol_type = str(buf[pos:q], "utf-8")
    pos = q
    o.generation, n = _unpack_ih(buf, pos)
    pos += 6
    if n < 0:
        o.protocol = None
    else:
        q = pos + n
        if q > end:
            raise overrun(pos, n)
        o.protocol = str(buf[pos:q], "utf-8")
        pos = q
    (n,) = _unpack_h(buf, pos)
    pos += 2
    if n < 0:
        o.leader = None
    else:
        q = pos + n
        if q > end:
            raise overrun(pos, n)
        o.leader = str(buf[pos:q], "utf-8")
        pos = q
    (n,) = _unpack_i(buf, pos)
    pos += 4
    if n < 0:
        raise unexpected_null(pos, "members")
    o.members, pos = _read_member_metadata_v1(buf, pos, end, n, budget)
    return o


def _write_member_metadata_v1(
    out: bytearray, items: Sequence[MemberMetadata]
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
        n = len(o.subscription)
        out += _pack_iii(o.rebalance_timeout, o.session_timeout, n)
        out += o.subscription
        n = len(o.assignment)
        out += _pack_i(n)
        out += o.assignment


def _encode_group_metadata_value_v1(o: GroupMetadataValue) -> list[Part]:
    out = bytearray()
    s = o.protocol_type.encode()
    n = len(s)
    out += _pack_h(n)
    out += s
    if o.protocol is None:
        n = -1
        s = b""
    else:
        s = o.protocol.encode()
        n = len(s)
    out += _pack_ih(o.generation, n)
    out += s
    if o.leader is None:
        n = -1
        s = b""
    else:
        s = o.leader.encode()
        n = len(s)
    out += _pack_h(n)
    out += s
    n = len(o.members)
    out += _pack_i(n)
    _write_member_metadata_v1(out, o.members)
    return [out]


def _decode_group_metadata_value_v2(buf: memoryview, pos: int, end: int, budget: list[int]) -> GroupMetadataValue:
    o = new(GroupMetadataValue)
    (n,) = _unpack_h(buf, pos)
    pos += 2
    if n < 0:
        raise unexpected_null(pos, "protocol_type")
    q = pos + n
    if q > end:
        raise overrun(pos, n)
    o.protocol_type = str(buf[pos:q], "utf-8")
    pos = q
    o.generation, n = _unpack_ih(buf, pos)
    pos += 6
    if n < 0:
        o.protocol = None
    else:
        q = pos + n
        if q > end:
            raise overrun(pos, n)
        o.protocol = str(buf[pos:q], "utf-8")
        pos = q
    (n,) = _unpack_h(buf, pos)
    pos += 2
    if n < 0:
        o.leader = None
    else:
        q = pos + n
        if q > end:
            raise overrun(pos, n)
        o.leader = str(buf[pos:q], "utf-8")
        pos = q
    o.current_state_timestamp, n = _unpack_qi(buf, pos)
    pos += 12
    if n < 0:
        raise unexpected_null(pos, "members")
    o.members, pos = _read_member_metadata_v1(buf, pos, end, n, budget)
    return o


def _encode_group_metadata_value_v2(o: GroupMetadataValue) -> list[Part]:
    out = bytearray()
    s = o.protocol_type.encode()
    n = len(s)
    out += _pack_h(n)
    out += s
    if o.protocol is None:
        n = -1
        s = b""
    else:
        s = o.protocol.encode()
        n = len(s)
    out += _pack_ih(o.generation, n)
    out += s
    if o.leader is None:
        n = -1
        s = b""
    else:
        s = o.leader.encode()
        n = len(s)
    out += _pack_h(n)
    out += s
    n = len(o.members)
    out += _pack_qi(o.current_state_timestamp, n)
    _write_member_metadata_v1(out, o.members)
    return [out]


def _read_member_metadata_v3(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[MemberMetadata], int]:
    if count * 24 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 480
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[MemberMetadata] = []
    for _ in range(count):
        o = new(MemberMetadata)
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
        o.rebalance_timeout, o.session_timeout, n = _unpack_iii(buf, pos)
        pos += 12
        if n < 0:
            raise unexpected_null(pos, "subscription")
        q = pos + n
        if q > end:
            raise overrun(pos, n)
        o.subscription = bytes(buf[pos:q])
        pos = q
        (n,) = _unpack_i(buf, pos)
        pos += 4
        if n < 0:
            raise unexpected_null(pos, "assignment")
        q = pos + n
        if q > end:
            raise overrun(pos, n)
        o.assignment = bytes(buf[pos:q])
        pos = q
        items.append(o)
    return items, pos


def _decode_group_metadata_value_v3(buf: memoryview, pos: int, end: int, budget: list[int]) -> GroupMetadataValue:
    o = new(GroupMetadataValue)
    (n,) = _unpack_h(buf, pos)
    pos += 2
    if n < 0:
        raise unexpected_null(pos, "protocol_type")
    q = pos + n
    if q > end:
        raise overrun(pos, n)
    o.protocol_type = str(buf[pos:q], "utf-8")
    pos = q
    o.generation, n = _unpack_ih(buf, pos)
    pos += 6
    if n < 0:
        o.protocol = None
    else:
        q = pos + n
        if q > end:
            raise overrun(pos, n)
        o.protocol = str(buf[pos:q], "utf-8")
        pos = q
    (n,) = _unpack_h(buf, pos)
    pos += 2
    if n < 0:
        o.leader = None
    else:
        q = pos + n
        if q > end:
            raise overrun(pos, n)
        o.leader = str(buf[pos:q], "utf-8")
        pos = q
    o.current_state_timestamp, n = _unpack_qi(buf, pos)
    pos += 12
    if n < 0:
        raise unexpected_null(pos, "members")
    o.members, pos = _read_member_metadata_v3(buf, pos, end, n, budget)
    return o


def _write_member_metadata_v3(
    out: bytearray, items: Sequence[MemberMetadata]
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
        n = len(o.subscription)
        out += _pack_iii(o.rebalance_timeout, o.session_timeout, n)
        out += o.subscription
        n = len(o.assignment)
        out += _pack_i(n)
        out += o.assignment


def _encode_group_metadata_value_v3(o: GroupMetadataValue) -> list[Part]:
    out = bytearray()
    s = o.protocol_type.encode()
    n = len(s)
    out += _pack_h(n)
    out += s
    if o.protocol is None:
        n = -1
        s = b""
    else:
        s = o.protocol.encode()
        n = len(s)
    out += _pack_ih(o.generation, n)
    out += s
    if o.leader is None:
        n = -1
        s = b""
    else:
        s = o.leader.encode()
        n = len(s)
    out += _pack_h(n)
    out += s
    n = len(o.members)
    out += _pack_qi(o.current_state_timestamp, n)
    _write_member_metadata_v3(out, o.members)
    return [out]


def _read_member_metadata_v4(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[MemberMetadata], int]:
    if count * 15 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 480
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[MemberMetadata] = []
    for _ in range(count):
        o = new(MemberMetadata)
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
        o.rebalance_timeout, o.session_timeout = _unpack_ii(buf, pos)
        pos += 8
        n = buf[pos]
        pos += 1
        if n > 127:
            n, pos = read_long_uvarint(buf, pos)
        n -= 1
        if n < 0:
            raise unexpected_null(pos, "subscription")
        q = pos + n
        if q > end:
            raise overrun(pos, n)
        o.subscription = bytes(buf[pos:q])
        pos = q
        n = buf[pos]
        pos += 1
        if n > 127:
            n, pos = read_long_uvarint(buf, pos)
        n -= 1
        if n < 0:
            raise unexpected_null(pos, "assignment")
        q = pos + n
        if q > end:
            raise overrun(pos, n)
        o.assignment = bytes(buf[pos:q])
        pos = q
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tags(buf, pos, end)
        items.append(o)
    return items, pos


def _decode_group_metadata_value_v4(buf: memoryview, pos: int, end: int, budget: list[int]) -> GroupMetadataValue:
    o = new(GroupMetadataValue)
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
    (o.generation,) = _unpack_i(buf, pos)
    pos += 4
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_long_string_length(buf, pos)
    n -= 1
    if n < 0:
        o.protocol = None
    else:
        q = pos + n
        if q > end:
            raise overrun(pos, n)
        o.protocol = str(buf[pos:q], "utf-8")
        pos = q
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_long_string_length(buf, pos)
    n -= 1
    if n < 0:
        o.leader = None
    else:
        q = pos + n
        if q > end:
            raise overrun(pos, n)
        o.leader = str(buf[pos:q], "utf-8")
        pos = q
    (o.current_state_timestamp,) = _unpack_q(buf, pos)
    pos += 8
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_long_uvarint(buf, pos)
    n -= 1
    if n < 0:
        raise unexpected_null(pos, "members")
    o.members, pos = _read_member_metadata_v4(buf, pos, end, n, budget)
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tags(buf, pos, end)
    return o


def _write_member_metadata_v4(
    out: bytearray, items: Sequence[MemberMetadata]
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
        out += _pack_ii(o.rebalance_timeout, o.session_timeout)
        n = len(o.subscription) + 1
        out += UVARINTS[n] if n < 128 else uvarint(n)
        out += o.subscription
        n = len(o.assignment) + 1
        out += UVARINTS[n] if n < 128 else uvarint(n)
        out += o.assignment
        out.append(0)


def _encode_group_metadata_value_v4(o: GroupMetadataValue) -> list[Part]:
    out = bytearray()
    s = o.protocol_type.encode()
    n = len(s) + 1
    out += UVARINTS[n] if n < 128 else long_string_length(n)
    out += s
    out += _pack_i(o.generation)
    if o.protocol is None:
        out.append(0)
    else:
        s = o.protocol.encode()
        n = len(s) + 1
        out += UVARINTS[n] if n < 128 else long_string_length(n)
        out += s
    if o.leader is None:
        out.append(0)
    else:
        s = o.leader.encode()
        n = len(s) + 1
        out += UVARINTS[n] if n < 128 else long_string_length(n)
        out += s
    out += _pack_q(o.current_state_timestamp)
    n = len(o.members) + 1
    out += UVARINTS[n] if n < 128 else uvarint(n)
    _write_member_metadata_v4(out, o.members)
    out.append(0)
    return [out]


GroupMetadataValue.DECODERS = {
    0: _decode_group_metadata_value_v0,
    1: _decode_group_metadata_value_v1,
    2: _decode_group_metadata_value_v2,
    3: _decode_group_metadata_value_v3,
    4: _decode_group_metadata_value_v4,
}
GroupMetadataValue.ENCODERS = {
    0: _encode_group_metadata_value_v0,
    1: _encode_group_metadata_value_v1,
    2: _encode_group_metadata_value_v2,
    3: _encode_group_metadata_value_v3,
    4: _encode_group_metadata_value_v4,
}
