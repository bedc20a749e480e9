"""A query from topic to topic on a cluster whose leaders move and whose brokers die.

Partitions are moved to other brokers and led by them, brokers are killed and started again, all
while records come in: each is copied exactly once, in order.
"""

import threading

import pytest
from support.soak import SOAK

from barnabas import Producer, TopicPartition
from barnabas.admin import ElectionType
from barnabas.testing import Cluster

PARTITIONS, ROUNDS = 2, 4
BROKERS = (1, 2, 3)
pytestmark = [
    pytest.mark.faults,
    pytest.mark.xdist_group("spark"),
    pytest.mark.timeout(900),
    pytest.mark.skipif(not SOAK, reason="takes minutes: make soak runs it"),
]


def wait_for(condition, seconds=120):
    pause = threading.Event()
    for _ in range(int(seconds / 0.1)):
        if condition():
            return
        pause.wait(0.1)
    raise AssertionError("it did not happen")


class Feed:
    """Numbers into every partition, until it is stopped; each is acknowledged."""

    def __init__(self, servers, topic):
        self.sent = 0
        self._stop = threading.Event()
        self._servers, self._topic = servers, topic
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def stop(self):
        self._stop.set()
        self._thread.join()

    def _run(self):
        with Producer({"bootstrap.servers": self._servers}) as producer:
            while not self._stop.wait(0.02):
                for partition in range(PARTITIONS):
                    producer.send(self._topic, b"%d" % self.sent, partition=partition)
                self.sent += 1


def values_of(cluster, topic, partition):
    records = cluster.records(topic, read_committed=True)
    return [record.value for record in records if record.partition == partition]


def start_copy(spark, servers, checkpoint, on_driver):
    kafka = {"kafka.bootstrap.servers": servers}
    read = spark.readStream.format("barnabas").options(**kafka, subscribe="in")
    read = read.options(startingOffsets="earliest", smallBatchesOnDriver=on_driver)
    rows = read.load().select("key", "value", "partition")
    write = rows.writeStream.format("barnabas").options(**kafka, topic="out")
    return write.option("checkpointLocation", str(checkpoint)).start()


def goes_on(cluster, query):
    before = len(values_of(cluster, "out", 0))
    wait_for(
        lambda: query.exception() is not None or len(values_of(cluster, "out", 0)) > before,
    )
    assert query.exception() is None


def move_and_kill(cluster, query, number):
    """Another broker leads a partition, then dies, and comes back."""
    leader, *others = BROKERS[number % 3 :] + BROKERS[: number % 3]
    topic_partition = TopicPartition("in", number % PARTITIONS)
    cluster.admin.alter_partition_reassignments({topic_partition: [leader, *others]}).check()
    wait_for(lambda: not cluster.admin.list_partition_reassignments())
    cluster.admin.elect_leaders(ElectionType.PREFERRED, [topic_partition])
    goes_on(cluster, query)
    cluster.kill(leader)
    goes_on(cluster, query)
    cluster.start(leader)
    for topic in ("in", "out"):
        wait_for(
            lambda topic=topic: all(
                len(item.isr) == 3 for item in cluster.admin.describe_topic(topic).partitions
            )
        )


@pytest.mark.parametrize("on_driver", ["true", "false"])
def test_moves_and_kills(spark, tmp_path, on_driver):
    with Cluster(len(BROKERS)) as cluster:
        for topic in ("in", "out"):
            cluster.topic(topic, partitions=PARTITIONS)
        query = start_copy(spark, cluster.bootstrap_servers, tmp_path, on_driver)
        feed = Feed(cluster.bootstrap_servers, "in")
        try:
            goes_on(cluster, query)
            for number in range(ROUNDS):
                move_and_kill(cluster, query, number)
            feed.stop()
            wait_for(lambda: len(values_of(cluster, "out", 1)) >= feed.sent)
            wait_for(lambda: len(values_of(cluster, "out", 0)) >= feed.sent)
        finally:
            feed.stop()
            query.stop()
        wanted = [b"%d" % n for n in range(feed.sent)]
        for partition in range(PARTITIONS):
            assert values_of(cluster, "in", partition) == wanted
            assert values_of(cluster, "out", partition) == wanted
