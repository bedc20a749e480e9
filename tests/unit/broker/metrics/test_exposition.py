"""The text of the metrics: format, sums without labels, slices on the loop."""

import asyncio

import pytest
from prometheus_client.openmetrics.parser import text_string_to_metric_families as parse_openmetrics
from prometheus_client.parser import text_string_to_metric_families as parse_text

from barnabas.broker.metrics.exposition import Exposition
from barnabas.broker.metrics.request_metrics import RequestMetrics
from barnabas.broker.metrics.topic_metrics import TopicMetrics
from barnabas.records.builder import BatchBuilder
from barnabas.runtime.metrics import Metric, MetricKind, Registry
from barnabas.testing.virtual_clock import VirtualClock
from barnabas.wire.api_keys import ApiKey

OPENMETRICS = "application/openmetrics-text; version=1.0.0"


def values(text, parse=parse_text):
    return {
        (sample.name, *sorted(sample.labels.items())): sample.value
        for family in parse(text.decode())
        for sample in family.samples
    }


async def test_counts_of_topics_appear_by_topic_and_as_a_sum():
    registry = Registry()
    topics = TopicMetrics(registry)
    topics.of("a").messages_in += 3
    topics.of("b").messages_in += 4
    found = values((await Exposition(registry, VirtualClock()).render())[0])
    name = "kafka_server_brokertopicmetrics_messagesin_total"
    assert found[(name,)] == 7
    assert found[name, ("topic", "a")] == 3
    topics.forget(["a"])
    found = values((await Exposition(registry, VirtualClock()).render())[0])
    assert found[(name,)] == 7
    assert (name, ("topic", "a")) not in found


async def test_the_exemplar_of_a_topic_is_the_trace_of_one_of_its_records():
    registry = Registry()
    counters = TopicMetrics(registry).of("a")
    counters.messages_in += 2
    counters.find_trace(batch_with_trace("ab" * 16, "cd" * 8), 5000)
    counters.find_trace(batch_with_trace("not a trace", "x"), 6000)
    assert counters.trace_due_ms > 6000
    text, _ = await Exposition(registry, VirtualClock()).render(OPENMETRICS)
    (exemplar,) = (
        s.exemplar for f in parse_openmetrics(text.decode()) for s in f.samples if s.exemplar
    )
    assert exemplar.labels == {"trace_id": "ab" * 16, "span_id": "cd" * 8}
    assert float(exemplar.timestamp) == 5
    older, _ = await Exposition(registry, VirtualClock()).render()
    assert b"trace_id" not in older  # Prometheus' older format has no exemplars


def batch_with_trace(trace_id, span_id):
    builder = BatchBuilder()
    traced = [("own", b"x"), ("traceparent", f"00-{trace_id}-{span_id}-01".encode())]
    builder.append(b"key", b"value", timestamp_ms=0, headers=traced)
    return memoryview(builder.build())


async def test_requests_are_counted_by_version_and_timed():
    registry = Registry()
    meter = RequestMetrics(registry).of(ApiKey.PRODUCE)
    meter.served(9, 100, 500_000, 2_000_000)
    meter.started(9, 100, 500_000)
    meter.completed(1_000_000, 5_000_000)
    text, content_type = await Exposition(registry, VirtualClock()).render(OPENMETRICS)
    assert content_type.startswith("application/openmetrics-text")
    found = values(text, parse_openmetrics)
    prefix = "kafka_network_requestmetrics_"
    produce = ("request", "Produce")
    assert found[prefix + "requests_total", produce, ("version", "9")] == 2
    assert found[prefix + "requestqueuetimems_sum", produce] == 1
    assert found[prefix + "localtimems_sum", produce] == 3
    assert found[prefix + "remotetimems_sum", produce] == 4
    assert found[prefix + "totaltimems_sum", produce] == 7
    assert abs(found[prefix + "totaltimems", ("quantile", "0.99"), produce] - 5) < 0.6


async def test_a_large_family_is_written_in_slices_and_is_valid_text():
    registry = Registry()
    metric = Metric("many", MetricKind.GAUGE, "", "Many samples.", ("topic",))
    registry.source(metric, lambda: (((f'# "{n}"\n',), n) for n in range(1000)))
    turns = 0

    async def count_turns():
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    other = asyncio.ensure_future(count_turns())
    text, _ = await Exposition(registry, VirtualClock()).render(OPENMETRICS)
    other.cancel()
    assert turns >= 10
    assert text.count(b"# TYPE") == 1
    assert sum(values(text, parse_openmetrics).values()) == sum(range(1000))


@pytest.mark.parametrize("accept", ["", OPENMETRICS])
async def test_a_later_scrape_has_the_text_of_a_first_one(accept):
    registry = Registry()
    requests, topics = RequestMetrics(registry), TopicMetrics(registry)
    exposition = Exposition(registry, VirtualClock())
    requests.of(ApiKey.PRODUCE).served(9, 100, 500_000, 2_000_000)
    topics.of('quoted "name" \\ and\nlines').messages_in += 3
    await exposition.render(accept)
    requests.of(ApiKey.PRODUCE).served(9, 100, 500_000, 2_000_000)
    requests.of(ApiKey.FETCH).served(12, 100, 500_000, 2_000_000)
    topics.of("added").messages_in += 10**18
    again, _ = await exposition.render(accept)
    first, _ = await Exposition(registry, VirtualClock()).render(accept)
    assert again == first


async def test_labels_of_a_deleted_topic_are_forgotten():
    registry = Registry()
    topics = TopicMetrics(registry)
    exposition = Exposition(registry, VirtualClock())
    topics.of("deleted").messages_in += 1
    await exposition.render()
    assert "deleted" in kept_labels(exposition)
    topics.forget(["deleted"])
    await exposition.render()
    assert "deleted" not in kept_labels(exposition)


def kept_labels(exposition):
    """The labels whose texts the next scrape can use."""
    writers = [writer for known in exposition._formats.values() for writer in known.values()]
    return {labels for writer in writers for labels in writer.prefixes}


async def test_a_topic_with_an_exemplar_does_not_make_its_family_forget():
    registry = Registry()
    counters = TopicMetrics(registry).of("a")
    counters.messages_in += 1
    exposition = Exposition(registry, VirtualClock())
    await exposition.render(OPENMETRICS)
    kept = kept_labels(exposition)
    assert "a" in kept
    counters.find_trace(batch_with_trace("ab" * 16, "cd" * 8), 5000)
    await exposition.render(OPENMETRICS)
    assert kept_labels(exposition) == kept
