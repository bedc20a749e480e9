"""The controller tells a broker which partitions to lead or follow (ZooKeeper mode).

Generated from schemas/leader_and_isr.msg by codegen; edit that and run it again.
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
_pack_t = Struct(">?").pack
_pack_tb = Struct(">?b").pack
_pack_h = Struct(">h").pack
_pack_hi = Struct(">hi").pack
_pack_i = Struct(">i").pack
_pack_itiqb = Struct(">i?iqb").pack
_pack_ih = Struct(">ih").pack
_pack_ii = Struct(">ii").pack
_pack_iii = Struct(">iii").pack
_pack_iiii = Struct(">iiii").pack
_pack_iiiii = Struct(">iiiii").pack
_pack_iiq = Struct(">iiq").pack
_pack_iiqb = Struct(">iiqb").pack
_pack_iiqi = Struct(">iiqi").pack
_unpack_u = Struct(">16s").unpack_from
_unpack_tb = Struct(">?b").unpack_from
_unpack_h = Struct(">h").unpack_from
_unpack_hi = Struct(">hi").unpack_from
_unpack_i = Struct(">i").unpack_from
_unpack_itiqb = Struct(">i?iqb").unpack_from
_unpack_ih = Struct(">ih").unpack_from
_unpack_ii = Struct(">ii").unpack_from
_unpack_iii = Struct(">iii").unpack_from
_unpack_iiii = Struct(">iiii").unpack_from
_unpack_iiiii = Struct(">iiiii").unpack_from
_unpack_iiq = Struct(">iiq").unpack_from
_unpack_iiqb = Struct(">iiqb").unpack_from
_unpack_iiqi = Struct(">iiqi").unpack_from


class LeaderAndIsrPartitionState(WireStruct):
    __slots__ = (
        "topic_name",
        "partition_index",
        "controller_epoch",
        "leader",
        "leader_epoch",
        "isr",
        "partition_epoch",
        "replicas",
        "adding_replicas",
        "removing_replicas",
        "is_new",
        "leader_recovery_state",
    )
    FIELDS: ClassVar[FieldSpecs] = (
        ("topic_name", "string", 0, 1, False),
        ("partition_index", "int32", 0, 7, False),
        ("controller_epoch", "int32", 0, 7, False),
        ("leader", "int32", 0, 7, False),
        ("leader_epoch", "int32", 0, 7, False),
        ("isr", "[int32]", 0, 7, False),
        ("partition_epoch", "int32", 0, 7, False),
        ("replicas", "[int32]", 0, 7, False),
        ("adding_replicas", "[int32]", 3, 7, False),
        ("removing_replicas", "[int32]", 3, 7, False),
        ("is_new", "bool", 1, 7, False),
        ("leader_recovery_state", "int8", 6, 7, False),
    )

    def __init__(
        self,
        topic_name: str = "",
        partition_index: int = 0,
        controller_epoch: int = 0,
        leader: int = 0,
        leader_epoch: int = 0,
        isr: list[int] = EMPTY,
        partition_epoch: int = 0,
        replicas: list[int] = EMPTY,
        adding_replicas: list[int] = EMPTY,
        removing_replicas: list[int] = EMPTY,
        is_new: bool = False,
        leader_recovery_state: int = 0,
    ) -> None:
        self.topic_name = topic_name
        self.partition_index = partition_index
        self.controller_epoch = controller_epoch
        self.leader = leader  # -1 no leader, -2 the topic is being deleted
        self.leader_epoch = leader_epoch
        self.isr = [] if isr is EMPTY else isr
        self.partition_epoch = partition_epoch  # version of the partition's state znode
        self.replicas = [] if replicas is EMPTY else replicas
        self.adding_replicas = [] if adding_replicas is EMPTY else adding_replicas
        self.removing_replicas = [] if removing_replicas is EMPTY else removing_replicas
        self.is_new = is_new  # the replica has never been on this broker
        self.leader_recovery_state = leader_recovery_state  # 1 while recovering from an unclean election (KIP-704)


class LeaderAndIsrPartitionError(WireStruct):
    __slots__ = (
        "topic_name",
        "partition_index",
        "error_code",
    )
    FIELDS: ClassVar[FieldSpecs] = (
        ("topic_name", "string", 0, 4, False),
        ("partition_index", "int32", 0, 7, False),
        ("error_code", "int16", 0, 7, False),
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


class LeaderAndIsrTopicState(WireStruct):
    __slots__ = (
        "topic_name",
        "topic_id",
        "partition_states",
    )
    FIELDS: ClassVar[FieldSpecs] = (
        ("topic_name", "string", 2, 7, False),
        ("topic_id", "uuid", 5, 7, False),
        ("partition_states", "[LeaderAndIsrPartitionState]", 2, 7, False),
    )

    def __init__(
        self,
        topic_name: str = "",
        topic_id: Uuid = ZERO_UUID,
        partition_states: list[LeaderAndIsrPartitionState] = EMPTY,
    ) -> None:
        self.topic_name = topic_name
        self.topic_id = topic_id
        self.partition_states = [] if partition_states is EMPTY else partition_states


class LeaderAndIsrLiveLeader(WireStruct):
    __slots__ = (
        "broker_id",
        "host_name",
        "port",
    )
    FIELDS: ClassVar[FieldSpecs] = (
        ("broker_id", "int32", 0, 7, False),
        ("host_name", "string", 0, 7, False),
        ("port", "int32", 0, 7, False),
    )

    def __init__(
        self,
        broker_id: int = 0,
        host_name: str = "",
        port: int = 0,
    ) -> None:
        self.broker_id = broker_id
        self.host_name = host_name
        self.port = port


class LeaderAndIsrTopicError(WireStruct):
    __slots__ = (
        "topic_id",
        "partition_errors",
    )
    FIELDS: ClassVar[FieldSpecs] = (
        ("topic_id", "uuid", 5, 7, False),
        ("partition_errors", "[LeaderAndIsrPartitionError]", 5, 7, False),
    )

    def __init__(
        self,
        topic_id: Uuid = ZERO_UUID,
        partition_errors: list[LeaderAndIsrPartitionError] = EMPTY,
    ) -> None:
        self.topic_id = topic_id
        self.partition_errors = [] if partition_errors is EMPTY else partition_errors


class LeaderAndIsrRequest(Request["LeaderAndIsrResponse"]):
    __slots__ = (
        "controller_id",
        "is_kraft_controller",
        "controller_epoch",
        "broker_epoch",
        "type",
        "ungrouped_partition_states",
        "topic_states",
        "live_leaders",
    )
    API_KEY: ClassVar[int] = 4
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 7
    FLEXIBLE_FROM: ClassVar[int] = 4
    FIELDS: ClassVar[FieldSpecs] = (
        ("controller_id", "int32", 0, 7, False),
        ("is_kraft_controller", "bool", 7, 7, False),
        ("controller_epoch", "int32", 0, 7, False),
        ("broker_epoch", "int64", 2, 7, False),
        ("type", "int8", 5, 7, False),
        ("ungrouped_partition_states", "[LeaderAndIsrPartitionState]", 0, 1, False),
        ("topic_states", "[LeaderAndIsrTopicState]", 2, 7, False),
        ("live_leaders", "[LeaderAndIsrLiveLeader]", 0, 7, False),
    )

    def __init__(
        self,
        controller_id: int = 0,
        is_kraft_controller: bool = False,
        controller_epoch: int = 0,
        broker_epoch: int = -1,
        type: int = 0,
        ungrouped_partition_states: list[LeaderAndIsrPartitionState] = EMPTY,
        topic_states: list[LeaderAndIsrTopicState] = EMPTY,
        live_leaders: list[LeaderAndIsrLiveLeader] = EMPTY,
    ) -> None:
        self.controller_id = controller_id
        self.is_kraft_controller = is_kraft_controller
        self.controller_epoch = controller_epoch
        self.broker_epoch = broker_epoch
        self.type = type  # 0 unknown, 1 incremental, 2 full
        self.ungrouped_partition_states = [] if ungrouped_partition_states is EMPTY else ungrouped_partition_states
        self.topic_states = [] if topic_states is EMPTY else topic_states
        self.live_leaders = [] if live_leaders is EMPTY else live_leaders


class LeaderAndIsrResponse(Message):
    __slots__ = (
        "error_code",
        "partition_errors",
        "topics",
    )
    API_KEY: ClassVar[int] = 4
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 7
    FLEXIBLE_FROM: ClassVar[int] = 4
    FIELDS: ClassVar[FieldSpecs] = (
        ("error_code", "int16", 0, 7, False),
        ("partition_errors", "[LeaderAndIsrPartitionError]", 0, 4, False),
        ("topics", "[LeaderAndIsrTopicError]", 5, 7, False),
    )

    def __init__(
        self,
        error_code: int = 0,
        partition_errors: list[LeaderAndIsrPartitionError] = EMPTY,
        topics: list[LeaderAndIsrTopicError] = EMPTY,
    ) -> None:
        self.error_code = error_code
        self.partition_errors = [] if partition_errors is EMPTY else partition_errors
        self.topics = [] if topics is EMPTY else topics


def _read_leader_and_isr_partition_state_v0(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[LeaderAndIsrPartitionState], int]:
    if count * 30 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 616
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[LeaderAndIsrPartitionState] = []
    for _ in range(count):
        o = new(LeaderAndIsrPartitionState)
        o.adding_replicas = []
        o.removing_replicas = []
        o.is_new = False
        o.leader_recovery_state = 0
        (n,) = _unpack_h(buf, pos)
        pos += 2
        if n < 0:
            raise unexpected_null(pos, "topic_name")
        q = pos + n
        if q > end:
            raise overrun(pos, n)
        o.topic_name = str(buf[pos:q], "utf-8")
        pos = q
        o.partition_index, o.controller_epoch, o.leader, o.leader_epoch, n = _unpack_iiiii(buf, pos)
        pos += 20
        if n < 0:
            raise unexpected_null(pos, "isr")
        o.isr, pos = read_int32s(buf, pos, end, n, budget)
        o.partition_epoch, n = _unpack_ii(buf, pos)
        pos += 8
        if n < 0:
            raise unexpected_null(pos, "replicas")
        o.replicas, pos = read_int32s(buf, pos, end, n, budget)
        items.append(o)
    return items, pos


def _read_leader_and_isr_live_leader_v0(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[LeaderAndIsrLiveLeader], int]:
    if count * 10 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 192
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[LeaderAndIsrLiveLeader] = []
    for _ in range(count):
        o = new(LeaderAndIsrLiveLeader)
        o.broker_id, n = _unpack_ih(buf, pos)
        pos += 6
        if n < 0:
            raise unexpected_null(pos, "host_name")
        q = pos + n
        if q > end:
            raise overrun(pos, n)
        o.host_name = str(buf[pos:q], "utf-8")
        pos = q
        (o.port,) = _unpack_i(buf, pos)
        pos += 4
        items.append(o)
    return items, pos


def _decode_leader_and_isr_request_v0(buf: memoryview, pos: int, end: int, budget: list[int]) -> LeaderAndIsrRequest:
    o = new(LeaderAndIsrRequest)
    o.is_kraft_controller = False
    o.broker_epoch = -1
    o.type = 0
    o.topic_states = []
    o.controller_id, o.controller_epoch, n = _unpack_iii(buf, pos)
    pos += 12
    if n < 0:
        raise unexpected_null(pos, "ungrouped_partition_states")
    o.ungrouped_partition_states, pos = _read_leader_and_isr_partition_state_v0(buf, pos, end, n, budget)
    (n,) = _unpack_i(buf, pos)
    pos += 4
    if n < 0:
        raise unexpected_null(pos, "live_leaders")
    o.live_leaders, pos = _read_leader_and_isr_live_leader_v0(buf, pos, end, n, budget)
    return o


def _write_leader_and_isr_partition_state_v0(
    out: bytearray, items: Sequence[LeaderAndIsrPartitionState]
) -> None:
    for o in items:
        s = o.topic_name.encode()
        n = len(s)
        out += _pack_h(n)
        out += s
        n = len(o.isr)
        out += _pack_iiiii(o.partition_index, o.controller_epoch, o.leader, o.leader_epoch, n)
        out += int32_elements(o.isr)
        n = len(o.replicas)
        out += _pack_ii(o.partition_epoch, n)
        out += int32_elements(o.replicas)


def _write_leader_and_isr_live_leader_v0(
    out: bytearray, items: Sequence[LeaderAndIsrLiveLeader]
) -> None:
    for o in items:
        s = o.host_name.encode()
        n = len(s)
        out += _pack_ih(o.broker_id, n)
        out += s
        out += _pack_i(o.port)


def _encode_leader_and_isr_request_v0(o: LeaderAndIsrRequest) -> list[Part]:
    out = bytearray()
    n = len(o.ungrouped_partition_states)
    out += _pack_iii(o.controller_id, o.controller_epoch, n)
    _write_leader_and_isr_partition_state_v0(out, o.ungrouped_partition_states)
    n = len(o.live_leaders)
    out += _pack_i(n)
    _write_leader_and_isr_live_leader_v0(out, o.live_leaders)
    return [out]


def _read_leader_and_isr_partition_state_v1(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[LeaderAndIsrPartitionState], int]:
    if count * 31 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 616
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[LeaderAndIsrPartitionState] = []
    for _ in range(count):
        o = new(LeaderAndIsrPartitionState)
        o.adding_replicas = []
        o.removing_replicas = []
        o.leader_recovery_state = 0
        (n,) = _unpack_h(buf, pos)
        pos += 2
        if n < 0:
            raise unexpected_null(pos, "topic_name")
        q = pos + n
        if q > end:
            raise overrun(pos, n)
        o.topic_name = str(buf[pos:q], "utf-8")
        pos = q
        o.partition_index, o.controller_epoch, o.leader, o.leader_epoch, n = _unpack_iiiii(buf, pos)
        pos += 20
        if n < 0:
            raise unexpected_null(pos, "isr")
        o.isr, pos = read_int32s(buf, pos, end, n, budget)
        o.partition_epoch, n = _unpack_ii(buf, pos)
        pos += 8
        if n < 0:
            raise unexpected_null(pos, "replicas")
        o.replicas, pos = read_int32s(buf, pos, end, n, budget)
        o.is_new = buf[pos] != 0
        pos += 1
        items.append(o)
    return items, pos


def _decode_leader_and_isr_request_v1(buf: memoryview, pos: int, end: int, budget: list[int]) -> LeaderAndIsrRequest:
    o = new(LeaderAndIsrRequest)
    o.is_kraft_controller = False
    o.broker_epoch = -1
    o.type = 0
    o.topic_states = []
    o.controller_id, o.controller_epoch, n = _unpack_iii(buf, pos)
    pos += 12
    if n < 0:
        raise unexpected_null(pos, "ungrouped_partition_states")
    o.ungrouped_partition_states, pos = _read_leader_and_isr_partition_state_v1(buf, pos, end, n, budget)
    (n,) = _unpack_i(buf, pos)
    pos += 4
    if n < 0:
        raise unexpected_null(pos, "live_leaders")
    o.live_leaders, pos = _read_leader_and_isr_live_leader_v0(buf, pos, end, n, budget)
    return o


def _write_leader_and_isr_partition_state_v1(
    out: bytearray, items: Sequence[LeaderAndIsrPartitionState]
) -> None:
    for o in items:
        s = o.topic_name.encode()
        n = len(s)
        out += _pack_h(n)
        out += s
        n = len(o.isr)
        out += _pack_iiiii(o.partition_index, o.controller_epoch, o.leader, o.leader_epoch, n)
        out += int32_elements(o.isr)
        n = len(o.replicas)
        out += _pack_ii(o.partition_epoch, n)
        out += int32_elements(o.replicas)
        out += _pack_t(o.is_new)


def _encode_leader_and_isr_request_v1(o: LeaderAndIsrRequest) -> list[Part]:
    out = bytearray()
    n = len(o.ungrouped_partition_states)
    out += _pack_iii(o.controller_id, o.controller_epoch, n)
    _write_leader_and_isr_partition_state_v1(out, o.ungrouped_partition_states)
    n = len(o.live_leaders)
    out += _pack_i(n)
    _write_leader_and_isr_live_leader_v0(out, o.live_leaders)
    return [out]


def _read_leader_and_isr_partition_state_v2(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[LeaderAndIsrPartitionState], int]:
    if count * 29 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 560
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[LeaderAndIsrPartitionState] = []
    for _ in range(count):
        o = new(LeaderAndIsrPartitionState)
        o.topic_name = ""
        o.adding_replicas = []
        o.removing_replicas = []
        o.leader_recovery_state = 0
        o.partition_index, o.controller_epoch, o.leader, o.leader_epoch, n = _unpack_iiiii(buf, pos)
        pos += 20
        if n < 0:
            raise unexpected_null(pos, "isr")
        o.isr, pos = read_int32s(buf, pos, end, n, budget)
        o.partition_epoch, n = _unpack_ii(buf, pos)
        pos += 8
        if n < 0:
            raise unexpected_null(pos, "replicas")
        o.replicas, pos = read_int32s(buf, pos, end, n, budget)
        o.is_new = buf[pos] != 0
        pos += 1
        items.append(o)
    return items, pos


def _read_leader_and_isr_topic_state_v2(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[LeaderAndIsrTopicState], int]:
    if count * 6 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 192
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[LeaderAndIsrTopicState] = []
    for _ in range(count):
        o = new(LeaderAndIsrTopicState)
        o.topic_id = ZERO_UUID
        (n,) = _unpack_h(buf, pos)
        pos += 2
        if n < 0:
            raise unexpected_null(pos, "topic_name")
        q = pos + n
        if q > end:
            raise overrun(pos, n)
        o.topic_name = str(buf[pos:q], "utf-8")
        pos = q
        (n,) = _unpack_i(buf, pos)
        pos += 4
        if n < 0:
            raise unexpected_null(pos, "partition_states")
        o.partition_states, pos = _read_leader_and_isr_partition_state_v2(buf, pos, end, n, budget)
        items.append(o)
    return items, pos


def _decode_leader_and_isr_request_v2(buf: memoryview, pos: int, end: int, budget: list[int]) -> LeaderAndIsrRequest:
    o = new(LeaderAndIsrRequest)
    o.is_kraft_controller = False
    o.type = 0
    o.ungrouped_partition_states = []
    o.controller_id, o.controller_epoch, o.broker_epoch, n = _unpack_iiqi(buf, pos)
    pos += 20
    if n < 0:
        raise unexpected_null(pos, "topic_states")
    o.topic_states, pos = _read_leader_and_isr_topic_state_v2(buf, pos, end, n, budget)
    (n,) = _unpack_i(buf, pos)
    pos += 4
    if n < 0:
        raise unexpected_null(pos, "live_leaders")
    o.live_leaders, pos = _read_leader_and_isr_live_leader_v0(buf, pos, end, n, budget)
    return o


def _write_leader_and_isr_partition_state_v2(
    out: bytearray, items: Sequence[LeaderAndIsrPartitionState]
) -> None:
    for o in items:
        n = len(o.isr)
        out += _pack_iiiii(o.partition_index, o.controller_epoch, o.leader, o.leader_epoch, n)
        out += int32_elements(o.isr)
        n = len(o.replicas)
        out += _pack_ii(o.partition_epoch, n)
        out += int32_elements(o.replicas)
        out += _pack_t(o.is_new)


def _write_leader_and_isr_topic_state_v2(
    out: bytearray, items: Sequence[LeaderAndIsrTopicState]
) -> None:
    for o in items:
        s = o.topic_name.encode()
        n = len(s)
        out += _pack_h(n)
        out += s
        n = len(o.partition_states)
        out += _pack_i(n)
        _write_leader_and_isr_partition_state_v2(out, o.partition_states)


def _encode_leader_and_isr_request_v2(o: LeaderAndIsrRequest) -> list[Part]:
    out = bytearray()
    n = len(o.topic_states)
    out += _pack_iiqi(o.controller_id, o.controller_epoch, o.broker_epoch, n)
    _write_leader_and_isr_topic_state_v2(out, o.topic_states)
    n = len(o.live_leaders)
    out += _pack_i(n)
    _write_leader_and_isr_live_leader_v0(out, o.live_leaders)
    return [out]


def _read_leader_and_isr_partition_state_v3(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[LeaderAndIsrPartitionState], int]:
    if count * 37 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 560
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[LeaderAndIsrPartitionState] = []
    for _ in range(count):
        o = new(LeaderAndIsrPartitionState)
        o.topic_name = ""
        o.leader_recovery_state = 0
        o.partition_index, o.controller_epoch, o.leader, o.leader_epoch, n = _unpack_iiiii(buf, pos)
        pos += 20
        if n < 0:
            raise unexpected_null(pos, "isr")
        o.isr, pos = read_int32s(buf, pos, end, n, budget)
        o.partition_epoch, n = _unpack_ii(buf, pos)
        pos += 8
        if n < 0:
            raise unexpected_null(pos, "replicas")
        o.replicas, pos = read_int32s(buf, pos, end, n, budget)
        (n,) = _unpack_i(buf, pos)
        pos += 4
        if n < 0:
            raise unexpected_null(pos, "adding_replicas")
        o.adding_replicas, pos = read_int32s(buf, pos, end, n, budget)
        (n,) = _unpack_i(buf, pos)
        pos += 4
        if n < 0:
            raise unexpected_null(pos, "removing_replicas")
        o.removing_replicas, pos = read_int32s(buf, pos, end, n, budget)
        o.is_new = buf[pos] != 0
        pos += 1
        items.append(o)
    return items, pos


def _read_leader_and_isr_topic_state_v3(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[LeaderAndIsrTopicState], int]:
    if count * 6 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 192
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[LeaderAndIsrTopicState] = []
    for _ in range(count):
        o = new(LeaderAndIsrTopicState)
        o.topic_id = ZERO_UUID
        (n,) = _unpack_h(buf, pos)
        pos += 2
        if n < 0:
            raise unexpected_null(pos, "topic_name")
        q = pos + n
        if q > end:
            raise overrun(pos, n)
        o.topic_name = str(buf[pos:q], "utf-8")
        pos = q
        (n,) = _unpack_i(buf, pos)
        pos += 4
        if n < 0:
            raise unexpected_null(pos, "partition_states")
        o.partition_states, pos = _read_leader_and_isr_partition_state_v3(buf, pos, end, n, budget)
        items.append(o)
    return items, pos


def _decode_leader_and_isr_request_v3(buf: memoryview, pos: int, end: int, budget: list[int]) -> LeaderAndIsrRequest:
    o = new(LeaderAndIsrRequest)
    o.is_kraft_controller = False
    o.type = 0
    o.ungrouped_partition_states = []
    o.controller_id, o.controller_epoch, o.broker_epoch, n = _unpack_iiqi(buf, pos)
    pos += 20
    if n < 0:
        raise unexpected_null(pos, "topic_states")
    o.topic_states, pos = _read_leader_and_isr_topic_state_v3(buf, pos, end, n, budget)
    (n,) = _unpack_i(buf, pos)
    pos += 4
    if n < 0:
        raise unexpected_null(pos, "live_leaders")
    o.live_leaders, pos = _read_leader_and_isr_live_leader_v0(buf, pos, end, n, budget)
    return o


def _write_leader_and_isr_partition_state_v3(
    out: bytearray, items: Sequence[LeaderAndIsrPartitionState]
) -> None:
    for o in items:
        n = len(o.isr)
        out += _pack_iiiii(o.partition_index, o.controller_epoch, o.leader, o.leader_epoch, n)
        out += int32_elements(o.isr)
        n = len(o.replicas)
        out += _pack_ii(o.partition_epoch, n)
        out += int32_elements(o.replicas)
        n = len(o.adding_replicas)
        out += _pack_i(n)
        out += int32_elements(o.adding_replicas)
        n = len(o.removing_replicas)
        out += _pack_i(n)
        out += int32_elements(o.removing_replicas)
        out += _pack_t(o.is_new)


def _write_leader_and_isr_topic_state_v3(
    out: bytearray, items: Sequence[LeaderAndIsrTopicState]
) -> None:
    for o in items:
        s = o.topic_name.encode()
        n = len(s)
        out += _pack_h(n)
        out += s
        n = len(o.partition_states)
        out += _pack_i(n)
        _write_leader_and_isr_partition_state_v3(out, o.partition_states)


def _encode_leader_and_isr_request_v3(o: LeaderAndIsrRequest) -> list[Part]:
    out = bytearray()
    n = len(o.topic_states)
    out += _pack_iiqi(o.controller_id, o.controller_epoch, o.broker_epoch, n)
    _write_leader_and_isr_topic_state_v3(out, o.topic_states)
    n = len(o.live_leaders)
    out += _pack_i(n)
    _write_leader_and_isr_live_leader_v0(out, o.live_leaders)
    return [out]


def _read_leader_and_isr_partition_state_v4(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[LeaderAndIsrPartitionState], int]:
    if count * 26 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 560
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[LeaderAndIsrPartitionState] = []
    for _ in range(count):
        o = new(LeaderAndIsrPartitionState)
        o.topic_name = ""
        o.leader_recovery_state = 0
        o.partition_index, o.controller_epoch, o.leader, o.leader_epoch = _unpack_iiii(buf, pos)
        pos += 16
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
        n = buf[pos]
        pos += 1
        if n > 127:
            n, pos = read_long_uvarint(buf, pos)
        n -= 1
        if n < 0:
            raise unexpected_null(pos, "replicas")
        o.replicas, pos = read_int32s(buf, pos, end, n, budget)
        n = buf[pos]
        pos += 1
        if n > 127:
            n, pos = read_long_uvarint(buf, pos)
        n -= 1
        if n < 0:
            raise unexpected_null(pos, "adding_replicas")
        o.adding_replicas, pos = read_int32s(buf, pos, end, n, budget)
        n = buf[pos]
        pos += 1
        if n > 127:
            n, pos = read_long_uvarint(buf, pos)
        n -= 1
        if n < 0:
            raise unexpected_null(pos, "removing_replicas")
        o.removing_replicas, pos = read_int32s(buf, pos, end, n, budget)
        o.is_new = buf[pos] != 0
        pos += 1
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tags(buf, pos, end)
        items.append(o)
    return items, pos


def _read_leader_and_isr_topic_state_v4(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[LeaderAndIsrTopicState], int]:
    if count * 3 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 192
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[LeaderAndIsrTopicState] = []
    for _ in range(count):
        o = new(LeaderAndIsrTopicState)
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
            raise unexpected_null(pos, "partition_states")
        o.partition_states, pos = _read_leader_and_isr_partition_state_v4(buf, pos, end, n, budget)
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tags(buf, pos, end)
        items.append(o)
    return items, pos


def _read_leader_and_isr_live_leader_v4(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[LeaderAndIsrLiveLeader], int]:
    if count * 10 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 192
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[LeaderAndIsrLiveLeader] = []
    for _ in range(count):
        o = new(LeaderAndIsrLiveLeader)
        (o.broker_id,) = _unpack_i(buf, pos)
        pos += 4
        n = buf[pos]
        pos += 1
        if n > 127:
            n, pos = read_long_string_length(buf, pos)
        n -= 1
        if n < 0:
            raise unexpected_null(pos, "host_name")
        q = pos + n
        if q > end:
            raise overrun(pos, n)
        o.host_name = str(buf[pos:q], "utf-8")
        pos = q
        (o.port,) = _unpack_i(buf, pos)
        pos += 4
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tags(buf, pos, end)
        items.append(o)
    return items, pos


def _decode_leader_and_isr_request_v4(buf: memoryview, pos: int, end: int, budget: list[int]) -> LeaderAndIsrRequest:
    o = new(LeaderAndIsrRequest)
    o.is_kraft_controller = False
    o.type = 0
    o.ungrouped_partition_states = []
    o.controller_id, o.controller_epoch, o.broker_epoch = _unpack_iiq(buf, pos)
    pos += 16
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_long_uvarint(buf, pos)
    n -= 1
    if n < 0:
        raise unexpected_null(pos, "topic_states")
    o.topic_states, pos = _read_leader_and_isr_topic_state_v4(buf, pos, end, n, budget)
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_long_uvarint(buf, pos)
    n -= 1
    if n < 0:
        raise unexpected_null(pos, "live_leaders")
    o.live_leaders, pos = _read_leader_and_isr_live_leader_v4(buf, pos, end, n, budget)
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tags(buf, pos, end)
    return o


def _write_leader_and_isr_partition_state_v4(
    out: bytearray, items: Sequence[LeaderAndIsrPartitionState]
) -> None:
    for o in items:
        out += _pack_iiii(o.partition_index, o.controller_epoch, o.leader, o.leader_epoch)
        n = len(o.isr) + 1
        out += UVARINTS[n] if n < 128 else uvarint(n)
        out += int32_elements(o.isr)
        out += _pack_i(o.partition_epoch)
        n = len(o.replicas) + 1
        out += UVARINTS[n] if n < 128 else uvarint(n)
        out += int32_elements(o.replicas)
        n = len(o.adding_replicas) + 1
        out += UVARINTS[n] if n < 128 else uvarint(n)
        out += int32_elements(o.adding_replicas)
        n = len(o.removing_replicas) + 1
        out += UVARINTS[n] if n < 128 else uvarint(n)
        out += int32_elements(o.removing_replicas)
        out += _pack_t(o.is_new)
        out.append(0)


def _write_leader_and_isr_topic_state_v4(
    out: bytearray, items: Sequence[LeaderAndIsrTopicState]
) -> None:
    for o in items:
        s = o.topic_name.encode()
        n = len(s) + 1
        out += UVARINTS[n] if n < 128 else long_string_length(n)
        out += s
        n = len(o.partition_states) + 1
        out += UVARINTS[n] if n < 128 else uvarint(n)
        _write_leader_and_isr_partition_state_v4(out, o.partition_states)
        out.append(0)


def _write_leader_and_isr_live_leader_v4(
    out: bytearray, items: Sequence[LeaderAndIsrLiveLeader]
) -> None:
    for o in items:
        out += _pack_i(o.broker_id)
        s = o.host_name.encode()
        n = len(s) + 1
        out += UVARINTS[n] if n < 128 else long_string_length(n)
        out += s
        out += _pack_i(o.port)
        out.append(0)


def _encode_leader_and_isr_request_v4(o: LeaderAndIsrRequest) -> list[Part]:
    out = bytearray()
    out += _pack_iiq(o.controller_id, o.controller_epoch, o.broker_epoch)
    n = len(o.topic_states) + 1
    out += UVARINTS[n] if n < 128 else uvarint(n)
    _write_leader_and_isr_topic_state_v4(out, o.topic_states)
    n = len(o.live_leaders) + 1
    out += UVARINTS[n] if n < 128 else uvarint(n)
    _write_leader_and_isr_live_leader_v4(out, o.live_leaders)
    out.append(0)
    return [out]


def _read_leader_and_isr_topic_state_v5(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[LeaderAndIsrTopicState], int]:
    if count * 19 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 248
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[LeaderAndIsrTopicState] = []
    for _ in range(count):
        o = new(LeaderAndIsrTopicState)
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
        (raw_topic_id,) = _unpack_u(buf, pos)
        pos += 16
        o.topic_id = Uuid(raw_topic_id)
        n = buf[pos]
        pos += 1
        if n > 127:
            n, pos = read_long_uvarint(buf, pos)
        n -= 1
        if n < 0:
            raise unexpected_null(pos, "partition_states")
        o.partition_states, pos = _read_leader_and_isr_partition_state_v4(buf, pos, end, n, budget)
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tags(buf, pos, end)
        items.append(o)
    return items, pos


def _decode_leader_and_isr_request_v5(buf: memoryview, pos: int, end: int, budget: list[int]) -> LeaderAndIsrRequest:
    o = new(LeaderAndIsrRequest)
    o.is_kraft_controller = False
    o.ungrouped_partition_states = []
    o.controller_id, o.controller_epoch, o.broker_epoch, o.type = _unpack_iiqb(buf, pos)
    pos += 17
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_long_uvarint(buf, pos)
    n -= 1
    if n < 0:
        raise unexpected_null(pos, "topic_states")
    o.topic_states, pos = _read_leader_and_isr_topic_state_v5(buf, pos, end, n, budget)
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_long_uvarint(buf, pos)
    n -= 1
    if n < 0:
        raise unexpected_null(pos, "live_leaders")
    o.live_leaders, pos = _read_leader_and_isr_live_leader_v4(buf, pos, end, n, budget)
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tags(buf, pos, end)
    return o


def _write_leader_and_isr_topic_state_v5(
    out: bytearray, items: Sequence[LeaderAndIsrTopicState]
) -> None:
    for o in items:
        s = o.topic_name.encode()
        n = len(s) + 1
        out += UVARINTS[n] if n < 128 else long_string_length(n)
        out += s
        if len(o.topic_id) != 16:
            raise LocalError("a uuid has 16 bytes")
        out += _pack_u(o.topic_id)
        n = len(o.partition_states) + 1
        out += UVARINTS[n] if n < 128 else uvarint(n)
        _write_leader_and_isr_partition_state_v4(out, o.partition_states)
        out.append(0)


def _encode_leader_and_isr_request_v5(o: LeaderAndIsrRequest) -> list[Part]:
    out = bytearray()
    out += _pack_iiqb(o.controller_id, o.controller_epoch, o.broker_epoch, o.type)
    n = len(o.topic_states) + 1
    out += UVARINTS[n] if n < 128 else uvarint(n)
    _write_leader_and_isr_topic_state_v5(out, o.topic_states)
    n = len(o.live_leaders) + 1
    out += UVARINTS[n] if n < 128 else uvarint(n)
    _write_leader_and_isr_live_leader_v4(out, o.live_leaders)
    out.append(0)
    return [out]


def _read_leader_and_isr_partition_state_v6(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[LeaderAndIsrPartitionState], int]:
    if count * 27 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 560
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[LeaderAndIsrPartitionState] = []
    for _ in range(count):
        o = new(LeaderAndIsrPartitionState)
        o.topic_name = ""
        o.partition_index, o.controller_epoch, o.leader, o.leader_epoch = _unpack_iiii(buf, pos)
        pos += 16
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
        n = buf[pos]
        pos += 1
        if n > 127:
            n, pos = read_long_uvarint(buf, pos)
        n -= 1
        if n < 0:
            raise unexpected_null(pos, "replicas")
        o.replicas, pos = read_int32s(buf, pos, end, n, budget)
        n = buf[pos]
        pos += 1
        if n > 127:
            n, pos = read_long_uvarint(buf, pos)
        n -= 1
        if n < 0:
            raise unexpected_null(pos, "adding_replicas")
        o.adding_replicas, pos = read_int32s(buf, pos, end, n, budget)
        n = buf[pos]
        pos += 1
        if n > 127:
            n, pos = read_long_uvarint(buf, pos)
        n -= 1
        if n < 0:
            raise unexpected_null(pos, "removing_replicas")
        o.removing_replicas, pos = read_int32s(buf, pos, end, n, budget)
        o.is_new, o.leader_recovery_state = _unpack_tb(buf, pos)
        pos += 2
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tags(buf, pos, end)
        items.append(o)
    return items, pos


def _read_leader_and_isr_topic_state_v6(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[LeaderAndIsrTopicState], int]:
    if count * 19 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 248
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[LeaderAndIsrTopicState] = []
    for _ in range(count):
        o = new(LeaderAndIsrTopicState)
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
        (raw_topic_id,) = _unpack_u(buf, pos)
        pos += 16
        o.topic_id = Uuid(raw_topic_id)
        n = buf[pos]
        pos += 1
        if n > 127:
            n, pos = read_long_uvarint(buf, pos)
        n -= 1
        if n < 0:
            raise unexpected_null(pos, "partition_states")
        o.partition_states, pos = _read_leader_and_isr_partition_state_v6(buf, pos, end, n, budget)
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tags(buf, pos, end)
        items.append(o)
    return items, pos


def _decode_leader_and_isr_request_v6(buf: memoryview, pos: int, end: int, budget: list[int]) -> LeaderAndIsrRequest:
    o = new(LeaderAndIsrRequest)
    o.is_kraft_controller = False
    o.ungrouped_partition_states = []
    o.controller_id, o.controller_epoch, o.broker_epoch, o.type = _unpack_iiqb(buf, pos)
    pos += 17
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_long_uvarint(buf, pos)
    n -= 1
    if n < 0:
        raise unexpected_null(pos, "topic_states")
    o.topic_states, pos = _read_leader_and_isr_topic_state_v6(buf, pos, end, n, budget)
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_long_uvarint(buf, pos)
    n -= 1
    if n < 0:
        raise unexpected_null(pos, "live_leaders")
    o.live_leaders, pos = _read_leader_and_isr_live_leader_v4(buf, pos, end, n, budget)
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tags(buf, pos, end)
    return o


def _write_leader_and_isr_partition_state_v6(
    out: bytearray, items: Sequence[LeaderAndIsrPartitionState]
) -> None:
    for o in items:
        out += _pack_iiii(o.partition_index, o.controller_epoch, o.leader, o.leader_epoch)
        n = len(o.isr) + 1
        out += UVARINTS[n] if n < 128 else uvarint(n)
        out += int32_elements(o.isr)
        out += _pack_i(o.partition_epoch)
        n = len(o.replicas) + 1
        out += UVARINTS[n] if n < 128 else uvarint(n)
        out += int32_elements(o.replicas)
        n = len(o.adding_replicas) + 1
        out += UVARINTS[n] if n < 128 else uvarint(n)
        out += int32_elements(o.adding_replicas)
        n = len(o.removing_replicas) + 1
        out += UVARINTS[n] if n < 128 else uvarint(n)
        out += int32_elements(o.removing_replicas)
        out += _pack_tb(o.is_new, o.leader_recovery_state)
        out.append(0)


def _write_leader_and_isr_topic_state_v6(
    out: bytearray, items: Sequence[LeaderAndIsrTopicState]
) -> None:
    for o in items:
        s = o.topic_name.encode()
        n = len(s) + 1
        out += UVARINTS[n] if n < 128 else long_string_length(n)
        out += s
        if len(o.topic_id) != 16:
            raise LocalError("a uuid has 16 bytes")
        out += _pack_u(o.topic_id)
        n = len(o.partition_states) + 1
        out += UVARINTS[n] if n < 128 else uvarint(n)
        _write_leader_and_isr_partition_state_v6(out, o.partition_states)
        out.append(0)


def _encode_leader_and_isr_request_v6(o: LeaderAndIsrRequest) -> list[Part]:
    out = bytearray()
    out += _pack_iiqb(o.controller_id, o.controller_epoch, o.broker_epoch, o.type)
    n = len(o.topic_states) + 1
    out += UVARINTS[n] if n < 128 else uvarint(n)
    _write_leader_and_isr_topic_state_v6(out, o.topic_states)
    n = len(o.live_leaders) + 1
    out += UVARINTS[n] if n < 128 else uvarint(n)
    _write_leader_and_isr_live_leader_v4(out, o.live_leaders)
    out.append(0)
    return [out]


def _decode_leader_and_isr_request_v7(buf: memoryview, pos: int, end: int, budget: list[int]) -> LeaderAndIsrRequest:
    o = new(LeaderAndIsrRequest)
    o.ungrouped_partition_states = []
    o.controller_id, o.is_kraft_controller, o.controller_epoch, o.broker_epoch, o.type = _unpack_itiqb(buf, pos)
    pos += 18
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_long_uvarint(buf, pos)
    n -= 1
    if n < 0:
        raise unexpected_null(pos, "topic_states")
    o.topic_states, pos = _read_leader_and_isr_topic_state_v6(buf, pos, end, n, budget)
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_long_uvarint(buf, pos)
    n -= 1
    if n < 0:
        raise unexpected_null(pos, "live_leaders")
    o.live_leaders, pos = _read_leader_and_isr_live_leader_v4(buf, pos, end, n, budget)
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tags(buf, pos, end)
    return o


def _encode_leader_and_isr_request_v7(o: LeaderAndIsrRequest) -> list[Part]:
    out = bytearray()
    out += _pack_itiqb(o.controller_id, o.is_kraft_controller, o.controller_epoch, o.broker_epoch, o.type)
    n = len(o.topic_states) + 1
    out += UVARINTS[n] if n < 128 else uvarint(n)
    _write_leader_and_isr_topic_state_v6(out, o.topic_states)
    n = len(o.live_leaders) + 1
    out += UVARINTS[n] if n < 128 else uvarint(n)
    _write_leader_and_isr_live_leader_v4(out, o.live_leaders)
    out.append(0)
    return [out]


def _read_leader_and_isr_partition_error_v0(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[LeaderAndIsrPartitionError], int]:
    if count * 8 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 192
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[LeaderAndIsrPartitionError] = []
    for _ in range(count):
        o = new(LeaderAndIsrPartitionError)
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


def _decode_leader_and_isr_response_v0(buf: memoryview, pos: int, end: int, budget: list[int]) -> LeaderAndIsrResponse:
    o = new(LeaderAndIsrResponse)
    o.topics = []
    o.error_code, n = _unpack_hi(buf, pos)
    pos += 6
    if n < 0:
        raise unexpected_null(pos, "partition_errors")
    o.partition_errors, pos = _read_leader_and_isr_partition_error_v0(buf, pos, end, n, budget)
    return o


def _write_leader_and_isr_partition_error_v0(
    out: bytearray, items: Sequence[LeaderAndIsrPartitionError]
) -> None:
    for o in items:
        s = o.topic_name.encode()
        n = len(s)
        out += _pack_h(n)
        out += s
        out += _pack_ih(o.partition_index, o.error_code)


def _encode_leader_and_isr_response_v0(o: LeaderAndIsrResponse) -> list[Part]:
    out = bytearray()
    n = len(o.partition_errors)
    out += _pack_hi(o.error_code, n)
    _write_leader_and_isr_partition_error_v0(out, o.partition_errors)
    return [out]


def _read_leader_and_isr_partition_error_v4(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[LeaderAndIsrPartitionError], int]:
    if count * 8 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 192
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[LeaderAndIsrPartitionError] = []
    for _ in range(count):
        o = new(LeaderAndIsrPartitionError)
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


def _decode_leader_and_isr_response_v4(buf: memoryview, pos: int, end: int, budget: list[int]) -> LeaderAndIsrResponse:
    o = new(LeaderAndIsrResponse)
    o.topics = []
    (o.error_code,) = _unpack_h(buf, pos)
    pos += 2
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_long_uvarint(buf, pos)
    n -= 1
    if n < 0:
        raise unexpected_null(pos, "partition_errors")
    o.partition_errors, pos = _read_leader_and_isr_partition_error_v4(buf, pos, end, n, budget)
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tags(buf, pos, end)
    return o


def _write_leader_and_isr_partition_error_v4(
    out: bytearray, items: Sequence[LeaderAndIsrPartitionError]
) -> None:
    for o in items:
        s = o.topic_name.encode()
        n = len(s) + 1
        out += UVARINTS[n] if n < 128 else long_string_length(n)
        out += s
        out += _pack_ih(o.partition_index, o.error_code)
        out.append(0)


def _encode_leader_and_isr_response_v4(o: LeaderAndIsrResponse) -> list[Part]:
    out = bytearray()
    out += _pack_h(o.error_code)
    n = len(o.partition_errors) + 1
    out += UVARINTS[n] if n < 128 else uvarint(n)
    _write_leader_and_isr_partition_error_v4(out, o.partition_errors)
    out.append(0)
    return [out]


def _read_leader_and_isr_partition_error_v5(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[LeaderAndIsrPartitionError], int]:
    if count * 7 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 136
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[LeaderAndIsrPartitionError] = []
    for _ in range(count):
        o = new(LeaderAndIsrPartitionError)
        o.topic_name = ""
        o.partition_index, o.error_code = _unpack_ih(buf, pos)
        pos += 6
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tags(buf, pos, end)
        items.append(o)
    return items, pos


def _read_leader_and_isr_topic_error_v5(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[LeaderAndIsrTopicError], int]:
    if count * 18 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 184
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[LeaderAndIsrTopicError] = []
    for _ in range(count):
        o = new(LeaderAndIsrTopicError)
        (raw_topic_id,) = _unpack_u(buf, pos)
        pos += 16
        o.topic_id = Uuid(raw_topic_id)
        n = buf[pos]
        pos += 1
        if n > 127:
            n, pos = read_long_uvarint(buf, pos)
        n -= 1
        if n < 0:
            raise unexpected_null(pos, "partition_errors")
        o.partition_errors, pos = _read_leader_and_isr_partition_error_v5(buf, pos, end, n, budget)
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tags(buf, pos, end)
        items.append(o)
    return items, pos


def _decode_leader_and_isr_response_v5(buf: memoryview, pos: int, end: int, budget: list[int]) -> LeaderAndIsrResponse:
    o = new(LeaderAndIsrResponse)
    o.partition_errors = []
    (o.error_code,) = _unpack_h(buf, pos)
    pos += 2
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_long_uvarint(buf, pos)
    n -= 1
    if n < 0:
        raise unexpected_null(pos, "topics")
    o.topics, pos = _read_leader_and_isr_topic_error_v5(buf, pos, end, n, budget)
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tags(buf, pos, end)
    return o


def _write_leader_and_isr_partition_error_v5(
    out: bytearray, items: Sequence[LeaderAndIsrPartitionError]
) -> None:
    for o in items:
        out += _pack_ih(o.partition_index, o.error_code)
        out.append(0)


def _write_leader_and_isr_topic_error_v5(
    out: bytearray, items: Sequence[LeaderAndIsrTopicError]
) -> None:
    for o in items:
        if len(o.topic_id) != 16:
            raise LocalError("a uuid has 16 bytes")
        out += _pack_u(o.topic_id)
        n = len(o.partition_errors) + 1
        out += UVARINTS[n] if n < 128 else uvarint(n)
        _write_leader_and_isr_partition_error_v5(out, o.partition_errors)
        out.append(0)


def _encode_leader_and_isr_response_v5(o: LeaderAndIsrResponse) -> list[Part]:
    out = bytearray()
    out += _pack_h(o.error_code)
    n = len(o.topics) + 1
    out += UVARINTS[n] if n < 128 else uvarint(n)
    _write_leader_and_isr_topic_error_v5(out, o.topics)
    out.append(0)
    return [out]


LeaderAndIsrRequest.DECODERS = {
    0: _decode_leader_and_isr_request_v0,
    1: _decode_leader_and_isr_request_v1,
    2: _decode_leader_and_isr_request_v2,
    3: _decode_leader_and_isr_request_v3,
    4: _decode_leader_and_isr_request_v4,
    5: _decode_leader_and_isr_request_v5,
    6: _decode_leader_and_isr_request_v6,
    7: _decode_leader_and_isr_request_v7,
}
LeaderAndIsrRequest.ENCODERS = {
    0: _encode_leader_and_isr_request_v0,
    1: _encode_leader_and_isr_request_v1,
    2: _encode_leader_and_isr_request_v2,
    3: _encode_leader_and_isr_request_v3,
    4: _encode_leader_and_isr_request_v4,
    5: _encode_leader_and_isr_request_v5,
    6: _encode_leader_and_isr_request_v6,
    7: _encode_leader_and_isr_request_v7,
}
LeaderAndIsrResponse.DECODERS = {
    0: _decode_leader_and_isr_response_v0,
    1: _decode_leader_and_isr_response_v0,
    2: _decode_leader_and_isr_response_v0,
    3: _decode_leader_and_isr_response_v0,
    4: _decode_leader_and_isr_response_v4,
    5: _decode_leader_and_isr_response_v5,
    6: _decode_leader_and_isr_response_v5,
    7: _decode_leader_and_isr_response_v5,
}
LeaderAndIsrResponse.ENCODERS = {
    0: _encode_leader_and_isr_response_v0,
    1: _encode_leader_and_isr_response_v0,
    2: _encode_leader_and_isr_response_v0,
    3: _encode_leader_and_isr_response_v0,
    4: _encode_leader_and_isr_response_v4,
    5: _encode_leader_and_isr_response_v5,
    6: _encode_leader_and_isr_response_v5,
    7: _encode_leader_and_isr_response_v5,
}
