"""Limits of a micro-batch."""

from hypothesis import given
from hypothesis import strategies as st

from barnabas.model.ids import TopicPartition
from barnabas.spark.source.planner import TriggerLimits, rate_limit

A0, A1 = TopicPartition("a", 0), TopicPartition("a", 1)
numbers = st.integers(0, 1000)
topic_partition = st.builds(TopicPartition, st.just("t"), st.integers(0, 9))


def test_without_limits_everything():
    assert TriggerLimits(None, None, 0).admit({A0: 1}, {A0: 9, A1: 3}, 0) == {A0: 9, A1: 3}


@given(
    st.dictionaries(topic_partition, st.tuples(st.integers(0, 1000), st.integers(0, 1000))),
    st.integers(1, 500),
)
def test_the_limit_is_shared_in_proportion_to_the_backlog(sizes, limit):
    start = {topic_partition: begin for topic_partition, (begin, _) in sizes.items()}
    latest = {topic_partition: begin + size for topic_partition, (begin, size) in sizes.items()}
    end = rate_limit(limit, start, latest)
    assert end.keys() == latest.keys()
    total = sum(size for _, size in sizes.values())
    taken = sum(end[topic_partition] - start[topic_partition] for topic_partition in start)
    assert taken == total if total <= limit else taken <= limit + len(sizes)
    for topic_partition in start:
        assert start[topic_partition] <= end[topic_partition] <= latest[topic_partition]
        assert (end[topic_partition] > start[topic_partition]) == (
            latest[topic_partition] > start[topic_partition]
        )


def test_the_limit_is_divided_in_proportion_to_the_backlogs():
    assert rate_limit(100, {A0: 0, A1: 0}, {A0: 900, A1: 100}) == {A0: 90, A1: 10}


def test_too_few_wait_until_the_delay_has_passed():
    admission = TriggerLimits(None, 10, 1000)
    assert admission.admit({A0: 0}, {A0: 3}, 0) == {A0: 3}, "the first batch does not wait"
    assert admission.admit({A0: 3}, {A0: 5}, 999) == {A0: 3}
    assert admission.admit({A0: 3}, {A0: 13}, 999) == {A0: 13}
    assert admission.admit({A0: 13}, {A0: 14}, 1998) == {A0: 13}
    assert admission.admit({A0: 13}, {A0: 14}, 1999) == {A0: 14}


def test_a_new_partition_is_let_through_at_once():
    admission = TriggerLimits(None, 10, 1000, last_ms=0)
    assert admission.admit({A0: 0}, {A0: 0, A1: 1}, 1) == {A0: 0, A1: 1}
