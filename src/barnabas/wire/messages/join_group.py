"""A member enters a classic group, or a new round of its rebalance.

Generated from schemas/join_group.msg by codegen; edit that and run it again.
"""

from collections.abc import Sequence
from struct import Struct
from typing import ClassVar

from barnabas.model.errors import LocalError
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

_pack_t = Struct(">?").pack
_pack_h = Struct(">h").pack
_pack_hih = Struct(">hih").pack
_pack_i = Struct(">i").pack
_pack_ih = Struct(">ih").pack
_pack_ihi = Struct(">ihi").pack
_pack_ihih = Struct(">ihih").pack
_pack_ii = Struct(">ii").pack
_pack_iih = Struct(">iih").pack
_unpack_h = Struct(">h").unpack_from
_unpack_hih = Struct(">hih").unpack_from
_unpack_i = Struct(">i").unpack_from
_unpack_ih = Struct(">ih").unpack_from
_unpack_ihi = Struct(">ihi").unpack_from
_unpack_ihih = Struct(">ihih").unpack_from
_unpack_ii = Struct(">ii").unpack_from
_unpack_iih = Struct(">iih").unpack_from


class JoinGroupRequestProtocol(WireStruct):
    __slots__ = (
        "name",
        "metadata",
    )
    FIELDS: ClassVar[FieldSpecs] = (
        ("name", "string", 0, 9, False),
        ("metadata", "bytes", 0, 9, False),
    )

    def __init__(
        self,
        name: str = "",
        metadata: bytes = b"",
    ) -> None:
        self.name = name
        self.metadata = metadata  # opaque to the coordinator


class JoinGroupResponseMember(WireStruct):
    __slots__ = (
        "member_id",
        "group_instance_id",
        "metadata",
    )
    FIELDS: ClassVar[FieldSpecs] = (
        ("member_id", "string", 0, 9, False),
        ("group_instance_id", "string", 5, 9, True),
        ("metadata", "bytes", 0, 9, False),
    )

    def __init__(
        self,
        member_id: str = "",
        group_instance_id: str | None = None,
        metadata: bytes = b"",
    ) -> None:
        self.member_id = member_id
        self.group_instance_id = group_instance_id  # set by static members (KIP-345)
        self.metadata = metadata


class JoinGroupRequest(Request["JoinGroupResponse"]):
    __slots__ = (
        "group_id",
        "session_timeout_ms",
        "rebalance_timeout_ms",
        "member_id",
        "group_instance_id",
        "protocol_type",
        "protocols",
        "reason",
    )
    API_KEY: ClassVar[int] = 11
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 9
    FLEXIBLE_FROM: ClassVar[int] = 6
    FIELDS: ClassVar[FieldSpecs] = (
        ("group_id", "string", 0, 9, False),
        ("session_timeout_ms", "int32", 0, 9, False),
        ("rebalance_timeout_ms", "int32", 1, 9, False),
        ("member_id", "string", 0, 9, False),
        ("group_instance_id", "string", 5, 9, True),
        ("protocol_type", "string", 0, 9, False),
        ("protocols", "[JoinGroupRequestProtocol]", 0, 9, False),
        ("reason", "string", 8, 9, True),
    )

    def __init__(
        self,
        group_id: str = "",
        session_timeout_ms: int = 0,
        rebalance_timeout_ms: int = -1,
        member_id: str = "",
        group_instance_id: str | None = None,
        protocol_type: str = "",
        protocols: list[JoinGroupRequestProtocol] = EMPTY,
        reason: str | None = None,
    ) -> None:
        self.group_id = group_id
        self.session_timeout_ms = session_timeout_ms  # silence after which the member is removed
        self.rebalance_timeout_ms = rebalance_timeout_ms  # how long to wait for members to rejoin
        self.member_id = member_id  # empty on the first call
        self.group_instance_id = group_instance_id  # set by static members (KIP-345)
        self.protocol_type = protocol_type  # "consumer", "connect", ...; one per group
        self.protocols = [] if protocols is EMPTY else protocols  # in order of preference
        self.reason = reason  # of the rejoin, for the log of the broker (KIP-800)


class JoinGroupResponse(Message):
    __slots__ = (
        "throttle_time_ms",
        "error_code",
        "generation_id",
        "protocol_type",
        "protocol_name",
        "leader",
        "skip_assignment",
        "member_id",
        "members",
    )
    API_KEY: ClassVar[int] = 11
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 9
    FLEXIBLE_FROM: ClassVar[int] = 6
    FIELDS: ClassVar[FieldSpecs] = (
        ("throttle_time_ms", "int32", 2, 9, False),
        ("error_code", "int16", 0, 9, False),
        ("generation_id", "int32", 0, 9, False),
        ("protocol_type", "string", 7, 9, True),
        ("protocol_name", "string", 0, 9, True),
        ("leader", "string", 0, 9, False),
        ("skip_assignment", "bool", 9, 9, False),
        ("member_id", "string", 0, 9, False),
        ("members", "[JoinGroupResponseMember]", 0, 9, False),
    )

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        generation_id: int = -1,
        protocol_type: str | None = None,
        protocol_name: str | None = "",
        leader: str = "",
        skip_assignment: bool = False,
        member_id: str = "",
        members: list[JoinGroupResponseMember] = EMPTY,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.generation_id = generation_id
        self.protocol_type = protocol_type  # "consumer", "connect", ...; one per group
        self.protocol_name = protocol_name
        self.leader = leader  # member id of the leader
        self.skip_assignment = skip_assignment  # the leader must not assign anew (KIP-814)
        self.member_id = member_id
        self.members = [] if members is EMPTY else members  # given to the leader only


def _read_join_group_request_protocol_v0(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[JoinGroupRequestProtocol], int]:
    if count * 6 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 160
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[JoinGroupRequestProtocol] = []
    for _ in range(count):
        o = new(JoinGroupRequestProtocol)
        (n,) = _unpack_h(buf, pos)
        pos += 2
        if n < 0:
            raise unexpected_null(pos, "name")
        q = pos + n
        if q > end:
            raise overrun(pos, n)
        o.name = str(buf[pos:q], "utf-8")
        pos = q
        (n,) = _unpack_i(buf, pos)
        pos += 4
        if n < 0:
            raise unexpected_null(pos, "metadata")
        q = pos + n
        if q > end:
            raise overrun(pos, n)
        o.metadata = bytes(buf[pos:q])
        pos = q
        items.append(o)
    return items, pos


def _decode_join_group_request_v0(buf: memoryview, pos: int, end: int, budget: list[int]) -> JoinGroupRequest:
    o = new(JoinGroupRequest)
    o.rebalance_timeout_ms = -1
    o.group_instance_id = None
    o.reason = None
    (n,) = _unpack_h(buf, pos)
    pos += 2
    if n < 0:
        raise unexpected_null(pos, "group_id")
    q = pos + n
    if q > end:
        raise overrun(pos, n)
    o.group_id = str(buf[pos:q], "utf-8")
    pos = q
    o.session_timeout_ms, n = _unpack_ih(buf, pos)
    pos += 6
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
        raise unexpected_null(pos, "protocol_type")
    q = pos + n
    if q > end:
        raise overrun(pos, n)
    o.protocol_type = str(buf[pos:q], "utf-8")
    pos = q
    (n,) = _unpack_i(buf, pos)
    pos += 4
    if n < 0:
        raise unexpected_null(pos, "protocols")
    o.protocols, pos = _read_join_group_request_protocol_v0(buf, pos, end, n, budget)
    return o


def _write_join_group_request_protocol_v0(
    out: bytearray, items: Sequence[JoinGroupRequestProtocol]
) -> None:
    for o in items:
        s = o.name.encode()
        n = len(s)
        out += _pack_h(n)
        out += s
        n = len(o.metadata)
        out += _pack_i(n)
        out += o.metadata


def _encode_join_group_request_v0(o: JoinGroupRequest) -> list[Part]:
    out = bytearray()
    s = o.group_id.encode()
    n = len(s)
    out += _pack_h(n)
    out += s
    s = o.member_id.encode()
    n = len(s)
    out += _pack_ih(o.session_timeout_ms, n)
    out += s
    s = o.protocol_type.encode()
    n = len(s)
    out += _pack_h(n)
    out += s
    n = len(o.protocols)
    out += _pack_i(n)
    _write_join_group_request_protocol_v0(out, o.protocols)
    return [out]


def _decode_join_group_request_v1(buf: memoryview, pos: int, end: int, budget: list[int]) -> JoinGroupRequest:
    o = new(JoinGroupRequest)
    o.group_instance_id = None
    o.reason = None
    (n,) = _unpack_h(buf, pos)
    pos += 2
    if n < 0:
        raise unexpected_null(pos, "group_id")
    q = pos + n
    if q > end:
        raise overrun(pos, n)
    o.group_id = str(buf[pos:q], "utf-8")
    pos = q
    o.session_timeout_ms, o.rebalance_timeout_ms, n = _unpack_iih(buf, pos)
    pos += 10
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
        raise unexpected_null(pos, "protocol_type")
    q = pos + n
    if q > end:
        raise overrun(pos, n)
    o.protocol_type = str(buf[pos:q], "utf-8")
    pos = q
    (n,) = _unpack_i(buf, pos)
    pos += 4
    if n < 0:
        raise unexpected_null(pos, "protocols")
    o.protocols, pos = _read_join_group_request_protocol_v0(buf, pos, end, n, budget)
    return o


def _encode_join_group_request_v1(o: JoinGroupRequest) -> list[Part]:
    out = bytearray()
    s = o.group_id.encode()
    n = len(s)
    out += _pack_h(n)
    out += s
    s = o.member_id.encode()
    n = len(s)
    out += _pack_iih(o.session_timeout_ms, o.rebalance_timeout_ms, n)
    out += s
    s = o.protocol_type.encode()
    n = len(s)
    out += _pack_h(n)
    out += s
    n = len(o.protocols)
    out += _pack_i(n)
    _write_join_group_request_protocol_v0(out, o.protocols)
    return [out]


def _decode_join_group_request_v5(buf: memoryview, pos: int, end: int, budget: list[int]) -> JoinGroupRequest:
    o = new(JoinGroupRequest)
    o.reason = None
    (n,) = _unpack_h(buf, pos)
    pos += 2
    if n < 0:
        raise unexpected_null(pos, "group_id")
    q = pos + n
    if q > end:
        raise overrun(pos, n)
    o.group_id = str(buf[pos:q], "utf-8")
    pos = q
    o.session_timeout_ms, o.rebalance_timeout_ms, n = _unpack_iih(buf, pos)
    pos += 10
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
        raise unexpected_null(pos, "protocol_type")
    q = pos + n
    if q > end:
        raise overrun(pos, n)
    o.protocol_type = str(buf[pos:q], "utf-8")
    pos = q
    (n,) = _unpack_i(buf, pos)
    pos += 4
    if n < 0:
        raise unexpected_null(pos, "protocols")
    o.protocols, pos = _read_join_group_request_protocol_v0(buf, pos, end, n, budget)
    return o


def _encode_join_group_request_v5(o: JoinGroupRequest) -> list[Part]:
    out = bytearray()
    s = o.group_id.encode()
    n = len(s)
    out += _pack_h(n)
    out += s
    s = o.member_id.encode()
    n = len(s)
    out += _pack_iih(o.session_timeout_ms, o.rebalance_timeout_ms, n)
    out += s
    if o.group_instance_id is None:
        n = -1
        s = b""
    else:
        s = o.group_instance_id.encode()
        n = len(s)
    out += _pack_h(n)
    out += s
    s = o.protocol_type.encode()
    n = len(s)
    out += _pack_h(n)
    out += s
    n = len(o.protocols)
    out += _pack_i(n)
    _write_join_group_request_protocol_v0(out, o.protocols)
    return [out]


def _read_join_group_request_protocol_v6(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[JoinGroupRequestProtocol], int]:
    if count * 3 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 160
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[JoinGroupRequestProtocol] = []
    for _ in range(count):
        o = new(JoinGroupRequestProtocol)
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
        n = buf[pos]
        pos += 1
        if n > 127:
            n, pos = read_long_uvarint(buf, pos)
        n -= 1
        if n < 0:
            raise unexpected_null(pos, "metadata")
        q = pos + n
        if q > end:
            raise overrun(pos, n)
        o.metadata = bytes(buf[pos:q])
        pos = q
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tags(buf, pos, end)
        items.append(o)
    return items, pos


def _decode_join_group_request_v6(buf: memoryview, pos: int, end: int, budget: list[int]) -> JoinGroupRequest:
    o = new(JoinGroupRequest)
    o.reason = None
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
    o.session_timeout_ms, o.rebalance_timeout_ms = _unpack_ii(buf, pos)
    pos += 8
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
        raise unexpected_null(pos, "protocol_type")
    q = pos + n
    if q > end:
        raise overrun(pos, n)
    o.protocol_type = str(buf[pos:q], "utf-8")
    pos = q
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_long_uvarint(buf, pos)
    n -= 1
    if n < 0:
        raise unexpected_null(pos, "protocols")
    o.protocols, pos = _read_join_group_request_protocol_v6(buf, pos, end, n, budget)
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tags(buf, pos, end)
    return o


def _write_join_group_request_protocol_v6(
    out: bytearray, items: Sequence[JoinGroupRequestProtocol]
) -> None:
    for o in items:
        s = o.name.encode()
        n = len(s) + 1
        out += UVARINTS[n] if n < 128 else long_string_length(n)
        out += s
        n = len(o.metadata) + 1
        out += UVARINTS[n] if n < 128 else uvarint(n)
        out += o.metadata
        out.append(0)


def _encode_join_group_request_v6(o: JoinGroupRequest) -> list[Part]:
    out = bytearray()
    s = o.group_id.encode()
    n = len(s) + 1
    out += UVARINTS[n] if n < 128 else long_string_length(n)
    out += s
    out += _pack_ii(o.session_timeout_ms, o.rebalance_timeout_ms)
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
    s = o.protocol_type.encode()
    n = len(s) + 1
    out += UVARINTS[n] if n < 128 else long_string_length(n)
    out += s
    n = len(o.protocols) + 1
    out += UVARINTS[n] if n < 128 else uvarint(n)
    _write_join_group_request_protocol_v6(out, o.protocols)
    out.append(0)
    return [out]


def _decode_join_group_request_v8(buf: memoryview, pos: int, end: int, budget: list[int]) -> JoinGroupRequest:
    o = new(JoinGroupRequest)
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
    o.session_timeout_ms, o.rebalance_timeout_ms = _unpack_ii(buf, pos)
    pos += 8
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
        raise unexpected_null(pos, "protocol_type")
    q = pos + n
    if q > end:
        raise overrun(pos, n)
    o.protocol_type = str(buf[pos:q], "utf-8")
    pos = q
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_long_uvarint(buf, pos)
    n -= 1
    if n < 0:
        raise unexpected_null(pos, "protocols")
    o.protocols, pos = _read_join_group_request_protocol_v6(buf, pos, end, n, budget)
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_long_string_length(buf, pos)
    n -= 1
    if n < 0:
        o.reason = None
    else:
        q = pos + n
        if q > end:
            raise overrun(pos, n)
        o.reason = str(buf[pos:q], "utf-8")
        pos = q
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tags(buf, pos, end)
    return o


def _encode_join_group_request_v8(o: JoinGroupRequest) -> list[Part]:
    out = bytearray()
    s = o.group_id.encode()
    n = len(s) + 1
    out += UVARINTS[n] if n < 128 else long_string_length(n)
    out += s
    out += _pack_ii(o.session_timeout_ms, o.rebalance_timeout_ms)
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
    s = o.protocol_type.encode()
    n = len(s) + 1
    out += UVARINTS[n] if n < 128 else long_string_length(n)
    out += s
    n = len(o.protocols) + 1
    out += UVARINTS[n] if n < 128 else uvarint(n)
    _write_join_group_request_protocol_v6(out, o.protocols)
    if o.reason is None:
        out.append(0)
    else:
        s = o.reason.encode()
        n = len(s) + 1
        out += UVARINTS[n] if n < 128 else long_string_length(n)
        out += s
    out.append(0)
    return [out]


def _read_join_group_response_member_v0(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[JoinGroupResponseMember], int]:
    if count * 6 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 168
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[JoinGroupResponseMember] = []
    for _ in range(count):
        o = new(JoinGroupResponseMember)
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
        (n,) = _unpack_i(buf, pos)
        pos += 4
        if n < 0:
            raise unexpected_null(pos, "metadata")
        q = pos + n
        if q > end:
            raise overrun(pos, n)
        o.metadata = bytes(buf[pos:q])
        pos = q
        items.append(o)
    return items, pos


def _decode_join_group_response_v0(buf: memoryview, pos: int, end: int, budget: list[int]) -> JoinGroupResponse:
    o = new(JoinGroupResponse)
    o.throttle_time_ms = 0
    o.protocol_type = None
    o.skip_assignment = False
    o.error_code, o.generation_id, n = _unpack_hih(buf, pos)
    pos += 8
    if n < 0:
        raise unexpected_null(pos, "protocol_name")
    q = pos + n
    if q > end:
        raise overrun(pos, n)
    o.protocol_name = str(buf[pos:q], "utf-8")
    pos = q
    (n,) = _unpack_h(buf, pos)
    pos += 2
    if n < 0:
        raise unexpected_null(pos, "leader")
    q = pos + n
    if q > end:
        raise overrun(pos, n)
    o.leader = str(buf[pos:q], "utf-8")
    pos = q
    (n,) = _unpack_h(buf, pos)
    pos += 2
    if n < 0:
        raise unexpected_null(pos, "member_id")
    q = pos + n
    if q > end:
        raise overrun(pos, n)
    o.member_id = str(buf[pos:q], "utf-8")
    pos = q
    (n,) = _unpack_i(buf, pos)
    pos += 4
    if n < 0:
        raise unexpected_null(pos, "members")
    o.members, pos = _read_join_group_response_member_v0(buf, pos, end, n, budget)
    return o


def _write_join_group_response_member_v0(
    out: bytearray, items: Sequence[JoinGroupResponseMember]
) -> None:
    for o in items:
        s = o.member_id.encode()
        n = len(s)
        out += _pack_h(n)
        out += s
        n = len(o.metadata)
        out += _pack_i(n)
        out += o.metadata


def _encode_join_group_response_v0(o: JoinGroupResponse) -> list[Part]:
    out = bytearray()
    if o.protocol_name is None:
        raise LocalError("protocol_name must not be None in this version")
    s = o.protocol_name.encode()
    n = len(s)
    out += _pack_hih(o.error_code, o.generation_id, n)
    out += s
    s = o.leader.encode()
    n = len(s)
    out += _pack_h(n)
    out += s
    s = o.member_id.encode()
    n = len(s)
    out += _pack_h(n)
    out += s
    n = len(o.members)
    out += _pack_i(n)
    _write_join_group_response_member_v0(out, o.members)
    return [out]


def _decode_join_group_response_v2(buf: memoryview, pos: int, end: int, budget: list[int]) -> JoinGroupResponse:
    o = new(JoinGroupResponse)
    o.protocol_type = None
    o.skip_assignment = False
    o.throttle_time_ms, o.error_code, o.generation_id, n = _unpack_ihih(buf, pos)
    pos += 12
    if n < 0:
        raise unexpected_null(pos, "protocol_name")
    q = pos + n
    if q > end:
        raise overrun(pos, n)
    o.protocol_name = str(buf[pos:q], "utf-8")
    pos = q
    (n,) = _unpack_h(buf, pos)
    pos += 2
    if n < 0:
        raise unexpected_null(pos, "leader")
    q = pos + n
    if q > end:
        raise overrun(pos, n)
    o.leader = str(buf[pos:q], "utf-8")
    pos = q
    (n,) = _unpack_h(buf, pos)
    pos += 2
    if n < 0:
        raise unexpected_null(pos, "member_id")
    q = pos + n
    if q > end:
        raise overrun(pos, n)
    o.member_id = str(buf[pos:q], "utf-8")
    pos = q
    (n,) = _unpack_i(buf, pos)
    pos += 4
    if n < 0:
        raise unexpected_null(pos, "members")
    o.members, pos = _read_join_group_response_member_v0(buf, pos, end, n, budget)
    return o


def _encode_join_group_response_v2(o: JoinGroupResponse) -> list[Part]:
    out = bytearray()
    if o.protocol_name is None:
        raise LocalError("protocol_name must not be None in this version")
    s = o.protocol_name.encode()
    n = len(s)
    out += _pack_ihih(o.throttle_time_ms, o.error_code, o.generation_id, n)
    out += s
    s = o.leader.encode()
    n = len(s)
    out += _pack_h(n)
    out += s
    s = o.member_id.encode()
    n = len(s)
    out += _pack_h(n)
    out += s
    n = len(o.members)
    out += _pack_i(n)
    _write_join_group_response_member_v0(out, o.members)
    return [out]


def _read_join_group_response_member_v5(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[JoinGroupResponseMember], int]:
    if count * 8 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 224
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[JoinGroupResponseMember] = []
    for _ in range(count):
        o = new(JoinGroupResponseMember)
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
        (n,) = _unpack_i(buf, pos)
        pos += 4
        if n < 0:
            raise unexpected_null(pos, "metadata")
        q = pos + n
        if q > end:
            raise overrun(pos, n)
        o.metadata = bytes(buf[pos:q])
        pos = q
        items.append(o)
    return items, pos


def _decode_join_group_response_v5(buf: memoryview, pos: int, end: int, budget: list[int]) -> JoinGroupResponse:
    o = new(JoinGroupResponse)
    o.protocol_type = None
    o.skip_assignment = False
    o.throttle_time_ms, o.error_code, o.generation_id, n = _unpack_ihih(buf, pos)
    pos += 12
    if n < 0:
        raise unexpected_null(pos, "protocol_name")
    q = pos + n
    if q > end:
        raise overrun(pos, n)
    o.protocol_name = str(buf[pos:q], "utf-8")
    pos = q
    (n,) = _unpack_h(buf, pos)
    pos += 2
    if n < 0:
        raise unexpected_null(pos, "leader")
    q = pos + n
    if q > end:
        raise overrun(pos, n)
    o.leader = str(buf[pos:q], "utf-8")
    pos = q
    (n,) = _unpack_h(buf, pos)
    pos += 2
    if n < 0:
        raise unexpected_null(pos, "member_id")
    q = pos + n
    if q > end:
        raise overrun(pos, n)
    o.member_id = str(buf[pos:q], "utf-8")
    pos = q
    (n,) = _unpack_i(buf, pos)
    pos += 4
    if n < 0:
        raise unexpected_null(pos, "members")
    o.members, pos = _read_join_group_response_member_v5(buf, pos, end, n, budget)
    return o


def _write_join_group_response_member_v5(
    out: bytearray, items: Sequence[JoinGroupResponseMember]
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
        n = len(o.metadata)
        out += _pack_i(n)
        out += o.metadata


def _encode_join_group_response_v5(o: JoinGroupResponse) -> list[Part]:
    out = bytearray()
    if o.protocol_name is None:
        raise LocalError("protocol_name must not be None in this version")
    s = o.protocol_name.encode()
    n = len(s)
    out += _pack_ihih(o.throttle_time_ms, o.error_code, o.generation_id, n)
    out += s
    s = o.leader.encode()
    n = len(s)
    out += _pack_h(n)
    out += s
    s = o.member_id.encode()
    n = len(s)
    out += _pack_h(n)
    out += s
    n = len(o.members)
    out += _pack_i(n)
    _write_join_group_response_member_v5(out, o.members)
    return [out]


def _read_join_group_response_member_v6(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[JoinGroupResponseMember], int]:
    if count * 4 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 224
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[JoinGroupResponseMember] = []
    for _ in range(count):
        o = new(JoinGroupResponseMember)
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
            n, pos = read_long_uvarint(buf, pos)
        n -= 1
        if n < 0:
            raise unexpected_null(pos, "metadata")
        q = pos + n
        if q > end:
            raise overrun(pos, n)
        o.metadata = bytes(buf[pos:q])
        pos = q
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tags(buf, pos, end)
        items.append(o)
    return items, pos


def _decode_join_group_response_v6(buf: memoryview, pos: int, end: int, budget: list[int]) -> JoinGroupResponse:
    o = new(JoinGroupResponse)
    o.protocol_type = None
    o.skip_assignment = False
    o.throttle_time_ms, o.error_code, o.generation_id = _unpack_ihi(buf, pos)
    pos += 10
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_long_string_length(buf, pos)
    n -= 1
    if n < 0:
        raise unexpected_null(pos, "protocol_name")
    q = pos + n
    if q > end:
        raise overrun(pos, n)
    o.protocol_name = str(buf[pos:q], "utf-8")
    pos = q
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_long_string_length(buf, pos)
    n -= 1
    if n < 0:
        raise unexpected_null(pos, "leader")
    q = pos + n
    if q > end:
        raise overrun(pos, n)
    o.leader = str(buf[pos:q], "utf-8")
    pos = q
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
        n, pos = read_long_uvarint(buf, pos)
    n -= 1
    if n < 0:
        raise unexpected_null(pos, "members")
    o.members, pos = _read_join_group_response_member_v6(buf, pos, end, n, budget)
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tags(buf, pos, end)
    return o


def _write_join_group_response_member_v6(
    out: bytearray, items: Sequence[JoinGroupResponseMember]
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
        n = len(o.metadata) + 1
        out += UVARINTS[n] if n < 128 else uvarint(n)
        out += o.metadata
        out.append(0)


def _encode_join_group_response_v6(o: JoinGroupResponse) -> list[Part]:
    out = bytearray()
    out += _pack_ihi(o.throttle_time_ms, o.error_code, o.generation_id)
    if o.protocol_name is None:
        raise LocalError("protocol_name must not be None in this version")
    s = o.protocol_name.encode()
    n = len(s) + 1
    out += UVARINTS[n] if n < 128 else long_string_length(n)
    out += s
    s = o.leader.encode()
    n = len(s) + 1
    out += UVARINTS[n] if n < 128 else long_string_length(n)
    out += s
    s = o.member_id.encode()
    n = len(s) + 1
    out += UVARINTS[n] if n < 128 else long_string_length(n)
    out += s
    n = len(o.members) + 1
    out += UVARINTS[n] if n < 128 else uvarint(n)
    _write_join_group_response_member_v6(out, o.members)
    out.append(0)
    return [out]


def _decode_join_group_response_v7(buf: memoryview, pos: int, end: int, budget: list[int]) -> JoinGroupResponse:
    o = new(JoinGroupResponse)
    o.skip_assignment = False
    o.throttle_time_ms, o.error_code, o.generation_id = _unpack_ihi(buf, pos)
    pos += 10
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_long_string_length(buf, pos)
    n -= 1
    if n < 0:
        o.protocol_type = None
    else:
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
        o.protocol_name = None
    else:
        q = pos + n
        if q > end:
            raise overrun(pos, n)
        o.protocol_name = str(buf[pos:q], "utf-8")
        pos = q
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_long_string_length(buf, pos)
    n -= 1
    if n < 0:
        raise unexpected_null(pos, "leader")
    q = pos + n
    if q > end:
        raise overrun(pos, n)
    o.leader = str(buf[pos:q], "utf-8")
    pos = q
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
        n, pos = read_long_uvarint(buf, pos)
    n -= 1
    if n < 0:
        raise unexpected_null(pos, "members")
    o.members, pos = _read_join_group_response_member_v6(buf, pos, end, n, budget)
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tags(buf, pos, end)
    return o


def _encode_join_group_response_v7(o: JoinGroupResponse) -> list[Part]:
    out = bytearray()
    out += _pack_ihi(o.throttle_time_ms, o.error_code, o.generation_id)
    if o.protocol_type is None:
        out.append(0)
    else:
        s = o.protocol_type.encode()
        n = len(s) + 1
        out += UVARINTS[n] if n < 128 else long_string_length(n)
        out += s
    if o.protocol_name is None:
        out.append(0)
    else:
        s = o.protocol_name.encode()
        n = len(s) + 1
        out += UVARINTS[n] if n < 128 else long_string_length(n)
        out += s
    s = o.leader.encode()
    n = len(s) + 1
    out += UVARINTS[n] if n < 128 else long_string_length(n)
    out += s
    s = o.member_id.encode()
    n = len(s) + 1
    out += UVARINTS[n] if n < 128 else long_string_length(n)
    out += s
    n = len(o.members) + 1
    out += UVARINTS[n] if n < 128 else uvarint(n)
    _write_join_group_response_member_v6(out, o.members)
    out.append(0)
    return [out]


def _decode_join_group_response_v9(buf: memoryview, pos: int, end: int, budget: list[int]) -> JoinGroupResponse:
    o = new(JoinGroupResponse)
    o.throttle_time_ms, o.error_code, o.generation_id = _unpack_ihi(buf, pos)
    pos += 10
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_long_string_length(buf, pos)
    n -= 1
    if n < 0:
        o.protocol_type = None
    else:
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
        o.protocol_name = None
    else:
        q = pos + n
        if q > end:
            raise overrun(pos, n)
        o.protocol_name = str(buf[pos:q], "utf-8")
        pos = q
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_long_string_length(buf, pos)
    n -= 1
    if n < 0:
        raise unexpected_null(pos, "leader")
    q = pos + n
    if q > end:
        raise overrun(pos, n)
    o.leader = str(buf[pos:q], "utf-8")
    pos = q
    o.skip_assignment = buf[pos] != 0
    pos += 1
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
        n, pos = read_long_uvarint(buf, pos)
    n -= 1
    if n < 0:
        raise unexpected_null(pos, "members")
    o.members, pos = _read_join_group_response_member_v6(buf, pos, end, n, budget)
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tags(buf, pos, end)
    return o


def _encode_join_group_response_v9(o: JoinGroupResponse) -> list[Part]:
    out = bytearray()
    out += _pack_ihi(o.throttle_time_ms, o.error_code, o.generation_id)
    if o.protocol_type is None:
        out.append(0)
    else:
        s = o.protocol_type.encode()
        n = len(s) + 1
        out += UVARINTS[n] if n < 128 else long_string_length(n)
        out += s
    if o.protocol_name is None:
        out.append(0)
    else:
        s = o.protocol_name.encode()
        n = len(s) + 1
        out += UVARINTS[n] if n < 128 else long_string_length(n)
        out += s
    s = o.leader.encode()
    n = len(s) + 1
    out += UVARINTS[n] if n < 128 else long_string_length(n)
    out += s
    out += _pack_t(o.skip_assignment)
    s = o.member_id.encode()
    n = len(s) + 1
    out += UVARINTS[n] if n < 128 else long_string_length(n)
    out += s
    n = len(o.members) + 1
    out += UVARINTS[n] if n < 128 else uvarint(n)
    _write_join_group_response_member_v6(out, o.members)
    out.append(0)
    return [out]


JoinGroupRequest.DECODERS = {
    0: _decode_join_group_request_v0,
    1: _decode_join_group_request_v1,
    2: _decode_join_group_request_v1,
    3: _decode_join_group_request_v1,
    4: _decode_join_group_request_v1,
    5: _decode_join_group_request_v5,
    6: _decode_join_group_request_v6,
    7: _decode_join_group_request_v6,
    8: _decode_join_group_request_v8,
    9: _decode_join_group_request_v8,
}
JoinGroupRequest.ENCODERS = {
    0: _encode_join_group_request_v0,
    1: _encode_join_group_request_v1,
    2: _encode_join_group_request_v1,
    3: _encode_join_group_request_v1,
    4: _encode_join_group_request_v1,
    5: _encode_join_group_request_v5,
    6: _encode_join_group_request_v6,
    7: _encode_join_group_request_v6,
    8: _encode_join_group_request_v8,
    9: _encode_join_group_request_v8,
}
JoinGroupResponse.DECODERS = {
    0: _decode_join_group_response_v0,
    1: _decode_join_group_response_v0,
    2: _decode_join_group_response_v2,
    3: _decode_join_group_response_v2,
    4: _decode_join_group_response_v2,
    5: _decode_join_group_response_v5,
    6: _decode_join_group_response_v6,
    7: _decode_join_group_response_v7,
    8: _decode_join_group_response_v7,
    9: _decode_join_group_response_v9,
}
JoinGroupResponse.ENCODERS = {
    0: _encode_join_group_response_v0,
    1: _encode_join_group_response_v0,
    2: _encode_join_group_response_v2,
    3: _encode_join_group_response_v2,
    4: _encode_join_group_response_v2,
    5: _encode_join_group_response_v5,
    6: _encode_join_group_response_v6,
    7: _encode_join_group_response_v7,
    8: _encode_join_group_response_v7,
    9: _encode_join_group_response_v9,
}
