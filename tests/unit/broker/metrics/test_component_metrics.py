"""Numbers of components that an integration test cannot move quickly."""

from types import SimpleNamespace

from barnabas.broker.access.client_quotas import ClientQuotas
from barnabas.broker.fetch_sessions import FetchSessionCache
from barnabas.broker.metrics import broker_metrics, component_metrics
from barnabas.broker.metrics.component_catalog import REQUEST_ERRORS
from barnabas.broker.metrics.request_metrics import ErrorCounts
from barnabas.model.control import PartitionState
from barnabas.model.ids import TopicPartition
from barnabas.runtime.metrics import Registry
from barnabas.security.quotas import Limit
from barnabas.testing.virtual_clock import VirtualClock
from barnabas.wire.messages.metadata import MetadataResponse, MetadataResponseTopic
from barnabas.zk.sqlite_tree import EmbeddedStore


def value(registry, name, *labels):
    family = registry.find(name)
    return dict(family.source())[labels]


async def test_a_lost_session_is_counted():
    store = EmbeddedStore(VirtualClock())
    tree = store.session()
    registry = Registry()
    component_metrics._add_tree(registry, tree)
    tree.suspend()
    await tree.expire()
    await tree.create("/x")
    await store.close()
    assert value(registry, "kafka_server_sessionexpirelistener_zookeeperdisconnects") == 1
    assert value(registry, "kafka_server_sessionexpirelistener_zookeeperexpires") == 1
    assert value(registry, "kafka_server_sessionexpirelistener_zookeepersyncconnects") == 1
    times = registry.find("kafka_server_zookeeperclientmetrics_zookeeperrequestlatencyms")
    assert times.items()[0][1].count == 1


def test_an_evicted_fetch_session_is_counted():
    registry = Registry()
    cache = FetchSessionCache(iter(range(1, 100)).__next__, max_slots=1, min_eviction_ms=10)
    pool = SimpleNamespace(max_lag=7)
    services = SimpleNamespace(cluster=SimpleNamespace(fetchers=pool))
    component_metrics._add_fetching(registry, cache, services)
    for now_ms in (0, 100):
        plan = SimpleNamespace(
            wants_session=True, targets=[SimpleNamespace(key=("t", now_ms))], by_id=False
        )
        assert cache.try_create(plan, privileged=False, now_ms=now_ms)
    name = "kafka_server_fetchsessioncache_incrementalfetchsessionevictions"
    assert value(registry, name) == 1
    assert value(registry, "kafka_server_replicafetchermanager_maxlag") == 7


def test_a_reassigned_partition_is_counted_by_its_leader():
    state = PartitionState(TopicPartition("t", 0), 1, 0, (1,), (1, 2), adding=(2,))
    for broker_id, expected in ((1, 1), (2, 0)):
        found = broker_metrics.Counter()
        broker_metrics._count_partition(found, broker_id, state)
        assert found["reassigning"] == expected  # kafka_server_replicamanager_reassigningpartitions


def test_errors_in_lists_of_a_response_are_counted():
    counters = Registry().counters(REQUEST_ERRORS)
    errors = ErrorCounts(counters)
    topics = [MetadataResponseTopic(error_code=code, name="t") for code in (3, 3, 0, 17)]
    errors.add("Metadata", errors.find(MetadataResponse(topics=topics)))
    assert dict(counters.samples()) == {
        ("Metadata", "UNKNOWN_TOPIC_OR_PARTITION"): 2,
        ("Metadata", "INVALID_TOPIC_EXCEPTION"): 1,
    }


def test_throttle_times_are_recorded_by_quota():
    clock = VirtualClock()
    quotas = ClientQuotas(clock, samples=2, window_ms=1000)
    registry = Registry()
    component_metrics._add_quotas(registry, quotas)
    limit = Limit(1.0, ("ann", "reports"))
    for meter in (quotas.produce, quotas.fetch, quotas.requests, quotas.mutations):
        for _ in range(2):
            meter.record(limit, 100)
    for name in (
        "kafka_server_produce_throttle_time",
        "kafka_server_fetch_throttle_time",
        "kafka_server_request_throttle_time",
        "kafka_server_controllermutation_throttle_time",
    ):
        ((labels, times),) = registry.find(name).items()
        assert labels == ("ann", "reports")
        assert times.count >= 1
