"""The HTTP endpoints of a running broker show what clients did."""

import asyncio
import contextlib
import http.client
import json
import re
import urllib.error
import urllib.request

import pytest
from prometheus_client.openmetrics.parser import text_string_to_metric_families as parse_openmetrics
from prometheus_client.parser import text_string_to_metric_families
from support.network.scrape import wait_for_metric

from barnabas import Consumer, Producer
from barnabas.broker.cluster.wiring import ClusterRuntime
from barnabas.broker.metrics import catalog, component_catalog
from barnabas.runtime.metrics import Metric, MetricKind
from barnabas.testing import Broker

pytestmark = pytest.mark.integration


@pytest.fixture(scope="module")
def broker():
    with Broker(in_memory=True, config={"http.listener": "0"}) as running:
        yield running


def get(broker, path):
    try:
        with urllib.request.urlopen(broker.http_url + path, timeout=60) as reply:
            return reply.status, reply.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


def samples(broker):
    return {
        (sample.name, *sorted(sample.labels.items())): sample.value
        for family in text_string_to_metric_families(get(broker, "/metrics")[1])
        for sample in family.samples
    }


def test_produced_and_consumed_records_move_the_counters(broker):
    topic = broker.topic()
    with Producer(bootstrap_servers=broker.bootstrap_servers) as producer:
        for _ in range(10):
            producer.send(topic, b"value")
    name = "kafka_server_brokertopicmetrics_"
    label = ("topic", topic)
    found = samples(broker)
    assert found[name + "messagesin_total", label] == 10
    assert found[name + "bytesin_total", label] > 50
    assert found["kafka_log_log_logendoffset", ("partition", "0"), label] == 10


def test_a_failed_produce_is_counted(broker):
    topic = broker.topic(config={"max.message.bytes": 100})
    with Producer(bootstrap_servers=broker.bootstrap_servers) as producer:
        future = producer.send(topic, b"x" * 1000)
        with pytest.raises(Exception, match=r"MESSAGE_TOO_LARGE|too large"):
            future.result(60)
    found = samples(broker)
    name = "kafka_server_brokertopicmetrics_"
    assert found[name + "failedproducerequests_total", ("topic", topic)] >= 1


def test_the_broker_is_healthy_and_ready(broker):
    assert get(broker, "/healthz") == (200, "ok\n")
    status, text = get(broker, "/readyz")
    assert (status, json.loads(text)) == (200, {"ready": True, "problems": [], "warnings": []})
    status = json.loads(get(broker, "/status")[1])
    assert status["state"] == "running"
    assert get(broker, "/nothing")[0] == 404
    request = urllib.request.Request(broker.http_url + "/metrics", data=b"x", method="POST")
    with pytest.raises(urllib.error.HTTPError) as refused:
        urllib.request.urlopen(request, timeout=60)
    refused.value.close()
    assert (refused.value.code, refused.value.headers["Allow"]) == (405, "GET, HEAD")


def test_a_connection_appears_with_its_software(broker):
    with Consumer(bootstrap_servers=broker.bootstrap_servers, group_id="software") as consumer:
        consumer.subscribe([broker.topic()])
        consumer.wait_for_assignment(10)
        found = samples(broker)
    names = [key for key in found if key[0] == "kafka_server_socket_server_metrics_connections"]
    assert any(("clientSoftwareName", "barnabas") in key for key in names)


def test_every_declared_metric_is_served(broker):
    text = get(broker, "/metrics")[1]
    served = set(re.findall(r"^# TYPE (\S+)", text, re.MULTILINE))
    declared = {
        metric.prometheus_name + ("_total" if metric.kind is MetricKind.COUNTER else "")
        for metric in (*vars(catalog).values(), *vars(component_catalog).values())
        if isinstance(metric, Metric)
    }
    assert declared - served == set()


def test_the_lag_of_a_group_is_served_in_records_and_seconds(broker):
    topic = broker.topic()
    broker.produce(topic, *[str(n) for n in range(10)])
    with Consumer(
        bootstrap_servers=broker.bootstrap_servers, group_id="lagging", enable_auto_commit=False
    ) as consumer:
        consumer.subscribe([topic])
        consumer.wait_for_assignment(10)
        consumer.commit({(topic, 0): 4})
    labels = (("group", "lagging"), ("partition", "0"), ("topic", topic))
    found = {}
    for _ in range(100):
        found = samples(broker)
        if ("kafka_consumergroup_lag", *labels) in found:
            break
        broker.clock.advance(1000)
    assert found["kafka_consumergroup_lag", *labels] == 6
    assert found["kafka_consumergroup_lag_seconds", *labels] >= 0
    assert found["kafka_consumergroup_current_offset", *labels] == 4
    assert ("barnabas_consumergroup_catch_up_seconds", ("group", "lagging")) in found
    assert json.loads(get(broker, "/status")[1])["groups"]["lagging"]["records"] == 6


def test_a_stopped_broker_closes_the_connections_that_clients_keep():
    with Broker(in_memory=True, config={"http.listener": "0"}) as running:
        host, port = running.http_url.removeprefix("http://").split(":")
        connection = http.client.HTTPConnection(host, int(port), timeout=30)
        connection.request("GET", "/healthz")
        assert connection.getresponse().read() == b"ok\n"
    with contextlib.closing(connection), contextlib.suppress(ConnectionError):
        assert connection.sock.recv(1) == b""


def test_the_trace_of_a_record_is_an_exemplar_of_its_topic(broker):
    topic = broker.topic()
    trace_id = "0af7651916cd43dd8448eb211c80319c"
    traceparent = f"00-{trace_id}-b7ad6b7169203331-01".encode()
    broker.produce(topic, "value", headers={"traceparent": traceparent})
    request = urllib.request.Request(
        broker.http_url + "/metrics", headers={"Accept": "application/openmetrics-text"}
    )
    with urllib.request.urlopen(request, timeout=60) as reply:
        families = parse_openmetrics(reply.read().decode())
        found = [s.exemplar.labels for f in families for s in f.samples if s.exemplar]
    assert {"trace_id": trace_id, "span_id": "b7ad6b7169203331"} in found


async def test_a_broker_is_not_ready_while_it_moves_its_leaderships(start, monkeypatch):
    leaving, left = asyncio.Event(), asyncio.Event()

    async def leave(_cluster):
        leaving.set()
        await left.wait()

    monkeypatch.setattr(ClusterRuntime, "leave", leave)
    app = await start({"http.listener": "0"})
    stopping = asyncio.ensure_future(app.stop())
    await leaving.wait()
    code, text = await asyncio.to_thread(get, app, "/readyz")
    status = json.loads((await asyncio.to_thread(get, app, "/status"))[1])
    healthy, _ = await asyncio.to_thread(get, app, "/healthz")
    left.set()
    await stopping
    assert (code, json.loads(text)["problems"]) == (503, ["the broker is shutting down"])
    assert status["state"] == "stopping"
    assert healthy == 200


def test_quantiles_cover_the_sample_windows(caplog):
    config = {
        "http.listener": "0",
        "metrics.num.samples": "2",
        "metrics.sample.window.ms": "100",
        "metrics.recording.level": "DEBUG",
    }
    caplog.set_level("INFO", "barnabas.broker")
    name, labels = "kafka_network_requestmetrics_totaltimems", {"request": "Produce"}
    with Broker(in_memory=True, config=config) as running:
        with Producer(bootstrap_servers=running.bootstrap_servers) as producer:
            producer.send(running.topic(), b"value").result()
        url, labels = running.http_url, labels | {"quantile": "0.5"}
        wait_for_metric(url, name, lambda value: value > 0, **labels)
        wait_for_metric(url, name, lambda value: value == 0, **labels)
    assert "metrics.recording.level=DEBUG has no effect" in caplog.text
