"""Brokers that speak with each other over TLS and log in with a name of their own."""

import pytest
from support.security.oauth_issuer import Issuer
from support.security.secure_broker import AUTHORIZER, Certificates, plain_jaas

from barnabas.aio import Admin, Producer
from barnabas.broker.app import Broker
from barnabas.broker.config import BrokerConfig
from barnabas.runtime.clock import Clock, SystemClock
from barnabas.zk.sqlite_tree import EmbeddedStore

pytestmark = pytest.mark.integration


def settings_of(broker_id, directory, certificates):
    return {
        "broker.id": broker_id,
        "log.dirs": str(directory / str(broker_id)),
        "listeners": "INTERNAL://127.0.0.1:0,PLAINTEXT://127.0.0.1:0",
        "listener.security.protocol.map": "INTERNAL:SASL_SSL,PLAINTEXT:PLAINTEXT",
        "inter.broker.listener.name": "INTERNAL",
        "sasl.mechanism.inter.broker.protocol": "PLAIN",
        "sasl.enabled.mechanisms": "PLAIN",
        "listener.name.internal.plain.sasl.jaas.config": plain_jaas(
            {"broker": "between-us"}, username="broker", password="between-us"
        ),
        "ssl.keystore.location": certificates.broker,
        "ssl.truststore.location": certificates.ca,
        "listener.name.internal.ssl.client.auth": "required",
        "authorizer.class.name": AUTHORIZER,
        "super.users": "User:broker;User:ANONYMOUS",
        "controlled.shutdown.enable": False,
    }


def bearer_tokens(directory):
    """Returns settings of brokers that log in with bearer tokens instead of passwords."""
    issuer = Issuer()
    keys, token = directory / "jwks.json", directory / "token"
    keys.write_text(issuer.key_set())
    token.write_text(issuer.token("broker"))
    return {
        "sasl.mechanism.inter.broker.protocol": "OAUTHBEARER",
        "sasl.enabled.mechanisms": "OAUTHBEARER",
        "sasl.oauthbearer.jwks.endpoint.url": keys.as_uri(),
        "sasl.oauthbearer.token.endpoint.url": token.as_uri(),
    }


@pytest.fixture(params=["PLAIN", "OAUTHBEARER"])
async def brokers(tmp_path, request):
    clock: Clock = SystemClock()
    store = EmbeddedStore(clock)
    certificates = Certificates(tmp_path)
    running = []
    tokens = bearer_tokens(tmp_path) if request.param == "OAUTHBEARER" else {}
    try:
        for broker_id in (1, 2, 3):
            settings = {**settings_of(broker_id, tmp_path, certificates), **tokens}
            broker = Broker(BrokerConfig.parse(settings), store=store)
            await broker.start()
            running.append(broker)
        yield running
    finally:
        for broker in reversed(running):
            await broker.stop()
        await store.close()


async def test_records_are_replicated_between_brokers_that_know_each_other(brokers):
    config = {"bootstrap.servers": f"127.0.0.1:{brokers[0].ports['PLAINTEXT']}"}
    async with Admin(config) as admin:
        await admin.create_topic("t", 3, 3, {"min.insync.replicas": "3"})
    async with Producer({**config, "acks": "all"}) as producer:
        for partition in range(3):
            sent = await (await producer.send("t", b"v", partition=partition))
            assert sent.offset == 0
    for broker in brokers:
        names = {str(c.principal) for c in broker._listeners.connections("INTERNAL")}
        assert names <= {"User:broker", "User:ANONYMOUS"}
    everybody = [c for b in brokers for c in b._listeners.connections("INTERNAL")]
    assert any(str(c.principal) == "User:broker" for c in everybody)
