"""Following a leader, step by step, against a real leader in the same process."""

import errno
from pathlib import Path

import pytest
from support.cluster.replicas import TP, Replica, state
from support.storage.memory_log import Entry

from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BrokerError, CorruptRecordError
from barnabas.replication import partition_reader
from barnabas.replication.epochs import LogEpochEnd
from barnabas.replication.fetcher import FollowState, ReplicaFetcher
from barnabas.replication.ports import (
    FetchedPartition,
    FetchSpec,
    LeaderOffsets,
    OffsetsPlan,
    ReplicaFetchLimits,
    ReplicaFetchPlan,
)
from barnabas.replication.throttle import ReplicationThrottle
from barnabas.storage.log_dirs import DirHealth

LIMITS = ReplicaFetchLimits(backoff_ms=50)


class Pair:
    """A leader, broker 1, and a follower, broker 2, with its fetcher."""

    def __init__(self, throttle=None, **follower_settings):
        self.leader, self.follower = Replica(1), Replica(2, **follower_settings)
        self.caught_up = []
        self.fetcher = ReplicaFetcher(1, LIMITS, self.caught_up.append, throttle)
        self.now = 0
        self.elect(0)

    def elect(self, epoch):
        for replica, role in ((self.leader, "make_leader"), (self.follower, "make_follower")):
            getattr(replica.partition, role)(state(leader_epoch=epoch, isr=(1, 2), replicas=(1, 2)))
        self.fetcher.add(self.follower.partition)

    def round(self):
        plan = self.fetcher.poll(self.now)
        self.fetcher.handle_fetched(plan, [self.serve(plan.partitions[0])], self.now)

    def serve(self, item):
        spec = FetchSpec(
            item.offset, 2, current_leader_epoch=item.leader_epoch, replica_id=2,
            last_fetched_epoch=item.last_fetched_epoch, log_start_offset=item.log_start_offset,
        )  # fmt: skip
        try:
            read = partition_reader.read(self.leader.partition, spec)
        except BrokerError as error:
            return FetchedPartition(TP, error.code)
        return FetchedPartition(
            TP, ErrorCode.NONE, read.high_watermark, read.log_start_offset, read.slice or [],
            read.diverging_epoch,
        )  # fmt: skip

    def answer(self, **fields):
        plan = self.fetcher.poll(self.now)
        self.fetcher.handle_fetched(plan, [FetchedPartition(TP, **fields)], self.now)


@pytest.fixture
def pair():
    return Pair()


def test_a_follower_copies_and_then_learns_what_is_committed(pair):
    pair.leader.append("a", "b", "c")
    pair.round()
    assert pair.follower.log.values() == ["a", "b"]
    assert pair.follower.log.high_watermark == 0
    pair.round()
    assert pair.follower.log.values() == ["a", "b", "c"]
    assert pair.follower.log.high_watermark == 2
    pair.round()
    assert pair.leader.log.high_watermark == pair.follower.log.high_watermark == 3
    assert pair.caught_up  # for a broker that must show that it holds everything


def test_a_diverged_follower_truncates_before_it_learns_anything(pair):
    pair.leader.append("a")
    pair.round()
    pair.round()
    pair.follower.log.append_as_follower([Entry(1, 3, "never committed")])
    pair.leader.append("b")
    pair.elect(5)
    pair.round()
    assert pair.follower.log.values() == ["a"]
    assert pair.follower.log.high_watermark == 1
    pair.round()
    assert pair.follower.log.values() == ["a", "b"]


def test_the_leaders_log_start_is_taken_over_below_the_watermark(pair):
    pair.leader.append("a", "b")
    pair.round()
    pair.round()
    pair.leader.partition.delete_records(1)
    pair.round()
    assert pair.follower.log.log_start_offset == 1


def test_an_answer_for_another_epoch_is_dropped(pair):
    pair.leader.append("a")
    plan = pair.fetcher.poll(0)
    answer = pair.serve(plan.partitions[0])
    pair.elect(1)
    pair.fetcher.handle_fetched(plan, [answer], 0)
    assert pair.follower.log.values() == []


def test_an_answer_that_comes_twice_is_applied_once(pair):
    pair.leader.append("a")
    plan = pair.fetcher.poll(0)
    answer = pair.serve(plan.partitions[0])
    for _ in range(2):
        pair.fetcher.handle_fetched(plan, [answer], 0)
    assert pair.follower.log.values() == ["a"]


def test_an_answer_after_leaving_or_leading_is_dropped(pair):
    pair.leader.append("a")
    plan = pair.fetcher.poll(0)
    answer = pair.serve(plan.partitions[0])
    pair.fetcher.remove(TP)
    pair.fetcher.handle_fetched(plan, [answer], 0)
    pair.fetcher.add(pair.follower.partition)
    pair.follower.partition.make_leader(
        state(leader=2, leader_epoch=0, partition_epoch=1, isr=(2,), replicas=(1, 2))
    )
    pair.fetcher.handle_fetched(plan, [answer], 0)
    assert pair.follower.log.values() == []


def test_an_answer_nobody_asked_for_is_dropped(pair):
    """Passes when an unrequested partition in the response raises no error."""
    plan = pair.fetcher.poll(0)
    stray = FetchedPartition(TP._replace(partition=7), records=[Entry(0, 0, "x")])
    pair.fetcher.handle_fetched(plan, [stray], 0)


@pytest.mark.parametrize(
    "error",
    [
        ErrorCode.UNKNOWN_LEADER_EPOCH,
        ErrorCode.NOT_LEADER_OR_FOLLOWER,
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
        ErrorCode.KAFKA_STORAGE_ERROR,
    ],
)
def test_a_source_that_is_not_ready_is_asked_again_later(pair, error):
    pair.answer(error=error)
    assert pair.fetcher.poll(49) is None
    assert pair.fetcher.wait_ms(20) == 30
    assert isinstance(pair.fetcher.poll(50), ReplicaFetchPlan)


def test_a_fenced_follower_waits_for_the_controller(pair):
    pair.answer(error=ErrorCode.FENCED_LEADER_EPOCH)
    assert pair.fetcher.state_of(TP) is FollowState.FENCED
    assert pair.fetcher.poll(10_000) is None
    assert pair.fetcher.wait_ms(0) is None
    pair.elect(1)
    assert isinstance(pair.fetcher.poll(0), ReplicaFetchPlan)


def test_a_repeated_command_does_not_restart_a_backoff(pair):
    pair.answer(error=ErrorCode.NOT_LEADER_OR_FOLLOWER)
    pair.fetcher.add(pair.follower.partition)
    assert pair.fetcher.poll(10) is None


def test_no_answer_at_all_backs_off(pair):
    pair.fetcher.handle_failure(pair.fetcher.poll(0), 0)
    assert pair.fetcher.poll(49) is None


def realign(pair, start, end, error=ErrorCode.NONE):
    pair.answer(error=ErrorCode.OFFSET_OUT_OF_RANGE)
    plan = pair.fetcher.poll(0)
    assert isinstance(plan, OffsetsPlan)
    pair.fetcher.handle_offsets(plan, [LeaderOffsets(TP, error, start, end)], 0)


def test_a_leader_that_starts_after_our_end_makes_us_start_over(pair):
    realign(pair, 40, 50)
    log = pair.follower.log
    assert (log.log_start_offset, log.log_end_offset, log.high_watermark) == (40, 40, 40)
    assert pair.fetcher.state_of(TP) is FollowState.FETCHING


def test_a_leader_that_ends_before_us_makes_us_truncate(pair):
    pair.leader.append("a", "b")
    pair.round()
    realign(pair, 0, 1)
    assert pair.follower.log.values() == ["a"]


def test_bounds_that_fit_change_nothing(pair):
    pair.leader.append("a", "b")
    pair.round()
    realign(pair, 1, 9)
    assert pair.follower.log.values() == ["a", "b"]
    assert pair.fetcher.poll(49) is None  # and asking again at once would be a busy loop


def test_bounds_that_cannot_be_had_are_asked_for_again(pair):
    realign(pair, -1, -1, error=ErrorCode.NOT_LEADER_OR_FOLLOWER)
    assert pair.fetcher.poll(0) is None
    assert isinstance(pair.fetcher.poll(50), OffsetsPlan)


def test_bounds_of_an_earlier_epoch_are_dropped(pair):
    pair.answer(error=ErrorCode.OFFSET_OUT_OF_RANGE)
    plan = pair.fetcher.poll(0)
    pair.elect(1)
    pair.fetcher.handle_offsets(plan, [LeaderOffsets(TP, ErrorCode.NONE, 40, 50)], 0)
    assert pair.follower.log.log_start_offset == 0


def break_appends(pair, error):
    def refuse(_batches):
        raise error

    pair.follower.log.append_as_follower = refuse
    pair.leader.append("a")
    pair.round()


def test_corrupt_records_are_fetched_again(pair):
    break_appends(pair, CorruptRecordError("bad checksum"))
    assert pair.fetcher.poll(49) is None
    assert isinstance(pair.fetcher.poll(50), ReplicaFetchPlan)


def test_a_failed_disk_ends_following(pair):
    break_appends(pair, BrokerError(ErrorCode.KAFKA_STORAGE_ERROR))
    assert pair.fetcher.state_of(TP) is FollowState.FAILED
    assert pair.fetcher.poll(10_000) is None


def test_a_failed_disk_may_remove_the_partition_during_the_append(pair, caplog):
    """The directory goes offline inside the append, and with it the replica leaves the fetcher."""

    def fail(_batches):
        pair.fetcher.remove(TP)
        raise BrokerError(ErrorCode.KAFKA_STORAGE_ERROR)

    pair.follower.log.append_as_follower = fail
    pair.leader.append("a")
    pair.round()
    assert pair.fetcher.poll(10_000) is None


def test_a_follower_on_a_full_disk_tries_again(pair, caplog):
    health = DirHealth(Path("/data"))
    break_appends(pair, health.write_failed(OSError(errno.ENOSPC, "No space left on device")))
    assert pair.fetcher.state_of(TP) is FollowState.FETCHING
    assert pair.fetcher.poll(49) is None
    assert isinstance(pair.fetcher.poll(50), ReplicaFetchPlan)
    assert len(caplog.records) == 1  # the directory's own line


def test_a_partition_that_received_data_goes_to_the_end_of_the_queue(pair):
    other = Replica(2).partition
    other.topic_partition = TP._replace(partition=1)
    other.make_follower(state(isr=(1, 2), replicas=(1, 2)))
    pair.fetcher.add(other)
    pair.leader.append("a")
    pair.round()
    order = [item.topic_partition.partition for item in pair.fetcher.poll(0).partitions]
    assert order == [1, 0]
    assert len(pair.fetcher) == 2
    assert TP in pair.fetcher


def test_offsets_are_reported_to_the_leader_after_the_flush():
    pair = Pair(request_flush=lambda _partition: None)
    pair.leader.append("a")
    pair.round()
    assert pair.fetcher.poll(0) is None
    assert pair.fetcher.wait_ms(0) is None
    partition = pair.follower.partition
    partition.flushed(partition.flush_ticket())
    assert pair.fetcher.poll(0).partitions[0].offset == 1


def test_divergence_is_followed_epoch_by_epoch(pair):
    pair.answer(diverging_epoch=LogEpochEnd(0, 0))
    assert pair.fetcher.poll(0).partitions[0].offset == 0


def test_a_throttled_partition_waits_its_turn():
    throttle = ReplicationThrottle(lambda topic_partition: topic_partition == TP)
    throttle.set_rate(1)
    pair = Pair(throttle)
    pair.leader.append("a", "b", "c")
    pair.leader.partition.raise_high_watermark(3)
    pair.round()  # two records: one second's worth too many
    assert pair.fetcher.poll(0) is None
    assert 0 < pair.fetcher.wait_ms(0) <= 1001
    assert isinstance(pair.fetcher.poll(1001), ReplicaFetchPlan)


def test_a_partition_that_its_leader_holds_back_has_not_caught_up(pair):
    pair.answer(high_watermark=5)
    assert not pair.fetcher.all_caught_up
    pair.answer(high_watermark=0)
    assert pair.fetcher.all_caught_up


def test_a_partition_that_has_all_that_is_committed_is_not_throttled():
    throttle = ReplicationThrottle(lambda topic_partition: topic_partition == TP)
    throttle.set_rate(1)
    pair = Pair(throttle)
    pair.leader.append("a", "b", "c")
    pair.leader.partition.raise_high_watermark(2)
    pair.round()
    assert throttle.wait_ms(TP, 0) > 0
    assert isinstance(pair.fetcher.poll(0), ReplicaFetchPlan)
