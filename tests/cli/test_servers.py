"""The commands that serve until a signal: zookeeper, broker."""

import signal
import subprocess
import sys

import pytest

from barnabas import Admin

pytestmark = pytest.mark.integration


def start(*arguments):
    command = [sys.executable, "-m", "barnabas.cli.main", *(str(item) for item in arguments)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 0), (signal.SIGINT, 130)])
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
        _, errors = process.communicate(timeout=30)
    assert (process.returncode, errors) == (code, "")


def test_zookeeper(tmp_path, cli):
    process = start("zookeeper", "--port", 0, "--data-dir", tmp_path)
    try:
        line = process.stdout.readline()
        assert line.startswith("listening on 127.0.0.1:")
        address = line.removeprefix("listening on ").strip()
        ran = cli("kafka-topics", "--zookeeper", address, "--list")
        assert ran.code == 1
        assert f"ZooKeeper at {address} knows no live brokers" in ran.err
        ran = cli("topics", "list", "-b", address)
        assert "is a ZooKeeper server, not a broker" in ran.err
    finally:
        process.terminate()
        _, errors = process.communicate(timeout=30)
    assert (process.returncode, errors) == (0, "")


def test_a_port_that_is_taken(cli, tmp_path, broker):
    ran = cli("up", "--port", broker.port, "--host", "127.0.0.1", "--data-dir", tmp_path)
    assert ran.code == 1
    assert f"port {broker.port} is taken; try port {broker.port + 1}" in ran.err
