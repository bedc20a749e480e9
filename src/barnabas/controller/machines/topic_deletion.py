"""What to do next with a topic that is to be deleted, from the states of its replicas.

A topic goes when every replica has deleted its log. A replica that cannot (its broker is down, its
disk failed) makes the topic wait; when the broker is back the whole topic is tried again.
"""

import enum
from collections.abc import Collection

from barnabas.controller.machines.states import ReplicaStatus


class DeletionStep(enum.Enum):
    """- FINISH: all logs are gone, remove the topic from the tree.
    - WAIT: replicas are busy deleting, or something has to happen first.
    - START: tell all replicas to delete (again).
    """

    FINISH = "finish"
    WAIT = "wait"
    START = "start"


def next_step(replicas: Collection[ReplicaStatus], *, eligible: bool) -> DeletionStep:
    """The step for one topic; `eligible` is false while a dead broker blocks it."""
    if all(status is ReplicaStatus.DELETION_SUCCESSFUL for status in replicas):
        return DeletionStep.FINISH
    if ReplicaStatus.DELETION_STARTED in replicas or not eligible:
        return DeletionStep.WAIT
    return DeletionStep.START
