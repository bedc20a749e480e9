"""A group that reads while leaders are killed: every acknowledged record, and none twice."""

import threading
from collections import Counter

import pytest
from support.cluster.workload import leaders, wait_until
from support.groups.members import Member
from support.soak import SOAK

from barnabas import Producer
from barnabas.model.errors import BarnabasError

pytestmark = [pytest.mark.faults, pytest.mark.xdist_group("cluster")]

PARTITIONS = 3
RECORDS_BETWEEN = 300
KILLS = 4 if SOAK else 1


class Stream(threading.Thread):
    """Writes numbers; `acknowledged` are those it was promised."""

    def __init__(self, cluster, topic):
        super().__init__(daemon=True)
        self.acknowledged = set()
        self.failed = 0
        self._cluster, self._topic = cluster, topic
        self._stopped = threading.Event()

    def run(self):
        config = {"bootstrap.servers": self._cluster.bootstrap_servers, "acks": "all"}
        with Producer(config) as producer:
            number = 0
            while not self._stopped.wait(0.002):
                value = b"%d" % number
                producer.send(
                    self._topic,
                    value,
                    partition=number % PARTITIONS,
                    on_delivery=self._noted(value),
                )
                number += 1

    def _noted(self, value):
        def note(_, error):
            if isinstance(error, BarnabasError):
                self.failed += 1
            else:
                self.acknowledged.add(value)

        return note

    def stop(self):
        self._stopped.set()
        self.join(60)


@pytest.mark.parametrize("protocol", ["classic", "consumer"])
def test_readers_follow_their_leaders(cluster, topic_name, protocol):
    cluster.topic(topic_name, partitions=PARTITIONS)
    config = {
        "bootstrap.servers": cluster.bootstrap_servers,
        "group.id": topic_name,
        "auto.offset.reset": "earliest",
        "fetch.max.wait.ms": 100,
        "group.protocol": protocol,
    }
    if protocol == "classic":
        config |= {"session.timeout.ms": 30_000, "heartbeat.interval.ms": 200}
    members = [Member(name, config, [topic_name]) for name in ("one", "two")]
    wait_until(lambda: sum(len(member.assigned) for member in members) == PARTITIONS)
    stream = Stream(cluster, topic_name)
    stream.start()
    for _ in range(KILLS):
        before = len(stream.acknowledged)
        wait_until(lambda mark=before: len(stream.acknowledged) >= mark + RECORDS_BETWEEN)
        victim = leaders(cluster, topic_name)[0].leader
        cluster.kill(victim)
        after = len(stream.acknowledged)
        wait_until(lambda mark=after: len(stream.acknowledged) >= mark + RECORDS_BETWEEN)
        cluster.start(victim)
        wait_until(lambda: all(len(p.isr) == 3 for p in leaders(cluster, topic_name).values()))
    stream.stop()

    def read():
        # Copies, because the members' threads continue to count; copying a dict is atomic.
        first, second = (Counter(dict(member.values)) for member in members)
        return first + second

    wait_until(lambda: stream.acknowledged <= set(read()))
    for member in members:
        member.stop()
    assert stream.failed == 0
    assert set(read()) >= stream.acknowledged
    # Without a rebalance nothing is read again: positions stay with the members, not the brokers.
    assert sum(read().values()) == len(read())
