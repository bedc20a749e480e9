"""The states of a classic group, the responses in each state, and the allowed transitions."""

import enum


class ClassicState(enum.Enum):
    """Values are the names ListGroups and DescribeGroups show.

    EMPTY: no members; offsets may remain.
        JoinGroup starts a rebalance; Heartbeat, SyncGroup, LeaveGroup get UNKNOWN_MEMBER_ID;
        commits without generation are stored. -> PREPARING (first join), DEAD (removed).
    PREPARING_REBALANCE: waiting for the members to (re)join.
        JoinGroup is parked; Heartbeat and SyncGroup get REBALANCE_IN_PROGRESS; commits of the
        last generation are stored. Ends when all have joined, or with the JOIN timer.
        -> COMPLETING (some joined), EMPTY (all gone), DEAD.
    COMPLETING_REBALANCE: waiting for the leader's assignment.
        SyncGroup is parked, the leader's completes the phase; Heartbeat is fine; commits get
        REBALANCE_IN_PROGRESS; JoinGroup with unchanged metadata repeats the answer, any other
        starts over. Ends with the SYNC timer at the latest (KAFKA-12890).
        -> STABLE (assignment stored), PREPARING (join, leave, failure, time-out), DEAD.
    STABLE: members own their assignments.
        Heartbeat and SyncGroup are fine; JoinGroup of the leader, or with changed metadata,
        rebalances. Members leave by LeaveGroup or the SESSION timer. -> PREPARING, DEAD.
    DEAD: removed or unloaded; everything gets COORDINATOR_NOT_AVAILABLE. Never left.
    """

    EMPTY = "Empty"
    PREPARING_REBALANCE = "PreparingRebalance"
    COMPLETING_REBALANCE = "CompletingRebalance"
    STABLE = "Stable"
    DEAD = "Dead"


_S = ClassicState

PREVIOUS_STATES: dict[ClassicState, frozenset[ClassicState]] = {
    _S.EMPTY: frozenset({_S.PREPARING_REBALANCE}),
    _S.PREPARING_REBALANCE: frozenset({_S.STABLE, _S.COMPLETING_REBALANCE, _S.EMPTY}),
    _S.COMPLETING_REBALANCE: frozenset({_S.PREPARING_REBALANCE}),
    _S.STABLE: frozenset({_S.COMPLETING_REBALANCE}),
    _S.DEAD: frozenset(_S),
}
"""For each state, those it may be entered from."""
