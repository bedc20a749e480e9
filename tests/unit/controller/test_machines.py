"""The smaller pure machines: states, reassignment, deletion, imbalance, in-sync changes."""

import itertools

import pytest

from barnabas.controller.machines.assignment import (
    abandoned,
    is_complete,
    reassign,
    target_problem,
)
from barnabas.controller.machines.leader_election import (
    EligibleBrokers,
    LeaderAndIsr,
    LeaderImbalance,
    leader_imbalances,
    validate_isr_change,
)
from barnabas.controller.machines.states import (
    PARTITION_MOVES,
    REPLICA_MOVES,
    DeletionStep,
    IllegalTransitionError,
    PartitionStatus,
    ReplicaStatus,
    check_partition_move,
    check_replica_move,
    next_deletion_step,
)
from barnabas.model.control import AlterPartitionChange, LeaderRecoveryState
from barnabas.model.ids import ZERO_UUID, ReplicaAssignment, TopicPartition

T0, T1, T2 = (TopicPartition("t", p) for p in range(3))
R = ReplicaStatus


@pytest.mark.parametrize(
    ("moves", "check"),
    [(PARTITION_MOVES, check_partition_move), (REPLICA_MOVES, check_replica_move)],
    ids=["partition", "replica"],
)
def test_only_listed_moves_are_allowed(moves, check):
    for old, new in itertools.product(moves, repeat=2):
        if old in moves[new]:
            check("it", old, new)
        else:
            with pytest.raises(IllegalTransitionError):
                check("it", old, new)


def test_every_status_can_be_left_and_entered():
    for moves, members in ((PARTITION_MOVES, PartitionStatus), (REPLICA_MOVES, ReplicaStatus)):
        assert set(moves) == set(members)
        assert set().union(*moves.values()) == set(members)


def test_reassignment_goes_through_the_union():
    moving = reassign(ReplicaAssignment((1, 2, 3)), (4, 3))
    assert moving == ReplicaAssignment((4, 3, 1, 2), (4,), (1, 2))
    assert moving.target == (4, 3)
    assert set(moving.origin) == {1, 2, 3}


def test_replaced_reassignment_starts_from_the_origin():
    first = reassign(ReplicaAssignment((1, 2)), (3, 4))
    second = reassign(first, (5, 1))
    assert second == ReplicaAssignment((5, 1, 2), (5,), (2,))
    assert abandoned(first, second) == (3, 4)


def test_cancelling_is_reassigning_to_the_origin():
    moving = reassign(ReplicaAssignment((1, 2)), (3,))
    back = reassign(moving, moving.origin)
    assert not back.is_reassigning
    assert abandoned(moving, back) == (3,)


def test_complete_when_all_targets_are_in_sync():
    moving = reassign(ReplicaAssignment((1, 2)), (3, 4))
    assert not is_complete(moving, (1, 2, 3))
    assert is_complete(moving, (4, 3, 1))


@pytest.mark.parametrize(
    ("target", "bad"),
    [((1, 2), False), ((3,), False), ((), True), ((1, 1), True), ((-1,), True), ((9,), True)],
)
def test_invalid_targets_of_a_reassignment_are_found(target, bad):
    problem = target_problem(ReplicaAssignment((1, 2)), target, {3})
    assert (problem is not None) == bad


def test_a_target_with_more_replicas_than_brokers_is_not_printed():
    problem = target_problem(ReplicaAssignment((1, 2)), tuple(range(100_000)), {3})
    assert problem is not None
    assert problem[1] == "100000 replicas are more than the 3 brokers"


@pytest.mark.parametrize(
    ("statuses", "eligible", "step"),
    [
        ([R.DELETION_SUCCESSFUL, R.DELETION_SUCCESSFUL], True, DeletionStep.FINISH),
        ([R.DELETION_SUCCESSFUL], False, DeletionStep.FINISH),
        ([R.DELETION_SUCCESSFUL, R.DELETION_STARTED], True, DeletionStep.WAIT),
        ([R.DELETION_INELIGIBLE, R.DELETION_SUCCESSFUL], True, DeletionStep.START),
        ([R.DELETION_INELIGIBLE, R.DELETION_SUCCESSFUL], False, DeletionStep.WAIT),
        ([R.ONLINE, R.OFFLINE], True, DeletionStep.START),
        ([R.ONLINE], False, DeletionStep.WAIT),
    ],
)
def test_next_step_of_a_deletion(statuses, eligible, step):
    assert next_deletion_step(statuses, eligible=eligible) is step


def test_drift_is_counted_per_preferred_broker():
    imbalance = leader_imbalances({T0: (1, 1), T1: (1, 2), T2: (2, 2)})
    assert imbalance == {1: LeaderImbalance((T1,), 2), 2: LeaderImbalance((), 1)}
    assert (imbalance[1].percentage, imbalance[2].percentage) == (50.0, 0.0)


CURRENT = LeaderAndIsr(1, 5, (1, 2), 10)
ELIGIBLE = EligibleBrokers({1: 100, 2: 200, 3: 300, 4: 400}, frozenset({4}))


def proposal(isr, *, leader_epoch=5, partition_epoch=10, epochs=(), recovering=False):
    recovery = LeaderRecoveryState(int(recovering))
    return AlterPartitionChange(T0, ZERO_UUID, leader_epoch, partition_epoch, isr, epochs, recovery)


@pytest.mark.parametrize(
    ("sender", "change", "error"),
    [
        pytest.param(1, proposal((1, 2, 3)), "NONE", id="grow"),
        pytest.param(1, proposal((1,)), "NONE", id="shrink"),
        pytest.param(1, proposal((1, 2, 3), epochs=(100, 200, 300)), "NONE", id="right epochs"),
        pytest.param(1, proposal((1, 2, 3), epochs=(-1, -1, -1)), "NONE", id="epochs not known"),
        pytest.param(
            1,
            proposal((1, 2, 3), epochs=(100, 200, 299)),
            "INELIGIBLE_REPLICA",
            id="old incarnation (KIP-903)",
        ),
        pytest.param(1, proposal((1, 9)), "INELIGIBLE_REPLICA", id="dead"),
        pytest.param(1, proposal((1, 4)), "INELIGIBLE_REPLICA", id="shutting down (KIP-841)"),
        pytest.param(1, proposal((1,), leader_epoch=4), "FENCED_LEADER_EPOCH", id="old leader"),
        pytest.param(1, proposal((1,), leader_epoch=6), "NOT_CONTROLLER", id="newer leader"),
        pytest.param(1, proposal((1,), partition_epoch=11), "NOT_CONTROLLER", id="newer state"),
        pytest.param(
            1, proposal((1,), partition_epoch=9), "INVALID_UPDATE_VERSION", id="older state"
        ),
        pytest.param(2, proposal((1, 2, 3)), "INVALID_REQUEST", id="not the leader"),
        pytest.param(1, proposal((2,)), "INVALID_REQUEST", id="without itself"),
        pytest.param(1, proposal((1, 1)), "INVALID_REQUEST", id="twice"),
        pytest.param(1, proposal((1,), recovering=True), "INVALID_REQUEST", id="into recovery"),
    ],
)
def test_in_sync_proposals(sender, change, error):
    verdict = validate_isr_change(sender, change, CURRENT, ELIGIBLE)
    assert verdict.error.name == error
    assert (verdict.accepted is not None) == (error == "NONE")


def test_accepted_proposal_keeps_leader_and_epoch():
    accepted = validate_isr_change(1, proposal((1, 2, 3)), CURRENT, ELIGIBLE).accepted
    assert accepted == LeaderAndIsr(1, 5, (1, 2, 3), 10)


def test_repeated_proposal_is_already_in_force():
    verdict = validate_isr_change(1, proposal((1, 2), partition_epoch=9), CURRENT, ELIGIBLE)
    assert (verdict.error.name, verdict.accepted) == ("NONE", None)
