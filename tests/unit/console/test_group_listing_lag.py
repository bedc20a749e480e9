"""Lag of groups: sums, time and trend."""

import pytest

from barnabas.console.models.groups import ResetBody
from barnabas.console.services.group_listing import (
    LagHistory,
    catch_up_seconds,
    partition_lags,
    total_lag,
)
from barnabas.console.services.group_resets import planned_offset
from barnabas.model.ids import TopicPartition

A, B = TopicPartition("t", 0), TopicPartition("t", 1)


def test_lag_is_the_distance_to_the_log_end_and_the_age_of_the_next_record():
    lags = partition_lags({A: 4, B: 9}, (), {A: 10, B: 9}, {A: 5_000}, now_ms=8_000)
    assert [(lag.records, lag.seconds) for lag in lags] == [(6, 3.0), (0, 0.0)]
    assert (total_lag(lags).records, total_lag(lags).seconds) == (6, 3.0)


def test_a_partition_without_committed_offset_has_no_lag():
    (lag,) = partition_lags({}, [A], {A: 10}, {}, now_ms=0)
    assert (lag.records, lag.seconds) == (None, None)


def test_the_time_of_a_group_is_unknown_if_one_record_cannot_be_read():
    lags = partition_lags({A: 4, B: 4}, (), {A: 10, B: 10}, {A: 5_000}, now_ms=8_000)
    assert total_lag(lags).seconds is None


def test_a_committed_offset_behind_a_truncated_log_counts_no_negative_lag():
    (lag,) = partition_lags({A: 20}, (), {A: 10}, {}, now_ms=0)
    assert lag.records == 0


def test_the_trend_covers_the_last_minute():
    history = LagHistory()
    assert history.add("g", 1000, 0.0).change_per_second is None
    assert history.add("g", 800, 10.0).change_per_second == -20.0
    trend = history.add("g", 400, 30.0)
    assert (trend.change_per_second, trend.catch_up_seconds) == (-20.0, 20.0)
    assert history.add("g", 400, 75.0).change_per_second == pytest.approx(-400 / 65)
    assert history.add("g", 400, 131.0).change_per_second == 0.0


def test_catch_up_is_unknown_while_the_lag_grows():
    assert catch_up_seconds(10, 1.0) is None
    assert catch_up_seconds(0, 1.0) == 0.0


@pytest.mark.parametrize(
    ("current", "wanted", "new", "again", "skipped"),
    [
        (50, 0, 10, 40, 0),
        (50, 500, 100, 0, 50),
        (None, 10, 10, 0, 0),
        (5, 10, 10, 0, 0),
        (150, 100, 100, 0, 0),
    ],
)
def test_a_planned_offset_is_limited_to_the_log(current, wanted, new, again, skipped):
    planned = planned_offset(A, current, wanted, start=10, end=100)
    assert (planned.new, planned.again, planned.skipped) == (new, again, skipped)


@pytest.mark.parametrize(
    "fields",
    [
        {"rule": "offset"},
        {"rule": "offset", "value": -1},
        {"rule": "time"},
        {"rule": "earliest", "partitions": [0]},
    ],
)
def test_an_incomplete_reset_is_rejected(fields):
    with pytest.raises(ValueError, match=r"needs|negative|need a topic"):
        ResetBody(**fields)
