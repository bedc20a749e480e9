"""Lag, leaving and joining: the pure rules."""

import pytest

from barnabas.replication.isr import (
    NEVER_MS,
    IsrState,
    ReplicaProgress,
    effective_min_insync,
    may_join,
    out_of_sync,
)


def progress_after(*fetches):
    progress = ReplicaProgress()
    for offset, leader_end, now in fetches:
        progress.record_fetch(offset, 0, leader_end, now)
    return progress


def test_a_fetch_at_the_leaders_end_is_caught_up_now():
    assert progress_after((10, 10, 500)).last_caught_up_ms == 500


def test_reaching_the_end_of_the_previous_fetch_counts_as_of_then():
    # The leader grows with every fetch; the follower is always one step behind, and in sync.
    progress = progress_after((0, 10, 100), (10, 20, 200), (20, 30, 300))
    assert progress.last_caught_up_ms == 200


def test_a_follower_that_falls_behind_keeps_its_old_time():
    progress = progress_after((10, 10, 100), (12, 50, 200), (14, 90, 300))
    assert progress.last_caught_up_ms == 100


def test_the_first_fetch_behind_the_end_is_not_caught_up():
    assert progress_after((5, 10, 100)).last_caught_up_ms == NEVER_MS


def test_caught_up_by_position_or_by_time():
    progress = progress_after((10, 10, 100))
    assert progress.is_caught_up(10, 10_000, 30)
    assert progress.is_caught_up(11, 130, 30)
    assert not progress.is_caught_up(11, 131, 30)


def test_a_new_epoch_forgives_members_only():
    inside, outside = progress_after((7, 10, 1)), progress_after((7, 10, 1))
    inside.start_epoch(in_sync=True, forget_position=True, now_ms=900)
    outside.start_epoch(in_sync=False, forget_position=False, now_ms=900)
    assert (inside.last_caught_up_ms, inside.log_end_offset) == (900, -1)
    assert (outside.last_caught_up_ms, outside.log_end_offset) == (NEVER_MS, 7)


def test_out_of_sync_names_laggards_and_never_the_leader():
    followers = {2: progress_after((10, 10, 100)), 3: progress_after((9, 10, 100))}
    assert out_of_sync({1, 2, 3}, followers, 20, 150, 100) == {3}
    assert out_of_sync({1, 2, 3}, followers, 20, 250, 100) == {2, 3}


@pytest.mark.parametrize(
    ("end", "watermark", "epoch_start", "allowed"),
    [(9, 10, 0, False), (10, 10, 0, True), (10, 10, 12, False), (12, 10, 12, True)],
)
def test_joining_needs_watermark_and_epoch_start(end, watermark, epoch_start, allowed):
    assert may_join(end, watermark, epoch_start) is allowed


def test_the_maximal_set_has_everyone_who_may_be_a_member():
    assert IsrState(frozenset({1, 2})).maximal == {1, 2}
    assert IsrState(frozenset({1, 2}), frozenset({1, 2, 3})).maximal == {1, 2, 3}
    assert IsrState(frozenset({1, 2}), frozenset({1})).maximal == {1, 2}


def test_min_insync_is_capped_by_the_replicas():
    assert effective_min_insync(2, (1,)) == 1
    assert effective_min_insync(2, (1, 2, 3)) == 2
    assert effective_min_insync(2, ()) == 1
