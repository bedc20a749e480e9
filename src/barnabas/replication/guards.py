"""The safety rules of replication as replaceable functions.

Production code uses `DEFAULT_GUARDS`. The simulation replaces one rule by its historical version
and replays the bug of that time, to prove that the current rule prevents the loss of records.
"""

from collections.abc import Callable
from dataclasses import dataclass

from barnabas.model.control import PartitionState
from barnabas.model.error_codes import ErrorCode
from barnabas.model.ids import BrokerId
from barnabas.replication import epochs, isr, unclean_start
from barnabas.replication.epochs import EpochEnd, EpochHistory
from barnabas.replication.ports import ReplicaLog
from barnabas.replication.unclean_start import UncleanStartPolicy


def keep_log(_log: ReplicaLog) -> int | None:
    """Truncates nothing when a replica becomes a follower; the leader's epochs decide later."""
    return None


@dataclass(frozen=True, slots=True)
class Guards:
    """One function per safety rule; the defaults are the current rules."""

    check_leader_epoch: Callable[[int, int], ErrorCode] = epochs.check_leader_epoch  # KIP-320
    truncate_at_start: Callable[[ReplicaLog], int | None] = keep_log  # KIP-101
    divergence: Callable[[EpochHistory, int, int], EpochEnd | None] = epochs.divergence  # KIP-101
    truncation_point: Callable[[EpochHistory, EpochEnd], int] = epochs.truncation_point  # KIP-279
    may_join: Callable[[int, int, int], bool] = isr.may_join  # KAFKA-7128
    may_lead: Callable[[PartitionState, BrokerId, bool, UncleanStartPolicy], bool] = (
        unclean_start.may_lead  # KIP-966
    )


DEFAULT_GUARDS = Guards()
