"""A replica's appends, watermark and in-sync set."""

import pytest
from support.cluster.replicas import Replica, code_of, fetch, leader, proposing_leader, state

from barnabas.model.error_codes import ErrorCode

# --- alone ---


def test_alone_an_append_is_committed_at_once():
    replica = Replica()
    replica.partition.make_leader(state(isr=(1,), replicas=(1,)))
    info = replica.append("a", "b")
    assert (info.first_offset, info.last_offset) == (0, 1)
    assert replica.log.high_watermark == 2
    assert replica.partition.ack_status(2, -1) is ErrorCode.NONE
    assert replica.listener.events == [("leader", 1), ("hw", 2), ("append", 2)]


def test_alone_min_insync_is_capped():
    replica = Replica(min_insync=2)
    replica.partition.make_leader(state(isr=(1,), replicas=(1,)))
    replica.append("a")
    assert replica.log.high_watermark == 1


def test_without_a_role_nothing_is_appended():
    replica = Replica()
    assert code_of(replica.append, "a") is ErrorCode.NOT_LEADER_OR_FOLLOWER
    assert replica.partition.ack_status(0, -1) is ErrorCode.NOT_LEADER_OR_FOLLOWER


# --- with followers ---


def test_the_watermark_waits_for_every_member():
    replica = leader()
    replica.append("a", "b")
    assert replica.log.high_watermark == 0
    fetch(replica, 2, 2)
    assert replica.log.high_watermark == 0
    fetch(replica, 3, 1)
    assert replica.log.high_watermark == 1
    assert replica.partition.ack_status(2, -1) is None
    assert fetch(replica, 3, 2).high_watermark == 2  # a follower learns at once what it committed
    assert replica.partition.ack_status(2, -1) is ErrorCode.NONE


def test_acks_one_does_not_wait():
    replica = leader()
    replica.append("a", acks=1)
    assert replica.partition.ack_status(1, 1) is ErrorCode.NONE


def test_too_few_members_reject_before_the_append():
    replica = Replica(min_insync=2)
    replica.partition.make_leader(state(isr=(1,)))
    assert code_of(replica.append, "a") is ErrorCode.NOT_ENOUGH_REPLICAS
    assert replica.log.log_end_offset == 0
    replica.append("a", acks=1)
    assert replica.log.high_watermark == 0  # nor is anything committed on too few
    assert replica.partition.is_under_min_insync


def test_members_lost_after_the_append_say_so():
    replica = leader(min_insync=2)
    replica.append("a")
    fetch(replica, 2, 1)
    fetch(replica, 3, 1)
    replica.append("b")
    replica.clock.advance(101)
    replica.partition.tick(replica.clock.monotonic_ms())
    replica.channel.commit()
    assert replica.partition.isr == {1}
    assert replica.partition.ack_status(1, -1) is ErrorCode.NOT_ENOUGH_REPLICAS_AFTER_APPEND
    assert replica.partition.ack_status(2, -1) is None


def test_a_laggard_is_proposed_out_and_the_watermark_follows():
    replica = leader()
    replica.append("a")
    replica.clock.advance(60)
    fetch(replica, 2, 1)
    replica.clock.advance(60)
    replica.partition.tick(replica.clock.monotonic_ms())
    assert replica.channel.proposed == [(1, 2)]
    assert replica.log.high_watermark == 0  # until the controller agrees
    replica.channel.commit()
    assert (replica.partition.isr, replica.partition.partition_epoch) == ({1, 2}, 1)
    assert replica.log.high_watermark == 1


def test_one_change_at_a_time():
    replica = leader()
    replica.append("a")
    replica.clock.advance(101)
    for _ in range(3):
        replica.partition.tick(replica.clock.monotonic_ms())
    assert len(replica.channel.pending) == 1


def test_a_joiner_is_counted_from_the_proposal_on():
    replica = Replica()
    replica.partition.make_leader(state(isr=(1,), replicas=(1, 2)))
    replica.append("a")
    assert replica.log.high_watermark == 1
    fetch(replica, 2, 1)
    assert replica.channel.proposed == [(1, 2)]
    replica.append("b")
    assert replica.log.high_watermark == 1  # 2 may be a member already
    replica.channel.commit()
    assert replica.log.high_watermark == 1
    fetch(replica, 2, 2)
    assert replica.log.high_watermark == 2


def test_a_follower_below_the_start_of_the_epoch_does_not_join_the_isr():
    replica = Replica()
    replica.partition.make_leader(state(isr=(1,), replicas=(1, 2)))
    replica.append("a", "b")
    replica.log.high_watermark = 1  # as a follower it knew no more
    replica.partition.make_follower(state(leader=2, leader_epoch=1, isr=(1,), replicas=(1, 2)))
    replica.partition.make_leader(
        state(leader_epoch=2, isr=(1, 3), replicas=(1, 2, 3), partition_epoch=2)
    )
    fetch(replica, 2, 1)
    assert not replica.channel.pending  # at the watermark, but below epoch 2's start at 2
    fetch(replica, 2, 2)
    assert replica.channel.proposed == [(1, 2, 3)]


def test_a_dead_broker_does_not_join():
    replica = Replica(is_alive=lambda broker: broker != 2)
    replica.partition.make_leader(state(isr=(1,), replicas=(1, 2)))
    fetch(replica, 2, 0)
    assert not replica.channel.pending


def test_the_watermark_waits_for_followers_about_to_join():
    replica = Replica()
    replica.partition.make_leader(state(isr=(1,), replicas=(1, 2)))
    replica.append("a")
    fetch(replica, 2, 1)
    replica.channel.refuse(ErrorCode.INELIGIBLE_REPLICA)
    replica.append("b")
    assert replica.log.high_watermark == 1
    replica.clock.advance(101)
    replica.partition.tick(replica.clock.monotonic_ms())
    assert replica.log.high_watermark == 2


def test_the_watermark_does_not_wait_for_a_follower_that_has_left():
    left = set()
    replica = Replica(is_alive=lambda broker: broker not in left)
    replica.partition.make_leader(state(isr=(1,), replicas=(1, 2)))
    replica.append("a")
    fetch(replica, 2, 1)
    replica.channel.refuse(ErrorCode.INELIGIBLE_REPLICA)
    replica.append("b")
    assert replica.log.high_watermark == 1
    left.add(2)
    replica.partition.tick(replica.clock.monotonic_ms())
    assert replica.log.high_watermark == 2


# --- answers to proposals ---


@pytest.mark.parametrize("error", [ErrorCode.OPERATION_NOT_ATTEMPTED, ErrorCode.INELIGIBLE_REPLICA])
def test_a_change_that_was_not_made_is_taken_back(error):
    replica = proposing_leader()
    replica.channel.refuse(error)
    replica.partition.tick(replica.clock.monotonic_ms())
    assert len(replica.channel.pending) == 1  # proposed anew


@pytest.mark.parametrize("error", [ErrorCode.REQUEST_TIMED_OUT, ErrorCode.NOT_CONTROLLER])
def test_an_unknown_outcome_is_asked_again_unchanged(error):
    replica = proposing_leader()
    first = replica.channel.refuse(error)
    assert not replica.channel.pending
    replica.partition.tick(replica.clock.monotonic_ms())
    assert replica.channel.commit() is first
    assert replica.partition.isr == {1, 2}


def test_a_proposal_that_may_still_arrive_blocks_the_next_one():
    replica = Replica(request_lifetime_ms=500)
    replica.partition.make_leader(state(isr=(1,), replicas=(1, 2)))
    fetch(replica, 2, 0)
    replica.channel.refuse(ErrorCode.REQUEST_TIMED_OUT)  # given up, but perhaps on its way
    replica.partition.tick(replica.clock.monotonic_ms())
    replica.channel.refuse(ErrorCode.INELIGIBLE_REPLICA)
    assert replica.partition.leading.isr.maximal == {1, 2}
    replica.clock.advance(500)
    replica.partition.tick(replica.clock.monotonic_ms())
    replica.channel.refuse(ErrorCode.INELIGIBLE_REPLICA)
    assert replica.partition.leading.isr.maximal == {1}


def test_a_version_conflict_with_the_state_in_force_is_taken_over():
    from barnabas.model.control import AlterPartitionReply

    replica = proposing_leader()
    _, on_reply = replica.channel.pending.pop()
    on_reply(AlterPartitionReply(ErrorCode.INVALID_UPDATE_VERSION, 1, 0, (1, 2), 4))
    assert (replica.partition.isr, replica.partition.partition_epoch) == ({1, 2}, 4)


def test_a_version_conflict_alone_waits_for_the_controller():
    replica = proposing_leader()
    replica.channel.refuse(ErrorCode.INVALID_UPDATE_VERSION)
    replica.partition.tick(replica.clock.monotonic_ms())
    assert not replica.channel.pending
    replica.partition.make_leader(state(leader_epoch=1, isr=(1, 2), partition_epoch=3))
    assert replica.partition.isr == {1, 2}


def test_an_answer_overtaken_by_the_controller_is_ignored():
    replica = proposing_leader()
    replica.partition.make_leader(state(leader_epoch=1, isr=(1, 3), partition_epoch=7))
    replica.channel.commit()
    assert (replica.partition.isr, replica.partition.partition_epoch) == ({1, 3}, 7)


# --- fsync before acknowledgement ---


def test_nothing_is_committed_before_the_flush():
    asked = []
    replica = Replica(request_flush=asked.append)
    replica.partition.make_leader(state(isr=(1,), replicas=(1,)))
    replica.append("a")
    assert asked == [replica.partition]
    ticket = replica.partition.flush_ticket()
    replica.append("b")
    assert replica.partition.ack_status(1, 1) is None
    replica.partition.flushed(ticket)
    assert replica.log.high_watermark == 1
    assert replica.partition.ack_status(1, 1) is ErrorCode.NONE
    assert replica.partition.ack_status(2, 1) is None


def test_a_flush_that_commits_nothing_still_wakes_acks_one():
    replica = Replica(request_flush=lambda _partition: None)
    replica.partition.make_leader(state())
    replica.append("a", acks=1)
    replica.partition.flushed(replica.partition.flush_ticket())
    assert replica.listener.events[-1] == ("hw", 0)
    assert replica.partition.ack_status(1, 1) is ErrorCode.NONE


# --- deleting records ---


def test_delete_records_stays_below_the_watermark():
    replica = leader()
    replica.append("a", "b", "c")
    fetch(replica, 2, 2)
    fetch(replica, 3, 2)
    assert code_of(replica.partition.delete_records, 3) is ErrorCode.OFFSET_OUT_OF_RANGE
    assert replica.partition.delete_records(1) == 1
    assert replica.partition.delete_records(-1) == 2
    assert replica.partition.delete_records(0) == 2
    assert replica.partition.low_watermark == 0  # the followers have not deleted yet


def test_delete_records_is_for_leaders():
    replica = Replica()
    assert code_of(replica.partition.delete_records, 0) is ErrorCode.NOT_LEADER_OR_FOLLOWER
