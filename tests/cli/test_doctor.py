"""The doctor: what it says about names, ports, ZooKeeper, TLS, logins, advertised addresses."""

import contextlib
import json
import socket
import threading

import pytest
from support.security.secure_broker import Certificates, client_config, secure_broker

from barnabas.cli.nouns import doctor_addresses
from barnabas.runtime.child_process import free_port
from barnabas.testing import Broker

pytestmark = pytest.mark.integration


@contextlib.contextmanager
def served_by(answer):
    """A port whose connections `answer(connection)` handles."""
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve():
            with contextlib.suppress(OSError):
                while True:
                    peer, _ = listener.accept()
                    with peer, contextlib.suppress(OSError):
                        answer(peer)

        thread = threading.Thread(target=serve)
        thread.start()
        yield f"127.0.0.1:{listener.getsockname()[1]}"
        with contextlib.suppress(OSError):
            listener.shutdown(socket.SHUT_RDWR)
    thread.join(5)


def trouble(ran):
    document = json.loads(ran.out)
    assert (ran.code, document["ok"]) == (3, False)
    return next(item for item in document["findings"] if item["status"] == "FAILED")


def test_all_is_well(cli, broker):
    ran = cli("doctor", "--probe", "--format", "json", servers=broker.bootstrap_servers)
    document = json.loads(ran.out)
    assert (ran.code, document["ok"]) == (0, True)
    checks = {item["check"] for item in document["findings"]}
    assert {"dns", "port", "protocol", "advertised port", "versions", "replicas", "clock"} <= checks


def test_an_unknown_host_name(cli):
    found = trouble(cli("doctor", "-b", "no-such-host.invalid:9092", "--format", "json"))
    assert found["check"] == "dns"
    assert "misspelt" in found["cause"]


def test_a_closed_port(cli):
    port = free_port()
    found = trouble(cli("doctor", "-b", f"127.0.0.1:{port}", "--format", "json"))
    assert (found["check"], found["detail"]) == (
        "port",
        "connection refused: nothing listens there",
    )
    assert f"barnabas up --port {port}" in found["fix"]


def test_a_program_that_does_not_respond(cli, monkeypatch):
    monkeypatch.setattr(doctor_addresses, "RESPONSE_SECONDS", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        ran = cli("doctor", "-b", f"127.0.0.1:{silent.getsockname()[1]}")
    assert ran.code == 3
    assert "no Kafka broker responded" in ran.out
    assert "did not respond to ApiVersionsRequest in 0.2 s" in ran.out


def test_zookeeper_by_mistake(cli):
    def zookeeper(peer):
        if peer.recv(64).startswith(b"srvr"):
            peer.sendall(b"Zookeeper version: 3.9\n")

    with served_by(zookeeper) as address:
        found = trouble(cli("doctor", "-b", address, "--format", "json"))
    assert found["detail"] == "this is ZooKeeper, not a broker"
    assert "9092" in found["fix"]


@pytest.fixture(scope="module")
def certificates(tmp_path_factory):
    return Certificates(tmp_path_factory.mktemp("doctor"))


@pytest.fixture(scope="module")
def secure(certificates):
    with secure_broker(certificates) as broker:
        yield broker


@pytest.fixture
def at(cli, secure, certificates):
    """The doctor at a listener of the secure broker, with the right settings but for changes."""

    def look(listener, mechanism=None, **changes):
        config = client_config(secure, certificates, listener, mechanism)
        config |= {name.replace("_", "."): value for name, value in changes.items()}
        servers = config.pop("bootstrap.servers")
        options = [word for pair in config.items() for word in ("-X", "=".join(pair))]
        return cli("doctor", "-b", servers, *options, "--format", "json")

    return look


@pytest.mark.parametrize(
    ("listener", "mechanism"), [("SSL", None), ("SASL_PLAINTEXT", "PLAIN"), ("SASL_SSL", "PLAIN")]
)
def test_secure_listeners_are_well(at, listener, mechanism):
    ran = at(listener, mechanism)
    assert (ran.code, json.loads(ran.out)["ok"]) == (0, True), ran.out


def test_plain_against_tls(at):
    found = trouble(at("SSL", security_protocol="PLAINTEXT"))
    assert (found["check"], found["detail"]) == (
        "tls",
        "the port expects TLS, the settings have no TLS",
    )
    assert "security.protocol=SSL" in found["fix"]


def test_tls_against_plain(at):
    found = trouble(at("PLAINTEXT", security_protocol="SSL"))
    assert (found["check"], found["detail"]) == (
        "tls",
        "the port has no TLS, the settings require TLS",
    )
    assert "security.protocol=PLAINTEXT" in found["fix"]


def test_an_unknown_authority(at, certificates):
    found = trouble(at("SSL", ssl_ca_location=certificates.other_ca))
    assert found["detail"] == "the broker's certificate is not accepted"
    assert "ssl.ca.location" in found["fix"]


def test_a_listener_that_wants_a_certificate(at):
    found = trouble(at("MUTUAL"))
    assert found["check"] == "tls"
    assert "ssl.keystore.location" in found["fix"]


def test_no_login_where_one_is_wanted(at):
    found = trouble(at("SASL_PLAINTEXT", security_protocol="PLAINTEXT"))
    assert found["check"] == "sasl"
    assert "it supports" in found["detail"]
    assert "SCRAM-SHA-256" in found["detail"]
    assert "security.protocol=SASL_PLAINTEXT" in found["fix"]


def test_a_wrong_password(at):
    found = trouble(at("SASL_PLAINTEXT", "PLAIN", sasl_password="wrong"))
    assert (found["check"], found["detail"]) == ("sasl", "the broker rejected the login")


def test_a_broker_that_wants_a_login(cli, broker):
    """It responds to ApiVersions; any other request before a login closes the connection."""
    failure = broker.fail("METADATA", None, times=None)
    try:
        found = trouble(cli("doctor", "--format", "json", servers=broker.bootstrap_servers))
    finally:
        broker.heal()
    assert failure.hits > 0
    assert "login" in found["cause"]
    assert "SASL" in found["fix"]


def test_an_advertised_address_that_cannot_be_reached(cli):
    settings = {"advertised.listeners": "PLAINTEXT://broker.internal.invalid:9092"}
    with Broker(settings) as broker:
        address = f"127.0.0.1:{broker.port}"
        found = trouble(cli("doctor", "-b", address, "--format", "json"))
    assert found["check"] == "advertised dns"
    assert "advertised.listeners" in found["fix"]


def test_wrong_settings(cli, broker):
    ran = cli("doctor", "-X", "security.protocol=NONE", servers=broker.bootstrap_servers)
    assert ran.code == 3
    assert "must be one of" in ran.out
