"""What the controller's commands do to a replica: begin to lead, go on leading, follow, resign.

A command is ordered by (leader epoch, partition epoch); one that is not newer than what a leader
knows changes nothing. Listeners hear of a new leader epoch after the partition is in it.
"""

from typing import TYPE_CHECKING

from barnabas.model.control import NO_LEADER, PartitionState
from barnabas.replication.leader_state import LeaderState

if TYPE_CHECKING:
    from barnabas.replication.partition import Partition


def make_leader(partition: "Partition", state: PartitionState) -> bool:
    """Lead as told; True when this broker begins to lead in this epoch.

    A command that repeats the known state changes nothing, in particular not a proposal in
    flight: it may be committed already, and its members must be waited for.
    """
    was_leader = partition.is_leader
    if was_leader and not _is_newer(partition, state):
        return False
    begins = not was_leader or state.leader_epoch > partition.leader_epoch
    leading = _begin_leading(partition, state) if begins else partition.leading
    if leading is None:
        raise AssertionError(f"{partition!r} has no leader's state")
    leading.adopt(state)
    now_ms = partition.settings.clock.monotonic_ms()
    if not was_leader:
        partition.led_since_epoch = state.leader_epoch
    if begins:
        leading.start_epoch(forget_positions=not was_leader, now_ms=now_ms)
    _adopt(partition, state)
    partition.leading, partition.is_leader = leading, True
    if begins:
        partition.tell_leader_change()
    partition.advance_high_watermark(now_ms)
    return begins


def make_follower(partition: "Partition", state: PartitionState) -> bool:
    """Follow as told; True when the leader epoch is new, so that fetching must start over."""
    was_leader = partition.is_leader
    if was_leader and not _is_newer(partition, state):
        return False
    begins = was_leader or state.leader_epoch > partition.leader_epoch
    _adopt(partition, state)
    partition.followed_isr = frozenset(state.isr)
    partition.leading, partition.is_leader = None, False
    if begins:
        offset = partition.settings.guards.truncate_at_start(partition.log)
        if offset is not None:
            partition.truncate_to(offset)
        partition.tell_leader_change()
    return begins


def resign(partition: "Partition") -> None:
    """Stop leading without a successor."""
    was_leader = partition.is_leader
    partition.followed_isr = partition.isr
    partition.leading, partition.is_leader, partition.leader = None, False, NO_LEADER
    if was_leader:
        partition.tell_leader_change()


def _is_newer(partition: "Partition", state: PartitionState) -> bool:
    known = (partition.leader_epoch, partition.partition_epoch)
    return (state.leader_epoch, state.partition_epoch) > known


def _adopt(partition: "Partition", state: PartitionState) -> None:
    partition.leader = state.leader
    partition.leader_epoch = state.leader_epoch
    partition.partition_epoch = state.partition_epoch
    partition.replicas = state.replicas
    partition.topic_id = state.topic_id
    partition.recovering = state.recovering


def _begin_leading(partition: "Partition", state: PartitionState) -> LeaderState:
    log, settings = partition.log, partition.settings
    start = log.log_end_offset
    # Before anything is appended in it, the epoch is on record with its start (KAFKA-7415):
    # a follower that asks for it must not be told that it is unknown.
    log.assign_epoch_start(state.leader_epoch)
    leading = LeaderState(settings.broker_id, start, settings.guards.may_join)
    if partition.leading is not None:
        leading.followers = partition.leading.followers
    return leading
