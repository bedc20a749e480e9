"""Appenders follow the cluster's metadata: growth, lost leaders, topics created anew, idle ones."""

import pytest

from barnabas.clients.core.cluster_metadata import ClusterMetadata, Node, PartitionInfo, TopicInfo
from barnabas.clients.producer.accumulator import Accumulator
from barnabas.clients.producer.partitioners import PartitionChooser
from barnabas.clients.producer.topics import TopicTracker
from barnabas.model.ids import TopicPartition, Uuid

OLD_ID, NEW_ID = Uuid(b"1" * 16), Uuid(b"2" * 16)


class MetadataClient:
    """The part of a client that holds metadata."""

    def __init__(self):
        self.metadata = ClusterMetadata(brokers={1: Node(1, "h", 1), 2: Node(2, "h", 2)})
        self.forgotten = []

    def tell(self, *leaders, topic_id=OLD_ID, topic="t"):
        partitions = {
            number: PartitionInfo(topic, number, leader, 0, (leader,), (leader,))
            for number, leader in enumerate(leaders)
        }
        self.metadata.topics[topic] = TopicInfo(topic, topic_id, False, partitions)
        self.metadata.generation += 1

    def forget(self, topics):
        self.forgotten += topics


@pytest.fixture
def world(settings_of, clock):
    client = MetadataClient()
    settings = settings_of(metadata_max_idle_ms=5000)
    accumulator = Accumulator(settings, clock, None)
    chooser = PartitionChooser(settings, accumulator.queue_lengths)
    return client, accumulator, TopicTracker(settings, client, accumulator, chooser)


def test_a_topic_that_grew_has_its_new_partitions(world):
    client, _, topics = world
    client.tell(1)
    appender = topics.appender("t", 0)
    client.tell(1, 2, 1)
    topics.sync()
    assert (appender.count, appender.available) == (3, (0, 1, 2))


def test_a_smaller_count_under_the_same_id_is_old_metadata(world):
    client, _, topics = world
    client.tell(1, 1, 1)
    appender = topics.appender("t", 0)
    client.tell(1)
    topics.sync()
    assert appender.count == 3


def test_a_topic_created_anew_has_only_its_own_partitions(world):
    client, _, topics = world
    removed = []
    topics.on_removed = removed.append
    client.tell(1, 1, 1)
    appender = topics.appender("t", 0)
    client.tell(1, topic_id=NEW_ID)
    topics.sync()
    assert (appender.count, appender.sticky) == (1, 0)
    assert removed == [TopicPartition("t", 1), TopicPartition("t", 2)]


def test_the_sticky_partition_moves_when_it_loses_its_leader(world):
    client, _, topics = world
    client.tell(1, 1)
    appender = topics.appender("t", 0)
    appender.stick_to(1)
    client.tell(1, -1)
    topics.sync()
    assert (appender.available, appender.sticky) == ((0,), 0)


def test_brokers_that_accept_nothing_are_avoided(world):
    client, _, topics = world
    client.tell(1, 2)
    appender = topics.appender("t", 0)
    topics.sync(frozenset({2}))
    assert appender.available == (0,)
    topics.sync(frozenset())
    assert appender.available == (0, 1)


def test_a_new_topic_does_not_visit_the_partitions_of_the_others(world, monkeypatch):
    client, _, topics = world
    for name in "abc":
        client.tell(1, 2, topic=name)
        topics.appender(name, 0)
    topics.sync()
    visited = []
    monkeypatch.setattr(topics, "_takes", lambda info, _: bool(visited.append(info.name)))
    client.tell(2, 2, topic="b")
    topics.sync()
    assert set(visited) == {"b"}


def test_a_leader_hint_is_applied(world):
    client, _, topics = world
    client.tell(1, 9)
    appender = topics.appender("t", 0)
    topics.sync()
    assert appender.available == (0,), "broker 9 is unknown"
    client.metadata.move_leader(TopicPartition("t", 1), 2, 1)
    topics.sync()
    assert appender.available == (0, 1)


def test_a_topic_without_partitions_keeps_those_it_had(world):
    client, _, topics = world
    client.tell(1, 1)
    appender = topics.appender("t", 0)
    client.tell(topic_id=NEW_ID)
    topics.sync()
    assert appender.count == 2


def test_topics_that_were_not_used_are_dropped(world):
    client, accumulator, topics = world
    client.tell(1)
    client.tell(1, topic="other")
    topics.appender("t", 0)
    topics.appender("other", 4000)
    topics.drop_idle(5001)
    assert (client.forgotten, list(accumulator.topics)) == (["t"], ["other"])
