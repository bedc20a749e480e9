"""The pure watermark rules."""

from barnabas.replication.isr import ReplicaProgress, follower_high_watermark, leader_candidate


def at(offset):
    progress = ReplicaProgress()
    progress.log_end_offset = offset
    return progress


def test_the_slowest_counted_replica_decides():
    followers = {2: at(7), 3: at(4)}
    assert leader_candidate(10, followers, [2, 3]) == 4
    assert leader_candidate(10, followers, [2]) == 7
    assert leader_candidate(10, followers, []) == 10


def test_a_silent_member_holds_everything_back():
    assert leader_candidate(10, {2: ReplicaProgress()}, [2]) == -1


def test_a_member_without_a_replica_is_ignored():
    assert leader_candidate(10, {}, [2]) == 10


def test_a_follower_stays_inside_its_own_log():
    assert follower_high_watermark(10, own_end=8, own_start=0) == 8
    assert follower_high_watermark(5, own_end=8, own_start=0) == 5
    assert follower_high_watermark(5, own_end=8, own_start=6) == 6
