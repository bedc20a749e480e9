"""Metrics that clients push, in the console."""

from support.console.requests import call
from support.network.scrape import wait_for_metric

import barnabas
from barnabas.console.app import create_api
from barnabas.console.composition import Console
from barnabas.console.services.client_metrics import clients_of
from barnabas.console.settings import ConsoleSettings
from barnabas.testing import Broker


async def test_a_client_appears_with_its_metrics():
    config = {"http.listener": "0", "client.telemetry.interval.ms": 200}
    with Broker(in_memory=True, config=config) as broker:
        settings = ConsoleSettings(
            {"bootstrap.servers": broker.bootstrap_servers},
            metrics_urls=(broker.http_url, "127.0.0.1:1"),
        )
        application = create_api(Console(settings))
        with barnabas.Producer(
            bootstrap_servers=broker.bootstrap_servers, client_id="pushing"
        ) as producer:
            producer.send(broker.topic(), b"x").result(60)
            name = "kafka_client_telemetry"
            wait_for_metric(broker.http_url, name, lambda _: True, client_id="pushing")
            status, clients, _ = await call(application, "GET", "/api/v1/cluster/clients")
            _, capabilities, _ = await call(application, "GET", "/api/v1/capabilities")
        await application.state.console.close()
    assert status == 200
    (client,) = (item for item in clients if item["client_id"] == "pushing")
    assert client["software"].startswith("barnabas")
    values = {item["name"]: item["value"] for item in client["metrics"]}
    assert values["org.apache.kafka.producer.record.send.total"] == 1
    assert capabilities["client_metrics"] is True


def test_values_that_are_no_numbers_are_null():
    labels = 'client_id="a",client_instance_id="i",metric="m",attributes="",software="s"'
    lines = [f"kafka_client_telemetry{{{labels}}} {value}" for value in ("NaN", "+Inf", "1.5")]
    (client,) = clients_of(["# HELP x y", "other 1", *lines])
    assert [metric.value for metric in client.metrics] == [None, None, 1.5]
