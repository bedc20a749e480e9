"""confluent-kafka (librdkafka) takes the broker for Kafka."""

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, ConfigResource, NewPartitions, NewTopic, ResourceType

pytestmark = pytest.mark.compat

CODECS = ["none", "gzip", "snappy", "lz4", "zstd"]


def produce(broker, topic, records, **config):
    failures = []
    producer = Producer({"bootstrap.servers": broker.bootstrap_servers, "linger.ms": 20, **config})
    for key, value, headers, timestamp in records:
        producer.produce(
            topic,
            value,
            key,
            partition=0,
            headers=headers,
            timestamp=timestamp,
            on_delivery=lambda error, _: failures.append(error) if error else None,
        )
    assert producer.flush(20) == 0
    assert failures == []


def read_back(broker, topic, count, **config):
    consumer = Consumer(
        {
            "bootstrap.servers": broker.bootstrap_servers,
            "group.id": "unused",
            "enable.auto.commit": False,
            **config,
        }
    )
    consumer.assign([TopicPartition(topic, 0, 0)])
    seen = []
    for _ in range(600):
        seen.extend(consumer.consume(count, timeout=0.1))
        if len(seen) >= count:
            break
    consumer.close()
    assert [message.error() for message in seen] == [None] * len(seen)
    return [
        (message.key(), message.value(), message.headers() or [], message.timestamp()[1])
        for message in seen
    ]


@pytest.mark.parametrize("idempotent", [False, True])
@pytest.mark.parametrize("codec", CODECS)
def test_every_byte_comes_back(broker, topic_name, records, codec, idempotent):
    produce(
        broker,
        topic_name,
        records,
        **{"compression.type": codec, "enable.idempotence": idempotent},
    )
    assert read_back(broker, topic_name, len(records)) == records


@pytest.mark.parametrize("acks", ["0", "1", "all"])
def test_every_level_of_acknowledgement(broker, topic_name, records, acks):
    produce(broker, topic_name, records, acks=acks)
    assert read_back(broker, topic_name, len(records)) == records


def test_watermarks_and_offsets_by_time(broker, topic_name, records):
    produce(broker, topic_name, records)
    consumer = Consumer({"bootstrap.servers": broker.bootstrap_servers, "group.id": "unused"})
    partition = TopicPartition(topic_name, 0)
    assert consumer.get_watermark_offsets(partition, timeout=60) == (0, len(records))
    asked = TopicPartition(topic_name, 0, 1_700_000_001_005)
    assert consumer.offsets_for_times([asked], timeout=60)[0].offset == 10
    consumer.close()


def test_topics_partitions_and_configs_by_the_admin_client(broker, topic_name):
    admin = AdminClient({"bootstrap.servers": broker.bootstrap_servers})
    created = NewTopic(topic_name, 2, 1, config={"retention.ms": "1234567"})
    admin.create_topics([created])[topic_name].result(60)
    admin.create_partitions([NewPartitions(topic_name, 5)])[topic_name].result(60)
    assert len(admin.list_topics(topic_name, timeout=60).topics[topic_name].partitions) == 5
    resource = ConfigResource(ResourceType.TOPIC, topic_name)
    configs = admin.describe_configs([resource])[resource].result(60)
    assert configs["retention.ms"].value == "1234567"
    assert configs["cleanup.policy"].value == "delete"
    admin.delete_topics([topic_name])[topic_name].result(60)
    assert topic_name not in admin.list_topics(timeout=60).topics


def test_records_are_deleted_up_to_an_offset(broker, topic_name, records):
    produce(broker, topic_name, records)
    admin = AdminClient({"bootstrap.servers": broker.bootstrap_servers})
    partition = TopicPartition(topic_name, 0, 7)
    done = admin.delete_records([partition])
    assert next(iter(done.values())).result(60).low_watermark == 7
    consumer = Consumer({"bootstrap.servers": broker.bootstrap_servers, "group.id": "unused"})
    assert consumer.get_watermark_offsets(TopicPartition(topic_name, 0), timeout=60)[0] == 7
    consumer.close()
