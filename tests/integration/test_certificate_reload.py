"""Certificates that change while the broker runs: by file, and by dynamic settings."""

import socket
import ssl
from datetime import UTC, datetime, timedelta

import pytest
import trustme
from support.groups.members import wait_until as wait_for

from barnabas import Admin, Producer
from barnabas.admin import ConfigResource
from barnabas.model.errors import BrokerError
from barnabas.testing import Broker

pytestmark = pytest.mark.integration


class Authority:
    """A CA; `issue` writes a key with its certificate and returns the certificate's serial."""

    def __init__(self, directory):
        self.directory = directory
        self._ca = trustme.CA()
        self.file = str(directory / "ca.pem")
        self._ca.cert_pem.write_to_path(self.file)

    def issue(self, name, **validity):
        leaf = self._ca.issue_cert("127.0.0.1", "localhost", **validity)
        path = self.directory / name
        leaf.private_key_and_cert_chain_pem.write_to_path(str(path))
        return leaf


@pytest.fixture
def authority(tmp_path):
    return Authority(tmp_path)


@pytest.fixture
def broker(authority, tmp_path):
    authority.issue("broker.pem")
    settings = {
        "listeners": "SSL://127.0.0.1:0,PLAINTEXT://127.0.0.1:0",
        "ssl.keystore.location": str(tmp_path / "broker.pem"),
        "ssl.truststore.location": authority.file,
    }
    with Broker(settings) as broker:
        yield broker


def served(broker, authority):
    """Returns the serial number of the certificate that a new connection gets."""
    context = ssl.create_default_context(cafile=authority.file)
    address = ("127.0.0.1", broker.ports["SSL"])
    with (
        socket.create_connection(address, 10) as plain,
        context.wrap_socket(plain, server_hostname="127.0.0.1") as secure,
    ):
        return secure.getpeercert()["serialNumber"]


def client(broker, authority):
    return {
        "bootstrap.servers": f"127.0.0.1:{broker.ports['SSL']}",
        "security.protocol": "SSL",
        "ssl.ca.location": authority.file,
    }


def resource_of(broker):
    with Admin({"bootstrap.servers": f"127.0.0.1:{broker.ports['PLAINTEXT']}"}) as admin:
        return ConfigResource.broker(admin.describe_cluster().brokers[0].id)


def test_a_changed_file_is_used_by_new_connections(broker, authority, tmp_path, caplog):
    before = served(broker, authority)
    with Producer(client(broker, authority)) as producer:
        producer.send("t", b"1").result(30)
        authority.issue("broker.pem")
        wait_for(lambda: served(broker, authority) != before)
        assert producer.send("t", b"2").result(30).offset == 1  # on its old connection
    renewed = served(broker, authority)
    (tmp_path / "broker.pem").write_text("-----BEGIN CERTIFICATE-----\nbroken\n")
    wait_for(lambda: "listener SSL keeps its certificate" in caplog.text)
    assert served(broker, authority) == renewed
    authority.issue("broker.pem")
    wait_for(lambda: served(broker, authority) != renewed)
    assert caplog.text.count("keeps its certificate") == 1


def test_a_certificate_that_expires_is_logged(broker, authority, caplog):
    assert "expire" not in caplog.text
    authority.issue("broker.pem", not_after=datetime(2020, 1, 1, tzinfo=UTC))
    wait_for(lambda: "certificate of listener SSL expired on 2020-01-01" in caplog.text)
    authority.issue("broker.pem", not_after=datetime.now(UTC) + timedelta(days=7))
    wait_for(lambda: "certificate of listener SSL expires on" in caplog.text)


def test_dynamic_settings(broker, authority, tmp_path):
    before, resource = served(broker, authority), resource_of(broker)
    authority.issue("second.pem")
    key = "listener.name.ssl.ssl.keystore.location"
    with Admin({"bootstrap.servers": f"127.0.0.1:{broker.ports['PLAINTEXT']}"}) as admin:
        admin.alter_configs({resource: {key: str(tmp_path / "second.pem")}}).check()
        wait_for(lambda: served(broker, authority) != before)
        second = served(broker, authority)
        with pytest.raises(BrokerError, match="certificates cannot be loaded"):
            admin.alter_configs({resource: {key: str(tmp_path / "absent.pem")}}).check()
        with pytest.raises(BrokerError, match="cannot be changed while the broker runs"):
            admin.alter_configs({resource: {"ssl.keystore.location": "x.pem"}}).check()
        assert served(broker, authority) == second
        third = authority.issue("third.pem")
        chain = b"".join(blob.bytes() for blob in third.cert_chain_pems).decode()
        text = {
            "listener.name.ssl.ssl.keystore.certificate.chain": chain,
            "listener.name.ssl.ssl.keystore.key": third.private_key_pem.bytes().decode(),
        }
        admin.alter_configs({resource: text}).check()
        wait_for(lambda: served(broker, authority) not in (before, second))
        shown = admin.describe_configs([resource]).ok[resource]
        assert shown["listener.name.ssl.ssl.keystore.key"].value is None
        admin.alter_configs({resource: dict.fromkeys([*text, key])}).check()
        wait_for(lambda: served(broker, authority) == before)


def test_librdkafka_changes_the_certificate(broker, authority, tmp_path):
    """Passes when the listener serves another certificate after the change."""
    from confluent_kafka.admin import AdminClient, AlterConfigOpType, ConfigEntry
    from confluent_kafka.admin import ConfigResource as Resource

    before, resource = served(broker, authority), resource_of(broker)
    authority.issue("second.pem")
    entry = ConfigEntry(
        "listener.name.ssl.ssl.keystore.location",
        str(tmp_path / "second.pem"),
        incremental_operation=AlterConfigOpType.SET,
    )
    admin = AdminClient({**client(broker, authority)})
    changed = Resource(Resource.Type.BROKER, resource.name, incremental_configs=[entry])
    for future in admin.incremental_alter_configs([changed]).values():
        future.result(30)
    wait_for(lambda: served(broker, authority) != before)
