"""Serializers by name, by the names of Kafka's Java classes, as classes, objects and functions."""

import json
import sys
import uuid
from types import SimpleNamespace

import pytest

from barnabas.clients.core.serialization import (
    DESERIALIZERS,
    SERIALIZERS,
    Deserializer,
    Serializer,
)
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
def test_built_in_serializers_convert_both_ways(name, value, data):
    assert SERIALIZERS[name](value) == data
    assert DESERIALIZERS[name](data) == value


def test_java_names_stand_for_them():
    assert set(other_names.SERIALIZERS.values()) <= SERIALIZERS.keys()
    java = "org.apache.kafka.common.serialization"
    producer = ProducerSettings.parse({**SERVERS, "key.serializer": f"{java}.StringSerializer"})
    assert producer.key_serializer.for_topic("t")("k") == b"k"
    given = {**SERVERS, "value.deserializer": f"{java}.LongDeserializer "}
    assert ConsumerSettings.parse(given).value_deserializer.for_topic("t")(b"\0" * 8) == 0


@pytest.mark.parametrize("given", ["utf-8", 5])
def test_others_are_rejected(given):
    with pytest.raises(ConfigError, match=r"must be one of string, bytes, .* a method serialize"):
        ProducerSettings.parse({**SERVERS, "key.serializer": given})


def test_serializers_reject_values_of_other_types():
    with pytest.raises(TypeError, match="takes str, not int"):
        SERIALIZERS["string"](5)
    with pytest.raises(ValueError, match="3 bytes where 8 are needed"):
        DESERIALIZERS["long"](b"abc")


class Tagged(Serializer, Deserializer):
    """Writes the topic in front of the data; keeps the calls of the client."""

    def __init__(self):
        self.configured = []
        self.closed = 0

    def configure(self, config, is_key):
        self.configured.append((config["client.id"], config.get("key.serializer.tag"), is_key))

    def serialize(self, topic, data):
        return f"{topic}:{data}"

    def deserialize(self, topic, data):
        return data.decode().removeprefix(f"{topic}:")

    def close(self):
        self.closed += 1


class Doubling:
    """Instances are callable, as those of other clients' serializers are."""

    def __call__(self, data):
        return data * 2


@pytest.mark.parametrize("given", [Tagged(), Tagged, "shop.tagged.Tagged", "shop.tagged:Tagged"])
def test_object_class_and_path(given, monkeypatch):
    monkeypatch.setitem(sys.modules, "shop.tagged", SimpleNamespace(Tagged=Tagged))
    config = {**SERVERS, "client.id": "me", "key.serializer.tag": "x"}
    made = ProducerSettings.parse({**config, "key.serializer": given}).key_serializer
    assert made.for_topic("orders")(7) == "orders:7"
    tagged = made._plugin
    assert tagged.configured == [("me", "x", True)]
    made.close()
    assert tagged.closed == 1


def test_the_consumer_uses_the_same_forms():
    settings = ConsumerSettings.parse(
        {
            **SERVERS,
            "value.deserializer": Tagged,
            "value.deserializer.tag": 1,
            "key_deserializer": int,
        }
    )
    assert settings.value_deserializer.for_topic("t")(b"t:data") == "data"
    assert settings.value_deserializer._plugin.configured == [("barnabas", None, False)]
    assert settings.key_deserializer.for_topic("t")(b"12") == 12


@pytest.mark.parametrize("given", [Doubling, Doubling(), lambda data: data * 2])
def test_a_class_an_object_and_a_function_can_serialize(given):
    settings = ProducerSettings.parse({**SERVERS, "value.serializer": given})
    assert settings.value_serializer.for_topic("t")(b"a") == b"aa"


def test_a_function_by_its_path():
    settings = ConsumerSettings.parse({**SERVERS, "value.deserializer": "json.loads"})
    assert settings.value_deserializer.for_topic("t")(b"[1]") == [1]
    assert settings.value_deserializer.for_topic("t") is json.loads


class Broken(Serializer):
    def configure(self, config, is_key):
        raise KeyError("url")


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ("no.such.Class", r"key\.serializer='no\.such\.Class': ModuleNotFoundError"),
        ("json.NoSuch", "json has no class or function 'NoSuch'"),
        (type("Needy", (Serializer,), {"__init__": lambda self, url: None}), "TypeError.*'url'"),
        (Broken, "KeyError: 'url'"),
        (object(), "must be one of string"),
    ],
)
def test_a_wrong_class_is_rejected_with_its_cause(given, text):
    with pytest.raises(ConfigError, match=text):
        ProducerSettings.parse({**SERVERS, "key.serializer": given})


def test_a_close_that_fails_is_logged(caplog):
    failing = type("Failing", (Tagged,), {"close": lambda self: 1 / 0})
    ProducerSettings.parse({**SERVERS, "key.serializer": failing}).key_serializer.close()
    assert "failed in close()" in caplog.text
