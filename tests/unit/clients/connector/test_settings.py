"""Kafka 0.8's keys: defaults, derived values, rejected values."""

import re

import pytest

from barnabas.clients.connector.settings import ConnectorSettings, consumer_id_string
from barnabas.model.errors import ConfigError

NEEDED = {"zookeeper.connect": "localhost:2181", "group.id": "g"}


def parse(**options):
    return ConnectorSettings.parse({**NEEDED, **options})


def test_defaults_are_those_of_kafka():
    settings = parse()
    assert settings.rebalance_retries == 4
    assert settings.rebalance_backoff_s == 2.0
    assert settings.connect_timeout_s == settings.session_timeout_s == 6.0
    assert settings.fetch.reset == -1
    assert settings.streams.timeout_s is None
    assert settings.streams.max_chunks == 2
    assert settings.offsets.storage == "zookeeper"
    assert not settings.offsets.dual_commit
    assert settings.offsets.auto_commit_interval_s == 60.0


@pytest.mark.parametrize(("name", "reset"), [("smallest", -2), ("earliest", -2), ("latest", -1)])
def test_old_and_new_names_of_a_reset(name, reset):
    assert parse(auto_offset_reset=name).fetch.reset == reset


def test_offsets_in_kafka_use_dual_commit_by_default():
    assert parse(offsets_storage="kafka").offsets.dual_commit
    assert not parse(offsets_storage="kafka", dual_commit_enabled=False).offsets.dual_commit


def test_brokers_are_spoken_to_by_the_old_names_of_the_settings():
    options = parse(socket_timeout_ms=1234).client_options(["h:1"])
    assert options.connection.request_timeout_s == 1.234
    assert options.connection.client_id == "g"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"group.id": "a/b"}, "group.id"),
        ({"consumer.id": ".."}, "consumer.id"),
        ({"fetch.wait.max.ms": 2, "socket.timeout.ms": 1}, "at least fetch.wait.max.ms"),
        ({"dual.commit.enabled": True}, "offsets.storage=kafka"),
        ({"partition.assignment.strategy": "sticky"}, "range, roundrobin"),
        ({"bootstrap.servers": "h:1"}, "unknown configuration key"),
    ],
)
def test_invalid_settings_are_rejected(options, message):
    with pytest.raises(ConfigError, match=re.escape(message)):
        ConnectorSettings.parse({**NEEDED, **options})


def test_a_consumer_is_named_by_host_time_and_chance():
    first, second = (consumer_id_string("g", None, 1453380999577) for _ in range(2))
    assert re.fullmatch(r"g_.+-1453380999577-[0-9a-f]{8}", first)
    assert first != second
