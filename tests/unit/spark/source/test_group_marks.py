"""Marks tell a topic that was made anew, and are believed only by the query that left them."""

import pytest

from barnabas.model.ids import TopicPartition, Uuid
from barnabas.spark.source.group_marks import LONGEST, QueryMark, mark_of

A0, B0 = TopicPartition("a", 0), TopicPartition("b", 0)
ONE, TWO = Uuid(b"1" * 16), Uuid(b"2" * 16)
MARK = mark_of({A0: 3, B0: 0}, {A0: 5, B0: 0}, {"a": ONE, "b": TWO})


def test_comes_back_from_its_text():
    assert QueryMark.parse(MARK.text()) == MARK


@pytest.mark.parametrize("position", [3, 5])
def test_is_believed_where_the_query_stood_or_was_to_go(position):
    assert MARK.ids_at({A0: position, B0: 0}) == {"a": ONE}


def test_is_not_believed_elsewhere():
    assert MARK.ids_at({A0: 4, B0: 0}) == {}
    assert MARK.ids_at({A0: 3}) == {}


@pytest.mark.parametrize("text", ["", "x", "spark", "spark 1", "spark 1 2 a", "spark 1 2 a:b"])
def test_other_texts_are_no_marks(text):
    assert QueryMark.parse(text) is None


def test_is_never_longer_than_brokers_take():
    places = {TopicPartition(f"t{n}", 0): 1 for n in range(500)}
    mark = mark_of(places, places, {f"t{n}": ONE for n in range(500)})
    assert len(mark.text()) <= LONGEST
    assert len(QueryMark.parse(mark.text()).ids_at(places)) > 100
