"""Divisions as Kafka publishes them for its own assignors, and the order of members."""

import json
from pathlib import Path

import pytest

from barnabas.clients.assignors import (
    CooperativeStickyAssignor,
    MemberSubscription,
    RangeAssignor,
    RoundRobinAssignor,
    StickyAssignor,
    decode_sticky_data,
    encode_sticky_data,
    resolve_assignors,
)
from barnabas.model.errors import ConfigError
from barnabas.model.ids import TopicPartition


def member(name, topics, **more):
    return MemberSubscription(name, frozenset(topics.split()), **more)


def topic_partitions(text):
    """`a0 a1` is partitions 0 and 1 of topic a."""
    return [TopicPartition(word[0], int(word[1:])) for word in text.split()]


def divided(assignor, counts, members):
    return {
        name: " ".join(
            f"{topic_partition.topic}{topic_partition.partition}"
            for topic_partition in sorted(found)
        )
        for name, found in assignor.assign(counts, members).items()
    }


@pytest.mark.parametrize(
    ("counts", "members", "expected"),
    [
        ({"a": 3, "b": 3}, ["1 a b", "2 a b"], {"1": "a0 a1 b0 b1", "2": "a2 b2"}),
        ({"a": 2, "b": 2}, ["1 a", "2 a b", "3 a b"], {"1": "a0", "2": "a1 b0", "3": "b1"}),
        ({"a": 1}, ["1 a", "2 a"], {"1": "a0", "2": ""}),
        ({"a": 0}, ["1 a"], {"1": ""}),
        ({}, ["1 a"], {"1": ""}),
        ({"a": 5}, ["1 a", "2 a", "3 a"], {"1": "a0 a1", "2": "a2 a3", "3": "a4"}),
    ],
)
def test_range_assigns_consecutive_partitions_of_each_topic(counts, members, expected):
    members = [member(text[0], text[2:]) for text in members]
    assert divided(RangeAssignor(), counts, members) == expected


@pytest.mark.parametrize(
    ("counts", "members", "expected"),
    [
        ({"a": 3, "b": 3}, ["1 a b", "2 a b"], {"1": "a0 a2 b1", "2": "a1 b0 b2"}),
        (
            {"a": 1, "b": 2, "c": 3},
            ["1 a", "2 a b", "3 a b c"],
            {"1": "a0", "2": "b0", "3": "b1 c0 c1 c2"},
        ),
        ({"a": 3, "b": 2}, ["1 a", "2 a b", "3 a"], {"1": "a0", "2": "a1 b0 b1", "3": "a2"}),
        ({"a": 2, "z": 1}, ["1 a"], {"1": "a0 a1"}),
    ],
)
def test_round_robin_assigns_partitions_in_turn(counts, members, expected):
    members = [member(text[0], text[2:]) for text in members]
    assert divided(RoundRobinAssignor(), counts, members) == expected


@pytest.mark.parametrize(
    ("counts", "members", "expected"),
    [
        ({"a": 3}, ["1 a"], {"1": "a0 a1 a2"}),
        ({"a": 2}, ["1 a", "2 a"], {"1": "a0", "2": "a1"}),
        ({"a": 3, "b": 2}, ["1 a", "2 a b", "3 a"], {"1": "a0 a2", "2": "b0 b1", "3": "a1"}),
        ({"a": 3, "b": 3}, ["1 a b", "2 a b"], {"1": "a0 a2 b1", "2": "a1 b0 b2"}),
    ],
)
def test_sticky_from_nothing(counts, members, expected):
    members = [member(text[0], text[2:]) for text in members]
    assert divided(StickyAssignor(), counts, members) == expected


def test_members_go_static_first_then_by_id():
    members = [
        member("b", "a"),
        member("a", "a"),
        member("z", "a", instance_id="2"),
        member("y", "a", instance_id="3"),
    ]
    assert divided(RangeAssignor(), {"a": 4}, members) == {
        "z": "a0",
        "y": "a1",
        "a": "a2",
        "b": "a3",
    }


def test_sticky_keeps_what_members_had():
    members = [
        member("1", "a", user_data=encode_sticky_data(topic_partitions("a0 a1"), 1)),
        member("2", "a", user_data=encode_sticky_data(topic_partitions("a2"), 1)),
        member("3", "a"),
    ]
    assert divided(StickyAssignor(), {"a": 3}, members) == {"1": "a0", "2": "a2", "3": "a1"}


def test_of_two_claims_the_later_generation_holds():
    members = [
        member("1", "a", user_data=encode_sticky_data(topic_partitions("a0 a1"), 1)),
        member("2", "a", user_data=encode_sticky_data(topic_partitions("a0 a2"), 2)),
    ]
    found = StickyAssignor().assign({"a": 4}, members)
    assert set(topic_partitions("a0 a2")) <= set(found["2"])
    assert topic_partitions("a1")[0] in found["1"]


def test_a_partition_that_moves_waits_for_its_owner():
    before = [
        member("1", "a", owned=tuple(topic_partitions("a0 a1 a2 a3")), generation=1),
        member("2", "a"),
    ]
    assigned = CooperativeStickyAssignor().assign({"a": 4}, before)
    assert (len(assigned["1"]), assigned["2"]) == (2, [])
    after = [
        member("1", "a", owned=tuple(assigned["1"]), generation=2),
        member("2", "a", generation=2),
    ]
    assigned = CooperativeStickyAssignor().assign({"a": 4}, after)
    assert {name: len(found) for name, found in assigned.items()} == {"1": 2, "2": 2}


def test_sticky_user_data_has_kafkas_bytes():
    data = encode_sticky_data(topic_partitions("b1 a0 a2"), 7)
    expected = "00000002 0001 61 00000002 00000000 00000002 0001 62 00000001 00000001 00000007"
    assert data == bytes.fromhex(expected)
    assert decode_sticky_data(data) == (topic_partitions("a0 a2 b1"), 7)


@pytest.mark.parametrize("data", [None, b"", b"\x00\x00\x00\x05", b"\xff" * 9])
def test_unreadable_user_data_is_no_claim(data):
    assert decode_sticky_data(data) == ([], -1)


def test_version_0_user_data_has_no_generation():
    data = encode_sticky_data(topic_partitions("a1"), 3)[:-4]
    assert decode_sticky_data(data) == (topic_partitions("a1"), -1)


def test_names_of_configuration():
    found = resolve_assignors(
        ["org.apache.kafka.clients.consumer.RoundRobinAssignor", "sticky", RangeAssignor]
    )
    assert [assignor.name for assignor in found] == ["roundrobin", "sticky", "range"]
    for wrong in (["nothing"], [], ["range", RangeAssignor()], [42]):
        with pytest.raises(ConfigError):
            resolve_assignors(wrong)


GOLDEN = Path(__file__).parents[2] / "golden" / "assignor_divisions.json"


@pytest.mark.parametrize("assignor", ["range", "roundrobin", "sticky", "cooperative-sticky"])
def test_divisions_equal_those_of_apache_kafka(assignor):
    """Made with the assignors of kafka-clients 4.0.0, members joining and leaving."""
    cases = [case for case in json.loads(GOLDEN.read_text()) if case["assignor"] == assignor]
    assert len(cases) > 20
    for case in cases:
        members = []
        for name, topics, instance_id, owned, generation in case["members"]:
            had = topic_partitions(owned or "")
            members.append(
                member(
                    name,
                    topics,
                    instance_id=instance_id,
                    owned=tuple(had) if assignor == "cooperative-sticky" else (),
                    generation=generation,
                    user_data=encode_sticky_data(had, generation) if had else None,
                )
            )
        (found,) = resolve_assignors([assignor])
        assert divided(found, case["topics"], members) == case["expected"], case
