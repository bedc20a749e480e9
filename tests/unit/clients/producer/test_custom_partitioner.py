"""Partitioners of the application: how they are named, and what they see."""

import sys
from types import SimpleNamespace

import pytest

from barnabas.clients.producer._send_hot import TopicAppender
from barnabas.clients.producer.custom_partitioner import Cluster, load_partitioner
from barnabas.clients.producer.settings import ProducerSettings
from barnabas.model.errors import ConfigError, LocalError

CONFIG = {"bootstrap.servers": "h:1"}


class Last:
    def configure(self, config):
        self.seen = config["client.id"]

    def partition(self, topic, key, key_bytes, value, value_bytes, cluster):
        return cluster.partition_count_for_topic(topic) - 1


class NoPartitioner:
    pass


@pytest.mark.parametrize("given", [Last(), Last, "shop.last.Last"], ids=["object", "class", "path"])
def test_object_class_and_path_are_accepted_and_configured(given, monkeypatch):
    monkeypatch.setitem(sys.modules, "shop.last", SimpleNamespace(Last=Last))
    config = {**CONFIG, "client.id": "me", "partitioner.class": given}
    settings = ProducerSettings.parse(config)
    assert settings.partitioner_object.seen == "me"
    assert not settings.plain
    assert not settings.hashes_keys


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ("no.such.module.Class", "No module named 'no'"),
        ("json.NoSuchClass", "json has no class or function 'NoSuchClass'"),
        (NoPartitioner, "the class has no method partition"),
        (type("Broken", (), {"__init__": lambda self: 1 / 0}), "ZeroDivisionError"),
        ("nonsense", "must be one of"),
        ("json.dumps", "the class has no method partition"),
    ],
)
def test_a_wrong_name_is_rejected_with_its_cause(given, text):
    with pytest.raises(ConfigError, match=text):
        ProducerSettings.parse({**CONFIG, "partitioner.class": given})


def test_functions_and_names_are_no_objects():
    assert load_partitioner(lambda *_: 0, {}) is None
    assert load_partitioner("round_robin", {}) is None
    assert load_partitioner(None, {}) is None


def test_the_cluster_has_the_topic_of_the_record():
    appender = TopicAppender(3, True)
    appender.available = (0, 2)
    cluster = Cluster("t", appender)
    assert cluster.partition_count_for_topic("t") == 3
    assert cluster.partitions_for_topic("t") == [0, 1, 2]
    assert cluster.available_partitions_for_topic("t") == [0, 2]
    with pytest.raises(LocalError, match="a record of 't', not of 'other'"):
        cluster.partition_count_for_topic("other")
