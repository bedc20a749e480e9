"""Metrics that are hard to move at a real broker, moved by their meters; and the whole catalog."""

from dataclasses import dataclass
from threading import Lock
from time import monotonic_ns

import pytest
from support.clients.metric_moves import assert_moved, movers

from barnabas.clients.group.metrics import (
    CoordinatorMeters,
    FetchMeters,
    PartitionMetrics,
    add_coordinator_metrics,
    add_fetch_metrics,
)
from barnabas.clients.group.subscription import SubscriptionState
from barnabas.clients.metrics.catalog import CATALOG
from barnabas.clients.metrics.client_metrics import ClientMetrics, MetricsSettings
from barnabas.clients.metrics.network import NetworkMeters, add_network_metrics
from barnabas.clients.producer.batch import ProducerBatch
from barnabas.clients.producer.metrics import ProducerMeters, add_producer_metrics
from barnabas.model.ids import TopicPartition
from barnabas.net.connection_options import Address
from barnabas.runtime.clock import SystemClock
from barnabas.runtime.metric_types import MetricValues

CLOCK = SystemClock()


def client(kind):
    return ClientMetrics(kind, "c", MetricsSettings(), CLOCK)


def test_every_metric_of_the_catalog_is_moved_by_a_test():
    assert movers().keys() == CATALOG.keys()


@pytest.mark.parametrize("kind", ["producer", "consumer", "admin-client"])
def test_logins(kind):
    metrics, meters = client(kind), NetworkMeters(CLOCK)
    add_network_metrics(metrics, meters, lambda: 0, lambda address: 1)
    broker = meters.broker(Address("localhost", 9092))
    for meter in (meters.closed, meters.authenticated, meters.rejected):
        meter.record(1)
    broker.reauthenticated(0.25)
    broker.failed_reauthentications.record(1)
    values = MetricValues(metrics.read())
    assert_moved(values.values(), "test_moved_meters.py::test_logins", [f"{kind}-metrics"])
    assert values.value("reauthentication-latency-max") == 250


@dataclass
class Memory:
    total_bytes: int = 10
    available: int = 0
    waiting_count: int = 2


def test_a_producer_that_waits():
    metrics, meters = client("producer"), ProducerMeters(CLOCK)
    add_producer_metrics(metrics, meters, Memory(), lambda: 0.0, lambda: 3)
    meters.on_response(0.01, 40)
    meters.exhausted.record(1)
    meters.waited("bufferpool-wait", monotonic_ns() - 1_000_000)
    batch = ProducerBatch(TopicPartition("t", 0), 0, 0, Lock(), None)
    batch.count = 3
    meters.retried(batch)
    values = MetricValues(metrics.read())
    assert values.value("record-retry-total", topic="t") == 3
    assert_moved(values.values(), "test_moved_meters.py::test_a_producer_that_waits")
    assert values.value("produce-throttle-time-avg") == 40


def test_a_consumer_that_is_throttled_and_loses_partitions():
    metrics, fetches, members = client("consumer"), FetchMeters(CLOCK), CoordinatorMeters()
    subscription = SubscriptionState()
    subscription.assign([TopicPartition("t", 0)])
    subscription.states()[0].preferred_replica = 3
    add_fetch_metrics(metrics, fetches, lambda: 0)
    add_coordinator_metrics(metrics, members, lambda: 1)
    metrics.add(PartitionMetrics(metrics, subscription, committed_only=False))
    fetches.on_response(0.01, 40)
    members.failed_rebalances.record(1)
    members.called("lost", monotonic_ns() - 1_000_000)
    test = "test_moved_meters.py::test_a_consumer_that_is_throttled_and_loses_partitions"
    assert_moved(metrics.read(), test)


def test_meters_of_a_partition_that_was_revoked_are_dropped():
    fetches, subscription = FetchMeters(CLOCK), SubscriptionState()
    subscription.assign([TopicPartition("t", 0)])
    fetches.partition(subscription.states()[0])
    before = len(list(fetches))
    subscription.replace_assignment([])
    assert len(list(fetches)) == before - 2


def test_rebalances_are_counted_at_their_end():
    members = CoordinatorMeters()
    for in_progress, now_ms in ((True, 1000), (True, 1100), (False, 1500), (False, 1600)):
        members.rebalance(in_progress=in_progress, now_ms=now_ms)
    assert (members.rebalances.count, members.rebalances.total) == (1, 500)
    assert members.rebalance_ago(4500) == 3
