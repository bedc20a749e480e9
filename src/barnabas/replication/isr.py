"""The in-sync replicas (ISR) of a partition and the high watermark that follows from them.

Pure logic: the leader passes in the positions of followers and the monotonic time; nothing here
accesses the log or sends requests. `Partition` sends the resulting changes to the controller and
applies its replies. All records below the high watermark are on every replica that can be elected.
The leader computes it from its followers' fetches; a follower adopts it from the leader's
responses. On a leader it never decreases. With `DurableEnd` a replica tracks the flushed end of its
log.
"""

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from barnabas.model.control import NO_BROKER_EPOCH, AlterPartitionChange, PartitionState
from barnabas.model.ids import BrokerId

UNKNOWN_OFFSET = -1
NEVER_MS = -(2**62)
"""A monotonic time before all others: the follower was never in sync in this epoch."""


class ReplicaProgress:
    """Position of one follower, derived from its fetches; owned by the leader's event loop.

    A fetch at offset N means that the follower's log contains all offsets below N. The follower is
    caught up at the time of a fetch at the leader's log end offset. It was caught up at the time
    of its previous fetch if it has now reached the leader's end of that time. Without the second
    rule a follower that keeps pace with a busy leader would never count as caught up.
    """

    __slots__ = (
        "broker_epoch",
        "consumer_seen_ms",
        "last_caught_up_ms",
        "last_fetch_leader_end",
        "last_fetch_ms",
        "log_end_offset",
        "log_start_offset",
        "sent_high_watermark",
    )

    def __init__(self, last_caught_up_ms: int = NEVER_MS) -> None:
        self.log_end_offset = UNKNOWN_OFFSET
        self.log_start_offset = UNKNOWN_OFFSET
        self.last_caught_up_ms = last_caught_up_ms
        self.last_fetch_ms = NEVER_MS
        self.last_fetch_leader_end = UNKNOWN_OFFSET
        self.broker_epoch = NO_BROKER_EPOCH
        self.consumer_seen_ms = NEVER_MS
        """Time at which the leader last sent a consumer to this follower."""
        self.sent_high_watermark = UNKNOWN_OFFSET
        """High watermark of the latest response; maintained while consumers read from it."""

    def note_consumer(self, now_ms: int) -> None:
        """Records that a consumer was sent to this follower."""
        self.consumer_seen_ms = now_ms
        self.sent_high_watermark = UNKNOWN_OFFSET

    def note_sent_high_watermark(self, high_watermark: int) -> None:
        """Records the high watermark of the latest fetch response."""
        self.sent_high_watermark = high_watermark

    def record_fetch(
        self, fetch_offset: int, log_start_offset: int, leader_end: int, now_ms: int
    ) -> None:
        """Records one fetch; `leader_end` is the leader's log end offset at that time."""
        if fetch_offset >= leader_end:
            self.last_caught_up_ms = max(self.last_caught_up_ms, now_ms)
        # The end of a busy leader moves between two fetches. A follower that now has everything up
        # to the end at its previous fetch was caught up at that time, although it never reaches the
        # current end.
        elif self.last_fetch_leader_end != UNKNOWN_OFFSET and (
            fetch_offset >= self.last_fetch_leader_end
        ):
            self.last_caught_up_ms = max(self.last_caught_up_ms, self.last_fetch_ms)
        self.log_end_offset = fetch_offset
        self.log_start_offset = log_start_offset
        self.last_fetch_leader_end = leader_end
        self.last_fetch_ms = now_ms

    def start_epoch(self, *, in_sync: bool, forget_position: bool, now_ms: int) -> None:
        """Starts a leader epoch: members of the ISR count as caught up, other replicas do not."""
        # ISR members get the whole allowed lag for their first fetch; otherwise the first check of
        # a new leader would remove all of them.
        self.last_caught_up_ms = now_ms if in_sync else NEVER_MS
        self.last_fetch_ms = NEVER_MS
        self.last_fetch_leader_end = UNKNOWN_OFFSET
        if forget_position:
            self.log_end_offset = UNKNOWN_OFFSET
            self.log_start_offset = UNKNOWN_OFFSET

    def is_caught_up(self, leader_end: int, now_ms: int, max_lag_ms: int) -> bool:
        """Whether the lag is within `replica.lag.time.max.ms`."""
        return self.log_end_offset == leader_end or now_ms - self.last_caught_up_ms <= max_lag_ms

    def __repr__(self) -> str:
        return f"<ReplicaProgress end={self.log_end_offset} caught_up={self.last_caught_up_ms}>"


@dataclass(frozen=True, slots=True)
class IsrState:
    """The ISR that the controller confirmed, and a proposed ISR while one is in flight."""

    committed: frozenset[BrokerId]
    proposed: frozenset[BrokerId] | None = None

    @property
    def maximal(self) -> frozenset[BrokerId]:
        """All replicas that may be members.

        The controller may have committed the proposal before its reply arrives, and may elect any
        of its members; the high watermark therefore waits for all of them (KIP-497).
        """
        return self.committed if self.proposed is None else self.committed | self.proposed

    @property
    def in_flight(self) -> bool:
        return self.proposed is not None


def may_join(replica_end: int, high_watermark: int, epoch_start: int) -> bool:
    """Whether a follower that reached `replica_end` may join the ISR.

    Reaching the high watermark is not enough (KAFKA-7128): a new leader's high watermark may be
    below records that were committed under its predecessor. These are all below the start of the
    leader's epoch, so the follower must have reached that offset as well.
    """
    return replica_end >= high_watermark and replica_end >= epoch_start


def out_of_sync(
    members: Iterable[BrokerId],
    followers: Mapping[BrokerId, ReplicaProgress],
    leader_end: int,
    now_ms: int,
    max_lag_ms: int,
) -> frozenset[BrokerId]:
    """Returns the members, except the leader, that have lagged for too long."""
    return frozenset(
        member
        for member in members
        if (progress := followers.get(member)) is not None
        and not progress.is_caught_up(leader_end, now_ms, max_lag_ms)
    )


def effective_min_insync(configured: int, replicas: Collection[BrokerId]) -> int:
    """Returns `min.insync.replicas`, limited to the number of replicas."""
    return min(configured, max(len(replicas), 1))


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
    # Above the own end are offsets that this replica could not serve if it were elected.
    return max(min(leader_high_watermark, own_end), own_start)


# --- State of a replica ---------------------------------------------------------------------------


JoinRule = Callable[[int, int, int], bool]


class FlushTicket(NamedTuple):
    """End offset that a flush will make durable; a truncation invalidates it."""

    end_offset: int
    truncations: int


class DurableEnd:
    """End of the flushed part of one log; owned by the event loop."""

    __slots__ = ("_truncations", "end_offset")

    def __init__(self, end_offset: int) -> None:
        self.end_offset = end_offset
        self._truncations = 0

    def ticket(self, log_end_offset: int) -> FlushTicket:
        return FlushTicket(log_end_offset, self._truncations)

    def flushed(self, ticket: FlushTicket) -> None:
        # A truncation may have removed flushed records and new ones may have taken their offsets.
        if ticket.truncations == self._truncations:
            self.end_offset = max(self.end_offset, ticket.end_offset)

    def truncated(self, log_end_offset: int) -> None:
        self.end_offset = min(self.end_offset, log_end_offset)
        self._truncations += 1


class LeaderState:
    """Followers and in-sync replicas of one partition; owned by the event loop.

    Invariants: `followers` contains every assigned replica except this broker; at most one change
    of the ISR is in flight, and meanwhile the high watermark waits for `isr.maximal`.
    `proposal` is that change. `outcome_open` means that the last reply left its outcome open, so
    it may be sent again; `last_unsure_ms` is the last time an attempt ended without a reply.
    """

    __slots__ = (
        "_broker_id",
        "_may_join",
        "epoch_start_offset",
        "followers",
        "isr",
        "last_unsure_ms",
        "outcome_open",
        "proposal",
    )

    def __init__(self, broker_id: BrokerId, epoch_start_offset: int, may_join: JoinRule) -> None:
        self.epoch_start_offset = epoch_start_offset
        self.followers: dict[BrokerId, ReplicaProgress] = {}
        self.isr = IsrState(frozenset())
        self.proposal: AlterPartitionChange | None = None
        self.outcome_open = False
        self.last_unsure_ms = NEVER_MS
        self._broker_id = broker_id
        self._may_join = may_join

    def adopt(self, state: PartitionState) -> None:
        """Adopts replicas and ISR from the controller and drops a proposal in flight."""
        others = [replica for replica in state.replicas if replica != self._broker_id]
        self.followers = {r: self.followers.get(r) or ReplicaProgress() for r in others}
        self.settle(state.isr)

    def start_epoch(self, *, forget_positions: bool, now_ms: int) -> None:
        """Resets the lag of every follower at the start of an epoch."""
        for broker_id, progress in self.followers.items():
            progress.start_epoch(
                in_sync=broker_id in self.isr.committed,
                forget_position=forget_positions,
                now_ms=now_ms,
            )

    def with_joiner(self, broker_id: BrokerId, watermark: int) -> frozenset[BrokerId] | None:
        """Returns the ISR with this follower added; None if it is a member or may not join."""
        # At most one change is in flight, so a follower that catches up meanwhile is added by one
        # of its next fetches.
        if self.isr.in_flight or broker_id in self.isr.committed:
            return None
        end = self.followers[broker_id].log_end_offset
        if not self._may_join(end, watermark, self.epoch_start_offset):
            return None
        return self.isr.committed | {broker_id}

    def without_laggards(
        self, leader_end: int, now_ms: int, max_lag_ms: int
    ) -> frozenset[BrokerId] | None:
        """Returns the ISR without members that lag too long; None if there are none."""
        if self.isr.in_flight:
            return None
        members = self.isr.committed
        lagging = out_of_sync(members, self.followers, leader_end, now_ms, max_lag_ms)
        return members - lagging if lagging else None

    def high_watermark(
        self,
        leader_end: int,
        now_ms: int,
        max_lag_ms: int,
        is_alive: Callable[[BrokerId], bool] = lambda _broker_id: True,
    ) -> int:
        """Returns the highest possible high watermark.

        Besides the maximal ISR it waits for followers within the allowed lag that can join soon.
        Otherwise continuous appends would keep the high watermark above their position, and they
        would never become members. A follower that has left the cluster cannot join.
        """
        maximal = self.isr.maximal
        counted = [
            broker_id
            for broker_id, progress in self.followers.items()
            if broker_id in maximal
            or (progress.is_caught_up(leader_end, now_ms, max_lag_ms) and is_alive(broker_id))
        ]
        return leader_candidate(leader_end, self.followers, counted)

    def propose(self, change: AlterPartitionChange) -> None:
        self.isr = IsrState(self.isr.committed, frozenset(change.new_isr))
        self.proposal, self.outcome_open, self.last_unsure_ms = change, False, NEVER_MS

    def unsure(self, now_ms: int, *, outcome_unknown: bool) -> None:
        """Records a reply that leaves the outcome of the proposal open."""
        self.outcome_open = True
        if outcome_unknown:
            self.last_unsure_ms = now_ms

    def settle(self, members: Iterable[BrokerId]) -> None:
        """Commits this ISR and drops any proposal."""
        self.isr = IsrState(frozenset(members))
        self.proposal, self.outcome_open = None, False
