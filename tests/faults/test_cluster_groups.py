"""Group coordinators that are killed or moved: no commit is lost, no group is disturbed."""

import threading

import pytest
from confluent_kafka import Consumer, KafkaException, TopicPartition
from support.cluster_workload import leaders, wait_until

from barnabas.model.java_hash import coordinator_partition
from barnabas.model.topic_names import OFFSETS_TOPIC

pytestmark = [pytest.mark.faults, pytest.mark.xdist_group("cluster"), pytest.mark.timeout(180)]
PARTITIONS = 3


class Committer(threading.Thread):
    """A group of one that commits ever larger offsets."""

    def __init__(self, cluster, topic, protocol):
        super().__init__(name="committer", daemon=True)
        self._topic = topic
        self._stopped = threading.Event()
        self.acknowledged = -1
        self.assignments = 0
        self.failures = 0
        config = {
            "bootstrap.servers": cluster.bootstrap_servers,
            "group.id": topic,
            "group.protocol": protocol,
            "enable.auto.commit": False,
            "log_level": 0,
        }
        if protocol == "classic":
            config |= {"session.timeout.ms": 30_000, "heartbeat.interval.ms": 300}
        self._consumer = Consumer(config)

    def run(self):
        self._consumer.subscribe([self._topic], on_assign=self._assigned)
        number = 0
        while not self._stopped.is_set():
            self._consumer.poll(0.01)
            if not self._consumer.assignment():
                continue
            number += 1
            places = [TopicPartition(self._topic, n, number) for n in range(PARTITIONS)]
            try:
                self._consumer.commit(offsets=places, asynchronous=False)
            except KafkaException:
                self.failures += 1  # the outcome is unknown
            else:
                self.acknowledged = number
        self._consumer.close()

    def _assigned(self, _consumer, partitions):
        self.assignments += bool(partitions)

    def stop(self):
        self._stopped.set()
        self.join()


def coordinator(cluster, group):
    places = leaders(cluster, OFFSETS_TOPIC)
    return places[coordinator_partition(group, len(places))].leader


def committed(cluster, topic):
    config = {"bootstrap.servers": cluster.bootstrap_servers, "group.id": topic, "log_level": 0}
    consumer = Consumer(config)
    places = [TopicPartition(topic, n) for n in range(PARTITIONS)]
    found = [place.offset for place in consumer.committed(places, 30)]
    consumer.close()
    return found


@pytest.mark.parametrize("protocol", ["classic", "consumer"])
@pytest.mark.parametrize("end", ["kill", "stop"])
def test_commits_survive_their_coordinator(cluster, topic_name, protocol, end):
    cluster.topic(topic_name, partitions=PARTITIONS)
    committer = Committer(cluster, topic_name, protocol)
    committer.start()
    wait_until(lambda: committer.acknowledged > 20, what="the first commits")
    wait_until(lambda: all(len(p.isr) == 3 for p in leaders(cluster, OFFSETS_TOPIC).values()))
    assert committer.assignments == 1
    for _ in range(2):
        victim = coordinator(cluster, topic_name)
        getattr(cluster, end)(victim)
        before = committer.acknowledged
        wait_until(lambda before=before: committer.acknowledged > before + 10, what="more commits")
        promised = committer.acknowledged
        assert min(committed(cluster, topic_name)) >= promised
        cluster.start(victim)
        wait_until(lambda: all(len(p.isr) == 3 for p in leaders(cluster, OFFSETS_TOPIC).values()))
    committer.stop()
    assert min(committed(cluster, topic_name)) >= committer.acknowledged
    assert committer.assignments == 1, "the move of a coordinator is no rebalance"
