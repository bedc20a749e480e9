"""Transactions of kafka-python: committed records are read, aborted ones are not."""

import pytest
from kafka import KafkaConsumer, KafkaProducer
from kafka.errors import KafkaError
from kafka.structs import OffsetAndMetadata, TopicPartition
from support.groups.foreign_groups import create_topic

pytestmark = pytest.mark.compat


@pytest.fixture
def transactional(broker):
    made = []

    def make(name):
        producer = KafkaProducer(
            bootstrap_servers=broker.bootstrap_servers, transactional_id=name, linger_ms=5
        )
        made.append(producer)
        producer.init_transactions()
        return producer

    yield make
    for producer in made:
        producer.close(timeout=5)


def read(broker, topic, isolation="read_committed"):
    consumer = KafkaConsumer(
        bootstrap_servers=broker.bootstrap_servers,
        group_id=None,
        auto_offset_reset="earliest",
        isolation_level=isolation,
        consumer_timeout_ms=1500,
    )
    consumer.assign([TopicPartition(topic, 0)])
    values = [record.value for record in consumer]
    consumer.close()
    return values


def send(producer, topic, *values):
    for future in [producer.send(topic, value, partition=0) for value in values]:
        future.get(20)


def test_commit_and_abort(broker, topic_name, transactional):
    create_topic(broker, topic_name, 1)
    producer = transactional(topic_name)
    for value, commit in ((b"1", True), (b"dropped", False), (b"2", True)):
        producer.begin_transaction()
        send(producer, topic_name, value)
        if commit:
            producer.commit_transaction()
        else:
            producer.abort_transaction()
    assert read(broker, topic_name) == [b"1", b"2"]
    assert read(broker, topic_name, "read_uncommitted") == [b"1", b"dropped", b"2"]


def test_offsets_move_with_the_transaction(broker, topic_name, transactional):
    create_topic(broker, topic_name, 1)
    topic_partition = TopicPartition(topic_name, 0)
    producer = transactional(topic_name)
    consumer = KafkaConsumer(bootstrap_servers=broker.bootstrap_servers, group_id=topic_name)
    consumer.assign([topic_partition])
    for offset, commit in ((3, True), (9, False)):
        producer.begin_transaction()
        send(producer, topic_name, b"x")
        metadata = OffsetAndMetadata(offset, "", -1)
        producer.send_offsets_to_transaction({topic_partition: metadata}, topic_name)
        if commit:
            producer.commit_transaction()
        else:
            producer.abort_transaction()
        assert consumer.committed(topic_partition) == 3
    consumer.close()


def test_zombie_is_fenced(broker, topic_name, transactional):
    create_topic(broker, topic_name, 1)
    zombie = transactional(topic_name)
    zombie.begin_transaction()
    send(zombie, topic_name, b"zombie")
    successor = transactional(topic_name)
    with pytest.raises(KafkaError):
        zombie.commit_transaction()
    successor.begin_transaction()
    send(successor, topic_name, b"successor")
    successor.commit_transaction()
    assert read(broker, topic_name) == [b"successor"]
