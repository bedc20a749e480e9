"""Exactly once: records copied in transactions while copiers and the broker are killed."""

import collections
import os
import subprocess
import sys
import threading
import time
from contextlib import ExitStack
from pathlib import Path

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition
from support import copy_process
from support.broker_process import BrokerProcess
from support.foreign_groups import create_topic

pytestmark = pytest.mark.faults

SOAK = bool(os.environ.get("BARNABAS_SOAK"))
RECORDS = 100_000 if SOAK else 4_000
KILLS = 12 if SOAK else 3
PARTITIONS = 2
QUICK = ("-X", "group.min.session.timeout.ms=1000", "-X", "group.initial.rebalance.delay.ms=0")
TIMEOUT_S = 1200 if SOAK else 240
STUCK_S = 15


class Copier:
    """A copying process that is started again whenever it ends."""

    def __init__(self, broker, name, log):
        self._log = log
        self._command = [sys.executable, str(Path(copy_process.__file__))]
        self._command += [broker.bootstrap_servers, "source", "target", name]
        self.starts = 0
        self._process = None
        self._stopping = False
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self):
        while not self._stopping:
            self.starts += 1
            with self._log.open("ab") as log:
                self._process = subprocess.Popen(self._command, stdout=log, stderr=log)
            self._process.wait()

    def __str__(self):
        return f"{self.starts} starts, {self._log.read_text()[-500:]!r}"

    def kill(self):
        self._process.kill()

    def stop(self):
        self._stopping = True
        self.kill()
        self._thread.join()


def produce_source(broker):
    producer = Producer(
        {"bootstrap.servers": broker.bootstrap_servers, "enable.idempotence": True, "linger.ms": 5}
    )
    for number in range(RECORDS):
        producer.produce("source", b"%d" % number, partition=number % PARTITIONS)
        if number % 500 == 0:
            producer.poll(0)
    assert producer.flush(60) == 0


class Reader:
    """A read_committed reader that may be asked again and again."""

    def __init__(self, broker):
        self._consumer = Consumer(
            {
                "bootstrap.servers": broker.bootstrap_servers,
                "group.id": "reader",
                "isolation.level": "read_committed",
                "log_level": 0,
            }
        )
        places = [TopicPartition("target", n, 0) for n in range(PARTITIONS)]
        self._consumer.assign(places)
        self.values = collections.defaultdict(list)

    def read(self):
        for message in self._consumer.consume(1000, 0.2):
            if message.error() is None:
                self.values[message.partition()].append(int(message.value()))
        return sum(map(len, self.values.values()))

    def close(self):
        self._consumer.close()


@pytest.mark.timeout(TIMEOUT_S + 60)
def test_every_record_is_copied_once_and_in_order(tmp_path):
    with BrokerProcess(tmp_path, *QUICK) as broker, ExitStack() as stack:
        create_topic(broker, "source", PARTITIONS)
        create_topic(broker, "target", PARTITIONS)
        produce_source(broker)
        names = [f"copier-{n}" for n in range(2)]
        copiers = [Copier(broker, name, tmp_path / f"{name}.log") for name in names]
        for copier in copiers:
            stack.callback(copier.stop)
        reader = Reader(broker)
        deadline = time.monotonic() + TIMEOUT_S
        for number in range(KILLS):
            wait_for_progress(reader, RECORDS * (number + 1) // (KILLS + 2), deadline, copiers)
            copiers[number % 2].kill()
            if number % 2:
                broker.kill()
                broker.start()
        wait_for_progress(reader, RECORDS, deadline, copiers)
        reader.read()
        for copier in copiers:
            copier.stop()
        reader.close()
        final = Reader(broker)
        while final.read() < RECORDS:
            assert time.monotonic() < deadline
        final.read()
        final.close()
    assert broker.kills >= 1
    assert sum(copier.starts for copier in copiers) >= 2 + KILLS
    expected = {n: list(range(n, RECORDS, PARTITIONS)) for n in range(PARTITIONS)}
    assert dict(final.values) == expected, "lost, repeated or out of order"
    assert dict(reader.values) == expected, "a reader saw something else meanwhile"


def wait_for_progress(reader, count, deadline, copiers):
    """Copiers that bring nothing for long are killed once more.

    After a broker's restart librdkafka may wait without end for a connection that it never makes,
    and its consumer keeps the group from going on meanwhile.
    """
    seen, moved = 0, time.monotonic()
    while (now_seen := reader.read()) < count:
        now = time.monotonic()
        if now_seen > seen:
            seen, moved = now_seen, now
        elif now - moved > STUCK_S:
            moved = now
            for copier in copiers:
                copier.kill()
        assert now < deadline, f"{now_seen} of {RECORDS} copied; {'; '.join(map(str, copiers))}"
