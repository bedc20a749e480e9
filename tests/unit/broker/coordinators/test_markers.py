"""Markers reach the partition leaders; deleted partitions delay no other marker."""

from types import SimpleNamespace

import pytest
from support.clients.manual_loop import ManualLoop

from barnabas.broker.coordinators.markers import MarkerRouter
from barnabas.coordination import SendMarkers
from barnabas.model.error_codes import ErrorCode
from barnabas.model.ids import BrokerId, TopicPartition

HERE, THERE = TopicPartition("t", 0), TopicPartition("t", 1)
NOWHERE = TopicPartition("gone", 0)


class FakeMetadata:
    def __init__(self):
        self.leaders = {HERE: 1, THERE: 2}

    def partition(self, topic_partition):
        leader = self.leaders.get(topic_partition)
        return None if leader is None else SimpleNamespace(leader=BrokerId(leader))

    def has_topic(self, topic):
        return any(topic_partition.topic == topic for topic_partition in self.leaders)


class Recorder:
    """A writer and a channel that record requests; the test completes them."""

    def __init__(self):
        self.written = []
        self.sent = []

    def write(self, end, topic_partitions, purgatory, timeout_ms, done):
        self.written.append((topic_partitions, done))

    def send(self, broker_id, end, topic_partitions, done):
        self.sent.append((broker_id, topic_partitions, done))


@pytest.fixture
def world():
    loop, metadata, recorder = ManualLoop(), FakeMetadata(), Recorder()
    router = MarkerRouter(BrokerId(1), metadata, recorder, recorder, None, loop.clock)
    told = []

    def deliver(*topic_partitions):
        send = SendMarkers("x", 7, 0, True, 3, 2, tuple(topic_partitions))
        router.deliver(send, lambda results, deleted: told.append((dict(results), set(deleted))))
        return told

    return SimpleNamespace(
        loop=loop, metadata=metadata, recorder=recorder, router=router, deliver=deliver, told=told
    )


def test_markers_go_to_the_leader_of_each_partition(world):
    world.deliver(HERE, THERE)
    assert [topic_partitions for topic_partitions, _ in world.recorder.written] == [(HERE,)]
    assert [(leader, topic_partitions) for leader, topic_partitions, _ in world.recorder.sent] == [
        (2, (THERE,))
    ]
    world.recorder.written[0][1]({HERE: ErrorCode.NONE})
    world.recorder.sent[0][2]({THERE: ErrorCode.REQUEST_TIMED_OUT})
    assert world.told == [
        ({HERE: ErrorCode.NONE}, set()),
        ({THERE: ErrorCode.REQUEST_TIMED_OUT}, set()),
    ]


def test_without_a_leader(world):
    world.metadata.leaders[HERE] = -1
    assert world.deliver(HERE) == [({HERE: ErrorCode.NOT_LEADER_OR_FOLLOWER}, set())]


def test_unknown_while_the_broker_starts_is_not_deleted(world):
    """It may merely not be known yet, and hold an open transaction."""
    assert world.deliver(NOWHERE) == [({NOWHERE: ErrorCode.UNKNOWN_TOPIC_OR_PARTITION}, set())]
    world.router.started()
    world.loop.advance(9_000)
    assert world.deliver(NOWHERE)[1] == world.told[0]
    world.loop.advance(1_000)
    assert world.deliver(NOWHERE)[2] == ({}, {NOWHERE})


def test_seen_to_be_deleted(world):
    world.router.topics_deleted(frozenset({"gone"}))
    assert world.deliver(NOWHERE) == [({}, {NOWHERE})]


def test_deleted_and_made_anew_is_not_deleted(world):
    world.router.topics_deleted(frozenset({"t"}))
    assert world.deliver(TopicPartition("t", 5)) == [
        ({TopicPartition("t", 5): ErrorCode.UNKNOWN_TOPIC_OR_PARTITION}, set())
    ]
