"""The core keys of Kafka 2.x, with the values that its documentation gives as their defaults.

A configuration file written for Kafka must be accepted with these names and types. The values are
text, as a properties file has them; None stands for keys without a default.
"""

import pytest

from barnabas.model.config_keys.broker import BROKER_KEYS
from barnabas.model.config_keys.consumer import CONSUMER_KEYS
from barnabas.model.config_keys.producer import PRODUCER_KEYS

_SERIALIZATION = "org.apache.kafka.common.serialization"
SERVERS = {"bootstrap.servers": "a:9092,b:9092"}

PRODUCER = {
    "bootstrap.servers": "a:9092,b:9092",
    "acks": "1",
    "batch.size": "16384",
    "linger.ms": "0",
    "buffer.memory": "33554432",
    "max.block.ms": "60000",
    "client.id": "",
    "compression.type": "none",
    "retries": "2147483647",
    "retry.backoff.ms": "100",
    "max.in.flight.requests.per.connection": "5",
    "delivery.timeout.ms": "120000",
    "request.timeout.ms": "30000",
    "connections.max.idle.ms": "540000",
    "enable.idempotence": "false",
    "key.serializer": f"{_SERIALIZATION}.StringSerializer",
    "value.serializer": f"{_SERIALIZATION}.ByteArraySerializer",
    "max.request.size": "1048576",
    "metric.reporters": "org.apache.kafka.common.metrics.JmxReporter",
    "interceptor.classes": "",
    "partitioner.class": "org.apache.kafka.clients.producer.internals.DefaultPartitioner",
    "receive.buffer.bytes": "32768",
    "send.buffer.bytes": "131072",
    "transaction.timeout.ms": "60000",
    "transactional.id": None,
}

CONSUMER = {
    "bootstrap.servers": "a:9092,b:9092",
    "enable.auto.commit": "true",
    "auto.commit.interval.ms": "5000",
    "auto.offset.reset": "latest",
    "client.id": "",
    "check.crcs": "true",
    "group.id": "g",
    "max.poll.records": "500",
    "max.poll.interval.ms": "300000",
    "request.timeout.ms": "30000",
    "session.timeout.ms": "10000",
    "heartbeat.interval.ms": "3000",
    "connections.max.idle.ms": "540000",
    "key.deserializer": f"{_SERIALIZATION}.StringDeserializer",
    "value.deserializer": f"{_SERIALIZATION}.StringDeserializer",
    "partition.assignment.strategy": "org.apache.kafka.clients.consumer.RangeAssignor",
    "max.partition.fetch.bytes": "1048576",
    "fetch.max.bytes": "52428800",
    "fetch.min.bytes": "1",
    "fetch.max.wait.ms": "500",
    "exclude.internal.topics": "true",
    "isolation.level": "read_uncommitted",
}

BROKER = {
    "zookeeper.connect": "a:2181,b:2181",
    "broker.id": "-1",
    "advertised.host.name": None,
    "advertised.listeners": "PLAINTEXT://a:9092",
    "auto.create.topics.enable": "true",
    "auto.leader.rebalance.enable": "true",
    "background.threads": "10",
    "compression.type": "producer",
    "delete.topic.enable": "true",
    "leader.imbalance.check.interval.seconds": "300",
    "leader.imbalance.per.broker.percentage": "10",
    "log.dir": "/tmp/kafka-logs",
    "log.dirs": None,
    "log.flush.interval.messages": "9223372036854775807",
    "log.flush.interval.ms": None,
    "log.flush.scheduler.interval.ms": "9223372036854775807",
    "log.flush.offset.checkpoint.interval.ms": "60000",
    "log.retention.bytes": "-1",
    "log.retention.hours": "168",
    "log.retention.minutes": None,
    "log.retention.ms": None,
    "log.roll.hours": "168",
    "log.roll.ms": None,
    "log.segment.bytes": "1073741824",
    "log.segment.delete.delay.ms": "60000",
    "message.max.bytes": "1048588",
    "min.insync.replicas": "1",
    "num.io.threads": "8",
    "num.network.threads": "3",
    "num.recovery.threads.per.data.dir": "1",
    "num.replica.alter.log.dirs.threads": None,
    "num.replica.fetchers": "1",
    "offset.metadata.max.bytes": "4096",
    "offsets.commit.timeout.ms": "5000",
    "offsets.topic.num.partitions": "50",
    "offsets.topic.replication.factor": "3",
    "offsets.topic.segment.bytes": "104857600",
    "queued.max.requests": "500",
    "replica.fetch.min.bytes": "1",
    "replica.lag.time.max.ms": "30000",
    "transaction.max.timeout.ms": "900000",
    "unclean.leader.election.enable": "false",
    "zookeeper.connection.timeout.ms": None,
    "zookeeper.max.in.flight.requests": "10",
    "group.max.session.timeout.ms": "1800000",
    "group.min.session.timeout.ms": "6000",
    "num.partitions": "1",
}


@pytest.mark.parametrize(("name", "value"), PRODUCER.items())
def test_a_producer_key(name, value):
    assert name in PRODUCER_KEYS.parse({**SERVERS, name: value})


@pytest.mark.parametrize(("name", "value"), CONSUMER.items())
def test_a_consumer_key(name, value):
    assert name in CONSUMER_KEYS.parse({**SERVERS, name: value})


@pytest.mark.parametrize(("name", "value"), BROKER.items())
def test_a_broker_key(name, value):
    assert name in BROKER_KEYS.parse({name: value})


def test_numbers_of_whole_files():
    """All at once, as a file has them: numbers become numbers and flags flags."""
    broker = BROKER_KEYS.parse(BROKER)
    assert broker["offsets.commit.timeout.ms"] == 5000
    assert broker["unclean.leader.election.enable"] is False
    assert PRODUCER_KEYS.parse(PRODUCER)["receive.buffer.bytes"] == 32768
    assert CONSUMER_KEYS.parse(CONSUMER)["session.timeout.ms"] == 10_000
