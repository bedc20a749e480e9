"""One replica of one partition on this broker, as leader or as follower.

`Partition` holds the replica's state, applies the decisions of the pure modules of this package to
the log and notifies listeners. `fetcher` replicates records from the leader, `partition_reader`
serves fetches and offset lookups, and the broker's purgatories hold requests that must wait.

Commands of the controller are ordered by (leader epoch, partition epoch); a leader ignores a
command that is not newer than its state. Listeners learn of a new leader epoch after the partition
has entered it.

At most one change of the in-sync replicas (ISR) is in flight per partition. Until the controller
has replied, the leader waits for every replica that may have become a member. If the outcome is
unknown (timeout, no controller), the leader sends the change again with the same epochs; the
controller replies idempotently or with its current state.
"""

import logging
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

from barnabas.model.control import (
    NO_BROKER_EPOCH,
    NO_LEADER,
    AlterPartitionChange,
    AlterPartitionReply,
    LeaderRecoveryState,
    PartitionState,
)
from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BrokerError
from barnabas.model.ids import ZERO_UUID, BrokerId, TopicPartition
from barnabas.model.records import NO_EPOCH
from barnabas.records.batch import BatchHeader
from barnabas.replication._partition_hot import PartitionFields
from barnabas.replication.isr import DurableEnd, FlushTicket, LeaderState, effective_min_insync
from barnabas.replication.ports import FetchSpec, IsrChannel, ReplicaLog
from barnabas.replication.safety_rules import DEFAULT_RULES, SafetyRules
from barnabas.replication.throttle import ReplicationThrottle
from barnabas.runtime.clock import Clock
from barnabas.storage.append_info import AppendInfo, AppendOrigin

logger = logging.getLogger(__name__)

ALL_IN_SYNC = -1
"""`acks=all`."""

_NO_ERROR = ErrorCode.NONE
_NOT_APPLIED = frozenset({ErrorCode.OPERATION_NOT_ATTEMPTED, ErrorCode.INELIGIBLE_REPLICA})
_WAIT_FOR_CONTROLLER = frozenset(
    {
        ErrorCode.FENCED_LEADER_EPOCH,
        ErrorCode.INVALID_REQUEST,
        ErrorCode.INVALID_UPDATE_VERSION,
        ErrorCode.NEW_LEADER_ELECTED,
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
        ErrorCode.UNKNOWN_TOPIC_ID,
    }
)


class PartitionListener(Protocol):
    """Notified synchronously on the event loop when a partition changes; must not raise.

    `on_high_watermark` is also called after a flush when acknowledgements wait for the disk: the
    result of `ack_status` may have changed.
    """

    def on_append(self, partition: "Partition") -> None: ...
    def on_high_watermark(self, partition: "Partition") -> None: ...
    def on_leader_change(self, partition: "Partition") -> None: ...


@dataclass(slots=True)
class IsrChangeCounts:
    """Counts changes of in-sync replicas on this broker; owned by its loop."""

    shrinks: int = 0
    expands: int = 0
    failed: int = 0

    def changed(self, before: frozenset[BrokerId], after: frozenset[BrokerId]) -> None:
        self.shrinks += not before <= after
        self.expands += not after <= before


@dataclass(frozen=True, slots=True)
class ReplicaSettings:
    """Settings and collaborators that all replicas of a broker share.

    `min_insync_of` returns a topic's `min.insync.replicas`; later changes are applied by
    `ReplicaManager.change_min_insync`. `request_flush` enables fsync before acknowledgement: it is
    called after each append, schedules a flush (one per partition, coalesced), and the flush calls
    `Partition.flushed`. `request_lifetime_ms` is the time during which an abandoned request to the
    controller may still take effect. `leader_throttle` limits followers that are not in sync; the
    fetch handler counts the bytes it sends there.
    """

    broker_id: BrokerId
    clock: Clock
    isr_channel: IsrChannel
    max_lag_ms: int = 30_000
    request_lifetime_ms: int = 30_000
    min_insync_of: Callable[[str], int] = lambda _topic: 1
    request_flush: "Callable[[Partition], None] | None" = None
    rules: SafetyRules = DEFAULT_RULES
    is_alive: Callable[[BrokerId], bool] = lambda _broker_id: True
    rack_of: Callable[[BrokerId], str | None] = lambda _broker_id: None
    leader_throttle: ReplicationThrottle | None = None
    isr_changes: IsrChangeCounts = field(default_factory=IsrChangeCounts)
    count_replicated: Callable[[str, int], None] = lambda _topic, _size: None
    """Called with the topic and the bytes of each append of a follower."""


class Partition(PartitionFields):
    """A replica; owned by the event loop, and no method awaits.

    Lifecycle: created without a role, then `make_leader` and `make_follower` for each command of
    the controller. Invariants: (`leader_epoch`, `partition_epoch`) and a leader's high watermark
    never decrease; a follower's log changes only by `append_as_follower` and truncation;
    `leading` is not None exactly while `is_leader`.
    """

    __slots__ = (
        "_durable",
        "followed_isr",
        "leader",
        "led_since_epoch",
        "partition_epoch",
        "recovering",
        "replicas",
        "topic_id",
        "topic_partition",
    )
    settings: ReplicaSettings
    _listeners: list[PartitionListener]

    def __init__(
        self, topic_partition: TopicPartition, log: ReplicaLog, settings: ReplicaSettings
    ) -> None:
        super().__init__(log, settings, settings.min_insync_of(topic_partition.topic), NO_EPOCH)
        self.topic_partition = topic_partition
        self.topic_id = ZERO_UUID
        self.leader: BrokerId = NO_LEADER
        self.partition_epoch = -1
        self.replicas: tuple[BrokerId, ...] = ()
        self.recovering = False
        self._durable = DurableEnd(log.log_end_offset)  # recovery flushes what it reads
        self.followed_isr: frozenset[BrokerId] = frozenset()
        self.led_since_epoch = 0

    def __repr__(self) -> str:
        role = "leader" if self.is_leader else f"follower of {self.leader}"
        return (
            f"<Partition {self.topic_partition} {role} epoch {self.leader_epoch}"
            f" end {self.log.log_end_offset} hw {self.log.high_watermark}>"
        )

    @property
    def isr(self) -> frozenset[BrokerId]:
        """The in-sync replicas that the controller confirmed last."""
        return self.followed_isr if self.leading is None else self.leading.isr.committed

    @property
    def min_insync(self) -> int:
        """Number of in-sync replicas that acks=all needs."""
        return effective_min_insync(self.configured_min_insync, self.replicas)

    @property
    def is_under_min_insync(self) -> bool:
        """Whether this leader has too few in-sync replicas for acks=all; False on a follower."""
        return self.is_leader and len(self.isr) < self.min_insync

    def add_listener(self, listener: PartitionListener) -> None:
        self._listeners.append(listener)

    def remove_listener(self, listener: PartitionListener) -> None:
        self._listeners.remove(listener)

    # --- roles ---

    def make_leader(self, state: PartitionState) -> bool:
        """Becomes or stays leader; returns True if this broker starts to lead in this epoch.

        A command that repeats the current state changes nothing. In particular it keeps a proposed
        ISR in flight: the controller may have committed it, so its members must be waited for.
        """
        was_leader = self.is_leader
        if was_leader and not self._is_newer(state):
            return False
        begins = not was_leader or state.leader_epoch > self.leader_epoch
        leading = self._start_leading(state) if begins else self.leading
        if leading is None:
            raise AssertionError(f"{self!r} has no leader state")
        # Replicas and ISR first: `start_epoch` gives a full lag time to the members of the new ISR.
        leading.adopt(state)
        now_ms = self.settings.clock.monotonic_ms()
        if not was_leader:
            self.led_since_epoch = state.leader_epoch
        if begins:
            leading.start_epoch(forget_positions=not was_leader, now_ms=now_ms)
        self._adopt(state)
        # Last: until here every request sees the old role. Listeners and the high watermark need
        # the complete new one.
        self.leading, self.is_leader = leading, True
        if begins:
            self._notify_leader_change()
        self.advance_high_watermark(now_ms)
        return begins

    def make_follower(self, state: PartitionState) -> bool:
        """Becomes or stays follower; returns True if the epoch is new and fetching must restart."""
        was_leader = self.is_leader
        if was_leader and not self._is_newer(state):
            return False
        begins = was_leader or state.leader_epoch > self.leader_epoch
        self._adopt(state)
        self.followed_isr = frozenset(state.isr)
        self.leading, self.is_leader = None, False
        if begins:
            offset = self.settings.rules.truncate_at_start(self.log)
            if offset is not None:
                self.truncate_to(offset)
            self._notify_leader_change()
        return begins

    def resign(self) -> None:
        """Stops leading without a successor: the replica is stopped or its disk has failed."""
        was_leader = self.is_leader
        self.followed_isr = self.isr
        self.leading, self.is_leader, self.leader = None, False, NO_LEADER
        if was_leader:
            self._notify_leader_change()

    def _is_newer(self, state: PartitionState) -> bool:
        # A leader epoch is one election, a partition epoch one version of the state in it. The
        # controller's commands may arrive twice or out of order: only a greater pair is newer.
        known = (self.leader_epoch, self.partition_epoch)
        return (state.leader_epoch, state.partition_epoch) > known

    def _adopt(self, state: PartitionState) -> None:
        self.leader = state.leader
        self.leader_epoch = state.leader_epoch
        self.partition_epoch = state.partition_epoch
        self.replicas = state.replicas
        self.topic_id = state.topic_id
        self.recovering = state.recovering

    def _start_leading(self, state: PartitionState) -> LeaderState:
        start = self.log.log_end_offset
        # The epoch must be recorded before the first append (KAFKA-7415); otherwise a follower
        # that requests its end offset gets the error that the epoch is unknown.
        self.log.assign_epoch_start(state.leader_epoch)
        leading = LeaderState(self.settings.broker_id, start, self.settings.rules.may_join)
        if self.leading is not None:
            leading.followers = self.leading.followers
        return leading

    def _notify_leader_change(self) -> None:
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
        """Appends one validated batch as leader; `now_ms` is wall-clock time.

        With acks=all the size of the ISR is checked before the write. The response must wait until
        `ack_status` returns a value.
        """
        leading = self.leading
        if leading is None:
            raise BrokerError(ErrorCode.NOT_LEADER_OR_FOLLOWER)
        if acks == ALL_IN_SYNC and self._has_too_few(leading):
            raise BrokerError(
                ErrorCode.NOT_ENOUGH_REPLICAS,
                f"{self.topic_partition} has {len(self.isr)} in-sync replicas, "
                f"{self.min_insync} are required",
            )
        info = self.log.append_as_leader(
            batch, header, leader_epoch=self.leader_epoch, now_ms=now_ms, origin=origin
        )
        if self.settings.request_flush is not None:
            self.settings.request_flush(self)
        elif not leading.followers:
            self.raise_high_watermark(self.log.log_end_offset)
        elif len(leading.isr.maximal) == 1:
            # With other members only their fetches can move the high watermark.
            self.advance_high_watermark(self.settings.clock.monotonic_ms())
        for listener in self._listeners:
            listener.on_append(self)
        return info

    def ack_status(
        self, required_offset: int, acks: int, leader_epoch: int | None = None
    ) -> ErrorCode | None:
        """Returns the error code for a producer whose records end before `required_offset`.

        None means that the response must still wait; call again after `on_high_watermark` and
        `on_leader_change`, with the leader epoch of the append. A broker that lost leadership
        cannot tell whether the records survived, even if it is elected again: its log may have
        been truncated and filled with other records.
        """
        leading = self.leading
        if leading is None or (leader_epoch is not None and leader_epoch < self.led_since_epoch):
            return ErrorCode.NOT_LEADER_OR_FOLLOWER
        if acks != ALL_IN_SYNC:
            return _NO_ERROR if self._committable_end() >= required_offset else None
        if self.log.high_watermark < required_offset:
            return None
        if self._has_too_few(leading):
            return ErrorCode.NOT_ENOUGH_REPLICAS_AFTER_APPEND
        return _NO_ERROR

    def _has_too_few(self, leading: LeaderState) -> bool:
        """Whether the ISR is too small for acks=all."""
        members = len(leading.isr.committed)
        # `min_insync` is at most the configured number and only computed if it can matter.
        return members < self.configured_min_insync and members < self.min_insync

    # --- fsync before acknowledgement ---

    def flush_ticket(self) -> FlushTicket:
        """Returns a ticket to take before a flush starts and to pass to `flushed` afterwards."""
        return self._durable.ticket(self.log.log_end_offset)

    def flushed(self, ticket: FlushTicket) -> None:
        """Records that a flush has written the log below the ticket's end to the disk."""
        self._durable.flushed(ticket)
        if self.leading is not None and not self.advance_high_watermark(
            self.settings.clock.monotonic_ms()
        ):
            self.notify_high_watermark()

    @property
    def may_fetch(self) -> bool:
        """Whether a fetch may report the log end offset to the leader as durable."""
        return self._committable_end() == self.log.log_end_offset

    def _committable_end(self) -> int:
        end = self.log.log_end_offset
        return end if self.settings.request_flush is None else min(end, self._durable.end_offset)

    # --- high watermark and in-sync replicas ---

    def record_follower_fetch(self, spec: FetchSpec, leader_end: int) -> None:
        """Records a follower's position, which may extend the ISR or move the high watermark."""
        leading = self.leading
        if leading is None:
            raise BrokerError(ErrorCode.NOT_LEADER_OR_FOLLOWER)
        replica_id, now_ms = spec.replica_id, self.settings.clock.monotonic_ms()
        progress = leading.followers[replica_id]
        progress.record_fetch(spec.offset, spec.log_start_offset, leader_end, now_ms)
        # The controller compares it with the registration and rejects an ISR with a broker that has
        # restarted meanwhile, whose log may be shorter now (KIP-903).
        progress.broker_epoch = spec.replica_epoch
        members = leading.with_joiner(replica_id, self.log.high_watermark)
        if members is not None and self.settings.is_alive(replica_id):
            self._propose_isr(members)
        self.advance_high_watermark(now_ms)

    def tick(self, now_ms: int) -> None:
        """Removes lagging replicas from the ISR and repeats a lost proposal; runs periodically."""
        leading = self.leading
        if leading is None or not leading.followers:
            return
        self._retry_proposal()
        max_lag_ms = self.settings.max_lag_ms
        members = leading.without_laggards(self.log.log_end_offset, now_ms, max_lag_ms)
        if members is not None:
            self._propose_isr(members)
        self.advance_high_watermark(now_ms)

    def _propose_isr(self, members: frozenset[BrokerId]) -> None:
        """Requests this ISR from the controller."""
        leading = self.leading
        if leading is None:
            return
        ordered = tuple(replica for replica in self.replicas if replica in members)
        epochs = tuple(
            leading.followers[member].broker_epoch
            if member in leading.followers
            else NO_BROKER_EPOCH
            for member in ordered
        )
        change = AlterPartitionChange(
            self.topic_partition, self.topic_id, self.leader_epoch,
            self.partition_epoch, ordered, epochs, LeaderRecoveryState.RECOVERED,
        )  # fmt: skip
        # Before the request is sent: from now on the high watermark must wait for the union of the
        # old and the proposed ISR, because either may be the one that the controller stores
        # (KIP-497).
        leading.propose(change)
        self._send_proposal(change)

    def _retry_proposal(self) -> None:
        """Sends a proposal with an unknown outcome again."""
        leading = self.leading
        if leading is not None and leading.proposal is not None and leading.outcome_open:
            leading.outcome_open = False
            self._send_proposal(leading.proposal)

    def _send_proposal(self, change: AlterPartitionChange) -> None:
        channel = self.settings.isr_channel
        channel.alter_partition(change, lambda reply: self._on_isr_reply(change, reply))

    def _on_isr_reply(self, change: AlterPartitionChange, reply: AlterPartitionReply) -> None:
        leading = self.leading
        if leading is None or leading.proposal is not change:
            return  # a newer command of the controller has replaced the proposal
        if self._is_newer_isr(reply):
            # The reply may have the error INVALID_UPDATE_VERSION: the controller has stored this
            # change already and the response was lost, or it has made a change itself. Adopting the
            # newer ISR ends the retry loop of KAFKA-2729.
            self._commit_isr(leading, reply)
            return
        self.settings.isr_changes.failed += 1
        if reply.error in _NOT_APPLIED and not self._may_still_be_applied(leading):
            leading.settle(leading.isr.committed)
        elif reply.error not in _WAIT_FOR_CONTROLLER:
            now_ms = self.settings.clock.monotonic_ms()
            leading.unsure(now_ms, outcome_unknown=reply.error not in _NOT_APPLIED)
        else:
            logger.info(
                "partition %s: the controller rejected the in-sync replicas %s with %s; waiting "
                "for its next command",
                self.topic_partition, change.new_isr, reply.error.name,
            )  # fmt: skip

    def _is_newer_isr(self, reply: AlterPartitionReply) -> bool:
        return (
            reply.leader_epoch == self.leader_epoch
            and reply.leader == self.leader
            and reply.partition_epoch > self.partition_epoch
        )

    def _may_still_be_applied(self, leading: LeaderState) -> bool:
        """Whether the controller may still accept an earlier attempt without a response.

        As long as it may, the leader must wait for the members of the proposal.
        """
        now_ms = self.settings.clock.monotonic_ms()
        return now_ms - leading.last_unsure_ms < self.settings.request_lifetime_ms

    def _commit_isr(self, leading: LeaderState, reply: AlterPartitionReply) -> None:
        """Adopts the state that the controller confirmed within this leader epoch."""
        self.partition_epoch = reply.partition_epoch
        self.recovering = reply.recovery is LeaderRecoveryState.RECOVERING
        self.settings.isr_changes.changed(leading.isr.committed, frozenset(reply.isr))
        leading.settle(reply.isr)
        # A smaller ISR may release the high watermark (KAFKA-13091), a larger one may reach
        # min.insync.replicas.
        self.advance_high_watermark(self.settings.clock.monotonic_ms())

    def advance_high_watermark(self, now_ms: int) -> bool:
        """Moves the high watermark to the end that all counted replicas have; True if it moved."""
        leading = self.leading
        if leading is None or self._has_too_few(leading):
            return False  # below min.insync.replicas nothing is committed (KIP-966)
        end, max_lag_ms = self._committable_end(), self.settings.max_lag_ms
        return self.raise_high_watermark(
            leading.high_watermark(end, now_ms, max_lag_ms, self.settings.is_alive)
        )

    def raise_high_watermark(self, candidate: int) -> bool:
        """Raises the high watermark; returns False if `candidate` is not higher."""
        # A leader's high watermark never decreases, even if its candidate does (a follower that
        # restarted reports a lower end): consumers have read up to it.
        if candidate <= self.log.high_watermark:
            return False
        self.log.update_high_watermark(candidate)
        self.notify_high_watermark()
        return True

    def notify_high_watermark(self) -> None:
        """Notifies listeners of the high watermark, also when only its recipients have changed."""
        for listener in self._listeners:
            listener.on_high_watermark(self)

    # --- moving to another log directory ---

    def replace_log(self, log: ReplicaLog) -> None:
        """Switches to a log with the same records in another log directory."""
        self.log = log
        self._durable.truncated(log.log_end_offset)  # flushes in flight belong to the old log
        if self.settings.request_flush is not None:
            self.settings.request_flush(self)

    # --- truncation ---

    def truncate_to(self, offset: int) -> None:
        self.log.truncate_to(offset)
        self._durable.truncated(self.log.log_end_offset)  # truncation removes whole batches

    def restart_at(self, offset: int) -> None:
        """Empties the log; the next append gets this offset."""
        self.log.truncate_fully_and_start_at(offset)
        self._durable.truncated(offset)

    # --- log start offset ---

    @property
    def low_watermark(self) -> int:
        """The lowest log start offset of the in-sync replicas; DeleteRecords waits for it."""
        starts = [self.log.log_start_offset]
        if self.leading is not None:
            members = self.leading.isr.committed
            starts += [
                p.log_start_offset for b, p in self.leading.followers.items() if b in members
            ]
        return min(starts)

    def delete_records(self, offset: int) -> int:
        """Moves the log start offset and returns it; -1 means the high watermark."""
        if self.leading is None:
            raise BrokerError(ErrorCode.NOT_LEADER_OR_FOLLOWER)
        log = self.log
        target = log.high_watermark if offset == -1 else offset
        if not 0 <= target <= log.high_watermark:
            raise BrokerError(ErrorCode.OFFSET_OUT_OF_RANGE)
        if target > log.log_start_offset:
            log.increment_log_start_offset(target, "client delete")
        return log.log_start_offset
