"""The choice of a partition: by key, sticky by bytes, in turn, and away from lost leaders."""

import random
from collections import Counter
from types import SimpleNamespace

import pytest

from barnabas.clients.producer._send_hot import TopicAppender
from barnabas.clients.producer.partitioners import (
    STICKY_BATCHES,
    STICKY_BATCHES_OF_MANY,
    PartitionChooser,
    check_partition,
)
from barnabas.model.errors import ConfigError, LocalError
from barnabas.model.ids import TopicPartition
from barnabas.records._append_hot import RecordAppender


@pytest.fixture
def choose(settings_of):
    """A chooser with a seeded draw; queues are empty unless given."""

    def make(queues=None, **config):
        lengths = queues or {}
        return PartitionChooser(
            settings_of(**config),
            lambda topic: lengths,
            random.Random(7).randrange,
        )

    return make


@pytest.fixture
def topic():
    made = TopicAppender(4, True)
    made.available = (0, 1, 2, 3)
    return made


def add_batch(topic, number, size):
    """Opens and closes a batch of a partition, which counts towards the sticky partition."""
    topic_partition = TopicPartition("t", number)
    topic.open(
        SimpleNamespace(partition=topic_partition, appender=SimpleNamespace(size=size)), 1000
    )
    topic.close(number)


def partitions(chooser, topic, count, key=None, size=100, name="t"):
    found = []
    for _ in range(count):
        number = chooser.choose(name, key, b"v", size, topic)
        add_batch(topic, number, size)
        found.append(number)
    return found


def test_records_without_a_key_stay_until_a_batch_is_full(choose, topic):
    found = partitions(choose(batch_size=1000), topic, 4000)
    runs = [found[start : start + 10] for start in range(0, len(found), 10)]
    assert all(len(set(run)) == 1 for run in runs)
    assert set(found) == {0, 1, 2, 3}


def choices(chooser, *, sent, unsent):
    """Returns the choices after so many bytes for partition 2, in a sent and in an open batch."""
    found = set()
    for _ in range(50):
        topic = TopicAppender(4, True)
        topic.stick_to(2)
        if sent:
            add_batch(topic, 2, sent)
        batch = SimpleNamespace(
            partition=TopicPartition("t", 2), appender=SimpleNamespace(size=unsent)
        )
        topic.open(batch, 1000)
        found.add(chooser.choose("t", None, b"v", 100, topic))
    return found


def test_a_full_batch_that_is_still_open_keeps_the_records_without_a_key(choose):
    size = 16_384
    every = {0, 1, 2, 3}
    assert choices(choose(), sent=0, unsent=2 * size) == {2}
    assert choices(choose(), sent=size, unsent=100) == every, "a batch of this size was sent"
    assert choices(choose(), sent=0, unsent=STICKY_BATCHES * size) == every, "too many bytes"
    assert choices(choose(batch_size=size), sent=0, unsent=2 * size) == every, "configured"


@pytest.mark.parametrize(
    ("count", "batches"),
    [(2, STICKY_BATCHES), (49, STICKY_BATCHES), (50, STICKY_BATCHES_OF_MANY)],
)
def test_more_records_stay_on_a_partition_if_there_are_many(choose, count, batches):
    topic = TopicAppender(count, True)
    chosen = choose().next_sticky("t", topic)
    appender = RecordAppender(1024)
    batch = SimpleNamespace(partition=TopicPartition("t", chosen), appender=appender)
    topic.open(batch, 10**6)
    sent = 0
    while topic.try_send(None, bytes(1000), (), None, 5) is not None:
        sent += 1000
    assert sent == pytest.approx(batches * 16_384, rel=0.02)


def test_all_records_stay_on_the_only_partition(choose):
    topic = TopicAppender(1, True)
    assert choose().next_sticky("t", topic) == 0
    appender = RecordAppender(1024)
    topic.open(SimpleNamespace(partition=TopicPartition("t", 0), appender=appender), 10**6)
    for _ in range(900):
        assert topic.try_send(None, bytes(1000), (), None, 5) is not None


def test_a_record_larger_than_a_batch_has_its_partition(choose, topic):
    assert len(set(partitions(choose(batch_size=1000), topic, 50, size=5000))) == 4


def test_slow_partitions_are_drawn_less_often(choose, topic):
    chooser = choose({0: 3}, batch_size=1)
    used = Counter(partitions(chooser, topic, 2600))
    assert used[0] < 350 < 650 < min(used[number] for number in (1, 2, 3))
    plain = choose({0: 3}, batch_size=1, partitioner_adaptive_partitioning_enable=False)
    assert Counter(partitions(plain, topic, 2600))[0] > 500


@pytest.mark.parametrize("name", ["murmur2", "round_robin", "hash_or_round_robin", "random"])
def test_partitions_without_a_leader_are_not_drawn(choose, topic, name):
    topic.available = (1, 3)
    chooser = choose(partitioner_class=name, batch_size=1)
    assert set(partitions(chooser, topic, 100)) == {1, 3}


def test_a_key_is_placed_on_its_partition_although_that_has_no_leader(choose, topic):
    chooser = choose()
    (number,) = set(partitions(chooser, topic, 5, key=b"k"))
    topic.available = tuple({0, 1, 2, 3} - {number})
    assert set(partitions(chooser, topic, 5, key=b"k")) == {number}


def test_without_any_leader_all_partitions_are_drawn(choose, topic):
    topic.available = ()
    assert set(partitions(choose(batch_size=1), topic, 200)) == {0, 1, 2, 3}


def test_turns_are_counted_for_each_topic(choose):
    chooser = choose(partitioner_class="round_robin")
    first, second = TopicAppender(2, True), TopicAppender(2, True)
    used = [
        (name, chooser.choose(name, b"k", b"v", 1, topic))
        for _ in range(10)
        for name, topic in (("a", first), ("b", second))
    ]
    assert set(Counter(used).values()) == {5}


def test_long_queues_are_chosen_in_proportion_to_their_weight(choose, topic):
    chooser = choose(queues={0: 3, 1: 1})
    found = Counter(chooser.next_sticky("t", topic) for _ in range(12_000))
    # The weights are 1, 3, 4 and 4.
    assert [round(found[number] / 1000) for number in range(4)] == [1, 3, 4, 4]


def test_a_partition_is_chosen_if_all_queues_are_equally_long(choose, topic):
    chooser = choose(queues=dict.fromkeys(range(4), 1000))
    assert {chooser.next_sticky("t", topic) for _ in range(100)} == {0, 1, 2, 3}


def test_consistent_partitioners_use_librdkafkas_hash(choose, topic):
    consistent = choose(partitioner_class="consistent")
    assert set(partitions(consistent, topic, 20, key=b"123456789")) == {0xCBF43926 % 4}
    assert set(partitions(consistent, topic, 20)) == {0}
    assert len(set(partitions(choose(partitioner_class="consistent_random"), topic, 50))) == 4


def test_keys_may_be_ignored(choose):
    topic = TopicAppender(4, False)
    chooser = choose(partitioner_ignore_keys=True, batch_size=1000)
    assert set(partitions(chooser, topic, 1000, key=b"k")) == {0, 1, 2, 3}


def test_java_class_names_and_unknown_names(choose, settings_of):
    package = "org.apache.kafka.clients.producer"
    default = f"{package}.internals.DefaultPartitioner"
    assert settings_of(partitioner_class=default).partitioner_kind == "hash_or_round_robin"
    turns = f"{package}.RoundRobinPartitioner"
    assert settings_of(partitioner_class=turns).partitioner_kind == "round_robin"
    with pytest.raises(ConfigError, match="'rond_robin': must be one of 'murmur2', 'round_robin'"):
        settings_of(partitioner_class="rond_robin")


@pytest.mark.parametrize("number", [-1, 4, None, "1"])
def test_a_partition_that_the_topic_does_not_have(topic, number):
    with pytest.raises(LocalError, match=f"partitions 0 to 3, not {number!r}"):
        check_partition("t", number, topic)
