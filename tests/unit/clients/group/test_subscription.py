"""The phases of a partition, and the subscribed topics."""

import re

import pytest

from barnabas.clients.group.subscription import (
    EARLIEST,
    LATEST,
    NONE,
    AssignedPartition,
    Phase,
    SubscriptionKind,
    SubscriptionState,
    parse_reset,
)
from barnabas.model.errors import ConfigError, LocalError
from barnabas.model.ids import TopicPartition
from barnabas.model.records import OffsetAndMetadata

TOPIC_PARTITION, OTHER = TopicPartition("t", 0), TopicPartition("t", 1)


def test_a_position_with_an_epoch_is_checked_first():
    state = AssignedPartition(TOPIC_PARTITION)
    state.move_to_checked(5, 2)
    assert (state.phase, state.offset, state.fetch_offset) == (Phase.VALIDATING, 5, 5)
    state.move_to_checked(5, -1)
    assert state.phase is Phase.FETCHING


def test_a_new_leader_epoch_calls_for_validation():
    state = AssignedPartition(TOPIC_PARTITION)
    state.move_to(5, epoch=2)
    state.leader_changed(3)
    assert state.phase is Phase.FETCHING, "the first epoch heard of is no change"
    state.fetch_offset, state.buffered_bytes, stamp = 50, 100, state.stamp
    state.leader_changed(4)
    assert (state.phase, state.fetch_offset, state.buffered_bytes) == (Phase.VALIDATING, 5, 0)
    assert state.stamp != stamp


def test_without_an_epoch_there_is_nothing_to_validate():
    state = AssignedPartition(TOPIC_PARTITION)
    state.move_to(5)
    state.leader_changed(3)
    state.leader_changed(4)
    assert state.phase is Phase.FETCHING


def test_lag_and_lead():
    state = AssignedPartition(TOPIC_PARTITION)
    assert (state.lag(False), state.lead()) == (None, None)
    state.move_to(5)
    state.high_watermark, state.last_stable_offset, state.log_start_offset = 12, 8, 2
    assert (state.lag(False), state.lag(True), state.lead()) == (7, 3, 3)


@pytest.mark.parametrize(
    ("text", "milliseconds"),
    [
        ("by_duration:PT1H", 3_600_000),
        ("by_duration:P1DT1M", 86_460_000),
        ("by_duration:PT0.5S", 500),
    ],
)
def test_durations(text, milliseconds):
    assert parse_reset(text).duration_ms == milliseconds
    assert parse_reset(text).timestamp_at(10**12) == 10**12 - milliseconds
    assert parse_reset(text).timestamp_at(5) == 0, "never one of the special timestamps"


def test_fixed_resets():
    assert (parse_reset("earliest"), parse_reset("latest")) == (EARLIEST, LATEST)
    assert parse_reset("none") is NONE
    assert NONE.is_none
    for wrong in ("by_duration:P", "by_duration:PT", "by_duration:1h", "by_duration:-PT1H"):
        with pytest.raises(ConfigError):
            parse_reset(wrong)


def test_ways_of_reading_exclude_each_other():
    subscription = SubscriptionState()
    subscription.subscribe(["t"], None)
    with pytest.raises(LocalError):
        subscription.assign([TOPIC_PARTITION])
    with pytest.raises(LocalError):
        subscription.subscribe_pattern(re.compile("t"), None)
    subscription.subscribe(["u"], None)
    subscription.unsubscribe()
    subscription.assign([TOPIC_PARTITION])
    assert subscription.kind is SubscriptionKind.ASSIGNED


def test_partitions_that_stay_keep_their_position():
    subscription = SubscriptionState()
    subscription.assign([TOPIC_PARTITION, OTHER])
    subscription.require(TOPIC_PARTITION).move_to(7)
    gone, stamp = subscription.require(OTHER), subscription.require(OTHER).stamp
    subscription.replace_assignment([TOPIC_PARTITION])
    assert subscription.consumed()[TOPIC_PARTITION].offset == 7
    assert gone.stamp != stamp
    with pytest.raises(LocalError, match="not assigned"):
        subscription.change([TOPIC_PARTITION, OTHER], lambda state: state.move_to(0))
    assert subscription.require(TOPIC_PARTITION).offset == 7, "all or nothing"


@pytest.fixture
def reading():
    """Two partitions at 7; the application processes the records 7 to 9 of the first one."""
    subscription = SubscriptionState()
    subscription.assign([TOPIC_PARTITION, OTHER])
    for topic_partition in (TOPIC_PARTITION, OTHER):
        subscription.require(topic_partition).move_to(7, epoch=2)
    first = subscription.require(TOPIC_PARTITION)
    subscription.begin_records(first)
    first.set_position(10, 3)
    return subscription


def processed(subscription):
    found = subscription.processed()
    return {partition: (at.offset, at.leader_epoch) for partition, at in found.items()}


def test_records_in_progress_are_not_processed(reading):
    assert processed(reading) == {TOPIC_PARTITION: (7, 2), OTHER: (7, 2)}
    assert reading.consumed()[TOPIC_PARTITION].offset == 10
    assert reading.has_records_in_progress
    reading.all_processed()
    assert processed(reading) == {TOPIC_PARTITION: (10, 3), OTHER: (7, 2)}
    assert not reading.has_records_in_progress


def test_more_records_of_a_partition_keep_the_first_position(reading):
    first = reading.require(TOPIC_PARTITION)
    reading.begin_records(first)
    first.set_position(12, 3)
    assert processed(reading)[TOPIC_PARTITION] == (7, 2)


def test_an_iteration_has_one_record_in_progress(reading):
    reading.begin_last_record(reading.require(TOPIC_PARTITION), 9, -1)
    assert processed(reading)[TOPIC_PARTITION] == (9, 2)
    reading.begin_last_record(reading.require(TOPIC_PARTITION), 9, 3)
    assert processed(reading)[TOPIC_PARTITION] == (9, 3)


@pytest.mark.parametrize(("target", "expected"), [(3, (3, -1)), (7, (7, 2)), (50, (7, 2))])
def test_a_seek_lowers_the_processed_position_only(reading, target, expected):
    reading.require(TOPIC_PARTITION).move_to(target)
    assert processed(reading)[TOPIC_PARTITION] == expected


def test_a_partition_whose_position_is_to_be_reset_is_left_out(reading):
    reading.require(TOPIC_PARTITION).request_reset(LATEST)
    assert processed(reading) == {OTHER: (7, 2)}


@pytest.mark.parametrize(("committed", "expected"), [(5, 7), (9, 9), (10, 10), (50, 10)])
def test_records_before_an_offset_that_the_application_commits_are_processed(
    reading, committed, expected
):
    reading.confirm({TOPIC_PARTITION: OffsetAndMetadata(committed, "text")})
    found = reading.processed()[TOPIC_PARTITION]
    assert found.offset == expected
    assert found.metadata == ("text" if expected == committed else "")


def test_an_earlier_commit_does_not_count_for_later_records(reading):
    """After a seek backwards the same records are in progress again."""
    reading.confirm(reading.consumed())
    first = reading.require(TOPIC_PARTITION)
    first.move_to(4)
    reading.all_processed()
    reading.begin_records(first)
    first.set_position(8, 3)
    assert processed(reading)[TOPIC_PARTITION] == (4, -1)


def test_a_partition_that_was_revoked_is_not_processed(reading):
    reading.replace_assignment([OTHER])
    assert processed(reading) == {OTHER: (7, 2)}
    reading.replace_assignment([TOPIC_PARTITION, OTHER])
    reading.require(TOPIC_PARTITION).move_to(20)
    assert processed(reading)[TOPIC_PARTITION] == (20, -1)
