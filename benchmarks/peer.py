"""The brokers of the matrix: ours, and Apache Kafka from its jars, with the same listeners.

Both get the same settings: listeners for plain text, TLS and SASL PLAIN on one host. Our broker and
Kafka read them under the same names. A peer that is given as an address has no other listeners;
its cells with TLS and SASL are left out.
"""

import os
import secrets
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import psutil
import trustme
from cryptography.hazmat.primitives import serialization

from barnabas.broker.broker_process import free_port
from barnabas.cli.servers.local_cluster import LocalCluster, LocalClusterConfig
from barnabas.model.ids import Uuid
from benchmarks.settings import SettingError
from benchmarks.workload import PASSWORD, USER

PEER = os.environ.get("BARNABAS_BENCH_PEER", "")
"""host:port of another broker, or the directory with the jars of an Apache Kafka."""
HEAP = "-Xmx1g"
START_SECONDS = 90.0
STOP_SECONDS = 20.0
LISTENERS = {"plaintext": "PLAINTEXT", "tls": "SSL", "sasl": "SASL_PLAINTEXT"}
KRAFT = {
    "process.roles": "broker,controller",
    "node.id": 1,
    "controller.listener.names": "CONTROLLER",
    "group.initial.rebalance.delay.ms": 0,
    "offsets.topic.replication.factor": 1,
    "transaction.state.log.replication.factor": 1,
    "transaction.state.log.min.isr": 1,
}

CLUSTER = {"default.replication.factor": 3, "min.insync.replicas": 2}


@dataclass(frozen=True, slots=True)
class Side:
    """A running broker or cluster: its name, addresses for each kind of security, processes."""

    name: str
    addresses: dict[str, str]
    ca_file: str
    processes: tuple[psutil.Process, ...]

    def cpu_seconds(self) -> float:
        return sum(_cpu_seconds(process) for process in self.processes)


@contextmanager
def sides() -> Iterator[list[Side]]:
    """Our broker and, if there is one, the peer."""
    with ExitStack() as stack:
        directory = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="barnabas-bench-")))
        found = [stack.enter_context(our_broker(directory))]
        if Path(PEER).is_dir() and PEER:
            found.append(stack.enter_context(apache_kafka(directory, Path(PEER))))
        elif PEER:
            found.append(Side("peer", {"plaintext": PEER}, "", (process_listening_on(PEER),)))
        yield found


@contextmanager
def clusters(count: int) -> Iterator[list[Side]]:
    """Our cluster of `count` brokers and, if the jars of Apache Kafka are given, one of it."""
    with ExitStack() as stack:
        directory = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="barnabas-bench-")))
        found = [stack.enter_context(our_cluster(directory, count))]
        if Path(PEER).is_dir() and PEER:
            found.append(stack.enter_context(kafka_cluster(directory, Path(PEER), count)))
        yield found


@contextmanager
def our_broker(directory: Path) -> Iterator[Side]:
    home = directory / "ours"
    home.mkdir()
    addresses, settings = _listeners(home)
    config = _write(home, {**settings, "log.dirs": home / "data"})
    command = [sys.executable, "-m", "barnabas.cli.main", "broker", "--config", str(config)]
    with _running(command, home, addresses["plaintext"]) as process:
        yield Side("barnabas", addresses, str(home / "ca.pem"), (process,))


@contextmanager
def our_cluster(directory: Path, count: int) -> Iterator[Side]:
    """ZooKeeper and brokers as `barnabas up --brokers` starts them; ZooKeeper's CPU is not counted,
    because it does nothing while records are written and read.
    """
    config = LocalClusterConfig(count, "127.0.0.1", 0, directory / "our-cluster", CLUSTER)
    with LocalCluster(config) as cluster:
        processes = tuple(psutil.Process(broker.pid) for broker in cluster.brokers)
        yield Side("barnabas", {"plaintext": cluster.bootstrap_servers}, "", processes)
        cluster.stop_brokers()


@contextmanager
def kafka_cluster(directory: Path, jars: Path, count: int) -> Iterator[Side]:
    """Nodes of Apache Kafka in KRaft mode, each of them broker and controller."""
    ids = range(1, count + 1)
    brokers = {number: f"127.0.0.1:{free_port()}" for number in ids}
    controllers = {number: f"127.0.0.1:{free_port()}" for number in ids}
    common = {
        **KRAFT,
        **CLUSTER,
        "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT",
        "controller.quorum.voters": ",".join(f"{n}@{at}" for n, at in controllers.items()),
    }
    cluster_id = str(Uuid.random(secrets.token_bytes))
    with ExitStack() as stack:
        processes = []
        for number, address in brokers.items():
            home = directory / f"kafka-{number}"
            home.mkdir()
            own = {
                "node.id": number,
                "listeners": f"PLAINTEXT://{address},CONTROLLER://{controllers[number]}",
                "advertised.listeners": f"PLAINTEXT://{address}",
                "log.dirs": home / "data",
            }
            command = _formatted(jars, _write(home, {**common, **own}), cluster_id)
            processes.append(stack.enter_context(_started(command, home)))
        for number, (address, child) in enumerate(zip(brokers.values(), processes, strict=True), 1):
            _wait_until_listening(child, address, directory / f"kafka-{number}")
        found = tuple(psutil.Process(child.pid) for child in processes)
        yield Side("kafka", {"plaintext": ",".join(brokers.values())}, "", found)


@contextmanager
def apache_kafka(directory: Path, jars: Path) -> Iterator[Side]:
    """An Apache Kafka of one node in KRaft mode."""
    home = directory / "kafka"
    home.mkdir()
    addresses, settings = _listeners(home)
    controller = f"127.0.0.1:{free_port()}"
    settings["listeners"] += f",CONTROLLER://{controller}"
    settings["listener.security.protocol.map"] += ",CONTROLLER:PLAINTEXT"
    voters = {"controller.quorum.voters": f"1@{controller}", "log.dirs": home / "data"}
    config = _write(home, {**KRAFT, **settings, **voters})
    command = _formatted(jars, config, str(Uuid.random(secrets.token_bytes)))
    with _running(command, home, addresses["plaintext"]) as process:
        yield Side("kafka", addresses, str(home / "ca.pem"), (process,))


def _formatted(jars: Path, config: Path, cluster_id: str) -> list[str]:
    """Formats the storage of a node; returns the command that starts it."""
    java = shutil.which("java")
    if java is None:
        raise RuntimeError("Apache Kafka needs Java")
    if not any(jars.glob("*.jar")):
        raise SettingError(f"BARNABAS_BENCH_PEER={jars} has no jars; name Kafka's directory libs")
    run = [java, HEAP, "-cp", f"{jars}/*"]
    tool = ["kafka.tools.StorageTool", "format", "-t", cluster_id, "-c", str(config)]
    subprocess.run([*run, *tool], check=True, capture_output=True)
    return [*run, "kafka.Kafka", str(config)]


def process_listening_on(address: str) -> psutil.Process:
    port = address.rpartition(":")[2] if ":" in address else ""
    if not port.isdecimal():
        raise SettingError(f"BARNABAS_BENCH_PEER={address!r} is neither host:port nor a directory")
    for connection in psutil.net_connections("tcp"):
        if connection.status == psutil.CONN_LISTEN and connection.laddr.port == int(port):
            return psutil.Process(connection.pid)
    raise SettingError(f"BARNABAS_BENCH_PEER: no process on this machine listens on {address}")


def _listeners(home: Path) -> tuple[dict[str, str], dict[str, str]]:
    """Returns the addresses by security, and the settings of the listeners."""
    authority = trustme.CA()
    certificate = authority.issue_cert("127.0.0.1", "localhost")
    authority.cert_pem.write_to_path(home / "ca.pem")
    (home / "broker.pem").write_bytes(_keystore(certificate))
    addresses = {security: f"127.0.0.1:{free_port()}" for security in LISTENERS}
    listeners = ",".join(f"{LISTENERS[kind]}://{address}" for kind, address in addresses.items())
    login = "org.apache.kafka.common.security.plain.PlainLoginModule required"
    return addresses, {
        "listeners": listeners,
        "advertised.listeners": listeners,
        "listener.security.protocol.map": ",".join(f"{n}:{n}" for n in LISTENERS.values()),
        "ssl.keystore.type": "PEM",
        "ssl.keystore.location": str(home / "broker.pem"),
        "sasl.enabled.mechanisms": "PLAIN",
        "listener.name.sasl_plaintext.plain.sasl.jaas.config": f'{login} user_{USER}="{PASSWORD}";',
        "message.max.bytes": "4000000",
        # The logs are on a memory file system: deleted ones must not fill it.
        "log.segment.delete.delay.ms": "0",
    }


def _keystore(certificate: trustme.LeafCert) -> bytes:
    """Key and certificates in PEM; Kafka reads a key in the form PKCS 8 only."""
    key = serialization.load_pem_private_key(certificate.private_key_pem.bytes(), None)
    form = (serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8)
    chain = [blob.bytes() for blob in certificate.cert_chain_pems]
    return b"".join([key.private_bytes(*form, serialization.NoEncryption()), *chain])


def _write(home: Path, settings: dict[str, object]) -> Path:
    config = home / "server.properties"
    config.write_text("".join(f"{key}={value}\n" for key, value in settings.items()))
    return config


@contextmanager
def _running(command: list[str], home: Path, address: str) -> Iterator[psutil.Process]:
    with _started(command, home) as child:
        _wait_until_listening(child, address, home)
        yield psutil.Process(child.pid)


@contextmanager
def _started(command: list[str], home: Path) -> "Iterator[subprocess.Popen[bytes]]":
    with (home / "log").open("wb") as log:
        child = subprocess.Popen(command, stdout=log, stderr=log)
    try:
        yield child
    finally:
        child.terminate()
        try:
            child.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:  # the last nodes of a Kafka cluster wait for a quorum
            child.kill()
            child.wait()


def _cpu_seconds(process: psutil.Process) -> float:
    times = process.cpu_times()
    return float(times.user + times.system)


def _wait_until_listening(child: "subprocess.Popen[bytes]", address: str, home: Path) -> None:
    host, port = address.rsplit(":", 1)
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline and child.poll() is None:
        with suppress(OSError), socket.create_connection((host, int(port)), 1):
            return
    last = (home / "log").read_text(errors="replace")[-2000:]
    raise RuntimeError(f"{address}: the broker does not listen (exit code {child.poll()}):\n{last}")
