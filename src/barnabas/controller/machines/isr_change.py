"""Validates the ISR that a partition leader proposes (AlterPartition, KIP-497).

The order of the checks matters: a leader with an old epoch must get the epoch error before any
other, and a proposal that equals the current ISR is a repeated request, not a conflict.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from barnabas.controller.machines.election import LeaderAndIsr
from barnabas.model.control import NO_BROKER_EPOCH, AlterPartitionChange, LeaderRecoveryState
from barnabas.model.error_codes import ErrorCode
from barnabas.model.ids import BrokerId


class IsrChangeResult(NamedTuple):
    """An error; or the leadership to write; or neither if the proposal equals the current state."""

    error: ErrorCode
    accepted: LeaderAndIsr | None = None


@dataclass(frozen=True, slots=True)
class EligibleBrokers:
    """Brokers that may join an ISR: live brokers with their epochs, and those shutting down."""

    broker_epochs: Mapping[BrokerId, int]
    shutting_down: frozenset[BrokerId] = frozenset()


def validate_isr_change(
    sender: BrokerId, change: AlterPartitionChange, current: LeaderAndIsr, eligible: EligibleBrokers
) -> IsrChangeResult:
    """Validate one proposal of the broker `sender`."""
    error = _staleness(sender, change, current)
    if error is not ErrorCode.NONE:
        return IsrChangeResult(error)
    if change.new_isr == current.isr and change.recovery is current.recovery:
        return IsrChangeResult(ErrorCode.NONE)
    if change.partition_epoch < current.partition_epoch:
        return IsrChangeResult(ErrorCode.INVALID_UPDATE_VERSION)
    if not _is_sound(sender, change, current):
        return IsrChangeResult(ErrorCode.INVALID_REQUEST)
    if not _are_eligible(change, current, eligible):
        return IsrChangeResult(ErrorCode.INELIGIBLE_REPLICA)
    accepted = LeaderAndIsr(
        current.leader,
        current.leader_epoch,
        change.new_isr,
        current.partition_epoch,
        change.recovery,
    )
    return IsrChangeResult(ErrorCode.NONE, accepted)


def _staleness(sender: BrokerId, change: AlterPartitionChange, current: LeaderAndIsr) -> ErrorCode:
    ahead = change.leader_epoch > current.leader_epoch
    if ahead or change.partition_epoch > current.partition_epoch:
        return (
            ErrorCode.NOT_CONTROLLER
        )  # the sender has a newer state: another controller is active
    if change.leader_epoch < current.leader_epoch:
        return ErrorCode.FENCED_LEADER_EPOCH
    return ErrorCode.NONE if sender == current.leader else ErrorCode.INVALID_REQUEST


def _is_sound(sender: BrokerId, change: AlterPartitionChange, current: LeaderAndIsr) -> bool:
    """Check the members, and that recovery (KIP-704) does not start and has no follower in sync."""
    if sender not in change.new_isr or len(set(change.new_isr)) != len(change.new_isr):
        return False
    if change.recovery is LeaderRecoveryState.RECOVERING:
        return len(change.new_isr) == 1 and current.recovery is change.recovery
    return True


def _are_eligible(
    change: AlterPartitionChange, current: LeaderAndIsr, eligible: EligibleBrokers
) -> bool:
    """Check that added brokers are live, not shutting down, and have the expected broker epoch."""
    for index, broker_id in enumerate(change.new_isr):
        epoch = eligible.broker_epochs.get(broker_id)
        if broker_id not in current.isr and (epoch is None or broker_id in eligible.shutting_down):
            return False
        expected = change.broker_epochs[index] if change.broker_epochs else NO_BROKER_EPOCH
        if epoch is not None and expected not in (NO_BROKER_EPOCH, epoch):
            return False
    return True
