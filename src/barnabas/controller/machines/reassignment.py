"""Changing the replicas of a partition (KIP-455), as pure steps.

A change from O (origin) to T (target) goes through the union T + (O - T): the added replicas
fetch until all of T is in sync, then the leadership moves into T and the rest is dropped.
Another change may replace one that is under way; what that one had added and nobody wants any
more is dropped at once.
"""

from collections.abc import Set

from barnabas.model.error_codes import ErrorCode
from barnabas.model.ids import BrokerId
from barnabas.model.replica_assignment import ReplicaAssignment, Replicas


def reassign(current: ReplicaAssignment, target: Replicas) -> ReplicaAssignment:
    """The assignment that starts the way from what `current` comes from to `target`."""
    origin = current.origin
    union = target + tuple(r for r in origin if r not in target)
    return ReplicaAssignment(
        union,
        adding=tuple(r for r in union if r not in origin),
        removing=tuple(r for r in union if r not in target),
    )


def abandoned(current: ReplicaAssignment, following: ReplicaAssignment) -> Replicas:
    """Replicas that an earlier change added and the following assignment does not have."""
    return tuple(r for r in current.replicas if r not in following.replicas)


def is_complete(assignment: ReplicaAssignment, isr: Replicas) -> bool:
    """Whether every target replica is in sync."""
    return set(assignment.target) <= set(isr)


def target_problem(
    current: ReplicaAssignment, target: Replicas, live: Set[BrokerId]
) -> tuple[ErrorCode, str] | None:
    """Why a target cannot be asked for, or None. Brokers that are added must be alive."""
    if not target:
        return ErrorCode.INVALID_REPLICA_ASSIGNMENT, "the list of replicas is empty"
    if len(set(target)) != len(target):
        return ErrorCode.INVALID_REPLICA_ASSIGNMENT, f"replicas named twice in {list(target)}"
    if min(target) < 0:
        return ErrorCode.INVALID_REPLICA_ASSIGNMENT, f"negative broker id in {list(target)}"
    dead = [r for r in target if r not in current.replicas and r not in live]
    if dead:
        return ErrorCode.INVALID_REPLICA_ASSIGNMENT, f"brokers {dead} are not alive"
    return None
