"""Members that crash and brokers that restart, seen by the three client libraries."""

import signal
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from pathlib import Path

import pytest
from support.groups import foreign_member
from support.groups.foreign_groups import QUICK, create_topic, produce

from barnabas.testing import Broker

pytestmark = pytest.mark.compat

PARTITIONS = 4
MEMBERS = [
    pytest.param("confluent", (), id="confluent"),
    pytest.param(
        "confluent", ("partition.assignment.strategy=cooperative-sticky",), id="cooperative"
    ),
    pytest.param("confluent", ("group.protocol=consumer",), id="consumer-protocol"),
    pytest.param("kafka-python", (), id="kafka-python"),
    pytest.param("aiokafka", (), id="aiokafka"),
]
SETTINGS = {
    **QUICK,
    "group.consumer.session.timeout.ms": 3000,
    "group.consumer.min.session.timeout.ms": 1000,
}


class Member:
    """One member process; `owned` and `read` are updated from its output."""

    def __init__(self, library, broker, group, topic, settings):
        command = [sys.executable, str(Path(foreign_member.__file__)), library]
        command += [broker.bootstrap_servers, group, topic, *settings]
        self._process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        self.owned = set()
        self.read = set()
        self._thread = threading.Thread(target=self._listen, daemon=True)
        self._thread.start()

    def _listen(self):
        for line in self._process.stdout:
            event, *words = line.split()
            if event == "own":
                names = [] if words[0] == "-" else words[0].split(",")
                self.owned = {int(name) for name in names}
            else:
                self.read.add((int(words[0]), int(words[1])))

    def end(self, number):
        """Send a signal and wait; a killed member owns no partitions."""
        if self._process.poll() is None:
            self._process.send_signal(number)
        try:
            self._process.wait(60)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._thread.join()
        self._process.stdout.close()
        self.owned = set()


@contextmanager
def members(count, *arguments):
    made = [Member(*arguments) for _ in range(count)]
    try:
        yield made
    finally:
        for member in made:
            member.end(signal.SIGKILL)


def wait_until(condition, what, timeout=60):
    deadline = time.monotonic() + timeout
    while not condition():
        assert time.monotonic() < deadline, what
        threading.Event().wait(0.05)


def all_read(team, offsets):
    expected = {(partition, offset) for partition in range(PARTITIONS) for offset in offsets}
    return expected <= {one for member in team for one in member.read}


@pytest.mark.parametrize(("library", "settings"), MEMBERS)
def test_the_others_take_over_from_a_crashed_member(topic_name, library, settings):
    with Broker(SETTINGS) as broker:
        create_topic(broker, topic_name, PARTITIONS)
        with members(2, library, broker, topic_name, topic_name, settings) as team:
            produce(broker, topic_name, 40, PARTITIONS)
            wait_until(lambda: all_read(team, range(10)), "the first records")
            wait_until(lambda: all(member.owned for member in team), "two members")
            team[0].end(signal.SIGKILL)
            produce(broker, topic_name, 40, PARTITIONS)
            wait_until(lambda: all_read(team[1:], range(10, 20)), "the heir reads all that is new")


@pytest.mark.parametrize(("library", "settings"), MEMBERS)
def test_groups_survive_a_restart_of_the_broker(tmp_path, topic_name, library, settings):
    broker = Broker(SETTINGS, data_dir=tmp_path).start()
    create_topic(broker, topic_name, PARTITIONS)
    try:
        with members(2, library, broker, topic_name, topic_name, settings) as team:
            produce(broker, topic_name, 40, PARTITIONS)
            wait_until(lambda: all_read(team, range(10)), "the first records")
            broker.stop()
            broker.start()
            produce(broker, topic_name, 40, PARTITIONS)
            wait_until(lambda: all_read(team, range(20)), "the records after the restart")
            for member in team:
                member.end(signal.SIGTERM)
    finally:
        broker.stop()
