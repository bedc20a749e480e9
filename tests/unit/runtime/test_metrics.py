"""Counters, histograms, names and the registry of metrics."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from barnabas.runtime.metrics import Histogram, Metric, MetricKind, Registry, RequestHistograms

COUNTER, GAUGE, HISTOGRAM = MetricKind


@pytest.mark.parametrize(
    ("bean", "kind", "expected"),
    [
        (
            "kafka.server:type=BrokerTopicMetrics,name=MessagesInPerSec",
            COUNTER,
            "kafka_server_brokertopicmetrics_messagesin",
        ),
        (
            "kafka.server:type=ReplicaManager,name=UnderReplicatedPartitions",
            GAUGE,
            "kafka_server_replicamanager_underreplicatedpartitions",
        ),
        (
            "kafka.coordinator.group:type=GroupMetadataManager,name=NumOffsets",
            GAUGE,
            "kafka_coordinator_group_groupmetadatamanager_numoffsets",
        ),
        (
            "kafka.server:type=socket-server-metrics,name=connection-count",
            GAUGE,
            "kafka_server_socket_server_metrics_connection_count",
        ),
        ("barnabas_event_loop_lag_seconds", GAUGE, "barnabas_event_loop_lag_seconds"),
    ],
)
def test_prometheus_names_follow_the_rules_of_the_jmx_exporter(bean, kind, expected):
    assert Metric(bean, kind, "", "").prometheus_name == expected


@given(st.lists(st.integers(0, 2**62), min_size=1, max_size=200))
def test_quantiles_are_within_an_eighth_of_the_exact_value(values):
    histogram = Histogram()
    for value in values:
        histogram.record(value)
    ordered = sorted(values)
    for quantile, found in zip(
        (0.5, 0.9, 1.0), histogram.quantiles(0, (0.5, 0.9, 1.0)), strict=True
    ):
        index = next(i for i in range(len(ordered)) if i + 1 >= quantile * len(ordered))
        assert abs(found - ordered[index]) <= ordered[index] / 8
    assert (histogram.count, histogram.total) == (len(values), sum(values))


@pytest.mark.parametrize(
    ("local_ns", "recorded"), [(7, [5, 0, 7, 0, 7]), (-1, [5, 0, 0, 0, 0])], ids=["later", "before"]
)
def test_the_histograms_of_a_request_never_get_a_negative_value(local_ns, recorded):
    size, queue, local, remote, total = histograms = [Histogram() for _ in range(5)]
    RequestHistograms(size, queue, local, remote, total).record(5, -3, local_ns)
    assert [(h.count, h.total, h.largest) for h in histograms] == [(1, n, n) for n in recorded]


def test_quantiles_describe_the_last_minute():
    histogram = Histogram()
    for _ in range(100):
        histogram.record(1000)
    assert histogram.quantiles(0, (0.5,)) == [992.0]
    for _ in range(10):
        histogram.record(5)
    assert histogram.quantiles(30_000, (0.5,)) == [992.0]
    assert histogram.quantiles(60_000, (0.5,)) == [5.0]
    assert histogram.quantiles(150_000, (0.5,)) == [0.0]


def test_quantiles_describe_the_window_of_the_registry():
    family = Registry(window_ms=600).histograms(Metric("time", HISTOGRAM, "ms", ""))
    histogram = family.labels()
    histogram.record(1000)
    assert histogram.quantiles(0, (0.5,), family.window_ms) == [992.0]
    histogram.record(5)
    assert histogram.quantiles(600, (0.5,), family.window_ms) == [5.0]


def test_a_counter_family_has_one_counter_per_label_values():
    family = Registry().counters(Metric("errors", COUNTER, "errors", "", ("error",)))
    family.labels("NONE").add()
    family.labels("NONE").add(2)
    family.labels("CORRUPT").value += 1
    assert list(family.samples()) == [(("NONE",), 3), (("CORRUPT",), 1)]
    family.remove("NONE")
    assert list(family.samples()) == [(("CORRUPT",), 1)]


def test_wrong_labels_and_repeated_names_are_rejected():
    registry = Registry()
    metric = Metric("errors", COUNTER, "errors", "", ("error",))
    family = registry.counters(metric)
    with pytest.raises(ValueError, match="labels"):
        family.labels("a", "b")
    with pytest.raises(ValueError, match="errors is already registered"):
        registry.gauge(metric, lambda: 1)
