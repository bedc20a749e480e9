"""Metrics that clients push to the broker (KIP-714), for the endpoint /metrics.

A client requests a subscription and then pushes the metrics that it names periodically. The
`client-metrics` resources that apply to the client decide; without any such resource the broker
subscribes to all metrics of every client. It keeps the last values of each client until the client
closes or has not pushed for three intervals, within limits: a client cannot fill the broker's
memory or the monitoring system.

The pushed bytes are OpenTelemetry's MetricsData. Only what Kafka's clients send is read: gauges and
sums with numbers. A protobuf message is a sequence of fields with number and wire type; unknown
fields are skipped. The package of OpenTelemetry needs protobuf, which is larger than this broker.

Numbers of the fields: MetricsData.resource_metrics 1, ResourceMetrics.scope_metrics 2,
ScopeMetrics.metrics 2, Metric.name 1, gauge 5, sum 7; Gauge and Sum.data_points 1;
NumberDataPoint.as_double 4, as_int 6, attributes 7; KeyValue.key 1, value 2; AnyValue.string 1.
"""

import struct
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from barnabas.broker.metrics import catalog
from barnabas.model.config_keys.metrics import ALL_METRICS, ClientMetricsSubscription
from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BarnabasError, BrokerError, ProtocolError
from barnabas.model.ids import Uuid
from barnabas.model.records import Codec
from barnabas.records.compression import decompress
from barnabas.runtime.clock import Clock
from barnabas.runtime.metrics import Registry, Sample

MAX_CLIENTS = 10_000
MAX_SAMPLES = 1_000
_SILENT_INTERVALS = 3
_EARLY = 0.5
_EVERYTHING = [""]
Subscriptions = Callable[[], Mapping[str, ClientMetricsSubscription]]
"""Returns the current `client-metrics` resources."""
_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5
_MAX_VARINT_BYTES = 10
_GAUGE, _SUM = 5, 7
Field = tuple[int, int, int | memoryview]


@dataclass(frozen=True, slots=True)
class TelemetrySubscription:
    """The metrics that one client pushes; none: it pushes nothing. The id names the content."""

    metrics: list[str]
    interval_ms: int

    @property
    def subscription_id(self) -> int:
        return zlib.crc32(f"{self.interval_ms} {self.metrics}".encode()) & 0x7FFFFFFF


class ClientSample(NamedTuple):
    """One number that a client reported."""

    name: str
    attributes: tuple[tuple[str, str], ...]
    value: float


@dataclass(slots=True)
class _Client:
    labels: tuple[str, ...]
    attributes: Mapping[str, str]
    seen_ms: int
    interval_ms: int
    pushed_ms: int | None = None
    samples: list[ClientSample] = field(default_factory=list)


class ClientTelemetry:
    """The metrics of all clients that push them; owned by the broker's loop."""

    def __init__(
        self,
        registry: Registry,
        clock: Clock,
        interval_ms: int,
        max_bytes: int,
        subscriptions: Subscriptions = dict,
    ) -> None:
        """`max_bytes` limits one push, before and after its decompression."""
        self._default = TelemetrySubscription(_EVERYTHING, interval_ms)
        self._clock = clock
        self._subscriptions = subscriptions
        self.max_bytes = max_bytes
        self._clients: dict[Uuid, _Client] = {}
        registry.source(catalog.CLIENT_METRICS, self._source)
        registry.gauge(catalog.TELEMETRY_CLIENTS, lambda: sum(1 for _ in self._live()))

    def subscription_of(self, attributes: Mapping[str, str]) -> TelemetrySubscription:
        """Returns the metrics and the interval for a client with these attributes."""
        resources = self._subscriptions()
        if not resources:
            return self._default
        found = [item for item in resources.values() if item.metrics]
        found = [item for item in found if item.applies_to(attributes)]
        if not found:
            return TelemetrySubscription([], min(item.interval_ms for item in resources.values()))
        metrics = sorted({name for item in found for name in item.metrics})
        wanted = _EVERYTHING if ALL_METRICS in metrics else metrics
        return TelemetrySubscription(wanted, min(item.interval_ms for item in found))

    def subscribe(
        self, client: Uuid, labels: tuple[str, ...], attributes: Mapping[str, str]
    ) -> TelemetrySubscription:
        """Registers a client. Raises THROTTLING_QUOTA_EXCEEDED if there are too many."""
        now_ms = self._clock.monotonic_ms()
        self._clients = dict(self._live())
        wanted = self.subscription_of(attributes)
        known = self._clients.get(client)
        if known is not None:
            known.seen_ms, known.interval_ms = now_ms, wanted.interval_ms
            return wanted
        if len(self._clients) >= MAX_CLIENTS:
            raise BrokerError(ErrorCode.THROTTLING_QUOTA_EXCEEDED, "too many clients push metrics")
        self._clients[client] = _Client(labels, attributes, now_ms, wanted.interval_ms)
        return wanted

    def push(
        self,
        client: Uuid,
        subscription_id: int,
        codec: int,
        data: memoryview,
        *,
        terminating: bool,
    ) -> None:
        """Stores the metrics of a client.

        Raises:
            BrokerError: The client has no subscription, pushes too often or too much, or the data
                cannot be decoded.
        """
        now_ms = self._clock.monotonic_ms()
        known = self._clients.get(client)
        wanted = None if known is None else self.subscription_of(known.attributes)
        if known is None or wanted is None or subscription_id != wanted.subscription_id:
            raise BrokerError(ErrorCode.UNKNOWN_SUBSCRIPTION_ID)
        if len(data) > self.max_bytes:
            raise BrokerError(ErrorCode.TELEMETRY_TOO_LARGE)
        if terminating:
            del self._clients[client]  # it reports no more: stale values would mislead
            return
        if known.pushed_ms is not None and now_ms - known.pushed_ms < _EARLY * wanted.interval_ms:
            raise BrokerError(ErrorCode.THROTTLING_QUOTA_EXCEEDED)
        known.samples = self._decode(codec, data)
        known.seen_ms = known.pushed_ms = now_ms

    def _decode(self, codec: int, data: memoryview) -> list[ClientSample]:
        try:
            plain = decompress(Codec(codec), data, self.max_bytes) if codec else data
        except ValueError:
            raise BrokerError(ErrorCode.UNSUPPORTED_COMPRESSION_TYPE) from None
        except BarnabasError as error:
            raise BrokerError(ErrorCode.INVALID_RECORD, str(error)) from error
        try:
            return decode_metrics(memoryview(plain), MAX_SAMPLES)
        except ProtocolError as error:
            raise BrokerError(ErrorCode.INVALID_RECORD, str(error)) from error

    def _live(self) -> Iterator[tuple[Uuid, _Client]]:
        """Yields the clients that pushed or subscribed within three intervals."""
        now_ms = self._clock.monotonic_ms()
        for instance, client in list(self._clients.items()):
            if now_ms - client.seen_ms <= _SILENT_INTERVALS * client.interval_ms:
                yield instance, client

    def _source(self) -> Iterator[Sample]:
        for instance, client in self._live():
            for sample in client.samples:
                attributes = ",".join(f"{key}={value}" for key, value in sample.attributes)
                yield (sample.name, *client.labels, str(instance), attributes), sample.value


def decode_metrics(data: memoryview, max_samples: int) -> list[ClientSample]:
    """Returns the samples of a MetricsData message, at most `max_samples`.

    Raises:
        ProtocolError: The data is not a valid message.
    """
    found: list[ClientSample] = []
    try:
        for metric in _descend(data, (1, 2, 2)):
            found += _samples(metric)
            if len(found) > max_samples:
                return found[:max_samples]
    except (IndexError, struct.error, UnicodeDecodeError) as error:
        raise ProtocolError(f"invalid OpenTelemetry metrics: {error}") from error
    return found


def _descend(data: memoryview, path: tuple[int, ...]) -> Iterator[memoryview]:
    if not path:
        yield data
        return
    for number, _, value in _fields(data):
        if number == path[0] and isinstance(value, memoryview):
            yield from _descend(value, path[1:])


def _samples(metric: memoryview) -> Iterator[ClientSample]:
    name = ""
    points: list[memoryview] = []
    for number, _, value in _fields(metric):
        if isinstance(value, memoryview):
            if number == 1:
                name = str(value, "utf-8")
            elif number in (_GAUGE, _SUM):
                points += _descend(value, (1,))
    for point in points:
        sample = _sample(name, point)
        if sample is not None:
            yield sample


def _sample(name: str, point: memoryview) -> ClientSample | None:
    result: float | None = None
    attributes: list[tuple[str, str]] = []
    for number, kind, value in _fields(point):
        if kind == _FIXED64 and isinstance(value, memoryview) and number in (4, 6):
            result = struct.unpack("<d" if number == 4 else "<q", value)[0]
        elif number == 7 and isinstance(value, memoryview):
            attributes.append(_attribute(value))
    if result is None or not name:
        return None
    return ClientSample(name, tuple(sorted(attributes)), float(result))


def _attribute(data: memoryview) -> tuple[str, str]:
    key = text = ""
    for number, _, value in _fields(data):
        if not isinstance(value, memoryview):
            continue
        if number == 1:
            key = str(value, "utf-8")
        elif number == 2:
            text = _any_value(value)
    return key, text


def _any_value(data: memoryview) -> str:
    for number, _, value in _fields(data):
        if number == 1 and isinstance(value, memoryview):
            return str(value, "utf-8")
        if isinstance(value, int):
            return str(value)
    return ""


def _fields(data: memoryview) -> Iterator[Field]:
    """Yields number, wire type and value of each field."""
    at, end = 0, len(data)
    while at < end:
        tag, at = _varint(data, at)
        number, kind = tag >> 3, tag & 7
        if kind == _VARINT:
            value, at = _varint(data, at)
            yield number, kind, value
            continue
        if kind == _BYTES:
            size, at = _varint(data, at)
        elif kind in (_FIXED64, _FIXED32):
            size = 8 if kind == _FIXED64 else 4
        else:
            raise ProtocolError(f"invalid OpenTelemetry metrics: unknown wire type {kind}")
        if size > end - at:
            raise ProtocolError("invalid OpenTelemetry metrics: a field is longer than the message")
        yield number, kind, data[at : at + size]
        at += size


def _varint(data: memoryview, at: int) -> tuple[int, int]:
    result = 0
    for index in range(_MAX_VARINT_BYTES):
        byte = data[at + index]
        result |= (byte & 0x7F) << (7 * index)
        if byte < 0x80:
            return result, at + index + 1
    raise ProtocolError("invalid OpenTelemetry metrics: a number is longer than 10 bytes")
