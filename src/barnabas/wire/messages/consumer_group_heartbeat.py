"""The one request of a KIP-848 member: join, leave, report and receive assignments.
Anything null in the request did not change since the last heartbeat.

Generated from schemas/consumer_group_heartbeat.msg by codegen; edit that and run it again.
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
_pack_i = Struct(">i").pack
_pack_ih = Struct(">ih").pack
_pack_ii = Struct(">ii").pack
_unpack_u = Struct(">16s").unpack_from
_unpack_i = Struct(">i").unpack_from
_unpack_ih = Struct(">ih").unpack_from
_unpack_ii = Struct(">ii").unpack_from


class TopicPartitions(WireStruct):
    __slots__ = (
        "topic_id",
        "partitions",
    )
    FIELDS: ClassVar[FieldSpecs] = (
        ("topic_id", "uuid", 0, 1, False),
        ("partitions", "[int32]", 0, 1, False),
    )

    def __init__(
        self,
        topic_id: Uuid = ZERO_UUID,
        partitions: list[int] = EMPTY,
    ) -> None:
        self.topic_id = topic_id
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


class ConsumerGroupHeartbeatRequest(Request["ConsumerGroupHeartbeatResponse"]):
    __slots__ = (
        "group_id",
        "member_id",
        "member_epoch",
        "instance_id",
        "rack_id",
        "rebalance_timeout_ms",
        "subscribed_topic_names",
        "subscribed_topic_regex",
        "server_assignor",
        "topic_partitions",
    )
    API_KEY: ClassVar[int] = 68
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 1
    FLEXIBLE_FROM: ClassVar[int] = 0
    FIELDS: ClassVar[FieldSpecs] = (
        ("group_id", "string", 0, 1, False),
        ("member_id", "string", 0, 1, False),
        ("member_epoch", "int32", 0, 1, False),
        ("instance_id", "string", 0, 1, True),
        ("rack_id", "string", 0, 1, True),
        ("rebalance_timeout_ms", "int32", 0, 1, False),
        ("subscribed_topic_names", "[string]", 0, 1, True),
        ("subscribed_topic_regex", "string", 1, 1, True),
        ("server_assignor", "string", 0, 1, True),
        ("topic_partitions", "[TopicPartitions]", 0, 1, True),
    )

    def __init__(
        self,
        group_id: str = "",
        member_id: str = "",
        member_epoch: int = 0,
        instance_id: str | None = None,
        rack_id: str | None = None,
        rebalance_timeout_ms: int = -1,
        subscribed_topic_names: list[str] | None = None,
        subscribed_topic_regex: str | None = None,
        server_assignor: str | None = None,
        topic_partitions: list[TopicPartitions] | None = None,
    ) -> None:
        self.group_id = group_id
        self.member_id = member_id  # made by the member from version 1 on
        self.member_epoch = member_epoch  # 0 joins, -1 leaves, -2 leaves and will be back (static)
        self.instance_id = instance_id
        self.rack_id = rack_id
        self.rebalance_timeout_ms = rebalance_timeout_ms
        self.subscribed_topic_names = subscribed_topic_names
        self.subscribed_topic_regex = subscribed_topic_regex
        self.server_assignor = server_assignor
        self.topic_partitions = topic_partitions  # what the member owns


class ConsumerGroupHeartbeatResponse(Message):
    __slots__ = (
        "throttle_time_ms",
        "error_code",
        "error_message",
        "member_id",
        "member_epoch",
        "heartbeat_interval_ms",
        "assignment",
    )
    API_KEY: ClassVar[int] = 68
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 1
    FLEXIBLE_FROM: ClassVar[int] = 0
    FIELDS: ClassVar[FieldSpecs] = (
        ("throttle_time_ms", "int32", 0, 1, False),
        ("error_code", "int16", 0, 1, False),
        ("error_message", "string", 0, 1, True),
        ("member_id", "string", 0, 1, True),
        ("member_epoch", "int32", 0, 1, False),
        ("heartbeat_interval_ms", "int32", 0, 1, False),
        ("assignment", "Assignment", 0, 1, True),
    )

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        error_message: str | None = None,
        member_id: str | None = None,
        member_epoch: int = 0,
        heartbeat_interval_ms: int = 0,
        assignment: Assignment | None = None,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.error_message = error_message
        self.member_id = member_id
        self.member_epoch = member_epoch
        self.heartbeat_interval_ms = heartbeat_interval_ms
        self.assignment = assignment  # null when nothing changed


def _read_topic_partitions_v0(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[TopicPartitions], int]:
    if count * 18 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 184
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


def _decode_consumer_group_heartbeat_request_v0(buf: memoryview, pos: int, end: int, budget: list[int]) -> ConsumerGroupHeartbeatRequest:
    o = new(ConsumerGroupHeartbeatRequest)
    o.subscribed_topic_regex = None
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
        raise unexpected_null(pos, "member_id")
    q = pos + n
    if q > end:
        raise overrun(pos, n)
    o.member_id = str(buf[pos:q], "utf-8")
    pos = q
    (o.member_epoch,) = _unpack_i(buf, pos)
    pos += 4
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
    (o.rebalance_timeout_ms,) = _unpack_i(buf, pos)
    pos += 4
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_long_uvarint(buf, pos)
    n -= 1
    if n < 0:
        o.subscribed_topic_names = None
    else:
        o.subscribed_topic_names, pos = read_compact_strings(buf, pos, end, n, budget)
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_long_string_length(buf, pos)
    n -= 1
    if n < 0:
        o.server_assignor = None
    else:
        q = pos + n
        if q > end:
            raise overrun(pos, n)
        o.server_assignor = str(buf[pos:q], "utf-8")
        pos = q
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_long_uvarint(buf, pos)
    n -= 1
    if n < 0:
        o.topic_partitions = None
    else:
        o.topic_partitions, pos = _read_topic_partitions_v0(buf, pos, end, n, budget)
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
        n = len(o.partitions) + 1
        out += UVARINTS[n] if n < 128 else uvarint(n)
        out += int32_elements(o.partitions)
        out.append(0)


def _encode_consumer_group_heartbeat_request_v0(o: ConsumerGroupHeartbeatRequest) -> list[Part]:
    out = bytearray()
    s = o.group_id.encode()
    n = len(s) + 1
    out += UVARINTS[n] if n < 128 else long_string_length(n)
    out += s
    s = o.member_id.encode()
    n = len(s) + 1
    out += UVARINTS[n] if n < 128 else long_string_length(n)
    out += s
    out += _pack_i(o.member_epoch)
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
    out += _pack_i(o.rebalance_timeout_ms)
    if o.subscribed_topic_names is None:
        out.append(0)
    else:
        n = len(o.subscribed_topic_names) + 1
        out += UVARINTS[n] if n < 128 else uvarint(n)
        write_compact_strings(out, o.subscribed_topic_names)
    if o.server_assignor is None:
        out.append(0)
    else:
        s = o.server_assignor.encode()
        n = len(s) + 1
        out += UVARINTS[n] if n < 128 else long_string_length(n)
        out += s
    if o.topic_partitions is None:
        out.append(0)
    else:
        n = len(o.topic_partitions) + 1
        out += UVARINTS[n] if n < 128 else uvarint(n)
        _write_topic_partitions_v0(out, o.topic_partitions)
    out.append(0)
    return [out]


def _decode_consumer_group_heartbeat_request_v1(buf: memoryview, pos: int, end: int, budget: list[int]) -> ConsumerGroupHeartbeatRequest:
    o = new(ConsumerGroupHeartbeatRequest)
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
        raise unexpected_null(pos, "member_id")
    q = pos + n
    if q > end:
        raise overrun(pos, n)
    o.member_id = str(buf[pos:q], "utf-8")
    pos = q
    (o.member_epoch,) = _unpack_i(buf, pos)
    pos += 4
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
    (o.rebalance_timeout_ms,) = _unpack_i(buf, pos)
    pos += 4
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_long_uvarint(buf, pos)
    n -= 1
    if n < 0:
        o.subscribed_topic_names = None
    else:
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
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_long_string_length(buf, pos)
    n -= 1
    if n < 0:
        o.server_assignor = None
    else:
        q = pos + n
        if q > end:
            raise overrun(pos, n)
        o.server_assignor = str(buf[pos:q], "utf-8")
        pos = q
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_long_uvarint(buf, pos)
    n -= 1
    if n < 0:
        o.topic_partitions = None
    else:
        o.topic_partitions, pos = _read_topic_partitions_v0(buf, pos, end, n, budget)
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tags(buf, pos, end)
    return o


def _encode_consumer_group_heartbeat_request_v1(o: ConsumerGroupHeartbeatRequest) -> list[Part]:
    out = bytearray()
    s = o.group_id.encode()
    n = len(s) + 1
    out += UVARINTS[n] if n < 128 else long_string_length(n)
    out += s
    s = o.member_id.encode()
    n = len(s) + 1
    out += UVARINTS[n] if n < 128 else long_string_length(n)
    out += s
    out += _pack_i(o.member_epoch)
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
    out += _pack_i(o.rebalance_timeout_ms)
    if o.subscribed_topic_names is None:
        out.append(0)
    else:
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
    if o.server_assignor is None:
        out.append(0)
    else:
        s = o.server_assignor.encode()
        n = len(s) + 1
        out += UVARINTS[n] if n < 128 else long_string_length(n)
        out += s
    if o.topic_partitions is None:
        out.append(0)
    else:
        n = len(o.topic_partitions) + 1
        out += UVARINTS[n] if n < 128 else uvarint(n)
        _write_topic_partitions_v0(out, o.topic_partitions)
    out.append(0)
    return [out]


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


def _decode_consumer_group_heartbeat_response_v0(buf: memoryview, pos: int, end: int, budget: list[int]) -> ConsumerGroupHeartbeatResponse:
    o = new(ConsumerGroupHeartbeatResponse)
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
        n, pos = read_long_string_length(buf, pos)
    n -= 1
    if n < 0:
        o.member_id = None
    else:
        q = pos + n
        if q > end:
            raise overrun(pos, n)
        o.member_id = str(buf[pos:q], "utf-8")
        pos = q
    o.member_epoch, o.heartbeat_interval_ms = _unpack_ii(buf, pos)
    pos += 8
    n = buf[pos]
    pos += 1
    if n > 127:
        o.assignment = None
    else:
        (o.assignment,), pos = _read_assignment_v0(buf, pos, end, 1, budget)
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tags(buf, pos, end)
    return o


def _write_assignment_v0(
    out: bytearray, items: Sequence[Assignment]
) -> None:
    for o in items:
        n = len(o.topic_partitions) + 1
        out += UVARINTS[n] if n < 128 else uvarint(n)
        _write_topic_partitions_v0(out, o.topic_partitions)
        out.append(0)


def _encode_consumer_group_heartbeat_response_v0(o: ConsumerGroupHeartbeatResponse) -> list[Part]:
    out = bytearray()
    out += _pack_ih(o.throttle_time_ms, o.error_code)
    if o.error_message is None:
        out.append(0)
    else:
        s = o.error_message.encode()
        n = len(s) + 1
        out += UVARINTS[n] if n < 128 else long_string_length(n)
        out += s
    if o.member_id is None:
        out.append(0)
    else:
        s = o.member_id.encode()
        n = len(s) + 1
        out += UVARINTS[n] if n < 128 else long_string_length(n)
        out += s
    out += _pack_ii(o.member_epoch, o.heartbeat_interval_ms)
    if o.assignment is None:
        out.append(255)
    else:
        out.append(1)
        _write_assignment_v0(out, (o.assignment,))
    out.append(0)
    return [out]


ConsumerGroupHeartbeatRequest.DECODERS = {
    0: _decode_consumer_group_heartbeat_request_v0,
    1: _decode_consumer_group_heartbeat_request_v1,
}
ConsumerGroupHeartbeatRequest.ENCODERS = {
    0: _encode_consumer_group_heartbeat_request_v0,
    1: _encode_consumer_group_heartbeat_request_v1,
}
ConsumerGroupHeartbeatResponse.DECODERS = {
    0: _decode_consumer_group_heartbeat_response_v0,
    1: _decode_consumer_group_heartbeat_response_v0,
}
ConsumerGroupHeartbeatResponse.ENCODERS = {
    0: _encode_consumer_group_heartbeat_response_v0,
    1: _encode_consumer_group_heartbeat_response_v0,
}
