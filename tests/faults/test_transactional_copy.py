"""Exactly once: records copied in transactions while copiers and the broker are killed."""

import time
from contextlib import ExitStack

import pytest
from confluent_kafka import Producer
from support.cluster.broker_process import BrokerProcess
from support.groups.foreign_groups import create_topic
from support.soak import SOAK
from support.transactions.transactional_load import Copier, Reader, wait_for_copies

pytestmark = pytest.mark.faults

RECORDS = 100_000 if SOAK else 4_000
KILLS = 12 if SOAK else 3
PARTITIONS = 2
QUICK = ("-X", "group.min.session.timeout.ms=1000", "-X", "group.initial.rebalance.delay.ms=0")
TIMEOUT_S = 1200 if SOAK else 240


def produce_source(broker):
    producer = Producer(
        {"bootstrap.servers": broker.bootstrap_servers, "enable.idempotence": True, "linger.ms": 5}
    )
    for number in range(RECORDS):
        producer.produce("source", b"%d" % number, partition=number % PARTITIONS)
        if number % 500 == 0:
            producer.poll(0)
    assert producer.flush(60) == 0


@pytest.mark.timeout(TIMEOUT_S + 60)
def test_every_record_is_copied_once_and_in_order(tmp_path):
    with BrokerProcess(tmp_path, *QUICK) as broker, ExitStack() as stack:
        create_topic(broker, "source", PARTITIONS)
        create_topic(broker, "target", PARTITIONS)
        produce_source(broker)
        names = [f"copier-{n}" for n in range(2)]
        servers = broker.bootstrap_servers
        copiers = [
            Copier(servers, "source", "target", name, tmp_path / f"{name}.log") for name in names
        ]
        for copier in copiers:
            stack.callback(copier.stop)
        reader = Reader(servers, "target", PARTITIONS)
        deadline = time.monotonic() + TIMEOUT_S
        for number in range(KILLS):
            wait_for_copies(reader.read, RECORDS * (number + 1) // (KILLS + 2), copiers, TIMEOUT_S)
            copiers[number % 2].kill()
            if number % 2:
                broker.kill()
                broker.start()
        wait_for_copies(reader.read, RECORDS, copiers, TIMEOUT_S)
        reader.read()
        for copier in copiers:
            copier.stop()
        reader.close()
        final = Reader(servers, "target", PARTITIONS)
        while final.read() < RECORDS:
            assert time.monotonic() < deadline
        final.read()
        final.close()
    assert broker.kills >= 1
    assert sum(copier.starts for copier in copiers) >= 2 + KILLS
    expected = {
        n: [b"%d" % number for number in range(n, RECORDS, PARTITIONS)] for n in range(PARTITIONS)
    }
    assert dict(final.values) == expected, "lost, repeated or out of order"
    assert dict(reader.values) == expected, "a reader saw something else meanwhile"
