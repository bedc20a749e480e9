"""Members that come, go and hang while records flow: none lost, no partition with two owners."""

import random
import threading
import time
from collections import Counter

import pytest
from support.cluster.brokers import broker_with
from support.groups.members import Member, wait_until

from barnabas import Producer

pytestmark = [pytest.mark.faults, pytest.mark.integration]

PARTITIONS = 6
SECONDS = 6
PROTOCOLS = {
    "range": {"partition.assignment.strategy": "range"},
    "cooperative": {"partition.assignment.strategy": "cooperative-sticky"},
    "consumer": {"group.protocol": "consumer"},
}
CLASSIC = {"session.timeout.ms": 6000, "heartbeat.interval.ms": 50}


@pytest.fixture(scope="module")
def broker(request):
    settings = {
        "group.consumer.heartbeat.interval.ms": 50,
        "group.consumer.min.heartbeat.interval.ms": 50,
    }
    with broker_with(settings, request.config) as running:
        yield running


class Stream:
    """Produces numbered records until stopped."""

    def __init__(self, broker, topic):
        self.sent = 0
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, args=(broker, topic), daemon=True)
        self._thread.start()

    def stop(self):
        self._stop.set()
        self._thread.join(30)

    def _run(self, broker, topic):
        with Producer(bootstrap_servers=broker.bootstrap_servers) as producer:
            while not self._stop.wait(0.002):
                producer.send(topic, b"%d" % self.sent, partition=self.sent % PARTITIONS)
                self.sent += 1


def double_owners(members):
    """Partitions that two members own, according to the calls of their listeners."""
    held = Counter()
    for member in members:
        mine = set()
        for what, topic_partitions in list(member.events):
            mine = (
                mine | set(topic_partitions) if what == "assigned" else mine - set(topic_partitions)
            )
        held.update(mine)
    return [topic_partition for topic_partition, count in held.items() if count > 1]


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_churn(broker, topic_name, protocol):
    broker.topic(topic_name, partitions=PARTITIONS)
    config = {
        "bootstrap.servers": broker.bootstrap_servers,
        "group.id": topic_name,
        "auto.offset.reset": "earliest",
        "fetch.max.wait.ms": 50,
        "auto.commit.interval.ms": 100,
        **({} if protocol == "consumer" else CLASSIC),
        **PROTOCOLS[protocol],
    }
    dice, stream = random.Random(11), Stream(broker, topic_name)
    everyone, alive = [], []
    end = time.monotonic() + SECONDS
    while time.monotonic() < end:
        if len(alive) < 2 or (len(alive) < 5 and dice.random() < 0.5):
            member = Member(f"m{len(everyone)}", config, [topic_name])
            everyone.append(member)
            alive.append(member)
        else:
            alive.pop(dice.randrange(len(alive))).stop()
        threading.Event().wait(dice.uniform(0.1, 0.5))
    stream.stop()

    def read():
        return sum((member.values for member in everyone), Counter())

    wait_until(lambda: len(read()) == stream.sent, 30)
    wait_until(lambda: sum(len(member.assigned) for member in alive) == PARTITIONS)
    assert double_owners(alive) == []
    for member in alive:
        member.stop()
    counts = read()
    assert set(counts) == {b"%d" % number for number in range(stream.sent)}
    # Everybody left in good order, after committing what it had read: nothing was read twice.
    assert set(counts.values()) == {1}
    assert stream.sent > 500
