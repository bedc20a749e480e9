"""The controller tells a broker to stop, and maybe delete, replicas (ZooKeeper mode).

Generated from schemas/stop_replica.msg by codegen; edit that and run it again.
"""

from collections.abc import Sequence
from struct import Struct
from typing import ClassVar

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

_pack_h = Struct(">h").pack
_pack_hi = Struct(">hi").pack
_pack_i = Struct(">i").pack
_pack_itiq = Struct(">i?iq").pack
_pack_ih = Struct(">ih").pack
_pack_iit = Struct(">ii?").pack
_pack_iiti = Struct(">ii?i").pack
_pack_iiq = Struct(">iiq").pack
_pack_iiqt = Struct(">iiq?").pack
_pack_iiqti = Struct(">iiq?i").pack
_unpack_h = Struct(">h").unpack_from
_unpack_hi = Struct(">hi").unpack_from
_unpack_i = Struct(">i").unpack_from
_unpack_itiq = Struct(">i?iq").unpack_from
_unpack_ih = Struct(">ih").unpack_from
_unpack_iit = Struct(">ii?").unpack_from
_unpack_iiti = Struct(">ii?i").unpack_from
_unpack_iiq = Struct(">iiq").unpack_from
_unpack_iiqt = Struct(">iiq?").unpack_from
_unpack_iiqti = Struct(">iiq?i").unpack_from


class StopReplicaPartitionV0(WireStruct):
    __slots__ = (
        "topic_name",
        "partition_index",
    )
    FIELDS: ClassVar[FieldSpecs] = (
        ("topic_name", "string", 0, 0, False),
        ("partition_index", "int32", 0, 0, False),
    )

    def __init__(
        self,
        topic_name: str = "",
        partition_index: int = 0,
    ) -> None:
        self.topic_name = topic_name
        self.partition_index = partition_index


class StopReplicaTopicV1(WireStruct):
    __slots__ = (
        "name",
        "partition_indexes",
    )
    FIELDS: ClassVar[FieldSpecs] = (
        ("name", "string", 1, 2, False),
        ("partition_indexes", "[int32]", 1, 2, False),
    )

    def __init__(
        self,
        name: str = "",
        partition_indexes: list[int] = EMPTY,
    ) -> None:
        self.name = name
        self.partition_indexes = [] if partition_indexes is EMPTY else partition_indexes


class StopReplicaPartitionState(WireStruct):
    __slots__ = (
        "partition_index",
        "leader_epoch",
        "delete_partition",
    )
    FIELDS: ClassVar[FieldSpecs] = (
        ("partition_index", "int32", 3, 4, False),
        ("leader_epoch", "int32", 3, 4, False),
        ("delete_partition", "bool", 3, 4, False),
    )

    def __init__(
        self,
        partition_index: int = 0,
        leader_epoch: int = -1,
        delete_partition: bool = False,
    ) -> None:
        self.partition_index = partition_index
        self.leader_epoch = leader_epoch  # -2 when the topic is being deleted
        self.delete_partition = delete_partition


class StopReplicaTopicState(WireStruct):
    __slots__ = (
        "topic_name",
        "partition_states",
    )
    FIELDS: ClassVar[FieldSpecs] = (
        ("topic_name", "string", 3, 4, False),
        ("partition_states", "[StopReplicaPartitionState]", 3, 4, False),
    )

    def __init__(
        self,
        topic_name: str = "",
        partition_states: list[StopReplicaPartitionState] = EMPTY,
    ) -> None:
        self.topic_name = topic_name
        self.partition_states = [] if partition_states is EMPTY else partition_states


class StopReplicaPartitionError(WireStruct):
    __slots__ = (
        "topic_name",
        "partition_index",
        "error_code",
    )
    FIELDS: ClassVar[FieldSpecs] = (
        ("topic_name", "string", 0, 4, False),
        ("partition_index", "int32", 0, 4, False),
        ("error_code", "int16", 0, 4, False),
    )

    def __init__(
        self,
        topic_name: str = "",
        partition_index: int = 0,
        error_code: int = 0,
    ) -> None:
        self.topic_name = topic_name
        self.partition_index = partition_index
        self.error_code = error_code


class StopReplicaRequest(Request["StopReplicaResponse"]):
    __slots__ = (
        "controller_id",
        "is_kraft_controller",
        "controller_epoch",
        "broker_epoch",
        "delete_partitions",
        "ungrouped_partitions",
        "topics",
        "topic_states",
    )
    API_KEY: ClassVar[int] = 5
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 4
    FLEXIBLE_FROM: ClassVar[int] = 2
    FIELDS: ClassVar[FieldSpecs] = (
        ("controller_id", "int32", 0, 4, False),
        ("is_kraft_controller", "bool", 4, 4, False),
        ("controller_epoch", "int32", 0, 4, False),
        ("broker_epoch", "int64", 1, 4, False),
        ("delete_partitions", "bool", 0, 2, False),
        ("ungrouped_partitions", "[StopReplicaPartitionV0]", 0, 0, False),
        ("topics", "[StopReplicaTopicV1]", 1, 2, False),
        ("topic_states", "[StopReplicaTopicState]", 3, 4, False),
    )

    def __init__(
        self,
        controller_id: int = 0,
        is_kraft_controller: bool = False,
        controller_epoch: int = 0,
        broker_epoch: int = -1,
        delete_partitions: bool = False,
        ungrouped_partitions: list[StopReplicaPartitionV0] = EMPTY,
        topics: list[StopReplicaTopicV1] = EMPTY,
        topic_states: list[StopReplicaTopicState] = EMPTY,
    ) -> None:
        self.controller_id = controller_id
        self.is_kraft_controller = is_kraft_controller
        self.controller_epoch = controller_epoch
        self.broker_epoch = broker_epoch
        self.delete_partitions = delete_partitions
        self.ungrouped_partitions = [] if ungrouped_partitions is EMPTY else ungrouped_partitions
        self.topics = [] if topics is EMPTY else topics
        self.topic_states = [] if topic_states is EMPTY else topic_states


class StopReplicaResponse(Message):
    __slots__ = (
        "error_code",
        "partition_errors",
    )
    API_KEY: ClassVar[int] = 5
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 4
    FLEXIBLE_FROM: ClassVar[int] = 2
    FIELDS: ClassVar[FieldSpecs] = (
        ("error_code", "int16", 0, 4, False),
        ("partition_errors", "[StopReplicaPartitionError]", 0, 4, False),
    )

    def __init__(
        self,
        error_code: int = 0,
        partition_errors: list[StopReplicaPartitionError] = EMPTY,
    ) -> None:
        self.error_code = error_code
        self.partition_errors = [] if partition_errors is EMPTY else partition_errors


def _read_stop_replica_partition_v0_v0(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[StopReplicaPartitionV0], int]:
    if count * 6 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 152
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[StopReplicaPartitionV0] = []
    for _ in range(count):
        o = new(StopReplicaPartitionV0)
        (n,) = _unpack_h(buf, pos)
        pos += 2
        if n < 0:
            raise unexpected_null(pos, "topic_name")
        q = pos + n
        if q > end:
            raise overrun(pos, n)
        o.topic_name = str(buf[pos:q], "utf-8")
        pos = q
        (o.partition_index,) = _unpack_i(buf, pos)
        pos += 4
        items.append(o)
    return items, pos


def _decode_stop_replica_request_v0(buf: memoryview, pos: int, end: int, budget: list[int]) -> StopReplicaRequest:
    o = new(StopReplicaRequest)
    o.is_kraft_controller = False
    o.broker_epoch = -1
    o.topics = []
    o.topic_states = []
    o.controller_id, o.controller_epoch, o.delete_partitions, n = _unpack_iiti(buf, pos)
    pos += 13
    if n < 0:
        raise unexpected_null(pos, "ungrouped_partitions")
    o.ungrouped_partitions, pos = _read_stop_replica_partition_v0_v0(buf, pos, end, n, budget)
    return o


def _write_stop_replica_partition_v0_v0(
    out: bytearray, items: Sequence[StopReplicaPartitionV0]
) -> None:
    for o in items:
        s = o.topic_name.encode()
        n = len(s)
        out += _pack_h(n)
        out += s
        out += _pack_i(o.partition_index)


def _encode_stop_replica_request_v0(o: StopReplicaRequest) -> list[Part]:
    out = bytearray()
    n = len(o.ungrouped_partitions)
    out += _pack_iiti(o.controller_id, o.controller_epoch, o.delete_partitions, n)
    _write_stop_replica_partition_v0_v0(out, o.ungrouped_partitions)
    return [out]


def _read_stop_replica_topic_v1_v1(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[StopReplicaTopicV1], int]:
    if count * 6 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 184
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[StopReplicaTopicV1] = []
    for _ in range(count):
        o = new(StopReplicaTopicV1)
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
            raise unexpected_null(pos, "partition_indexes")
        o.partition_indexes, pos = read_int32s(buf, pos, end, n, budget)
        items.append(o)
    return items, pos


def _decode_stop_replica_request_v1(buf: memoryview, pos: int, end: int, budget: list[int]) -> StopReplicaRequest:
    o = new(StopReplicaRequest)
    o.is_kraft_controller = False
    o.ungrouped_partitions = []
    o.topic_states = []
    o.controller_id, o.controller_epoch, o.broker_epoch, o.delete_partitions, n = _unpack_iiqti(buf, pos)
    pos += 21
    if n < 0:
        raise unexpected_null(pos, "topics")
    o.topics, pos = _read_stop_replica_topic_v1_v1(buf, pos, end, n, budget)
    return o


def _write_stop_replica_topic_v1_v1(
    out: bytearray, items: Sequence[StopReplicaTopicV1]
) -> None:
    for o in items:
        s = o.name.encode()
        n = len(s)
        out += _pack_h(n)
        out += s
        n = len(o.partition_indexes)
        out += _pack_i(n)
        out += int32_elements(o.partition_indexes)


def _encode_stop_replica_request_v1(o: StopReplicaRequest) -> list[Part]:
    out = bytearray()
    n = len(o.topics)
    out += _pack_iiqti(o.controller_id, o.controller_epoch, o.broker_epoch, o.delete_partitions, n)
    _write_stop_replica_topic_v1_v1(out, o.topics)
    return [out]


def _read_stop_replica_topic_v1_v2(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[StopReplicaTopicV1], int]:
    if count * 3 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 184
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[StopReplicaTopicV1] = []
    for _ in range(count):
        o = new(StopReplicaTopicV1)
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
            raise unexpected_null(pos, "partition_indexes")
        o.partition_indexes, pos = read_int32s(buf, pos, end, n, budget)
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tags(buf, pos, end)
        items.append(o)
    return items, pos


def _decode_stop_replica_request_v2(buf: memoryview, pos: int, end: int, budget: list[int]) -> StopReplicaRequest:
    o = new(StopReplicaRequest)
    o.is_kraft_controller = False
    o.ungrouped_partitions = []
    o.topic_states = []
    o.controller_id, o.controller_epoch, o.broker_epoch, o.delete_partitions = _unpack_iiqt(buf, pos)
    pos += 17
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_long_uvarint(buf, pos)
    n -= 1
    if n < 0:
        raise unexpected_null(pos, "topics")
    o.topics, pos = _read_stop_replica_topic_v1_v2(buf, pos, end, n, budget)
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tags(buf, pos, end)
    return o


def _write_stop_replica_topic_v1_v2(
    out: bytearray, items: Sequence[StopReplicaTopicV1]
) -> None:
    for o in items:
        s = o.name.encode()
        n = len(s) + 1
        out += UVARINTS[n] if n < 128 else long_string_length(n)
        out += s
        n = len(o.partition_indexes) + 1
        out += UVARINTS[n] if n < 128 else uvarint(n)
        out += int32_elements(o.partition_indexes)
        out.append(0)


def _encode_stop_replica_request_v2(o: StopReplicaRequest) -> list[Part]:
    out = bytearray()
    out += _pack_iiqt(o.controller_id, o.controller_epoch, o.broker_epoch, o.delete_partitions)
    n = len(o.topics) + 1
    out += UVARINTS[n] if n < 128 else uvarint(n)
    _write_stop_replica_topic_v1_v2(out, o.topics)
    out.append(0)
    return [out]


def _read_stop_replica_partition_state_v3(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[StopReplicaPartitionState], int]:
    if count * 10 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 136
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[StopReplicaPartitionState] = []
    for _ in range(count):
        o = new(StopReplicaPartitionState)
        o.partition_index, o.leader_epoch, o.delete_partition = _unpack_iit(buf, pos)
        pos += 9
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tags(buf, pos, end)
        items.append(o)
    return items, pos


def _read_stop_replica_topic_state_v3(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[StopReplicaTopicState], int]:
    if count * 3 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 184
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[StopReplicaTopicState] = []
    for _ in range(count):
        o = new(StopReplicaTopicState)
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
            raise unexpected_null(pos, "partition_states")
        o.partition_states, pos = _read_stop_replica_partition_state_v3(buf, pos, end, n, budget)
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tags(buf, pos, end)
        items.append(o)
    return items, pos


def _decode_stop_replica_request_v3(buf: memoryview, pos: int, end: int, budget: list[int]) -> StopReplicaRequest:
    o = new(StopReplicaRequest)
    o.is_kraft_controller = False
    o.delete_partitions = False
    o.ungrouped_partitions = []
    o.topics = []
    o.controller_id, o.controller_epoch, o.broker_epoch = _unpack_iiq(buf, pos)
    pos += 16
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_long_uvarint(buf, pos)
    n -= 1
    if n < 0:
        raise unexpected_null(pos, "topic_states")
    o.topic_states, pos = _read_stop_replica_topic_state_v3(buf, pos, end, n, budget)
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tags(buf, pos, end)
    return o


def _write_stop_replica_partition_state_v3(
    out: bytearray, items: Sequence[StopReplicaPartitionState]
) -> None:
    for o in items:
        out += _pack_iit(o.partition_index, o.leader_epoch, o.delete_partition)
        out.append(0)


def _write_stop_replica_topic_state_v3(
    out: bytearray, items: Sequence[StopReplicaTopicState]
) -> None:
    for o in items:
        s = o.topic_name.encode()
        n = len(s) + 1
        out += UVARINTS[n] if n < 128 else long_string_length(n)
        out += s
        n = len(o.partition_states) + 1
        out += UVARINTS[n] if n < 128 else uvarint(n)
        _write_stop_replica_partition_state_v3(out, o.partition_states)
        out.append(0)


def _encode_stop_replica_request_v3(o: StopReplicaRequest) -> list[Part]:
    out = bytearray()
    out += _pack_iiq(o.controller_id, o.controller_epoch, o.broker_epoch)
    n = len(o.topic_states) + 1
    out += UVARINTS[n] if n < 128 else uvarint(n)
    _write_stop_replica_topic_state_v3(out, o.topic_states)
    out.append(0)
    return [out]


def _decode_stop_replica_request_v4(buf: memoryview, pos: int, end: int, budget: list[int]) -> StopReplicaRequest:
    o = new(StopReplicaRequest)
    o.delete_partitions = False
    o.ungrouped_partitions = []
    o.topics = []
    o.controller_id, o.is_kraft_controller, o.controller_epoch, o.broker_epoch = _unpack_itiq(buf, pos)
    pos += 17
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_long_uvarint(buf, pos)
    n -= 1
    if n < 0:
        raise unexpected_null(pos, "topic_states")
    o.topic_states, pos = _read_stop_replica_topic_state_v3(buf, pos, end, n, budget)
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tags(buf, pos, end)
    return o


def _encode_stop_replica_request_v4(o: StopReplicaRequest) -> list[Part]:
    out = bytearray()
    out += _pack_itiq(o.controller_id, o.is_kraft_controller, o.controller_epoch, o.broker_epoch)
    n = len(o.topic_states) + 1
    out += UVARINTS[n] if n < 128 else uvarint(n)
    _write_stop_replica_topic_state_v3(out, o.topic_states)
    out.append(0)
    return [out]


def _read_stop_replica_partition_error_v0(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[StopReplicaPartitionError], int]:
    if count * 8 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 192
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[StopReplicaPartitionError] = []
    for _ in range(count):
        o = new(StopReplicaPartitionError)
        (n,) = _unpack_h(buf, pos)
        pos += 2
        if n < 0:
            raise unexpected_null(pos, "topic_name")
        q = pos + n
        if q > end:
            raise overrun(pos, n)
        o.topic_name = str(buf[pos:q], "utf-8")
        pos = q
        o.partition_index, o.error_code = _unpack_ih(buf, pos)
        pos += 6
        items.append(o)
    return items, pos


def _decode_stop_replica_response_v0(buf: memoryview, pos: int, end: int, budget: list[int]) -> StopReplicaResponse:
    o = new(StopReplicaResponse)
    o.error_code, n = _unpack_hi(buf, pos)
    pos += 6
    if n < 0:
        raise unexpected_null(pos, "partition_errors")
    o.partition_errors, pos = _read_stop_replica_partition_error_v0(buf, pos, end, n, budget)
    return o


def _write_stop_replica_partition_error_v0(
    out: bytearray, items: Sequence[StopReplicaPartitionError]
) -> None:
    for o in items:
        s = o.topic_name.encode()
        n = len(s)
        out += _pack_h(n)
        out += s
        out += _pack_ih(o.partition_index, o.error_code)


def _encode_stop_replica_response_v0(o: StopReplicaResponse) -> list[Part]:
    out = bytearray()
    n = len(o.partition_errors)
    out += _pack_hi(o.error_code, n)
    _write_stop_replica_partition_error_v0(out, o.partition_errors)
    return [out]


def _read_stop_replica_partition_error_v2(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[StopReplicaPartitionError], int]:
    if count * 8 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 192
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[StopReplicaPartitionError] = []
    for _ in range(count):
        o = new(StopReplicaPartitionError)
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
        o.partition_index, o.error_code = _unpack_ih(buf, pos)
        pos += 6
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tags(buf, pos, end)
        items.append(o)
    return items, pos


def _decode_stop_replica_response_v2(buf: memoryview, pos: int, end: int, budget: list[int]) -> StopReplicaResponse:
    o = new(StopReplicaResponse)
    (o.error_code,) = _unpack_h(buf, pos)
    pos += 2
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_long_uvarint(buf, pos)
    n -= 1
    if n < 0:
        raise unexpected_null(pos, "partition_errors")
    o.partition_errors, pos = _read_stop_replica_partition_error_v2(buf, pos, end, n, budget)
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tags(buf, pos, end)
    return o


def _write_stop_replica_partition_error_v2(
    out: bytearray, items: Sequence[StopReplicaPartitionError]
) -> None:
    for o in items:
        s = o.topic_name.encode()
        n = len(s) + 1
        out += UVARINTS[n] if n < 128 else long_string_length(n)
        out += s
        out += _pack_ih(o.partition_index, o.error_code)
        out.append(0)


def _encode_stop_replica_response_v2(o: StopReplicaResponse) -> list[Part]:
    out = bytearray()
    out += _pack_h(o.error_code)
    n = len(o.partition_errors) + 1
    out += UVARINTS[n] if n < 128 else uvarint(n)
    _write_stop_replica_partition_error_v2(out, o.partition_errors)
    out.append(0)
    return [out]


StopReplicaRequest.DECODERS = {
    0: _decode_stop_replica_request_v0,
    1: _decode_stop_replica_request_v1,
    2: _decode_stop_replica_request_v2,
    3: _decode_stop_replica_request_v3,
    4: _decode_stop_replica_request_v4,
}
StopReplicaRequest.ENCODERS = {
    0: _encode_stop_replica_request_v0,
    1: _encode_stop_replica_request_v1,
    2: _encode_stop_replica_request_v2,
    3: _encode_stop_replica_request_v3,
    4: _encode_stop_replica_request_v4,
}
StopReplicaResponse.DECODERS = {
    0: _decode_stop_replica_response_v0,
    1: _decode_stop_replica_response_v0,
    2: _decode_stop_replica_response_v2,
    3: _decode_stop_replica_response_v2,
    4: _decode_stop_replica_response_v2,
}
StopReplicaResponse.ENCODERS = {
    0: _encode_stop_replica_response_v0,
    1: _encode_stop_replica_response_v0,
    2: _encode_stop_replica_response_v2,
    3: _encode_stop_replica_response_v2,
    4: _encode_stop_replica_response_v2,
}
