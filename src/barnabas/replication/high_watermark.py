"""The offset below which records are committed: on every replica that an election may pick.

Pure. The leader computes it from its followers' fetches, a follower learns it from the leader's
responses; on a leader it never goes back.
"""

from collections.abc import Iterable, Mapping

from barnabas.model.ids import BrokerId
from barnabas.replication.isr import ReplicaProgress


def leader_candidate(
    leader_end: int, followers: Mapping[BrokerId, ReplicaProgress], counted: Iterable[BrokerId]
) -> int:
    """The highest offset that the leader and every counted follower have reached.

    A follower that has not fetched in this epoch has reached -1, which holds everything back.
    """
    candidate = leader_end
    for broker_id in counted:
        progress = followers.get(broker_id)
        if progress is not None and progress.log_end_offset < candidate:
            candidate = progress.log_end_offset
    return candidate


def follower_high_watermark(leader_high_watermark: int, own_end: int, own_start: int) -> int:
    """What a follower may believe committed: never past its own log, never below its start.

    The lower bound matters after a full truncation to the leader's start (KAFKA-9491).
    """
    return max(min(leader_high_watermark, own_end), own_start)
