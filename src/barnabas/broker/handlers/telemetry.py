"""GetTelemetrySubscriptions and PushTelemetry: metrics of clients (KIP-714).

Served only if the broker has an HTTP endpoint, which shows the metrics. Clients that see the APIs
in ApiVersions use them without further configuration.
"""

import secrets
from typing import Protocol

from barnabas.broker.handler import ApiHandler, HandlerContext, RequestPorts, Result
from barnabas.broker.metrics.client_telemetry import ClientTelemetry
from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BrokerError
from barnabas.model.ids import ZERO_UUID, Uuid
from barnabas.model.records import Codec
from barnabas.runtime.clock import Clock
from barnabas.wire.api_keys import ApiKey
from barnabas.wire.messages.get_telemetry_subscriptions import (
    GetTelemetrySubscriptionsRequest,
    GetTelemetrySubscriptionsResponse,
)
from barnabas.wire.messages.push_telemetry import PushTelemetryRequest, PushTelemetryResponse

_ACCEPTED = [Codec.ZSTD, Codec.LZ4, Codec.GZIP, Codec.SNAPPY]


class TelemetryPorts(RequestPorts, Protocol):
    """Parts of the broker that these handlers use."""

    clock: Clock
    client_telemetry: ClientTelemetry


def handle_get_telemetry_subscriptions(
    ctx: HandlerContext[TelemetryPorts], request: GetTelemetrySubscriptionsRequest
) -> Result:
    """Returns the metrics to push, and an id for a client that has none."""
    services = ctx.services
    telemetry = services.client_telemetry
    is_new = request.client_instance_id == ZERO_UUID
    instance = Uuid.random(secrets.token_bytes) if is_new else request.client_instance_id
    try:
        wanted = telemetry.subscribe(instance, _labels(ctx), _attributes(ctx, instance))
    except BrokerError as error:
        return GetTelemetrySubscriptionsResponse(error_code=error.code)
    return GetTelemetrySubscriptionsResponse(
        client_instance_id=instance if is_new else ZERO_UUID,
        subscription_id=wanted.subscription_id,
        accepted_compression_types=[int(codec) for codec in _ACCEPTED],
        push_interval_ms=wanted.interval_ms,
        telemetry_max_bytes=telemetry.max_bytes,
        delta_temporality=False,
        requested_metrics=wanted.metrics,
    )


def _labels(ctx: HandlerContext[TelemetryPorts]) -> tuple[str, ...]:
    software = " ".join(ctx.connection.client_software)
    return ctx.header.client_id or "", software, str(ctx.principal)


def _attributes(ctx: HandlerContext[TelemetryPorts], instance: Uuid) -> dict[str, str]:
    """Returns the values that the patterns of `client-metrics` resources are matched with."""
    name, version = ctx.connection.client_software
    host, port = ctx.connection.stream.peer
    return {
        "client_instance_id": str(instance),
        "client_id": ctx.header.client_id or "",
        "client_software_name": name,
        "client_software_version": version,
        "client_source_address": host,
        "client_source_port": str(port),
    }


def handle_push_telemetry(
    ctx: HandlerContext[TelemetryPorts], request: PushTelemetryRequest
) -> Result:
    services = ctx.services
    try:
        services.client_telemetry.push(
            request.client_instance_id,
            request.subscription_id,
            request.compression_type,
            memoryview(request.metrics),
            terminating=request.terminating,
        )
    except BrokerError as error:
        return PushTelemetryResponse(error_code=error.code)
    return PushTelemetryResponse(error_code=ErrorCode.NONE)


HANDLERS = (
    ApiHandler(ApiKey.GET_TELEMETRY_SUBSCRIPTIONS, (0, 0), handle_get_telemetry_subscriptions),
    ApiHandler(ApiKey.PUSH_TELEMETRY, (0, 0), handle_push_telemetry),
)
