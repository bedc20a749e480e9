"""The safety rules that history taught, gathered so that one can be taken out and its loss shown.

Production code uses `Guards()` as it is. The simulation replays each historical bug with the rule
of that time put in place of ours, to prove that the rule is what prevents the loss.
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
    """A replica that begins to follow truncates nothing until the leader's epochs say so."""
    return None


@dataclass(frozen=True, slots=True)
class Guards:
    """One function per rule; the defaults are the correct ones."""

    check_leader_epoch: Callable[[int, int], ErrorCode] = epochs.check_leader_epoch  # KIP-320
    truncate_at_start: Callable[[ReplicaLog], int | None] = keep_log  # KIP-101
    divergence: Callable[[EpochHistory, int, int], EpochEnd | None] = epochs.divergence  # KIP-101
    truncation_point: Callable[[EpochHistory, EpochEnd], int] = epochs.truncation_point  # KIP-279
    may_join: Callable[[int, int, int], bool] = isr.may_join  # KAFKA-7128
    may_lead: Callable[[PartitionState, BrokerId, bool, UncleanStartPolicy], bool] = (
        unclean_start.may_lead  # KIP-966
    )


DEFAULT_GUARDS = Guards()
