"""Brokers, controller and partition leaders, as clients need them for routing.

Generated from schemas/metadata.msg by codegen; edit that and run it again.
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
_pack_ut = Struct(">16s?").pack
_pack_t = Struct(">?").pack
_pack_tt = Struct(">??").pack
_pack_ttt = Struct(">???").pack
_pack_ti = Struct(">?i").pack
_pack_h = Struct(">h").pack
_pack_hh = Struct(">hh").pack
_pack_hiii = Struct(">hiii").pack
_pack_hiiii = Struct(">hiiii").pack
_pack_i = Struct(">i").pack
_pack_ih = Struct(">ih").pack
_pack_ii = Struct(">ii").pack
_unpack_u = Struct(">16s").unpack_from
_unpack_ut = Struct(">16s?").unpack_from
_unpack_tt = Struct(">??").unpack_from
_unpack_ttt = Struct(">???").unpack_from
_unpack_ti = Struct(">?i").unpack_from
_unpack_h = Struct(">h").unpack_from
_unpack_hh = Struct(">hh").unpack_from
_unpack_hiii = Struct(">hiii").unpack_from
_unpack_hiiii = Struct(">hiiii").unpack_from
_unpack_i = Struct(">i").unpack_from
_unpack_ih = Struct(">ih").unpack_from
_unpack_ii = Struct(">ii").unpack_from


class MetadataRequestTopic(WireStruct):
    __slots__ = (
        "topic_id",
        "name",
    )
    FIELDS: ClassVar[FieldSpecs] = (
        ("topic_id", "uuid", 10, 13, False),
        ("name", "string", 0, 13, True),
    )

    def __init__(
        self,
        topic_id: Uuid = ZERO_UUID,
        name: str | None = "",
    ) -> None:
        self.topic_id = topic_id
        self.name = name  # null when asked by topic_id


class MetadataResponseBroker(WireStruct):
    __slots__ = (
        "node_id",
        "host",
        "port",
        "rack",
    )
    FIELDS: ClassVar[FieldSpecs] = (
        ("node_id", "int32", 0, 13, False),
        ("host", "string", 0, 13, False),
        ("port", "int32", 0, 13, False),
        ("rack", "string", 1, 13, True),
    )

    def __init__(
        self,
        node_id: int = 0,
        host: str = "",
        port: int = 0,
        rack: str | None = None,
    ) -> None:
        self.node_id = node_id
        self.host = host
        self.port = port
        self.rack = rack


class MetadataResponsePartition(WireStruct):
    __slots__ = (
        "error_code",
        "partition_index",
        "leader_id",
        "leader_epoch",
        "replica_nodes",
        "isr_nodes",
        "offline_replicas",
    )
    FIELDS: ClassVar[FieldSpecs] = (
        ("error_code", "int16", 0, 13, False),
        ("partition_index", "int32", 0, 13, False),
        ("leader_id", "int32", 0, 13, False),
        ("leader_epoch", "int32", 7, 13, False),
        ("replica_nodes", "[int32]", 0, 13, False),
        ("isr_nodes", "[int32]", 0, 13, False),
        ("offline_replicas", "[int32]", 5, 13, False),
    )

    def __init__(
        self,
        error_code: int = 0,
        partition_index: int = 0,
        leader_id: int = 0,
        leader_epoch: int = -1,
        replica_nodes: list[int] = EMPTY,
        isr_nodes: list[int] = EMPTY,
        offline_replicas: list[int] = EMPTY,
    ) -> None:
        self.error_code = error_code
        self.partition_index = partition_index
        self.leader_id = leader_id  # -1 when there is no leader
        self.leader_epoch = leader_epoch
        self.replica_nodes = [] if replica_nodes is EMPTY else replica_nodes
        self.isr_nodes = [] if isr_nodes is EMPTY else isr_nodes
        self.offline_replicas = [] if offline_replicas is EMPTY else offline_replicas


class MetadataResponseTopic(WireStruct):
    __slots__ = (
        "error_code",
        "name",
        "topic_id",
        "is_internal",
        "partitions",
        "topic_authorized_operations",
    )
    FIELDS: ClassVar[FieldSpecs] = (
        ("error_code", "int16", 0, 13, False),
        ("name", "string", 0, 13, True),
        ("topic_id", "uuid", 10, 13, False),
        ("is_internal", "bool", 1, 13, False),
        ("partitions", "[MetadataResponsePartition]", 0, 13, False),
        ("topic_authorized_operations", "int32", 8, 13, False),
    )

    def __init__(
        self,
        error_code: int = 0,
        name: str | None = "",
        topic_id: Uuid = ZERO_UUID,
        is_internal: bool = False,
        partitions: list[MetadataResponsePartition] = EMPTY,
        topic_authorized_operations: int = -2147483648,
    ) -> None:
        self.error_code = error_code
        self.name = name
        self.topic_id = topic_id
        self.is_internal = is_internal
        self.partitions = [] if partitions is EMPTY else partitions
        self.topic_authorized_operations = topic_authorized_operations  # bit set; the minimum when not asked for


class MetadataRequest(Request["MetadataResponse"]):
    __slots__ = (
        "topics",
        "allow_auto_topic_creation",
        "include_cluster_authorized_operations",
        "include_topic_authorized_operations",
    )
    API_KEY: ClassVar[int] = 3
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 13
    FLEXIBLE_FROM: ClassVar[int] = 9
    FIELDS: ClassVar[FieldSpecs] = (
        ("topics", "[MetadataRequestTopic]", 0, 13, True),
        ("allow_auto_topic_creation", "bool", 4, 13, False),
        ("include_cluster_authorized_operations", "bool", 8, 10, False),
        ("include_topic_authorized_operations", "bool", 8, 13, False),
    )

    def __init__(
        self,
        topics: list[MetadataRequestTopic] | None = EMPTY,
        allow_auto_topic_creation: bool = True,
        include_cluster_authorized_operations: bool = False,
        include_topic_authorized_operations: bool = False,
    ) -> None:
        self.topics = [] if topics is EMPTY else topics  # null for all; in version 0 empty for all
        self.allow_auto_topic_creation = allow_auto_topic_creation
        self.include_cluster_authorized_operations = include_cluster_authorized_operations
        self.include_topic_authorized_operations = include_topic_authorized_operations


class MetadataResponse(Message):
    __slots__ = (
        "throttle_time_ms",
        "brokers",
        "cluster_id",
        "controller_id",
        "topics",
        "cluster_authorized_operations",
        "error_code",
    )
    API_KEY: ClassVar[int] = 3
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 13
    FLEXIBLE_FROM: ClassVar[int] = 9
    FIELDS: ClassVar[FieldSpecs] = (
        ("throttle_time_ms", "int32", 3, 13, False),
        ("brokers", "[MetadataResponseBroker]", 0, 13, False),
        ("cluster_id", "string", 2, 13, True),
        ("controller_id", "int32", 1, 13, False),
        ("topics", "[MetadataResponseTopic]", 0, 13, False),
        ("cluster_authorized_operations", "int32", 8, 10, False),
        ("error_code", "int16", 13, 13, False),
    )

    def __init__(
        self,
        throttle_time_ms: int = 0,
        brokers: list[MetadataResponseBroker] = EMPTY,
        cluster_id: str | None = None,
        controller_id: int = -1,
        topics: list[MetadataResponseTopic] = EMPTY,
        cluster_authorized_operations: int = -2147483648,
        error_code: int = 0,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.brokers = [] if brokers is EMPTY else brokers
        self.cluster_id = cluster_id
        self.controller_id = controller_id  # -1 when unknown
        self.topics = [] if topics is EMPTY else topics
        self.cluster_authorized_operations = cluster_authorized_operations  # bit set; the minimum when not asked for
        self.error_code = error_code


def _read_metadata_request_topic_v0(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[MetadataRequestTopic], int]:
    if count * 2 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 120
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[MetadataRequestTopic] = []
    for _ in range(count):
        o = new(MetadataRequestTopic)
        o.topic_id = ZERO_UUID
        (n,) = _unpack_h(buf, pos)
        pos += 2
        if n < 0:
            raise unexpected_null(pos, "name")
        q = pos + n
        if q > end:
            raise overrun(pos, n)
        o.name = str(buf[pos:q], "utf-8")
        pos = q
        items.append(o)
    return items, pos


def _decode_metadata_request_v0(buf: memoryview, pos: int, end: int, budget: list[int]) -> MetadataRequest:
    o = new(MetadataRequest)
    o.allow_auto_topic_creation = True
    o.include_cluster_authorized_operations = False
    o.include_topic_authorized_operations = False
    (n,) = _unpack_i(buf, pos)
    pos += 4
    if n < 0:
        raise unexpected_null(pos, "topics")
    o.topics, pos = _read_metadata_request_topic_v0(buf, pos, end, n, budget)
    return o


def _write_metadata_request_topic_v0(
    out: bytearray, items: Sequence[MetadataRequestTopic]
) -> None:
    for o in items:
        if o.name is None:
            raise LocalError("name must not be None in this version")
        s = o.name.encode()
        n = len(s)
        out += _pack_h(n)
        out += s


def _encode_metadata_request_v0(o: MetadataRequest) -> list[Part]:
    out = bytearray()
    if o.topics is None:
        raise LocalError("topics must not be None in this version")
    n = len(o.topics)
    out += _pack_i(n)
    _write_metadata_request_topic_v0(out, o.topics)
    return [out]


def _decode_metadata_request_v1(buf: memoryview, pos: int, end: int, budget: list[int]) -> MetadataRequest:
    o = new(MetadataRequest)
    o.allow_auto_topic_creation = True
    o.include_cluster_authorized_operations = False
    o.include_topic_authorized_operations = False
    (n,) = _unpack_i(buf, pos)
    pos += 4
    if n < 0:
        o.topics = None
    else:
        o.topics, pos = _read_metadata_request_topic_v0(buf, pos, end, n, budget)
    return o


def _encode_metadata_request_v1(o: MetadataRequest) -> list[Part]:
    out = bytearray()
    if o.topics is None:
        n = -1
    else:
        n = len(o.topics)
    out += _pack_i(n)
    if o.topics is not None:
        _write_metadata_request_topic_v0(out, o.topics)
    return [out]


def _decode_metadata_request_v4(buf: memoryview, pos: int, end: int, budget: list[int]) -> MetadataRequest:
    o = new(MetadataRequest)
    o.include_cluster_authorized_operations = False
    o.include_topic_authorized_operations = False
    (n,) = _unpack_i(buf, pos)
    pos += 4
    if n < 0:
        o.topics = None
    else:
        o.topics, pos = _read_metadata_request_topic_v0(buf, pos, end, n, budget)
    o.allow_auto_topic_creation = buf[pos] != 0
    pos += 1
    return o


def _encode_metadata_request_v4(o: MetadataRequest) -> list[Part]:
    out = bytearray()
    if o.topics is None:
        n = -1
    else:
        n = len(o.topics)
    out += _pack_i(n)
    if o.topics is not None:
        _write_metadata_request_topic_v0(out, o.topics)
    out += _pack_t(o.allow_auto_topic_creation)
    return [out]


def _decode_metadata_request_v8(buf: memoryview, pos: int, end: int, budget: list[int]) -> MetadataRequest:
    o = new(MetadataRequest)
    (n,) = _unpack_i(buf, pos)
    pos += 4
    if n < 0:
        o.topics = None
    else:
        o.topics, pos = _read_metadata_request_topic_v0(buf, pos, end, n, budget)
    o.allow_auto_topic_creation, o.include_cluster_authorized_operations, o.include_topic_authorized_operations = _unpack_ttt(buf, pos)
    pos += 3
    return o


def _encode_metadata_request_v8(o: MetadataRequest) -> list[Part]:
    out = bytearray()
    if o.topics is None:
        n = -1
    else:
        n = len(o.topics)
    out += _pack_i(n)
    if o.topics is not None:
        _write_metadata_request_topic_v0(out, o.topics)
    out += _pack_ttt(o.allow_auto_topic_creation, o.include_cluster_authorized_operations, o.include_topic_authorized_operations)
    return [out]


def _read_metadata_request_topic_v9(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[MetadataRequestTopic], int]:
    if count * 2 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 120
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[MetadataRequestTopic] = []
    for _ in range(count):
        o = new(MetadataRequestTopic)
        o.topic_id = ZERO_UUID
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
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tags(buf, pos, end)
        items.append(o)
    return items, pos


def _decode_metadata_request_v9(buf: memoryview, pos: int, end: int, budget: list[int]) -> MetadataRequest:
    o = new(MetadataRequest)
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_long_uvarint(buf, pos)
    n -= 1
    if n < 0:
        o.topics = None
    else:
        o.topics, pos = _read_metadata_request_topic_v9(buf, pos, end, n, budget)
    o.allow_auto_topic_creation, o.include_cluster_authorized_operations, o.include_topic_authorized_operations = _unpack_ttt(buf, pos)
    pos += 3
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tags(buf, pos, end)
    return o


def _write_metadata_request_topic_v9(
    out: bytearray, items: Sequence[MetadataRequestTopic]
) -> None:
    for o in items:
        if o.name is None:
            raise LocalError("name must not be None in this version")
        s = o.name.encode()
        n = len(s) + 1
        out += UVARINTS[n] if n < 128 else long_string_length(n)
        out += s
        out.append(0)


def _encode_metadata_request_v9(o: MetadataRequest) -> list[Part]:
    out = bytearray()
    if o.topics is None:
        out.append(0)
    else:
        n = len(o.topics) + 1
        out += UVARINTS[n] if n < 128 else uvarint(n)
        _write_metadata_request_topic_v9(out, o.topics)
    out += _pack_ttt(o.allow_auto_topic_creation, o.include_cluster_authorized_operations, o.include_topic_authorized_operations)
    out.append(0)
    return [out]


def _read_metadata_request_topic_v10(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[MetadataRequestTopic], int]:
    if count * 18 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 176
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[MetadataRequestTopic] = []
    for _ in range(count):
        o = new(MetadataRequestTopic)
        (raw_topic_id,) = _unpack_u(buf, pos)
        pos += 16
        o.topic_id = Uuid(raw_topic_id)
        n = buf[pos]
        pos += 1
        if n > 127:
            n, pos = read_long_string_length(buf, pos)
        n -= 1
        if n < 0:
            o.name = None
        else:
            q = pos + n
            if q > end:
                raise overrun(pos, n)
            o.name = str(buf[pos:q], "utf-8")
            pos = q
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tags(buf, pos, end)
        items.append(o)
    return items, pos


def _decode_metadata_request_v10(buf: memoryview, pos: int, end: int, budget: list[int]) -> MetadataRequest:
    o = new(MetadataRequest)
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_long_uvarint(buf, pos)
    n -= 1
    if n < 0:
        o.topics = None
    else:
        o.topics, pos = _read_metadata_request_topic_v10(buf, pos, end, n, budget)
    o.allow_auto_topic_creation, o.include_cluster_authorized_operations, o.include_topic_authorized_operations = _unpack_ttt(buf, pos)
    pos += 3
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tags(buf, pos, end)
    return o


def _write_metadata_request_topic_v10(
    out: bytearray, items: Sequence[MetadataRequestTopic]
) -> None:
    for o in items:
        if len(o.topic_id) != 16:
            raise LocalError("a uuid has 16 bytes")
        out += _pack_u(o.topic_id)
        if o.name is None:
            out.append(0)
        else:
            s = o.name.encode()
            n = len(s) + 1
            out += UVARINTS[n] if n < 128 else long_string_length(n)
            out += s
        out.append(0)


def _encode_metadata_request_v10(o: MetadataRequest) -> list[Part]:
    out = bytearray()
    if o.topics is None:
        out.append(0)
    else:
        n = len(o.topics) + 1
        out += UVARINTS[n] if n < 128 else uvarint(n)
        _write_metadata_request_topic_v10(out, o.topics)
    out += _pack_ttt(o.allow_auto_topic_creation, o.include_cluster_authorized_operations, o.include_topic_authorized_operations)
    out.append(0)
    return [out]


def _decode_metadata_request_v11(buf: memoryview, pos: int, end: int, budget: list[int]) -> MetadataRequest:
    o = new(MetadataRequest)
    o.include_cluster_authorized_operations = False
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_long_uvarint(buf, pos)
    n -= 1
    if n < 0:
        o.topics = None
    else:
        o.topics, pos = _read_metadata_request_topic_v10(buf, pos, end, n, budget)
    o.allow_auto_topic_creation, o.include_topic_authorized_operations = _unpack_tt(buf, pos)
    pos += 2
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tags(buf, pos, end)
    return o


def _encode_metadata_request_v11(o: MetadataRequest) -> list[Part]:
    out = bytearray()
    if o.topics is None:
        out.append(0)
    else:
        n = len(o.topics) + 1
        out += UVARINTS[n] if n < 128 else uvarint(n)
        _write_metadata_request_topic_v10(out, o.topics)
    out += _pack_tt(o.allow_auto_topic_creation, o.include_topic_authorized_operations)
    out.append(0)
    return [out]


def _read_metadata_response_broker_v0(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[MetadataResponseBroker], int]:
    if count * 10 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 200
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[MetadataResponseBroker] = []
    for _ in range(count):
        o = new(MetadataResponseBroker)
        o.rack = None
        o.node_id, n = _unpack_ih(buf, pos)
        pos += 6
        if n < 0:
            raise unexpected_null(pos, "host")
        q = pos + n
        if q > end:
            raise overrun(pos, n)
        o.host = str(buf[pos:q], "utf-8")
        pos = q
        (o.port,) = _unpack_i(buf, pos)
        pos += 4
        items.append(o)
    return items, pos


def _read_metadata_response_partition_v0(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[MetadataResponsePartition], int]:
    if count * 18 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 392
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[MetadataResponsePartition] = []
    for _ in range(count):
        o = new(MetadataResponsePartition)
        o.leader_epoch = -1
        o.offline_replicas = []
        o.error_code, o.partition_index, o.leader_id, n = _unpack_hiii(buf, pos)
        pos += 14
        if n < 0:
            raise unexpected_null(pos, "replica_nodes")
        o.replica_nodes, pos = read_int32s(buf, pos, end, n, budget)
        (n,) = _unpack_i(buf, pos)
        pos += 4
        if n < 0:
            raise unexpected_null(pos, "isr_nodes")
        o.isr_nodes, pos = read_int32s(buf, pos, end, n, budget)
        items.append(o)
    return items, pos


def _read_metadata_response_topic_v0(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[MetadataResponseTopic], int]:
    if count * 8 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 248
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[MetadataResponseTopic] = []
    for _ in range(count):
        o = new(MetadataResponseTopic)
        o.topic_id = ZERO_UUID
        o.is_internal = False
        o.topic_authorized_operations = -2147483648
        o.error_code, n = _unpack_hh(buf, pos)
        pos += 4
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
            raise unexpected_null(pos, "partitions")
        o.partitions, pos = _read_metadata_response_partition_v0(buf, pos, end, n, budget)
        items.append(o)
    return items, pos


def _decode_metadata_response_v0(buf: memoryview, pos: int, end: int, budget: list[int]) -> MetadataResponse:
    o = new(MetadataResponse)
    o.throttle_time_ms = 0
    o.cluster_id = None
    o.controller_id = -1
    o.cluster_authorized_operations = -2147483648
    o.error_code = 0
    (n,) = _unpack_i(buf, pos)
    pos += 4
    if n < 0:
        raise unexpected_null(pos, "brokers")
    o.brokers, pos = _read_metadata_response_broker_v0(buf, pos, end, n, budget)
    (n,) = _unpack_i(buf, pos)
    pos += 4
    if n < 0:
        raise unexpected_null(pos, "topics")
    o.topics, pos = _read_metadata_response_topic_v0(buf, pos, end, n, budget)
    return o


def _write_metadata_response_broker_v0(
    out: bytearray, items: Sequence[MetadataResponseBroker]
) -> None:
    for o in items:
        s = o.host.encode()
        n = len(s)
        out += _pack_ih(o.node_id, n)
        out += s
        out += _pack_i(o.port)


def _write_metadata_response_partition_v0(
    out: bytearray, items: Sequence[MetadataResponsePartition]
) -> None:
    for o in items:
        n = len(o.replica_nodes)
        out += _pack_hiii(o.error_code, o.partition_index, o.leader_id, n)
        out += int32_elements(o.replica_nodes)
        n = len(o.isr_nodes)
        out += _pack_i(n)
        out += int32_elements(o.isr_nodes)


def _write_metadata_response_topic_v0(
    out: bytearray, items: Sequence[MetadataResponseTopic]
) -> None:
    for o in items:
        if o.name is None:
            raise LocalError("name must not be None in this version")
        s = o.name.encode()
        n = len(s)
        out += _pack_hh(o.error_code, n)
        out += s
        n = len(o.partitions)
        out += _pack_i(n)
        _write_metadata_response_partition_v0(out, o.partitions)


def _encode_metadata_response_v0(o: MetadataResponse) -> list[Part]:
    out = bytearray()
    n = len(o.brokers)
    out += _pack_i(n)
    _write_metadata_response_broker_v0(out, o.brokers)
    n = len(o.topics)
    out += _pack_i(n)
    _write_metadata_response_topic_v0(out, o.topics)
    return [out]


def _read_metadata_response_broker_v1(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[MetadataResponseBroker], int]:
    if count * 12 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 256
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[MetadataResponseBroker] = []
    for _ in range(count):
        o = new(MetadataResponseBroker)
        o.node_id, n = _unpack_ih(buf, pos)
        pos += 6
        if n < 0:
            raise unexpected_null(pos, "host")
        q = pos + n
        if q > end:
            raise overrun(pos, n)
        o.host = str(buf[pos:q], "utf-8")
        pos = q
        o.port, n = _unpack_ih(buf, pos)
        pos += 6
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


def _read_metadata_response_topic_v1(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[MetadataResponseTopic], int]:
    if count * 9 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 248
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[MetadataResponseTopic] = []
    for _ in range(count):
        o = new(MetadataResponseTopic)
        o.topic_id = ZERO_UUID
        o.topic_authorized_operations = -2147483648
        o.error_code, n = _unpack_hh(buf, pos)
        pos += 4
        if n < 0:
            raise unexpected_null(pos, "name")
        q = pos + n
        if q > end:
            raise overrun(pos, n)
        o.name = str(buf[pos:q], "utf-8")
        pos = q
        o.is_internal, n = _unpack_ti(buf, pos)
        pos += 5
        if n < 0:
            raise unexpected_null(pos, "partitions")
        o.partitions, pos = _read_metadata_response_partition_v0(buf, pos, end, n, budget)
        items.append(o)
    return items, pos


def _decode_metadata_response_v1(buf: memoryview, pos: int, end: int, budget: list[int]) -> MetadataResponse:
    o = new(MetadataResponse)
    o.throttle_time_ms = 0
    o.cluster_id = None
    o.cluster_authorized_operations = -2147483648
    o.error_code = 0
    (n,) = _unpack_i(buf, pos)
    pos += 4
    if n < 0:
        raise unexpected_null(pos, "brokers")
    o.brokers, pos = _read_metadata_response_broker_v1(buf, pos, end, n, budget)
    o.controller_id, n = _unpack_ii(buf, pos)
    pos += 8
    if n < 0:
        raise unexpected_null(pos, "topics")
    o.topics, pos = _read_metadata_response_topic_v1(buf, pos, end, n, budget)
    return o


def _write_metadata_response_broker_v1(
    out: bytearray, items: Sequence[MetadataResponseBroker]
) -> None:
    for o in items:
        s = o.host.encode()
        n = len(s)
        out += _pack_ih(o.node_id, n)
        out += s
        if o.rack is None:
            n = -1
            s = b""
        else:
            s = o.rack.encode()
            n = len(s)
        out += _pack_ih(o.port, n)
        out += s


def _write_metadata_response_topic_v1(
    out: bytearray, items: Sequence[MetadataResponseTopic]
) -> None:
    for o in items:
        if o.name is None:
            raise LocalError("name must not be None in this version")
        s = o.name.encode()
        n = len(s)
        out += _pack_hh(o.error_code, n)
        out += s
        n = len(o.partitions)
        out += _pack_ti(o.is_internal, n)
        _write_metadata_response_partition_v0(out, o.partitions)


def _encode_metadata_response_v1(o: MetadataResponse) -> list[Part]:
    out = bytearray()
    n = len(o.brokers)
    out += _pack_i(n)
    _write_metadata_response_broker_v1(out, o.brokers)
    n = len(o.topics)
    out += _pack_ii(o.controller_id, n)
    _write_metadata_response_topic_v1(out, o.topics)
    return [out]


def _decode_metadata_response_v2(buf: memoryview, pos: int, end: int, budget: list[int]) -> MetadataResponse:
    o = new(MetadataResponse)
    o.throttle_time_ms = 0
    o.cluster_authorized_operations = -2147483648
    o.error_code = 0
    (n,) = _unpack_i(buf, pos)
    pos += 4
    if n < 0:
        raise unexpected_null(pos, "brokers")
    o.brokers, pos = _read_metadata_response_broker_v1(buf, pos, end, n, budget)
    (n,) = _unpack_h(buf, pos)
    pos += 2
    if n < 0:
        o.cluster_id = None
    else:
        q = pos + n
        if q > end:
            raise overrun(pos, n)
        o.cluster_id = str(buf[pos:q], "utf-8")
        pos = q
    o.controller_id, n = _unpack_ii(buf, pos)
    pos += 8
    if n < 0:
        raise unexpected_null(pos, "topics")
    o.topics, pos = _read_metadata_response_topic_v1(buf, pos, end, n, budget)
    return o


def _encode_metadata_response_v2(o: MetadataResponse) -> list[Part]:
    out = bytearray()
    n = len(o.brokers)
    out += _pack_i(n)
    _write_metadata_response_broker_v1(out, o.brokers)
    if o.cluster_id is None:
        n = -1
        s = b""
    else:
        s = o.cluster_id.encode()
        n = len(s)
    out += _pack_h(n)
    out += s
    n = len(o.topics)
    out += _pack_ii(o.controller_id, n)
    _write_metadata_response_topic_v1(out, o.topics)
    return [out]


def _decode_metadata_response_v3(buf: memoryview, pos: int, end: int, budget: list[int]) -> MetadataResponse:
    o = new(MetadataResponse)
    o.cluster_authorized_operations = -2147483648
    o.error_code = 0
    o.throttle_time_ms, n = _unpack_ii(buf, pos)
    pos += 8
    if n < 0:
        raise unexpected_null(pos, "brokers")
    o.brokers, pos = _read_metadata_response_broker_v1(buf, pos, end, n, budget)
    (n,) = _unpack_h(buf, pos)
    pos += 2
    if n < 0:
        o.cluster_id = None
    else:
        q = pos + n
        if q > end:
            raise overrun(pos, n)
        o.cluster_id = str(buf[pos:q], "utf-8")
        pos = q
    o.controller_id, n = _unpack_ii(buf, pos)
    pos += 8
    if n < 0:
        raise unexpected_null(pos, "topics")
    o.topics, pos = _read_metadata_response_topic_v1(buf, pos, end, n, budget)
    return o


def _encode_metadata_response_v3(o: MetadataResponse) -> list[Part]:
    out = bytearray()
    n = len(o.brokers)
    out += _pack_ii(o.throttle_time_ms, n)
    _write_metadata_response_broker_v1(out, o.brokers)
    if o.cluster_id is None:
        n = -1
        s = b""
    else:
        s = o.cluster_id.encode()
        n = len(s)
    out += _pack_h(n)
    out += s
    n = len(o.topics)
    out += _pack_ii(o.controller_id, n)
    _write_metadata_response_topic_v1(out, o.topics)
    return [out]


def _read_metadata_response_partition_v5(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[MetadataResponsePartition], int]:
    if count * 22 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 392
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[MetadataResponsePartition] = []
    for _ in range(count):
        o = new(MetadataResponsePartition)
        o.leader_epoch = -1
        o.error_code, o.partition_index, o.leader_id, n = _unpack_hiii(buf, pos)
        pos += 14
        if n < 0:
            raise unexpected_null(pos, "replica_nodes")
        o.replica_nodes, pos = read_int32s(buf, pos, end, n, budget)
        (n,) = _unpack_i(buf, pos)
        pos += 4
        if n < 0:
            raise unexpected_null(pos, "isr_nodes")
        o.isr_nodes, pos = read_int32s(buf, pos, end, n, budget)
        (n,) = _unpack_i(buf, pos)
        pos += 4
        if n < 0:
            raise unexpected_null(pos, "offline_replicas")
        o.offline_replicas, pos = read_int32s(buf, pos, end, n, budget)
        items.append(o)
    return items, pos


def _read_metadata_response_topic_v5(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[MetadataResponseTopic], int]:
    if count * 9 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 248
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[MetadataResponseTopic] = []
    for _ in range(count):
        o = new(MetadataResponseTopic)
        o.topic_id = ZERO_UUID
        o.topic_authorized_operations = -2147483648
        o.error_code, n = _unpack_hh(buf, pos)
        pos += 4
        if n < 0:
            raise unexpected_null(pos, "name")
        q = pos + n
        if q > end:
            raise overrun(pos, n)
        o.name = str(buf[pos:q], "utf-8")
        pos = q
        o.is_internal, n = _unpack_ti(buf, pos)
        pos += 5
        if n < 0:
            raise unexpected_null(pos, "partitions")
        o.partitions, pos = _read_metadata_response_partition_v5(buf, pos, end, n, budget)
        items.append(o)
    return items, pos


def _decode_metadata_response_v5(buf: memoryview, pos: int, end: int, budget: list[int]) -> MetadataResponse:
    o = new(MetadataResponse)
    o.cluster_authorized_operations = -2147483648
    o.error_code = 0
    o.throttle_time_ms, n = _unpack_ii(buf, pos)
    pos += 8
    if n < 0:
        raise unexpected_null(pos, "brokers")
    o.brokers, pos = _read_metadata_response_broker_v1(buf, pos, end, n, budget)
    (n,) = _unpack_h(buf, pos)
    pos += 2
    if n < 0:
        o.cluster_id = None
    else:
        q = pos + n
        if q > end:
            raise overrun(pos, n)
        o.cluster_id = str(buf[pos:q], "utf-8")
        pos = q
    o.controller_id, n = _unpack_ii(buf, pos)
    pos += 8
    if n < 0:
        raise unexpected_null(pos, "topics")
    o.topics, pos = _read_metadata_response_topic_v5(buf, pos, end, n, budget)
    return o


def _write_metadata_response_partition_v5(
    out: bytearray, items: Sequence[MetadataResponsePartition]
) -> None:
    for o in items:
        n = len(o.replica_nodes)
        out += _pack_hiii(o.error_code, o.partition_index, o.leader_id, n)
        out += int32_elements(o.replica_nodes)
        n = len(o.isr_nodes)
        out += _pack_i(n)
        out += int32_elements(o.isr_nodes)
        n = len(o.offline_replicas)
        out += _pack_i(n)
        out += int32_elements(o.offline_replicas)


def _write_metadata_response_topic_v5(
    out: bytearray, items: Sequence[MetadataResponseTopic]
) -> None:
    for o in items:
        if o.name is None:
            raise LocalError("name must not be None in this version")
        s = o.name.encode()
        n = len(s)
        out += _pack_hh(o.error_code, n)
        out += s
        n = len(o.partitions)
        out += _pack_ti(o.is_internal, n)
        _write_metadata_response_partition_v5(out, o.partitions)


def _encode_metadata_response_v5(o: MetadataResponse) -> list[Part]:
    out = bytearray()
    n = len(o.brokers)
    out += _pack_ii(o.throttle_time_ms, n)
    _write_metadata_response_broker_v1(out, o.brokers)
    if o.cluster_id is None:
        n = -1
        s = b""
    else:
        s = o.cluster_id.encode()
        n = len(s)
    out += _pack_h(n)
    out += s
    n = len(o.topics)
    out += _pack_ii(o.controller_id, n)
    _write_metadata_response_topic_v5(out, o.topics)
    return [out]


def _read_metadata_response_partition_v7(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[MetadataResponsePartition], int]:
    if count * 26 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 424
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[MetadataResponsePartition] = []
    for _ in range(count):
        o = new(MetadataResponsePartition)
        o.error_code, o.partition_index, o.leader_id, o.leader_epoch, n = _unpack_hiiii(buf, pos)
        pos += 18
        if n < 0:
            raise unexpected_null(pos, "replica_nodes")
        o.replica_nodes, pos = read_int32s(buf, pos, end, n, budget)
        (n,) = _unpack_i(buf, pos)
        pos += 4
        if n < 0:
            raise unexpected_null(pos, "isr_nodes")
        o.isr_nodes, pos = read_int32s(buf, pos, end, n, budget)
        (n,) = _unpack_i(buf, pos)
        pos += 4
        if n < 0:
            raise unexpected_null(pos, "offline_replicas")
        o.offline_replicas, pos = read_int32s(buf, pos, end, n, budget)
        items.append(o)
    return items, pos


def _read_metadata_response_topic_v7(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[MetadataResponseTopic], int]:
    if count * 9 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 248
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[MetadataResponseTopic] = []
    for _ in range(count):
        o = new(MetadataResponseTopic)
        o.topic_id = ZERO_UUID
        o.topic_authorized_operations = -2147483648
        o.error_code, n = _unpack_hh(buf, pos)
        pos += 4
        if n < 0:
            raise unexpected_null(pos, "name")
        q = pos + n
        if q > end:
            raise overrun(pos, n)
        o.name = str(buf[pos:q], "utf-8")
        pos = q
        o.is_internal, n = _unpack_ti(buf, pos)
        pos += 5
        if n < 0:
            raise unexpected_null(pos, "partitions")
        o.partitions, pos = _read_metadata_response_partition_v7(buf, pos, end, n, budget)
        items.append(o)
    return items, pos


def _decode_metadata_response_v7(buf: memoryview, pos: int, end: int, budget: list[int]) -> MetadataResponse:
    o = new(MetadataResponse)
    o.cluster_authorized_operations = -2147483648
    o.error_code = 0
    o.throttle_time_ms, n = _unpack_ii(buf, pos)
    pos += 8
    if n < 0:
        raise unexpected_null(pos, "brokers")
    o.brokers, pos = _read_metadata_response_broker_v1(buf, pos, end, n, budget)
    (n,) = _unpack_h(buf, pos)
    pos += 2
    if n < 0:
        o.cluster_id = None
    else:
        q = pos + n
        if q > end:
            raise overrun(pos, n)
        o.cluster_id = str(buf[pos:q], "utf-8")
        pos = q
    o.controller_id, n = _unpack_ii(buf, pos)
    pos += 8
    if n < 0:
        raise unexpected_null(pos, "topics")
    o.topics, pos = _read_metadata_response_topic_v7(buf, pos, end, n, budget)
    return o


def _write_metadata_response_partition_v7(
    out: bytearray, items: Sequence[MetadataResponsePartition]
) -> None:
    for o in items:
        n = len(o.replica_nodes)
        out += _pack_hiiii(o.error_code, o.partition_index, o.leader_id, o.leader_epoch, n)
        out += int32_elements(o.replica_nodes)
        n = len(o.isr_nodes)
        out += _pack_i(n)
        out += int32_elements(o.isr_nodes)
        n = len(o.offline_replicas)
        out += _pack_i(n)
        out += int32_elements(o.offline_replicas)


def _write_metadata_response_topic_v7(
    out: bytearray, items: Sequence[MetadataResponseTopic]
) -> None:
    for o in items:
        if o.name is None:
            raise LocalError("name must not be None in this version")
        s = o.name.encode()
        n = len(s)
        out += _pack_hh(o.error_code, n)
        out += s
        n = len(o.partitions)
        out += _pack_ti(o.is_internal, n)
        _write_metadata_response_partition_v7(out, o.partitions)


def _encode_metadata_response_v7(o: MetadataResponse) -> list[Part]:
    out = bytearray()
    n = len(o.brokers)
    out += _pack_ii(o.throttle_time_ms, n)
    _write_metadata_response_broker_v1(out, o.brokers)
    if o.cluster_id is None:
        n = -1
        s = b""
    else:
        s = o.cluster_id.encode()
        n = len(s)
    out += _pack_h(n)
    out += s
    n = len(o.topics)
    out += _pack_ii(o.controller_id, n)
    _write_metadata_response_topic_v7(out, o.topics)
    return [out]


def _read_metadata_response_topic_v8(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[MetadataResponseTopic], int]:
    if count * 13 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 280
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[MetadataResponseTopic] = []
    for _ in range(count):
        o = new(MetadataResponseTopic)
        o.topic_id = ZERO_UUID
        o.error_code, n = _unpack_hh(buf, pos)
        pos += 4
        if n < 0:
            raise unexpected_null(pos, "name")
        q = pos + n
        if q > end:
            raise overrun(pos, n)
        o.name = str(buf[pos:q], "utf-8")
        pos = q
        o.is_internal, n = _unpack_ti(buf, pos)
        pos += 5
        if n < 0:
            raise unexpected_null(pos, "partitions")
        o.partitions, pos = _read_metadata_response_partition_v7(buf, pos, end, n, budget)
        (o.topic_authorized_operations,) = _unpack_i(buf, pos)
        pos += 4
        items.append(o)
    return items, pos


def _decode_metadata_response_v8(buf: memoryview, pos: int, end: int, budget: list[int]) -> MetadataResponse:
    o = new(MetadataResponse)
    o.error_code = 0
    o.throttle_time_ms, n = _unpack_ii(buf, pos)
    pos += 8
    if n < 0:
        raise unexpected_null(pos, "brokers")
    o.brokers, pos = _read_metadata_response_broker_v1(buf, pos, end, n, budget)
    (n,) = _unpack_h(buf, pos)
    pos += 2
    if n < 0:
        o.cluster_id = None
    else:
        q = pos + n
        if q > end:
            raise overrun(pos, n)
        o.cluster_id = str(buf[pos:q], "utf-8")
        pos = q
    o.controller_id, n = _unpack_ii(buf, pos)
    pos += 8
    if n < 0:
        raise unexpected_null(pos, "topics")
    o.topics, pos = _read_metadata_response_topic_v8(buf, pos, end, n, budget)
    (o.cluster_authorized_operations,) = _unpack_i(buf, pos)
    pos += 4
    return o


def _write_metadata_response_topic_v8(
    out: bytearray, items: Sequence[MetadataResponseTopic]
) -> None:
    for o in items:
        if o.name is None:
            raise LocalError("name must not be None in this version")
        s = o.name.encode()
        n = len(s)
        out += _pack_hh(o.error_code, n)
        out += s
        n = len(o.partitions)
        out += _pack_ti(o.is_internal, n)
        _write_metadata_response_partition_v7(out, o.partitions)
        out += _pack_i(o.topic_authorized_operations)


def _encode_metadata_response_v8(o: MetadataResponse) -> list[Part]:
    out = bytearray()
    n = len(o.brokers)
    out += _pack_ii(o.throttle_time_ms, n)
    _write_metadata_response_broker_v1(out, o.brokers)
    if o.cluster_id is None:
        n = -1
        s = b""
    else:
        s = o.cluster_id.encode()
        n = len(s)
    out += _pack_h(n)
    out += s
    n = len(o.topics)
    out += _pack_ii(o.controller_id, n)
    _write_metadata_response_topic_v8(out, o.topics)
    out += _pack_i(o.cluster_authorized_operations)
    return [out]


def _read_metadata_response_broker_v9(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[MetadataResponseBroker], int]:
    if count * 11 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 256
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[MetadataResponseBroker] = []
    for _ in range(count):
        o = new(MetadataResponseBroker)
        (o.node_id,) = _unpack_i(buf, pos)
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
        (o.port,) = _unpack_i(buf, pos)
        pos += 4
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


def _read_metadata_response_partition_v9(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[MetadataResponsePartition], int]:
    if count * 18 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 424
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[MetadataResponsePartition] = []
    for _ in range(count):
        o = new(MetadataResponsePartition)
        o.error_code, o.partition_index, o.leader_id, o.leader_epoch = _unpack_hiii(buf, pos)
        pos += 14
        n = buf[pos]
        pos += 1
        if n > 127:
            n, pos = read_long_uvarint(buf, pos)
        n -= 1
        if n < 0:
            raise unexpected_null(pos, "replica_nodes")
        o.replica_nodes, pos = read_int32s(buf, pos, end, n, budget)
        n = buf[pos]
        pos += 1
        if n > 127:
            n, pos = read_long_uvarint(buf, pos)
        n -= 1
        if n < 0:
            raise unexpected_null(pos, "isr_nodes")
        o.isr_nodes, pos = read_int32s(buf, pos, end, n, budget)
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


def _read_metadata_response_topic_v9(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[MetadataResponseTopic], int]:
    if count * 10 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 280
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[MetadataResponseTopic] = []
    for _ in range(count):
        o = new(MetadataResponseTopic)
        o.topic_id = ZERO_UUID
        (o.error_code,) = _unpack_h(buf, pos)
        pos += 2
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
        o.is_internal = buf[pos] != 0
        pos += 1
        n = buf[pos]
        pos += 1
        if n > 127:
            n, pos = read_long_uvarint(buf, pos)
        n -= 1
        if n < 0:
            raise unexpected_null(pos, "partitions")
        o.partitions, pos = _read_metadata_response_partition_v9(buf, pos, end, n, budget)
        (o.topic_authorized_operations,) = _unpack_i(buf, pos)
        pos += 4
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tags(buf, pos, end)
        items.append(o)
    return items, pos


def _decode_metadata_response_v9(buf: memoryview, pos: int, end: int, budget: list[int]) -> MetadataResponse:
    o = new(MetadataResponse)
    o.error_code = 0
    (o.throttle_time_ms,) = _unpack_i(buf, pos)
    pos += 4
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_long_uvarint(buf, pos)
    n -= 1
    if n < 0:
        raise unexpected_null(pos, "brokers")
    o.brokers, pos = _read_metadata_response_broker_v9(buf, pos, end, n, budget)
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_long_string_length(buf, pos)
    n -= 1
    if n < 0:
        o.cluster_id = None
    else:
        q = pos + n
        if q > end:
            raise overrun(pos, n)
        o.cluster_id = str(buf[pos:q], "utf-8")
        pos = q
    (o.controller_id,) = _unpack_i(buf, pos)
    pos += 4
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_long_uvarint(buf, pos)
    n -= 1
    if n < 0:
        raise unexpected_null(pos, "topics")
    o.topics, pos = _read_metadata_response_topic_v9(buf, pos, end, n, budget)
    (o.cluster_authorized_operations,) = _unpack_i(buf, pos)
    pos += 4
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tags(buf, pos, end)
    return o


def _write_metadata_response_broker_v9(
    out: bytearray, items: Sequence[MetadataResponseBroker]
) -> None:
    for o in items:
        out += _pack_i(o.node_id)
        s = o.host.encode()
        n = len(s) + 1
        out += UVARINTS[n] if n < 128 else long_string_length(n)
        out += s
        out += _pack_i(o.port)
        if o.rack is None:
            out.append(0)
        else:
            s = o.rack.encode()
            n = len(s) + 1
            out += UVARINTS[n] if n < 128 else long_string_length(n)
            out += s
        out.append(0)


def _write_metadata_response_partition_v9(
    out: bytearray, items: Sequence[MetadataResponsePartition]
) -> None:
    for o in items:
        out += _pack_hiii(o.error_code, o.partition_index, o.leader_id, o.leader_epoch)
        n = len(o.replica_nodes) + 1
        out += UVARINTS[n] if n < 128 else uvarint(n)
        out += int32_elements(o.replica_nodes)
        n = len(o.isr_nodes) + 1
        out += UVARINTS[n] if n < 128 else uvarint(n)
        out += int32_elements(o.isr_nodes)
        n = len(o.offline_replicas) + 1
        out += UVARINTS[n] if n < 128 else uvarint(n)
        out += int32_elements(o.offline_replicas)
        out.append(0)


def _write_metadata_response_topic_v9(
    out: bytearray, items: Sequence[MetadataResponseTopic]
) -> None:
    for o in items:
        out += _pack_h(o.error_code)
        if o.name is None:
            raise LocalError("name must not be None in this version")
        s = o.name.encode()
        n = len(s) + 1
        out += UVARINTS[n] if n < 128 else long_string_length(n)
        out += s
        out += _pack_t(o.is_internal)
        n = len(o.partitions) + 1
        out += UVARINTS[n] if n < 128 else uvarint(n)
        _write_metadata_response_partition_v9(out, o.partitions)
        out += _pack_i(o.topic_authorized_operations)
        out.append(0)


def _encode_metadata_response_v9(o: MetadataResponse) -> list[Part]:
    out = bytearray()
    out += _pack_i(o.throttle_time_ms)
    n = len(o.brokers) + 1
    out += UVARINTS[n] if n < 128 else uvarint(n)
    _write_metadata_response_broker_v9(out, o.brokers)
    if o.cluster_id is None:
        out.append(0)
    else:
        s = o.cluster_id.encode()
        n = len(s) + 1
        out += UVARINTS[n] if n < 128 else long_string_length(n)
        out += s
    out += _pack_i(o.controller_id)
    n = len(o.topics) + 1
    out += UVARINTS[n] if n < 128 else uvarint(n)
    _write_metadata_response_topic_v9(out, o.topics)
    out += _pack_i(o.cluster_authorized_operations)
    out.append(0)
    return [out]


def _read_metadata_response_topic_v10(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[MetadataResponseTopic], int]:
    if count * 26 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 336
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[MetadataResponseTopic] = []
    for _ in range(count):
        o = new(MetadataResponseTopic)
        (o.error_code,) = _unpack_h(buf, pos)
        pos += 2
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
        raw_topic_id, o.is_internal = _unpack_ut(buf, pos)
        pos += 17
        o.topic_id = Uuid(raw_topic_id)
        n = buf[pos]
        pos += 1
        if n > 127:
            n, pos = read_long_uvarint(buf, pos)
        n -= 1
        if n < 0:
            raise unexpected_null(pos, "partitions")
        o.partitions, pos = _read_metadata_response_partition_v9(buf, pos, end, n, budget)
        (o.topic_authorized_operations,) = _unpack_i(buf, pos)
        pos += 4
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tags(buf, pos, end)
        items.append(o)
    return items, pos


def _decode_metadata_response_v10(buf: memoryview, pos: int, end: int, budget: list[int]) -> MetadataResponse:
    o = new(MetadataResponse)
    o.error_code = 0
    (o.throttle_time_ms,) = _unpack_i(buf, pos)
    pos += 4
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_long_uvarint(buf, pos)
    n -= 1
    if n < 0:
        raise unexpected_null(pos, "brokers")
    o.brokers, pos = _read_metadata_response_broker_v9(buf, pos, end, n, budget)
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_long_string_length(buf, pos)
    n -= 1
    if n < 0:
        o.cluster_id = None
    else:
        q = pos + n
        if q > end:
            raise overrun(pos, n)
        o.cluster_id = str(buf[pos:q], "utf-8")
        pos = q
    (o.controller_id,) = _unpack_i(buf, pos)
    pos += 4
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_long_uvarint(buf, pos)
    n -= 1
    if n < 0:
        raise unexpected_null(pos, "topics")
    o.topics, pos = _read_metadata_response_topic_v10(buf, pos, end, n, budget)
    (o.cluster_authorized_operations,) = _unpack_i(buf, pos)
    pos += 4
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tags(buf, pos, end)
    return o


def _write_metadata_response_topic_v10(
    out: bytearray, items: Sequence[MetadataResponseTopic]
) -> None:
    for o in items:
        out += _pack_h(o.error_code)
        if o.name is None:
            raise LocalError("name must not be None in this version")
        s = o.name.encode()
        n = len(s) + 1
        out += UVARINTS[n] if n < 128 else long_string_length(n)
        out += s
        if len(o.topic_id) != 16:
            raise LocalError("a uuid has 16 bytes")
        out += _pack_ut(o.topic_id, o.is_internal)
        n = len(o.partitions) + 1
        out += UVARINTS[n] if n < 128 else uvarint(n)
        _write_metadata_response_partition_v9(out, o.partitions)
        out += _pack_i(o.topic_authorized_operations)
        out.append(0)


def _encode_metadata_response_v10(o: MetadataResponse) -> list[Part]:
    out = bytearray()
    out += _pack_i(o.throttle_time_ms)
    n = len(o.brokers) + 1
    out += UVARINTS[n] if n < 128 else uvarint(n)
    _write_metadata_response_broker_v9(out, o.brokers)
    if o.cluster_id is None:
        out.append(0)
    else:
        s = o.cluster_id.encode()
        n = len(s) + 1
        out += UVARINTS[n] if n < 128 else long_string_length(n)
        out += s
    out += _pack_i(o.controller_id)
    n = len(o.topics) + 1
    out += UVARINTS[n] if n < 128 else uvarint(n)
    _write_metadata_response_topic_v10(out, o.topics)
    out += _pack_i(o.cluster_authorized_operations)
    out.append(0)
    return [out]


def _decode_metadata_response_v11(buf: memoryview, pos: int, end: int, budget: list[int]) -> MetadataResponse:
    o = new(MetadataResponse)
    o.cluster_authorized_operations = -2147483648
    o.error_code = 0
    (o.throttle_time_ms,) = _unpack_i(buf, pos)
    pos += 4
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_long_uvarint(buf, pos)
    n -= 1
    if n < 0:
        raise unexpected_null(pos, "brokers")
    o.brokers, pos = _read_metadata_response_broker_v9(buf, pos, end, n, budget)
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_long_string_length(buf, pos)
    n -= 1
    if n < 0:
        o.cluster_id = None
    else:
        q = pos + n
        if q > end:
            raise overrun(pos, n)
        o.cluster_id = str(buf[pos:q], "utf-8")
        pos = q
    (o.controller_id,) = _unpack_i(buf, pos)
    pos += 4
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_long_uvarint(buf, pos)
    n -= 1
    if n < 0:
        raise unexpected_null(pos, "topics")
    o.topics, pos = _read_metadata_response_topic_v10(buf, pos, end, n, budget)
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tags(buf, pos, end)
    return o


def _encode_metadata_response_v11(o: MetadataResponse) -> list[Part]:
    out = bytearray()
    out += _pack_i(o.throttle_time_ms)
    n = len(o.brokers) + 1
    out += UVARINTS[n] if n < 128 else uvarint(n)
    _write_metadata_response_broker_v9(out, o.brokers)
    if o.cluster_id is None:
        out.append(0)
    else:
        s = o.cluster_id.encode()
        n = len(s) + 1
        out += UVARINTS[n] if n < 128 else long_string_length(n)
        out += s
    out += _pack_i(o.controller_id)
    n = len(o.topics) + 1
    out += UVARINTS[n] if n < 128 else uvarint(n)
    _write_metadata_response_topic_v10(out, o.topics)
    out.append(0)
    return [out]


def _read_metadata_response_topic_v12(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[MetadataResponseTopic], int]:
    if count * 26 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 336
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[MetadataResponseTopic] = []
    for _ in range(count):
        o = new(MetadataResponseTopic)
        (o.error_code,) = _unpack_h(buf, pos)
        pos += 2
        n = buf[pos]
        pos += 1
        if n > 127:
            n, pos = read_long_string_length(buf, pos)
        n -= 1
        if n < 0:
            o.name = None
        else:
            q = pos + n
            if q > end:
                raise overrun(pos, n)
            o.name = str(buf[pos:q], "utf-8")
            pos = q
        raw_topic_id, o.is_internal = _unpack_ut(buf, pos)
        pos += 17
        o.topic_id = Uuid(raw_topic_id)
        n = buf[pos]
        pos += 1
        if n > 127:
            n, pos = read_long_uvarint(buf, pos)
        n -= 1
        if n < 0:
            raise unexpected_null(pos, "partitions")
        o.partitions, pos = _read_metadata_response_partition_v9(buf, pos, end, n, budget)
        (o.topic_authorized_operations,) = _unpack_i(buf, pos)
        pos += 4
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tags(buf, pos, end)
        items.append(o)
    return items, pos


def _decode_metadata_response_v12(buf: memoryview, pos: int, end: int, budget: list[int]) -> MetadataResponse:
    o = new(MetadataResponse)
    o.cluster_authorized_operations = -2147483648
    o.error_code = 0
    (o.throttle_time_ms,) = _unpack_i(buf, pos)
    pos += 4
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_long_uvarint(buf, pos)
    n -= 1
    if n < 0:
        raise unexpected_null(pos, "brokers")
    o.brokers, pos = _read_metadata_response_broker_v9(buf, pos, end, n, budget)
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_long_string_length(buf, pos)
    n -= 1
    if n < 0:
        o.cluster_id = None
    else:
        q = pos + n
        if q > end:
            raise overrun(pos, n)
        o.cluster_id = str(buf[pos:q], "utf-8")
        pos = q
    (o.controller_id,) = _unpack_i(buf, pos)
    pos += 4
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_long_uvarint(buf, pos)
    n -= 1
    if n < 0:
        raise unexpected_null(pos, "topics")
    o.topics, pos = _read_metadata_response_topic_v12(buf, pos, end, n, budget)
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tags(buf, pos, end)
    return o


def _write_metadata_response_topic_v12(
    out: bytearray, items: Sequence[MetadataResponseTopic]
) -> None:
    for o in items:
        out += _pack_h(o.error_code)
        if o.name is None:
            out.append(0)
        else:
            s = o.name.encode()
            n = len(s) + 1
            out += UVARINTS[n] if n < 128 else long_string_length(n)
            out += s
        if len(o.topic_id) != 16:
            raise LocalError("a uuid has 16 bytes")
        out += _pack_ut(o.topic_id, o.is_internal)
        n = len(o.partitions) + 1
        out += UVARINTS[n] if n < 128 else uvarint(n)
        _write_metadata_response_partition_v9(out, o.partitions)
        out += _pack_i(o.topic_authorized_operations)
        out.append(0)


def _encode_metadata_response_v12(o: MetadataResponse) -> list[Part]:
    out = bytearray()
    out += _pack_i(o.throttle_time_ms)
    n = len(o.brokers) + 1
    out += UVARINTS[n] if n < 128 else uvarint(n)
    _write_metadata_response_broker_v9(out, o.brokers)
    if o.cluster_id is None:
        out.append(0)
    else:
        s = o.cluster_id.encode()
        n = len(s) + 1
        out += UVARINTS[n] if n < 128 else long_string_length(n)
        out += s
    out += _pack_i(o.controller_id)
    n = len(o.topics) + 1
    out += UVARINTS[n] if n < 128 else uvarint(n)
    _write_metadata_response_topic_v12(out, o.topics)
    out.append(0)
    return [out]


def _decode_metadata_response_v13(buf: memoryview, pos: int, end: int, budget: list[int]) -> MetadataResponse:
    o = new(MetadataResponse)
    o.cluster_authorized_operations = -2147483648
    (o.throttle_time_ms,) = _unpack_i(buf, pos)
    pos += 4
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_long_uvarint(buf, pos)
    n -= 1
    if n < 0:
        raise unexpected_null(pos, "brokers")
    o.brokers, pos = _read_metadata_response_broker_v9(buf, pos, end, n, budget)
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_long_string_length(buf, pos)
    n -= 1
    if n < 0:
        o.cluster_id = None
    else:
        q = pos + n
        if q > end:
            raise overrun(pos, n)
        o.cluster_id = str(buf[pos:q], "utf-8")
        pos = q
    (o.controller_id,) = _unpack_i(buf, pos)
    pos += 4
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_long_uvarint(buf, pos)
    n -= 1
    if n < 0:
        raise unexpected_null(pos, "topics")
    o.topics, pos = _read_metadata_response_topic_v12(buf, pos, end, n, budget)
    (o.error_code,) = _unpack_h(buf, pos)
    pos += 2
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tags(buf, pos, end)
    return o


def _encode_metadata_response_v13(o: MetadataResponse) -> list[Part]:
    out = bytearray()
    out += _pack_i(o.throttle_time_ms)
    n = len(o.brokers) + 1
    out += UVARINTS[n] if n < 128 else uvarint(n)
    _write_metadata_response_broker_v9(out, o.brokers)
    if o.cluster_id is None:
        out.append(0)
    else:
        s = o.cluster_id.encode()
        n = len(s) + 1
        out += UVARINTS[n] if n < 128 else long_string_length(n)
        out += s
    out += _pack_i(o.controller_id)
    n = len(o.topics) + 1
    out += UVARINTS[n] if n < 128 else uvarint(n)
    _write_metadata_response_topic_v12(out, o.topics)
    out += _pack_h(o.error_code)
    out.append(0)
    return [out]


MetadataRequest.DECODERS = {
    0: _decode_metadata_request_v0,
    1: _decode_metadata_request_v1,
    2: _decode_metadata_request_v1,
    3: _decode_metadata_request_v1,
    4: _decode_metadata_request_v4,
    5: _decode_metadata_request_v4,
    6: _decode_metadata_request_v4,
    7: _decode_metadata_request_v4,
    8: _decode_metadata_request_v8,
    9: _decode_metadata_request_v9,
    10: _decode_metadata_request_v10,
    11: _decode_metadata_request_v11,
    12: _decode_metadata_request_v11,
    13: _decode_metadata_request_v11,
}
MetadataRequest.ENCODERS = {
    0: _encode_metadata_request_v0,
    1: _encode_metadata_request_v1,
    2: _encode_metadata_request_v1,
    3: _encode_metadata_request_v1,
    4: _encode_metadata_request_v4,
    5: _encode_metadata_request_v4,
    6: _encode_metadata_request_v4,
    7: _encode_metadata_request_v4,
    8: _encode_metadata_request_v8,
    9: _encode_metadata_request_v9,
    10: _encode_metadata_request_v10,
    11: _encode_metadata_request_v11,
    12: _encode_metadata_request_v11,
    13: _encode_metadata_request_v11,
}
MetadataResponse.DECODERS = {
    0: _decode_metadata_response_v0,
    1: _decode_metadata_response_v1,
    2: _decode_metadata_response_v2,
    3: _decode_metadata_response_v3,
    4: _decode_metadata_response_v3,
    5: _decode_metadata_response_v5,
    6: _decode_metadata_response_v5,
    7: _decode_metadata_response_v7,
    8: _decode_metadata_response_v8,
    9: _decode_metadata_response_v9,
    10: _decode_metadata_response_v10,
    11: _decode_metadata_response_v11,
    12: _decode_metadata_response_v12,
    13: _decode_metadata_response_v13,
}
MetadataResponse.ENCODERS = {
    0: _encode_metadata_response_v0,
    1: _encode_metadata_response_v1,
    2: _encode_metadata_response_v2,
    3: _encode_metadata_response_v3,
    4: _encode_metadata_response_v3,
    5: _encode_metadata_response_v5,
    6: _encode_metadata_response_v5,
    7: _encode_metadata_response_v7,
    8: _encode_metadata_response_v8,
    9: _encode_metadata_response_v9,
    10: _encode_metadata_response_v10,
    11: _encode_metadata_response_v11,
    12: _encode_metadata_response_v12,
    13: _encode_metadata_response_v13,
}
