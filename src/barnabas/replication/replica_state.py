"""State of a replica: the followers of a leader, and the flushed end of the log.

Neither class accesses the log or sends requests; `partition` does both. Times are monotonic.
"""

from collections.abc import Callable, Iterable
from typing import NamedTuple

from barnabas.model.control import AlterPartitionChange, PartitionState
from barnabas.model.ids import BrokerId
from barnabas.replication import isr
from barnabas.replication.isr import NEVER_MS, IsrState, ReplicaProgress

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
    `proposal` is that change. `answered` means that a reply left its outcome open and it may be
    sent again; `last_unsure_ms` is the last time an attempt ended without a reply.
    """

    __slots__ = (
        "_broker_id",
        "_may_join",
        "answered",
        "epoch_start_offset",
        "followers",
        "isr",
        "last_unsure_ms",
        "proposal",
    )

    def __init__(self, broker_id: BrokerId, epoch_start_offset: int, may_join: JoinRule) -> None:
        self.epoch_start_offset = epoch_start_offset
        self.followers: dict[BrokerId, ReplicaProgress] = {}
        self.isr = IsrState(frozenset())
        self.proposal: AlterPartitionChange | None = None
        self.answered = False
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
        lagging = isr.out_of_sync(members, self.followers, leader_end, now_ms, max_lag_ms)
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
        return isr.leader_candidate(leader_end, self.followers, counted)

    def propose(self, change: AlterPartitionChange) -> None:
        self.isr = IsrState(self.isr.committed, frozenset(change.new_isr))
        self.proposal, self.answered, self.last_unsure_ms = change, False, NEVER_MS

    def unsure(self, now_ms: int, *, outcome_unknown: bool) -> None:
        """Records a reply that leaves the outcome of the proposal open."""
        self.answered = True
        if outcome_unknown:
            self.last_unsure_ms = now_ms

    def settle(self, members: Iterable[BrokerId]) -> None:
        """Commits this ISR and drops any proposal."""
        self.isr = IsrState(frozenset(members))
        self.proposal, self.answered = None, False
