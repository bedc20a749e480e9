"""The high watermark: all records below it are on every replica that can be elected.

Pure logic. The leader computes it from its followers' fetches; a follower adopts it from the
leader's responses. On a leader it never decreases.
"""

from collections.abc import Iterable, Mapping

from barnabas.model.ids import BrokerId
from barnabas.replication.isr import ReplicaProgress


def leader_candidate(
    leader_end: int, followers: Mapping[BrokerId, ReplicaProgress], counted: Iterable[BrokerId]
) -> int:
    """Returns the highest offset that the leader and every counted follower have reached.

    The position of a follower that has not fetched in this epoch is -1.
    """
    candidate = leader_end
    for broker_id in counted:
        progress = followers.get(broker_id)
        if progress is not None and progress.log_end_offset < candidate:
            candidate = progress.log_end_offset
    return candidate


def follower_high_watermark(leader_high_watermark: int, own_end: int, own_start: int) -> int:
    """Returns the leader's high watermark, limited to the follower's own log.

    The lower limit is necessary after a full truncation to the leader's start (KAFKA-9491).
    """
    return max(min(leader_high_watermark, own_end), own_start)
