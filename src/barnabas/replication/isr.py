"""The in-sync replicas of a partition: how far a follower lags, who must leave, who may join.

Pure: a leader feeds in what followers fetched and the (monotonic) time; the answers are sets.
Proposing a change to the controller and committing its answer is the partition's business.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from barnabas.model.control import NO_BROKER_EPOCH
from barnabas.model.ids import BrokerId

UNKNOWN_OFFSET = -1
NEVER_MS = -(2**62)
"""A monotonic time before every other: a follower that has not been in sync in this epoch."""


class ReplicaProgress:
    """How far one follower has come, as its fetches tell; owned by the leader's loop.

    A fetch at offset N says that everything below N is in the follower's log. The follower was
    caught up at the last moment when it had all that the leader had: now, if it asks for the
    leader's end, or at its previous fetch, if it has since reached the end of that time. Without
    the second rule a follower that keeps pace with a busy leader would never be caught up.
    """

    __slots__ = (
        "broker_epoch",
        "last_caught_up_ms",
        "last_fetch_leader_end",
        "last_fetch_ms",
        "log_end_offset",
        "log_start_offset",
        "reader_sent_ms",
        "told_high_watermark",
    )

    def __init__(self, last_caught_up_ms: int = NEVER_MS) -> None:
        self.log_end_offset = UNKNOWN_OFFSET
        self.log_start_offset = UNKNOWN_OFFSET
        self.last_caught_up_ms = last_caught_up_ms
        self.last_fetch_ms = NEVER_MS
        self.last_fetch_leader_end = UNKNOWN_OFFSET
        self.broker_epoch = NO_BROKER_EPOCH
        self.reader_sent_ms = NEVER_MS
        """When a consumer was last sent to read from it."""
        self.told_high_watermark = UNKNOWN_OFFSET
        """What it was answered last; kept while consumers read from it."""

    def record_fetch(
        self, fetch_offset: int, log_start_offset: int, leader_end: int, now_ms: int
    ) -> None:
        """Note one fetch; the leader's end is that of the moment the fetch was read."""
        if fetch_offset >= leader_end:
            self.last_caught_up_ms = max(self.last_caught_up_ms, now_ms)
        elif self.last_fetch_leader_end != UNKNOWN_OFFSET and (
            fetch_offset >= self.last_fetch_leader_end
        ):
            self.last_caught_up_ms = max(self.last_caught_up_ms, self.last_fetch_ms)
        self.log_end_offset = fetch_offset
        self.log_start_offset = log_start_offset
        self.last_fetch_leader_end = leader_end
        self.last_fetch_ms = now_ms

    def start_epoch(self, *, in_sync: bool, forget_position: bool, now_ms: int) -> None:
        """Begin a leader epoch: members get the benefit of the doubt, others must earn it."""
        self.last_caught_up_ms = now_ms if in_sync else NEVER_MS
        self.last_fetch_ms = NEVER_MS
        self.last_fetch_leader_end = UNKNOWN_OFFSET
        if forget_position:
            self.log_end_offset = UNKNOWN_OFFSET
            self.log_start_offset = UNKNOWN_OFFSET

    def is_caught_up(self, leader_end: int, now_ms: int, max_lag_ms: int) -> bool:
        """Whether the lag is within what `replica.lag.time.max.ms` allows."""
        return self.log_end_offset == leader_end or now_ms - self.last_caught_up_ms <= max_lag_ms

    def __repr__(self) -> str:
        return f"<ReplicaProgress end={self.log_end_offset} caught_up={self.last_caught_up_ms}>"


@dataclass(frozen=True, slots=True)
class IsrState:
    """The in-sync set the controller confirmed, and the one that was proposed to it, if any."""

    committed: frozenset[BrokerId]
    proposed: frozenset[BrokerId] | None = None

    @property
    def maximal(self) -> frozenset[BrokerId]:
        """Everyone who may turn out to be a member.

        A proposal may have been committed without our knowing, and an election may then pick any
        member of it: so the high watermark waits for all of them (KIP-497).
        """
        return self.committed if self.proposed is None else self.committed | self.proposed

    @property
    def in_flight(self) -> bool:
        return self.proposed is not None


def may_join(replica_end: int, high_watermark: int, epoch_start: int) -> bool:
    """Whether a follower that reached `replica_end` may be made a member.

    Reaching the high watermark is not enough (KAFKA-7128): a new leader's high watermark may lie
    below records that were committed under its predecessor. Those are all below the offset at
    which the leader's epoch began, so a follower must have reached that as well.
    """
    return replica_end >= high_watermark and replica_end >= epoch_start


def out_of_sync(
    members: Iterable[BrokerId],
    followers: Mapping[BrokerId, ReplicaProgress],
    leader_end: int,
    now_ms: int,
    max_lag_ms: int,
) -> frozenset[BrokerId]:
    """The members, the leader aside, that have lagged for too long."""
    return frozenset(
        member
        for member in members
        if (progress := followers.get(member)) is not None
        and not progress.is_caught_up(leader_end, now_ms, max_lag_ms)
    )


def effective_min_insync(configured: int, replicas: Collection[BrokerId]) -> int:
    """`min.insync.replicas`, but never more than the partition has replicas at all."""
    return min(configured, max(len(replicas), 1))
