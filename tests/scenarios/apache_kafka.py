"""An Apache Kafka of one node, run from the jars that BARNABAS_KAFKA_JARS names."""

import os
import secrets
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from barnabas.model.ids import Uuid
from barnabas.runtime.child_process import free_port

START_SECONDS = 90.0
SETTINGS = {
    "process.roles": "broker,controller",
    "node.id": 1,
    "controller.listener.names": "CONTROLLER",
    "group.initial.rebalance.delay.ms": 0,
    "group.min.session.timeout.ms": 100,
    "offsets.topic.replication.factor": 1,
    "offsets.topic.num.partitions": 5,
    "transaction.state.log.replication.factor": 1,
    "transaction.state.log.min.isr": 1,
    "transaction.state.log.num.partitions": 5,
    "share.coordinator.state.topic.replication.factor": 1,
}


@contextmanager
def running_kafka() -> Iterator[str]:
    """host:port of a broker with the scenarios' settings."""
    java = shutil.which("java")
    assert java is not None, "Apache Kafka needs a Java"
    command = [java, "-Xmx512m", "-cp", f"{os.environ['BARNABAS_KAFKA_JARS']}/*"]
    with tempfile.TemporaryDirectory(prefix="barnabas-kafka-") as directory:
        port, controller = free_port(), free_port()
        config = _configure(Path(directory), port, controller)
        cluster = str(Uuid.random(secrets.token_bytes))
        subprocess.run(
            [*command, "kafka.tools.StorageTool", "format", "-t", cluster, "-c", str(config)],
            check=True,
            capture_output=True,
        )
        with (Path(directory) / "log").open("wb") as log:
            process = subprocess.Popen(
                [*command, "kafka.Kafka", str(config)], stdout=log, stderr=log
            )
        try:
            _wait_for(port, process)
            yield f"127.0.0.1:{port}"
        finally:
            process.terminate()
            process.wait(60)


def _configure(directory: Path, port: int, controller: int) -> Path:
    places = {
        "listeners": f"PLAINTEXT://127.0.0.1:{port},CONTROLLER://127.0.0.1:{controller}",
        "advertised.listeners": f"PLAINTEXT://127.0.0.1:{port}",
        "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT",
        "controller.quorum.voters": f"1@127.0.0.1:{controller}",
        "log.dirs": directory / "data",
    }
    config = directory / "server.properties"
    config.write_text("".join(f"{key}={value}\n" for key, value in {**SETTINGS, **places}.items()))
    return config


def _wait_for(port: int, process: "subprocess.Popen[bytes]") -> None:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline and process.poll() is None:
        with suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
            return
    raise AssertionError(f"Apache Kafka does not listen (exit code {process.poll()})")
