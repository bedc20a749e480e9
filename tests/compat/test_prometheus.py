"""Prometheus itself scrapes a broker and a cluster; the alert rules fire.

Skipped where `prometheus` and `promtool` are not installed (Debian's package `prometheus`).
"""

import contextlib
import json
import re
import shutil
import socket
import subprocess
import sys
import threading
import time
import urllib.request
from importlib import resources

import psutil
import pytest

from barnabas import Consumer, Producer
from barnabas.testing import Broker

pytestmark = [
    pytest.mark.integration,
    pytest.mark.xdist_group("cluster"),
    pytest.mark.skipif(
        shutil.which("prometheus") is None or shutil.which("promtool") is None,
        reason="prometheus and promtool are not installed",
    ),
]

RULES = resources.files("barnabas.broker.metrics.files") / "alerts.yml"


def promtool(*arguments, stdin=None):
    return subprocess.run(
        ["promtool", *map(str, arguments)], input=stdin, capture_output=True, timeout=60
    )


def test_promtool_accepts_the_text_and_the_rules():
    with Broker(in_memory=True, config={"http.listener": "0"}) as broker:
        broker.produce(broker.topic(), "one")
        with urllib.request.urlopen(broker.http_url + "/metrics", timeout=10) as reply:
            text = reply.read()
    checked = promtool("check", "metrics", stdin=text)
    serious = [line for line in checked.stdout.decode().splitlines() if not _is_naming_advice(line)]
    assert serious == []
    assert promtool("check", "rules", RULES).returncode == 0


def _is_naming_advice(line):
    """promtool advises base units and case; the names are those of Kafka's dashboards."""
    return any(
        text in line
        for text in ("should be written in", "camelCase", "use base unit", "should not contain")
    )


def test_the_rules_fire_for_a_full_disk_and_not_before(tmp_path):
    series = 'barnabas_log_directory_full{instance="b1",logDirectory="/data"}'
    alert = {
        "exp_labels": {"severity": "critical", "instance": "b1", "logDirectory": "/data"},
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


def free_ports(count):
    """Returns the first of `count` consecutive free ports."""
    for first in range(21000, 30000, count):
        with contextlib.ExitStack() as stack:
            try:
                for port in range(first, first + count):
                    stack.enter_context(socket.create_server(("127.0.0.1", port)))
            except OSError:
                continue
            return first
    raise AssertionError("no free ports")


def test_a_killed_broker_and_a_lagging_group_raise_alerts(tmp_path):
    first = free_ports(7)
    broker_port, http_port, prometheus_port = first, first + 3, first + 6
    command = [
        sys.executable, "-m", "barnabas.cli.main", "up", "--brokers", "3",
        "--port", str(broker_port), "--http-port", str(http_port),
        "--data-dir", str(tmp_path / "data"),
    ]  # fmt: skip
    up = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    prometheus = None
    try:
        assert any("listening on" in line for line in up.stdout)
        prometheus = start_prometheus(tmp_path, [http_port + n for n in range(3)], prometheus_port)
        make_lag(f"127.0.0.1:{broker_port}")
        wait_for_alerts(prometheus_port, {"ConsumerLagInSeconds"}, without={"BrokerDown"})
        kill_one_broker(up.pid, broker_port + 2)
        wait_for_alerts(prometheus_port, {"BrokerDown", "ConsumerLagInSeconds"})
    finally:
        for process in (prometheus, up):
            if process is not None:
                process.terminate()
                process.wait(60)
        up.stdout.close()


def start_prometheus(directory, targets, port):
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
    return subprocess.Popen(
        [
            "prometheus",
            f"--config.file={directory / 'prometheus.yml'}",
            f"--storage.tsdb.path={directory / 'tsdb'}",
            f"--web.listen-address=127.0.0.1:{port}",
        ],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def make_lag(servers):
    with Producer(bootstrap_servers=servers) as producer:
        for n in range(10):
            producer.send("lagging", str(n).encode()).result(30)
    with Consumer(bootstrap_servers=servers, group_id="slow") as consumer:
        consumer.commit({("lagging", 0): 0})


def kill_one_broker(parent, port):
    for child in psutil.Process(parent).children(recursive=True):
        if any(c.laddr.port == port for c in child.net_connections() if c.status == "LISTEN"):
            child.kill()
            return
    raise AssertionError(f"no process listens on {port}")


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
