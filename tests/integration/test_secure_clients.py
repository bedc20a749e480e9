"""Clients over every security protocol: ours, and three libraries that others wrote."""

import asyncio
import logging
import ssl

import pytest
from support.security.secure_broker import USERS, Certificates, client_config, secure_broker

from barnabas import Admin, AuthenticationError, Consumer, Producer, SimpleConsumer
from barnabas.aio import Producer as AioProducer
from barnabas.testing.server import unique_name

pytestmark = [pytest.mark.integration, pytest.mark.xdist_group("secure")]

WAYS = [
    *(("SASL_PLAINTEXT", mechanism) for mechanism in USERS),
    ("SASL_SSL", "SCRAM-SHA-256"),
    ("SSL", None),
]
BIG = b"x" * 300_000


@pytest.fixture(scope="module")
def certificates(tmp_path_factory):
    return Certificates(tmp_path_factory.mktemp("certificates"))


@pytest.fixture(scope="module")
def broker(certificates):
    with secure_broker(certificates) as running:
        yield running


@pytest.fixture
def topic(broker):
    name = unique_name("topic")
    with Admin({"bootstrap.servers": f"127.0.0.1:{broker.ports['PLAINTEXT']}"}) as admin:
        admin.create_topic(name, 1, 1)
    return name


@pytest.fixture(params=WAYS, ids=lambda way: "-".join(filter(None, way)))
def config(request, broker, certificates):
    return client_config(broker, certificates, *request.param)


def read_all(consumer, count):
    """The values of `count` records, which the test has produced."""
    values = []
    for _ in range(100):
        if len(values) >= count:
            break
        for records in consumer.poll(timeout=1.0).values():
            values += [record.value for record in records]
    return values


def test_our_clients(config, topic):
    with Producer(config) as producer:
        for value in (b"one", BIG):
            producer.send(topic, value).result(30)
    reading = {**config, "group.id": topic, "auto.offset.reset": "earliest"}
    with Consumer(reading) as consumer:
        consumer.subscribe([topic])
        assert read_all(consumer, 2) == [b"one", BIG]
    with SimpleConsumer(config) as simple:
        assert simple.partitions(topic) == [0]
        assert simple.fetch(topic, 0, 0)


def test_our_asyncio_clients(broker, certificates, topic):
    config = client_config(broker, certificates, "SASL_SSL", "PLAIN")

    async def send():
        async with AioProducer(config) as producer:
            return await (await producer.send(topic, b"v"))

    assert asyncio.run(send()).offset == 0


def test_confluent_kafka(config, topic):
    import confluent_kafka

    errors = []
    producer = confluent_kafka.Producer(config)
    for value in (b"one", BIG):
        producer.produce(topic, value, on_delivery=lambda error, _: errors.append(error))
    assert producer.flush(30) == 0
    assert errors == [None, None]
    consumer = confluent_kafka.Consumer({**config, "group.id": "g", "enable.auto.commit": False})
    try:
        consumer.assign([confluent_kafka.TopicPartition(topic, 0, 0)])
        messages = consumer.consume(2, 30)
        assert [message.value() for message in messages] == [b"one", BIG]
    finally:
        consumer.close()


def _python_config(config):
    found = {
        "bootstrap_servers": config["bootstrap.servers"],
        "security_protocol": config["security.protocol"],
    }
    if "sasl.mechanism" in config:
        found |= {
            "sasl_mechanism": config["sasl.mechanism"],
            "sasl_plain_username": config["sasl.username"],
            "sasl_plain_password": config["sasl.password"],
        }
    return found


def test_kafka_python(config, topic):
    import kafka

    settings = _python_config(config)
    if "ssl.ca.location" in config:
        settings["ssl_cafile"] = config["ssl.ca.location"]
    producer = kafka.KafkaProducer(**settings)
    try:
        assert producer.send(topic, BIG).get(30).offset == 0
    finally:
        producer.close()


def test_aiokafka(config, topic):
    from aiokafka import AIOKafkaConsumer, AIOKafkaProducer

    async def run():
        settings = _python_config(config)
        if "ssl.ca.location" in config:
            settings["ssl_context"] = ssl.create_default_context(cafile=config["ssl.ca.location"])
        producer = AIOKafkaProducer(**settings)
        await producer.start()
        try:
            await producer.send_and_wait(topic, BIG)
        finally:
            await producer.stop()
        consumer = AIOKafkaConsumer(topic, auto_offset_reset="earliest", **settings)
        await consumer.start()
        try:
            return await asyncio.wait_for(consumer.getone(), 30)
        finally:
            await consumer.stop()

    assert asyncio.run(run()).value == BIG


def test_a_certificate_names_its_owner(broker, certificates, topic):
    config = {
        **client_config(broker, certificates, "MUTUAL"),
        "ssl.keystore.location": certificates.alice,
    }
    with Admin(config) as admin:
        assert topic in [item.name for item in admin.list_topics()]


# --- what goes wrong is told ---------------------------------------------------------------------


def wrong_password(broker, certificates):
    return {
        **client_config(broker, certificates, "SASL_PLAINTEXT", "PLAIN"),
        "sasl.password": "wrong",
    }


def wrong_scram_password(broker, certificates):
    return {
        **client_config(broker, certificates, "SASL_SSL", "SCRAM-SHA-256"),
        "sasl.password": "wrong",
    }


def unknown_user(broker, certificates):
    return {
        **client_config(broker, certificates, "SASL_PLAINTEXT", "SCRAM-SHA-512"),
        "sasl.username": "nobody",
    }


def sasl_where_there_is_none(broker, certificates):
    return {
        **client_config(broker, certificates, "SASL_PLAINTEXT", "PLAIN"),
        "bootstrap.servers": f"127.0.0.1:{broker.ports['PLAINTEXT']}",
    }


def tls_where_there_is_none(broker, certificates):
    return {
        **client_config(broker, certificates, "SSL"),
        "bootstrap.servers": f"127.0.0.1:{broker.ports['PLAINTEXT']}",
    }


def plain_where_there_is_tls(broker, certificates):
    return {"bootstrap.servers": f"127.0.0.1:{broker.ports['SSL']}"}


def untrusted_certificate(broker, certificates):
    return {
        **client_config(broker, certificates, "SSL"),
        "ssl.ca.location": certificates.other_ca,
    }


def no_certificate_of_ours(broker, certificates):
    return client_config(broker, certificates, "MUTUAL")


def expired_certificate(broker, certificates):
    return client_config(broker, certificates, "EXPIRED")


def a_host_of_another_name(broker, certificates):
    return client_config(broker, certificates, "ELSEWHERE")


def no_login_where_there_is_sasl(broker, certificates):
    return {"bootstrap.servers": f"127.0.0.1:{broker.ports['SASL_PLAINTEXT']}"}


def mechanism_that_is_not_enabled(broker, certificates):
    return client_config(broker, certificates, "SCRAM_ONLY", "PLAIN")


PROBLEMS = [
    (wrong_password, r"rejected PLAIN login of user 'alice'"),
    (wrong_scram_password, r"rejected SCRAM-SHA-256 login of user 'carol'"),
    (unknown_user, r"rejected SCRAM-SHA-512 login of user 'nobody'"),
    (sasl_where_there_is_none, "is a listener without SASL"),
    (tls_where_there_is_none, "is a listener without TLS"),
    (plain_where_there_is_tls, "expects TLS: set security.protocol"),
    (untrusted_certificate, "certificate of .* is not accepted: self-signed"),
    (no_certificate_of_ours, "certificate required"),
    (expired_certificate, "is not accepted: certificate has expired"),
    (a_host_of_another_name, r"(?i)is not accepted: (IP )?address mismatch"),
    (no_login_where_there_is_sasl, r"requires SASL \(PLAIN, SCRAM-SHA-256, SCRAM-SHA-512\)"),
    (mechanism_that_is_not_enabled, "does not enable SASL mechanism PLAIN, only: SCRAM-SHA-512"),
]


@pytest.mark.parametrize(
    ("problem", "cause"), PROBLEMS, ids=[problem.__name__ for problem, _ in PROBLEMS]
)
def test_a_rejection_is_told_by_its_cause_and_at_once(broker, certificates, problem, cause):
    config = problem(broker, certificates)
    with Admin(config) as admin, pytest.raises(AuthenticationError, match=cause):
        admin.list_topics(timeout=60)
    with Producer(config) as producer, pytest.raises(AuthenticationError, match=cause):
        producer.send("t", b"v").result(60)
    with SimpleConsumer(config) as simple, pytest.raises(AuthenticationError, match=cause):
        simple.partitions("t")
    with Consumer({**config, "group.id": "g"}) as consumer:
        consumer.subscribe(["t"])
        with pytest.raises(AuthenticationError, match=cause):
            consumer.poll(timeout=60)


def test_host_names_need_not_matter(broker, certificates):
    """Passes when the client connects to a broker whose certificate has another name."""
    config = client_config(broker, certificates, "ELSEWHERE")
    with Admin({**config, "ssl.endpoint.identification.algorithm": ""}) as admin:
        admin.list_topics()


def test_one_line_in_the_log_and_no_secret(broker, certificates, caplog):
    caplog.set_level(logging.INFO, "barnabas.net")
    config = wrong_password(broker, certificates)
    with Admin(config) as admin, pytest.raises(AuthenticationError) as caught:
        admin.list_topics(timeout=60)
    lines = [item.getMessage() for item in caplog.records if "authentication" in item.getMessage()]
    assert len(lines) <= 1  # lines of one reason are limited in rate
    assert "wrong user name or password" in "".join(lines) or not lines
    assert "wrong" not in str(caught.value)
