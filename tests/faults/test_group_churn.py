"""Members of a group come, go and are killed while records flow.

Every record is read at least once, no partition has two owners in one generation, and what was
committed does not go back within one.
"""

import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition
from support.foreign_groups import create_topic

from barnabas.testing import Broker

pytestmark = pytest.mark.faults

SECONDS = 60 if os.environ.get("BARNABAS_SOAK") else 15
MEMBERS = 8
PARTITIONS = 12
SCRIPT = Path(__file__).parent.parent / "support" / "group_churn_member.py"
SETTINGS = {
    "group.min.session.timeout.ms": 1_000,
    "group.consumer.session.timeout.ms": 2_000,
    "group.consumer.heartbeat.interval.ms": 300,
}


class Member:
    def __init__(self, broker, protocol, log_path):
        self.log_path = log_path
        self.killed_at = None
        command = [sys.executable, SCRIPT, broker.bootstrap_servers, "g", "t", protocol, log_path]
        self.process = subprocess.Popen(command)

    def kill(self):
        self.process.kill()
        self.process.wait(20)
        self.killed_at = time.monotonic()

    def leave(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(30)

    def events(self):
        if not self.log_path.exists():
            return []
        lines = self.log_path.read_text().splitlines()
        # A killed process may leave half a line.
        return [json.loads(line) for line in lines if line.endswith("}")]


class Churn:
    def __init__(self, broker, protocol, directory, seed):
        self.broker, self.protocol, self.directory = broker, protocol, directory
        self.random = random.Random(seed)
        self.running, self.gone = [], []
        self.sent = 0
        self._done = threading.Event()
        self._pause = threading.Event()

    def spawn(self):
        number = len(self.running) + len(self.gone)
        log_path = self.directory / f"member-{number}.jsonl"
        self.running.append(Member(self.broker, self.protocol, log_path))

    def remove(self, *, kill):
        member = self.running.pop(self.random.randrange(len(self.running)))
        member.kill() if kill else member.leave()
        self.gone.append(member)

    def produce(self):
        producer = Producer({"bootstrap.servers": self.broker.bootstrap_servers})
        while not self._done.wait(0.02):
            for _ in range(5):
                producer.produce("t", b"x", partition=self.sent % PARTITIONS)
                self.sent += 1
        assert producer.flush(20) == 0

    def run(self):
        load = threading.Thread(target=self.produce)
        load.start()
        end = time.monotonic() + SECONDS
        while time.monotonic() < end:
            if len(self.running) > 2 and self.random.random() < 0.4:
                self.remove(kill=self.random.random() < 0.5)
            elif len(self.running) < MEMBERS:
                self.spawn()
            self._done.wait(self.random.uniform(0.3, 1.2))
        self._done.set()
        load.join()

    def finish(self):
        """Wait until everything is committed, then send everybody home."""
        deadline = time.monotonic() + 60
        while self.committed() < self.sent and time.monotonic() < deadline:
            self._pause.wait(0.3)
        while self.running:
            self.remove(kill=False)
        assert self.committed() == self.sent

    def committed(self):
        reader = Consumer({"bootstrap.servers": self.broker.bootstrap_servers, "group.id": "g"})
        try:
            wanted = [TopicPartition("t", n) for n in range(PARTITIONS)]
            return sum(max(one.offset, 0) for one in reader.committed(wanted, 20))
        finally:
            reader.close()


def check_single_ownership(members):
    """By generation: a member that was expelled may believe in its own a little longer."""
    owners = {}
    for member in members:
        for event in member.events():
            for partition in event["partitions"] if event["event"] == "assigned" else ():
                key = (event["generation"], partition)
                assert owners.setdefault(key, member) is member, f"two owners of {key}"
    assert len({generation for generation, _ in owners}) > 10, "there was little to check"


def check_all_read(members, sent):
    read = {
        (event["partition"], event["offset"])
        for member in members
        for event in member.events()
        if event["event"] == "read"
    }
    missing = {(n % PARTITIONS, n // PARTITIONS) for n in range(sent)} - read
    assert not missing


def check_commits_go_forward(members):
    for member in members:
        latest = {}
        for event in member.events():
            if event["event"] == "assigned":
                latest = {}
            if event["event"] == "committed":
                partition = event["partition"]
                assert event["offset"] >= latest.get(partition, 0)
                latest[partition] = event["offset"]


@pytest.mark.timeout(240)
@pytest.mark.parametrize("protocol", ["classic", "consumer"])
def test_members_churn_under_load(tmp_path, protocol):
    with Broker(SETTINGS) as broker:
        create_topic(broker, "t", PARTITIONS)
        churn = Churn(broker, protocol, tmp_path, seed=7)
        try:
            churn.run()
            churn.finish()
        finally:
            for member in churn.running:
                member.kill()
    members = churn.gone
    assert sum(member.killed_at is not None for member in members) >= 2
    check_all_read(members, churn.sent)
    check_single_ownership(members)
    check_commits_go_forward(members)
