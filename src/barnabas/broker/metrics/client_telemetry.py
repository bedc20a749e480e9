"""Metrics that clients push to the broker (KIP-714), for the endpoint /metrics.

A client requests a subscription and then pushes the metrics that it names periodically. The
`client-metrics` resources that apply to the client decide; without any such resource the broker
subscribes to all metrics of every client. It keeps the last values of each client until the client
closes or has not pushed for three intervals, within limits: a client cannot fill the broker's
memory or the monitoring system.
"""

import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from barnabas.broker.metrics import catalog
from barnabas.broker.metrics.otlp import ClientSample, decode_metrics
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


@dataclass(frozen=True, slots=True)
class TelemetrySubscription:
    """The metrics that one client pushes; none: it pushes nothing. The id names the content."""

    metrics: list[str]
    interval_ms: int

    @property
    def subscription_id(self) -> int:
        return zlib.crc32(f"{self.interval_ms} {self.metrics}".encode()) & 0x7FFFFFFF


Subscriptions = Callable[[], Mapping[str, ClientMetricsSubscription]]
"""Returns the current `client-metrics` resources."""


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
