"""Errors on purpose, as foreign clients see them: understood, and survived where they pass."""

import aiokafka
import confluent_kafka
import pytest

from barnabas.testing import Broker

pytestmark = pytest.mark.compat


@pytest.fixture(scope="module")
def broker():
    """One of our own: these tests make it misbehave."""
    with Broker(in_memory=True) as running:
        yield running


@pytest.fixture(autouse=True)
def _healthy(broker):
    yield
    broker.heal()


def consumed(broker, topic, count):
    consumer = confluent_kafka.Consumer(
        {
            "bootstrap.servers": broker.bootstrap_servers,
            "group.id": topic,
            "auto.offset.reset": "earliest",
            "enable.auto.commit": False,
            # librdkafka asks for the coordinator behind its waiting fetch, and while that waits it
            # may fail its own retries over and over: then a commit takes up to a minute.
            "fetch.wait.max.ms": 10,
        }
    )
    consumer.subscribe([topic])
    values = []
    try:
        for _ in range(300):
            message = consumer.poll(0.1)
            if message is not None and message.error() is None:
                values.append(message.value())
            if len(values) == count:
                consumer.commit(asynchronous=False)
                return values
    finally:
        consumer.close()
    return values


@pytest.mark.parametrize(
    ("api", "error"),
    [
        ("Produce", "NOT_LEADER_OR_FOLLOWER"),
        ("Produce", "REQUEST_TIMED_OUT"),
        ("Produce", None),
        ("Metadata", "LEADER_NOT_AVAILABLE"),
        ("InitProducerId", "COORDINATOR_LOAD_IN_PROGRESS"),
    ],
)
def test_librdkafkas_producer_gets_over_it(broker, api, error):
    topic = broker.topic()
    producer = confluent_kafka.Producer(
        {"bootstrap.servers": broker.bootstrap_servers, "enable.idempotence": True, "linger.ms": 0}
    )
    failure = broker.fail(api, error)
    outcomes = []
    producer.produce(topic, b"v", on_delivery=lambda problem, _: outcomes.append(problem))
    assert producer.flush(20) == 0
    assert outcomes == [None]
    assert failure.hits == 1
    assert [record.value for record in broker.records(topic)] == [b"v"]


def test_librdkafkas_producer_reports_a_lasting_error(broker):
    topic = broker.topic()
    producer = confluent_kafka.Producer({"bootstrap.servers": broker.bootstrap_servers})
    broker.fail("Produce", "TOPIC_AUTHORIZATION_FAILED")
    outcomes = []
    producer.produce(topic, b"v", on_delivery=lambda problem, _: outcomes.append(problem))
    assert producer.flush(20) == 0
    assert [problem.name() for problem in outcomes] == ["TOPIC_AUTHORIZATION_FAILED"]


@pytest.mark.parametrize(
    ("api", "error"),
    [
        ("Fetch", "NOT_LEADER_OR_FOLLOWER"),
        ("Fetch", "FETCH_SESSION_ID_NOT_FOUND"),
        ("Fetch", None),
        ("FindCoordinator", "COORDINATOR_NOT_AVAILABLE"),
        ("JoinGroup", "NOT_COORDINATOR"),
        ("SyncGroup", "REBALANCE_IN_PROGRESS"),
        ("OffsetFetch", "COORDINATOR_LOAD_IN_PROGRESS"),
        ("OffsetCommit", "COORDINATOR_NOT_AVAILABLE"),
        ("ListOffsets", "LEADER_NOT_AVAILABLE"),
    ],
)
def test_librdkafkas_consumer_gets_over_it(broker, api, error):
    topic = broker.topic()
    broker.produce(topic, "a", "b")
    failure = broker.fail(api, error)
    assert consumed(broker, topic, 2) == [b"a", b"b"]
    assert failure.hits == 1


async def test_aiokafkas_producer_gets_over_it(broker):
    topic = broker.topic()
    failure = broker.fail("Produce", "NOT_LEADER_OR_FOLLOWER")
    producer = aiokafka.AIOKafkaProducer(bootstrap_servers=broker.bootstrap_servers)
    await producer.start()
    try:
        await producer.send_and_wait(topic, b"v")
    finally:
        await producer.stop()
    assert failure.hits == 1
    assert [record.value for record in broker.records(topic)] == [b"v"]
