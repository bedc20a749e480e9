"""Streaming reads return every record once: triggers, new partitions, restarts."""

import json
import threading

import pytest

from barnabas import Producer, TopicPartition
from barnabas.admin import ElectionType
from barnabas.testing import Cluster

TWO_REPLICAS = {"default.replication.factor": 2, "min.insync.replicas": 1}
pytestmark = [pytest.mark.integration, pytest.mark.xdist_group("spark")]


def stream(spark, source, topic, **options):
    given = {"startingOffsets": "earliest", **options}
    return spark.readStream.format("barnabas").options(**source, subscribe=topic, **given).load()


class Seen:
    """Batches as foreachBatch shows them."""

    def __init__(self):
        self.batches = {}

    def __call__(self, frame, batch_id):
        self.batches[batch_id] = [(r.partition, r.offset, bytes(r.value)) for r in frame.collect()]

    @property
    def rows(self):
        return sorted(row for rows in self.batches.values() for row in rows)

    @property
    def sizes(self):
        return [len(rows) for rows in self.batches.values() if rows]


def run(frame, checkpoint, seen, **trigger):
    writer = frame.writeStream.foreachBatch(seen).option("checkpointLocation", str(checkpoint))
    return writer.trigger(**(trigger or {"availableNow": True})).start()


def finish(query):
    assert query.awaitTermination(200)
    assert query.exception() is None


def plain(broker, topic):
    return [(r.partition, r.offset, r.value) for r in broker.records(topic)]


def wait_for(condition, seconds=90):
    pause = threading.Event()
    for _ in range(int(seconds / 0.05)):
        if condition():
            return
        pause.wait(0.05)
    raise AssertionError("it did not happen")


def test_available_now_with_a_limit_continues(spark, broker, source, topic_name, tmp_path):
    broker.topic(topic_name, partitions=2)
    broker.produce(topic_name, *[str(n) for n in range(40)], partition=0)
    broker.produce(topic_name, *[str(n) for n in range(10)], partition=1)
    seen = Seen()
    frame = stream(spark, source, topic_name, maxOffsetsPerTrigger="20")
    finish(run(frame, tmp_path, seen))
    assert seen.rows == sorted(plain(broker, topic_name))
    assert seen.sizes == [20, 20, 10]
    assert max(seen.batches) == 2
    log = (tmp_path / "offsets" / "2").read_text().splitlines()[-1]
    assert json.loads(log) == {topic_name: {"0": 40, "1": 10}}
    broker.produce(topic_name, "later", partition=1)
    again = Seen()
    finish(run(frame, tmp_path, again))
    assert again.rows == [(1, 10, b"later")]


def test_once_takes_everything(spark, broker, source, topic_name, tmp_path):
    broker.topic(topic_name)
    broker.produce(topic_name, *[str(n) for n in range(30)])
    seen = Seen()
    frame = stream(spark, source, topic_name, maxOffsetsPerTrigger="5")
    finish(run(frame, tmp_path, seen, once=True))
    assert seen.sizes == [30]


def test_a_running_query_follows_growth_moved_leaders_and_restarts(spark, topic_name, tmp_path):
    with Cluster(2, TWO_REPLICAS, zookeeper=False) as cluster:
        cluster.topic(topic_name)
        seen, sent = Seen(), 0
        source = {"kafka.bootstrap.servers": cluster.bootstrap_servers}
        query = run(stream(spark, source, topic_name), tmp_path, seen, processingTime="0 seconds")

        def described():
            return cluster.admin.describe_topic(topic_name).partitions

        def all_in_sync():
            return all(len(item.isr) == 2 for item in described())

        def goes_on():
            nonlocal sent
            with Producer({"bootstrap.servers": cluster.bootstrap_servers}) as producer:
                for item in described():
                    producer.send(topic_name, b"%d" % sent, partition=item.partition)
                    sent += 1
            wait_for(lambda: len(seen.rows) >= sent)

        try:
            goes_on()
            cluster.admin.create_partitions({topic_name: 2})
            wait_for(lambda: len(described()) == 2 and all_in_sync())
            goes_on()
            for number in (1, 2):
                cluster.stop(number)
                goes_on()
                cluster.start(number)
                wait_for(all_in_sync)
            leaders = [item.leader for item in described()]
            topic_partitions = [TopicPartition(topic_name, number) for number in (0, 1)]
            cluster.admin.elect_leaders(ElectionType.PREFERRED, topic_partitions)
            wait_for(lambda: [item.leader for item in described()] != leaders)
            goes_on()
            assert seen.rows == sorted(plain(cluster, topic_name))
            assert query.lastProgress["sources"][0]["description"]
        finally:
            query.stop()


def test_a_recreated_topic_recognised_by_its_length(spark, broker, source, topic_name, tmp_path):
    broker.topic(topic_name)
    broker.produce(topic_name, "a", "b", "c")
    frame = stream(spark, source, topic_name, commitOffsets="false")
    finish(run(frame, tmp_path, Seen()))
    broker.admin.delete_topic(topic_name)
    wait_for(lambda: topic_name not in [t.name for t in broker.admin.list_topics()])
    broker.topic(topic_name)
    broker.produce(topic_name, "new")
    failing = run(frame, tmp_path, Seen())
    with pytest.raises(Exception, match=f"{topic_name}-0: offsets 1 to 2: the log was cut back"):
        failing.awaitTermination(200)
    seen = Seen()
    finish(run(stream(spark, source, topic_name, failOnDataLoss="false"), tmp_path, seen))
    assert seen.rows == [(0, 0, b"new")]


def test_starting_from_a_group(spark, broker, source, topic_name, tmp_path):
    from barnabas import SimpleConsumer

    broker.topic(topic_name, partitions=2)
    broker.produce(topic_name, "a", "b", "c", partition=0)
    broker.produce(topic_name, "d", partition=1)
    with SimpleConsumer(bootstrap_servers=broker.bootstrap_servers) as consumer:
        consumer.commit(topic_name, {TopicPartition(topic_name, 0): 2})
    seen = Seen()
    frame = stream(spark, source, topic_name, startingOffsets=f"group:{topic_name}")
    finish(run(frame, tmp_path, seen))
    assert seen.rows == [(0, 2, b"c"), (1, 0, b"d")]


def test_options_of_batches_are_rejected(spark, source, topic_name, tmp_path):
    query = run(stream(spark, source, topic_name, endingOffsets="latest"), tmp_path, Seen())
    with pytest.raises(Exception, match="'endingOffsets' is for batch"):
        query.awaitTermination(200)
