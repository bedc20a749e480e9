"""A leader proposes a new in-sync replica set to the controller (KIP-497).

Generated from schemas/alter_partition.msg by codegen; edit that and run it again.
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
    read_int32s,
    read_long_string_length,
    read_long_uvarint,
    skip_tags,
    too_many,
    unexpected_null,
    uvarint,
)

_pack_u = Struct(">16s").pack
_pack_bi = Struct(">bi").pack
_pack_i = Struct(">i").pack
_pack_ih = Struct(">ih").pack
_pack_ihii = Struct(">ihii").pack
_pack_ii = Struct(">ii").pack
_pack_iq = Struct(">iq").pack
_unpack_u = Struct(">16s").unpack_from
_unpack_bi = Struct(">bi").unpack_from
_unpack_i = Struct(">i").unpack_from
_unpack_ih = Struct(">ih").unpack_from
_unpack_ihii = Struct(">ihii").unpack_from
_unpack_ii = Struct(">ii").unpack_from
_unpack_iq = Struct(">iq").unpack_from


class BrokerState(WireStruct):
    __slots__ = (
        "broker_id",
        "broker_epoch",
    )
    FIELDS: ClassVar[FieldSpecs] = (
        ("broker_id", "int32", 3, 3, False),
        ("broker_epoch", "int64", 3, 3, False),
    )

    def __init__(
        self,
        broker_id: int = 0,
        broker_epoch: int = -1,
    ) -> None:
        self.broker_id = broker_id
        self.broker_epoch = broker_epoch


class PartitionData(WireStruct):
    __slots__ = (
        "partition_index",
        "leader_epoch",
        "new_isr",
        "new_isr_with_epochs",
        "leader_recovery_state",
        "partition_epoch",
    )
    FIELDS: ClassVar[FieldSpecs] = (
        ("partition_index", "int32", 0, 3, False),
        ("leader_epoch", "int32", 0, 3, False),
        ("new_isr", "[int32]", 0, 2, False),
        ("new_isr_with_epochs", "[BrokerState]", 3, 3, False),
        ("leader_recovery_state", "int8", 1, 3, False),
        ("partition_epoch", "int32", 0, 3, False),
    )

    def __init__(
        self,
        partition_index: int = 0,
        leader_epoch: int = 0,
        new_isr: list[int] = EMPTY,
        new_isr_with_epochs: list[BrokerState] = EMPTY,
        leader_recovery_state: int = 0,
        partition_epoch: int = 0,
    ) -> None:
        self.partition_index = partition_index
        self.leader_epoch = leader_epoch
        self.new_isr = [] if new_isr is EMPTY else new_isr
        self.new_isr_with_epochs = [] if new_isr_with_epochs is EMPTY else new_isr_with_epochs  # KIP-903
        self.leader_recovery_state = leader_recovery_state  # 1 while recovering from an unclean election (KIP-704)
        self.partition_epoch = partition_epoch  # the change is refused unless this is current


class TopicData(WireStruct):
    __slots__ = (
        "topic_name",
        "topic_id",
        "partitions",
    )
    FIELDS: ClassVar[FieldSpecs] = (
        ("topic_name", "string", 0, 1, False),
        ("topic_id", "uuid", 2, 3, False),
        ("partitions", "[PartitionData]", 0, 3, False),
    )

    def __init__(
        self,
        topic_name: str = "",
        topic_id: Uuid = ZERO_UUID,
        partitions: list[PartitionData] = EMPTY,
    ) -> None:
        self.topic_name = topic_name
        self.topic_id = topic_id
        self.partitions = [] if partitions is EMPTY else partitions


class PartitionResponse(WireStruct):
    __slots__ = (
        "partition_index",
        "error_code",
        "leader_id",
        "leader_epoch",
        "isr",
        "leader_recovery_state",
        "partition_epoch",
    )
    FIELDS: ClassVar[FieldSpecs] = (
        ("partition_index", "int32", 0, 3, False),
        ("error_code", "int16", 0, 3, False),
        ("leader_id", "int32", 0, 3, False),
        ("leader_epoch", "int32", 0, 3, False),
        ("isr", "[int32]", 0, 3, False),
        ("leader_recovery_state", "int8", 1, 3, False),
        ("partition_epoch", "int32", 0, 3, False),
    )

    def __init__(
        self,
        partition_index: int = 0,
        error_code: int = 0,
        leader_id: int = 0,
        leader_epoch: int = 0,
        isr: list[int] = EMPTY,
        leader_recovery_state: int = 0,
        partition_epoch: int = 0,
    ) -> None:
        self.partition_index = partition_index
        self.error_code = error_code
        self.leader_id = leader_id
        self.leader_epoch = leader_epoch
        self.isr = [] if isr is EMPTY else isr
        self.leader_recovery_state = leader_recovery_state
        self.partition_epoch = partition_epoch


class TopicResponse(WireStruct):
    __slots__ = (
        "topic_name",
        "topic_id",
        "partitions",
    )
    FIELDS: ClassVar[FieldSpecs] = (
        ("topic_name", "string", 0, 1, False),
        ("topic_id", "uuid", 2, 3, False),
        ("partitions", "[PartitionResponse]", 0, 3, False),
    )

    def __init__(
        self,
        topic_name: str = "",
        topic_id: Uuid = ZERO_UUID,
        partitions: list[PartitionResponse] = EMPTY,
    ) -> None:
        self.topic_name = topic_name
        self.topic_id = topic_id
        self.partitions = [] if partitions is EMPTY else partitions


class AlterPartitionRequest(Request["AlterPartitionResponse"]):
    __slots__ = (
        "broker_id",
        "broker_epoch",
        "topics",
    )
    API_KEY: ClassVar[int] = 56
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 3
    FLEXIBLE_FROM: ClassVar[int] = 0
    FIELDS: ClassVar[FieldSpecs] = (
        ("broker_id", "int32", 0, 3, False),
        ("broker_epoch", "int64", 0, 3, False),
        ("topics", "[TopicData]", 0, 3, False),
    )

    def __init__(
        self,
        broker_id: int = 0,
        broker_epoch: int = -1,
        topics: list[TopicData] = EMPTY,
    ) -> None:
        self.broker_id = broker_id
        self.broker_epoch = broker_epoch
        self.topics = [] if topics is EMPTY else topics


class AlterPartitionResponse(Message):
    __slots__ = (
        "throttle_time_ms",
        "error_code",
        "topics",
    )
    API_KEY: ClassVar[int] = 56
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 3
    FLEXIBLE_FROM: ClassVar[int] = 0
    FIELDS: ClassVar[FieldSpecs] = (
        ("throttle_time_ms", "int32", 0, 3, False),
        ("error_code", "int16", 0, 3, False),
        ("topics", "[TopicResponse]", 0, 3, False),
    )

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        topics: list[TopicResponse] = EMPTY,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.topics = [] if topics is EMPTY else topics


def _read_partition_data_v0(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[PartitionData], int]:
    if count * 14 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 320
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[PartitionData] = []
    for _ in range(count):
        o = new(PartitionData)
        o.new_isr_with_epochs = []
        o.leader_recovery_state = 0
        o.partition_index, o.leader_epoch = _unpack_ii(buf, pos)
        pos += 8
        n = buf[pos]
        pos += 1
        if n > 127:
            n, pos = read_long_uvarint(buf, pos)
        n -= 1
        if n < 0:
            raise unexpected_null(pos, "new_isr")
        o.new_isr, pos = read_int32s(buf, pos, end, n, budget)
        (o.partition_epoch,) = _unpack_i(buf, pos)
        pos += 4
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tags(buf, pos, end)
        items.append(o)
    return items, pos


def _read_topic_data_v0(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[TopicData], int]:
    if count * 3 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 192
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[TopicData] = []
    for _ in range(count):
        o = new(TopicData)
        o.topic_id = ZERO_UUID
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
        o.partitions, pos = _read_partition_data_v0(buf, pos, end, n, budget)
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tags(buf, pos, end)
        items.append(o)
    return items, pos


def _decode_alter_partition_request_v0(buf: memoryview, pos: int, end: int, budget: list[int]) -> AlterPartitionRequest:
    o = new(AlterPartitionRequest)
    o.broker_id, o.broker_epoch = _unpack_iq(buf, pos)
    pos += 12
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_long_uvarint(buf, pos)
    n -= 1
    if n < 0:
        raise unexpected_null(pos, "topics")
    o.topics, pos = _read_topic_data_v0(buf, pos, end, n, budget)
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tags(buf, pos, end)
    return o


def _write_partition_data_v0(
    out: bytearray, items: Sequence[PartitionData]
) -> None:
    for o in items:
        out += _pack_ii(o.partition_index, o.leader_epoch)
        n = len(o.new_isr) + 1
        out += UVARINTS[n] if n < 128 else uvarint(n)
        out += int32_elements(o.new_isr)
        out += _pack_i(o.partition_epoch)
        out.append(0)


def _write_topic_data_v0(
    out: bytearray, items: Sequence[TopicData]
) -> None:
    for o in items:
        s = o.topic_name.encode()
        n = len(s) + 1
        out += UVARINTS[n] if n < 128 else long_string_length(n)
        out += s
        n = len(o.partitions) + 1
        out += UVARINTS[n] if n < 128 else uvarint(n)
        _write_partition_data_v0(out, o.partitions)
        out.append(0)


def _encode_alter_partition_request_v0(o: AlterPartitionRequest) -> list[Part]:
    out = bytearray()
    out += _pack_iq(o.broker_id, o.broker_epoch)
    n = len(o.topics) + 1
    out += UVARINTS[n] if n < 128 else uvarint(n)
    _write_topic_data_v0(out, o.topics)
    out.append(0)
    return [out]


def _read_partition_data_v1(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[PartitionData], int]:
    if count * 15 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 320
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[PartitionData] = []
    for _ in range(count):
        o = new(PartitionData)
        o.new_isr_with_epochs = []
        o.partition_index, o.leader_epoch = _unpack_ii(buf, pos)
        pos += 8
        n = buf[pos]
        pos += 1
        if n > 127:
            n, pos = read_long_uvarint(buf, pos)
        n -= 1
        if n < 0:
            raise unexpected_null(pos, "new_isr")
        o.new_isr, pos = read_int32s(buf, pos, end, n, budget)
        o.leader_recovery_state, o.partition_epoch = _unpack_bi(buf, pos)
        pos += 5
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tags(buf, pos, end)
        items.append(o)
    return items, pos


def _read_topic_data_v1(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[TopicData], int]:
    if count * 3 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 192
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[TopicData] = []
    for _ in range(count):
        o = new(TopicData)
        o.topic_id = ZERO_UUID
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
        o.partitions, pos = _read_partition_data_v1(buf, pos, end, n, budget)
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tags(buf, pos, end)
        items.append(o)
    return items, pos


def _decode_alter_partition_request_v1(buf: memoryview, pos: int, end: int, budget: list[int]) -> AlterPartitionRequest:
    o = new(AlterPartitionRequest)
    o.broker_id, o.broker_epoch = _unpack_iq(buf, pos)
    pos += 12
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_long_uvarint(buf, pos)
    n -= 1
    if n < 0:
        raise unexpected_null(pos, "topics")
    o.topics, pos = _read_topic_data_v1(buf, pos, end, n, budget)
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tags(buf, pos, end)
    return o


def _write_partition_data_v1(
    out: bytearray, items: Sequence[PartitionData]
) -> None:
    for o in items:
        out += _pack_ii(o.partition_index, o.leader_epoch)
        n = len(o.new_isr) + 1
        out += UVARINTS[n] if n < 128 else uvarint(n)
        out += int32_elements(o.new_isr)
        out += _pack_bi(o.leader_recovery_state, o.partition_epoch)
        out.append(0)


def _write_topic_data_v1(
    out: bytearray, items: Sequence[TopicData]
) -> None:
    for o in items:
        s = o.topic_name.encode()
        n = len(s) + 1
        out += UVARINTS[n] if n < 128 else long_string_length(n)
        out += s
        n = len(o.partitions) + 1
        out += UVARINTS[n] if n < 128 else uvarint(n)
        _write_partition_data_v1(out, o.partitions)
        out.append(0)


def _encode_alter_partition_request_v1(o: AlterPartitionRequest) -> list[Part]:
    out = bytearray()
    out += _pack_iq(o.broker_id, o.broker_epoch)
    n = len(o.topics) + 1
    out += UVARINTS[n] if n < 128 else uvarint(n)
    _write_topic_data_v1(out, o.topics)
    out.append(0)
    return [out]


def _read_topic_data_v2(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[TopicData], int]:
    if count * 18 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 192
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[TopicData] = []
    for _ in range(count):
        o = new(TopicData)
        o.topic_name = ""
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
        o.partitions, pos = _read_partition_data_v1(buf, pos, end, n, budget)
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tags(buf, pos, end)
        items.append(o)
    return items, pos


def _decode_alter_partition_request_v2(buf: memoryview, pos: int, end: int, budget: list[int]) -> AlterPartitionRequest:
    o = new(AlterPartitionRequest)
    o.broker_id, o.broker_epoch = _unpack_iq(buf, pos)
    pos += 12
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_long_uvarint(buf, pos)
    n -= 1
    if n < 0:
        raise unexpected_null(pos, "topics")
    o.topics, pos = _read_topic_data_v2(buf, pos, end, n, budget)
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tags(buf, pos, end)
    return o


def _write_topic_data_v2(
    out: bytearray, items: Sequence[TopicData]
) -> None:
    for o in items:
        if len(o.topic_id) != 16:
            raise LocalError("a uuid has 16 bytes")
        out += _pack_u(o.topic_id)
        n = len(o.partitions) + 1
        out += UVARINTS[n] if n < 128 else uvarint(n)
        _write_partition_data_v1(out, o.partitions)
        out.append(0)


def _encode_alter_partition_request_v2(o: AlterPartitionRequest) -> list[Part]:
    out = bytearray()
    out += _pack_iq(o.broker_id, o.broker_epoch)
    n = len(o.topics) + 1
    out += UVARINTS[n] if n < 128 else uvarint(n)
    _write_topic_data_v2(out, o.topics)
    out.append(0)
    return [out]


def _read_broker_state_v3(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[BrokerState], int]:
    if count * 13 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 128
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[BrokerState] = []
    for _ in range(count):
        o = new(BrokerState)
        o.broker_id, o.broker_epoch = _unpack_iq(buf, pos)
        pos += 12
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tags(buf, pos, end)
        items.append(o)
    return items, pos


def _read_partition_data_v3(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[PartitionData], int]:
    if count * 15 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 320
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[PartitionData] = []
    for _ in range(count):
        o = new(PartitionData)
        o.new_isr = []
        o.partition_index, o.leader_epoch = _unpack_ii(buf, pos)
        pos += 8
        n = buf[pos]
        pos += 1
        if n > 127:
            n, pos = read_long_uvarint(buf, pos)
        n -= 1
        if n < 0:
            raise unexpected_null(pos, "new_isr_with_epochs")
        o.new_isr_with_epochs, pos = _read_broker_state_v3(buf, pos, end, n, budget)
        o.leader_recovery_state, o.partition_epoch = _unpack_bi(buf, pos)
        pos += 5
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tags(buf, pos, end)
        items.append(o)
    return items, pos


def _read_topic_data_v3(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[TopicData], int]:
    if count * 18 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 192
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[TopicData] = []
    for _ in range(count):
        o = new(TopicData)
        o.topic_name = ""
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
        o.partitions, pos = _read_partition_data_v3(buf, pos, end, n, budget)
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tags(buf, pos, end)
        items.append(o)
    return items, pos


def _decode_alter_partition_request_v3(buf: memoryview, pos: int, end: int, budget: list[int]) -> AlterPartitionRequest:
    o = new(AlterPartitionRequest)
    o.broker_id, o.broker_epoch = _unpack_iq(buf, pos)
    pos += 12
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_long_uvarint(buf, pos)
    n -= 1
    if n < 0:
        raise unexpected_null(pos, "topics")
    o.topics, pos = _read_topic_data_v3(buf, pos, end, n, budget)
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tags(buf, pos, end)
    return o


def _write_broker_state_v3(
    out: bytearray, items: Sequence[BrokerState]
) -> None:
    for o in items:
        out += _pack_iq(o.broker_id, o.broker_epoch)
        out.append(0)


def _write_partition_data_v3(
    out: bytearray, items: Sequence[PartitionData]
) -> None:
    for o in items:
        out += _pack_ii(o.partition_index, o.leader_epoch)
        n = len(o.new_isr_with_epochs) + 1
        out += UVARINTS[n] if n < 128 else uvarint(n)
        _write_broker_state_v3(out, o.new_isr_with_epochs)
        out += _pack_bi(o.leader_recovery_state, o.partition_epoch)
        out.append(0)


def _write_topic_data_v3(
    out: bytearray, items: Sequence[TopicData]
) -> None:
    for o in items:
        if len(o.topic_id) != 16:
            raise LocalError("a uuid has 16 bytes")
        out += _pack_u(o.topic_id)
        n = len(o.partitions) + 1
        out += UVARINTS[n] if n < 128 else uvarint(n)
        _write_partition_data_v3(out, o.partitions)
        out.append(0)


def _encode_alter_partition_request_v3(o: AlterPartitionRequest) -> list[Part]:
    out = bytearray()
    out += _pack_iq(o.broker_id, o.broker_epoch)
    n = len(o.topics) + 1
    out += UVARINTS[n] if n < 128 else uvarint(n)
    _write_topic_data_v3(out, o.topics)
    out.append(0)
    return [out]


def _read_partition_response_v0(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[PartitionResponse], int]:
    if count * 20 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 328
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[PartitionResponse] = []
    for _ in range(count):
        o = new(PartitionResponse)
        o.leader_recovery_state = 0
        o.partition_index, o.error_code, o.leader_id, o.leader_epoch = _unpack_ihii(buf, pos)
        pos += 14
        n = buf[pos]
        pos += 1
        if n > 127:
            n, pos = read_long_uvarint(buf, pos)
        n -= 1
        if n < 0:
            raise unexpected_null(pos, "isr")
        o.isr, pos = read_int32s(buf, pos, end, n, budget)
        (o.partition_epoch,) = _unpack_i(buf, pos)
        pos += 4
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tags(buf, pos, end)
        items.append(o)
    return items, pos


def _read_topic_response_v0(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[TopicResponse], int]:
    if count * 3 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 192
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[TopicResponse] = []
    for _ in range(count):
        o = new(TopicResponse)
        o.topic_id = ZERO_UUID
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
        o.partitions, pos = _read_partition_response_v0(buf, pos, end, n, budget)
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tags(buf, pos, end)
        items.append(o)
    return items, pos


def _decode_alter_partition_response_v0(buf: memoryview, pos: int, end: int, budget: list[int]) -> AlterPartitionResponse:
    o = new(AlterPartitionResponse)
    o.throttle_time_ms, o.error_code = _unpack_ih(buf, pos)
    pos += 6
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_long_uvarint(buf, pos)
    n -= 1
    if n < 0:
        raise unexpected_null(pos, "topics")
    o.topics, pos = _read_topic_response_v0(buf, pos, end, n, budget)
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tags(buf, pos, end)
    return o


def _write_partition_response_v0(
    out: bytearray, items: Sequence[PartitionResponse]
) -> None:
    for o in items:
        out += _pack_ihii(o.partition_index, o.error_code, o.leader_id, o.leader_epoch)
        n = len(o.isr) + 1
        out += UVARINTS[n] if n < 128 else uvarint(n)
        out += int32_elements(o.isr)
        out += _pack_i(o.partition_epoch)
        out.append(0)


def _write_topic_response_v0(
    out: bytearray, items: Sequence[TopicResponse]
) -> None:
    for o in items:
        s = o.topic_name.encode()
        n = len(s) + 1
        out += UVARINTS[n] if n < 128 else long_string_length(n)
        out += s
        n = len(o.partitions) + 1
        out += UVARINTS[n] if n < 128 else uvarint(n)
        _write_partition_response_v0(out, o.partitions)
        out.append(0)


def _encode_alter_partition_response_v0(o: AlterPartitionResponse) -> list[Part]:
    out = bytearray()
    out += _pack_ih(o.throttle_time_ms, o.error_code)
    n = len(o.topics) + 1
    out += UVARINTS[n] if n < 128 else uvarint(n)
    _write_topic_response_v0(out, o.topics)
    out.append(0)
    return [out]


def _read_partition_response_v1(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[PartitionResponse], int]:
    if count * 21 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 328
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[PartitionResponse] = []
    for _ in range(count):
        o = new(PartitionResponse)
        o.partition_index, o.error_code, o.leader_id, o.leader_epoch = _unpack_ihii(buf, pos)
        pos += 14
        n = buf[pos]
        pos += 1
        if n > 127:
            n, pos = read_long_uvarint(buf, pos)
        n -= 1
        if n < 0:
            raise unexpected_null(pos, "isr")
        o.isr, pos = read_int32s(buf, pos, end, n, budget)
        o.leader_recovery_state, o.partition_epoch = _unpack_bi(buf, pos)
        pos += 5
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tags(buf, pos, end)
        items.append(o)
    return items, pos


def _read_topic_response_v1(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[TopicResponse], int]:
    if count * 3 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 192
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[TopicResponse] = []
    for _ in range(count):
        o = new(TopicResponse)
        o.topic_id = ZERO_UUID
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
        o.partitions, pos = _read_partition_response_v1(buf, pos, end, n, budget)
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tags(buf, pos, end)
        items.append(o)
    return items, pos


def _decode_alter_partition_response_v1(buf: memoryview, pos: int, end: int, budget: list[int]) -> AlterPartitionResponse:
    o = new(AlterPartitionResponse)
    o.throttle_time_ms, o.error_code = _unpack_ih(buf, pos)
    pos += 6
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_long_uvarint(buf, pos)
    n -= 1
    if n < 0:
        raise unexpected_null(pos, "topics")
    o.topics, pos = _read_topic_response_v1(buf, pos, end, n, budget)
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tags(buf, pos, end)
    return o


def _write_partition_response_v1(
    out: bytearray, items: Sequence[PartitionResponse]
) -> None:
    for o in items:
        out += _pack_ihii(o.partition_index, o.error_code, o.leader_id, o.leader_epoch)
        n = len(o.isr) + 1
        out += UVARINTS[n] if n < 128 else uvarint(n)
        out += int32_elements(o.isr)
        out += _pack_bi(o.leader_recovery_state, o.partition_epoch)
        out.append(0)


def _write_topic_response_v1(
    out: bytearray, items: Sequence[TopicResponse]
) -> None:
    for o in items:
        s = o.topic_name.encode()
        n = len(s) + 1
        out += UVARINTS[n] if n < 128 else long_string_length(n)
        out += s
        n = len(o.partitions) + 1
        out += UVARINTS[n] if n < 128 else uvarint(n)
        _write_partition_response_v1(out, o.partitions)
        out.append(0)


def _encode_alter_partition_response_v1(o: AlterPartitionResponse) -> list[Part]:
    out = bytearray()
    out += _pack_ih(o.throttle_time_ms, o.error_code)
    n = len(o.topics) + 1
    out += UVARINTS[n] if n < 128 else uvarint(n)
    _write_topic_response_v1(out, o.topics)
    out.append(0)
    return [out]


def _read_topic_response_v2(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[TopicResponse], int]:
    if count * 18 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 192
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[TopicResponse] = []
    for _ in range(count):
        o = new(TopicResponse)
        o.topic_name = ""
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
        o.partitions, pos = _read_partition_response_v1(buf, pos, end, n, budget)
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tags(buf, pos, end)
        items.append(o)
    return items, pos


def _decode_alter_partition_response_v2(buf: memoryview, pos: int, end: int, budget: list[int]) -> AlterPartitionResponse:
    o = new(AlterPartitionResponse)
    o.throttle_time_ms, o.error_code = _unpack_ih(buf, pos)
    pos += 6
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_long_uvarint(buf, pos)
    n -= 1
    if n < 0:
        raise unexpected_null(pos, "topics")
    o.topics, pos = _read_topic_response_v2(buf, pos, end, n, budget)
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tags(buf, pos, end)
    return o


def _write_topic_response_v2(
    out: bytearray, items: Sequence[TopicResponse]
) -> None:
    for o in items:
        if len(o.topic_id) != 16:
            raise LocalError("a uuid has 16 bytes")
        out += _pack_u(o.topic_id)
        n = len(o.partitions) + 1
        out += UVARINTS[n] if n < 128 else uvarint(n)
        _write_partition_response_v1(out, o.partitions)
        out.append(0)


def _encode_alter_partition_response_v2(o: AlterPartitionResponse) -> list[Part]:
    out = bytearray()
    out += _pack_ih(o.throttle_time_ms, o.error_code)
    n = len(o.topics) + 1
    out += UVARINTS[n] if n < 128 else uvarint(n)
    _write_topic_response_v2(out, o.topics)
    out.append(0)
    return [out]


AlterPartitionRequest.DECODERS = {
    0: _decode_alter_partition_request_v0,
    1: _decode_alter_partition_request_v1,
    2: _decode_alter_partition_request_v2,
    3: _decode_alter_partition_request_v3,
}
AlterPartitionRequest.ENCODERS = {
    0: _encode_alter_partition_request_v0,
    1: _encode_alter_partition_request_v1,
    2: _encode_alter_partition_request_v2,
    3: _encode_alter_partition_request_v3,
}
AlterPartitionResponse.DECODERS = {
    0: _decode_alter_partition_response_v0,
    1: _decode_alter_partition_response_v1,
    2: _decode_alter_partition_response_v2,
    3: _decode_alter_partition_response_v2,
}
AlterPartitionResponse.ENCODERS = {
    0: _encode_alter_partition_response_v0,
    1: _encode_alter_partition_response_v1,
    2: _encode_alter_partition_response_v2,
    3: _encode_alter_partition_response_v2,
}
