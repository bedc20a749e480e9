"""Three brokers on a real ZooKeeper: topics, records, groups and requests to any of them."""

import confluent_kafka
import pytest
from confluent_kafka.admin import AdminClient
from support.cluster.workload import leaders, replicas_differ, wait_until

from barnabas import Admin, Consumer, Producer
from barnabas.admin import NewTopic

pytestmark = [pytest.mark.integration, pytest.mark.xdist_group("cluster")]


def test_topic_is_replicated_on_every_broker(cluster, topic_name):
    cluster.topic(topic_name, partitions=3)
    found = leaders(cluster, topic_name)
    assert {len(p.replicas) for p in found.values()} == {3}
    assert {p.leader for p in found.values()} == {1, 2, 3}
    wait_until(lambda: all(len(p.isr) == 3 for p in leaders(cluster, topic_name).values()))


def test_replicas_hold_the_same_bytes(cluster, topic_name):
    cluster.topic(topic_name, partitions=3)
    for n in range(20):
        cluster.produce(topic_name, *(b"%d-%d" % (n, m) for m in range(50)))
    records = cluster.records(topic_name, at_least=1000)
    assert len(records) == 1000
    assert replicas_differ(cluster, topic_name, 3) == []


def test_every_broker_answers_for_the_whole_cluster(cluster, topic_name):
    cluster.topic(topic_name, partitions=3)
    answers = []
    for broker in cluster.brokers.values():
        metadata = AdminClient({"bootstrap.servers": broker.address}).list_topics(
            topic_name, timeout=60
        )
        addresses = {f"{b.host}:{b.port}" for b in metadata.brokers.values()}
        parts = metadata.topics[topic_name].partitions
        answers.append((addresses, {p: item.leader for p, item in parts.items()}))
    assert answers[0][0] == set(cluster.bootstrap_servers.split(","))
    assert answers.count(answers[0]) == 3


def test_topics_are_created_through_any_broker(cluster, topic_name):
    for number, broker in cluster.brokers.items():
        with Admin({"bootstrap.servers": broker.address}) as admin:
            admin.create_topic(f"{topic_name}-{number}", 2)
        assert len(leaders(cluster, f"{topic_name}-{number}")) == 2


def test_topic_is_created_by_a_producer_on_any_broker(cluster, topic_name):
    for number, broker in cluster.brokers.items():
        with Producer({"bootstrap.servers": broker.address}) as producer:
            producer.send(f"{topic_name}-{number}", b"first").result(60)
        assert [r.value for r in cluster.records(f"{topic_name}-{number}", at_least=1)] == [
            b"first"
        ]


def test_deleted_topic_is_gone_from_every_broker(cluster, topic_name):
    cluster.topic(topic_name, partitions=3)
    cluster.produce(topic_name, b"one")
    cluster.admin.delete_topic(topic_name)
    for broker in cluster.brokers.values():
        wait_until(lambda broker=broker: not _directories(broker, topic_name))
        with Admin({"bootstrap.servers": broker.address}) as admin:
            wait_until(lambda admin=admin: topic_name not in _names(admin))


def test_group_consumes_from_all_leaders(cluster, topic_name):
    cluster.topic(topic_name, partitions=3)
    for partition in range(3):
        cluster.produce(topic_name, *(b"%d" % n for n in range(10)), partition=partition)
    config = {
        "bootstrap.servers": cluster.bootstrap_servers,
        "group.id": topic_name,
        "auto.offset.reset": "earliest",
    }
    with Consumer(config) as consumer:
        consumer.subscribe([topic_name])
        seen = 0
        for _ in range(300):
            seen += sum(len(records) for records in consumer.poll(timeout=0.2).values())
            if seen == 30:
                break
        consumer.commit()
    assert seen == 30


def test_acks_all_needs_two_in_sync(cluster, topic_name):
    """A topic of one replica accepts records although min.insync.replicas is 2, as in Kafka 4."""
    cluster.admin.create_topics([NewTopic(topic_name, 1, 1)])
    assert len(cluster.produce(topic_name, b"one")) == 1


def test_records_are_deleted_on_every_replica(cluster, topic_name):
    cluster.topic(topic_name)
    cluster.produce(topic_name, *(b"%d" % n for n in range(10)))
    client = AdminClient({"bootstrap.servers": cluster.bootstrap_servers})
    topic_partition = confluent_kafka.TopicPartition(topic_name, 0, 6)
    assert client.delete_records([topic_partition])[topic_partition].result(60).low_watermark == 6
    assert [r.offset for r in cluster.records(topic_name)] == [6, 7, 8, 9]


def _directories(broker, topic):
    return [d for d in broker.data_dir.glob(f"{topic}-*") if not d.name.endswith("-delete")]


def _names(admin):
    return [listing.name for listing in admin.list_topics()]
