"""Changes of the in-sync set on their way to the controller and back.

One change is in flight per partition. Until its outcome is known the leader counts everyone who
may have become a member; an unknown outcome (time-out, no controller) is asked again with the same
epochs, which the controller answers idempotently or with the state in force.
"""

import logging
from typing import TYPE_CHECKING

from barnabas.model.control import (
    NO_BROKER_EPOCH,
    AlterPartitionChange,
    AlterPartitionReply,
    LeaderRecoveryState,
)
from barnabas.model.error_codes import ErrorCode
from barnabas.model.ids import BrokerId

if TYPE_CHECKING:
    from barnabas.replication.partition import Partition

logger = logging.getLogger(__name__)

_NOT_APPLIED = frozenset({ErrorCode.OPERATION_NOT_ATTEMPTED, ErrorCode.INELIGIBLE_REPLICA})
_UNKNOWN_OUTCOME = frozenset(
    {
        ErrorCode.REQUEST_TIMED_OUT,
        ErrorCode.NETWORK_EXCEPTION,
        ErrorCode.NOT_CONTROLLER,
        ErrorCode.STALE_BROKER_EPOCH,
        ErrorCode.UNKNOWN_SERVER_ERROR,
    }
)


def propose(partition: "Partition", members: frozenset[BrokerId]) -> None:
    """Ask the controller for this in-sync set."""
    leading = partition.leading
    if leading is None:
        return
    ordered = tuple(replica for replica in partition.replicas if replica in members)
    epochs = tuple(
        leading.followers[member].broker_epoch if member in leading.followers else NO_BROKER_EPOCH
        for member in ordered
    )
    change = AlterPartitionChange(
        partition.topic_partition, partition.topic_id, partition.leader_epoch,
        partition.partition_epoch, ordered, epochs, LeaderRecoveryState.RECOVERED,
    )  # fmt: skip
    leading.propose(change)
    _send(partition, change)


def retry(partition: "Partition") -> None:
    """Send a proposal again whose outcome is unknown."""
    leading = partition.leading
    if leading is not None and leading.proposal is not None and leading.answered:
        leading.answered = False
        _send(partition, leading.proposal)


def _send(partition: "Partition", change: AlterPartitionChange) -> None:
    channel = partition.settings.isr_channel
    channel.alter_partition(change, lambda reply: _on_reply(partition, change, reply))


def _on_reply(
    partition: "Partition", change: AlterPartitionChange, reply: AlterPartitionReply
) -> None:
    leading = partition.leading
    if leading is None or leading.proposal is not change:
        return  # a newer command of the controller has overtaken the answer
    if _is_newer_state(partition, reply):
        # Also with INVALID_UPDATE_VERSION: our own change, whose first answer was lost, or one
        # the controller made. Taking it over is what ends the retry loop of KAFKA-2729.
        partition.commit_isr(reply)
    elif reply.error in _NOT_APPLIED:
        leading.settle(leading.isr.committed)
    elif reply.error in _UNKNOWN_OUTCOME:
        leading.answered = True
    else:
        logger.info(
            "%s: change of the in-sync set to %s was refused with %s; waiting for the controller",
            partition.topic_partition, change.new_isr, reply.error.name,
        )  # fmt: skip


def _is_newer_state(partition: "Partition", reply: AlterPartitionReply) -> bool:
    return (
        reply.leader_epoch == partition.leader_epoch
        and reply.leader == partition.leader
        and reply.partition_epoch > partition.partition_epoch
    )
