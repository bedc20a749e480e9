"""Metrics of producers, consumers and admin clients at a real broker, and their reporters."""

import json
import threading
import time

import pytest
from support.clients.metric_moves import assert_moved
from support.network.otlp_collector import otlp_collector

import barnabas.aio
from barnabas import Admin, BarnabasError, ConfigError, Consumer, LocalError, Producer
from barnabas.admin import ConfigResource
from barnabas.broker.metrics.client_telemetry import decode_metrics
from barnabas.model.ids import TopicPartition
from barnabas.testing import Broker

pytestmark = pytest.mark.integration


@pytest.fixture(scope="module")
def broker():
    with Broker(in_memory=True) as running:
        yield running


def settings(broker, **more):
    return {"bootstrap_servers": broker.bootstrap_servers, "client_id": "measured", **more}


def wait_for(condition, seconds=60):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "the condition did not become true"
        threading.Event().wait(0.02)


def test_a_producer_that_sends(broker):
    topic = broker.topic()
    level = {"metrics_recording_level": "DEBUG", "compression_type": "lz4"}
    with Producer(**settings(broker, **level)) as producer:
        for _ in range(100):
            producer.send(topic, b"value" * 20)
        producer.flush(10)
        metrics = producer.metrics()
    assert_moved(metrics.values(), "test_client_metrics.py::test_a_producer_that_sends")
    assert metrics.value("record-send-total") == 100
    assert metrics.value("record-send-total", topic=topic) == 100
    assert metrics.value("records-per-request-avg") <= 100
    assert metrics.value("record-error-total") == 0
    assert {metric.name.tag("client-id") for metric in metrics.values()} == {"measured"}


def test_percentiles_need_the_level_debug(broker):
    with Producer(**settings(broker)) as producer:
        assert not producer.metrics().find("request-latency-p99")


def test_a_producer_with_transactions(broker):
    topic = broker.topic()
    with Producer(**settings(broker, transactional_id="measured")) as producer:
        producer.init_transactions()
        producer.begin_transaction()
        producer.send(topic, b"x")
        group = barnabas.GroupMetadata("measured")
        producer.send_offsets_to_transaction({TopicPartition(topic, 0): 1}, group)
        producer.commit_transaction()
        producer.begin_transaction()
        producer.abort_transaction()
        metrics = producer.metrics()
    assert_moved(metrics.values(), "test_client_metrics.py::test_a_producer_with_transactions")


def test_a_producer_whose_records_fail(broker):
    topic = broker.topic()
    limit = {ConfigResource.topic(topic): {"max.message.bytes": "300"}}
    broker.admin.alter_configs(limit).check()
    with Producer(**settings(broker, linger_ms=50)) as producer:
        for size in (100, 100, 100, 1000):
            producer.send(topic, b"x" * size)
        producer.flush(10)
        metrics = producer.metrics()
    assert_moved(metrics.values(), "test_client_metrics.py::test_a_producer_whose_records_fail")
    assert metrics.value("record-error-total") == 1


class Listener:
    def on_partitions_assigned(self, partitions):
        threading.Event().wait(0.001)

    on_partitions_revoked = on_partitions_assigned


def test_a_consumer_of_a_group(broker):
    topic = broker.topic()
    with Producer(**settings(broker)) as producer:
        for _ in range(100):
            producer.send(topic, b"value" * 20)
    group = {
        "group_id": topic,
        "auto_offset_reset": "earliest",
        "max_poll_records": 10,
        "metrics_recording_level": "DEBUG",
        "session_timeout_ms": 6000,
        "heartbeat_interval_ms": 100,
    }
    with Consumer(**settings(broker, **group)) as consumer:
        consumer.subscribe([topic], Listener())
        consumer.wait_for_assignment(10)
        seen = 0
        wait_for(lambda: consumer.metrics().value("heartbeat-total") > 0)
        while not seen:
            seen = sum(map(len, consumer.poll(1).values()))
        consumer.commit()
        consumer.committed()
        consumer.poll(1)
        running = consumer.metrics()
        assert running.value("records-lag", topic=topic, partition=0) == 80
        assert running.value("buffered-bytes") > 0
        consumer.unsubscribe()
        consumer.subscribe([topic], Listener())
        consumer.wait_for_assignment(10)
        while consumer.poll(1):
            pass
        metrics = consumer.metrics()
    assert seen == 10
    both = [*running.values(), *metrics.values()]
    assert_moved(both, "test_client_metrics.py::test_a_consumer_of_a_group")
    assert metrics.value("records-consumed-total") == metrics.value(
        "records-consumed-total", topic=topic
    )
    assert metrics.value("records-consumed-total") == 110
    assert metrics.value("records-lag", topic=topic, partition=0) == 0


def test_iteration_and_arrow_count_records(broker):
    topic = broker.topic()
    with Producer(**settings(broker)) as producer:
        for _ in range(50):
            producer.send(topic, b"value")
    with Consumer(**settings(broker, auto_offset_reset="earliest")) as consumer:
        consumer.assign([(topic, 0)])
        for record in consumer:
            if record.offset == 29:
                break
        rest = consumer.poll_arrow(5).num_rows
        assert rest == 20
        assert consumer.metrics().value("records-consumed-total") == 50
        assert consumer.metrics().value("bytes-consumed-total") > 50 * 5


def test_the_keys_of_the_former_dictionary_still_work(broker):
    with Consumer(**settings(broker)) as consumer:
        consumer.assign([(broker.topic(), 0)])
        with pytest.warns(DeprecationWarning, match="assigned-partitions"):
            assert consumer.metrics()["assigned-partitions"] == 1


def test_an_admin_client(broker):
    with Admin(**settings(broker)) as admin:
        admin.list_topics()
        metrics = admin.metrics()
    assert_moved(metrics.values(), "test_client_metrics.py::test_an_admin_client")


async def test_asyncio_clients(broker):
    topic = broker.topic()
    async with barnabas.aio.Producer(**settings(broker)) as producer:
        await producer.send_and_wait(topic, b"x")
        assert producer.metrics().value("record-send-total") == 1
    async with barnabas.aio.Consumer(**settings(broker, auto_offset_reset="earliest")) as consumer:
        consumer.assign([(topic, 0)])
        while not await consumer.poll(1):
            pass
        assert consumer.metrics().value("records-consumed-total") == 1
    async with barnabas.aio.Admin(**settings(broker)) as admin:
        await admin.list_topics()
        assert admin.metrics().value("connection-count") == 1


def test_json_lines_of_a_client(broker, tmp_path):
    file, topic = tmp_path / "metrics.json", broker.topic()
    options = {"metric_reporters": "json", "metrics_json_file": str(file)}
    with Producer(**settings(broker, **options)) as producer:
        producer.send(topic, b"x").result(60)
    (line,) = file.read_text().splitlines()  # the last report, by close()
    metrics = {each["name"]: each["value"] for each in json.loads(line)["metrics"]}
    assert metrics["record-send-total"] == 1


@pytest.fixture
def collector():
    with otlp_collector() as running:
        yield running


def test_metrics_reach_an_opentelemetry_collector(broker, collector):
    topic = broker.topic()
    url = f"{collector.url}/v1/metrics"
    options = {"metric_reporters": ["otlp"], "metrics_otlp_endpoint": url}
    with Producer(**settings(broker, **options)) as producer:
        producer.send(topic, b"x").result(60)
    found = {s.name: s for s in decode_metrics(memoryview(collector.bodies[-1]), 10_000)}
    sent = found["org.apache.kafka.producer.topic.record.send.total"]
    assert (sent.value, dict(sent.attributes)) == (1, {"client_id": "measured", "topic": topic})


def test_a_misspelt_reporter_is_a_configuration_error(broker):
    with pytest.raises(ConfigError, match=r"metric\.reporters='jason'"):
        Producer(**settings(broker, metric_reporters="jason"))


def test_a_broker_that_collects_no_metrics_gives_no_instance_id(broker):
    with (
        Producer(**settings(broker)) as producer,
        pytest.raises(BarnabasError, match="GET_TELEMETRY_SUBSCRIPTIONS"),
    ):
        producer.client_instance_id(5)
    with (
        Producer(**settings(broker, enable_metrics_push=False)) as producer,
        pytest.raises(LocalError, match=r"enable\.metrics\.push"),
    ):
        producer.client_instance_id(5)
