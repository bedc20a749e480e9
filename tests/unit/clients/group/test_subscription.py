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
