"""Transactions of confluent-kafka: committed records are read, aborted ones are not."""

import os
import subprocess
import sys
import textwrap

import pytest
from confluent_kafka import Consumer, KafkaException, Producer, TopicPartition
from support.cluster.workload import leaders, wait_until
from support.groups.foreign_groups import create_topic

from barnabas import TopicPartition as NativeTopicPartition
from barnabas.admin import ElectionType
from barnabas.testing import Broker, Cluster

pytestmark = pytest.mark.compat


def transactional(broker, name, **config):
    producer = Producer(
        {"bootstrap.servers": broker.bootstrap_servers, "transactional.id": name, **config}
    )
    producer.init_transactions(20)
    return producer


def read(broker, topic, isolation="read_committed"):
    """All values up to the end that this reader may see."""
    consumer = Consumer(
        {
            "bootstrap.servers": broker.bootstrap_servers,
            "group.id": "unused",
            "isolation.level": isolation,
            "enable.partition.eof": True,
        }
    )
    consumer.assign([TopicPartition(topic, 0, 0)])
    values = []
    while (message := consumer.poll(10)) is not None and message.error() is None:
        values.append(message.value())
    consumer.close()
    return values


def send(producer, topic, *values):
    for value in values:
        producer.produce(topic, value)
    assert producer.flush(20) == 0


def test_commit_and_abort(broker, topic_name):
    create_topic(broker, topic_name, 1)
    producer = transactional(broker, topic_name)
    producer.begin_transaction()
    send(producer, topic_name, b"1", b"2")
    assert read(broker, topic_name) == []
    producer.commit_transaction(20)
    producer.begin_transaction()
    send(producer, topic_name, b"dropped")
    producer.abort_transaction(20)
    producer.begin_transaction()
    send(producer, topic_name, b"3")
    producer.commit_transaction(20)
    assert read(broker, topic_name) == [b"1", b"2", b"3"]
    assert read(broker, topic_name, "read_uncommitted") == [b"1", b"2", b"dropped", b"3"]


def test_many_transactions_over_several_partitions(broker, topic_name):
    create_topic(broker, topic_name, 6)
    producer = transactional(broker, topic_name)
    for number in range(30):
        producer.begin_transaction()
        for partition in range(6):
            producer.produce(topic_name, b"%d" % number, partition=partition)
        if number % 3:
            producer.commit_transaction(20)
        else:
            producer.abort_transaction(20)
    assert read(broker, topic_name) == [b"%d" % n for n in range(30) if n % 3]


@pytest.mark.parametrize("protocol", ["classic", "consumer"])
def test_offsets_move_with_the_transaction(broker, topic_name, protocol):
    source, target = f"{topic_name}-in", f"{topic_name}-out"
    create_topic(broker, source, 1)
    create_topic(broker, target, 1)
    plain = Producer({"bootstrap.servers": broker.bootstrap_servers})
    send(plain, source, *(b"%d" % n for n in range(40)))
    consumer = Consumer(
        {
            "bootstrap.servers": broker.bootstrap_servers,
            "group.id": topic_name,
            "group.protocol": protocol,
            "auto.offset.reset": "earliest",
            "enable.auto.commit": False,
        }
    )
    consumer.subscribe([source])
    producer = transactional(broker, topic_name)
    for step in range(4):
        producer.begin_transaction()
        for _ in range(10):
            message = consumer.poll(20)
            assert message is not None
            assert message.error() is None
            producer.produce(target, b"out " + message.value())
        position = consumer.position(consumer.assignment())
        producer.send_offsets_to_transaction(position, consumer.consumer_group_metadata(), 20)
        if step == 1:
            producer.abort_transaction(20)
        else:
            producer.commit_transaction(20)
        expected = 10 if step == 1 else 10 * (step + 1)
        committed = consumer.committed([TopicPartition(source, 0)], 20)[0].offset
        assert committed == expected
    consumer.close()
    kept = [*range(10), *range(20, 40)]
    assert read(broker, target) == [b"out %d" % n for n in kept]


def test_zombie_is_fenced(broker, topic_name):
    create_topic(broker, topic_name, 1)
    zombie = transactional(broker, topic_name)
    zombie.begin_transaction()
    send(zombie, topic_name, b"zombie")
    successor = transactional(broker, topic_name)
    with pytest.raises(KafkaException) as caught:
        zombie.commit_transaction(20)
    assert caught.value.args[0].fatal()
    successor.begin_transaction()
    send(successor, topic_name, b"successor")
    successor.commit_transaction(20)
    assert read(broker, topic_name) == [b"successor"]


CRASH = """
    import os, sys
    from confluent_kafka import Producer
    address, topic = sys.argv[1:]
    producer = Producer({"bootstrap.servers": address, "transactional.id": topic})
    producer.init_transactions(20)
    producer.begin_transaction()
    producer.produce(topic, b"crashed")
    producer.flush(20)
    os._exit(7)
"""


def test_crashed_producer_leaves_nothing_behind(broker, topic_name):
    create_topic(broker, topic_name, 1)
    command = [sys.executable, "-c", textwrap.dedent(CRASH), broker.bootstrap_servers, topic_name]
    assert subprocess.run(command, env=os.environ, timeout=60, check=False).returncode == 7
    assert read(broker, topic_name, "read_uncommitted") == [b"crashed"]
    successor = transactional(broker, topic_name)
    successor.begin_transaction()
    send(successor, topic_name, b"successor")
    successor.commit_transaction(20)
    assert read(broker, topic_name) == [b"successor"]


def test_silent_producer_is_timed_out(topic_name):
    settings = {"transaction.abort.timed.out.transaction.cleanup.interval.ms": 100}
    with Broker(settings) as quick:
        create_topic(quick, topic_name, 1)
        silent = transactional(quick, topic_name, **{"transaction.timeout.ms": 1000})
        silent.begin_transaction()
        send(silent, topic_name, b"silent")
        plain = Producer({"bootstrap.servers": quick.bootstrap_servers})
        send(plain, topic_name, b"plain")
        consumer = Consumer({"bootstrap.servers": quick.bootstrap_servers, "group.id": "g"})
        consumer.assign([TopicPartition(topic_name, 0, 0)])
        assert consumer.poll(60).value() == b"plain"
        consumer.close()
        with pytest.raises(KafkaException):
            silent.commit_transaction(10)


def test_transactions_go_on_under_a_new_leader():
    """The old leader keeps running, so the client detects the new leader only by its response."""
    with Cluster(3, zookeeper=False) as cluster:
        topic = cluster.topic("t", partitions=1)
        wait_until(lambda: len(leaders(cluster, topic)[0].isr) == 3)
        refresh = {"topic.metadata.refresh.interval.ms": -1, "metadata.max.age.ms": 900_000}
        producer = transactional(cluster, topic, **refresh)
        for turn in range(4):
            before = leaders(cluster, topic)[0]
            producer.begin_transaction()
            send(producer, topic, b"%d before" % turn)
            producer.commit_transaction(20)
            lead_from(cluster, topic, before.replicas[1:] + before.replicas[:1])
            producer.begin_transaction()
            send(producer, topic, b"%d after" % turn)
            producer.commit_transaction(20)
        written = [b"%d %s" % (turn, when) for turn in range(4) for when in (b"before", b"after")]
        assert read(cluster, topic) == written


def lead_from(cluster, topic, replicas):
    """Make the first of these replicas the leader of partition 0."""
    topic_partition = NativeTopicPartition(topic, 0)
    cluster.admin.alter_partition_reassignments({topic_partition: replicas})
    wait_until(lambda: leaders(cluster, topic)[0].replicas == replicas)
    cluster.admin.elect_leaders(ElectionType.PREFERRED, [topic_partition])
    wait_until(lambda: leaders(cluster, topic)[0].leader == replicas[0])
