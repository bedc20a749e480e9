"""Names, tags and values of the metrics of a client."""

import math

import pytest

from barnabas.clients.metrics.client_metrics import ClientMetrics, MetricsSettings
from barnabas.runtime._meter_hot import Meter
from barnabas.runtime.metric_types import Metric, MetricName, MetricValues
from barnabas.runtime.metrics import Histogram, MetricKind


class VirtualClock:
    def __init__(self):
        self.ms = 0

    def monotonic_ms(self):
        return self.ms

    now_ms = monotonic_ms


@pytest.fixture
def metrics():
    return ClientMetrics("producer", "shop", MetricsSettings(), VirtualClock())


def test_a_group_reads_its_meters(metrics):
    group, meter = metrics.group("producer-metrics"), Meter()
    group.counted("batch-split", meter)
    metrics.add(group)
    meter.record(1)
    values = MetricValues(metrics.read())
    assert values.value("batch-split-total") == 1
    name = MetricName("batch-split-total", "producer-metrics", (("client-id", "shop"),))
    assert values[name].kind is MetricKind.COUNTER
    assert values[name].unit == "batches"
    assert name.tag("client-id") == "shop"


def test_percentiles_are_nan_without_values(metrics):
    group, times = metrics.group("producer-metrics"), Histogram()
    group.percentiles("request-latency", times, 0.001)
    metrics.add(group)
    assert all(math.isnan(metric.value) for metric in metrics.read())
    for microseconds in range(1000, 101_000, 1000):
        times.record(microseconds)
    values = MetricValues(metrics.read())
    assert values.value("request-latency-p50") == pytest.approx(50, rel=0.13)
    assert values.value("request-latency-p99") == pytest.approx(99, rel=0.13)


def test_an_undeclared_metric_is_an_error(metrics):
    with pytest.raises(KeyError):
        metrics.group("producer-metrics").gauge("no-such-metric", lambda: 1)


def test_reading_is_limited(metrics):
    group = metrics.group("producer-metrics")
    for name in ("batch-size-avg", "batch-size-max", "metadata-age"):
        group.gauge(name, lambda: 1)
    metrics.add(group)
    assert len(list(metrics.read(2))) == 2


def test_values_by_tags():
    tags = (("client-id", "c"), ("topic", "t"), ("partition", "0"))
    lag = Metric(MetricName("records-lag", "g", tags), 7.0, "records", MetricKind.GAUGE)
    values = MetricValues([lag])
    assert values.value("records-lag", topic="t", partition=0) == 7
    with pytest.raises(KeyError, match="records-lag"):
        values.value("records-lag")
    assert list(values) == [lag.name]


def test_keys_of_the_former_dictionary_are_deprecated():
    values = MetricValues([], {"buffered-bytes": 3})
    with pytest.warns(DeprecationWarning, match="buffered-bytes"):
        assert values["buffered-bytes"] == 3
    with pytest.raises(KeyError, match="use value"):
        values["unknown"]
