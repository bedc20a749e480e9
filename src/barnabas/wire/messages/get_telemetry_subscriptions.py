"""Which metrics a client shall report, and how often (KIP-714).

Generated from schemas/get_telemetry_subscriptions.msg by codegen; edit that and run it again.
"""

from struct import Struct
from typing import ClassVar

from barnabas.model.errors import LocalError
from barnabas.model.ids import ZERO_UUID, Uuid
from barnabas.wire.message import FieldSpecs, Message, Request
from barnabas.wire.primitives import (
    EMPTY,
    Part,
    UVARINTS,
    int_elements,
    new,
    read_compact_strings,
    read_ints,
    read_long_uvarint,
    skip_tags,
    unexpected_null,
    uvarint,
    write_compact_strings,
)

_pack_u = Struct(">16s").pack
_pack_ihui = Struct(">ih16si").pack
_pack_iit = Struct(">ii?").pack
_unpack_u = Struct(">16s").unpack_from
_unpack_ihui = Struct(">ih16si").unpack_from
_unpack_iit = Struct(">ii?").unpack_from


class GetTelemetrySubscriptionsRequest(Request["GetTelemetrySubscriptionsResponse"]):
    __slots__ = (
        "client_instance_id",
    )
    API_KEY: ClassVar[int] = 71
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int] = 0
    FIELDS: ClassVar[FieldSpecs] = (
        ("client_instance_id", "uuid", 0, 0, False),
    )

    def __init__(
        self,
        client_instance_id: Uuid = ZERO_UUID,
    ) -> None:
        self.client_instance_id = client_instance_id  # zero in the first request of a client


class GetTelemetrySubscriptionsResponse(Message):
    __slots__ = (
        "throttle_time_ms",
        "error_code",
        "client_instance_id",
        "subscription_id",
        "accepted_compression_types",
        "push_interval_ms",
        "telemetry_max_bytes",
        "delta_temporality",
        "requested_metrics",
    )
    API_KEY: ClassVar[int] = 71
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int] = 0
    FIELDS: ClassVar[FieldSpecs] = (
        ("throttle_time_ms", "int32", 0, 0, False),
        ("error_code", "int16", 0, 0, False),
        ("client_instance_id", "uuid", 0, 0, False),
        ("subscription_id", "int32", 0, 0, False),
        ("accepted_compression_types", "[int8]", 0, 0, False),
        ("push_interval_ms", "int32", 0, 0, False),
        ("telemetry_max_bytes", "int32", 0, 0, False),
        ("delta_temporality", "bool", 0, 0, False),
        ("requested_metrics", "[string]", 0, 0, False),
    )

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        client_instance_id: Uuid = ZERO_UUID,
        subscription_id: int = 0,
        accepted_compression_types: list[int] = EMPTY,
        push_interval_ms: int = 0,
        telemetry_max_bytes: int = 0,
        delta_temporality: bool = False,
        requested_metrics: list[str] = EMPTY,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.client_instance_id = client_instance_id  # the new id if the request had none, else zero
        self.subscription_id = subscription_id
        self.accepted_compression_types = [] if accepted_compression_types is EMPTY else accepted_compression_types
        self.push_interval_ms = push_interval_ms
        self.telemetry_max_bytes = telemetry_max_bytes
        self.delta_temporality = delta_temporality
        self.requested_metrics = [] if requested_metrics is EMPTY else requested_metrics  # prefixes; none: no metrics, one empty text: all


def _decode_get_telemetry_subscriptions_request_v0(buf: memoryview, pos: int, end: int, budget: list[int]) -> GetTelemetrySubscriptionsRequest:
    o = new(GetTelemetrySubscriptionsRequest)
    (raw_client_instance_id,) = _unpack_u(buf, pos)
    pos += 16
    o.client_instance_id = Uuid(raw_client_instance_id)
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tags(buf, pos, end)
    return o


def _encode_get_telemetry_subscriptions_request_v0(o: GetTelemetrySubscriptionsRequest) -> list[Part]:
    out = bytearray()
    if len(o.client_instance_id) != 16:
        raise LocalError("a uuid has 16 bytes")
    out += _pack_u(o.client_instance_id)
    out.append(0)
    return [out]


def _decode_get_telemetry_subscriptions_response_v0(buf: memoryview, pos: int, end: int, budget: list[int]) -> GetTelemetrySubscriptionsResponse:
    o = new(GetTelemetrySubscriptionsResponse)
    o.throttle_time_ms, o.error_code, raw_client_instance_id, o.subscription_id = _unpack_ihui(buf, pos)
    pos += 26
    o.client_instance_id = Uuid(raw_client_instance_id)
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_long_uvarint(buf, pos)
    n -= 1
    if n < 0:
        raise unexpected_null(pos, "accepted_compression_types")
    o.accepted_compression_types, pos = read_ints(buf, pos, end, n, "b", budget)
    o.push_interval_ms, o.telemetry_max_bytes, o.delta_temporality = _unpack_iit(buf, pos)
    pos += 9
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_long_uvarint(buf, pos)
    n -= 1
    if n < 0:
        raise unexpected_null(pos, "requested_metrics")
    o.requested_metrics, pos = read_compact_strings(buf, pos, end, n, budget)
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tags(buf, pos, end)
    return o


def _encode_get_telemetry_subscriptions_response_v0(o: GetTelemetrySubscriptionsResponse) -> list[Part]:
    out = bytearray()
    if len(o.client_instance_id) != 16:
        raise LocalError("a uuid has 16 bytes")
    out += _pack_ihui(o.throttle_time_ms, o.error_code, o.client_instance_id, o.subscription_id)
    n = len(o.accepted_compression_types) + 1
    out += UVARINTS[n] if n < 128 else uvarint(n)
    out += int_elements(o.accepted_compression_types, "b")
    out += _pack_iit(o.push_interval_ms, o.telemetry_max_bytes, o.delta_temporality)
    n = len(o.requested_metrics) + 1
    out += UVARINTS[n] if n < 128 else uvarint(n)
    write_compact_strings(out, o.requested_metrics)
    out.append(0)
    return [out]


GetTelemetrySubscriptionsRequest.DECODERS = {
    0: _decode_get_telemetry_subscriptions_request_v0,
}
GetTelemetrySubscriptionsRequest.ENCODERS = {
    0: _encode_get_telemetry_subscriptions_request_v0,
}
GetTelemetrySubscriptionsResponse.DECODERS = {
    0: _decode_get_telemetry_subscriptions_response_v0,
}
GetTelemetrySubscriptionsResponse.ENCODERS = {
    0: _encode_get_telemetry_subscriptions_response_v0,
}
