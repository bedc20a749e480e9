"""The consumer against a broker that is not ours: librdkafka's mock cluster."""

import pytest
from support.clients.mock_cluster import LIBRARY, mock_cluster
from support.groups.members import Member, shares, wait_until

from barnabas import Consumer, Producer, TopicPartition
from barnabas.model.error_codes import ErrorCode

pytestmark = [
    pytest.mark.compat,
    pytest.mark.integration,
    pytest.mark.skipif(LIBRARY is None, reason="confluent-kafka brings no librdkafka of its own"),
]

FETCH, LIST_OFFSETS, OFFSET_COMMIT, OFFSET_FETCH, HEARTBEAT = 1, 2, 8, 9, 12
COUNT = 200


@pytest.fixture
def kafka():
    with mock_cluster(3) as running:
        running.topic("t", 4, 3)
        with Producer(bootstrap_servers=running.bootstrap_servers) as producer:
            for number in range(COUNT):
                producer.send("t", b"%d" % number, partition=number % 4)
        yield running


def config(kafka, **more):
    return {
        "bootstrap.servers": kafka.bootstrap_servers,
        "auto.offset.reset": "earliest",
        "fetch.max.wait.ms": 50,
        "retry.backoff.ms": 20,
        **{name.replace("_", "."): value for name, value in more.items()},
    }


def read(consumer, count):
    values = []
    while len(values) < count:
        polled = consumer.poll(10)
        assert polled, f"{len(values)} of {count}"
        values += [int(record.value) for found in polled.values() for record in found]
    return sorted(values)


def test_by_assignment_through_errors(kafka):
    code = ErrorCode
    kafka.fail(LIST_OFFSETS, code.NOT_LEADER_OR_FOLLOWER, code.LEADER_NOT_AVAILABLE)
    kafka.fail(FETCH, code.NOT_LEADER_OR_FOLLOWER, code.UNKNOWN_LEADER_EPOCH)
    topic_partitions = [TopicPartition("t", number) for number in range(4)]
    with Consumer(config(kafka)) as consumer:
        consumer.assign(topic_partitions)
        assert read(consumer, COUNT) == list(range(COUNT))
        assert set(consumer.end_offsets(topic_partitions).values()) == {COUNT // 4}
        consumer.seek_to_beginning()
        assert read(consumer, COUNT) == list(range(COUNT))


def test_leaders_that_move(kafka):
    topic_partitions = [TopicPartition("t", number) for number in range(4)]
    with (
        Consumer(config(kafka)) as consumer,
        Producer(bootstrap_servers=kafka.bootstrap_servers) as producer,
    ):
        consumer.assign(topic_partitions)
        read(consumer, COUNT)
        for node in (1, 2, 3):
            for number in range(4):
                kafka.move_leader("t", number, node)
                producer.send("t", b"%d" % number, partition=number).result(30)
            assert read(consumer, 4) == [0, 1, 2, 3]


def test_commits_through_errors(kafka):
    topic_partition = TopicPartition("t", 0)
    with Consumer(config(kafka, group_id="g")) as consumer:
        consumer.assign([topic_partition])
        kafka.fail(OFFSET_COMMIT, ErrorCode.NOT_COORDINATOR, ErrorCode.COORDINATOR_NOT_AVAILABLE)
        consumer.commit({topic_partition: 7})
        kafka.fail(OFFSET_FETCH, ErrorCode.COORDINATOR_LOAD_IN_PROGRESS)
        assert consumer.committed(topic_partition)[topic_partition].offset == 7


@pytest.mark.parametrize("strategy", ["range", "cooperative-sticky"])
def test_a_group(kafka, strategy):
    settings = config(
        kafka,
        group_id=strategy,
        partition_assignment_strategy=strategy,
        session_timeout_ms=6000,
        heartbeat_interval_ms=200,
    )
    first = Member("first", settings, ["t"])
    wait_until(lambda: shares([first]) == [4] and len(first.values) == COUNT, 30)
    second = Member("second", settings, ["t"])
    wait_until(lambda: shares([first, second]) == [2, 2], 30)
    kafka.fail(HEARTBEAT, ErrorCode.NOT_COORDINATOR, ErrorCode.COORDINATOR_LOAD_IN_PROGRESS)
    first.stop()
    wait_until(lambda: shares([second]) == [4], 30)
    second.stop()
    # The mock refuses commits once a rebalance has begun, so records may come again; none is lost.
    assert len(first.values + second.values) == COUNT
