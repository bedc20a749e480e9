"""Cluster id, controller and brokers, without topics.

Generated from schemas/describe_cluster.msg by codegen; edit that and run it again.
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
    read_long_string_length,
    read_long_uvarint,
    skip_tags,
    too_many,
    unexpected_null,
    uvarint,
)

_pack_t = Struct(">?").pack
_pack_tb = Struct(">?b").pack
_pack_tbt = Struct(">?b?").pack
_pack_b = Struct(">b").pack
_pack_i = Struct(">i").pack
_pack_ih = Struct(">ih").pack
_unpack_tb = Struct(">?b").unpack_from
_unpack_tbt = Struct(">?b?").unpack_from
_unpack_b = Struct(">b").unpack_from
_unpack_i = Struct(">i").unpack_from
_unpack_ih = Struct(">ih").unpack_from


class DescribeClusterBroker(WireStruct):
    __slots__ = (
        "broker_id",
        "host",
        "port",
        "rack",
        "is_fenced",
    )
    FIELDS: ClassVar[FieldSpecs] = (
        ("broker_id", "int32", 0, 2, False),
        ("host", "string", 0, 2, False),
        ("port", "int32", 0, 2, False),
        ("rack", "string", 0, 2, True),
        ("is_fenced", "bool", 2, 2, False),
    )

    def __init__(
        self,
        broker_id: int = 0,
        host: str = "",
        port: int = 0,
        rack: str | None = None,
        is_fenced: bool = False,
    ) -> None:
        self.broker_id = broker_id
        self.host = host
        self.port = port
        self.rack = rack
        self.is_fenced = is_fenced


class DescribeClusterRequest(Request["DescribeClusterResponse"]):
    __slots__ = (
        "include_cluster_authorized_operations",
        "endpoint_type",
        "include_fenced_brokers",
    )
    API_KEY: ClassVar[int] = 60
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 2
    FLEXIBLE_FROM: ClassVar[int] = 0
    FIELDS: ClassVar[FieldSpecs] = (
        ("include_cluster_authorized_operations", "bool", 0, 2, False),
        ("endpoint_type", "int8", 1, 2, False),
        ("include_fenced_brokers", "bool", 2, 2, False),
    )

    def __init__(
        self,
        include_cluster_authorized_operations: bool = False,
        endpoint_type: int = 1,
        include_fenced_brokers: bool = False,
    ) -> None:
        self.include_cluster_authorized_operations = include_cluster_authorized_operations
        self.endpoint_type = endpoint_type  # 1 brokers, 2 controllers
        self.include_fenced_brokers = include_fenced_brokers


class DescribeClusterResponse(Message):
    __slots__ = (
        "throttle_time_ms",
        "error_code",
        "error_message",
        "endpoint_type",
        "cluster_id",
        "controller_id",
        "brokers",
        "cluster_authorized_operations",
    )
    API_KEY: ClassVar[int] = 60
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 2
    FLEXIBLE_FROM: ClassVar[int] = 0
    FIELDS: ClassVar[FieldSpecs] = (
        ("throttle_time_ms", "int32", 0, 2, False),
        ("error_code", "int16", 0, 2, False),
        ("error_message", "string", 0, 2, True),
        ("endpoint_type", "int8", 1, 2, False),
        ("cluster_id", "string", 0, 2, False),
        ("controller_id", "int32", 0, 2, False),
        ("brokers", "[DescribeClusterBroker]", 0, 2, False),
        ("cluster_authorized_operations", "int32", 0, 2, False),
    )

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        error_message: str | None = None,
        endpoint_type: int = 1,
        cluster_id: str = "",
        controller_id: int = -1,
        brokers: list[DescribeClusterBroker] = EMPTY,
        cluster_authorized_operations: int = -2147483648,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.error_message = error_message
        self.endpoint_type = endpoint_type  # 1 brokers, 2 controllers
        self.cluster_id = cluster_id
        self.controller_id = controller_id
        self.brokers = [] if brokers is EMPTY else brokers
        self.cluster_authorized_operations = cluster_authorized_operations  # bit set; the minimum when not asked for


def _decode_describe_cluster_request_v0(buf: memoryview, pos: int, end: int, budget: list[int]) -> DescribeClusterRequest:
    o = new(DescribeClusterRequest)
    o.endpoint_type = 1
    o.include_fenced_brokers = False
    o.include_cluster_authorized_operations = buf[pos] != 0
    pos += 1
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tags(buf, pos, end)
    return o


def _encode_describe_cluster_request_v0(o: DescribeClusterRequest) -> list[Part]:
    out = bytearray()
    out += _pack_t(o.include_cluster_authorized_operations)
    out.append(0)
    return [out]


def _decode_describe_cluster_request_v1(buf: memoryview, pos: int, end: int, budget: list[int]) -> DescribeClusterRequest:
    o = new(DescribeClusterRequest)
    o.include_fenced_brokers = False
    o.include_cluster_authorized_operations, o.endpoint_type = _unpack_tb(buf, pos)
    pos += 2
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tags(buf, pos, end)
    return o


def _encode_describe_cluster_request_v1(o: DescribeClusterRequest) -> list[Part]:
    out = bytearray()
    out += _pack_tb(o.include_cluster_authorized_operations, o.endpoint_type)
    out.append(0)
    return [out]


def _decode_describe_cluster_request_v2(buf: memoryview, pos: int, end: int, budget: list[int]) -> DescribeClusterRequest:
    o = new(DescribeClusterRequest)
    o.include_cluster_authorized_operations, o.endpoint_type, o.include_fenced_brokers = _unpack_tbt(buf, pos)
    pos += 3
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tags(buf, pos, end)
    return o


def _encode_describe_cluster_request_v2(o: DescribeClusterRequest) -> list[Part]:
    out = bytearray()
    out += _pack_tbt(o.include_cluster_authorized_operations, o.endpoint_type, o.include_fenced_brokers)
    out.append(0)
    return [out]


def _read_describe_cluster_broker_v0(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[DescribeClusterBroker], int]:
    if count * 11 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 264
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[DescribeClusterBroker] = []
    for _ in range(count):
        o = new(DescribeClusterBroker)
        o.is_fenced = False
        (o.broker_id,) = _unpack_i(buf, pos)
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


def _decode_describe_cluster_response_v0(buf: memoryview, pos: int, end: int, budget: list[int]) -> DescribeClusterResponse:
    o = new(DescribeClusterResponse)
    o.endpoint_type = 1
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
        raise unexpected_null(pos, "cluster_id")
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
        raise unexpected_null(pos, "brokers")
    o.brokers, pos = _read_describe_cluster_broker_v0(buf, pos, end, n, budget)
    (o.cluster_authorized_operations,) = _unpack_i(buf, pos)
    pos += 4
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tags(buf, pos, end)
    return o


def _write_describe_cluster_broker_v0(
    out: bytearray, items: Sequence[DescribeClusterBroker]
) -> None:
    for o in items:
        out += _pack_i(o.broker_id)
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


def _encode_describe_cluster_response_v0(o: DescribeClusterResponse) -> list[Part]:
    out = bytearray()
    out += _pack_ih(o.throttle_time_ms, o.error_code)
    if o.error_message is None:
        out.append(0)
    else:
        s = o.error_message.encode()
        n = len(s) + 1
        out += UVARINTS[n] if n < 128 else long_string_length(n)
        out += s
    s = o.cluster_id.encode()
    n = len(s) + 1
    out += UVARINTS[n] if n < 128 else long_string_length(n)
    out += s
    out += _pack_i(o.controller_id)
    n = len(o.brokers) + 1
    out += UVARINTS[n] if n < 128 else uvarint(n)
    _write_describe_cluster_broker_v0(out, o.brokers)
    out += _pack_i(o.cluster_authorized_operations)
    out.append(0)
    return [out]


def _decode_describe_cluster_response_v1(buf: memoryview, pos: int, end: int, budget: list[int]) -> DescribeClusterResponse:
    o = new(DescribeClusterResponse)
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
    (o.endpoint_type,) = _unpack_b(buf, pos)
    pos += 1
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_long_string_length(buf, pos)
    n -= 1
    if n < 0:
        raise unexpected_null(pos, "cluster_id")
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
        raise unexpected_null(pos, "brokers")
    o.brokers, pos = _read_describe_cluster_broker_v0(buf, pos, end, n, budget)
    (o.cluster_authorized_operations,) = _unpack_i(buf, pos)
    pos += 4
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tags(buf, pos, end)
    return o


def _encode_describe_cluster_response_v1(o: DescribeClusterResponse) -> list[Part]:
    out = bytearray()
    out += _pack_ih(o.throttle_time_ms, o.error_code)
    if o.error_message is None:
        out.append(0)
    else:
        s = o.error_message.encode()
        n = len(s) + 1
        out += UVARINTS[n] if n < 128 else long_string_length(n)
        out += s
    out += _pack_b(o.endpoint_type)
    s = o.cluster_id.encode()
    n = len(s) + 1
    out += UVARINTS[n] if n < 128 else long_string_length(n)
    out += s
    out += _pack_i(o.controller_id)
    n = len(o.brokers) + 1
    out += UVARINTS[n] if n < 128 else uvarint(n)
    _write_describe_cluster_broker_v0(out, o.brokers)
    out += _pack_i(o.cluster_authorized_operations)
    out.append(0)
    return [out]


def _read_describe_cluster_broker_v2(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[DescribeClusterBroker], int]:
    if count * 12 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 264
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[DescribeClusterBroker] = []
    for _ in range(count):
        o = new(DescribeClusterBroker)
        (o.broker_id,) = _unpack_i(buf, pos)
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
        o.is_fenced = buf[pos] != 0
        pos += 1
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tags(buf, pos, end)
        items.append(o)
    return items, pos


def _decode_describe_cluster_response_v2(buf: memoryview, pos: int, end: int, budget: list[int]) -> DescribeClusterResponse:
    o = new(DescribeClusterResponse)
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
    (o.endpoint_type,) = _unpack_b(buf, pos)
    pos += 1
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_long_string_length(buf, pos)
    n -= 1
    if n < 0:
        raise unexpected_null(pos, "cluster_id")
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
        raise unexpected_null(pos, "brokers")
    o.brokers, pos = _read_describe_cluster_broker_v2(buf, pos, end, n, budget)
    (o.cluster_authorized_operations,) = _unpack_i(buf, pos)
    pos += 4
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tags(buf, pos, end)
    return o


def _write_describe_cluster_broker_v2(
    out: bytearray, items: Sequence[DescribeClusterBroker]
) -> None:
    for o in items:
        out += _pack_i(o.broker_id)
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
        out += _pack_t(o.is_fenced)
        out.append(0)


def _encode_describe_cluster_response_v2(o: DescribeClusterResponse) -> list[Part]:
    out = bytearray()
    out += _pack_ih(o.throttle_time_ms, o.error_code)
    if o.error_message is None:
        out.append(0)
    else:
        s = o.error_message.encode()
        n = len(s) + 1
        out += UVARINTS[n] if n < 128 else long_string_length(n)
        out += s
    out += _pack_b(o.endpoint_type)
    s = o.cluster_id.encode()
    n = len(s) + 1
    out += UVARINTS[n] if n < 128 else long_string_length(n)
    out += s
    out += _pack_i(o.controller_id)
    n = len(o.brokers) + 1
    out += UVARINTS[n] if n < 128 else uvarint(n)
    _write_describe_cluster_broker_v2(out, o.brokers)
    out += _pack_i(o.cluster_authorized_operations)
    out.append(0)
    return [out]


DescribeClusterRequest.DECODERS = {
    0: _decode_describe_cluster_request_v0,
    1: _decode_describe_cluster_request_v1,
    2: _decode_describe_cluster_request_v2,
}
DescribeClusterRequest.ENCODERS = {
    0: _encode_describe_cluster_request_v0,
    1: _encode_describe_cluster_request_v1,
    2: _encode_describe_cluster_request_v2,
}
DescribeClusterResponse.DECODERS = {
    0: _decode_describe_cluster_response_v0,
    1: _decode_describe_cluster_response_v1,
    2: _decode_describe_cluster_response_v2,
}
DescribeClusterResponse.ENCODERS = {
    0: _encode_describe_cluster_response_v0,
    1: _encode_describe_cluster_response_v1,
    2: _encode_describe_cluster_response_v2,
}
