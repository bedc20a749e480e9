"""kafka-python takes the broker for Kafka."""

import gc
import warnings

import pytest
from kafka import KafkaConsumer, KafkaProducer, TopicPartition
from kafka.admin import KafkaAdminClient, NewTopic

pytestmark = pytest.mark.compat


@pytest.fixture(autouse=True)
def leaked_sockets():
    """kafka-python leaves sockets to the garbage collector: collect them outside the tests."""
    yield
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)
        gc.collect()


CODECS = [None, "gzip", "snappy", "lz4", "zstd"]


@pytest.fixture
def records(records):
    """This client rejects headers without a value."""
    return [
        (key, value, [(name, data or b"") for name, data in headers], timestamp)
        for key, value, headers, timestamp in records
    ]


def produce(broker, topic, records, **config):
    producer = KafkaProducer(bootstrap_servers=broker.bootstrap_servers, linger_ms=20, **config)
    futures = [
        producer.send(topic, value, key, headers, partition=0, timestamp_ms=timestamp)
        for key, value, headers, timestamp in records
    ]
    producer.flush(60)
    assert [future.get(1).offset for future in futures] == list(range(len(records)))
    producer.close()


def read_back(broker, topic, count):
    consumer = KafkaConsumer(
        bootstrap_servers=broker.bootstrap_servers, group_id=None, auto_offset_reset="earliest"
    )
    consumer.assign([TopicPartition(topic, 0)])
    seen = []
    for _ in range(600):
        for batch in consumer.poll(100).values():
            seen.extend(batch)
        if len(seen) >= count:
            break
    consumer.close()
    return [(item.key, item.value, list(item.headers), item.timestamp) for item in seen]


@pytest.mark.parametrize("idempotent", [False, True])
@pytest.mark.parametrize("codec", CODECS)
def test_every_byte_comes_back(broker, topic_name, records, codec, idempotent):
    produce(broker, topic_name, records, compression_type=codec, enable_idempotence=idempotent)
    assert read_back(broker, topic_name, len(records)) == records


def test_topics_by_the_admin_client(broker, topic_name):
    admin = KafkaAdminClient(bootstrap_servers=broker.bootstrap_servers)
    admin.create_topics([NewTopic(topic_name, 3, 1)])
    described = admin.describe_topics([topic_name])
    assert len(described[0]["partitions"]) == 3
    admin.delete_topics([topic_name])
    assert topic_name not in admin.list_topics()
    admin.close()
