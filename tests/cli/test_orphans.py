"""Servers that a command started end with it, even when it is killed."""

import json
import signal
import subprocess
import sys
import urllib.request

import psutil
import pytest

from barnabas import Admin
from barnabas.admin import ConfigResource

pytestmark = [pytest.mark.integration, pytest.mark.xdist_group("zookeeper")]


def start(*arguments):
    command = [sys.executable, "-m", "barnabas.cli.main", *(str(item) for item in arguments)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def kill_and_wait(process):
    """SIGKILL a command; its descendants have to end by themselves."""
    children = psutil.Process(process.pid).children(recursive=True)
    process.kill()
    process.communicate(timeout=60)
    _, alive = psutil.wait_procs(children, timeout=60)
    for child in alive:
        child.kill()
    return len(children), alive


def test_zookeeper_ends_with_its_command(tmp_path):
    process = start("zookeeper", "--port", 0, "--data-dir", tmp_path)
    assert process.stdout.readline().startswith("listening on")
    assert kill_and_wait(process) == (1, [])


def test_a_cluster_ends_with_its_command(tmp_path):
    process = start("up", "--brokers", 2, "--port", 0, "--data-dir", tmp_path)
    assert process.stdout.readline().startswith("ZooKeeper on")
    address = process.stdout.readline().removeprefix("listening on ").strip()
    with Admin({"bootstrap.servers": address}) as admin:
        assert len(admin.describe_cluster().brokers) == 2
    assert kill_and_wait(process) == (3, [])


def test_a_cluster_has_the_brokers_own_defaults_and_the_given_options(tmp_path):
    options = ("--http-port", 0, "--log-format", "json", "--log-level", "info,request=debug")
    process = start("up", "--brokers", 2, "--port", 0, "--data-dir", tmp_path, *options)
    process.stdout.readline()
    address = process.stdout.readline().removeprefix("listening on ").strip()
    urls = [process.stdout.readline().removeprefix("metrics at ").strip() for _ in range(2)]
    try:
        for url in urls:
            with urllib.request.urlopen(url, timeout=30) as reply:
                assert reply.status == 200
        with Admin({"bootstrap.servers": address}) as admin:
            resource = ConfigResource.broker(1)
            found = admin.describe_configs([resource])[resource]
        assert found["offsets.topic.num.partitions"].value == "50"
        assert found["transaction.state.log.num.partitions"].value == "50"
        assert found["replica.fetch.backoff.ms"].value == "1000"
    finally:
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=60)
    assert process.returncode == 0
    lines = (tmp_path / "cluster" / "broker-1.log").read_text().splitlines()
    assert "barnabas.request" in {json.loads(line)["logger"] for line in lines}
