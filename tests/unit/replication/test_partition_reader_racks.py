"""Rack-aware choice of a replica to read from."""

from barnabas.replication.partition_reader import ReplicaView, rack_aware_replica

LEADER = ReplicaView(1, "a", 0, 0, is_leader=True)


def test_stays_with_the_leader_without_a_rack_or_a_neighbour():
    near = ReplicaView(2, "b", 0, 10)
    assert rack_aware_replica(None, 5, [LEADER, near]) is None
    assert rack_aware_replica("", 5, [LEADER, near]) is None
    assert rack_aware_replica("c", 5, [LEADER, near]) is None


def test_the_leader_wins_in_its_own_rack():
    assert rack_aware_replica("a", 5, [LEADER, ReplicaView(2, "a", 0, 10)]) is None


def test_the_most_caught_up_neighbour_that_holds_the_offset():
    replicas = [LEADER, ReplicaView(2, "b", 0, 8), ReplicaView(3, "b", 0, 10)]
    assert rack_aware_replica("b", 5, replicas) == 3
    assert rack_aware_replica("b", 11, replicas) is None
    assert rack_aware_replica("b", 5, [LEADER, ReplicaView(2, "b", 6, 8)]) is None


def test_a_tie_goes_to_the_lower_id():
    replicas = [LEADER, ReplicaView(3, "b", 0, 10), ReplicaView(2, "b", 0, 10)]
    assert rack_aware_replica("b", 5, replicas) == 2
