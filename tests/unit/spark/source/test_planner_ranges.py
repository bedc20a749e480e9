"""Splitting and packing ranges: each offset is in exactly one task."""

from hypothesis import given
from hypothesis import strategies as st

from barnabas.model.ids import TopicPartition
from barnabas.spark.source.planner import (
    PACKED_RECORDS,
    OffsetRange,
    pack_ranges,
    ranges_between,
    split_ranges,
)

A0, A1, B0 = TopicPartition("a", 0), TopicPartition("a", 1), TopicPartition("b", 0)
sizes = st.lists(st.integers(1, 300), max_size=8)


def make(sizes):
    return [OffsetRange("t", n, 5, 5 + size) for n, size in enumerate(sizes)]


def covered(parts):
    joined = {}
    for part in parts:
        assert part.size > 0
        assert joined.setdefault(part.topic_partition, part.start) == part.start, (
            "a hole or an overlap"
        )
        joined[part.topic_partition] = part.end
    return joined


def test_a_partition_without_new_records_has_no_range():
    start, end = {A0: 3, A1: 7, B0: 9}, {A0: 5, A1: 7, B0: 4, TopicPartition("c", 0): 2}
    assert ranges_between(start, end) == [
        OffsetRange("a", 0, 3, 5),
        OffsetRange("c", 0, 0, 2, fresh=True),
    ]


@given(sizes, st.none() | st.integers(1, 40), st.none() | st.integers(3, 400))
def test_splits_cover_each_range_exactly(sizes, least, most):
    ranges = make(sizes)
    parts = split_ranges(ranges, min_partitions=least, max_records=most)
    assert covered(parts) == {item.topic_partition: item.end for item in ranges}
    if most is not None:
        assert all(part.size <= most for part in parts)
    assert parts == split_ranges(ranges, min_partitions=least, max_records=most)


def test_min_partitions_cuts_the_large_ones():
    parts = split_ranges(make([1, 10_000]), min_partitions=4)
    assert [part.partition for part in parts] == [0, 1, 1, 1]


def test_max_records_comes_before_min_partitions():
    parts = split_ranges(make([100]), min_partitions=2, max_records=10)
    assert len(parts) == 10


def test_a_range_is_not_cut_below_one_offset():
    assert len(split_ranges(make([3]), min_partitions=10)) == 3


@given(sizes)
def test_packing_keeps_every_range_and_its_order(sizes):
    ranges = make(sizes)
    tasks = pack_ranges(ranges, limit=500)
    assert [item for task in tasks for item in task] == ranges
    assert all(len(task) == 1 or sum(i.size for i in task) <= 500 for task in tasks)


def test_small_ranges_share_a_task():
    assert len(pack_ranges(make([10] * 20))) == 1
    assert len(pack_ranges(make([PACKED_RECORDS, 1, PACKED_RECORDS]))) == 3
