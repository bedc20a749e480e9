"""State machines of partitions, replicas and topic deletion, as tables and pure functions.

A transition that is missing in a table is a bug in the controller; no peer can cause it.
"""

import enum
from collections.abc import Collection
from typing import TypeVar


class PartitionStatus(enum.Enum):
    """States of a partition.

    - NON_EXISTENT: never created, or deleted.
    - NEW: has assigned replicas but no leader yet.
    - ONLINE: has a leader.
    - OFFLINE: had a leader, which is offline now.
    """

    NON_EXISTENT = "non-existent"
    NEW = "new"
    ONLINE = "online"
    OFFLINE = "offline"


class ReplicaStatus(enum.Enum):
    """States of a replica.

    - NEW: created, not online yet.
    - ONLINE: its broker is alive and its disk works.
    - OFFLINE: its broker or disk failed, or the replica was stopped.
    - DELETION_STARTED: the broker got the command to delete the log.
    - DELETION_SUCCESSFUL: the broker deleted the log.
    - DELETION_INELIGIBLE: the broker is offline or the deletion failed; the topic's deletion waits.
    - NON_EXISTENT: not assigned, or removed.
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
"""For each status, the statuses from which it can be entered."""

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


class IllegalTransitionError(AssertionError):
    """The controller attempted a transition that the tables do not allow."""


def check_partition_move(subject: object, old: PartitionStatus, new: PartitionStatus) -> None:
    _check(subject, old, new, PARTITION_MOVES)


def check_replica_move(subject: object, old: ReplicaStatus, new: ReplicaStatus) -> None:
    _check(subject, old, new, REPLICA_MOVES)


def _check(
    subject: object, old: _Status, new: _Status, moves: dict[_Status, frozenset[_Status]]
) -> None:
    if old not in moves[new]:
        raise IllegalTransitionError(f"{subject} cannot go from {old.value} to {new.value}")


class DeletionStep(enum.Enum):
    """The next step of a topic's deletion.

    - FINISH: all logs are deleted; remove the topic from the metadata tree.
    - WAIT: replicas are deleting, or an offline broker blocks the deletion.
    - START: send all replicas the command to delete their logs (again).
    """

    FINISH = "finish"
    WAIT = "wait"
    START = "start"


def next_deletion_step(replicas: Collection[ReplicaStatus], *, eligible: bool) -> DeletionStep:
    """Returns the step for one topic; `eligible` is False while an offline broker blocks it.

    A topic is removed when every replica has deleted its log. When a blocking broker returns, the
    deletion of the whole topic starts again.
    """
    if all(status is ReplicaStatus.DELETION_SUCCESSFUL for status in replicas):
        return DeletionStep.FINISH
    if ReplicaStatus.DELETION_STARTED in replicas or not eligible:
        return DeletionStep.WAIT
    return DeletionStep.START
