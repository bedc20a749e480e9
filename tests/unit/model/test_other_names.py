"""Names and values of other clients: librdkafka's keys, Java's class names, spaces at the ends."""

import pytest

from barnabas.model.config_keys import other_names
from barnabas.model.config_keys.broker import BROKER_KEYS
from barnabas.model.config_keys.client import ADMIN_KEYS
from barnabas.model.config_keys.connector import CONNECTOR_KEYS
from barnabas.model.config_keys.consumer import CONSUMER_KEYS
from barnabas.model.config_keys.producer import PRODUCER_KEYS
from barnabas.model.errors import ConfigError

SERVERS = {"bootstrap.servers": "a:1"}


@pytest.mark.parametrize(
    ("table", "given", "name", "value"),
    [
        (CONSUMER_KEYS, {"auto.offset.reset": "earliest "}, "auto.offset.reset", "earliest"),
        (CONSUMER_KEYS, {"group.id": " g\t"}, "group.id", "g"),
        (CONSUMER_KEYS, {"sasl.password": " secret "}, "sasl.password", "secret"),
        (PRODUCER_KEYS, {"key.serializer": " string "}, "key.serializer", "string"),
        (PRODUCER_KEYS, {"interceptor.classes": "  "}, "interceptor.classes", []),
    ],
)
def test_text_is_trimmed(table, given, name, value):
    assert table.parse({**SERVERS, **given})[name] == value


@pytest.mark.parametrize(
    ("table", "given", "name", "value"),
    [
        (PRODUCER_KEYS, {"sasl.mechanisms": "PLAIN"}, "sasl.mechanism", "PLAIN"),
        (PRODUCER_KEYS, {"queue.buffering.max.ms": "20"}, "linger.ms", 20),
        (PRODUCER_KEYS, {"queue_buffering_max_ms": 20}, "linger.ms", 20),
        (PRODUCER_KEYS, {"queue.buffering.max.kbytes": "1024"}, "buffer.memory", 1024**2),
        (PRODUCER_KEYS, {"message.send.max.retries": "3"}, "retries", 3),
        (PRODUCER_KEYS, {"message.timeout.ms": "9000"}, "delivery.timeout.ms", 9000),
        (PRODUCER_KEYS, {"request.required.acks": "1"}, "acks", "1"),
        (PRODUCER_KEYS, {"compression.codec": "lz4"}, "compression.type", "lz4"),
        (PRODUCER_KEYS, {"partitioner": "murmur2_random"}, "partitioner.class", "murmur2"),
        (PRODUCER_KEYS, {"max.in.flight": 2}, "max.in.flight.requests.per.connection", 2),
        (PRODUCER_KEYS, {"security.protocol": "sasl_ssl"}, "security.protocol", "SASL_SSL"),
        (PRODUCER_KEYS, {"socket.timeout.ms": 7}, "request.timeout.ms", 7),
        (CONSUMER_KEYS, {"socket.receive.buffer.bytes": 7}, "receive.buffer.bytes", 7),
        (CONSUMER_KEYS, {"fetch.wait.max.ms": 7}, "fetch.max.wait.ms", 7),
        (CONSUMER_KEYS, {"fetch.message.max.bytes": 7}, "max.partition.fetch.bytes", 7),
        (CONSUMER_KEYS, {"auto.offset.reset": "smallest"}, "auto.offset.reset", "earliest"),
        (CONSUMER_KEYS, {"auto.offset.reset": "end"}, "auto.offset.reset", "latest"),
        (CONSUMER_KEYS, {"auto.offset.reset": "error"}, "auto.offset.reset", "none"),
        (CONSUMER_KEYS, {"auto.commit.enable": "false"}, "enable.auto.commit", False),
        (BROKER_KEYS, {"offset.commit.timeout.ms": 7}, "offsets.commit.timeout.ms", 7),
    ],
)
def test_names_of_librdkafka_and_older_ones(table, given, name, value):
    servers = {} if table is BROKER_KEYS else SERVERS
    assert table.parse({**servers, **given})[name] == value


def test_the_brokers_may_go_by_librdkafkas_name():
    found = CONSUMER_KEYS.parse({"metadata.broker.list": "a:1, b:2"})
    assert found["bootstrap.servers"] == ["a:1", "b:2"]


def test_one_key_under_two_names_is_rejected():
    with pytest.raises(
        ConfigError, match=r"linger\.ms is given twice: .*queue\.buffering\.max\.ms"
    ):
        PRODUCER_KEYS.parse({**SERVERS, "linger.ms": 1, "queue.buffering.max.ms": 1})


def test_the_old_consumer_keeps_its_own_keys():
    given = {"zookeeper.connect": "z", "group.id": "g", "socket.timeout.ms": 7}
    assert CONNECTOR_KEYS.parse(given)["socket.timeout.ms"] == 7


@pytest.mark.parametrize(
    ("table", "name", "java", "value"),
    [
        (PRODUCER_KEYS, "key.serializer", "common.serialization.StringSerializer", "string"),
        (PRODUCER_KEYS, "value.serializer", "common.serialization.LongSerializer", "long"),
        (CONSUMER_KEYS, "key.deserializer", "common.serialization.BytesDeserializer", "bytes"),
        (PRODUCER_KEYS, "partitioner.class", "clients.producer.RoundRobinPartitioner", None),
        (
            CONSUMER_KEYS,
            "partition.assignment.strategy",
            "clients.consumer.CooperativeStickyAssignor",
            ["cooperative-sticky"],
        ),
    ],
)
def test_java_class_names(table, name, java, value):
    found = table.parse({**SERVERS, name: f"org.apache.kafka.{java}"})[name]
    assert found == (value or "round_robin")


@pytest.mark.parametrize(
    ("table", "given", "message"),
    [
        (PRODUCER_KEYS, {"batch.num.messages": 5}, "batch.num.messages .* batch.size"),
        (PRODUCER_KEYS, {"compression.level": 5}, "compression.zstd.level"),
        (PRODUCER_KEYS, {"statistics.interval.ms": 5}, "statistics.interval.ms is not supported"),
        (CONSUMER_KEYS, {"enable.auto.offset.store": "false"}, "commit"),
        (CONSUMER_KEYS, {"enable.partition.eof": "true"}, "end_offsets"),
        (CONSUMER_KEYS, {"zookeeper.connect": "z"}, "ConsumerConnector"),
        (BROKER_KEYS, {"process.roles": "broker,controller"}, "zookeeper.connect"),
        (
            PRODUCER_KEYS,
            {"key.serializer": "org.apache.kafka.common.serialization.VoidSerializer"},
            "no equivalent; use one of: .*string",
        ),
        (
            PRODUCER_KEYS,
            {"partitioner.class": "org.apache.kafka.clients.producer.UniformStickyPartitioner"},
            "no equivalent; use one of: .*round_robin",
        ),
        (
            CONSUMER_KEYS,
            {"interceptor.classes": "com.example.Interceptor"},
            "objects.*not names",
        ),
    ],
)
def test_an_error_names_the_alternative(table, given, message):
    servers = {} if table is BROKER_KEYS else SERVERS
    with pytest.raises(ConfigError, match=message):
        table.parse({**servers, **given})


@pytest.mark.parametrize(
    ("table", "key", "owner"),
    [
        (CONSUMER_KEYS, "acks", "producers"),
        (CONSUMER_KEYS, "linger_ms", "producers"),
        (PRODUCER_KEYS, "group.id", "consumers"),
        (ADMIN_KEYS, "auto.offset.reset", "consumers"),
    ],
)
def test_error_of_a_key_names_the_client_that_has_it(table, key, owner):
    with pytest.raises(ConfigError, match=f"{key} is not supported: it is a key of {owner}$"):
        table.parse({"bootstrap.servers": "h:1", key: "1"})


def test_lists_of_keys_of_one_client_are_complete():
    producer, consumer = ({key.name for key in keys} for keys in (PRODUCER_KEYS, CONSUMER_KEYS))
    assert set(other_names.PRODUCER_ONLY) == producer - consumer
    assert set(other_names.CONSUMER_ONLY) == consumer - producer
