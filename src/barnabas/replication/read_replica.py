"""Which replica a consumer should read from (KIP-392): one in its own rack, if one will do.

Pure. The leader decides per fetch from what it knows of its followers.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from barnabas.model.ids import BrokerId


@dataclass(frozen=True, slots=True)
class ReplicaView:
    """One replica as a reader may be sent to it."""

    broker_id: BrokerId
    rack: str | None
    log_start_offset: int
    log_end_offset: int
    is_leader: bool = False

    def holds(self, offset: int) -> bool:
        return self.log_start_offset <= offset <= self.log_end_offset


def rack_aware_replica(
    client_rack: str | None, fetch_offset: int, replicas: Sequence[ReplicaView]
) -> BrokerId | None:
    """The replica of the client's rack that holds the offset, the most caught-up of several.

    The leader wins when it is in the rack itself; None means to stay with the leader.
    """
    if not client_rack:
        return None
    near = [
        replica
        for replica in replicas
        if replica.rack == client_rack
        and (
            replica.is_leader or replica.log_start_offset <= fetch_offset <= replica.log_end_offset
        )
    ]
    if not near or any(replica.is_leader for replica in near):
        return None
    return max(near, key=lambda replica: (replica.log_end_offset, -replica.broker_id)).broker_id
