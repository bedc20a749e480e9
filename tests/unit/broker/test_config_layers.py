"""ConfigLayers: precedence of the layers, and their description."""

import pytest

from barnabas.broker.config import BrokerConfig
from barnabas.broker.config_layers import ConfigLayers, ConfigOrigin


@pytest.fixture
def layers():
    return ConfigLayers(BrokerConfig.parse({"log.retention.hours": 2, "num.partitions": 3}))


def entry(layers, name, topic="t"):
    return next(item for item in layers.describe_topic(topic) if item.key.name == name)


def test_a_topic_value_comes_from_the_strongest_layer(layers):
    assert layers.topic_value("t", "retention.ms") == 7_200_000
    layers.set_default({"log.retention.ms": "5"})
    assert layers.topic_value("t", "retention.ms") == 5
    layers.set_broker({"log.retention.ms": "6"})
    assert layers.topic_value("t", "retention.ms") == 6
    layers.set_topic("t", {"retention.ms": "7"})
    assert layers.topic_value("t", "retention.ms") == 7


def test_a_change_of_a_default_leaves_overrides_alone(layers):
    layers.set_topic("t", {"cleanup.policy": "compact"})
    layers.set_default({"log.cleanup.policy": "delete"})
    assert layers.topic_value("t", "cleanup.policy") == ["compact"]
    layers.set_topic("t", {})
    assert layers.topic_value("t", "cleanup.policy") == ["delete"]


def test_sources_and_synonyms(layers):
    assert entry(layers, "max.message.bytes").source is ConfigOrigin.DEFAULT
    assert entry(layers, "retention.ms").source is ConfigOrigin.STATIC_BROKER
    layers.set_topic("t", {"retention.ms": "7"})
    described = entry(layers, "retention.ms")
    assert (described.value, described.source) == ("7", ConfigOrigin.TOPIC)
    assert [item.source for item in described.synonyms] == [
        ConfigOrigin.TOPIC,
        ConfigOrigin.STATIC_BROKER,
        ConfigOrigin.DEFAULT,
    ]


def test_only_dynamic_broker_keys_can_be_changed(layers):
    assert layers.broker_value("num.partitions") == 3
    layers.set_default({"message.max.bytes": "4000"})
    described = {item.key.name: item for item in layers.describe_broker()}
    assert described["message.max.bytes"].value == "4000"
    assert not described["message.max.bytes"].read_only
    assert described["num.partitions"].read_only
    assert described["broker.id"].read_only
    assert [item.key.name for item in layers.describe_default()] == ["message.max.bytes"]


def test_values_of_single_listeners():
    key = "listener.name.client.max.connections"
    static = {"listeners": "CLIENT://:0", "listener.security.protocol.map": "CLIENT:PLAINTEXT"}
    layers = ConfigLayers(BrokerConfig.parse({**static, key.replace("client", "CLIENT"): 5}))
    assert layers.listener_value("OTHER", "max.connections") is None
    assert layers.listener_value("CLIENT", "max.connections") == 5
    layers.set_default({key: "6", "of.another.make": "7"})
    assert layers.listener_value("CLIENT", "max.connections") == 6
    described = {item.key.name: item for item in layers.describe_broker()}[key]
    assert (described.value, described.read_only) == ("6", False)
    assert [(item.value, item.source) for item in described.synonyms] == [
        ("6", ConfigOrigin.DYNAMIC_DEFAULT_BROKER),
        ("5", ConfigOrigin.STATIC_BROKER),
    ]
    assert [(item.key.name, item.value) for item in layers.describe_default()] == [
        (key, "6"),
        ("of.another.make", None),
    ]


def test_a_key_that_is_not_ours_is_shown_without_its_value():
    layers = ConfigLayers(BrokerConfig.parse({}))
    layers.set_default({"of.a.plugin": "secret"})
    layers.set_broker({"of.a.plugin": "other"})
    described = {item.key.name: item for item in layers.describe_broker()}["of.a.plugin"]
    assert (described.key.type.value, described.key.sensitive) == (0, True)
    assert (described.value, described.read_only, described.source) == (
        None,
        True,
        ConfigOrigin.DYNAMIC_BROKER,
    )
    assert [(item.value, item.source) for item in described.synonyms] == [
        (None, ConfigOrigin.DYNAMIC_BROKER),
        (None, ConfigOrigin.DYNAMIC_DEFAULT_BROKER),
    ]


def test_secrets_of_single_listeners_are_not_shown():
    key = "listener.name.client.plain.sasl.jaas.config"
    layers = ConfigLayers(BrokerConfig.parse({key: "m required password=p;"}))
    described = {item.key.name: item for item in layers.describe_broker()}[key]
    assert (described.value, described.read_only) == (None, True)
    assert [item.value for item in described.synonyms] == [None]
