"""Commits never pass unfinished work."""

from hypothesis import given
from hypothesis import strategies as st

from barnabas.clients.group.process import OffsetTracker
from barnabas.model.ids import TopicPartition
from barnabas.records.record import Record

TOPIC_PARTITION = TopicPartition("t", 0)


def records(*offsets):
    return [Record("t", 0, offset) for offset in offsets]


def test_the_oldest_unfinished_record_is_the_limit():
    tracker = OffsetTracker()
    first, second, third = records(3, 5, 9)
    tracker.begin(TOPIC_PARTITION, [first, second, third])
    assert tracker.committable() == {}
    tracker.finish(TOPIC_PARTITION, third)
    tracker.finish(TOPIC_PARTITION, second)
    assert tracker.committable() == {}
    assert (tracker.unfinished(), tracker.first_unfinished(TOPIC_PARTITION)) == (1, 3)
    tracker.finish(TOPIC_PARTITION, first)
    assert tracker.committable()[TOPIC_PARTITION].offset == 10
    assert tracker.wait([TOPIC_PARTITION], 0)


def test_committed_offsets_are_not_committed_again():
    tracker = OffsetTracker()
    first, second = records(0, 1)
    tracker.begin(TOPIC_PARTITION, [first, second])
    tracker.finish(TOPIC_PARTITION, first)
    offsets = tracker.committable()
    assert offsets[TOPIC_PARTITION].offset == 1
    tracker.committed(offsets)
    assert tracker.committable() == {}
    tracker.finish(TOPIC_PARTITION, second)
    assert tracker.committable()[TOPIC_PARTITION].offset == 2


def test_a_forgotten_partition_is_never_committed():
    tracker = OffsetTracker()
    (record,) = records(0)
    tracker.begin(TOPIC_PARTITION, [record])
    assert not tracker.wait([TOPIC_PARTITION], 0)
    tracker.forget([TOPIC_PARTITION])
    assert tracker.wait([TOPIC_PARTITION], 0)
    tracker.finish(TOPIC_PARTITION, record)
    assert tracker.committable() == {}


def test_queued_records_behind_the_last_started_one_are_dropped():
    tracker = OffsetTracker()
    first, second, third, fourth = records(3, 5, 9, 11)
    tracker.begin(TOPIC_PARTITION, [first, second, third, fourth])
    assert tracker.start(TOPIC_PARTITION, second)
    tracker.drop_queued()
    assert tracker.start(TOPIC_PARTITION, first), "without it the second one cannot be committed"
    assert not tracker.start(TOPIC_PARTITION, third)
    assert not tracker.wait([TOPIC_PARTITION], 0)
    tracker.finish(TOPIC_PARTITION, second)
    tracker.finish(TOPIC_PARTITION, first)
    assert tracker.wait([TOPIC_PARTITION], 0)
    assert tracker.committable()[TOPIC_PARTITION].offset == 6
    assert tracker.first_unfinished(TOPIC_PARTITION) == 9


def test_only_the_given_partitions_drop_their_records():
    tracker, other = OffsetTracker(), TopicPartition("t", 1)
    tracker.begin(TOPIC_PARTITION, records(0))
    tracker.begin(other, [Record("t", 1, 0)])
    tracker.drop_queued([TOPIC_PARTITION])
    assert not tracker.start(TOPIC_PARTITION, Record("t", 0, 0))
    assert tracker.start(other, Record("t", 1, 0))


def test_records_of_a_forgotten_partition_are_not_started():
    tracker = OffsetTracker()
    tracker.begin(TOPIC_PARTITION, records(0))
    tracker.forget([TOPIC_PARTITION])
    assert not tracker.start(TOPIC_PARTITION, Record("t", 0, 0))


@given(st.permutations(range(12)), st.integers(0, 12))
def test_any_order_of_finishing(order, done):
    tracker = OffsetTracker()
    tracker.begin(TOPIC_PARTITION, records(*range(12)))
    for offset in order[:done]:
        tracker.finish(TOPIC_PARTITION, Record("t", 0, offset))
    missing = min(set(range(12)) - set(order[:done]), default=12)
    found = tracker.committable()
    assert (
        found.get(TOPIC_PARTITION) is None
        if missing == 0
        else found[TOPIC_PARTITION].offset == missing
    )
