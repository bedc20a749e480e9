"""Commands to become leader or follower, also repeated and out of order."""

from support.cluster.replicas import code_of, fetch, leader, proposing_leader, state

from barnabas.model.error_codes import ErrorCode


def test_a_repeated_command_keeps_a_proposal_in_flight():
    replica = proposing_leader()
    assert not replica.partition.make_leader(state())
    assert replica.partition.leading.isr.in_flight


def test_an_older_command_changes_nothing():
    replica = leader()
    replica.partition.make_leader(state(leader_epoch=3, isr=(1, 2)))
    assert not replica.partition.make_leader(state(leader_epoch=2))
    assert not replica.partition.make_follower(state(leader=2, leader_epoch=3))
    assert replica.partition.is_leader
    assert replica.partition.isr == {1, 2}


def test_a_new_leader_records_its_epoch_before_any_append():
    replica = leader()
    replica.append("a")
    replica.partition.make_leader(state(leader_epoch=4))
    assert replica.log.end_offset_for_epoch(4) == (4, 1)
    assert replica.log.end_offset_for_epoch(0) == (0, 1)


def test_a_leader_that_is_elected_again_keeps_the_positions_of_its_followers():
    replica = leader()
    replica.append("a")
    fetch(replica, 2, 1)
    replica.partition.make_leader(state(leader_epoch=1))
    assert replica.partition.leading.followers[2].log_end_offset == 1
    replica.partition.make_follower(state(leader=2, leader_epoch=2))
    replica.partition.make_leader(state(leader_epoch=3))
    assert replica.partition.leading.followers[2].log_end_offset == -1


def test_a_follower_neither_appends_nor_answers():
    replica = leader()
    replica.append("a")
    replica.partition.make_follower(state(leader=2, leader_epoch=1))
    assert code_of(replica.append, "b") is ErrorCode.NOT_LEADER_OR_FOLLOWER
    assert replica.partition.ack_status(1, -1) is ErrorCode.NOT_LEADER_OR_FOLLOWER
    assert replica.listener.events[-1] == ("leader", 2)


def test_leading_again_does_not_acknowledge_what_was_appended_before():
    replica = leader()
    replica.append("a")
    replica.partition.make_leader(state(leader_epoch=1, isr=(1,)))
    assert replica.partition.ack_status(1, -1, leader_epoch=0) is ErrorCode.NONE  # led all along
    replica.partition.make_follower(state(leader=2, leader_epoch=2))
    replica.partition.make_leader(state(leader_epoch=3, isr=(1,)))
    lost = replica.partition.ack_status(1, -1, leader_epoch=1)
    assert lost is ErrorCode.NOT_LEADER_OR_FOLLOWER


def test_resigning_ends_a_leadership():
    replica = leader()
    replica.partition.resign()
    assert not replica.partition.is_leader
    assert replica.partition.isr == {1, 2, 3}
    assert replica.listener.events[-1] == ("leader", -1)
