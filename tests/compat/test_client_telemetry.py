"""Clients of others push their metrics without configuration (KIP-714)."""

import os
import subprocess
import threading
import time
import urllib.request
from pathlib import Path

import confluent_kafka
import pytest
from prometheus_client.parser import text_string_to_metric_families
from support.network.scrape import Scrape

import barnabas
from barnabas.admin import ConfigResource, ConfigResourceType
from barnabas.testing import Broker

pytestmark = pytest.mark.integration

JARS = os.environ.get("BARNABAS_KAFKA_JARS")
PROGRAM = Path(__file__).parent / "java" / "PushMetrics.java"


@pytest.fixture(scope="module")
def broker():
    config = {"http.listener": "0", "client.telemetry.interval.ms": 500}
    with Broker(in_memory=True, config=config) as running:
        yield running


def pushed(broker):
    with urllib.request.urlopen(broker.http_url + "/metrics", timeout=60) as reply:
        families = text_string_to_metric_families(reply.read().decode())
        return {
            (sample.labels["client_id"], sample.labels["metric"])
            for family in families
            if family.name == "kafka_client_telemetry"
            for sample in family.samples
        }


def wait_for(condition, seconds=60):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "the condition did not become true"
        threading.Event().wait(0.1)


def test_librdkafka_pushes_its_metrics(broker):
    topic = broker.topic()
    producer = confluent_kafka.Producer(
        {"bootstrap.servers": broker.bootstrap_servers, "client.id": "stranger"}
    )

    def arrived():
        producer.produce(topic, b"x")
        producer.flush(5)
        return any(client == "stranger" for client, _ in pushed(broker))

    wait_for(arrived)
    names = {metric for client, metric in pushed(broker) if client == "stranger"}
    assert any(name.startswith("org.apache.kafka.producer") for name in names)
    found = Scrape(broker.http_url)
    assert found("kafka_client_telemetry", client_id="stranger") is not None
    assert found("kafka_client_telemetry_clients") >= 1


@pytest.mark.skipif(JARS is None, reason="BARNABAS_KAFKA_JARS names no Kafka clients")
def test_a_java_client_pushes_its_metrics(broker):
    """It stops pushing when it is closed: its values are removed."""
    command = ["java", "-cp", f"{JARS}/*", PROGRAM, broker.bootstrap_servers, broker.topic()]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL) as client:
        try:
            wait_for(lambda: "java-client" in clients(broker), 120)
            names = {metric for name, metric in pushed(broker) if name == "java-client"}
            samples = Scrape(broker.http_url).samples
        finally:
            client.communicate(b"end", timeout=60)
    assert client.returncode == 0
    assert "org.apache.kafka.producer.record.send.total" in names
    software = {sample.labels.get("software", "") for sample in samples}
    assert any(name.startswith("apache-kafka-java 4") for name in software), software
    wait_for(lambda: "java-client" not in clients(broker))


def clients(broker):
    return {client for client, _ in pushed(broker)}


def test_our_clients_push_their_metrics(broker):
    topic = broker.topic()
    common = {"bootstrap_servers": broker.bootstrap_servers}
    with (
        barnabas.Producer(client_id="own-producer", **common) as producer,
        barnabas.Consumer(
            client_id="own-consumer", group_id="g", auto_offset_reset="earliest", **common
        ) as consumer,
        barnabas.Admin(client_id="own-admin", **common) as admin,
    ):
        consumer.subscribe([topic])
        producer.send(topic, b"x").result(60)
        admin.list_topics()
        assert producer.client_instance_id() == producer.client_instance_id()
        wanted = {
            ("own-producer", "org.apache.kafka.producer.topic.record.send.total"),
            ("own-consumer", "org.apache.kafka.consumer.fetch.manager.records.lag"),
            ("own-admin", "org.apache.kafka.admin.client.request.total"),
        }

        def arrived():
            consumer.poll(0.1)
            return wanted <= pushed(broker)

        wait_for(arrived)
        started = time.monotonic()
    assert time.monotonic() - started < 20
    # The last push ends the subscription: no stale values stay.
    assert not {client for client, _ in pushed(broker)} & {"own-producer", "own-consumer"}


def test_a_broker_without_http_does_not_offer_the_apis():
    with Broker(in_memory=True) as plain:
        offered = {item.name for item in plain.admin.describe_api_versions()}
    assert not offered & {"GET_TELEMETRY_SUBSCRIPTIONS", "PUSH_TELEMETRY"}


def test_a_client_metrics_resource_limits_the_subscription(broker):
    resource = ConfigResource(ConfigResourceType.CLIENT_METRICS, "only-named")
    broker.admin.alter_configs(
        {resource: {"metrics": "*", "interval.ms": "100", "match": "client_id=named-.*"}}
    )
    try:
        assert resource in set(broker.admin.list_config_resources())
        clients = [
            confluent_kafka.Producer(
                {"bootstrap.servers": broker.bootstrap_servers, "client.id": name}
            )
            for name in ("named-1", "unnamed")
        ]
        topic = broker.topic()

        def arrived():
            for client in clients:
                client.produce(topic, b"x")
                client.flush(5)
            return any(client == "named-1" for client, _ in pushed(broker))

        wait_for(arrived)
        assert not any(client == "unnamed" for client, _ in pushed(broker))
    finally:
        broker.admin.alter_configs({resource: dict.fromkeys(("metrics", "interval.ms", "match"))})
