"""Groups whose coordinator is killed: members continue, every record is read, commits stay."""

import threading

import confluent_kafka
import pytest
from support.cluster.workload import BarnabasWriter, leaders, wait_until

from barnabas.model.java_hash import coordinator_partition

pytestmark = [pytest.mark.faults, pytest.mark.xdist_group("cluster")]

PARTITIONS = 3


@pytest.mark.parametrize("protocol", ["classic", "consumer"])
def test_coordinator_killed_under_a_group(cluster, topic_name, protocol):
    cluster.topic(topic_name, partitions=PARTITIONS)
    writer = BarnabasWriter("b", cluster, topic_name, PARTITIONS)
    reader = Reader(cluster, topic_name, protocol)
    writer.start()
    reader.start()
    wait_until(lambda: reader.commits > 3, what="the first commits")
    coordinator = coordinator_of(cluster, topic_name)
    cluster.kill(coordinator)
    before = reader.commits
    wait_until(lambda: reader.commits > before + 3, what="commits at the next coordinator")
    assert coordinator_of(cluster, topic_name) != coordinator
    cluster.start(coordinator)
    writer.stop()
    promised = {(p, b"b-%d" % n) for p, n in writer.acknowledged.offsets}
    wait_until(lambda: promised <= reader.seen, what="every record")
    reader.stop()
    assert reader.errors == []
    assert committed(cluster, topic_name) == {
        p: max(o for (q, _), o in writer.acknowledged.offsets.items() if q == p) + 1
        for p in range(PARTITIONS)
    }


def coordinator_of(cluster, group):
    found = leaders(cluster, "__consumer_offsets")
    return found[coordinator_partition(group, len(found))].leader


def committed(cluster, topic):
    config = {"bootstrap.servers": cluster.bootstrap_servers, "group.id": topic}
    consumer = confluent_kafka.Consumer(config)
    topic_partitions = [confluent_kafka.TopicPartition(topic, p) for p in range(PARTITIONS)]
    found = {
        topic_partition.partition: topic_partition.offset
        for topic_partition in consumer.committed(topic_partitions, timeout=60)
    }
    consumer.close()
    return found


class Reader(threading.Thread):
    """One member; commits the records it has read, and retries after transient errors."""

    def __init__(self, cluster, topic, protocol):
        super().__init__(name="reader", daemon=True)
        self.seen, self.errors, self.commits = set(), [], 0
        self._topic = topic
        self._stopped = threading.Event()
        self._config = {
            "bootstrap.servers": cluster.bootstrap_servers,
            "group.id": topic,
            "group.protocol": protocol,
            "auto.offset.reset": "earliest",
            "enable.auto.commit": False,
            "log_level": 0,
        }

    def stop(self):
        self._stopped.set()
        self.join()

    def run(self):
        consumer = confluent_kafka.Consumer(self._config)
        consumer.subscribe([self._topic])
        while not self._stopped.is_set():
            for message in consumer.consume(500, timeout=0.2):
                if message.error() is None:
                    self.seen.add((message.partition(), message.value()))
                elif not message.error().retriable():
                    self.errors.append(str(message.error()))
            self._commit(consumer)
        self._commit(consumer)
        consumer.close()

    def _commit(self, consumer):
        try:
            consumer.commit(asynchronous=False)
            self.commits += 1
        except confluent_kafka.KafkaException as failure:
            code = failure.args[0].code()
            if code == confluent_kafka.KafkaError._NO_OFFSET:
                return
            if not failure.args[0].retriable():
                self.errors.append(str(failure))
