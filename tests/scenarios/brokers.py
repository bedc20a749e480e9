"""The brokers that scenarios run on: one of ours, three of ours, or Apache Kafka's."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from scenarios.apache_kafka import running_kafka
from scenarios.world import Control

from barnabas.broker.broker_process import BrokerProcess
from barnabas.testing import Cluster
from barnabas.testing.broker import TEST_DEFAULTS

SETTINGS = {
    **TEST_DEFAULTS,
    # Scenarios about slow members use sessions of about a second.
    "group.min.session.timeout.ms": 100,
    "transaction.state.log.num.partitions": 5,
    "offsets.topic.num.partitions": 5,
}


@contextmanager
def single() -> Iterator[Control]:
    """One broker of ours in a process of its own."""
    with tempfile.TemporaryDirectory(prefix="barnabas-scenarios-") as directory:
        broker = BrokerProcess(1, Path(directory), SETTINGS)
        broker.launch()
        try:
            broker.wait_until_ready()
            with _control(broker.address) as control:
                yield control
        finally:
            if broker.running:
                broker.terminate()


@contextmanager
def cluster() -> Iterator[Control]:
    """Three brokers of ours on a ZooKeeper."""
    settings = {"group.min.session.timeout.ms": 100, "min.insync.replicas": 1}
    with Cluster(3, settings) as running, _control(running.bootstrap_servers, running) as control:
        yield control


@contextmanager
def kafka(address: str | None) -> Iterator[Control]:
    """An Apache Kafka that runs elsewhere, or one from the jars of BARNABAS_KAFKA_JARS."""
    if address is None:
        with running_kafka() as started, _control(started) as control:
            yield control
        return
    with _control(address) as control:
        yield control


@contextmanager
def _control(servers: str, running: Cluster | None = None) -> Iterator[Control]:
    control = Control(servers, 3 if running else 1, running)
    try:
        yield control
    finally:
        control.close()
