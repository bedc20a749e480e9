"""Serializers by name, and by the names of Kafka's Java classes."""

import uuid

import pytest

from barnabas.clients.core.serialization import DESERIALIZERS, SERIALIZERS
from barnabas.clients.group.settings import ConsumerSettings
from barnabas.clients.producer.settings import ProducerSettings
from barnabas.model.config_keys import other_names
from barnabas.model.errors import ConfigError

SERVERS = {"bootstrap.servers": "a:1"}
ID = uuid.UUID(int=7)


@pytest.mark.parametrize(
    ("name", "value", "data"),
    [
        ("string", "é", b"\xc3\xa9"),
        ("bytes", b"\xff", b"\xff"),
        ("int", -2, b"\xff\xff\xff\xfe"),
        ("long", 1, b"\0\0\0\0\0\0\0\x01"),
        ("double", 1.5, b"\x3f\xf8\0\0\0\0\0\0"),
        ("uuid", ID, str(ID).encode()),
        ("json", {"a": [1, None]}, b'{"a":[1,null]}'),
    ],
)
def test_built_in(name, value, data):
    assert SERIALIZERS[name](value) == data
    assert DESERIALIZERS[name](data) == value


def test_java_names_stand_for_them():
    assert set(other_names.SERIALIZERS.values()) <= SERIALIZERS.keys()
    java = "org.apache.kafka.common.serialization"
    producer = ProducerSettings.parse({**SERVERS, "key.serializer": f"{java}.StringSerializer"})
    assert producer.key_serializer("k") == b"k"
    given = {**SERVERS, "value.deserializer": f"{java}.LongDeserializer "}
    assert ConsumerSettings.parse(given).value_deserializer(b"\0" * 8) == 0


@pytest.mark.parametrize("given", ["utf-8", 5])
def test_others_are_refused(given):
    with pytest.raises(ConfigError, match="callable or one of: string, bytes"):
        ProducerSettings.parse({**SERVERS, "key.serializer": given})


def test_what_a_serializer_refuses():
    with pytest.raises(TypeError, match="takes str, not int"):
        SERIALIZERS["string"](5)
    with pytest.raises(ValueError, match="3 bytes where 8 are needed"):
        DESERIALIZERS["long"](b"abc")
