"""State, members and assignments of KIP-848 groups.

Generated from schemas/consumer_group_describe.msg by codegen; edit that and run it again.
"""

from collections.abc import Sequence
from struct import Struct
from typing import ClassVar

from barnabas.model.errors import LocalError
from barnabas.model.ids import ZERO_UUID, Uuid
from barnabas.wire.message import FieldSpecs, Message, Request, WireStruct
from barnabas.wire.primitives import (
    EMPTY,
    Part,
    UVARINTS,
    int32_elements,
    long_string_length,
    new,
    over_budget,
    overrun,
    read_compact_strings,
    read_int32s,
    read_long_string_length,
    read_long_uvarint,
    skip_tags,
    too_many,
    unexpected_null,
    uvarint,
    write_compact_strings,
)

_pack_u = Struct(">16s").pack
_pack_t = Struct(">?").pack
_pack_b = Struct(">b").pack
_pack_h = Struct(">h").pack
_pack_i = Struct(">i").pack
_pack_ii = Struct(">ii").pack
_unpack_u = Struct(">16s").unpack_from
_unpack_b = Struct(">b").unpack_from
_unpack_h = Struct(">h").unpack_from
_unpack_i = Struct(">i").unpack_from
_unpack_ii = Struct(">ii").unpack_from


class TopicPartitions(WireStruct):
    __slots__ = (
        "topic_id",
        "topic_name",
        "partitions",
    )
    FIELDS: ClassVar[FieldSpecs] = (
        ("topic_id", "uuid", 0, 1, False),
        ("topic_name", "string", 0, 1, False),
        ("partitions", "[int32]", 0, 1, False),
    )

    def __init__(
        self,
        topic_id: Uuid = ZERO_UUID,
        topic_name: str = "",
        partitions: list[int] = EMPTY,
    ) -> None:
        self.topic_id = topic_id
        self.topic_name = topic_name
        self.partitions = [] if partitions is EMPTY else partitions


class Assignment(WireStruct):
    __slots__ = (
        "topic_partitions",
    )
    FIELDS: ClassVar[FieldSpecs] = (
        ("topic_partitions", "[TopicPartitions]", 0, 1, False),
    )

    def __init__(
        self,
        topic_partitions: list[TopicPartitions] = EMPTY,
    ) -> None:
        self.topic_partitions = [] if topic_partitions is EMPTY else topic_partitions


class Member(WireStruct):
    __slots__ = (
        "member_id",
        "instance_id",
        "rack_id",
        "member_epoch",
        "client_id",
        "client_host",
        "subscribed_topic_names",
        "subscribed_topic_regex",
        "assignment",
        "target_assignment",
        "member_type",
    )
    FIELDS: ClassVar[FieldSpecs] = (
        ("member_id", "string", 0, 1, False),
        ("instance_id", "string", 0, 1, True),
        ("rack_id", "string", 0, 1, True),
        ("member_epoch", "int32", 0, 1, False),
        ("client_id", "string", 0, 1, False),
        ("client_host", "string", 0, 1, False),
        ("subscribed_topic_names", "[string]", 0, 1, False),
        ("subscribed_topic_regex", "string", 0, 1, True),
        ("assignment", "Assignment", 0, 1, False),
        ("target_assignment", "Assignment", 0, 1, False),
        ("member_type", "int8", 1, 1, False),
    )

    def __init__(
        self,
        member_id: str = "",
        instance_id: str | None = None,
        rack_id: str | None = None,
        member_epoch: int = 0,
        client_id: str = "",
        client_host: str = "",
        subscribed_topic_names: list[str] = EMPTY,
        subscribed_topic_regex: str | None = None,
        assignment: Assignment | None = None,
        target_assignment: Assignment | None = None,
        member_type: int = -1,
    ) -> None:
        self.member_id = member_id
        self.instance_id = instance_id
        self.rack_id = rack_id
        self.member_epoch = member_epoch
        self.client_id = client_id
        self.client_host = client_host
        self.subscribed_topic_names = [] if subscribed_topic_names is EMPTY else subscribed_topic_names
        self.subscribed_topic_regex = subscribed_topic_regex
        self.assignment = Assignment() if assignment is None else assignment
        self.target_assignment = Assignment() if target_assignment is None else target_assignment
        self.member_type = member_type  # -1 unknown, 0 classic, 1 consumer


class DescribedGroup(WireStruct):
    __slots__ = (
        "error_code",
        "error_message",
        "group_id",
        "group_state",
        "group_epoch",
        "assignment_epoch",
        "assignor_name",
        "members",
        "authorized_operations",
    )
    FIELDS: ClassVar[FieldSpecs] = (
        ("error_code", "int16", 0, 1, False),
        ("error_message", "string", 0, 1, True),
        ("group_id", "string", 0, 1, False),
        ("group_state", "string", 0, 1, False),
        ("group_epoch", "int32", 0, 1, False),
        ("assignment_epoch", "int32", 0, 1, False),
        ("assignor_name", "string", 0, 1, False),
        ("members", "[Member]", 0, 1, False),
        ("authorized_operations", "int32", 0, 1, False),
    )

    def __init__(
        self,
        error_code: int = 0,
        error_message: str | None = None,
        group_id: str = "",
        group_state: str = "",
        group_epoch: int = 0,
        assignment_epoch: int = 0,
        assignor_name: str = "",
        members: list[Member] = EMPTY,
        authorized_operations: int = -2147483648,
    ) -> None:
        self.error_code = error_code
        self.error_message = error_message
        self.group_id = group_id
        self.group_state = group_state  # name of the state, as Kafka spells it
        self.group_epoch = group_epoch
        self.assignment_epoch = assignment_epoch  # of the target assignment; below group_epoch while computing
        self.assignor_name = assignor_name
        self.members = [] if members is EMPTY else members
        self.authorized_operations = authorized_operations  # bit set; the minimum when not asked for


class ConsumerGroupDescribeRequest(Request["ConsumerGroupDescribeResponse"]):
    __slots__ = (
        "group_ids",
        "include_authorized_operations",
    )
    API_KEY: ClassVar[int] = 69
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 1
    FLEXIBLE_FROM: ClassVar[int] = 0
    FIELDS: ClassVar[FieldSpecs] = (
        ("group_ids", "[string]", 0, 1, False),
        ("include_authorized_operations", "bool", 0, 1, False),
    )

    def __init__(
        self,
        group_ids: list[str] = EMPTY,
        include_authorized_operations: bool = False,
    ) -> None:
        self.group_ids = [] if group_ids is EMPTY else group_ids
        self.include_authorized_operations = include_authorized_operations


class ConsumerGroupDescribeResponse(Message):
    __slots__ = (
        "throttle_time_ms",
        "groups",
    )
    API_KEY: ClassVar[int] = 69
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 1
    FLEXIBLE_FROM: ClassVar[int] = 0
    FIELDS: ClassVar[FieldSpecs] = (
        ("throttle_time_ms", "int32", 0, 1, False),
        ("groups", "[DescribedGroup]", 0, 1, False),
    )

    def __init__(
        self,
        throttle_time_ms: int = 0,
        groups: list[DescribedGroup] = EMPTY,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.groups = [] if groups is EMPTY else groups


def _decode_consumer_group_describe_request_v0(buf: memoryview, pos: int, end: int, budget: list[int]) -> ConsumerGroupDescribeRequest:
    o = new(ConsumerGroupDescribeRequest)
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_long_uvarint(buf, pos)
    n -= 1
    if n < 0:
        raise unexpected_null(pos, "group_ids")
    o.group_ids, pos = read_compact_strings(buf, pos, end, n, budget)
    o.include_authorized_operations = buf[pos] != 0
    pos += 1
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tags(buf, pos, end)
    return o


def _encode_consumer_group_describe_request_v0(o: ConsumerGroupDescribeRequest) -> list[Part]:
    out = bytearray()
    n = len(o.group_ids) + 1
    out += UVARINTS[n] if n < 128 else uvarint(n)
    write_compact_strings(out, o.group_ids)
    out += _pack_t(o.include_authorized_operations)
    out.append(0)
    return [out]


def _read_topic_partitions_v0(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[TopicPartitions], int]:
    if count * 19 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 248
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[TopicPartitions] = []
    for _ in range(count):
        o = new(TopicPartitions)
        (raw_topic_id,) = _unpack_u(buf, pos)
        pos += 16
        o.topic_id = Uuid(raw_topic_id)
        n = buf[pos]
        pos += 1
        if n > 127:
            n, pos = read_long_string_length(buf, pos)
        n -= 1
        if n < 0:
            raise unexpected_null(pos, "topic_name")
        q = pos + n
        if q > end:
            raise overrun(pos, n)
        o.topic_name = str(buf[pos:q], "utf-8")
        pos = q
        n = buf[pos]
        pos += 1
        if n > 127:
            n, pos = read_long_uvarint(buf, pos)
        n -= 1
        if n < 0:
            raise unexpected_null(pos, "partitions")
        o.partitions, pos = read_int32s(buf, pos, end, n, budget)
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tags(buf, pos, end)
        items.append(o)
    return items, pos


def _read_assignment_v0(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[Assignment], int]:
    if count * 2 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 120
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[Assignment] = []
    for _ in range(count):
        o = new(Assignment)
        n = buf[pos]
        pos += 1
        if n > 127:
            n, pos = read_long_uvarint(buf, pos)
        n -= 1
        if n < 0:
            raise unexpected_null(pos, "topic_partitions")
        o.topic_partitions, pos = _read_topic_partitions_v0(buf, pos, end, n, budget)
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tags(buf, pos, end)
        items.append(o)
    return items, pos


def _read_member_v0(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[Member], int]:
    if count * 16 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 632
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[Member] = []
    for _ in range(count):
        o = new(Member)
        o.member_type = -1
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
            o.instance_id = None
        else:
            q = pos + n
            if q > end:
                raise overrun(pos, n)
            o.instance_id = str(buf[pos:q], "utf-8")
            pos = q
        n = buf[pos]
        pos += 1
        if n > 127:
            n, pos = read_long_string_length(buf, pos)
        n -= 1
        if n < 0:
            o.rack_id = None
        else:
            q = pos + n
            if q > end:
                raise overrun(pos, n)
            o.rack_id = str(buf[pos:q], "utf-8")
            pos = q
        (o.member_epoch,) = _unpack_i(buf, pos)
        pos += 4
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
            raise unexpected_null(pos, "subscribed_topic_names")
        o.subscribed_topic_names, pos = read_compact_strings(buf, pos, end, n, budget)
        n = buf[pos]
        pos += 1
        if n > 127:
            n, pos = read_long_string_length(buf, pos)
        n -= 1
        if n < 0:
            o.subscribed_topic_regex = None
        else:
            q = pos + n
            if q > end:
                raise overrun(pos, n)
            o.subscribed_topic_regex = str(buf[pos:q], "utf-8")
            pos = q
        (o.assignment,), pos = _read_assignment_v0(buf, pos, end, 1, budget)
        (o.target_assignment,), pos = _read_assignment_v0(buf, pos, end, 1, budget)
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tags(buf, pos, end)
        items.append(o)
    return items, pos


def _read_described_group_v0(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[DescribedGroup], int]:
    if count * 20 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 536
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
        o.group_epoch, o.assignment_epoch = _unpack_ii(buf, pos)
        pos += 8
        n = buf[pos]
        pos += 1
        if n > 127:
            n, pos = read_long_string_length(buf, pos)
        n -= 1
        if n < 0:
            raise unexpected_null(pos, "assignor_name")
        q = pos + n
        if q > end:
            raise overrun(pos, n)
        o.assignor_name = str(buf[pos:q], "utf-8")
        pos = q
        n = buf[pos]
        pos += 1
        if n > 127:
            n, pos = read_long_uvarint(buf, pos)
        n -= 1
        if n < 0:
            raise unexpected_null(pos, "members")
        o.members, pos = _read_member_v0(buf, pos, end, n, budget)
        (o.authorized_operations,) = _unpack_i(buf, pos)
        pos += 4
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tags(buf, pos, end)
        items.append(o)
    return items, pos


def _decode_consumer_group_describe_response_v0(buf: memoryview, pos: int, end: int, budget: list[int]) -> ConsumerGroupDescribeResponse:
    o = new(ConsumerGroupDescribeResponse)
    (o.throttle_time_ms,) = _unpack_i(buf, pos)
    pos += 4
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_long_uvarint(buf, pos)
    n -= 1
    if n < 0:
        raise unexpected_null(pos, "groups")
    o.groups, pos = _read_described_group_v0(buf, pos, end, n, budget)
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tags(buf, pos, end)
    return o


def _write_topic_partitions_v0(
    out: bytearray, items: Sequence[TopicPartitions]
) -> None:
    for o in items:
        if len(o.topic_id) != 16:
            raise LocalError("a uuid has 16 bytes")
        out += _pack_u(o.topic_id)
        s = o.topic_name.encode()
        n = len(s) + 1
        out += UVARINTS[n] if n < 128 else long_string_length(n)
        out += s
        n = len(o.partitions) + 1
        out += UVARINTS[n] if n < 128 else uvarint(n)
        out += int32_elements(o.partitions)
        out.append(0)


def _write_assignment_v0(
    out: bytearray, items: Sequence[Assignment]
) -> None:
    for o in items:
        n = len(o.topic_partitions) + 1
        out += UVARINTS[n] if n < 128 else uvarint(n)
        _write_topic_partitions_v0(out, o.topic_partitions)
        out.append(0)


def _write_member_v0(
    out: bytearray, items: Sequence[Member]
) -> None:
    for o in items:
        s = o.member_id.encode()
        n = len(s) + 1
        out += UVARINTS[n] if n < 128 else long_string_length(n)
        out += s
        if o.instance_id is None:
            out.append(0)
        else:
            s = o.instance_id.encode()
            n = len(s) + 1
            out += UVARINTS[n] if n < 128 else long_string_length(n)
            out += s
        if o.rack_id is None:
            out.append(0)
        else:
            s = o.rack_id.encode()
            n = len(s) + 1
            out += UVARINTS[n] if n < 128 else long_string_length(n)
            out += s
        out += _pack_i(o.member_epoch)
        s = o.client_id.encode()
        n = len(s) + 1
        out += UVARINTS[n] if n < 128 else long_string_length(n)
        out += s
        s = o.client_host.encode()
        n = len(s) + 1
        out += UVARINTS[n] if n < 128 else long_string_length(n)
        out += s
        n = len(o.subscribed_topic_names) + 1
        out += UVARINTS[n] if n < 128 else uvarint(n)
        write_compact_strings(out, o.subscribed_topic_names)
        if o.subscribed_topic_regex is None:
            out.append(0)
        else:
            s = o.subscribed_topic_regex.encode()
            n = len(s) + 1
            out += UVARINTS[n] if n < 128 else long_string_length(n)
            out += s
        _write_assignment_v0(out, (o.assignment,))
        _write_assignment_v0(out, (o.target_assignment,))
        out.append(0)


def _write_described_group_v0(
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
        out += _pack_ii(o.group_epoch, o.assignment_epoch)
        s = o.assignor_name.encode()
        n = len(s) + 1
        out += UVARINTS[n] if n < 128 else long_string_length(n)
        out += s
        n = len(o.members) + 1
        out += UVARINTS[n] if n < 128 else uvarint(n)
        _write_member_v0(out, o.members)
        out += _pack_i(o.authorized_operations)
        out.append(0)


def _encode_consumer_group_describe_response_v0(o: ConsumerGroupDescribeResponse) -> list[Part]:
    out = bytearray()
    out += _pack_i(o.throttle_time_ms)
    n = len(o.groups) + 1
    out += UVARINTS[n] if n < 128 else uvarint(n)
    _write_described_group_v0(out, o.groups)
    out.append(0)
    return [out]


def _read_member_v1(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[Member], int]:
    if count * 17 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 632
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[Member] = []
    for _ in range(count):
        o = new(Member)
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
            o.instance_id = None
        else:
            q = pos + n
            if q > end:
                raise overrun(pos, n)
            o.instance_id = str(buf[pos:q], "utf-8")
            pos = q
        n = buf[pos]
        pos += 1
        if n > 127:
            n, pos = read_long_string_length(buf, pos)
        n -= 1
        if n < 0:
            o.rack_id = None
        else:
            q = pos + n
            if q > end:
                raise overrun(pos, n)
            o.rack_id = str(buf[pos:q], "utf-8")
            pos = q
        (o.member_epoch,) = _unpack_i(buf, pos)
        pos += 4
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
            raise unexpected_null(pos, "subscribed_topic_names")
        o.subscribed_topic_names, pos = read_compact_strings(buf, pos, end, n, budget)
        n = buf[pos]
        pos += 1
        if n > 127:
            n, pos = read_long_string_length(buf, pos)
        n -= 1
        if n < 0:
            o.subscribed_topic_regex = None
        else:
            q = pos + n
            if q > end:
                raise overrun(pos, n)
            o.subscribed_topic_regex = str(buf[pos:q], "utf-8")
            pos = q
        (o.assignment,), pos = _read_assignment_v0(buf, pos, end, 1, budget)
        (o.target_assignment,), pos = _read_assignment_v0(buf, pos, end, 1, budget)
        (o.member_type,) = _unpack_b(buf, pos)
        pos += 1
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tags(buf, pos, end)
        items.append(o)
    return items, pos


def _read_described_group_v1(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[DescribedGroup], int]:
    if count * 20 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 536
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
        o.group_epoch, o.assignment_epoch = _unpack_ii(buf, pos)
        pos += 8
        n = buf[pos]
        pos += 1
        if n > 127:
            n, pos = read_long_string_length(buf, pos)
        n -= 1
        if n < 0:
            raise unexpected_null(pos, "assignor_name")
        q = pos + n
        if q > end:
            raise overrun(pos, n)
        o.assignor_name = str(buf[pos:q], "utf-8")
        pos = q
        n = buf[pos]
        pos += 1
        if n > 127:
            n, pos = read_long_uvarint(buf, pos)
        n -= 1
        if n < 0:
            raise unexpected_null(pos, "members")
        o.members, pos = _read_member_v1(buf, pos, end, n, budget)
        (o.authorized_operations,) = _unpack_i(buf, pos)
        pos += 4
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tags(buf, pos, end)
        items.append(o)
    return items, pos


def _decode_consumer_group_describe_response_v1(buf: memoryview, pos: int, end: int, budget: list[int]) -> ConsumerGroupDescribeResponse:
    o = new(ConsumerGroupDescribeResponse)
    (o.throttle_time_ms,) = _unpack_i(buf, pos)
    pos += 4
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_long_uvarint(buf, pos)
    n -= 1
    if n < 0:
        raise unexpected_null(pos, "groups")
    o.groups, pos = _read_described_group_v1(buf, pos, end, n, budget)
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tags(buf, pos, end)
    return o


def _write_member_v1(
    out: bytearray, items: Sequence[Member]
) -> None:
    for o in items:
        s = o.member_id.encode()
        n = len(s) + 1
        out += UVARINTS[n] if n < 128 else long_string_length(n)
        out += s
        if o.instance_id is None:
            out.append(0)
        else:
            s = o.instance_id.encode()
            n = len(s) + 1
            out += UVARINTS[n] if n < 128 else long_string_length(n)
            out += s
        if o.rack_id is None:
            out.append(0)
        else:
            s = o.rack_id.encode()
            n = len(s) + 1
            out += UVARINTS[n] if n < 128 else long_string_length(n)
            out += s
        out += _pack_i(o.member_epoch)
        s = o.client_id.encode()
        n = len(s) + 1
        out += UVARINTS[n] if n < 128 else long_string_length(n)
        out += s
        s = o.client_host.encode()
        n = len(s) + 1
        out += UVARINTS[n] if n < 128 else long_string_length(n)
        out += s
        n = len(o.subscribed_topic_names) + 1
        out += UVARINTS[n] if n < 128 else uvarint(n)
        write_compact_strings(out, o.subscribed_topic_names)
        if o.subscribed_topic_regex is None:
            out.append(0)
        else:
            s = o.subscribed_topic_regex.encode()
            n = len(s) + 1
            out += UVARINTS[n] if n < 128 else long_string_length(n)
            out += s
        _write_assignment_v0(out, (o.assignment,))
        _write_assignment_v0(out, (o.target_assignment,))
        out += _pack_b(o.member_type)
        out.append(0)


def _write_described_group_v1(
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
        out += _pack_ii(o.group_epoch, o.assignment_epoch)
        s = o.assignor_name.encode()
        n = len(s) + 1
        out += UVARINTS[n] if n < 128 else long_string_length(n)
        out += s
        n = len(o.members) + 1
        out += UVARINTS[n] if n < 128 else uvarint(n)
        _write_member_v1(out, o.members)
        out += _pack_i(o.authorized_operations)
        out.append(0)


def _encode_consumer_group_describe_response_v1(o: ConsumerGroupDescribeResponse) -> list[Part]:
    out = bytearray()
    out += _pack_i(o.throttle_time_ms)
    n = len(o.groups) + 1
    out += UVARINTS[n] if n < 128 else uvarint(n)
    _write_described_group_v1(out, o.groups)
    out.append(0)
    return [out]


ConsumerGroupDescribeRequest.DECODERS = {
    0: _decode_consumer_group_describe_request_v0,
    1: _decode_consumer_group_describe_request_v0,
}
ConsumerGroupDescribeRequest.ENCODERS = {
    0: _encode_consumer_group_describe_request_v0,
    1: _encode_consumer_group_describe_request_v0,
}
ConsumerGroupDescribeResponse.DECODERS = {
    0: _decode_consumer_group_describe_response_v0,
    1: _decode_consumer_group_describe_response_v1,
}
ConsumerGroupDescribeResponse.ENCODERS = {
    0: _encode_consumer_group_describe_response_v0,
    1: _encode_consumer_group_describe_response_v1,
}
