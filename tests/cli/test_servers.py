"""The commands that serve until a signal: zookeeper, broker."""

import contextlib
import os
import re
import signal
import subprocess
import sys
import threading

import pytest

from barnabas import Admin

pytestmark = pytest.mark.integration


@contextlib.contextmanager
def default_action_in_children(number):
    """Lets processes that are started meanwhile begin with the default action of a signal.

    A test run that was started with `nohup` ignores SIGHUP. Children inherit that, and a server
    that was started so keeps it. The default action replaces a handler in a child, but this process
    survives the signal; `preexec_fn` may deadlock, because the test process has threads.
    """
    before = signal.signal(number, lambda *_: None)
    try:
        yield
    finally:
        signal.signal(number, before)


def start(*arguments):
    command = [sys.executable, "-m", "barnabas.cli.main", *(str(item) for item in arguments)]
    with default_action_in_children(signal.SIGHUP):
        return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGTERM, 0), (signal.SIGINT, 130), (signal.SIGHUP, 0)]
)
def test_a_broker_from_a_properties_file(tmp_path, number, code):
    file = tmp_path / "server.properties"
    file.write_text(f"# a broker\nlisteners=PLAINTEXT://127.0.0.1:0\nlog.dirs={tmp_path}/data\n")
    process = start("broker", "--config", file, "-X", "num.partitions=3")
    address = process.stdout.readline().removeprefix("listening on ").strip()
    try:
        with Admin({"bootstrap.servers": address}) as admin:
            assert admin.create_topic("t").partitions == 3
    finally:
        process.send_signal(number)
        _, errors = process.communicate(timeout=60)
    assert (process.returncode, errors) == (code, "")


def test_a_broker_under_nohup_survives_the_end_of_the_terminal(tmp_path):
    broker = [sys.executable, "-m", "barnabas.cli.main", "up", "--port", "0"]
    command = ["nohup", *broker, "--data-dir", str(tmp_path)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        address = process.stdout.readline().removeprefix("listening on ").strip()
        process.send_signal(signal.SIGHUP)
        with Admin({"bootstrap.servers": address}) as admin:
            admin.create_topic("t")
    finally:
        process.terminate()
        process.communicate(timeout=60)
    assert process.returncode == 0


def test_kafka_server_start(tmp_path):
    file = tmp_path / "server.properties"
    file.write_text(f"listeners=PLAINTEXT://127.0.0.1:0\nlog.dirs={tmp_path}/data\n")
    process = start("kafka-server-start.sh", file, "--override", "num.partitions=3")
    address = process.stdout.readline().removeprefix("listening on ").strip()
    try:
        with Admin({"bootstrap.servers": address}) as admin:
            assert admin.create_topic("t").partitions == 3
    finally:
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=60)
    assert process.returncode == 0


def test_kafka_server_start_in_the_background(cli, tmp_path, monkeypatch):
    monkeypatch.setenv("LOG_DIR", str(tmp_path / "logs"))
    file = tmp_path / "server.properties"
    file.write_text(f"listeners=PLAINTEXT://127.0.0.1:0\nlog.dirs={tmp_path}/data\n")
    ran = cli("kafka-server-start", "-daemon", file)
    assert ran.code == 0
    pid = int(re.match(r"started process (\d+); its output is in ", ran.err)[1])
    try:
        for _ in range(600):
            output = (tmp_path / "logs" / "kafkaServer.out").read_text()
            if "listening on" in output:
                break
            threading.Event().wait(0.1)
        assert "listening on 127.0.0.1:" in output
    finally:
        os.kill(pid, signal.SIGTERM)
        os.waitpid(pid, 0)


def test_kafka_server_start_tells_mistakes_before_it_goes_to_the_background(cli, tmp_path):
    file = tmp_path / "server.properties"
    file.write_text("process.roles=broker,controller\n")
    ran = cli("kafka-server-start", "-daemon", file)
    assert ran.code == 1
    assert "process.roles is not supported: metadata is stored in ZooKeeper" in ran.err


def test_zookeeper(tmp_path, cli):
    process = start("zookeeper", "--port", 0, "--data-dir", tmp_path)
    try:
        line = process.stdout.readline()
        assert line.startswith("listening on 127.0.0.1:")
        address = line.removeprefix("listening on ").strip()
        ran = cli("kafka-topics", "--zookeeper", address, "--list")
        assert ran.code == 1
        assert f"ZooKeeper at {address} has no live brokers" in ran.err
        ran = cli("topics", "list", "-b", address)
        assert "is a ZooKeeper server, not a broker" in ran.err
    finally:
        process.terminate()
        _, errors = process.communicate(timeout=60)
    assert (process.returncode, errors) == (0, "")


def test_a_port_that_is_taken(cli, tmp_path, broker):
    ran = cli("up", "--port", broker.port, "--host", "127.0.0.1", "--data-dir", tmp_path)
    assert ran.code == 1
    assert f"port {broker.port} is in use; try port {broker.port + 1}" in ran.err
