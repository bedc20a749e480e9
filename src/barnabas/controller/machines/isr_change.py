"""Whether a leader's proposal for its in-sync set may be accepted (AlterPartition, KIP-497).

The order of the checks matters: a leader that is behind must learn that it is behind before it is
told anything else, and a proposal that is already in force is a repetition, not a conflict.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from barnabas.controller.machines.election import LeaderAndIsr
from barnabas.model.control import NO_BROKER_EPOCH, AlterPartitionChange, LeaderRecoveryState
from barnabas.model.error_codes import ErrorCode
from barnabas.model.ids import BrokerId


class Verdict(NamedTuple):
    """Refused with an error, accepted with the leadership to write, or already in force."""

    error: ErrorCode
    accepted: LeaderAndIsr | None = None


@dataclass(frozen=True, slots=True)
class Electorate:
    """The brokers that may be in sync: live and not shutting down, with their epochs."""

    broker_epochs: Mapping[BrokerId, int]
    shutting_down: frozenset[BrokerId] = frozenset()


def judge(
    sender: BrokerId, change: AlterPartitionChange, current: LeaderAndIsr, electorate: Electorate
) -> Verdict:
    """Decide on one proposal of `sender`."""
    error = _staleness(sender, change, current)
    if error is not ErrorCode.NONE:
        return Verdict(error)
    if change.new_isr == current.isr and change.recovery is current.recovery:
        return Verdict(ErrorCode.NONE)
    if change.partition_epoch < current.partition_epoch:
        return Verdict(ErrorCode.INVALID_UPDATE_VERSION)
    if not _is_sound(sender, change, current):
        return Verdict(ErrorCode.INVALID_REQUEST)
    if not _are_eligible(change, current, electorate):
        return Verdict(ErrorCode.INELIGIBLE_REPLICA)
    accepted = LeaderAndIsr(
        current.leader,
        current.leader_epoch,
        change.new_isr,
        current.partition_epoch,
        change.recovery,
    )
    return Verdict(ErrorCode.NONE, accepted)


def _staleness(sender: BrokerId, change: AlterPartitionChange, current: LeaderAndIsr) -> ErrorCode:
    ahead = change.leader_epoch > current.leader_epoch
    if ahead or change.partition_epoch > current.partition_epoch:
        return ErrorCode.NOT_CONTROLLER  # it knows more than we do: another controller reigns
    if change.leader_epoch < current.leader_epoch:
        return ErrorCode.FENCED_LEADER_EPOCH
    return ErrorCode.NONE if sender == current.leader else ErrorCode.INVALID_REQUEST


def _is_sound(sender: BrokerId, change: AlterPartitionChange, current: LeaderAndIsr) -> bool:
    """The leader is in its own set, nobody twice, and recovery only ends, alone (KIP-704)."""
    if sender not in change.new_isr or len(set(change.new_isr)) != len(change.new_isr):
        return False
    if change.recovery is LeaderRecoveryState.RECOVERING:
        return len(change.new_isr) == 1 and current.recovery is change.recovery
    return True


def _are_eligible(
    change: AlterPartitionChange, current: LeaderAndIsr, electorate: Electorate
) -> bool:
    """Newcomers must be live and staying, and everybody the incarnation the leader means."""
    for index, broker_id in enumerate(change.new_isr):
        epoch = electorate.broker_epochs.get(broker_id)
        if broker_id not in current.isr and (
            epoch is None or broker_id in electorate.shutting_down
        ):
            return False
        meant = change.broker_epochs[index] if change.broker_epochs else NO_BROKER_EPOCH
        if epoch is not None and meant not in (NO_BROKER_EPOCH, epoch):
            return False
    return True
