"""The consumer with errors in responses, and with connections that the broker closes."""

import pytest

from barnabas import Producer, TopicPartition
from barnabas.clients.group import Consumer
from barnabas.clients.group.errors import CommitFailedError
from barnabas.model.errors import BrokerError, DeadlineError, UnavailableError
from barnabas.testing import Broker

pytestmark = pytest.mark.integration

COUNT = 30


@pytest.fixture(scope="module")
def faulty():
    with Broker() as running:
        yield running


@pytest.fixture
def filled(faulty, topic_name):
    with Producer(bootstrap_servers=faulty.bootstrap_servers) as producer:
        for number in range(COUNT):
            producer.send(topic_name, b"%d" % number, partition=0)
    yield topic_name
    faulty.heal()


def make(faulty, **more):
    return Consumer(
        {
            "bootstrap.servers": faulty.bootstrap_servers,
            "auto.offset.reset": "earliest",
            "fetch.max.wait.ms": 50,
            "retry.backoff.ms": 20,
            "reconnect.backoff.ms": 10,
            "max.poll.records": 10,
            **more,
        }
    )


def read_all(consumer):
    values = []
    while len(values) < COUNT:
        polled = consumer.poll(60)
        assert polled, f"{len(values)} of {COUNT}"
        values += [int(record.value) for found in polled.values() for record in found]
    return values


PASSING = [
    ("fetch", "NOT_LEADER_OR_FOLLOWER"),
    ("fetch", "UNKNOWN_TOPIC_OR_PARTITION"),
    ("fetch", "UNKNOWN_TOPIC_ID"),
    ("fetch", "FENCED_LEADER_EPOCH"),
    ("fetch", "UNKNOWN_LEADER_EPOCH"),
    ("fetch", "OFFSET_NOT_AVAILABLE"),
    ("fetch", "KAFKA_STORAGE_ERROR"),
    ("fetch", "FETCH_SESSION_ID_NOT_FOUND"),
    ("fetch", "INVALID_FETCH_SESSION_EPOCH"),
    ("fetch", None),
    ("list_offsets", "NOT_LEADER_OR_FOLLOWER"),
    ("list_offsets", "OFFSET_NOT_AVAILABLE"),
    ("list_offsets", None),
    ("metadata", "LEADER_NOT_AVAILABLE"),
    ("metadata", None),
]


@pytest.mark.parametrize(("api", "error"), PASSING)
def test_by_assignment(faulty, filled, api, error):
    faulty.fail(api, error, times=2)
    with make(faulty) as consumer:
        consumer.assign([(filled, 0)])
        assert read_all(consumer) == list(range(COUNT))


GROUP_PASSING = [
    ("find_coordinator", "COORDINATOR_NOT_AVAILABLE"),
    ("join_group", "COORDINATOR_LOAD_IN_PROGRESS"),
    ("join_group", "NOT_COORDINATOR"),
    ("join_group", "UNKNOWN_MEMBER_ID"),
    ("join_group", "REBALANCE_IN_PROGRESS"),
    ("join_group", None),
    ("sync_group", "REBALANCE_IN_PROGRESS"),
    ("sync_group", "NOT_COORDINATOR"),
    ("sync_group", "ILLEGAL_GENERATION"),
    ("sync_group", None),
    ("offset_fetch", "COORDINATOR_LOAD_IN_PROGRESS"),
    ("offset_fetch", "UNSTABLE_OFFSET_COMMIT"),
    ("offset_fetch", "NOT_COORDINATOR"),
    ("offset_fetch", None),
    ("heartbeat", "NOT_COORDINATOR"),
    ("heartbeat", "REBALANCE_IN_PROGRESS"),
    ("heartbeat", "UNKNOWN_MEMBER_ID"),
    ("heartbeat", None),
]


@pytest.mark.parametrize(("api", "error"), GROUP_PASSING)
def test_in_a_group(faulty, filled, api, error):
    faulty.fail(api, error, times=2)
    settings = {"group.id": filled, "heartbeat.interval.ms": 20}
    with make(faulty, **settings) as consumer:
        consumer.subscribe([filled])
        values = []
        while not values or values[-1] != COUNT - 1:
            values += [int(r.value) for found in consumer.poll(0.05).values() for r in found]
        assert set(values) == set(range(COUNT)), "again is allowed, lost is not"
        faulty.heal()
        consumer.commit()
        topic_partition = TopicPartition(filled, 0)
        assert consumer.committed(topic_partition)[topic_partition].offset == COUNT


@pytest.mark.parametrize(
    ("api", "error"),
    [
        ("consumer_group_heartbeat", "COORDINATOR_LOAD_IN_PROGRESS"),
        ("consumer_group_heartbeat", "NOT_COORDINATOR"),
        ("consumer_group_heartbeat", "FENCED_MEMBER_EPOCH"),
        ("consumer_group_heartbeat", "UNKNOWN_MEMBER_ID"),
        ("consumer_group_heartbeat", None),
    ],
)
def test_in_a_group_of_the_new_protocol(faulty, filled, api, error):
    faulty.fail(api, error, times=2)
    with make(faulty, **{"group.id": filled, "group.protocol": "consumer"}) as consumer:
        consumer.subscribe([filled])
        assert read_all(consumer) == list(range(COUNT))


@pytest.mark.parametrize("error", ["NOT_COORDINATOR", "COORDINATOR_LOAD_IN_PROGRESS", None])
def test_a_commit_is_tried_again(faulty, filled, error):
    topic_partition = TopicPartition(filled, 0)
    with make(faulty, **{"group.id": filled}) as consumer:
        consumer.assign([topic_partition])
        faulty.fail("offset_commit", error, times=2)
        consumer.commit({topic_partition: 5})
        assert consumer.committed(topic_partition)[topic_partition].offset == 5


TRANSIENT = [
    ({}, "NOT_COORDINATOR"),
    ({}, None),
    ({"group.protocol": "consumer"}, "STALE_MEMBER_EPOCH"),
    ({"group.protocol": "consumer"}, None),
]


@pytest.mark.parametrize(("protocol", "error"), TRANSIENT)
def test_the_commit_of_close_is_tried_again(faulty, filled, protocol, error):
    settings = {"group.id": filled, "auto.commit.interval.ms": 600_000, **protocol}
    with make(faulty, **settings) as consumer:
        consumer.subscribe([filled])
        read_all(consumer)
        failing = faulty.fail("offset_commit", error, times=2)
    assert failing.hits == 2
    assert committed(faulty, filled) == COUNT


@pytest.mark.parametrize(("protocol", "error"), TRANSIENT)
def test_the_commit_before_a_revocation_is_tried_again(faulty, filled, protocol, error):
    settings = {"group.id": filled, "auto.commit.interval.ms": 600_000, **protocol}
    with make(faulty, **settings) as consumer:
        consumer.subscribe([filled])
        read_all(consumer)
        failing = faulty.fail("offset_commit", error, times=2)
        consumer.subscribe([f"{filled}-other"])
        for _ in range(1200):
            consumer.poll(0.05)
            if TopicPartition(filled, 0) not in consumer.assignment():
                break
        assert failing.hits == 2
        assert committed(faulty, filled) == COUNT


def committed(faulty, topic):
    """The committed offset of the topic's group, named as the topic; None without one."""
    topic_partition = TopicPartition(topic, 0)
    with make(faulty, **{"group.id": topic}) as reader:
        found = reader.committed(topic_partition)[topic_partition]
    return None if found is None else found.offset


def test_a_rejected_commit_raises(faulty, filled):
    topic_partition = TopicPartition(filled, 0)
    with make(faulty, **{"group.id": filled}) as consumer:
        consumer.assign([topic_partition])
        faulty.fail("offset_commit", "ILLEGAL_GENERATION", times=1)
        with pytest.raises(CommitFailedError, match="ILLEGAL_GENERATION"):
            consumer.commit({topic_partition: 5})
        faulty.fail("offset_commit", "OFFSET_METADATA_TOO_LARGE", times=1)
        with pytest.raises(BrokerError, match="OFFSET_METADATA_TOO_LARGE"):
            consumer.commit({topic_partition: 5})
        faulty.fail("offset_commit", "NOT_COORDINATOR", times=None)
        with pytest.raises(DeadlineError, match="NOT_COORDINATOR"):
            consumer.commit({topic_partition: 5}, timeout=0.3)


@pytest.mark.parametrize(
    ("api", "error"),
    [("fetch", "TOPIC_AUTHORIZATION_FAILED"), ("list_offsets", "TOPIC_AUTHORIZATION_FAILED")],
)
def test_a_permanent_error_is_raised_once_and_reading_continues(faulty, filled, api, error):
    faulty.fail(api, error, times=1)
    with make(faulty) as consumer:
        consumer.assign([(filled, 0)])
        with pytest.raises(BrokerError, match=error):
            consumer.poll(60)
        assert read_all(consumer) == list(range(COUNT))


def test_a_group_that_cannot_be_joined_is_named(faulty, filled):
    faulty.fail("join_group", "GROUP_AUTHORIZATION_FAILED", times=None)
    with make(faulty, **{"group.id": filled}) as consumer:
        consumer.subscribe([filled])
        for _ in range(2):
            with pytest.raises(BrokerError, match="GROUP_AUTHORIZATION_FAILED"):
                consumer.poll(60)


def test_calls_time_out_when_no_broker_can_be_reached():
    settings = {"bootstrap.servers": "127.0.0.1:1", "reconnect.backoff.ms": 10}
    with Consumer(settings) as consumer:
        topic_partition = TopicPartition("t", 0)
        consumer.assign([topic_partition])
        assert consumer.poll(0.2) == {}
        for call in (consumer.position, lambda p, timeout: consumer.end_offsets([p], timeout)):
            with pytest.raises(UnavailableError):
                call(topic_partition, timeout=0.3)
