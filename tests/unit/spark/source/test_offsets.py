"""Offset texts: sorted and exact; errors name the option."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from barnabas.model.errors import ConfigError
from barnabas.model.ids import TopicPartition
from barnabas.spark.source.offsets import (
    TimestampOffsets,
    check_covers,
    parse_assignment,
    parse_offsets,
    read,
    render,
)

A0, A1, B0 = TopicPartition("a", 0), TopicPartition("a", 1), TopicPartition("b", 0)
topic_partitions = st.builds(
    TopicPartition, st.sampled_from(["a", "b.c", "d-1"]), st.integers(0, 30)
)


@given(st.dictionaries(topic_partitions, st.integers(0, 2**62)), st.randoms())
def test_text_round_trip_in_any_order_is_the_same_text(offsets, dice):
    items = list(offsets.items())
    dice.shuffle(items)
    text = json.dumps(render(dict(items)))
    assert text == json.dumps(render(offsets))
    assert read(json.loads(text)) == offsets


def test_partitions_are_sorted_as_numbers():
    text = json.dumps(render({TopicPartition("a", n): n for n in (10, 9, 2)}))
    assert text == '{"a": {"2": 2, "9": 9, "10": 10}}'


@pytest.mark.parametrize(
    "text", ["", "latest", "[]", "{}", '{"a":[0]}', '{"a":{"x":1}}', '{"a":{"0":true}}', '{"a":{}}']
)
def test_malformed_offsets_name_the_option(text):
    with pytest.raises(ConfigError, match=r"^startingOffsets="):
        parse_offsets("startingOffsets", text)


def test_an_assignment_is_sorted_without_duplicates():
    assert parse_assignment("assign", '{"b":[0],"a":[1,0,1]}') == (A0, A1, B0)


@pytest.mark.parametrize("text", ["x", "[]", "{}", '{"a":0}', '{"a":[-1]}', '{"a":[true]}'])
def test_malformed_assignments_name_the_option(text):
    with pytest.raises(ConfigError, match=r"^assign="):
        parse_assignment("assign", text)


def test_offsets_must_name_every_partition_and_no_other():
    check_covers("startingOffsets", [A0, A1], [A1, A0])
    with pytest.raises(ConfigError, match=r"startingOffsets must name every partition.*a-1"):
        check_covers("startingOffsets", [A0], [A0, A1])
    with pytest.raises(ConfigError, match=r"startingOffsets names partitions .* b-0"):
        check_covers("startingOffsets", [A0, B0], [A0])


def test_one_time_for_all_or_one_for_each():
    assert TimestampOffsets(7).of(A0) == 7
    assert TimestampOffsets({A0: 1, A1: 2}).of(A1) == 2
