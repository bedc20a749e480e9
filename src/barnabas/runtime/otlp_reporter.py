"""Sends metrics to an OpenTelemetry collector, by OTLP over HTTP.

Needs the extra `otel`. The exporter of OpenTelemetry encodes, compresses, authenticates and
retries; its environment variables (OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_EXPORTER_OTLP_HEADERS,
OTEL_RESOURCE_ATTRIBUTES, …) apply. Names of client metrics are those of KIP-714, such as
`org.apache.kafka.producer.record.send.total`; names of broker metrics are those of `/metrics`.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from barnabas.model.lazy_exports import optional_import
from barnabas.model.version import VERSION
from barnabas.runtime.clock import SystemClock
from barnabas.runtime.metric_types import Metric, attributes, telemetry_name
from barnabas.runtime.metrics import MetricKind

# This module is loaded only if metric.reporters names it; the package is an optional extra.
with optional_import():
    from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
    from opentelemetry.sdk.metrics.export import (
        AggregationTemporality,
        Gauge,
        MetricsData,
        NumberDataPoint,
        ResourceMetrics,
        ScopeMetrics,
        Sum,
    )
    from opentelemetry.sdk.metrics.export import Metric as OtelMetric
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.util.instrumentation import InstrumentationScope

NS_PER_MS = 1_000_000


class OtlpReporter:
    """Exports to `metrics.otlp.endpoint`, or to the endpoint of the environment."""

    def __init__(self) -> None:
        self._exporter: OTLPMetricExporter | None = None
        self._started_ns = SystemClock().now_ms() * NS_PER_MS
        self._scope = InstrumentationScope("barnabas", VERSION)
        self._resource = Resource.create()

    def configure(self, config: Mapping[str, Any]) -> None:
        endpoint = config.get("metrics.otlp.endpoint")
        self._exporter = OTLPMetricExporter(endpoint=endpoint)

    def report(self, metrics: Sequence[Metric], now_ms: int) -> None:
        assert self._exporter is not None, "configure() is called first"
        by_name: dict[str, list[Metric]] = {}
        for metric in metrics:
            if not math.isnan(metric.value):
                by_name.setdefault(telemetry_name(metric.name), []).append(metric)
        converted = [self._convert(name, group, now_ms) for name, group in by_name.items()]
        scope = ScopeMetrics(self._scope, converted, "")
        self._exporter.export(MetricsData([ResourceMetrics(self._resource, [scope], "")]))

    def close(self) -> None:
        if self._exporter is not None:
            self._exporter.shutdown()

    def _convert(self, name: str, metrics: Sequence[Metric], now_ms: int) -> OtelMetric:
        first = metrics[0]
        points = [
            NumberDataPoint(
                attributes(metric.name, with_client_id=True),
                self._started_ns,
                now_ms * NS_PER_MS,
                metric.value,
            )
            for metric in metrics
        ]
        if first.kind is MetricKind.COUNTER:
            data: Sum | Gauge = Sum(points, AggregationTemporality.CUMULATIVE, is_monotonic=True)
        else:
            data = Gauge(points)
        return OtelMetric(name, first.name.description, first.unit, data)
