"""What a leader knows of its followers during one leader epoch.

Holds progress and the in-sync state and answers questions about them; it neither touches the log
nor talks to the controller (`partition` does both). Times are monotonic.
"""

from collections.abc import Callable, Iterable

from barnabas.model.control import AlterPartitionChange, PartitionState
from barnabas.model.ids import BrokerId
from barnabas.replication import high_watermark, isr
from barnabas.replication.isr import NEVER_MS, IsrState, ReplicaProgress

JoinRule = Callable[[int, int, int], bool]


class LeaderState:
    """Followers and in-sync replicas of one led partition; owned by the broker's loop.

    Invariants: `followers` has every assigned replica but ourselves; at most one in-sync change
    is in flight, and while it is, `isr.maximal` is what the high watermark waits for.
    `proposal` is that change; `answered` says that its outcome is open and it may be sent again,
    `last_unsure_ms` when a sending of it was last given up without an answer.
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
        """Take replicas and in-sync set from the controller; a proposal in flight is void."""
        others = [replica for replica in state.replicas if replica != self._broker_id]
        self.followers = {r: self.followers.get(r) or ReplicaProgress() for r in others}
        self.settle(state.isr)

    def start_epoch(self, *, forget_positions: bool, now_ms: int) -> None:
        """Reset the lag of every follower at the start of an epoch."""
        for broker_id, progress in self.followers.items():
            progress.start_epoch(
                in_sync=broker_id in self.isr.committed,
                forget_position=forget_positions,
                now_ms=now_ms,
            )

    def with_joiner(self, broker_id: BrokerId, watermark: int) -> frozenset[BrokerId] | None:
        """The in-sync set with this follower in it, when it is outside and may join."""
        if self.isr.in_flight or broker_id in self.isr.committed:
            return None
        end = self.followers[broker_id].log_end_offset
        if not self._may_join(end, watermark, self.epoch_start_offset):
            return None
        return self.isr.committed | {broker_id}

    def without_laggards(
        self, leader_end: int, now_ms: int, max_lag_ms: int
    ) -> frozenset[BrokerId] | None:
        """The in-sync set without those that lag too long; None when nobody does."""
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
        """How far the high watermark may go.

        Besides the maximal in-sync set it waits for followers that are within the allowed lag
        and about to join: otherwise a steady stream of appends would keep the high watermark out
        of their reach, and they would never become members. One that has left the cluster cannot
        join, however well it was doing when it stopped.
        """
        maximal = self.isr.maximal
        counted = [
            broker_id
            for broker_id, progress in self.followers.items()
            if broker_id in maximal
            or (progress.is_caught_up(leader_end, now_ms, max_lag_ms) and is_alive(broker_id))
        ]
        return high_watermark.leader_candidate(leader_end, self.followers, counted)

    def propose(self, change: AlterPartitionChange) -> None:
        self.isr = IsrState(self.isr.committed, frozenset(change.new_isr))
        self.proposal, self.answered, self.last_unsure_ms = change, False, NEVER_MS

    def unsure(self, now_ms: int, *, outcome_unknown: bool) -> None:
        """An answer came that does not settle the proposal."""
        self.answered = True
        if outcome_unknown:
            self.last_unsure_ms = now_ms

    def settle(self, members: Iterable[BrokerId]) -> None:
        """Commit this in-sync set and forget any proposal."""
        self.isr = IsrState(frozenset(members))
        self.proposal, self.answered = None, False
