"""Encodes metrics as OpenTelemetry's MetricsData, which clients push to brokers (KIP-714).

Writes gauges and monotonic sums with one double per data point. A protobuf message is a sequence of
fields with number and wire type; OpenTelemetry's package needs protobuf, which is larger than this
client. Metrics without a value (NaN) are left out.

Numbers of the fields: MetricsData.resource_metrics 1, ResourceMetrics.scope_metrics 2,
ScopeMetrics.scope 1, metrics 2, InstrumentationScope.name 1; Metric.name 1, gauge 5, sum 7; Gauge
and Sum.data_points 1, Sum.aggregation_temporality 2, is_monotonic 3; NumberDataPoint.time_unix_nano
3, as_double 4, attributes 7, start_time_unix_nano 2; KeyValue.key 1, value 2; AnyValue.string 1.
"""

import math
import struct
from collections.abc import Iterable

from barnabas.runtime.metric_types import Metric, attributes, telemetry_name
from barnabas.runtime.metrics import MetricKind

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
