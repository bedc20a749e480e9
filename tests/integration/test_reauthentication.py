"""Clients authenticate again on the same connection before their session ends (KIP-368)."""

import threading

import pytest
from support.security.oauth_issuer import AUDIENCE, ISSUER, Issuer
from support.security.secure_broker import plain_jaas

from barnabas import Admin, Producer, SimpleConsumer
from barnabas.admin import ScramMechanism, ScramPassword
from barnabas.net.blocking_client import BlockingConnection
from barnabas.net.client import ClientConnection
from barnabas.security.mechanism import AuthenticationError
from barnabas.security.sasl_server import SaslServer
from barnabas.testing import Broker

pytestmark = pytest.mark.integration

MECHANISMS = ["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512", "OAUTHBEARER"]
PASSWORD = "alice-secret"


@pytest.fixture(scope="module")
def issuer():
    return Issuer()


@pytest.fixture(scope="module")
def broker(issuer, tmp_path_factory):
    keys = tmp_path_factory.mktemp("keys") / "jwks.json"
    keys.write_text(issuer.key_set())
    settings = {
        "listeners": "PLAINTEXT://127.0.0.1:0,SASL_PLAINTEXT://127.0.0.1:0",
        "sasl.enabled.mechanisms": ",".join(MECHANISMS),
        "sasl.jaas.config": plain_jaas({"alice": PASSWORD}),
        "sasl.oauthbearer.jwks.endpoint.url": keys.as_uri(),
        "sasl.oauthbearer.expected.issuer": ISSUER,
        "sasl.oauthbearer.expected.audience": AUDIENCE,
        "connections.max.reauth.ms": 1500,
    }
    with Broker(settings) as broker:
        set_passwords(broker, PASSWORD)
        yield broker


def set_passwords(broker, password):
    with Admin({"bootstrap.servers": f"127.0.0.1:{broker.ports['PLAINTEXT']}"}) as admin:
        made = [ScramPassword("alice", password, mechanism) for mechanism in ScramMechanism]
        admin.alter_scram_users(made).check()


@pytest.fixture
def settings(broker, issuer, tmp_path):
    token = tmp_path / "token"
    token.write_text(issuer.token("alice"))

    def of(mechanism):
        common = {
            "bootstrap.servers": f"127.0.0.1:{broker.ports['SASL_PLAINTEXT']}",
            "security.protocol": "SASL_PLAINTEXT",
            "sasl.mechanism": mechanism,
        }
        if mechanism == "OAUTHBEARER":
            return {**common, "sasl.oauthbearer.token.endpoint.url": token.as_uri()}
        return {**common, "sasl.username": "alice", "sasl.password": PASSWORD}

    return of


class Counted:
    """Counts new connections of this process's clients, and logins that brokers accepted."""

    def __init__(self):
        self.opened = self.logins = 0


@pytest.fixture
def counted(monkeypatch):
    count = Counted()
    for kind in (ClientConnection, BlockingConnection):
        make = kind.__init__

        def counting(self, *args, make=make):
            count.opened += 1
            make(self, *args)

        monkeypatch.setattr(kind, "__init__", counting)
    advance = SaslServer._advance

    def accepted(self, *args):
        answer = advance(self, *args)
        count.logins += answer.principal is not None
        return answer

    monkeypatch.setattr(SaslServer, "_advance", accepted)
    return count


def use_until_two_more_logins(counted, use):
    """Calls `use` until each connection had the time to log in again; returns new connections."""
    use()
    opened, wanted = counted.opened, counted.logins + 2
    for _ in range(600):
        if counted.logins >= wanted:
            break
        use()
        threading.Event().wait(0.05)
    assert counted.logins >= wanted
    use()
    return counted.opened - opened


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_a_producer_keeps_its_connections(settings, counted, mechanism):
    with Producer(settings(mechanism)) as producer:
        new = use_until_two_more_logins(counted, lambda: producer.send("produced", b"x").result(30))
    assert new == 0


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_a_blocking_consumer_keeps_its_connections(broker, settings, counted, mechanism):
    with Producer({"bootstrap.servers": f"127.0.0.1:{broker.ports['PLAINTEXT']}"}) as producer:
        producer.send("consumed", b"x", partition=0).result(30)
    with SimpleConsumer(settings(mechanism)) as consumer:
        new = use_until_two_more_logins(counted, lambda: consumer.latest_offset("consumed", 0))
    assert new == 0


def test_requests_that_are_sent_during_the_login_arrive_once_and_in_order(
    broker, settings, counted
):
    config = {**settings("SCRAM-SHA-256"), "linger.ms": 0, "enable.idempotence": False}
    sent = 0
    with Producer(config) as producer:
        wanted = counted.logins + 5
        while counted.logins < wanted:
            results = [producer.send("ordered", b"%d" % (sent + n)) for n in range(50)]
            sent += len(results)
            for result in results:
                result.result(30)
    assert [record.value for record in broker.records("ordered")] == [
        b"%d" % n for n in range(sent)
    ]


def test_a_changed_password_ends_the_session(broker, settings):
    with Producer(settings("SCRAM-SHA-512")) as producer:

        def use():
            for _ in range(600):
                producer.send("ended", b"x").result(60)
                threading.Event().wait(0.05)

        producer.send("ended", b"x").result(30)
        set_passwords(broker, "another")
        try:
            with pytest.raises(AuthenticationError):
                use()
        finally:
            set_passwords(broker, PASSWORD)
