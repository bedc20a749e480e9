"""The life of a partition and of a replica as the controller sees it, as tables.

A transition that a table does not allow is a bug of the controller, never of a peer.
"""

import enum
from typing import TypeVar


class PartitionStatus(enum.Enum):
    """- NON_EXISTENT: not there, or deleted.
    - NEW: has replicas, no leadership yet.
    - ONLINE: has a leader.
    - OFFLINE: had a leader, which is gone.
    """

    NON_EXISTENT = "non-existent"
    NEW = "new"
    ONLINE = "online"
    OFFLINE = "offline"


class ReplicaStatus(enum.Enum):
    """- NEW: told to follow, has not been in use yet.
    - ONLINE: its broker is up.
    - OFFLINE: its broker or its disk is gone, or it is to stop.
    - DELETION_STARTED: told to delete its log.
    - DELETION_SUCCESSFUL: has deleted it.
    - DELETION_INELIGIBLE: could not be told, or failed: the deletion waits for it.
    - NON_EXISTENT: not there.
    """

    NON_EXISTENT = "non-existent"
    NEW = "new"
    ONLINE = "online"
    OFFLINE = "offline"
    DELETION_STARTED = "deletion started"
    DELETION_SUCCESSFUL = "deletion successful"
    DELETION_INELIGIBLE = "deletion ineligible"


_P = PartitionStatus
PARTITION_MOVES: dict[PartitionStatus, frozenset[PartitionStatus]] = {
    _P.NEW: frozenset({_P.NON_EXISTENT}),
    _P.ONLINE: frozenset({_P.NEW, _P.ONLINE, _P.OFFLINE}),
    _P.OFFLINE: frozenset({_P.NEW, _P.ONLINE, _P.OFFLINE}),
    _P.NON_EXISTENT: frozenset({_P.OFFLINE}),
}
"""For each status, those it can be entered from."""

_R = ReplicaStatus
REPLICA_MOVES: dict[ReplicaStatus, frozenset[ReplicaStatus]] = {
    _R.NEW: frozenset({_R.NON_EXISTENT}),
    _R.ONLINE: frozenset({_R.NEW, _R.ONLINE, _R.OFFLINE, _R.DELETION_INELIGIBLE}),
    _R.OFFLINE: frozenset({_R.NEW, _R.ONLINE, _R.OFFLINE, _R.DELETION_INELIGIBLE}),
    _R.DELETION_STARTED: frozenset({_R.OFFLINE}),
    _R.DELETION_SUCCESSFUL: frozenset({_R.DELETION_STARTED}),
    _R.DELETION_INELIGIBLE: frozenset({_R.OFFLINE, _R.DELETION_STARTED}),
    _R.NON_EXISTENT: frozenset({_R.DELETION_SUCCESSFUL}),
}

_Status = TypeVar("_Status", PartitionStatus, ReplicaStatus)


class IllegalMoveError(AssertionError):
    """The controller tried a transition that its tables do not have."""


def check_partition_move(subject: object, old: PartitionStatus, new: PartitionStatus) -> None:
    _check(subject, old, new, PARTITION_MOVES)


def check_replica_move(subject: object, old: ReplicaStatus, new: ReplicaStatus) -> None:
    _check(subject, old, new, REPLICA_MOVES)


def _check(
    subject: object, old: _Status, new: _Status, moves: dict[_Status, frozenset[_Status]]
) -> None:
    if old not in moves[new]:
        raise IllegalMoveError(f"{subject} cannot go from {old.value} to {new.value}")
