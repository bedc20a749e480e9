"""The controller hands every broker the picture that Metadata answers come from (ZooKeeper mode).

Generated from schemas/update_metadata.msg by codegen; edit that and run it again.
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
    bad_tag,
    int32_elements,
    long_string_length,
    new,
    over_budget,
    overrun,
    read_int32s,
    read_long_string_length,
    read_long_uvarint,
    read_tag,
    read_tag_count,
    skip_tags,
    too_many,
    unexpected_null,
    uvarint,
    write_tags,
)

_pack_u = Struct(">16s").pack
_pack_b = Struct(">b").pack
_pack_h = Struct(">h").pack
_pack_i = Struct(">i").pack
_pack_itiq = Struct(">i?iq").pack
_pack_ih = Struct(">ih").pack
_pack_ii = Struct(">ii").pack
_pack_iii = Struct(">iii").pack
_pack_iiii = Struct(">iiii").pack
_pack_iiiii = Struct(">iiiii").pack
_pack_iiq = Struct(">iiq").pack
_pack_iiqi = Struct(">iiqi").pack
_unpack_u = Struct(">16s").unpack_from
_unpack_b = Struct(">b").unpack_from
_unpack_h = Struct(">h").unpack_from
_unpack_i = Struct(">i").unpack_from
_unpack_itiq = Struct(">i?iq").unpack_from
_unpack_ih = Struct(">ih").unpack_from
_unpack_ii = Struct(">ii").unpack_from
_unpack_iii = Struct(">iii").unpack_from
_unpack_iiii = Struct(">iiii").unpack_from
_unpack_iiiii = Struct(">iiiii").unpack_from
_unpack_iiq = Struct(">iiq").unpack_from
_unpack_iiqi = Struct(">iiqi").unpack_from


class UpdateMetadataPartitionState(WireStruct):
    __slots__ = (
        "topic_name",
        "partition_index",
        "controller_epoch",
        "leader",
        "leader_epoch",
        "isr",
        "zk_version",
        "replicas",
        "offline_replicas",
    )
    FIELDS: ClassVar[FieldSpecs] = (
        ("topic_name", "string", 0, 4, False),
        ("partition_index", "int32", 0, 8, False),
        ("controller_epoch", "int32", 0, 8, False),
        ("leader", "int32", 0, 8, False),
        ("leader_epoch", "int32", 0, 8, False),
        ("isr", "[int32]", 0, 8, False),
        ("zk_version", "int32", 0, 8, False),
        ("replicas", "[int32]", 0, 8, False),
        ("offline_replicas", "[int32]", 4, 8, False),
    )

    def __init__(
        self,
        topic_name: str = "",
        partition_index: int = 0,
        controller_epoch: int = 0,
        leader: int = 0,
        leader_epoch: int = 0,
        isr: list[int] = EMPTY,
        zk_version: int = 0,
        replicas: list[int] = EMPTY,
        offline_replicas: list[int] = EMPTY,
    ) -> None:
        self.topic_name = topic_name
        self.partition_index = partition_index
        self.controller_epoch = controller_epoch
        self.leader = leader  # -1 no leader, -2 the topic is being deleted
        self.leader_epoch = leader_epoch
        self.isr = [] if isr is EMPTY else isr
        self.zk_version = zk_version  # version of the partition's state znode
        self.replicas = [] if replicas is EMPTY else replicas
        self.offline_replicas = [] if offline_replicas is EMPTY else offline_replicas


class UpdateMetadataTopicState(WireStruct):
    __slots__ = (
        "topic_name",
        "topic_id",
        "partition_states",
    )
    FIELDS: ClassVar[FieldSpecs] = (
        ("topic_name", "string", 5, 8, False),
        ("topic_id", "uuid", 7, 8, False),
        ("partition_states", "[UpdateMetadataPartitionState]", 5, 8, False),
    )

    def __init__(
        self,
        topic_name: str = "",
        topic_id: Uuid = ZERO_UUID,
        partition_states: list[UpdateMetadataPartitionState] = EMPTY,
    ) -> None:
        self.topic_name = topic_name
        self.topic_id = topic_id
        self.partition_states = [] if partition_states is EMPTY else partition_states


class UpdateMetadataEndpoint(WireStruct):
    __slots__ = (
        "port",
        "host",
        "listener",
        "security_protocol",
    )
    FIELDS: ClassVar[FieldSpecs] = (
        ("port", "int32", 1, 8, False),
        ("host", "string", 1, 8, False),
        ("listener", "string", 3, 8, False),
        ("security_protocol", "int16", 1, 8, False),
    )

    def __init__(
        self,
        port: int = 0,
        host: str = "",
        listener: str = "",
        security_protocol: int = 0,
    ) -> None:
        self.port = port
        self.host = host
        self.listener = listener
        self.security_protocol = security_protocol  # 0 PLAINTEXT, 1 SSL, 2 SASL_PLAINTEXT, 3 SASL_SSL


class UpdateMetadataBroker(WireStruct):
    __slots__ = (
        "id",
        "v0_host",
        "v0_port",
        "endpoints",
        "rack",
    )
    FIELDS: ClassVar[FieldSpecs] = (
        ("id", "int32", 0, 8, False),
        ("v0_host", "string", 0, 0, False),
        ("v0_port", "int32", 0, 0, False),
        ("endpoints", "[UpdateMetadataEndpoint]", 1, 8, False),
        ("rack", "string", 2, 8, True),
    )

    def __init__(
        self,
        id: int = 0,
        v0_host: str = "",
        v0_port: int = 0,
        endpoints: list[UpdateMetadataEndpoint] = EMPTY,
        rack: str | None = "",
    ) -> None:
        self.id = id
        self.v0_host = v0_host
        self.v0_port = v0_port
        self.endpoints = [] if endpoints is EMPTY else endpoints
        self.rack = rack


class UpdateMetadataRequest(Request["UpdateMetadataResponse"]):
    __slots__ = (
        "controller_id",
        "is_kraft_controller",
        "type",
        "controller_epoch",
        "broker_epoch",
        "ungrouped_partition_states",
        "topic_states",
        "live_brokers",
    )
    API_KEY: ClassVar[int] = 6
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 8
    FLEXIBLE_FROM: ClassVar[int] = 6
    FIELDS: ClassVar[FieldSpecs] = (
        ("controller_id", "int32", 0, 8, False),
        ("is_kraft_controller", "bool", 8, 8, False),
        ("type", "int8", 8, 8, False),
        ("controller_epoch", "int32", 0, 8, False),
        ("broker_epoch", "int64", 5, 8, False),
        ("ungrouped_partition_states", "[UpdateMetadataPartitionState]", 0, 4, False),
        ("topic_states", "[UpdateMetadataTopicState]", 5, 8, False),
        ("live_brokers", "[UpdateMetadataBroker]", 0, 8, False),
    )

    def __init__(
        self,
        controller_id: int = 0,
        is_kraft_controller: bool = False,
        type: int = 0,
        controller_epoch: int = 0,
        broker_epoch: int = -1,
        ungrouped_partition_states: list[UpdateMetadataPartitionState] = EMPTY,
        topic_states: list[UpdateMetadataTopicState] = EMPTY,
        live_brokers: list[UpdateMetadataBroker] = EMPTY,
    ) -> None:
        self.controller_id = controller_id
        self.is_kraft_controller = is_kraft_controller
        self.type = type  # 0 unknown, 1 incremental, 2 full
        self.controller_epoch = controller_epoch
        self.broker_epoch = broker_epoch
        self.ungrouped_partition_states = [] if ungrouped_partition_states is EMPTY else ungrouped_partition_states
        self.topic_states = [] if topic_states is EMPTY else topic_states
        self.live_brokers = [] if live_brokers is EMPTY else live_brokers


class UpdateMetadataResponse(Message):
    __slots__ = (
        "error_code",
    )
    API_KEY: ClassVar[int] = 6
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 8
    FLEXIBLE_FROM: ClassVar[int] = 6
    FIELDS: ClassVar[FieldSpecs] = (
        ("error_code", "int16", 0, 8, False),
    )

    def __init__(
        self,
        error_code: int = 0,
    ) -> None:
        self.error_code = error_code


def _read_update_metadata_partition_state_v0(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[UpdateMetadataPartitionState], int]:
    if count * 30 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 528
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[UpdateMetadataPartitionState] = []
    for _ in range(count):
        o = new(UpdateMetadataPartitionState)
        o.offline_replicas = []
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
        o.zk_version, n = _unpack_ii(buf, pos)
        pos += 8
        if n < 0:
            raise unexpected_null(pos, "replicas")
        o.replicas, pos = read_int32s(buf, pos, end, n, budget)
        items.append(o)
    return items, pos


def _read_update_metadata_broker_v0(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[UpdateMetadataBroker], int]:
    if count * 10 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 272
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[UpdateMetadataBroker] = []
    for _ in range(count):
        o = new(UpdateMetadataBroker)
        o.endpoints = []
        o.rack = ""
        o.id, n = _unpack_ih(buf, pos)
        pos += 6
        if n < 0:
            raise unexpected_null(pos, "v0_host")
        q = pos + n
        if q > end:
            raise overrun(pos, n)
        o.v0_host = str(buf[pos:q], "utf-8")
        pos = q
        (o.v0_port,) = _unpack_i(buf, pos)
        pos += 4
        items.append(o)
    return items, pos


def _decode_update_metadata_request_v0(buf: memoryview, pos: int, end: int, budget: list[int]) -> UpdateMetadataRequest:
    o = new(UpdateMetadataRequest)
    o.is_kraft_controller = False
    o.type = 0
    o.broker_epoch = -1
    o.topic_states = []
    o.controller_id, o.controller_epoch, n = _unpack_iii(buf, pos)
    pos += 12
    if n < 0:
        raise unexpected_null(pos, "ungrouped_partition_states")
    o.ungrouped_partition_states, pos = _read_update_metadata_partition_state_v0(buf, pos, end, n, budget)
    (n,) = _unpack_i(buf, pos)
    pos += 4
    if n < 0:
        raise unexpected_null(pos, "live_brokers")
    o.live_brokers, pos = _read_update_metadata_broker_v0(buf, pos, end, n, budget)
    return o


def _write_update_metadata_partition_state_v0(
    out: bytearray, items: Sequence[UpdateMetadataPartitionState]
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
        out += _pack_ii(o.zk_version, n)
        out += int32_elements(o.replicas)


def _write_update_metadata_broker_v0(
    out: bytearray, items: Sequence[UpdateMetadataBroker]
) -> None:
    for o in items:
        s = o.v0_host.encode()
        n = len(s)
        out += _pack_ih(o.id, n)
        out += s
        out += _pack_i(o.v0_port)


def _encode_update_metadata_request_v0(o: UpdateMetadataRequest) -> list[Part]:
    out = bytearray()
    n = len(o.ungrouped_partition_states)
    out += _pack_iii(o.controller_id, o.controller_epoch, n)
    _write_update_metadata_partition_state_v0(out, o.ungrouped_partition_states)
    n = len(o.live_brokers)
    out += _pack_i(n)
    _write_update_metadata_broker_v0(out, o.live_brokers)
    return [out]


def _read_update_metadata_endpoint_v1(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[UpdateMetadataEndpoint], int]:
    if count * 8 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 200
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[UpdateMetadataEndpoint] = []
    for _ in range(count):
        o = new(UpdateMetadataEndpoint)
        o.listener = ""
        o.port, n = _unpack_ih(buf, pos)
        pos += 6
        if n < 0:
            raise unexpected_null(pos, "host")
        q = pos + n
        if q > end:
            raise overrun(pos, n)
        o.host = str(buf[pos:q], "utf-8")
        pos = q
        (o.security_protocol,) = _unpack_h(buf, pos)
        pos += 2
        items.append(o)
    return items, pos


def _read_update_metadata_broker_v1(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[UpdateMetadataBroker], int]:
    if count * 8 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 184
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[UpdateMetadataBroker] = []
    for _ in range(count):
        o = new(UpdateMetadataBroker)
        o.v0_host = ""
        o.v0_port = 0
        o.rack = ""
        o.id, n = _unpack_ii(buf, pos)
        pos += 8
        if n < 0:
            raise unexpected_null(pos, "endpoints")
        o.endpoints, pos = _read_update_metadata_endpoint_v1(buf, pos, end, n, budget)
        items.append(o)
    return items, pos


def _decode_update_metadata_request_v1(buf: memoryview, pos: int, end: int, budget: list[int]) -> UpdateMetadataRequest:
    o = new(UpdateMetadataRequest)
    o.is_kraft_controller = False
    o.type = 0
    o.broker_epoch = -1
    o.topic_states = []
    o.controller_id, o.controller_epoch, n = _unpack_iii(buf, pos)
    pos += 12
    if n < 0:
        raise unexpected_null(pos, "ungrouped_partition_states")
    o.ungrouped_partition_states, pos = _read_update_metadata_partition_state_v0(buf, pos, end, n, budget)
    (n,) = _unpack_i(buf, pos)
    pos += 4
    if n < 0:
        raise unexpected_null(pos, "live_brokers")
    o.live_brokers, pos = _read_update_metadata_broker_v1(buf, pos, end, n, budget)
    return o


def _write_update_metadata_endpoint_v1(
    out: bytearray, items: Sequence[UpdateMetadataEndpoint]
) -> None:
    for o in items:
        s = o.host.encode()
        n = len(s)
        out += _pack_ih(o.port, n)
        out += s
        out += _pack_h(o.security_protocol)


def _write_update_metadata_broker_v1(
    out: bytearray, items: Sequence[UpdateMetadataBroker]
) -> None:
    for o in items:
        n = len(o.endpoints)
        out += _pack_ii(o.id, n)
        _write_update_metadata_endpoint_v1(out, o.endpoints)


def _encode_update_metadata_request_v1(o: UpdateMetadataRequest) -> list[Part]:
    out = bytearray()
    n = len(o.ungrouped_partition_states)
    out += _pack_iii(o.controller_id, o.controller_epoch, n)
    _write_update_metadata_partition_state_v0(out, o.ungrouped_partition_states)
    n = len(o.live_brokers)
    out += _pack_i(n)
    _write_update_metadata_broker_v1(out, o.live_brokers)
    return [out]


def _read_update_metadata_broker_v2(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[UpdateMetadataBroker], int]:
    if count * 10 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 240
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[UpdateMetadataBroker] = []
    for _ in range(count):
        o = new(UpdateMetadataBroker)
        o.v0_host = ""
        o.v0_port = 0
        o.id, n = _unpack_ii(buf, pos)
        pos += 8
        if n < 0:
            raise unexpected_null(pos, "endpoints")
        o.endpoints, pos = _read_update_metadata_endpoint_v1(buf, pos, end, n, budget)
        (n,) = _unpack_h(buf, pos)
        pos += 2
        if n < 0:
            o.rack = None
        else:
            q = pos + n
            if q > end:
                raise overrun(pos, n)
            o.rack = str(buf[pos:q], "utf-8")
            pos = q
        items.append(o)
    return items, pos


def _decode_update_metadata_request_v2(buf: memoryview, pos: int, end: int, budget: list[int]) -> UpdateMetadataRequest:
    o = new(UpdateMetadataRequest)
    o.is_kraft_controller = False
    o.type = 0
    o.broker_epoch = -1
    o.topic_states = []
    o.controller_id, o.controller_epoch, n = _unpack_iii(buf, pos)
    pos += 12
    if n < 0:
        raise unexpected_null(pos, "ungrouped_partition_states")
    o.ungrouped_partition_states, pos = _read_update_metadata_partition_state_v0(buf, pos, end, n, budget)
    (n,) = _unpack_i(buf, pos)
    pos += 4
    if n < 0:
        raise unexpected_null(pos, "live_brokers")
    o.live_brokers, pos = _read_update_metadata_broker_v2(buf, pos, end, n, budget)
    return o


def _write_update_metadata_broker_v2(
    out: bytearray, items: Sequence[UpdateMetadataBroker]
) -> None:
    for o in items:
        n = len(o.endpoints)
        out += _pack_ii(o.id, n)
        _write_update_metadata_endpoint_v1(out, o.endpoints)
        if o.rack is None:
            n = -1
            s = b""
        else:
            s = o.rack.encode()
            n = len(s)
        out += _pack_h(n)
        out += s


def _encode_update_metadata_request_v2(o: UpdateMetadataRequest) -> list[Part]:
    out = bytearray()
    n = len(o.ungrouped_partition_states)
    out += _pack_iii(o.controller_id, o.controller_epoch, n)
    _write_update_metadata_partition_state_v0(out, o.ungrouped_partition_states)
    n = len(o.live_brokers)
    out += _pack_i(n)
    _write_update_metadata_broker_v2(out, o.live_brokers)
    return [out]


def _read_update_metadata_endpoint_v3(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[UpdateMetadataEndpoint], int]:
    if count * 10 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 256
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[UpdateMetadataEndpoint] = []
    for _ in range(count):
        o = new(UpdateMetadataEndpoint)
        o.port, n = _unpack_ih(buf, pos)
        pos += 6
        if n < 0:
            raise unexpected_null(pos, "host")
        q = pos + n
        if q > end:
            raise overrun(pos, n)
        o.host = str(buf[pos:q], "utf-8")
        pos = q
        (n,) = _unpack_h(buf, pos)
        pos += 2
        if n < 0:
            raise unexpected_null(pos, "listener")
        q = pos + n
        if q > end:
            raise overrun(pos, n)
        o.listener = str(buf[pos:q], "utf-8")
        pos = q
        (o.security_protocol,) = _unpack_h(buf, pos)
        pos += 2
        items.append(o)
    return items, pos


def _read_update_metadata_broker_v3(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[UpdateMetadataBroker], int]:
    if count * 10 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 240
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[UpdateMetadataBroker] = []
    for _ in range(count):
        o = new(UpdateMetadataBroker)
        o.v0_host = ""
        o.v0_port = 0
        o.id, n = _unpack_ii(buf, pos)
        pos += 8
        if n < 0:
            raise unexpected_null(pos, "endpoints")
        o.endpoints, pos = _read_update_metadata_endpoint_v3(buf, pos, end, n, budget)
        (n,) = _unpack_h(buf, pos)
        pos += 2
        if n < 0:
            o.rack = None
        else:
            q = pos + n
            if q > end:
                raise overrun(pos, n)
            o.rack = str(buf[pos:q], "utf-8")
            pos = q
        items.append(o)
    return items, pos


def _decode_update_metadata_request_v3(buf: memoryview, pos: int, end: int, budget: list[int]) -> UpdateMetadataRequest:
    o = new(UpdateMetadataRequest)
    o.is_kraft_controller = False
    o.type = 0
    o.broker_epoch = -1
    o.topic_states = []
    o.controller_id, o.controller_epoch, n = _unpack_iii(buf, pos)
    pos += 12
    if n < 0:
        raise unexpected_null(pos, "ungrouped_partition_states")
    o.ungrouped_partition_states, pos = _read_update_metadata_partition_state_v0(buf, pos, end, n, budget)
    (n,) = _unpack_i(buf, pos)
    pos += 4
    if n < 0:
        raise unexpected_null(pos, "live_brokers")
    o.live_brokers, pos = _read_update_metadata_broker_v3(buf, pos, end, n, budget)
    return o


def _write_update_metadata_endpoint_v3(
    out: bytearray, items: Sequence[UpdateMetadataEndpoint]
) -> None:
    for o in items:
        s = o.host.encode()
        n = len(s)
        out += _pack_ih(o.port, n)
        out += s
        s = o.listener.encode()
        n = len(s)
        out += _pack_h(n)
        out += s
        out += _pack_h(o.security_protocol)


def _write_update_metadata_broker_v3(
    out: bytearray, items: Sequence[UpdateMetadataBroker]
) -> None:
    for o in items:
        n = len(o.endpoints)
        out += _pack_ii(o.id, n)
        _write_update_metadata_endpoint_v3(out, o.endpoints)
        if o.rack is None:
            n = -1
            s = b""
        else:
            s = o.rack.encode()
            n = len(s)
        out += _pack_h(n)
        out += s


def _encode_update_metadata_request_v3(o: UpdateMetadataRequest) -> list[Part]:
    out = bytearray()
    n = len(o.ungrouped_partition_states)
    out += _pack_iii(o.controller_id, o.controller_epoch, n)
    _write_update_metadata_partition_state_v0(out, o.ungrouped_partition_states)
    n = len(o.live_brokers)
    out += _pack_i(n)
    _write_update_metadata_broker_v3(out, o.live_brokers)
    return [out]


def _read_update_metadata_partition_state_v4(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[UpdateMetadataPartitionState], int]:
    if count * 34 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 528
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[UpdateMetadataPartitionState] = []
    for _ in range(count):
        o = new(UpdateMetadataPartitionState)
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
        o.zk_version, n = _unpack_ii(buf, pos)
        pos += 8
        if n < 0:
            raise unexpected_null(pos, "replicas")
        o.replicas, pos = read_int32s(buf, pos, end, n, budget)
        (n,) = _unpack_i(buf, pos)
        pos += 4
        if n < 0:
            raise unexpected_null(pos, "offline_replicas")
        o.offline_replicas, pos = read_int32s(buf, pos, end, n, budget)
        items.append(o)
    return items, pos


def _decode_update_metadata_request_v4(buf: memoryview, pos: int, end: int, budget: list[int]) -> UpdateMetadataRequest:
    o = new(UpdateMetadataRequest)
    o.is_kraft_controller = False
    o.type = 0
    o.broker_epoch = -1
    o.topic_states = []
    o.controller_id, o.controller_epoch, n = _unpack_iii(buf, pos)
    pos += 12
    if n < 0:
        raise unexpected_null(pos, "ungrouped_partition_states")
    o.ungrouped_partition_states, pos = _read_update_metadata_partition_state_v4(buf, pos, end, n, budget)
    (n,) = _unpack_i(buf, pos)
    pos += 4
    if n < 0:
        raise unexpected_null(pos, "live_brokers")
    o.live_brokers, pos = _read_update_metadata_broker_v3(buf, pos, end, n, budget)
    return o


def _write_update_metadata_partition_state_v4(
    out: bytearray, items: Sequence[UpdateMetadataPartitionState]
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
        out += _pack_ii(o.zk_version, n)
        out += int32_elements(o.replicas)
        n = len(o.offline_replicas)
        out += _pack_i(n)
        out += int32_elements(o.offline_replicas)


def _encode_update_metadata_request_v4(o: UpdateMetadataRequest) -> list[Part]:
    out = bytearray()
    n = len(o.ungrouped_partition_states)
    out += _pack_iii(o.controller_id, o.controller_epoch, n)
    _write_update_metadata_partition_state_v4(out, o.ungrouped_partition_states)
    n = len(o.live_brokers)
    out += _pack_i(n)
    _write_update_metadata_broker_v3(out, o.live_brokers)
    return [out]


def _read_update_metadata_partition_state_v5(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[UpdateMetadataPartitionState], int]:
    if count * 32 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 472
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[UpdateMetadataPartitionState] = []
    for _ in range(count):
        o = new(UpdateMetadataPartitionState)
        o.topic_name = ""
        o.partition_index, o.controller_epoch, o.leader, o.leader_epoch, n = _unpack_iiiii(buf, pos)
        pos += 20
        if n < 0:
            raise unexpected_null(pos, "isr")
        o.isr, pos = read_int32s(buf, pos, end, n, budget)
        o.zk_version, n = _unpack_ii(buf, pos)
        pos += 8
        if n < 0:
            raise unexpected_null(pos, "replicas")
        o.replicas, pos = read_int32s(buf, pos, end, n, budget)
        (n,) = _unpack_i(buf, pos)
        pos += 4
        if n < 0:
            raise unexpected_null(pos, "offline_replicas")
        o.offline_replicas, pos = read_int32s(buf, pos, end, n, budget)
        items.append(o)
    return items, pos


def _read_update_metadata_topic_state_v5(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[UpdateMetadataTopicState], int]:
    if count * 6 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 192
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[UpdateMetadataTopicState] = []
    for _ in range(count):
        o = new(UpdateMetadataTopicState)
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
        o.partition_states, pos = _read_update_metadata_partition_state_v5(buf, pos, end, n, budget)
        items.append(o)
    return items, pos


def _decode_update_metadata_request_v5(buf: memoryview, pos: int, end: int, budget: list[int]) -> UpdateMetadataRequest:
    o = new(UpdateMetadataRequest)
    o.is_kraft_controller = False
    o.type = 0
    o.ungrouped_partition_states = []
    o.controller_id, o.controller_epoch, o.broker_epoch, n = _unpack_iiqi(buf, pos)
    pos += 20
    if n < 0:
        raise unexpected_null(pos, "topic_states")
    o.topic_states, pos = _read_update_metadata_topic_state_v5(buf, pos, end, n, budget)
    (n,) = _unpack_i(buf, pos)
    pos += 4
    if n < 0:
        raise unexpected_null(pos, "live_brokers")
    o.live_brokers, pos = _read_update_metadata_broker_v3(buf, pos, end, n, budget)
    return o


def _write_update_metadata_partition_state_v5(
    out: bytearray, items: Sequence[UpdateMetadataPartitionState]
) -> None:
    for o in items:
        n = len(o.isr)
        out += _pack_iiiii(o.partition_index, o.controller_epoch, o.leader, o.leader_epoch, n)
        out += int32_elements(o.isr)
        n = len(o.replicas)
        out += _pack_ii(o.zk_version, n)
        out += int32_elements(o.replicas)
        n = len(o.offline_replicas)
        out += _pack_i(n)
        out += int32_elements(o.offline_replicas)


def _write_update_metadata_topic_state_v5(
    out: bytearray, items: Sequence[UpdateMetadataTopicState]
) -> None:
    for o in items:
        s = o.topic_name.encode()
        n = len(s)
        out += _pack_h(n)
        out += s
        n = len(o.partition_states)
        out += _pack_i(n)
        _write_update_metadata_partition_state_v5(out, o.partition_states)


def _encode_update_metadata_request_v5(o: UpdateMetadataRequest) -> list[Part]:
    out = bytearray()
    n = len(o.topic_states)
    out += _pack_iiqi(o.controller_id, o.controller_epoch, o.broker_epoch, n)
    _write_update_metadata_topic_state_v5(out, o.topic_states)
    n = len(o.live_brokers)
    out += _pack_i(n)
    _write_update_metadata_broker_v3(out, o.live_brokers)
    return [out]


def _read_update_metadata_partition_state_v6(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[UpdateMetadataPartitionState], int]:
    if count * 24 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 472
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[UpdateMetadataPartitionState] = []
    for _ in range(count):
        o = new(UpdateMetadataPartitionState)
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
        (o.zk_version,) = _unpack_i(buf, pos)
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
            raise unexpected_null(pos, "offline_replicas")
        o.offline_replicas, pos = read_int32s(buf, pos, end, n, budget)
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tags(buf, pos, end)
        items.append(o)
    return items, pos


def _read_update_metadata_topic_state_v6(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[UpdateMetadataTopicState], int]:
    if count * 3 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 192
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[UpdateMetadataTopicState] = []
    for _ in range(count):
        o = new(UpdateMetadataTopicState)
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
        o.partition_states, pos = _read_update_metadata_partition_state_v6(buf, pos, end, n, budget)
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tags(buf, pos, end)
        items.append(o)
    return items, pos


def _read_update_metadata_endpoint_v6(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[UpdateMetadataEndpoint], int]:
    if count * 9 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 256
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[UpdateMetadataEndpoint] = []
    for _ in range(count):
        o = new(UpdateMetadataEndpoint)
        (o.port,) = _unpack_i(buf, pos)
        pos += 4
        n = buf[pos]
        pos += 1
        if n > 127:
            n, pos = read_long_string_length(buf, pos)
        n -= 1
        if n < 0:
            raise unexpected_null(pos, "host")
        q = pos + n
        if q > end:
            raise overrun(pos, n)
        o.host = str(buf[pos:q], "utf-8")
        pos = q
        n = buf[pos]
        pos += 1
        if n > 127:
            n, pos = read_long_string_length(buf, pos)
        n -= 1
        if n < 0:
            raise unexpected_null(pos, "listener")
        q = pos + n
        if q > end:
            raise overrun(pos, n)
        o.listener = str(buf[pos:q], "utf-8")
        pos = q
        (o.security_protocol,) = _unpack_h(buf, pos)
        pos += 2
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tags(buf, pos, end)
        items.append(o)
    return items, pos


def _read_update_metadata_broker_v6(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[UpdateMetadataBroker], int]:
    if count * 7 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 240
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[UpdateMetadataBroker] = []
    for _ in range(count):
        o = new(UpdateMetadataBroker)
        o.v0_host = ""
        o.v0_port = 0
        (o.id,) = _unpack_i(buf, pos)
        pos += 4
        n = buf[pos]
        pos += 1
        if n > 127:
            n, pos = read_long_uvarint(buf, pos)
        n -= 1
        if n < 0:
            raise unexpected_null(pos, "endpoints")
        o.endpoints, pos = _read_update_metadata_endpoint_v6(buf, pos, end, n, budget)
        n = buf[pos]
        pos += 1
        if n > 127:
            n, pos = read_long_string_length(buf, pos)
        n -= 1
        if n < 0:
            o.rack = None
        else:
            q = pos + n
            if q > end:
                raise overrun(pos, n)
            o.rack = str(buf[pos:q], "utf-8")
            pos = q
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tags(buf, pos, end)
        items.append(o)
    return items, pos


def _decode_update_metadata_request_v6(buf: memoryview, pos: int, end: int, budget: list[int]) -> UpdateMetadataRequest:
    o = new(UpdateMetadataRequest)
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
    o.topic_states, pos = _read_update_metadata_topic_state_v6(buf, pos, end, n, budget)
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_long_uvarint(buf, pos)
    n -= 1
    if n < 0:
        raise unexpected_null(pos, "live_brokers")
    o.live_brokers, pos = _read_update_metadata_broker_v6(buf, pos, end, n, budget)
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tags(buf, pos, end)
    return o


def _write_update_metadata_partition_state_v6(
    out: bytearray, items: Sequence[UpdateMetadataPartitionState]
) -> None:
    for o in items:
        out += _pack_iiii(o.partition_index, o.controller_epoch, o.leader, o.leader_epoch)
        n = len(o.isr) + 1
        out += UVARINTS[n] if n < 128 else uvarint(n)
        out += int32_elements(o.isr)
        out += _pack_i(o.zk_version)
        n = len(o.replicas) + 1
        out += UVARINTS[n] if n < 128 else uvarint(n)
        out += int32_elements(o.replicas)
        n = len(o.offline_replicas) + 1
        out += UVARINTS[n] if n < 128 else uvarint(n)
        out += int32_elements(o.offline_replicas)
        out.append(0)


def _write_update_metadata_topic_state_v6(
    out: bytearray, items: Sequence[UpdateMetadataTopicState]
) -> None:
    for o in items:
        s = o.topic_name.encode()
        n = len(s) + 1
        out += UVARINTS[n] if n < 128 else long_string_length(n)
        out += s
        n = len(o.partition_states) + 1
        out += UVARINTS[n] if n < 128 else uvarint(n)
        _write_update_metadata_partition_state_v6(out, o.partition_states)
        out.append(0)


def _write_update_metadata_endpoint_v6(
    out: bytearray, items: Sequence[UpdateMetadataEndpoint]
) -> None:
    for o in items:
        out += _pack_i(o.port)
        s = o.host.encode()
        n = len(s) + 1
        out += UVARINTS[n] if n < 128 else long_string_length(n)
        out += s
        s = o.listener.encode()
        n = len(s) + 1
        out += UVARINTS[n] if n < 128 else long_string_length(n)
        out += s
        out += _pack_h(o.security_protocol)
        out.append(0)


def _write_update_metadata_broker_v6(
    out: bytearray, items: Sequence[UpdateMetadataBroker]
) -> None:
    for o in items:
        out += _pack_i(o.id)
        n = len(o.endpoints) + 1
        out += UVARINTS[n] if n < 128 else uvarint(n)
        _write_update_metadata_endpoint_v6(out, o.endpoints)
        if o.rack is None:
            out.append(0)
        else:
            s = o.rack.encode()
            n = len(s) + 1
            out += UVARINTS[n] if n < 128 else long_string_length(n)
            out += s
        out.append(0)


def _encode_update_metadata_request_v6(o: UpdateMetadataRequest) -> list[Part]:
    out = bytearray()
    out += _pack_iiq(o.controller_id, o.controller_epoch, o.broker_epoch)
    n = len(o.topic_states) + 1
    out += UVARINTS[n] if n < 128 else uvarint(n)
    _write_update_metadata_topic_state_v6(out, o.topic_states)
    n = len(o.live_brokers) + 1
    out += UVARINTS[n] if n < 128 else uvarint(n)
    _write_update_metadata_broker_v6(out, o.live_brokers)
    out.append(0)
    return [out]


def _read_update_metadata_topic_state_v7(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[UpdateMetadataTopicState], int]:
    if count * 19 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 248
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[UpdateMetadataTopicState] = []
    for _ in range(count):
        o = new(UpdateMetadataTopicState)
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
        o.partition_states, pos = _read_update_metadata_partition_state_v6(buf, pos, end, n, budget)
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tags(buf, pos, end)
        items.append(o)
    return items, pos


def _decode_update_metadata_request_v7(buf: memoryview, pos: int, end: int, budget: list[int]) -> UpdateMetadataRequest:
    o = new(UpdateMetadataRequest)
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
    o.topic_states, pos = _read_update_metadata_topic_state_v7(buf, pos, end, n, budget)
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_long_uvarint(buf, pos)
    n -= 1
    if n < 0:
        raise unexpected_null(pos, "live_brokers")
    o.live_brokers, pos = _read_update_metadata_broker_v6(buf, pos, end, n, budget)
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tags(buf, pos, end)
    return o


def _write_update_metadata_topic_state_v7(
    out: bytearray, items: Sequence[UpdateMetadataTopicState]
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
        _write_update_metadata_partition_state_v6(out, o.partition_states)
        out.append(0)


def _encode_update_metadata_request_v7(o: UpdateMetadataRequest) -> list[Part]:
    out = bytearray()
    out += _pack_iiq(o.controller_id, o.controller_epoch, o.broker_epoch)
    n = len(o.topic_states) + 1
    out += UVARINTS[n] if n < 128 else uvarint(n)
    _write_update_metadata_topic_state_v7(out, o.topic_states)
    n = len(o.live_brokers) + 1
    out += UVARINTS[n] if n < 128 else uvarint(n)
    _write_update_metadata_broker_v6(out, o.live_brokers)
    out.append(0)
    return [out]


def _decode_update_metadata_request_v8(buf: memoryview, pos: int, end: int, budget: list[int]) -> UpdateMetadataRequest:
    o = new(UpdateMetadataRequest)
    o.ungrouped_partition_states = []
    o.controller_id, o.is_kraft_controller, o.controller_epoch, o.broker_epoch = _unpack_itiq(buf, pos)
    pos += 17
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_long_uvarint(buf, pos)
    n -= 1
    if n < 0:
        raise unexpected_null(pos, "topic_states")
    o.topic_states, pos = _read_update_metadata_topic_state_v7(buf, pos, end, n, budget)
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_long_uvarint(buf, pos)
    n -= 1
    if n < 0:
        raise unexpected_null(pos, "live_brokers")
    o.live_brokers, pos = _read_update_metadata_broker_v6(buf, pos, end, n, budget)
    o.type = 0
    if buf[pos] == 0:
        pos += 1
    else:
        tags, pos = read_tag_count(buf, pos, end)
        for _ in range(tags):
            tag, pos, stop = read_tag(buf, pos, end)
            if tag == 0:
                (o.type,) = _unpack_b(buf, pos)
                pos += 1
                if pos != stop:
                    raise bad_tag(stop, "type")
            else:
                pos = stop
    return o


def _encode_update_metadata_request_v8(o: UpdateMetadataRequest) -> list[Part]:
    out = bytearray()
    out += _pack_itiq(o.controller_id, o.is_kraft_controller, o.controller_epoch, o.broker_epoch)
    n = len(o.topic_states) + 1
    out += UVARINTS[n] if n < 128 else uvarint(n)
    _write_update_metadata_topic_state_v7(out, o.topic_states)
    n = len(o.live_brokers) + 1
    out += UVARINTS[n] if n < 128 else uvarint(n)
    _write_update_metadata_broker_v6(out, o.live_brokers)
    if o.type != 0:
        t = bytearray()
        t += _pack_b(o.type)
        write_tags(out, [(0, t)])
    else:
        out.append(0)
    return [out]


def _decode_update_metadata_response_v0(buf: memoryview, pos: int, end: int, budget: list[int]) -> UpdateMetadataResponse:
    o = new(UpdateMetadataResponse)
    (o.error_code,) = _unpack_h(buf, pos)
    pos += 2
    return o


def _encode_update_metadata_response_v0(o: UpdateMetadataResponse) -> list[Part]:
    out = bytearray()
    out += _pack_h(o.error_code)
    return [out]


def _decode_update_metadata_response_v6(buf: memoryview, pos: int, end: int, budget: list[int]) -> UpdateMetadataResponse:
    o = new(UpdateMetadataResponse)
    (o.error_code,) = _unpack_h(buf, pos)
    pos += 2
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tags(buf, pos, end)
    return o


def _encode_update_metadata_response_v6(o: UpdateMetadataResponse) -> list[Part]:
    out = bytearray()
    out += _pack_h(o.error_code)
    out.append(0)
    return [out]


UpdateMetadataRequest.DECODERS = {
    0: _decode_update_metadata_request_v0,
    1: _decode_update_metadata_request_v1,
    2: _decode_update_metadata_request_v2,
    3: _decode_update_metadata_request_v3,
    4: _decode_update_metadata_request_v4,
    5: _decode_update_metadata_request_v5,
    6: _decode_update_metadata_request_v6,
    7: _decode_update_metadata_request_v7,
    8: _decode_update_metadata_request_v8,
}
UpdateMetadataRequest.ENCODERS = {
    0: _encode_update_metadata_request_v0,
    1: _encode_update_metadata_request_v1,
    2: _encode_update_metadata_request_v2,
    3: _encode_update_metadata_request_v3,
    4: _encode_update_metadata_request_v4,
    5: _encode_update_metadata_request_v5,
    6: _encode_update_metadata_request_v6,
    7: _encode_update_metadata_request_v7,
    8: _encode_update_metadata_request_v8,
}
UpdateMetadataResponse.DECODERS = {
    0: _decode_update_metadata_response_v0,
    1: _decode_update_metadata_response_v0,
    2: _decode_update_metadata_response_v0,
    3: _decode_update_metadata_response_v0,
    4: _decode_update_metadata_response_v0,
    5: _decode_update_metadata_response_v0,
    6: _decode_update_metadata_response_v6,
    7: _decode_update_metadata_response_v6,
    8: _decode_update_metadata_response_v6,
}
UpdateMetadataResponse.ENCODERS = {
    0: _encode_update_metadata_response_v0,
    1: _encode_update_metadata_response_v0,
    2: _encode_update_metadata_response_v0,
    3: _encode_update_metadata_response_v0,
    4: _encode_update_metadata_response_v0,
    5: _encode_update_metadata_response_v0,
    6: _encode_update_metadata_response_v6,
    7: _encode_update_metadata_response_v6,
    8: _encode_update_metadata_response_v6,
}
