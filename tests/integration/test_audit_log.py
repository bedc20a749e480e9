"""The audit log (denied requests, changes, no secrets), and the authorizers of listeners."""

import contextlib
import itertools
import json
import stat

import pytest
from support.security.secure_broker import AUTHORIZER, jaas, plain_jaas

from barnabas import Admin, Consumer, Producer
from barnabas.admin import (
    AccessEntry,
    AclBinding,
    ConfigResource,
    NewTopic,
    Operation,
    Permission,
    ResourcePattern,
    ResourceType,
    ScramPassword,
)
from barnabas.model.errors import BrokerError, ConfigError
from barnabas.security.mechanism import AuthenticationError
from barnabas.testing import Broker

pytestmark = pytest.mark.integration

USERS = {"alice": "alice-secret", "root": "root-secret"}
LISTENERS = {
    "listeners": "CLIENTS://127.0.0.1:0,ADMINS://127.0.0.1:0",
    "listener.security.protocol.map": "CLIENTS:SASL_PLAINTEXT,ADMINS:SASL_PLAINTEXT",
    "sasl.enabled.mechanisms": "PLAIN,SCRAM-SHA-256",
    "sasl.jaas.config": plain_jaas(USERS),
    "authorizer.class.name": AUTHORIZER,
    "super.users": "User:root",
    "delegation.token.secret.key": "token-secret",
}


def client(broker, user, listener="CLIENTS", password=None):
    return {
        "bootstrap.servers": f"127.0.0.1:{broker.ports[listener]}",
        "security.protocol": "SASL_PLAINTEXT",
        "sasl.mechanism": "PLAIN",
        "sasl.username": user,
        "sasl.password": USERS[user] if password is None else password,
    }


@contextlib.contextmanager
def audited(mode, tmp_path):
    """A broker, and a function that returns the lines of its audit log."""
    file = tmp_path / "audit.log"
    settings = {**LISTENERS, "audit.log": mode, "audit.log.file": str(file)}
    with Broker(settings) as broker:
        yield broker, lambda: [json.loads(line) for line in file.read_text().splitlines()]


def test_denied_requests(tmp_path):
    with audited("denied", tmp_path) as (broker, lines):
        with Admin(client(broker, "root")) as root:
            root.create_topic("orders")
        with Producer(client(broker, "alice")) as alice, pytest.raises(BrokerError):
            alice.send("orders", b"x").result(30)
        with Admin(client(broker, "alice")) as alice:
            assert alice.list_topics() == []  # nothing is denied: the list is filtered
            with pytest.raises(BrokerError):
                alice.create_topic("mine")
        with (
            pytest.raises(AuthenticationError),
            Admin(client(broker, "alice", password="guess")) as guessing,
        ):
            guessing.list_topics()
        found = lines()
    created = next(line for line in found if line["api"] == "CREATE_TOPICS")
    time = created.pop("time")
    assert time.endswith("+00:00")
    assert created == {
        "principal": "User:alice",
        "host": "127.0.0.1",
        "listener": "CLIENTS",
        "api": "CREATE_TOPICS",
        "client_id": created["client_id"],
        "denied": ["Create Cluster:kafka-cluster", "Create Topic:mine"],
        "result": "TOPIC_AUTHORIZATION_FAILED",
    }
    assert any("Topic:orders" in text for line in found for text in line.get("denied", ()))
    failed = [line for line in found if line["api"] == "SASL_AUTHENTICATE"]
    assert (failed[0]["principal"], failed[0]["result"]) == ("User:ANONYMOUS", "denied")
    assert {line["principal"] for line in found} == {"User:alice", "User:ANONYMOUS"}
    file = tmp_path / "audit.log"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert "guess" not in file.read_text()


def test_changes_are_logged_without_values(tmp_path):
    acl = AclBinding(
        ResourcePattern(ResourceType.TOPIC, "orders"),
        AccessEntry("User:alice", "*", Operation.READ, Permission.ALLOW),
    )
    with audited("all", tmp_path) as (broker, lines):
        with Admin(client(broker, "root")) as root:
            root.create_topic("orders")
            created = root.create_topics([NewTopic("orders", 1), NewTopic("other", 1)])
            assert created.errors
            root.alter_scram_users([ScramPassword("carol", "carol-secret")]).check()
            root.alter_configs({ConfigResource.topic("orders"): {"retention.ms": 12345}}).check()
            root.create_acls([acl]).check()
            token = root.create_delegation_token()
            root.expire_delegation_token(token.hmac)
            root.list_topics()
        found = [(line["api"], line["resources"], line["result"]) for line in lines()]
    assert found[:2] == [
        ("CREATE_TOPICS", ["Topic:orders"], "ok"),
        ("CREATE_TOPICS", ["Topic:orders", "Topic:other"], "TOPIC_ALREADY_EXISTS"),
    ]
    assert ("ALTER_USER_SCRAM_CREDENTIALS", ["User:carol"], "ok") in found
    assert ("INCREMENTAL_ALTER_CONFIGS", ["Topic:orders[retention.ms]"], "ok") in found
    assert ("CREATE_ACLS", ["Topic:orders[User:alice]"], "ok") in found
    assert ("CREATE_DELEGATION_TOKEN", [], "ok") in found
    assert ("EXPIRE_DELEGATION_TOKEN", [], "ok") in found
    assert "METADATA" not in {api for api, _, _ in found}
    text = (tmp_path / "audit.log").read_text()
    for secret in ("carol-secret", "12345", token.hmac.hex(), "token-secret"):
        assert secret not in text


def test_it_is_off_unless_configured(tmp_path, caplog):
    with Broker(LISTENERS) as broker, Admin(client(broker, "root")) as root:
        root.create_topic("orders")
    assert not [record for record in caplog.records if record.name == "barnabas.audit"]


def test_a_file_that_cannot_be_opened(tmp_path):
    settings = {**LISTENERS, "audit.log": "all", "audit.log.file": str(tmp_path / "no" / "file")}
    with pytest.raises(ConfigError, match=r"audit\.log\.file"), Broker(settings):
        pass
    with pytest.raises(ConfigError, match=r"audit\.log"), Broker({"audit.log": "some"}):
        pass
    settings = {"audit.log": "all", "audit.log.topic": "a topic"}
    with pytest.raises(ConfigError, match=r"audit\.log\.topic"), Broker(settings):
        pass


def test_listeners_have_their_own_authorizer_settings():
    settings = {
        **LISTENERS,
        "super.users": "",
        "listener.name.admins.super.users": "User:root",
    }
    with Broker(settings) as broker:
        with Admin(client(broker, "root", "ADMINS")) as root:
            root.create_topic("orders")
        with Admin(client(broker, "root", "CLIENTS")) as root, pytest.raises(BrokerError):
            root.create_topic("more")
    settings = {**LISTENERS, "listener.name.admins.authorizer.class.name": ""}
    with Broker(settings) as broker:
        with Admin(client(broker, "alice", "ADMINS")) as alice:
            alice.create_topic("orders")
        with Admin(client(broker, "alice", "CLIENTS")) as alice:
            assert alice.list_topics() == []


def own_jaas(user):
    """The users of the broker, and the one as whom it connects to other brokers."""
    passwords = {f"user_{name}": password for name, password in USERS.items()}
    return jaas(username=user, password=USERS[user], **passwords)


def test_the_audit_log_is_written_to_a_topic(tmp_path):
    settings = {
        **LISTENERS,
        "audit.log": "all",
        "audit.log.topic": "audit",
        "inter.broker.listener.name": "ADMINS",
        "sasl.mechanism.inter.broker.protocol": "PLAIN",
        "sasl.jaas.config": own_jaas("root"),
    }
    with Broker(settings, data_dir=tmp_path) as broker:
        with Admin(client(broker, "root")) as root:
            root.create_topic("orders")
        with Admin(client(broker, "alice")) as alice, pytest.raises(BrokerError):
            alice.create_topic("mine")
    with (  # the lines were written before the broker stopped
        Broker(settings, data_dir=tmp_path) as broker,
        Consumer(client(broker, "root"), auto_offset_reset="earliest") as consumer,
    ):
        consumer.assign([("audit", 0)])
        lines = [json.loads(record.value) for record in itertools.islice(consumer, 2)]
    assert [(line["principal"], line["result"]) for line in lines] == [
        ("User:root", "ok"),
        ("User:alice", "TOPIC_AUTHORIZATION_FAILED"),
    ]
    assert lines[0]["resources"] == ["Topic:orders"]
