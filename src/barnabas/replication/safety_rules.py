"""The safety rules of replication as replaceable functions.

Production code uses `DEFAULT_RULES`. The simulation replaces one rule by its historical version and
replays the bug of that time, to prove that the current rule prevents the loss of records.

`may_lead` decides whether a replica that may have lost the end of its log may lead. Acknowledged
records are in the page cache of the in-sync replicas until they are flushed. A killed process loses
none of them; a machine that lost power may lose the end of its log. If such a replica is the last
member of the ISR and leads again, acknowledged records are lost silently (the "last replica
standing" problem, KIP-966). Here the replica declines, the partition stays offline, and an operator
can make it leader by an unclean election, which marks the partition as recovering. A later clean
restart does not restore lost records, so the replica stays doubtful until it has caught up with a
leader.
"""

import enum
from collections.abc import Callable
from dataclasses import dataclass

from barnabas.model.control import PartitionState
from barnabas.model.error_codes import ErrorCode
from barnabas.model.ids import BrokerId
from barnabas.replication import epochs, isr
from barnabas.replication.epochs import EpochHistory, LogEpochEnd
from barnabas.replication.ports import ReplicaLog


class StartKind(enum.Enum):
    """State of the log directories at the start of the broker."""

    CLEAN = "clean"  # the clean-shutdown marker was there
    CRASHED = "crashed"  # no marker, but the same boot: the page cache is whole
    POWER_LOST = "power lost"  # no marker and another boot: the end of the log may be lost


class UncleanStartPolicy(enum.Enum):
    """Reaction of a replica that may have lost the end of its log."""

    LEAD = "lead"  # as Kafka with ZooKeeper does
    DECLINE_ALONE = "decline alone"  # declines as the only in-sync replica
    DECLINE = "decline"  # until it has followed a leader again


def may_lead(
    state: PartitionState, broker_id: BrokerId, doubtful: bool, policy: UncleanStartPolicy
) -> bool:
    """Whether the replica of this broker accepts leadership.

    `doubtful` means that the machine lost power and the replica has not caught up with a leader
    since. The only replica of a partition always leads. `state.recovering` means that the operator
    accepts the loss.
    """
    if not doubtful or policy is UncleanStartPolicy.LEAD:
        return True
    if state.recovering or state.is_new or len(state.replicas) == 1:
        return True
    if policy is UncleanStartPolicy.DECLINE:
        return False
    return set(state.isr) != {broker_id}


def keep_log(_log: ReplicaLog) -> int | None:
    """Truncates nothing when a replica becomes a follower; the leader's epochs decide later."""
    return None


@dataclass(frozen=True, slots=True)
class SafetyRules:
    """One function per safety rule; the defaults are the current rules."""

    check_leader_epoch: Callable[[int, int], ErrorCode] = epochs.check_leader_epoch  # KIP-320
    truncate_at_start: Callable[[ReplicaLog], int | None] = keep_log  # KIP-101
    divergence: Callable[[EpochHistory, int, int], LogEpochEnd | None] = (
        epochs.divergence
    )  # KIP-101
    truncation_point: Callable[[EpochHistory, LogEpochEnd], int] = (
        epochs.truncation_point
    )  # KIP-279
    may_join: Callable[[int, int, int], bool] = isr.may_join  # KAFKA-7128
    may_lead: Callable[[PartitionState, BrokerId, bool, UncleanStartPolicy], bool] = (
        may_lead  # KIP-966
    )


DEFAULT_RULES = SafetyRules()
