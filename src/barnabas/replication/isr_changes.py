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
from barnabas.replication.leader_state import LeaderState

if TYPE_CHECKING:
    from barnabas.replication.partition import Partition

logger = logging.getLogger(__name__)

_NOT_APPLIED = frozenset({ErrorCode.OPERATION_NOT_ATTEMPTED, ErrorCode.INELIGIBLE_REPLICA})
_WAIT_FOR_CONTROLLER = frozenset(
    {
        ErrorCode.FENCED_LEADER_EPOCH,
        ErrorCode.INVALID_REQUEST,
        ErrorCode.INVALID_UPDATE_VERSION,
        ErrorCode.NEW_LEADER_ELECTED,
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
        ErrorCode.UNKNOWN_TOPIC_ID,
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
    elif reply.error in _NOT_APPLIED and not _may_still_be_applied(partition, leading):
        leading.settle(leading.isr.committed)
    elif reply.error not in _WAIT_FOR_CONTROLLER:
        now_ms = partition.settings.clock.monotonic_ms()
        leading.unsure(now_ms, outcome_unknown=reply.error not in _NOT_APPLIED)
    else:
        logger.info(
            "%s: change of the in-sync set to %s was refused with %s; waiting for the controller",
            partition.topic_partition, change.new_isr, reply.error.name,
        )  # fmt: skip


def _may_still_be_applied(partition: "Partition", leading: LeaderState) -> bool:
    """Whether an earlier sending of this proposal, whose answer never came, may be on its way.

    As long as it may arrive and be accepted, its members must be waited for.
    """
    now_ms = partition.settings.clock.monotonic_ms()
    return now_ms - leading.last_unsure_ms < partition.settings.request_lifetime_ms


def _is_newer_state(partition: "Partition", reply: AlterPartitionReply) -> bool:
    return (
        reply.leader_epoch == partition.leader_epoch
        and reply.leader == partition.leader
        and reply.partition_epoch > partition.partition_epoch
    )
