"""One replica of one partition on this broker: leading or following, appending, high watermark.

Decisions come from the pure modules beside this one; this class holds the state they work on,
applies it to the log, and tells listeners. It does not fetch (`fetcher`), does not wait (the
broker's purgatories do), and reaches the controller only through `isr_changes`. The bodies of
commands to lead or follow are in `role_changes`, of reads and look-ups in `partition_reader`.
"""

from barnabas.model.control import (
    NO_LEADER,
    AlterPartitionReply,
    LeaderRecoveryState,
    PartitionState,
)
from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BrokerError
from barnabas.model.ids import ZERO_UUID, BrokerId, TopicPartition
from barnabas.model.records import NO_EPOCH
from barnabas.records.batch import BatchHeader
from barnabas.replication import isr_changes, partition_reader, role_changes
from barnabas.replication.durability import DurableEnd, FlushTicket
from barnabas.replication.isr import effective_min_insync
from barnabas.replication.leader_state import LeaderState
from barnabas.replication.partition_read import FetchSpec, PartitionRead
from barnabas.replication.ports import ReplicaLog
from barnabas.replication.replica_settings import PartitionListener, ReplicaSettings
from barnabas.storage.append_info import AppendInfo, AppendOrigin

ALL_IN_SYNC = -1
"""`acks=all`."""


class Partition:
    """A replica. Owned by the broker's loop; no method awaits.

    Life: made without a role, then `make_leader`/`make_follower` as the controller says, any
    number of times. Invariants: (`leader_epoch`, `partition_epoch`) never goes back; a leader's
    high watermark never goes back; a follower's log changes only through `append_as_follower`
    and the truncations. `leading` is there exactly while `is_leader`.
    """

    __slots__ = (
        "_durable",
        "_listeners",
        "configured_min_insync",
        "followed_isr",
        "is_leader",
        "leader",
        "leader_epoch",
        "leading",
        "led_since_epoch",
        "log",
        "partition_epoch",
        "recovering",
        "replicas",
        "settings",
        "topic_id",
        "topic_partition",
    )

    def __init__(
        self, topic_partition: TopicPartition, log: ReplicaLog, settings: ReplicaSettings
    ) -> None:
        self.topic_partition = topic_partition
        self.topic_id = ZERO_UUID
        self.log = log
        self.settings = settings
        self.configured_min_insync = settings.min_insync_of(topic_partition.topic)
        self.leader: BrokerId = NO_LEADER
        self.leader_epoch = NO_EPOCH
        self.partition_epoch = -1
        self.replicas: tuple[BrokerId, ...] = ()
        self.recovering = False
        self.is_leader = False
        self.leading: LeaderState | None = None
        self._durable = DurableEnd(log.log_end_offset)  # recovery has flushed what it found
        self.followed_isr: frozenset[BrokerId] = frozenset()
        self.led_since_epoch = 0
        self._listeners: list[PartitionListener] = []

    def __repr__(self) -> str:
        role = "leader" if self.is_leader else f"follower of {self.leader}"
        return (
            f"<Partition {self.topic_partition} {role} epoch {self.leader_epoch}"
            f" end {self.log.log_end_offset} hw {self.log.high_watermark}>"
        )

    @property
    def isr(self) -> frozenset[BrokerId]:
        """The in-sync replicas as last confirmed by the controller."""
        return self.followed_isr if self.leading is None else self.leading.isr.committed

    @property
    def min_insync(self) -> int:
        """How many members acks=all needs here."""
        return effective_min_insync(self.configured_min_insync, self.replicas)

    @property
    def is_under_min_insync(self) -> bool:
        """Whether a leader has too few members for acks=all; a follower cannot tell."""
        return self.is_leader and len(self.isr) < self.min_insync

    def add_listener(self, listener: PartitionListener) -> None:
        self._listeners.append(listener)

    def remove_listener(self, listener: PartitionListener) -> None:
        self._listeners.remove(listener)

    # --- roles ---

    def make_leader(self, state: PartitionState) -> bool:
        """Lead as told; True when this broker begins to lead in this epoch."""
        return role_changes.make_leader(self, state)

    def make_follower(self, state: PartitionState) -> bool:
        """Follow as told; True when the leader epoch is new, so that fetching must start over."""
        return role_changes.make_follower(self, state)

    def resign(self) -> None:
        """Stop leading without a successor: the replica is being stopped or has lost its disk."""
        role_changes.resign(self)

    def tell_leader_change(self) -> None:
        for listener in self._listeners:
            listener.on_leader_change(self)

    # --- appending ---

    def append_to_leader(
        self,
        batch: bytearray | memoryview,
        header: BatchHeader,
        *,
        acks: int,
        now_ms: int,
        origin: AppendOrigin = AppendOrigin.CLIENT,
    ) -> AppendInfo:
        """Append one validated batch as leader; `now_ms` is wall time.

        With acks=all the in-sync set is checked before anything is written; the reply then waits
        until `ack_status` says so.
        """
        leading = self.leading
        if leading is None:
            raise BrokerError(ErrorCode.NOT_LEADER_OR_FOLLOWER)
        if acks == ALL_IN_SYNC and len(leading.isr.committed) < self.min_insync:
            raise BrokerError(
                ErrorCode.NOT_ENOUGH_REPLICAS,
                f"{len(self.isr)} in sync for {self.topic_partition}, {self.min_insync} needed",
            )
        info = self.log.append_as_leader(
            batch, header, leader_epoch=self.leader_epoch, now_ms=now_ms, origin=origin
        )
        if self.settings.request_flush is not None:
            self.settings.request_flush(self)
        elif not leading.followers:
            self.raise_high_watermark(self.log.log_end_offset)
        elif len(leading.isr.maximal) == 1:
            # With other members an append cannot move the watermark: their fetches do.
            self.advance_high_watermark(self.settings.clock.monotonic_ms())
        for listener in self._listeners:
            listener.on_append(self)
        return info

    def ack_status(
        self, required_offset: int, acks: int, leader_epoch: int | None = None
    ) -> ErrorCode | None:
        """What to answer a producer whose records end before `required_offset`; None: not yet.

        To be asked again after `on_high_watermark` and `on_leader_change`, with the leader epoch
        of the append. Who lost the leadership does not know the outcome, also not when it leads
        again: in between its log may have been cut and filled with other records.
        """
        leading = self.leading
        if leading is None or (leader_epoch is not None and leader_epoch < self.led_since_epoch):
            return ErrorCode.NOT_LEADER_OR_FOLLOWER
        if acks != ALL_IN_SYNC:
            return ErrorCode.NONE if self._committable_end() >= required_offset else None
        if self.log.high_watermark < required_offset:
            return None
        if len(leading.isr.committed) < self.min_insync:
            return ErrorCode.NOT_ENOUGH_REPLICAS_AFTER_APPEND
        return ErrorCode.NONE

    # --- fsync before acknowledgement ---

    def flush_ticket(self) -> FlushTicket:
        """Taken before a flush starts, handed to `flushed` when it is done."""
        return self._durable.ticket(self.log.log_end_offset)

    def flushed(self, ticket: FlushTicket) -> None:
        """Learn that the log below the ticket's end is on the disk."""
        self._durable.flushed(ticket)
        if self.leading is not None and not self.advance_high_watermark(
            self.settings.clock.monotonic_ms()
        ):
            self.tell_high_watermark()

    @property
    def may_fetch(self) -> bool:
        """Whether a fetch may report the log's end to the leader as safely held."""
        return self._committable_end() == self.log.log_end_offset

    def _committable_end(self) -> int:
        end = self.log.log_end_offset
        return end if self.settings.request_flush is None else min(end, self._durable.end_offset)

    # --- high watermark and in-sync set ---

    def record_follower_fetch(self, spec: FetchSpec, leader_end: int) -> None:
        """Note a follower's position: it may join the in-sync set or move the watermark."""
        leading = self.leading
        if leading is None:
            raise BrokerError(ErrorCode.NOT_LEADER_OR_FOLLOWER)
        replica_id, now_ms = spec.replica_id, self.settings.clock.monotonic_ms()
        progress = leading.followers[replica_id]
        progress.record_fetch(spec.offset, spec.log_start_offset, leader_end, now_ms)
        progress.broker_epoch = spec.replica_epoch
        members = leading.with_joiner(replica_id, self.log.high_watermark)
        if members is not None and self.settings.is_alive(replica_id):
            isr_changes.propose(self, members)
        self.advance_high_watermark(now_ms)

    def tick(self, now_ms: int) -> None:
        """Periodic work of a leader: drop laggards, repeat a lost proposal, look again."""
        leading = self.leading
        if leading is None or not leading.followers:
            return
        isr_changes.retry(self)
        max_lag_ms = self.settings.max_lag_ms
        members = leading.without_laggards(self.log.log_end_offset, now_ms, max_lag_ms)
        if members is not None:
            isr_changes.propose(self, members)
        self.advance_high_watermark(now_ms)

    def commit_isr(self, reply: AlterPartitionReply) -> None:
        """Take over the state that the controller confirmed within this leader epoch."""
        if self.leading is None:
            return
        self.partition_epoch = reply.partition_epoch
        self.recovering = reply.recovery is LeaderRecoveryState.RECOVERING
        self.leading.settle(reply.isr)
        # A smaller set may free the watermark (KAFKA-13091), a larger one reach min.insync.
        self.advance_high_watermark(self.settings.clock.monotonic_ms())

    def advance_high_watermark(self, now_ms: int) -> bool:
        """Up to what all who count have; True when it moved."""
        leading = self.leading
        if leading is None or len(leading.isr.committed) < self.min_insync:
            return False  # nothing is committed on fewer members than the topic asks for (KIP-966)
        end, max_lag_ms = self._committable_end(), self.settings.max_lag_ms
        return self.raise_high_watermark(
            leading.high_watermark(end, now_ms, max_lag_ms, self.settings.is_alive)
        )

    def raise_high_watermark(self, candidate: int) -> bool:
        """Move the high watermark up to here; it does not go back."""
        if candidate <= self.log.high_watermark:
            return False
        self.log.update_high_watermark(candidate)
        self.tell_high_watermark()
        return True

    def tell_high_watermark(self) -> None:
        """Have those looked at again who wait for it, or to be told of it."""
        for listener in self._listeners:
            listener.on_high_watermark(self)

    # --- another log ---

    def replace_log(self, log: ReplicaLog) -> None:
        """Go on with a log that has the same records: this one was moved to another disk."""
        self.log = log
        self._durable.truncated(log.log_end_offset)  # flushes under way are of the old one
        if self.settings.request_flush is not None:
            self.settings.request_flush(self)

    # --- truncation ---

    def truncate_to(self, offset: int) -> None:
        self.log.truncate_to(offset)
        self._durable.truncated(self.log.log_end_offset)  # a batch is dropped whole

    def restart_at(self, offset: int) -> None:
        """Begin an empty log at this offset."""
        self.log.truncate_fully_and_start_at(offset)
        self._durable.truncated(offset)

    # --- reading ---

    def read(self, spec: FetchSpec) -> PartitionRead:
        """Serve one partition of a consumer's or a follower's fetch; raises BrokerError."""
        return partition_reader.read(self, spec)

    @property
    def low_watermark(self) -> int:
        """The lowest log start of the replicas in sync: what DeleteRecords waits for."""
        starts = [self.log.log_start_offset]
        if self.leading is not None:
            members = self.leading.isr.committed
            starts += [
                p.log_start_offset for b, p in self.leading.followers.items() if b in members
            ]
        return min(starts)

    def delete_records(self, offset: int) -> int:
        """Move the log start, -1 meaning to the high watermark; returns the log start in force."""
        if self.leading is None:
            raise BrokerError(ErrorCode.NOT_LEADER_OR_FOLLOWER)
        log = self.log
        target = log.high_watermark if offset == -1 else offset
        if not 0 <= target <= log.high_watermark:
            raise BrokerError(ErrorCode.OFFSET_OUT_OF_RANGE)
        if target > log.log_start_offset:
            log.increment_log_start_offset(target, "client delete")
        return log.log_start_offset
