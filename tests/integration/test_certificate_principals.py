"""`ssl.principal.mapping.rules`: the user that a client certificate stands for."""

import pytest
import trustme

from barnabas import Admin, Producer
from barnabas.admin import (
    AccessEntry,
    AclBinding,
    NewTopic,
    Operation,
    PatternType,
    Permission,
    ResourcePattern,
    ResourceType,
)
from barnabas.model.errors import BrokerError, ConfigError
from barnabas.testing import Broker

pytestmark = pytest.mark.integration

UNIT = "People"
RULES = rf"RULE:^CN=(.*?),OU={UNIT},O=Acme$/$1/L,RULE:^CN=(.*?),OU={UNIT},O=(.*)$/$1@$2/"


@pytest.fixture
def authority(tmp_path):
    authority = trustme.CA()
    authority.cert_pem.write_to_path(str(tmp_path / "ca.pem"))
    leaf = authority.issue_cert("127.0.0.1", "localhost")
    leaf.private_key_and_cert_chain_pem.write_to_path(str(tmp_path / "broker.pem"))
    return authority


@pytest.fixture
def start(authority, tmp_path):
    """`start(rules)` runs a broker that asks for certificates; PLAINTEXT is for administrators."""
    running = []

    def run(rules):
        settings = {
            "listeners": "SSL://127.0.0.1:0,PLAINTEXT://127.0.0.1:0",
            "ssl.keystore.location": str(tmp_path / "broker.pem"),
            "ssl.truststore.location": str(tmp_path / "ca.pem"),
            "ssl.client.auth": "required",
            "ssl.principal.mapping.rules": rules,
            "authorizer.class.name": "kafka.security.authorizer.AclAuthorizer",
            "listener.name.plaintext.authorizer.class.name": "",
        }
        broker = Broker(settings)
        running.append(broker)
        return broker.__enter__()

    yield run
    for broker in running:
        broker.__exit__(None, None, None)


def client(broker, authority, tmp_path, **name):
    """Settings of a client with a certificate of this name."""
    leaf = authority.issue_cert("client.example", organization_unit_name=UNIT, **name)
    path = tmp_path / "client.pem"
    leaf.private_key_and_cert_chain_pem.write_to_path(str(path))
    return {
        "bootstrap.servers": f"127.0.0.1:{broker.ports['SSL']}",
        "security.protocol": "SSL",
        "ssl.ca.location": str(tmp_path / "ca.pem"),
        "ssl.keystore.location": str(path),
    }


def allow(broker, principal, topic="t"):
    with Admin({"bootstrap.servers": f"127.0.0.1:{broker.ports['PLAINTEXT']}"}) as admin:
        admin.create_topics([NewTopic(topic, 1)]).check()
        pattern = ResourcePattern(ResourceType.TOPIC, topic, PatternType.LITERAL)
        entry = AccessEntry(principal, "*", Operation.WRITE, Permission.ALLOW)
        admin.create_acls([AclBinding(pattern, entry)]).check()


@pytest.mark.parametrize(
    ("common_name", "organization", "principal"),
    [("Alice", "Acme", "User:alice"), ("Bob", "Other", "User:Bob@Other")],
)
def test_a_rule_maps_the_name(start, authority, tmp_path, common_name, organization, principal):
    broker = start(RULES)
    allow(broker, principal)
    name = {"common_name": common_name, "organization_name": organization}
    with Producer(client(broker, authority, tmp_path, **name)) as producer:
        assert producer.send("t", b"x").result(30).offset == 0


def test_another_user_is_denied(start, authority, tmp_path):
    broker = start(RULES)
    allow(broker, "User:alice")
    name = {"common_name": "Mallory", "organization_name": "Acme"}
    with (
        Producer(client(broker, authority, tmp_path, **name)) as producer,
        pytest.raises(BrokerError, match="TOPIC_AUTHORIZATION_FAILED"),
    ):
        producer.send("t", b"x").result(30)


def test_a_bad_rule_is_named(start):
    with pytest.raises(ConfigError, match=r"ssl\.principal\.mapping\.rules.*RULE:nonsense"):
        start("RULE:nonsense")
