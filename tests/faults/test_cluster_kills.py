"""Brokers killed, stopped and hung under idempotent producers: nothing acknowledged is lost,
nothing is stored twice, order is kept, and replicas end up equal.

A run counts only if the faults, the changes of leaders and the retries really happened.
"""

import threading

import confluent_kafka
import pytest
from support.cluster.workload import (
    BarnabasWriter,
    ConfluentWriter,
    judge,
    leader_in_zookeeper,
    leader_of,
    leaders,
    replicas_differ,
    wait_until,
)
from support.soak import SOAK

pytestmark = [pytest.mark.faults, pytest.mark.xdist_group("cluster")]

KILLS = 30 if SOAK else 3
RECORDS_BETWEEN = 300
"""Records of each writer that are acknowledged between a start and a kill, and the reverse."""
PARTITIONS = 3


@pytest.fixture
def load(cluster, topic_name):
    """Two writers, ours and librdkafka's, on a topic of their own."""
    cluster.topic(topic_name, partitions=PARTITIONS)
    wait_until_in_sync(cluster, topic_name)
    writers = [
        BarnabasWriter("b", cluster, topic_name, PARTITIONS),
        ConfluentWriter("c", cluster, topic_name, PARTITIONS),
    ]
    for writer in writers:
        writer.start()
    yield writers
    for writer in writers:
        writer.stop()


def test_kill_minus_nine_of_the_leader(cluster, topic_name, load):
    before = leaders(cluster, topic_name)
    for turn in range(KILLS):
        wait_until_in_sync(cluster, topic_name)  # a leader without followers has no successor
        write_more(load)
        partition = turn % PARTITIONS
        victim = leader_of(cluster, topic_name, partition)
        cluster.kill(victim)
        wait_for_successor(cluster, topic_name, victim, partition)
        write_more(load)
        cluster.start(victim)
    figures = settle(cluster, topic_name, load)
    after = leaders(cluster, topic_name)
    changes = sum(after[p].leader_epoch - before[p].leader_epoch for p in after)
    print(f"kills {KILLS}, epochs {changes}, retries {[w.retries for w in load]}, {figures}")
    assert_all_well(cluster, topic_name, figures)
    assert changes >= KILLS
    assert all(writer.retries > 0 for writer in load)
    assert figures["acknowledged"] > 1000 * KILLS


def test_a_rolling_restart_fails_no_request(cluster, topic_name, load):
    consumer = Follower(cluster, topic_name)
    consumer.start()
    wait_until(lambda: consumer.seen > 0, what="the first record")
    before = leaders(cluster, topic_name)
    codes, longest = [], 0.0
    for broker_id in cluster.brokers:
        codes.append(cluster.stop(broker_id))
        cluster.start(broker_id)
        wait_until_in_sync(cluster, topic_name)
    figures = settle(cluster, topic_name, load)
    longest = max(writer.acknowledged.longest_gap for writer in load)
    consumer.stop()
    after = leaders(cluster, topic_name)
    changes = sum(after[p].leader_epoch - before[p].leader_epoch for p in after)
    print(f"rolling restart: epochs {changes}, longest gap {longest:.2f} s, {figures}")
    assert codes == [0, 0, 0]
    assert changes >= PARTITIONS
    assert [writer.acknowledged.errors for writer in load] == [[], []]
    assert consumer.rebalances == 1, "the group rebalanced"
    assert consumer.errors == []
    assert_all_well(cluster, topic_name, figures)
    assert longest < 20.0, "somebody waited for a time-out"


def test_a_hung_leader_acknowledges_nothing_that_is_lost(cluster, topic_name, load):
    wait_until(lambda: all(len(w.acknowledged.offsets) > 100 for w in load))
    before = leaders(cluster, topic_name)
    victim = before[0].leader
    cluster.pause(victim)
    try:
        wait_for_successor(cluster, topic_name, victim)
        write_more(load)
    finally:
        cluster.resume(victim)
    figures = settle(cluster, topic_name, load)
    print(f"hung leader: {figures}")
    assert_all_well(cluster, topic_name, figures)
    assert leaders(cluster, topic_name)[0].leader_epoch > before[0].leader_epoch


def test_all_brokers_killed_at_once(cluster, topic_name, load):
    """Nothing was forced to the disk, yet nothing is lost: the page cache outlives processes."""
    write_more(load)
    before = leaders(cluster, topic_name)
    for broker_id in cluster.brokers:
        cluster.kill(broker_id)
    for broker in reversed(cluster.brokers.values()):
        broker.launch()
    for broker in cluster.brokers.values():
        broker.wait_until_ready()
    figures = settle(cluster, topic_name, load)
    after = leaders(cluster, topic_name)
    print(f"all killed: {figures}")
    assert_all_well(cluster, topic_name, figures)
    assert all(after[p].leader_epoch > before[p].leader_epoch for p in after)


def wait_until_in_sync(cluster, topic):
    wait_until(lambda: all(len(p.isr) == 3 for p in leaders(cluster, topic).values()), what="ISR 3")


def wait_for_successor(cluster, topic, victim, partition=0):
    gone = (-1, victim)
    wait_until(
        lambda: leader_in_zookeeper(cluster, topic, partition) not in gone, what="a successor"
    )


def write_more(writers):
    """Waits until each writer has as many more records acknowledged."""
    counts = [len(writer.acknowledged.offsets) + RECORDS_BETWEEN for writer in writers]
    wait_until(
        lambda: all(
            len(writer.acknowledged.offsets) >= count
            for writer, count in zip(writers, counts, strict=True)
        ),
        what="acknowledgements",
    )


class Follower(threading.Thread):
    """One member of a group that reads along; counts its assignments."""

    def __init__(self, cluster, topic):
        super().__init__(name="follower", daemon=True)
        self.seen = self.rebalances = 0
        self.errors = []
        self._config = {
            "bootstrap.servers": cluster.bootstrap_servers,
            "group.id": topic,
            "auto.offset.reset": "earliest",
            "session.timeout.ms": 10_000,
            "log_level": 0,
        }
        self._topic = topic
        self._stopped = threading.Event()

    def run(self):
        consumer = confluent_kafka.Consumer(self._config)
        consumer.subscribe([self._topic], on_assign=self._assigned)
        while not self._stopped.is_set():
            message = consumer.poll(0.1)
            if message is None:
                continue
            if message.error() is None:
                self.seen += 1
            else:
                self.errors.append(str(message.error()))
        consumer.close()

    def _assigned(self, *_):
        self.rebalances += 1

    def stop(self):
        self._stopped.set()
        self.join()


def settle(cluster, topic, writers):
    wait_until_in_sync(cluster, topic)
    for writer in writers:
        writer.stop()
    return judge(cluster, topic, writers)


def assert_all_well(cluster, topic, figures):
    found = {name: figures[name] for name in ("lost", "duplicates", "reordered", "misplaced")}
    assert found == {"lost": 0, "duplicates": 0, "reordered": 0, "misplaced": 0}
    assert replicas_differ(cluster, topic, PARTITIONS) == []
