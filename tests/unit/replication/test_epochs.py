"""Fencing, divergence and truncation by epoch."""

import pytest
from support.storage.memory_log import Entry, MemoryLog

from barnabas.model.error_codes import ErrorCode
from barnabas.replication.epochs import (
    UNDEFINED,
    LogEpochEnd,
    check_leader_epoch,
    divergence,
    truncation_point,
)


def log_of(*epochs):
    """A log with one record per given epoch."""
    log = MemoryLog()
    for offset, epoch in enumerate(epochs):
        log.append_as_follower([Entry(offset, epoch, f"{epoch}@{offset}")])
    return log


@pytest.mark.parametrize(
    ("requested", "error"),
    [
        (-1, ErrorCode.NONE),
        (5, ErrorCode.NONE),
        (4, ErrorCode.FENCED_LEADER_EPOCH),
        (6, ErrorCode.UNKNOWN_LEADER_EPOCH),
    ],
)
def test_fencing_by_epoch(requested, error):
    assert check_leader_epoch(requested, 5) is error


def test_logs_that_agree_do_not_diverge():
    leader = log_of(0, 0, 1, 1)
    assert divergence(leader, 1, 4) is None
    assert divergence(leader, 0, 2) is None


def test_a_follower_past_the_end_of_its_epoch_diverges_there():
    leader = log_of(0, 0, 1, 1)
    assert divergence(leader, 0, 3) == LogEpochEnd(0, 2)


def test_an_epoch_the_leader_never_saw_diverges_at_the_one_before():
    leader = log_of(0, 0, 2, 2)
    assert divergence(leader, 1, 3) == LogEpochEnd(0, 2)


def test_an_epoch_newer_than_all_of_ours_is_undefined():
    assert divergence(log_of(0, 0), 7, 2) == UNDEFINED


def test_truncation_with_a_common_epoch_takes_the_smaller_end():
    assert truncation_point(log_of(0, 0, 0), LogEpochEnd(0, 2)) == 2
    assert truncation_point(log_of(0, 1, 1), LogEpochEnd(0, 2)) == 1


def test_truncation_without_a_common_epoch_goes_back_one_epoch_of_ours():
    # KIP-279: the leader's epoch 2 is unknown here; our largest smaller one ends at 1.
    follower = log_of(1, 3, 3)
    assert truncation_point(follower, LogEpochEnd(2, 3)) == 1


def test_truncation_of_a_log_without_epochs_trusts_the_leader():
    follower = log_of(0, 0)
    follower.epoch_entries.clear()
    assert truncation_point(follower, LogEpochEnd(0, 1)) == 1


def test_iterating_finds_the_last_common_record():
    leader = log_of(0, 0, 1, 1, 4, 4)
    follower = log_of(0, 0, 1, 2, 3, 3, 3)
    rounds = 0
    while (found := divergence(leader, follower.latest_epoch, follower.log_end_offset)) is not None:
        follower.truncate_to(truncation_point(follower, found))
        rounds += 1
    assert follower.log_end_offset == 3
    assert rounds <= 3
