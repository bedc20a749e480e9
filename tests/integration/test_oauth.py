"""OAUTHBEARER on a broker, with this project's clients and with librdkafka."""

import pytest
from support.security.oauth_issuer import AUDIENCE, ISSUER, Issuer

from barnabas import Admin, Producer
from barnabas.model.errors import ConfigError
from barnabas.net.sasl_client import ClientCredentials, TokenSource
from barnabas.runtime.clock import SystemClock
from barnabas.security.mechanism import AuthenticationError
from barnabas.testing import Broker

pytestmark = pytest.mark.integration


@pytest.fixture(scope="module")
def issuer():
    return Issuer()


@pytest.fixture
def key_file(issuer, tmp_path):
    path = tmp_path / "jwks.json"
    path.write_text(issuer.key_set())
    return path


def settings(url):
    return {
        "listeners": "SASL_PLAINTEXT://127.0.0.1:0",
        "sasl.enabled.mechanisms": "OAUTHBEARER",
        "sasl.oauthbearer.jwks.endpoint.url": url,
        "sasl.oauthbearer.expected.issuer": ISSUER,
        "sasl.oauthbearer.expected.audience": AUDIENCE,
    }


def client(broker, **more):
    return {
        "bootstrap.servers": broker.bootstrap_servers,
        "security.protocol": "SASL_PLAINTEXT",
        "sasl.mechanism": "OAUTHBEARER",
        **more,
    }


def test_a_token_from_a_file(issuer, key_file, tmp_path):
    token = tmp_path / "token"
    token.write_text(issuer.token("ann") + "\n")
    with Broker(settings(key_file.as_uri())) as broker:
        url = {"sasl.oauthbearer.token.endpoint.url": token.as_uri()}
        with Producer(client(broker, **url)) as producer:
            assert producer.send("t", b"x").result(30).offset == 0
        token.write_text(Issuer().token("ann"))
        with (
            pytest.raises(AuthenticationError, match="OAUTHBEARER"),
            Admin(client(broker, **url)) as admin,
        ):
            admin.list_topics()
        issuer.rotate()
        key_file.write_text(issuer.key_set())
        token.write_text(issuer.token("ann"))
        with Admin(client(broker, **url)) as admin:
            assert [topic.name for topic in admin.list_topics()] == ["t"]


def test_a_token_endpoint_and_keys_from_a_url(issuer):
    with issuer.served() as url, Broker(settings(f"{url}/jwks")) as broker:
        given = {
            "sasl.oauthbearer.token.endpoint.url": f"{url}/token",
            "sasl.oauthbearer.client.credentials.client.id": "ann",
            "sasl.oauthbearer.client.credentials.client.secret": "ann-secret",
            "sasl.oauthbearer.scope": "kafka",
        }
        issuer.requests.clear()
        with Producer(client(broker, **given)) as producer:
            assert producer.send("t", b"x").result(30).offset == 0
        asked = [body for _, body in issuer.requests]
        assert set(asked) == {"grant_type=client_credentials&scope=kafka"}
        given["sasl.oauthbearer.client.credentials.client.secret"] = "wrong"
        with (
            pytest.raises(AuthenticationError, match="HTTP 401") as refused,
            Admin(client(broker, **given)) as admin,
        ):
            admin.list_topics()
        assert "wrong" not in str(refused.value)


def test_a_rejected_token_request_closes_its_connection(issuer):
    with issuer.served() as url:
        source = TokenSource(f"{url}/token", ClientCredentials("ann", "wrong"))
        with pytest.raises(AuthenticationError, match="HTTP 401") as rejected:
            source.get()
        assert rejected.value.__context__.fp.isclosed()


def test_librdkafka_logs_in(issuer, key_file):
    from confluent_kafka.admin import AdminClient

    issued = []

    def issue(_):
        issued.append(issuer.token("bob"))
        return issued[-1], SystemClock().now_ms() / 1000 + 300

    with Broker(settings(key_file.as_uri())) as broker:
        admin = AdminClient(client(broker, oauth_cb=issue))
        for _ in range(60):  # librdkafka requests the token in a poll
            admin.poll(0.5)
            if issued:
                break
        assert admin.list_topics(timeout=30).brokers


def test_bad_settings(tmp_path):
    for url in (f"file://{tmp_path}/missing", "ftp://x", "http://127.0.0.1:1/jwks"):
        with pytest.raises(ConfigError, match="jwks"), Broker(settings(url)):
            pass
    with pytest.raises(ConfigError, match=r"token\.endpoint\.url"):
        Admin(
            {
                "bootstrap.servers": "h:1",
                "security.protocol": "SASL_SSL",
                "sasl.mechanism": "OAUTHBEARER",
            }
        )
