"""Prometheus itself scrapes a broker and a cluster; the alert rules fire.

Skipped where `prometheus` and `promtool` are not installed (Debian's package `prometheus`).
"""

import contextlib
import errno
import json
import re
import shutil
import subprocess
import sys
import threading
import time
import urllib.request
from importlib import resources

import pytest
from support.cluster.workload import wait_until
from support.faults import faulty_broker

from barnabas import Producer, TopicPartition
from barnabas.admin import NewTopic
from barnabas.broker.metrics import catalog, component_catalog
from barnabas.runtime.child_process import free_port
from barnabas.spark import query_metrics
from barnabas.testing import Broker, Cluster
from scripts.metrics import declared

pytestmark = [
    pytest.mark.integration,
    pytest.mark.xdist_group("cluster"),
    pytest.mark.skipif(
        shutil.which("prometheus") is None or shutil.which("promtool") is None,
        reason="prometheus and promtool are not installed",
    ),
]

SHORT = {"request_timeout_ms": 2000, "delivery_timeout_ms": 3000}
RULES = resources.files("barnabas.broker.metrics.files") / "alerts.yml"


def promtool(*arguments, stdin=None):
    return subprocess.run(
        ["promtool", *map(str, arguments)], input=stdin, capture_output=True, timeout=60
    )


def test_promtool_accepts_the_text_and_the_rules():
    with Broker(in_memory=True, config={"http.listener": "0"}) as broker:
        broker.produce(broker.topic(), "one")
        with urllib.request.urlopen(broker.http_url + "/metrics", timeout=60) as reply:
            text = reply.read()
    checked = promtool("check", "metrics", stdin=text)
    lines = [line for line in checked.stdout.decode().splitlines() if line]
    assert [line for line in lines if not _is_advice_about_kafkas_names(line)] == []
    checked = promtool("check", "rules", RULES)
    assert checked.returncode == 0, checked.stderr.decode()


def test_promtool_accepts_the_queries_of_the_dashboards(tmp_path):
    """Each query parses, and names only metrics that brokers, queries or clients serve."""
    folder = resources.files("barnabas.broker.metrics.files")
    boards = [json.loads(f.read_text()) for f in folder.iterdir() if f.name.endswith(".json")]
    queries = [t["expr"] for b in boards for panel in b["panels"] for t in panel["targets"]]
    assert len(boards) == 5
    rules = [{"record": f"query:{n}", "expr": text} for n, text in enumerate(queries)]
    path = tmp_path / "queries.json"  # JSON is YAML
    path.write_text(json.dumps({"groups": [{"name": "dashboards", "rules": rules}]}))
    checked = promtool("check", "rules", path)
    assert checked.returncode == 0, checked.stderr.decode()
    served = {m.prometheus_name for m in declared(catalog, component_catalog, query_metrics)}
    pattern = re.compile(r"\b(?:kafka|barnabas|process)_\w+")
    named = {name for text in [*queries, RULES.read_text()] for name in pattern.findall(text)}
    plain = {re.sub("_(total|sum|count)$", "", name) for name in named - served}
    assert plain - served == set()


def _is_advice_about_kafkas_names(line):
    """promtool advises base units and snake_case; Kafka's dashboards need Kafka's names."""
    advice = ("camelCase", "use base unit", "abbreviated units", 'should not have "_count" suffix')
    return line.startswith("kafka_") and any(text in line for text in advice)


def test_the_rules_fire_for_a_full_disk_and_not_before(tmp_path):
    series = 'barnabas_log_directory_full{instance="b1",log_directory="/data"}'
    alert = {
        "exp_labels": {"severity": "critical", "instance": "b1", "log_directory": "/data"},
        "exp_annotations": {"summary": "/data on b1 is full."},
    }
    tests = {
        "rule_files": [str(RULES)],
        "evaluation_interval": "1m",
        "tests": [
            {
                "interval": "1m",
                "input_series": [{"series": series, "values": "0 0 1 1"}],
                "alert_rule_test": [
                    {"eval_time": "1m", "alertname": "LogDirectoryFull", "exp_alerts": []},
                    {"eval_time": "2m", "alertname": "LogDirectoryFull", "exp_alerts": [alert]},
                ],
            }
        ],
    }
    path = tmp_path / "tests.json"  # JSON is YAML
    path.write_text(json.dumps(tests))
    ran = promtool("test", "rules", path)
    assert ran.returncode == 0, ran.stdout.decode() + ran.stderr.decode()


class ScrapedCluster(Cluster):
    """Three brokers as processes, with HTTP endpoints and disks that can be made to fail."""

    def __init__(self, directory):
        config = {"group.lag.interval.ms": 500}
        super().__init__(3, config, data_dir=directory)
        self.http_ports = {number: free_port() for number in (1, 2, 3)}

    def make_broker(self, number):
        broker = super().make_broker(number)
        broker.settings["http.listener"] = str(self.http_ports[number])
        control = self.control_file(number)
        broker.program = [sys.executable, faulty_broker.__file__, str(control)]
        faulty_broker.set_faults(control)
        return broker

    def control_file(self, number):
        return self.data_dir / f"faults-{number}.json"


def test_prometheus_raises_alerts_for_a_cluster(tmp_path):
    """Real alerts of a lagging group, a full disk and a killed broker, in this order."""
    prometheus_port = free_port()
    with (
        ScrapedCluster(tmp_path / "cluster") as cluster,
        prometheus(tmp_path, cluster.http_ports.values(), prometheus_port),
    ):
        make_lag(cluster)
        quiet = {"BrokerDown", "LogDirectoryFull", "LogDirectoryOffline"}
        wait_for_alerts(prometheus_port, {"ConsumerLagInSeconds"}, without=quiet)
        fill_disk(cluster, 2)
        wait_for_alerts(prometheus_port, {"LogDirectoryFull"}, without={"BrokerDown"})
        cluster.kill(3)
        wanted = {"BrokerDown", "ConsumerLagInSeconds", "LogDirectoryFull"}
        wait_for_alerts(prometheus_port, wanted)


def fill_disk(cluster, number):
    """Makes the writes of one broker fail with ENOSPC, and sends records to it."""
    control = cluster.control_file(number)
    faulty_broker.set_faults(control, errno=errno.ENOSPC, below="spare-")
    seen = faulty_broker.seen_file(control)
    wait_until(lambda: seen.exists() and seen.read_text() == control.read_text())
    topic = NewTopic("spare", configs={"min.insync.replicas": 1}, assignments=[[number]])
    cluster.admin.create_topics([topic]).check()
    with Producer(bootstrap_servers=cluster.bootstrap_servers, **SHORT) as writer:
        assert writer.send("spare", b"x").exception(30) is not None


@contextlib.contextmanager
def prometheus(directory, targets, port):
    """Scrapes each second; the waiting times and the limit of the lag are shortened."""
    rules = re.sub(r"for: \w+", "for: 0s", RULES.read_text()).replace("> 300", "> 1")
    (directory / "alerts.yml").write_text(rules)
    config = {
        "global": {"scrape_interval": "1s", "evaluation_interval": "1s"},
        "rule_files": ["alerts.yml"],
        "scrape_configs": [
            {
                "job_name": "kafka",
                "static_configs": [{"targets": [f"127.0.0.1:{target}" for target in targets]}],
            }
        ],
    }
    (directory / "prometheus.yml").write_text(json.dumps(config))
    process = subprocess.Popen(
        [
            "prometheus",
            f"--config.file={directory / 'prometheus.yml'}",
            f"--storage.tsdb.path={directory / 'tsdb'}",
            f"--web.listen-address=127.0.0.1:{port}",
        ],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        yield
    finally:
        process.terminate()
        process.wait(60)


def make_lag(cluster):
    topic = cluster.topic("lagging")
    cluster.produce(topic, *map(str, range(10)))
    cluster.admin.alter_group_offsets("slow", {TopicPartition(topic, 0): 0})


def wait_for_alerts(port, wanted, without=frozenset(), seconds=60):
    firing = set()
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        firing = alerts(port)
        if wanted <= firing and not firing & without:
            return
        threading.Event().wait(0.5)
    raise AssertionError(f"wanted {wanted} without {without}, firing are {firing}")


def alerts(port):
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/api/v1/alerts", timeout=5) as reply:
            found = json.load(reply)["data"]["alerts"]
    except OSError:
        return set()
    return {alert["labels"]["alertname"] for alert in found if alert["state"] == "firing"}
