"""Pushes a client's metrics to brokers that subscribe to them (KIP-714, enable.metrics.push).

A broker that does not serve the APIs costs nothing: the first connection shows it, and no task is
started. Otherwise one task requests the subscription, waits, pushes, and requests the subscription
again when the broker rejects a push with a code of `RESUBSCRIBE`. It uses connections that are open
anyway. Failures are logged at level DEBUG only: metrics must not disturb the application.

The payload is OpenTelemetry's MetricsData: gauges and monotonic sums with one double per data
point. It is encoded here, because OpenTelemetry's package needs protobuf, which is larger than this
client. A protobuf message is a sequence of fields with number and wire type. Metrics without a
value (NaN) are left out.

Numbers of the fields: MetricsData.resource_metrics 1, ResourceMetrics.scope_metrics 2,
ScopeMetrics.scope 1, metrics 2, InstrumentationScope.name 1; Metric.name 1, gauge 5, sum 7; Gauge
and Sum.data_points 1, Sum.aggregation_temporality 2, is_monotonic 3; NumberDataPoint.time_unix_nano
3, as_double 4, attributes 7, start_time_unix_nano 2; KeyValue.key 1, value 2; AnyValue.string 1.
"""

import asyncio
import logging
import math
import random
import struct
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Protocol

from barnabas.clients.metrics.client_metrics import ClientMetrics
from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BarnabasError, BrokerError, DeadlineError, LocalError
from barnabas.model.ids import ZERO_UUID, Uuid
from barnabas.model.records import Codec
from barnabas.net.client import ClientConnection
from barnabas.records.compression import compress
from barnabas.runtime.metric_types import Metric, MetricName, attributes, telemetry_name
from barnabas.runtime.metrics import MetricKind
from barnabas.wire.api_keys import ApiKey
from barnabas.wire.messages.get_telemetry_subscriptions import (
    GetTelemetrySubscriptionsRequest,
    GetTelemetrySubscriptionsResponse,
)
from barnabas.wire.messages.push_telemetry import PushTelemetryRequest, PushTelemetryResponse

logger = logging.getLogger(__name__)

MAX_METRICS = 2_000
"""Metrics in one push; a consumer of many partitions has more."""
# The pause while there is no subscription, and after an error of the connection.
RETRY_SECONDS = 30.0
LAST_PUSH_SECONDS = 0.25
"""Longest time that `close()` of a client waits for the last push."""
FINAL = frozenset({ErrorCode.INVALID_REQUEST, ErrorCode.UNSUPPORTED_VERSION})
RESUBSCRIBE = frozenset({ErrorCode.UNKNOWN_SUBSCRIPTION_ID, ErrorCode.UNSUPPORTED_COMPRESSION_TYPE})


class Connections(Protocol):
    """The connections of a client."""

    def open_connection(self) -> ClientConnection | None:
        """Returns an open connection for short requests, or None."""
        ...

    async def any_connection(self) -> ClientConnection:
        """Returns an open connection; opens one if there is none."""
        ...


@dataclass(frozen=True, slots=True)
class PushSubscription:
    """The broker's subscription: which metrics a client pushes, and how."""

    id: int
    interval_s: float
    prefixes: tuple[str, ...]
    codec: Codec
    max_bytes: int
    delta: bool

    def includes(self, name: MetricName) -> bool:
        text = telemetry_name(name)
        return any(text.startswith(prefix) for prefix in self.prefixes)


class TelemetryPush:
    """Pushes the metrics of one client to brokers that request them.

    Owned by the client's event loop. `connected` starts it.
    """

    def __init__(self, connections: Connections, metrics: ClientMetrics) -> None:
        self._connections = connections
        self._metrics = metrics
        self._instance_id = ZERO_UUID
        self._subscription: PushSubscription | None = None
        self._task: asyncio.Task[None] | None = None
        self._started_ms = self._pushed_ms = metrics.clock.now_ms()
        self._last: dict[MetricName, float] = {}
        self._uncompressed = False

    def connected(self, connection: ClientConnection) -> None:
        """Starts the task if this broker serves the APIs and none runs yet."""
        if self._task is None and ApiKey.GET_TELEMETRY_SUBSCRIPTIONS in connection.versions:
            self._task = asyncio.get_running_loop().create_task(self._run())

    async def instance_id(self, timeout_s: float) -> Uuid:
        """Returns the id that a broker gave to this client.

        Raises:
            BrokerError: the brokers do not collect metrics of clients (UNSUPPORTED_VERSION).
            DeadlineError: there is no response after `timeout_s` seconds.
        """
        if timeout_s < 0:
            raise LocalError(f"the timeout must not be negative: {timeout_s}")
        if self._instance_id == ZERO_UUID:
            try:
                async with asyncio.timeout(timeout_s):
                    await self._subscribe(await self._connections.any_connection())
            except TimeoutError:
                raise DeadlineError(f"no client instance id within {timeout_s:g} s") from None
        return self._instance_id

    async def close(self) -> None:
        """Stops, and pushes a last time if the broker has a subscription."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
        connection = self._connections.open_connection()
        if self._subscription is None or connection is None or not self._subscription.prefixes:
            return
        try:
            async with asyncio.timeout(LAST_PUSH_SECONDS):
                await self._push(connection, self._subscription, terminating=True)
        except (BarnabasError, TimeoutError) as error:
            logger.debug("the last push of metrics failed: %s", error)

    # -- the task ------------------------------------------------------------------------------

    async def _run(self) -> None:
        jitter = random.uniform(0.5, 1.5)  # clients that start together do not push together
        while True:
            try:
                pause_s = await self._step()
            except BrokerError as error:
                logger.debug("metrics are not pushed: %s", error)
                if error.code in FINAL:
                    return
                pause_s = self._interval_s()
            except BarnabasError as error:
                logger.debug("metrics are not pushed now: %s", error)
                pause_s = RETRY_SECONDS
            await asyncio.sleep(pause_s * jitter)
            jitter = 1.0

    async def _step(self) -> float:
        """Requests the subscription or pushes; returns the seconds until the next step."""
        connection = self._connections.open_connection()
        if connection is None:
            return self._interval_s()
        if self._subscription is None or not self._subscription.prefixes:
            await self._subscribe(connection)
        else:
            await self._push(connection, self._subscription, terminating=False)
        return self._interval_s()

    def _interval_s(self) -> float:
        return RETRY_SECONDS if self._subscription is None else self._subscription.interval_s

    async def _subscribe(self, connection: ClientConnection) -> None:
        request = GetTelemetrySubscriptionsRequest(client_instance_id=self._instance_id)
        response: GetTelemetrySubscriptionsResponse = await connection.send(request)
        _check(response.error_code)
        if response.client_instance_id != ZERO_UUID:
            self._instance_id = response.client_instance_id
        self._subscription = PushSubscription(
            response.subscription_id,
            max(response.push_interval_ms, 1) / 1000,
            tuple(response.requested_metrics),
            Codec.NONE if self._uncompressed else _codec(response.accepted_compression_types),
            response.telemetry_max_bytes,
            response.delta_temporality,
        )

    async def _push(
        self, connection: ClientConnection, subscription: PushSubscription, *, terminating: bool
    ) -> None:
        request = self._request(subscription, terminating=terminating)
        response: PushTelemetryResponse = await connection.send(request)
        code = ErrorCode.of(response.error_code)
        if code in RESUBSCRIBE:
            self._uncompressed |= code is ErrorCode.UNSUPPORTED_COMPRESSION_TYPE
            if not terminating:
                await self._subscribe(connection)
            return
        if code is ErrorCode.TELEMETRY_TOO_LARGE:
            self._subscription = None
        _check(response.error_code)

    def _request(
        self, subscription: PushSubscription, *, terminating: bool
    ) -> PushTelemetryRequest:
        now_ms = self._metrics.clock.now_ms()
        wanted = (m for m in self._metrics.read(MAX_METRICS) if subscription.includes(m.name))
        metrics = self._changes(wanted) if subscription.delta else list(wanted)
        start_ms = self._pushed_ms if subscription.delta else self._started_ms
        self._pushed_ms = now_ms
        data, codec = b"", Codec.NONE
        for limit in _limits(len(metrics)):
            plain = encode_metrics(metrics[:limit], start_ms, now_ms, delta=subscription.delta)
            codec = subscription.codec
            data = plain if codec is Codec.NONE else bytes(compress(codec, plain))
            if not subscription.max_bytes or len(plain) <= subscription.max_bytes:
                break
        return PushTelemetryRequest(
            self._instance_id, subscription.id, terminating, int(codec), data
        )

    def _changes(self, metrics: Iterable[Metric]) -> list[Metric]:
        """Returns the metrics with the change of each sum since the last push."""
        found: list[Metric] = []
        for metric in metrics:
            if metric.kind is MetricKind.COUNTER:
                before = self._last.get(metric.name, 0.0)
                self._last[metric.name] = metric.value
                metric = replace(metric, value=metric.value - before)
            found.append(metric)
        return found


def _limits(count: int) -> Iterable[int]:
    """Yields numbers of metrics to try until a request fits: `count`, a half, a quarter, …"""
    while count > 0:
        yield count
        count //= 2


def _codec(accepted: Iterable[int]) -> Codec:
    """Returns the first codec that this client has; the broker prefers the first ones."""
    known = {int(codec): codec for codec in Codec}
    return next((known[number] for number in accepted if number in known), Codec.NONE)


def _check(error_code: int) -> None:
    if error_code:
        raise BrokerError(ErrorCode.of(error_code))


NS_PER_MS = 1_000_000
_VARINT, _FIXED64, _BYTES = 0, 1, 2
_DELTA, _CUMULATIVE = 1, 2
_SCOPE = b"barnabas"


def encode_metrics(
    metrics: Iterable[Metric], start_ms: int, now_ms: int, *, delta: bool = False
) -> bytes:
    """Returns a MetricsData message; `delta` marks sums as changes since `start_ms`."""
    times = _fixed(2, start_ms * NS_PER_MS) + _fixed(3, now_ms * NS_PER_MS)
    encoded = b"".join(
        _field(2, _metric(metric, times, delta=delta))
        for metric in metrics
        if not math.isnan(metric.value)
    )
    scope = _field(1, _field(1, _SCOPE)) + encoded
    return _field(1, _field(2, scope))


def _metric(metric: Metric, times: bytes, *, delta: bool) -> bytes:
    name = _field(1, telemetry_name(metric.name).encode())
    value = _tag(4, _FIXED64) + struct.pack("<d", metric.value)
    tags = attributes(metric.name, with_client_id=False)
    labels = b"".join(_field(7, _attribute(key, text)) for key, text in tags.items())
    point = _field(1, times + value + labels)
    if metric.kind is not MetricKind.COUNTER:
        return name + _field(5, point)
    temporality = _DELTA if delta else _CUMULATIVE
    kind = _tag(2, _VARINT) + _varint(temporality) + _tag(3, _VARINT) + _varint(1)
    return name + _field(7, point + kind)


def _attribute(key: str, text: str) -> bytes:
    return _field(1, key.encode()) + _field(2, _field(1, text.encode()))


def _field(number: int, data: bytes) -> bytes:
    return _tag(number, _BYTES) + _varint(len(data)) + data


def _fixed(number: int, value: int) -> bytes:
    return _tag(number, _FIXED64) + struct.pack("<Q", value)


def _tag(number: int, kind: int) -> bytes:
    return _varint(number << 3 | kind)


def _varint(value: int) -> bytes:
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)
