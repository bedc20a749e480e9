"""Reads, offset look-ups and epoch look-ups of one replica.

Functions over `Partition`, apart from it because they change nothing but a follower's progress.
See `partition_read` for the values and the rule about bounds.
"""

from typing import TYPE_CHECKING

from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BrokerError
from barnabas.model.ids import NO_BROKER, BrokerId
from barnabas.model.records import NO_EPOCH, IsolationLevel
from barnabas.replication.epochs import UNDEFINED, EpochEnd
from barnabas.replication.isr import NEVER_MS, UNKNOWN_OFFSET
from barnabas.replication.partition_read import (
    EARLIEST_LOCAL_TIMESTAMP,
    EARLIEST_TIMESTAMP,
    LATEST_TIMESTAMP,
    MAX_TIMESTAMP,
    FetchSpec,
    OffsetAnswer,
    PartitionRead,
)
from barnabas.replication.read_replica import ReplicaView, rack_aware_replica

if TYPE_CHECKING:
    from barnabas.replication.partition import Partition

# Twice as long as clients stay with a replica before they ask the leader again.
_READERS_STAY_MS = 600_000


def check_reader(partition: "Partition", current_leader_epoch: int, *, leader_only: bool) -> None:
    """Refuse a reader with another idea of the leader epoch, or who wants the leader elsewhere."""
    if current_leader_epoch != NO_EPOCH:
        error = partition.settings.guards.check_leader_epoch(
            current_leader_epoch, partition.leader_epoch
        )
        if error is not ErrorCode.NONE:
            raise BrokerError(error)
    if leader_only and not partition.is_leader:
        raise BrokerError(ErrorCode.NOT_LEADER_OR_FOLLOWER)


def read(partition: "Partition", spec: FetchSpec) -> PartitionRead:
    """Serve one partition of a fetch."""
    check_reader(partition, spec.current_leader_epoch, leader_only=spec.leader_only)
    if spec.replica_id >= 0:
        return _read_as_follower(partition, spec)
    if spec.last_fetched_epoch != NO_EPOCH:
        diverging = _divergence(partition, spec)
        if diverging is not None:
            return _empty(partition, spec, diverging_epoch=diverging)
    if spec.client_rack and partition.is_leader:
        preferred = _preferred_replica(partition, spec)
        if preferred is not None:
            _note_reader(partition, preferred)
            return _empty(partition, spec, preferred=preferred)
    return _read_as_consumer(partition, spec)


def _read_as_consumer(partition: "Partition", spec: FetchSpec) -> PartitionRead:
    log = partition.log
    watermark, stable, end = log.high_watermark, log.last_stable_offset, log.log_end_offset
    committed_only = spec.isolation is IsolationLevel.READ_COMMITTED
    bound = stable if committed_only else watermark
    found = log.read(
        spec.offset, spec.max_bytes, max_offset=bound, min_one_batch=spec.min_one_batch
    )
    size = found.size
    answer = PartitionRead(
        found.slice, size, watermark, stable, log.log_start_offset, end, found.next_offset
    )
    if committed_only and size:
        # Entries past the bound belong to batches that this reader does not get.
        answer.aborted = log.aborted_transactions(spec.offset, min(bound, found.next_offset))
    return answer


def _read_as_follower(partition: "Partition", spec: FetchSpec) -> PartitionRead:
    leading = partition.leading
    if leading is None or spec.replica_id not in leading.followers:
        # Either side may not have heard of the assignment yet: the follower backs off and asks
        # again, by when the commands of the controller have arrived.
        raise BrokerError(ErrorCode.UNKNOWN_LEADER_EPOCH)
    if spec.last_fetched_epoch != NO_EPOCH:
        diverging = _divergence(partition, spec)
        if diverging is not None:
            return _empty(partition, spec, diverging_epoch=diverging)
    log = partition.log
    end = log.log_end_offset
    if not log.log_start_offset <= spec.offset <= end:
        raise BrokerError(ErrorCode.OFFSET_OUT_OF_RANGE)
    # First the position, then the watermark: the follower learns at once what it has committed.
    partition.record_follower_fetch(spec, end)
    if _is_held_back(partition, spec.replica_id):
        return _empty(partition, spec)
    watermark, stable = log.high_watermark, log.last_stable_offset
    found = log.read(spec.offset, spec.max_bytes, max_offset=end, min_one_batch=spec.min_one_batch)
    read = PartitionRead(
        found.slice, found.size, watermark, stable, log.log_start_offset, end, found.next_offset
    )
    progress = leading.followers[spec.replica_id]
    if progress.reader_sent_ms != NEVER_MS:
        read.is_urgent = owes_watermark(partition, spec.replica_id)
        progress.told_high_watermark = watermark
    return read


def _is_held_back(partition: "Partition", replica_id: BrokerId) -> bool:
    """Whether the throttle of moves keeps records from this follower; never if it is in sync."""
    settings, leading = partition.settings, partition.leading
    throttle = settings.leader_throttle
    if throttle is None or not throttle.active or leading is None:
        return False
    if replica_id in leading.isr.committed:
        return False
    return throttle.wait_ms(partition.topic_partition, settings.clock.monotonic_ms()) > 0


def _divergence(partition: "Partition", spec: FetchSpec) -> EpochEnd | None:
    diverging = partition.settings.guards.divergence(
        partition.log, spec.last_fetched_epoch, spec.offset
    )
    if diverging == UNDEFINED:
        raise BrokerError(ErrorCode.OFFSET_OUT_OF_RANGE)
    return diverging


def _empty(
    partition: "Partition",
    spec: FetchSpec,
    *,
    diverging_epoch: EpochEnd | None = None,
    preferred: BrokerId = NO_BROKER,
) -> PartitionRead:
    log = partition.log
    return PartitionRead(
        None, 0, log.high_watermark, log.last_stable_offset, log.log_start_offset,
        log.log_end_offset, spec.offset, (), diverging_epoch, preferred,
    )  # fmt: skip


def owes_watermark(partition: "Partition", follower: BrokerId) -> bool:
    """Whether consumers wait at this follower for a high watermark that it has not been told.

    It would learn of it with the next records, or when its fetch has waited long enough; those who
    read from it should not wait as long (KIP-392). Others are not told early: each answer is one
    more fetch (KAFKA-9731).
    """
    leading = partition.leading
    progress = None if leading is None else leading.followers.get(follower)
    if progress is None or progress.reader_sent_ms == NEVER_MS:
        return False
    if progress.told_high_watermark >= partition.log.high_watermark:
        return False
    now_ms = partition.settings.clock.monotonic_ms()
    return now_ms - progress.reader_sent_ms < _READERS_STAY_MS


def _note_reader(partition: "Partition", follower: BrokerId) -> None:
    if partition.leading is not None:
        progress = partition.leading.followers[follower]
        progress.reader_sent_ms = partition.settings.clock.monotonic_ms()
        progress.told_high_watermark = UNKNOWN_OFFSET
        partition.tell_high_watermark()  # the follower's fetch may have waited since before


def _preferred_replica(partition: "Partition", spec: FetchSpec) -> BrokerId | None:
    leading, settings = partition.leading, partition.settings
    if leading is None or not leading.followers:
        return None
    views = [
        ReplicaView(
            member, settings.rack_of(member), progress.log_start_offset, progress.log_end_offset
        )
        for member, progress in leading.followers.items()
        if member in leading.isr.committed and settings.is_alive(member)
    ]
    own = settings.broker_id
    views.append(ReplicaView(own, settings.rack_of(own), 0, 0, is_leader=True))
    return rack_aware_replica(spec.client_rack, spec.offset, views)


def list_offset(
    partition: "Partition",
    timestamp_ms: int,
    *,
    isolation: IsolationLevel | None = IsolationLevel.READ_UNCOMMITTED,
    current_leader_epoch: int = NO_EPOCH,
    leader_only: bool = True,
) -> OffsetAnswer:
    """Answer ListOffsets; `isolation` None is a replica or a tool that sees the whole log.

    A new leader's watermark may be behind what its predecessor showed to clients. Until it has
    reached the start of the leader's epoch, "latest" would go back (KAFKA-7703), so it is refused
    with OFFSET_NOT_AVAILABLE, as is a look-up by time that would need the hidden part (KIP-207).
    """
    check_reader(partition, current_leader_epoch, leader_only=leader_only)
    log = partition.log
    bound = _visible_end(partition, isolation)
    lagging = isolation is not None and _watermark_lags(partition)
    if timestamp_ms == LATEST_TIMESTAMP:
        if lagging:
            raise BrokerError(ErrorCode.OFFSET_NOT_AVAILABLE)
        return OffsetAnswer(bound, leader_epoch=partition.leader_epoch)
    if timestamp_ms in (EARLIEST_TIMESTAMP, EARLIEST_LOCAL_TIMESTAMP):
        start = log.log_start_offset
        return OffsetAnswer(start, leader_epoch=log.epochs.epoch_for_offset(start))
    if timestamp_ms == MAX_TIMESTAMP:
        found = log.max_timestamp_offset()
    else:
        found = log.offset_for_timestamp(timestamp_ms)
    if found is not None and found[1] < bound:
        return OffsetAnswer(found[1], found[0], found[2])
    if lagging:
        raise BrokerError(ErrorCode.OFFSET_NOT_AVAILABLE)
    return OffsetAnswer()


def _visible_end(partition: "Partition", isolation: IsolationLevel | None) -> int:
    match isolation:
        case None:
            return partition.log.log_end_offset
        case IsolationLevel.READ_COMMITTED:
            return partition.log.last_stable_offset
        case _:
            return partition.log.high_watermark


def _watermark_lags(partition: "Partition") -> bool:
    leading = partition.leading
    return leading is not None and partition.log.high_watermark < leading.epoch_start_offset


def end_offset_for_epoch(
    partition: "Partition",
    epoch: int,
    *,
    current_leader_epoch: int = NO_EPOCH,
    leader_only: bool = True,
) -> EpochEnd:
    """Answer OffsetForLeaderEpoch: the largest epoch not above `epoch`, and where it ends."""
    check_reader(partition, current_leader_epoch, leader_only=leader_only)
    return EpochEnd(*partition.log.end_offset_for_epoch(epoch))
