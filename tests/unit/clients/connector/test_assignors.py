"""Assignments: worked examples, and the conditions of round-robin."""

import json
from pathlib import Path

import pytest

from barnabas.clients.connector.assignors import (
    AssignmentContext,
    AssignmentError,
    ConsumerThreadId,
    range_assignor,
    round_robin_assignor,
    thread_ids_per_topic,
)
from barnabas.model.ids import TopicPartition

# Made with the assignors of Kafka 0.10.2.2 (whole group) and 0.8.2.2 (one member; it refuses the
# unequal subscriptions, which the later one deals out).
GOLDEN = Path(__file__).parents[3] / "golden" / "connector_assignments.json"


def context(subscriptions, partitions, consumer="C1"):
    threads = {}
    for name, counts in subscriptions.items():
        for topic, ids in thread_ids_per_topic(name, counts).items():
            threads.setdefault(topic, []).extend(ids)
    return AssignmentContext(
        consumer,
        sorted(subscriptions[consumer]),
        threads,
        {topic: range(count) for topic, count in partitions.items()},
        sorted(subscriptions),
    )


def shown(assignment):
    return {
        str(topic_partition): str(thread)
        for topic_partitions in assignment.values()
        for topic_partition, thread in topic_partitions.items()
    }


def test_range_of_two_consumers_with_two_streams_over_five_partitions():
    found = range_assignor(context({"C1": {"t": 2}, "C2": {"t": 2}}, {"t": 5}))
    assert shown(found) == {
        "t-0": "C1-0",
        "t-1": "C1-0",
        "t-2": "C1-1",
        "t-3": "C2-0",
        "t-4": "C2-1",
    }


def test_range_of_four_streams_over_six_partitions():
    found = range_assignor(context({"C1": {"t": 2}, "C2": {"t": 2}}, {"t": 6}))
    threads = [shown(found)[f"t-{p}"] for p in range(6)]
    assert threads == ["C1-0", "C1-0", "C1-1", "C1-1", "C2-0", "C2-1"]


def test_range_divides_each_topic_among_its_subscribers():
    found = range_assignor(context({"C1": {"a": 1, "b": 1}, "C2": {"b": 1}}, {"a": 2, "b": 2}))
    assert shown(found) == {"a-0": "C1-0", "a-1": "C1-0", "b-0": "C1-0", "b-1": "C2-0"}


def test_a_stream_too_many_gets_nothing_and_is_in_the_assignment():
    found = range_assignor(context({"C1": {"t": 1}, "C2": {"t": 1}}, {"t": 1}))
    assert found["C2"] == {}


def test_threads_are_in_the_order_of_their_text():
    found = range_assignor(context({"C1": {"t": 11}}, {"t": 11}))
    assert shown(found)["t-2"] == "C1-10"


def test_a_topic_that_does_not_exist_has_no_partitions():
    assert range_assignor(context({"C1": {"t": 1}}, {})) == {"C1": {}}
    assert round_robin_assignor(context({"C1": {"t": 1}}, {})) == {"C1": {}}


def test_round_robin_deals_in_the_order_of_javas_hash():
    found = round_robin_assignor(context({"C1": {"t": 1}, "C2": {"t": 1}}, {"t": 4}))
    # "[t,0]".hashCode() and its followers grow with the digit.
    assert shown(found) == {"t-0": "C1-0", "t-1": "C2-0", "t-2": "C1-0", "t-3": "C2-0"}


def test_round_robin_with_negative_hashes():
    names = {"payments": 2, "orders": 2}
    found = round_robin_assignor(context({"C1": dict.fromkeys(names, 2)}, names))
    order = [
        topic_partition
        for topic_partition, _ in sorted(found["C1"].items(), key=lambda item: item[1])
    ]
    assert len(order) == 4
    assert sorted(thread.thread for thread in found["C1"].values()) == [0, 0, 1, 1]


@pytest.mark.parametrize(
    "subscriptions",
    [
        {"C1": {"a": 1, "b": 1}, "C2": {"a": 1}},
        {"C1": {"a": 1, "b": 2}},
    ],
)
def test_round_robin_demands_equal_subscriptions(subscriptions):
    with pytest.raises(AssignmentError) as raised:
        round_robin_assignor(context(subscriptions, {"a": 1, "b": 1}))
    text = str(raised.value)
    assert text.startswith(
        "Round-robin assignment is allowed only if all consumers in the group subscribe to the "
        "same topics, AND if the stream counts across topics are identical for a given consumer "
        "instance."
    )
    assert "Topic b has the following available consumer streams: C1-0" in text
    assert "Topic a has the following available consumer streams: C1-0" in text


def test_a_consumer_with_two_topics_has_threads_for_each():
    threads = thread_ids_per_topic("C1", {"topic1": 2, "topic2": 3})
    assert sum(len(ids) for ids in threads.values()) == 5
    assert threads["topic2"][2] == ConsumerThreadId("C1", 2)


def test_every_assignment_is_the_same_from_every_member():
    subscriptions = {"C1": {"t": 2}, "C2": {"t": 1}}
    for assignor in (range_assignor, round_robin_assignor):
        views = [assignor(context(subscriptions, {"t": 7}, me)) for me in subscriptions]
        assert views[0] == views[1]
        assert {p for mine in views[0].values() for p in mine} == {
            TopicPartition("t", p) for p in range(7)
        }


@pytest.mark.parametrize("case", json.loads(GOLDEN.read_text()), ids=lambda case: case["consumer"])
def test_the_same_hands_as_kafkas(case):
    group = context(case["subscriptions"], case["partitions"], case["consumer"])
    assert shown(range_assignor(group)) == case["range"]
    if case["roundrobin"] is None:
        with pytest.raises(AssignmentError):
            round_robin_assignor(group)
    else:
        assert shown(round_robin_assignor(group)) == case["roundrobin"]
