"""Stored topic ids detect recreated topics, and only the query that stored them uses them."""

import pytest

from barnabas.model.ids import TopicPartition, Uuid
from barnabas.spark.source.group_offsets import LONGEST, StoredTopicIds, stored_ids_of

A0, B0 = TopicPartition("a", 0), TopicPartition("b", 0)
ONE, TWO = Uuid(b"1" * 16), Uuid(b"2" * 16)
MARK = stored_ids_of({A0: 3, B0: 0}, {A0: 5, B0: 0}, {"a": ONE, "b": TWO})


def test_round_trip_of_the_text():
    assert StoredTopicIds.parse(MARK.text()) == MARK


@pytest.mark.parametrize("position", [3, 5])
def test_ids_are_used_at_the_stored_start_or_end(position):
    assert MARK.ids_at({A0: position, B0: 0}) == {"a": ONE}


def test_ids_are_ignored_at_other_offsets():
    assert MARK.ids_at({A0: 4, B0: 0}) == {}
    assert MARK.ids_at({A0: 3}) == {}


@pytest.mark.parametrize("text", ["", "x", "spark", "spark 1", "spark 1 2 a", "spark 1 2 a:b"])
def test_other_metadata_is_ignored(text):
    assert StoredTopicIds.parse(text) is None


def test_the_text_is_not_longer_than_the_broker_limit():
    topic_partitions = {TopicPartition(f"t{n}", 0): 1 for n in range(500)}
    mark = stored_ids_of(topic_partitions, topic_partitions, {f"t{n}": ONE for n in range(500)})
    assert len(mark.text()) <= LONGEST
    assert len(StoredTopicIds.parse(mark.text()).ids_at(topic_partitions)) > 100
