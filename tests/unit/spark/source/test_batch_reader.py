"""Filters become bounds that leave out no matching record."""

from datetime import UTC, datetime

from pyspark.sql.datasource import (
    EqualTo,
    GreaterThan,
    GreaterThanOrEqual,
    In,
    IsNotNull,
    LessThan,
    LessThanOrEqual,
)

from barnabas.model.ids import TopicPartition
from barnabas.spark.source.batch_reader import bounds_of

A0, A1, B0 = TopicPartition("a", 0), TopicPartition("a", 1), TopicPartition("b", 0)
START, END = dict.fromkeys([A0, A1, B0], 5), dict.fromkeys([A0, A1, B0], 50)


class Cluster:
    def resolve(self, limit, topic_partitions, option):
        return dict.fromkeys(topic_partitions, limit.timestamps // 1000)


def narrow(*filters):
    bounds, rest = bounds_of(filters)
    start, end = bounds.narrow(START, END, Cluster())
    return {
        topic_partition: (start[topic_partition], end[topic_partition]) for topic_partition in start
    }, rest


def test_partitions_and_topics():
    assert narrow(EqualTo(("partition",), 0))[0].keys() == {A0, B0}
    assert narrow(In(("topic",), ("a", "x")), In(("partition",), (0, 7)))[0].keys() == {A0}
    assert narrow(EqualTo(("topic",), "a"), EqualTo(("topic",), "b")) == ({}, [])


def test_filters_on_offsets_narrow_the_range():
    both = narrow(GreaterThan(("offset",), 9), LessThanOrEqual(("offset",), 20))
    assert (set(both[0].values()), both[1]) == ({(10, 21)}, [])
    assert set(narrow(GreaterThanOrEqual(("offset",), 2))[0].values()) == {(5, 50)}
    assert set(narrow(LessThan(("offset",), 8))[0].values()) == {(5, 8)}
    assert set(narrow(EqualTo(("offset",), 8))[0].values()) == {(8, 9)}


def test_a_time_bounds_the_start_and_stays_with_spark():
    item = GreaterThanOrEqual(("timestamp",), datetime.fromtimestamp(20.5, UTC))
    bounds, rest = narrow(item)
    assert (set(bounds.values()), rest) == ({(20, 50)}, [item])


def test_a_time_without_a_zone_is_no_bound():
    item = GreaterThanOrEqual(("timestamp",), datetime(2030, 1, 1))  # noqa: DTZ001 - the point
    assert narrow(item) == (dict.fromkeys(START, (5, 50)), [item])


def test_unsupported_filters_stay_with_spark():
    items = [IsNotNull(("key",)), EqualTo(("value",), b"x"), GreaterThan(("partition",), 1)]
    bounds, rest = narrow(*items, LessThan(("timestamp",), datetime.fromtimestamp(1, UTC)))
    assert rest[:3] == items
    assert len(rest) == 4
    assert set(bounds.values()) == {(5, 50)}
