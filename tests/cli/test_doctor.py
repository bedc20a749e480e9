"""The doctor: what it says about names, ports, ZooKeeper, TLS, logins, advertised addresses."""

import contextlib
import json
import socket
import ssl
import subprocess
import threading

import pytest

from barnabas.testing import Broker

pytestmark = pytest.mark.integration


@contextlib.contextmanager
def served_by(answer):
    """A port where `answer(connection)` deals with each connection."""
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


def test_a_name_that_nobody_knows(cli):
    found = trouble(cli("doctor", "-b", "no-such-host.invalid:9092", "--format", "json"))
    assert found["check"] == "dns"
    assert "misspelt" in found["cause"]


def test_a_closed_port(cli):
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    found = trouble(cli("doctor", "-b", f"127.0.0.1:{port}", "--format", "json"))
    assert (found["check"], found["detail"]) == (
        "port",
        "connection refused: nothing listens there",
    )
    assert f"barnabas up --port {port}" in found["fix"]


def test_zookeeper_by_mistake(cli):
    def zookeeper(peer):
        if peer.recv(64).startswith(b"srvr"):
            peer.sendall(b"Zookeeper version: 3.9\n")

    with served_by(zookeeper) as address:
        found = trouble(cli("doctor", "-b", address, "--format", "json"))
    assert found["detail"] == "this is ZooKeeper, not a broker"
    assert "9092" in found["fix"]


def test_tls_against_plain(cli, tmp_path):
    key, certificate = tmp_path / "key.pem", tmp_path / "cert.pem"
    subject = ["-subj", "/CN=localhost", "-days", "1", "-nodes", "-newkey", "rsa:2048"]
    files = ["-keyout", key, "-out", certificate]
    subprocess.run(["openssl", "req", "-x509", *subject, *files], check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)

    def tls(peer):
        wrapped = context.wrap_socket(peer, server_side=True, do_handshake_on_connect=False)
        with wrapped, contextlib.suppress(ssl.SSLError):
            wrapped.do_handshake()
            wrapped.recv(1)

    with served_by(tls) as address:
        found = trouble(cli("doctor", "-b", address, "--format", "json"))
    assert found["check"] == "tls"
    assert "security.protocol=SSL" in found["fix"]


def test_plain_against_tls(cli, broker):
    ran = cli("doctor", "-X", "security.protocol=SSL", servers=broker.bootstrap_servers)
    assert ran.code == 3
    assert "the TLS handshake failed" in ran.out
    assert "set security.protocol=PLAINTEXT" in ran.out


def test_a_broker_that_wants_a_login(cli, broker):
    """It answers ApiVersions and closes on anything else before a login."""
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
