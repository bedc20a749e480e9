"""No secret of a cluster is shown."""

import json

import pytest

from barnabas.admin import ConfigEntry, ConfigSource
from barnabas.console.security.secrets import HIDDEN, is_secret_key, shown_node
from barnabas.console.services.cluster import config_item

SCRAM = json.dumps({"version": 1, "config": {"SCRAM-SHA-256": "salt=a,stored_key=b,server_key=c"}})


@pytest.mark.parametrize(
    "path",
    [
        "/config/users/alice",
        "/config/users",
        "/kafka/config/users/alice",
        "/config/users/alice/clients/app",
        "/delegation_token/tokens/id",
        "/a/b/delegation_token",
    ],
)
def test_nodes_with_credentials_are_hidden_below_a_chroot_too(path):
    assert shown_node(path, SCRAM.encode()) is None


def test_credentials_under_an_unexpected_path_are_masked():
    assert "stored_key" not in shown_node("/backup/alice", SCRAM.encode())
    assert shown_node("/backup/alice", b"salt=a,stored_key=b") is None
    assert shown_node("/app", b"db.password=x") is None


@pytest.mark.parametrize("chroot", ["", "/kafka"])
def test_dynamic_broker_configs_show_only_known_harmless_keys(chroot):
    config = {
        "log.cleaner.threads": "2",
        "listener.name.external.ssl.keystore.password": "x1",
        "ssl.keystore.key": "x2",
        "ssl.key.password": "x3",
        "listener.name.sasl.scram-sha-256.sasl.jaas.config": "x4",
        "delegation.token.master.key": "x5",
        "my.plugin.api": "x6",
    }
    data = json.dumps({"version": 1, "config": config}).encode()
    shown = json.loads(shown_node(f"{chroot}/config/brokers/1", data))
    assert shown["version"] == 1
    assert shown["config"] == dict.fromkeys(config, HIDDEN) | {"log.cleaner.threads": "2"}


def test_topics_quotas_and_ordinary_nodes_are_shown():
    topic = b'{"version": 1, "config": {"retention.ms": "1000"}}'
    assert json.loads(shown_node("/config/topics/orders", topic)) == json.loads(topic)
    quota = b'{"version": 1, "config": {"producer_byte_rate": "1000"}}'
    assert json.loads(shown_node("/config/clients/app", quota)) == json.loads(quota)
    broker = b'{"brokerid":1,"timestamp":"2"}'
    assert shown_node("/controller", broker) == broker.decode()
    assert shown_node("/", b"") == ""
    assert shown_node("/x", b"\xff") == "\\xff"


@pytest.mark.parametrize("name", ["ssl.keystore.key", "delegation.token.master.key", "x.Secret"])
def test_values_that_a_broker_returns_for_secret_keys_are_left_out(name):
    entry = ConfigEntry(name, "leaked", ConfigSource.STATIC_BROKER_CONFIG, True, False)
    assert is_secret_key(name)
    assert "leaked" not in config_item(entry).model_dump_json()
