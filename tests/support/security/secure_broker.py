"""A broker with every kind of listener, users of every mechanism, and certificates for all."""

import datetime
from contextlib import contextmanager
from pathlib import Path

import trustme

from barnabas.admin import Admin, ScramMechanism, ScramPassword
from barnabas.testing import Broker

LISTENERS = {
    "PLAINTEXT": "PLAINTEXT",
    "SASL_PLAINTEXT": "SASL_PLAINTEXT",
    "SSL": "SSL",
    "SASL_SSL": "SASL_SSL",
    "MUTUAL": "SSL",
    "EXPIRED": "SSL",
    "ELSEWHERE": "SSL",
    "SCRAM_ONLY": "SASL_PLAINTEXT",
}
USERS = {
    "PLAIN": ("alice", "alice-secret"),
    "SCRAM-SHA-256": ("carol", "carol-secret"),
    "SCRAM-SHA-512": ("dora", "dora-secret"),
}
PLAIN_USERS = {"alice": "alice-secret", "bob": "bob-secret"}
AUTHORIZER = "kafka.security.authorizer.AclAuthorizer"


class Certificates:
    """An authority, a stranger's authority, and who they have signed, as PEM files."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        authority, stranger = trustme.CA(), trustme.CA()
        self.ca = self._write("ca.pem", authority.cert_pem)
        self.other_ca = self._write("other-ca.pem", stranger.cert_pem)
        self.broker = self._write_key("broker.pem", authority.issue_cert("127.0.0.1", "localhost"))
        self.elsewhere = self._write_key("elsewhere.pem", authority.issue_cert("example.org"))
        past = datetime.datetime.now(datetime.UTC) - datetime.timedelta(days=1)
        expired = authority.issue_cert("127.0.0.1", not_after=past)
        self.expired = self._write_key("expired.pem", expired)
        alice = authority.issue_cert(
            "alice@example.org", common_name="alice", organization_name="Acme"
        )
        self.alice = self._write_key("alice.pem", alice)

    def _write(self, name: str, blob: trustme.Blob) -> str:
        path = self._directory / name
        blob.write_to_path(str(path))
        return str(path)

    def _write_key(self, name: str, leaf: trustme.LeafCert) -> str:
        return self._write(name, leaf.private_key_and_cert_chain_pem)


def jaas(**options: str) -> str:
    module = "org.apache.kafka.common.security.plain.PlainLoginModule"
    words = [f'{name}="{value}"' for name, value in options.items()]
    return f"{module} required {' '.join(words)};"


def plain_jaas(users=PLAIN_USERS, **options: str) -> str:
    return jaas(**options, **{f"user_{name}": password for name, password in users.items()})


def secure_settings(certificates: Certificates) -> dict[str, object]:
    """All listeners on free ports of this machine."""
    return {
        "listeners": ",".join(f"{name}://127.0.0.1:0" for name in LISTENERS),
        "listener.security.protocol.map": ",".join(f"{n}:{p}" for n, p in LISTENERS.items()),
        "sasl.enabled.mechanisms": ",".join(USERS),
        "sasl.jaas.config": plain_jaas(),
        "ssl.keystore.type": "PEM",
        "ssl.keystore.location": certificates.broker,
        "ssl.truststore.location": certificates.ca,
        "listener.name.mutual.ssl.client.auth": "required",
        "listener.name.expired.ssl.keystore.location": certificates.expired,
        "listener.name.elsewhere.ssl.keystore.location": certificates.elsewhere,
        "listener.name.scram_only.sasl.enabled.mechanisms": "SCRAM-SHA-512",
    }


@contextmanager
def secure_broker(certificates: Certificates, settings=None):
    """A running broker, its SCRAM users made; `super.users` may change things by PLAINTEXT."""
    with Broker({**secure_settings(certificates), **(settings or {})}) as broker:
        with Admin({"bootstrap.servers": f"127.0.0.1:{broker.ports['PLAINTEXT']}"}) as admin:
            admin.alter_scram_users(
                [
                    ScramPassword(*USERS[mechanism.name.replace("_", "-")], mechanism)
                    for mechanism in ScramMechanism
                ]
            ).check()
        yield broker


def client_config(broker: Broker, certificates: Certificates, listener: str, mechanism=None):
    """The settings of librdkafka and of our clients, which are the same."""
    protocol = LISTENERS[listener]
    config = {
        "bootstrap.servers": f"127.0.0.1:{broker.ports[listener]}",
        "security.protocol": protocol,
    }
    if mechanism is not None:
        user, password = USERS[mechanism]
        config |= {
            "sasl.mechanism": mechanism,
            "sasl.username": user,
            "sasl.password": password,
        }
    if protocol.endswith("SSL"):
        config["ssl.ca.location"] = certificates.ca
    return config
