"""`metric.reporters` of a broker: a Python class, JSON lines, OTLP, and changes while it runs."""

import json
import sys
import types
from typing import ClassVar

import pytest
from support.cluster.workload import wait_until
from support.network.otlp_collector import otlp_collector

from barnabas import TopicPartition
from barnabas.admin import Admin, ConfigResource
from barnabas.broker.metrics.client_telemetry import decode_metrics
from barnabas.model.errors import BarnabasError, ConfigError
from barnabas.testing import Broker

pytestmark = pytest.mark.integration

MESSAGES_IN = "kafka_server_brokertopicmetrics_messagesin_total"
FAST = {"metrics.report.interval.ms": 20, "group.lag.interval.ms": 100}


class Collecting:
    """A reporter that keeps its reports; the tests find its instances in `made`."""

    made: ClassVar[list] = []

    def __init__(self):
        self.config = {}
        self.latest = []
        self.closed = False
        self.made.append(self)

    def configure(self, config):
        self.config = config

    def report(self, metrics, now_ms):
        assert now_ms > 0
        self.latest = metrics

    def close(self):
        self.closed = True

    def value(self, name, **tags):
        for metric in self.latest:
            if metric.name.name == name and tags.items() <= dict(metric.name.tags).items():
                return metric.value
        return None


@pytest.fixture
def plugin(monkeypatch):
    """The import path of `Collecting` in a module of the operator."""
    module = types.ModuleType("operators_metrics")
    module.Collecting = Collecting
    module.NotAReporter = dict
    monkeypatch.setitem(sys.modules, "operators_metrics", module)
    monkeypatch.setattr(Collecting, "made", [])
    return "operators_metrics.Collecting"


def set_reporters(broker, value):
    with Admin(bootstrap_servers=broker.bootstrap_servers) as admin:
        resource = ConfigResource.broker()
        admin.alter_configs({resource: {"metric.reporters": value}}).check()


def test_a_class_gets_the_metrics_of_the_broker(plugin):
    own = {"metric.reporters.url": "http://collector", "broker.id": 1}
    config = {**FAST, "metric.reporters": plugin, **own}
    with Broker(in_memory=True, config=config) as broker:
        topic = broker.topic()
        broker.produce(topic, *"abc")
        (reporter,) = Collecting.made
        wait_until(lambda: reporter.value(MESSAGES_IN, topic=topic) == 3)
        assert reporter.config["metric.reporters.url"] == "http://collector"
        metric = next(m for m in reporter.latest if m.name.name == MESSAGES_IN)
        assert metric.name.tag("broker-id") == "1"
        jmx = "kafka.server:type=BrokerTopicMetrics,name=MessagesInPerSec"
        assert (metric.name.group, metric.unit, metric.kind.value) == (jmx, "records", "counter")
        name = "kafka_network_requestmetrics_totaltimems"
        assert reporter.value(name + "_count", request="Produce") >= 1
        assert reporter.value(name, request="Produce", quantile="0.99") > 0
    assert reporter.closed


def test_json_lines_have_the_last_values(tmp_path):
    file = tmp_path / "metrics.json"
    config = {"metric.reporters": "json", "metrics.json.file": str(file)}
    with Broker(in_memory=True, config=config) as broker:
        topic = broker.topic()
        broker.produce(topic, "one")
    last = json.loads(file.read_text().splitlines()[-1])
    found = [m for m in last["metrics"] if m["name"] == MESSAGES_IN]
    counts = {m["tags"].get("topic"): m["value"] for m in found}
    assert counts[topic] == 1


@pytest.fixture
def collector():
    with otlp_collector() as running:
        yield running


def test_otlp_has_the_names_of_the_metrics_endpoint(collector):
    url = f"{collector.url}/v1/metrics"
    config = {"metric.reporters": "otlp", "metrics.otlp.endpoint": url, "broker.id": 7}
    with Broker(in_memory=True, config=config) as broker:
        topic = broker.topic()
        broker.produce(topic, "one")
    found = decode_metrics(memoryview(collector.bodies[-1]), 100_000)
    sent = [s for s in found if s.name == MESSAGES_IN and dict(s.attributes).get("topic") == topic]
    assert [(s.value, dict(s.attributes)["broker_id"]) for s in sent] == [(1, "7")]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("jsn", r"metric\.reporters='jsn': must be json, otlp, or the import path of a class"),
        ("no.such.Reporter", r"metric\.reporters='no\.such\.Reporter'.*No module named 'no'"),
        ("operators_metrics.Missing", r"operators_metrics has no class or function 'Missing'"),
        ("operators_metrics.NotAReporter", r"has no method report\(metrics, now_ms\)"),
        ("io.confluent.metrics.reporter.ConfluentMetricsReporter", "ConfluentMetricsReporter"),
    ],
)
def test_a_wrong_name_stops_the_start_with_its_cause(plugin, name, text):
    with pytest.raises(ConfigError, match=text), Broker(config={"metric.reporters": name}):
        pass


def test_the_reporters_change_while_the_broker_runs(plugin, tmp_path):
    file = tmp_path / "metrics.json"
    config = {**FAST, "metric.reporters": plugin, "metrics.json.file": str(file)}
    with Broker(in_memory=True, config=config) as broker:
        (reporter,) = Collecting.made
        with pytest.raises(BarnabasError, match=r"metric\.reporters='jsn'"):
            set_reporters(broker, "jsn")
        assert not reporter.closed
        set_reporters(broker, "json")
        wait_until(lambda: reporter.closed)
        wait_until(lambda: file.exists() and file.read_text().count("\n") > 1)


def test_a_reporter_without_http_endpoint_gets_the_lag_of_groups(plugin):
    with Broker(in_memory=True, config={**FAST, "metric.reporters": plugin}) as broker:
        topic = broker.topic()
        broker.produce(topic, *"abc")
        with Admin(bootstrap_servers=broker.bootstrap_servers) as admin:
            admin.alter_group_offsets("reader", {TopicPartition(topic, 0): 1}).check()
        (reporter,) = Collecting.made

        name = "kafka_consumergroup_lag"
        wait_until(lambda: reporter.value(name, group="reader", topic=topic) == 2)
