"""Whether a replica that may have lost the end of its log is allowed to lead.

Acknowledged records live in the page cache of the in-sync replicas until they are flushed. A
killed process loses none of them; a machine that lost power may lose the end of its log. When
such a replica is the last member of the in-sync set and leads again, acknowledged records are
gone without a word (the "last replica standing", KIP-966). The rule here is that it declines, the
partition stays offline, and an operator's unclean election (which marks the partition as
recovering) is what makes it lead. A later clean restart does not bring lost records back, so the
doubt outlives it: it ends when the replica has caught up with a leader.
"""

import enum

from barnabas.model.control import PartitionState
from barnabas.model.ids import BrokerId


class StartKind(enum.Enum):
    """How this incarnation of the broker found its log directories."""

    CLEAN = "clean"  # the clean-shutdown marker was there
    CRASHED = "crashed"  # no marker, but the same boot: the page cache is whole
    POWER_LOST = "power lost"  # no marker and another boot: the tail may be gone


class UncleanStartPolicy(enum.Enum):
    """What a replica does that may have lost its tail."""

    LEAD = "lead"  # as Kafka with ZooKeeper does
    DECLINE_ALONE = "decline alone"  # not as the only member of the in-sync set
    DECLINE = "decline"  # not before it has followed a leader again


def may_lead(
    state: PartitionState, broker_id: BrokerId, doubtful: bool, policy: UncleanStartPolicy
) -> bool:
    """Whether the replica of this broker takes the leadership it is offered.

    `doubtful` is a replica that was on a machine that lost power and has not caught up with a
    leader since. A partition with one replica has nobody else to ask: it always leads.
    `recovering` is the operator's word that loss is accepted.
    """
    if not doubtful or policy is UncleanStartPolicy.LEAD:
        return True
    if state.recovering or state.is_new or len(state.replicas) == 1:
        return True
    if policy is UncleanStartPolicy.DECLINE:
        return False
    return set(state.isr) != {broker_id}
