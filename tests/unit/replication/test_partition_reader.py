"""Results and errors of reads by consumers and followers."""

import pytest
from support.cluster.replicas import TP, Replica, code_of, state

from barnabas.model.error_codes import ErrorCode
from barnabas.model.records import IsolationLevel
from barnabas.replication import partition_reader
from barnabas.replication.epochs import LogEpochEnd
from barnabas.replication.partition_reader import (
    FoundOffset,
    end_offset_for_epoch,
    list_offset,
    needs_high_watermark,
)
from barnabas.replication.ports import FetchSpec
from barnabas.replication.throttle import ReplicationThrottle

LATEST, EARLIEST, MAX_TIMESTAMP = -1, -2, -3
COMMITTED = IsolationLevel.READ_COMMITTED


@pytest.fixture
def replica():
    """A leader with five records at epoch 2, three of them committed."""
    made = Replica()
    made.partition.make_leader(state(leader_epoch=2))
    made.append(*"abcde")
    for follower in (2, 3):
        partition_reader.read(
            made.partition, FetchSpec(3, 10, replica_id=follower, log_start_offset=0)
        )
    return made


def read(replica, offset=0, **fields):
    return partition_reader.read(replica.partition, FetchSpec(offset, 100, **fields))


def values(answer):
    return "".join(entry.value for entry in answer.slice or ())


def test_a_consumer_reads_below_the_watermark(replica):
    answer = read(replica, 1)
    assert values(answer) == "bc"
    assert (answer.high_watermark, answer.log_end_offset, answer.next_offset) == (3, 5, 3)
    assert values(read(replica, 3)) == values(read(replica, 5)) == ""


def test_a_follower_reads_to_the_end(replica):
    assert values(read(replica, 1, replica_id=2)) == "bcde"


def test_a_throttled_follower_gets_nothing_while_it_lags():
    throttle = ReplicationThrottle(lambda topic_partition: topic_partition == TP)
    replica = Replica(leader_throttle=throttle)
    replica.partition.make_leader(state(isr=(1, 2)))
    replica.append(*"abc")
    throttle.set_rate(10)
    throttle.record(TP, 30, replica.clock.monotonic_ms())
    held = read(replica, 0, replica_id=3)
    assert (values(held), held.log_end_offset) == ("", 3)
    assert replica.partition.leading.followers[3].log_end_offset == 0
    assert values(read(replica, 0, replica_id=2)) == "abc", "in sync"
    assert values(read(replica, 0)) == values(read(replica, 0, replica_id=-1)) == ""
    replica.clock.advance(3000)
    assert values(read(replica, 0, replica_id=3)) == "abc"


def test_read_committed_stops_before_open_transactions_and_names_aborted_ones(replica):
    replica.log.open_transactions = [2]
    replica.log.aborted = [("pid", 0), ("pid", 1), ("pid", 2)]
    answer = read(replica, 1, isolation=COMMITTED)
    assert values(answer) == "b"
    assert answer.last_stable_offset == 2
    assert list(answer.aborted) == [("pid", 1)]
    assert not read(replica, 1).aborted


@pytest.mark.parametrize("offset", [-1, 6])
@pytest.mark.parametrize("replica_id", [-1, 2])
def test_offsets_outside_the_log(replica, offset, replica_id):
    assert code_of(read, replica, offset, replica_id=replica_id) is ErrorCode.OFFSET_OUT_OF_RANGE


def test_an_out_of_range_follower_is_not_recorded(replica):
    code_of(read, replica, 6, replica_id=2)
    assert replica.partition.leading.followers[2].log_end_offset == 3


@pytest.mark.parametrize(
    ("epoch", "error"),
    [(1, ErrorCode.FENCED_LEADER_EPOCH), (3, ErrorCode.UNKNOWN_LEADER_EPOCH)],
)
def test_readers_of_another_epoch_are_fenced(replica, epoch, error):
    assert code_of(read, replica, current_leader_epoch=epoch) is error
    call = {"current_leader_epoch": epoch}
    assert code_of(list_offset, replica.partition, LATEST, **call) is error
    assert code_of(end_offset_for_epoch, replica.partition, 2, **call) is error


def test_a_stranger_may_not_fetch_as_a_replica(replica):
    assert code_of(read, replica, replica_id=7) is ErrorCode.UNKNOWN_LEADER_EPOCH


def test_followers_serve_only_those_who_allow_it(replica):
    replica.partition.make_follower(state(leader=2, leader_epoch=3))
    assert code_of(read, replica) is ErrorCode.NOT_LEADER_OR_FOLLOWER
    assert values(read(replica, leader_only=False)) == "abc"
    assert code_of(read, replica, replica_id=3) is ErrorCode.NOT_LEADER_OR_FOLLOWER


def test_divergence_is_answered_instead_of_data_and_not_recorded(replica):
    replica.partition.make_leader(state(leader_epoch=5))
    replica.append("f")
    answer = read(replica, 6, replica_id=2, last_fetched_epoch=4)
    assert answer.diverging_epoch == LogEpochEnd(2, 5)
    assert answer.slice is None
    assert replica.partition.leading.followers[2].log_end_offset == 3
    assert read(replica, 6, last_fetched_epoch=4).diverging_epoch == LogEpochEnd(2, 5)


def test_an_epoch_from_the_future_is_out_of_range(replica):
    error = code_of(read, replica, 3, replica_id=2, last_fetched_epoch=9)
    assert error is ErrorCode.OFFSET_OUT_OF_RANGE


def test_a_consumer_is_sent_to_the_member_in_its_rack():
    racks = {1: "a", 2: "b", 3: "b"}
    replica = Replica(rack_of=racks.get, is_alive=lambda broker: broker != 3)
    replica.partition.make_leader(state())
    replica.append("a")
    read(replica, 1, replica_id=2, log_start_offset=0)
    read(replica, 1, replica_id=3, log_start_offset=0)
    answer = read(replica, client_rack="b")
    assert (answer.preferred_read_replica, answer.slice) == (2, None)
    assert read(replica, client_rack="a").preferred_read_replica == -1
    assert read(replica, client_rack="c").preferred_read_replica == -1


# --- ListOffsets ---


def test_latest_by_isolation(replica):
    replica.log.open_transactions = [1]
    partition = replica.partition
    assert list_offset(partition, LATEST) == FoundOffset(3, leader_epoch=2)
    assert list_offset(partition, LATEST, isolation=COMMITTED).offset == 1
    assert list_offset(partition, LATEST, isolation=None).offset == 5


def test_earliest_is_the_log_start(replica):
    replica.partition.delete_records(2)
    assert list_offset(replica.partition, EARLIEST) == FoundOffset(2, leader_epoch=2)


def test_by_time_below_the_watermark_only(replica):
    now = replica.clock.now_ms()
    replica.clock.advance(10)
    replica.append("f")
    assert list_offset(replica.partition, now) == FoundOffset(0, now, 2)
    assert list_offset(replica.partition, now + 1) == FoundOffset()
    assert list_offset(replica.partition, now + 1, isolation=None).offset == 5
    assert list_offset(replica.partition, MAX_TIMESTAMP, isolation=None).offset == 5


def test_a_new_leader_does_not_let_latest_go_back(replica):
    partition = replica.partition
    partition.make_follower(state(leader=2, leader_epoch=3))
    partition.make_leader(state(leader_epoch=4))
    now = replica.clock.now_ms()
    assert code_of(list_offset, partition, LATEST) is ErrorCode.OFFSET_NOT_AVAILABLE
    assert code_of(list_offset, partition, now + 1) is ErrorCode.OFFSET_NOT_AVAILABLE
    assert list_offset(partition, now).offset == 0
    assert list_offset(partition, EARLIEST).offset == 0
    assert list_offset(partition, LATEST, isolation=None).offset == 5
    for follower in (2, 3):
        read(replica, 5, replica_id=follower)
    assert list_offset(partition, LATEST).offset == 5


def test_lookups_are_for_leaders_unless_told(replica):
    replica.partition.make_follower(state(leader=2, leader_epoch=3))
    error = code_of(list_offset, replica.partition, LATEST)
    assert error is ErrorCode.NOT_LEADER_OR_FOLLOWER
    assert list_offset(replica.partition, LATEST, leader_only=False).offset == 3


def test_end_of_an_epoch(replica):
    assert end_offset_for_epoch(replica.partition, 2) == LogEpochEnd(2, 5)
    assert end_offset_for_epoch(replica.partition, 9) == LogEpochEnd(-1, -1)


# Followers that consumers read from


def readers_world():
    racks = {1: "a", 2: "b", 3: "c"}
    replica = Replica(rack_of=racks.get)
    replica.partition.make_leader(state())
    for follower in (2, 3):
        partition_reader.read(replica.partition, FetchSpec(0, 100, replica_id=follower))
    return replica


def ask(replica, follower, offset):
    return partition_reader.read(
        replica.partition, FetchSpec(offset, 100, replica_id=follower)
    ).is_urgent


def send_reader(replica, rack="b", offset=0):
    found = partition_reader.read(
        replica.partition, FetchSpec(offset, 100, client_rack=rack, leader_only=False)
    )
    return found.preferred_read_replica


def test_a_follower_without_readers_is_not_told_early():
    replica = readers_world()
    replica.append("x")
    assert [ask(replica, follower, 1) for follower in (2, 3, 2)] == [False] * 3
    assert replica.log.high_watermark == 1
    assert not needs_high_watermark(replica.partition, 2)


def test_a_follower_with_readers_is_told_once():
    replica = readers_world()
    assert send_reader(replica) == 2
    assert ask(replica, 2, 0)  # what it was told before is not known
    assert not ask(replica, 2, 0)
    replica.append("x")
    assert not ask(replica, 2, 1)
    assert not needs_high_watermark(replica.partition, 2)
    assert not ask(replica, 3, 1)  # this moves the watermark
    assert replica.log.high_watermark == 1
    assert needs_high_watermark(replica.partition, 2)
    assert not needs_high_watermark(replica.partition, 3)
    assert ask(replica, 2, 1)
    assert not ask(replica, 2, 1)


def test_readers_are_forgotten_after_a_while():
    replica = readers_world()
    send_reader(replica)
    replica.clock.advance(600_000)
    assert not ask(replica, 2, 0)


def test_a_reader_wakes_the_fetch_that_waits():
    replica = readers_world()
    replica.listener.events.clear()
    send_reader(replica)
    assert [kind for kind, *_ in replica.listener.events] == ["hw"]
