"""Commits never pass unfinished work."""

from hypothesis import given
from hypothesis import strategies as st

from barnabas.clients.group.process import OffsetTracker
from barnabas.model.ids import TopicPartition
from barnabas.records.record import Record

PLACE = TopicPartition("t", 0)


def records(*offsets):
    return [Record("t", 0, offset) for offset in offsets]


def test_the_oldest_unfinished_record_is_the_limit():
    tracker = OffsetTracker()
    first, second, third = records(3, 5, 9)
    tracker.begin(PLACE, [first, second, third])
    assert tracker.committable() == {}
    tracker.finish(PLACE, third)
    tracker.finish(PLACE, second)
    assert tracker.committable() == {}
    assert (tracker.unfinished(), tracker.first_unfinished(PLACE)) == (1, 3)
    tracker.finish(PLACE, first)
    assert tracker.committable()[PLACE].offset == 10
    assert tracker.wait([PLACE], 0)


def test_what_was_committed_is_not_committed_again():
    tracker = OffsetTracker()
    first, second = records(0, 1)
    tracker.begin(PLACE, [first, second])
    tracker.finish(PLACE, first)
    offsets = tracker.committable()
    assert offsets[PLACE].offset == 1
    tracker.committed(offsets)
    assert tracker.committable() == {}
    tracker.finish(PLACE, second)
    assert tracker.committable()[PLACE].offset == 2


def test_a_forgotten_partition_is_never_committed():
    tracker = OffsetTracker()
    (record,) = records(0)
    tracker.begin(PLACE, [record])
    assert not tracker.wait([PLACE], 0)
    tracker.forget([PLACE])
    assert tracker.wait([PLACE], 0)
    tracker.finish(PLACE, record)
    assert tracker.committable() == {}


def test_queued_records_behind_the_last_started_one_are_dropped():
    tracker = OffsetTracker()
    first, second, third, fourth = records(3, 5, 9, 11)
    tracker.begin(PLACE, [first, second, third, fourth])
    assert tracker.start(PLACE, second)
    tracker.drop_queued()
    assert tracker.start(PLACE, first), "without it the second one cannot be committed"
    assert not tracker.start(PLACE, third)
    assert not tracker.wait([PLACE], 0)
    tracker.finish(PLACE, second)
    tracker.finish(PLACE, first)
    assert tracker.wait([PLACE], 0)
    assert tracker.committable()[PLACE].offset == 6
    assert tracker.first_unfinished(PLACE) == 9


def test_only_the_given_partitions_drop_their_records():
    tracker, other = OffsetTracker(), TopicPartition("t", 1)
    tracker.begin(PLACE, records(0))
    tracker.begin(other, [Record("t", 1, 0)])
    tracker.drop_queued([PLACE])
    assert not tracker.start(PLACE, Record("t", 0, 0))
    assert tracker.start(other, Record("t", 1, 0))


def test_records_of_a_forgotten_partition_are_not_started():
    tracker = OffsetTracker()
    tracker.begin(PLACE, records(0))
    tracker.forget([PLACE])
    assert not tracker.start(PLACE, Record("t", 0, 0))


@given(st.permutations(range(12)), st.integers(0, 12))
def test_any_order_of_finishing(order, done):
    tracker = OffsetTracker()
    tracker.begin(PLACE, records(*range(12)))
    for offset in order[:done]:
        tracker.finish(PLACE, Record("t", 0, offset))
    missing = min(set(range(12)) - set(order[:done]), default=12)
    found = tracker.committable()
    assert found.get(PLACE) is None if missing == 0 else found[PLACE].offset == missing
