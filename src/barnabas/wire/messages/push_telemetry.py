"""Metrics of a client, in OpenTelemetry's protobuf format (KIP-714).

Generated from schemas/push_telemetry.msg by codegen; edit that and run it again.
"""

from struct import Struct
from typing import ClassVar

from barnabas.model.errors import LocalError
from barnabas.model.ids import ZERO_UUID, Uuid
from barnabas.wire.message import FieldSpecs, Message, Request
from barnabas.wire.primitives import (
    Part,
    UVARINTS,
    new,
    overrun,
    read_long_uvarint,
    skip_tags,
    unexpected_null,
    uvarint,
)

_pack_uitb = Struct(">16si?b").pack
_pack_ih = Struct(">ih").pack
_unpack_uitb = Struct(">16si?b").unpack_from
_unpack_ih = Struct(">ih").unpack_from


class PushTelemetryRequest(Request["PushTelemetryResponse"]):
    __slots__ = (
        "client_instance_id",
        "subscription_id",
        "terminating",
        "compression_type",
        "metrics",
    )
    API_KEY: ClassVar[int] = 72
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int] = 0
    FIELDS: ClassVar[FieldSpecs] = (
        ("client_instance_id", "uuid", 0, 0, False),
        ("subscription_id", "int32", 0, 0, False),
        ("terminating", "bool", 0, 0, False),
        ("compression_type", "int8", 0, 0, False),
        ("metrics", "bytes", 0, 0, False),
    )

    def __init__(
        self,
        client_instance_id: Uuid = ZERO_UUID,
        subscription_id: int = 0,
        terminating: bool = False,
        compression_type: int = 0,
        metrics: bytes = b"",
    ) -> None:
        self.client_instance_id = client_instance_id
        self.subscription_id = subscription_id
        self.terminating = terminating  # the client is closing
        self.compression_type = compression_type
        self.metrics = metrics  # MetricsData


class PushTelemetryResponse(Message):
    __slots__ = (
        "throttle_time_ms",
        "error_code",
    )
    API_KEY: ClassVar[int] = 72
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int] = 0
    FIELDS: ClassVar[FieldSpecs] = (
        ("throttle_time_ms", "int32", 0, 0, False),
        ("error_code", "int16", 0, 0, False),
    )

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code


def _decode_push_telemetry_request_v0(buf: memoryview, pos: int, end: int, budget: list[int]) -> PushTelemetryRequest:
    o = new(PushTelemetryRequest)
    raw_client_instance_id, o.subscription_id, o.terminating, o.compression_type = _unpack_uitb(buf, pos)
    pos += 22
    o.client_instance_id = Uuid(raw_client_instance_id)
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_long_uvarint(buf, pos)
    n -= 1
    if n < 0:
        raise unexpected_null(pos, "metrics")
    q = pos + n
    if q > end:
        raise overrun(pos, n)
    o.metrics = bytes(buf[pos:q])
    pos = q
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tags(buf, pos, end)
    return o


def _encode_push_telemetry_request_v0(o: PushTelemetryRequest) -> list[Part]:
    out = bytearray()
    if len(o.client_instance_id) != 16:
        raise LocalError("a uuid has 16 bytes")
    out += _pack_uitb(o.client_instance_id, o.subscription_id, o.terminating, o.compression_type)
    n = len(o.metrics) + 1
    out += UVARINTS[n] if n < 128 else uvarint(n)
    out += o.metrics
    out.append(0)
    return [out]


def _decode_push_telemetry_response_v0(buf: memoryview, pos: int, end: int, budget: list[int]) -> PushTelemetryResponse:
    o = new(PushTelemetryResponse)
    o.throttle_time_ms, o.error_code = _unpack_ih(buf, pos)
    pos += 6
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tags(buf, pos, end)
    return o


def _encode_push_telemetry_response_v0(o: PushTelemetryResponse) -> list[Part]:
    out = bytearray()
    out += _pack_ih(o.throttle_time_ms, o.error_code)
    out.append(0)
    return [out]


PushTelemetryRequest.DECODERS = {
    0: _decode_push_telemetry_request_v0,
}
PushTelemetryRequest.ENCODERS = {
    0: _encode_push_telemetry_request_v0,
}
PushTelemetryResponse.DECODERS = {
    0: _decode_push_telemetry_response_v0,
}
PushTelemetryResponse.ENCODERS = {
    0: _encode_push_telemetry_response_v0,
}
