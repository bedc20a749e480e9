"""MetadataCache: what commands add, change and take away."""

import dataclasses

import pytest

from barnabas.broker.metadata_cache import MetadataCache
from barnabas.model.control import (
    LEADER_DURING_DELETE,
    Endpoint,
    LiveBroker,
    PartitionState,
    UpdateMetadataCommand,
)
from barnabas.model.ids import BrokerId, TopicPartition, Uuid

FIRST_ID, SECOND_ID = Uuid(b"1" * 16), Uuid(b"2" * 16)


def state(topic, number, leader=1, topic_id=FIRST_ID):
    return PartitionState(
        TopicPartition(topic, number),
        BrokerId(leader),
        0,
        (BrokerId(1),),
        (BrokerId(1),),
        topic_id=topic_id,
    )


def command(*states, brokers=(1,), topic_ids=None):
    live = tuple(
        LiveBroker(BrokerId(number), (Endpoint("PLAINTEXT", "h", 9092),), f"rack{number}")
        for number in brokers
    )
    return UpdateMetadataCommand(BrokerId(1), 1, 1, states, live, topic_ids or {})


@pytest.fixture
def cache():
    made = MetadataCache()
    made.apply(command(state("a", 0), state("a", 1), state("b", 0, topic_id=SECOND_ID)))
    return made


def test_topics_are_found_by_name_and_id(cache):
    assert set(cache.topics()) == {"a", "b"}
    assert cache.topic_name(SECOND_ID) == "b"
    assert cache.topic_id("a") == FIRST_ID
    assert cache.partition(TopicPartition("a", 1)).leader == 1
    assert cache.partition(TopicPartition("a", 2)) is None
    assert cache.partitions("c") is None


def test_a_command_changes_what_it_names_and_replaces_the_brokers(cache):
    cache.apply(command(state("a", 0, leader=2), brokers=(2, 3)))
    assert cache.partition(TopicPartition("a", 0)).leader == 2
    assert cache.partition(TopicPartition("a", 1)).leader == 1
    assert not cache.is_alive(BrokerId(1))
    assert cache.rack_of(BrokerId(3)) == "rack3"


def test_a_topic_goes_with_its_last_partition(cache):
    assert cache.apply(command(state("a", 0, LEADER_DURING_DELETE))) == frozenset()
    assert cache.apply(command(state("a", 1, LEADER_DURING_DELETE))) == {"a"}
    assert not cache.has_topic("a")
    assert cache.topic_name(FIRST_ID) is None


def test_a_topic_created_anew_has_its_new_id_only(cache):
    other = Uuid(b"3" * 16)
    cache.apply(command(state("a", 0, topic_id=other)))
    assert cache.topic_name(FIRST_ID) is None
    assert cache.topic_name(other) == "a"


def test_a_full_command_takes_away_what_it_does_not_name(cache):
    full = dataclasses.replace(command(state("a", 0)), is_full=True)
    assert cache.apply(full) == {"b"}
    assert cache.partition(TopicPartition("a", 0)).leader == 1
    assert cache.partition(TopicPartition("a", 1)) is None
