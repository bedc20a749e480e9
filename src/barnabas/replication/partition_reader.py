"""Serves fetches, ListOffsets and OffsetForLeaderEpoch from one replica.

The functions read a `Partition` and record the progress of followers. A consumer reads below the
high watermark, with `read_committed` below the last stable offset; a follower reads to the log end
offset. All bounds are exclusive. Every bound is read once, before the log is read, so that a
response never contains records above its high watermark (KAFKA-9807, KAFKA-9835).

A consumer may be sent to an in-sync follower in its own rack (KIP-392); the leader decides per
fetch.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BrokerError
from barnabas.model.ids import NO_BROKER, BrokerId
from barnabas.model.records import (
    EARLIEST_LOCAL_TIMESTAMP,
    EARLIEST_TIMESTAMP,
    LATEST_TIMESTAMP,
    MAX_TIMESTAMP,
    NO_EPOCH,
    IsolationLevel,
)
from barnabas.replication.epochs import UNDEFINED, LogEpochEnd
from barnabas.replication.isr import NEVER_MS
from barnabas.replication.partition import Partition
from barnabas.replication.ports import FetchSpec
from barnabas.storage.indexes import AbortedTxn
from barnabas.storage.log_reader import FileSlice

_COMMITTED = IsolationLevel.READ_COMMITTED
# Twice the time after which a consumer at a follower contacts the leader again.
_READERS_STAY_MS = 600_000


@dataclass(slots=True)
class PartitionRead:
    """Result of a fetch for one partition; `slice` is None without records."""

    slice: FileSlice | None
    size: int
    high_watermark: int
    last_stable_offset: int
    log_start_offset: int
    log_end_offset: int
    next_offset: int
    aborted: Sequence[AbortedTxn] = ()
    diverging_epoch: LogEpochEnd | None = None
    preferred_read_replica: BrokerId = NO_BROKER
    is_urgent: bool = False
    """Whether the response must be sent at once, even without records."""


@dataclass(frozen=True, slots=True)
class FoundOffset:
    """Result of ListOffsets; all fields are -1 if no record matches."""

    offset: int = -1
    timestamp_ms: int = -1
    leader_epoch: int = NO_EPOCH


@dataclass(frozen=True, slots=True)
class TimestampSearch:
    """State of a search by time that was continued in a thread.

    `hit` is the record that was found: timestamp, offset and leader epoch. Without one the search
    continues at `next_offset`.
    """

    hit: tuple[int, int, int] | None = None
    next_offset: int = 0


NOT_SEARCHED = TimestampSearch()


@dataclass(frozen=True, slots=True)
class ReplicaView:
    """Position and rack of one replica that a consumer may read from."""

    broker_id: BrokerId
    rack: str | None
    log_start_offset: int
    log_end_offset: int
    is_leader: bool = False

    def holds(self, offset: int) -> bool:
        return self.log_start_offset <= offset <= self.log_end_offset


def rack_aware_replica(
    client_rack: str | None, fetch_offset: int, replicas: Sequence[ReplicaView]
) -> BrokerId | None:
    """Returns the most caught-up replica in the client's rack that has the offset.

    None means that the consumer stays with the leader, for example because the leader is in the
    rack itself.
    """
    # KIP-392, with the selection of Kafka's RackAwareReplicaSelector.
    if not client_rack:
        return None
    near = [
        replica
        for replica in replicas
        if replica.rack == client_rack
        and (
            replica.is_leader or replica.log_start_offset <= fetch_offset <= replica.log_end_offset
        )
    ]
    if not near or any(replica.is_leader for replica in near):
        return None
    return max(near, key=lambda replica: (replica.log_end_offset, -replica.broker_id)).broker_id


def check_reader(partition: Partition, current_leader_epoch: int, *, leader_only: bool) -> None:
    """Raises BrokerError if the reader's leader epoch differs or it needs the leader."""
    if current_leader_epoch != NO_EPOCH:
        error = partition.settings.rules.check_leader_epoch(
            current_leader_epoch, partition.leader_epoch
        )
        if error is not ErrorCode.NONE:
            raise BrokerError(error)
    if leader_only and not partition.is_leader:
        raise BrokerError(ErrorCode.NOT_LEADER_OR_FOLLOWER)


def read(partition: Partition, spec: FetchSpec) -> PartitionRead:
    """Serves one partition of a consumer's or a follower's fetch; raises BrokerError."""
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


def _read_as_consumer(partition: Partition, spec: FetchSpec) -> PartitionRead:
    log = partition.log
    watermark, stable, end = log.high_watermark, log.last_stable_offset, log.log_end_offset
    committed_only = spec.isolation is _COMMITTED
    bound = stable if committed_only else watermark
    found = log.read(
        spec.offset, spec.max_bytes, max_offset=bound, min_one_batch=spec.min_one_batch
    )
    size = found.size
    result = PartitionRead(
        found.slice, size, watermark, stable, log.log_start_offset, end, found.next_offset
    )
    if committed_only and size:
        # Entries above the bound belong to batches that this response does not contain.
        result.aborted = log.aborted_transactions(spec.offset, min(bound, found.next_offset))
    return result


def _read_as_follower(partition: Partition, spec: FetchSpec) -> PartitionRead:
    leading = partition.leading
    if leading is None or spec.replica_id not in leading.followers:
        # The controller's command has not reached one of the two brokers yet. The follower backs
        # off and fetches again.
        raise BrokerError(ErrorCode.UNKNOWN_LEADER_EPOCH)
    if spec.last_fetched_epoch != NO_EPOCH:
        diverging = _divergence(partition, spec)
        if diverging is not None:
            return _empty(partition, spec, diverging_epoch=diverging)
    log = partition.log
    end = log.log_end_offset
    if not log.log_start_offset <= spec.offset <= end:
        raise BrokerError(ErrorCode.OFFSET_OUT_OF_RANGE)
    # The position is recorded before the watermark is read, so that this response already
    # contains the high watermark that the fetch has caused.
    partition.record_follower_fetch(spec, end)
    if _is_throttled(partition, spec.replica_id):
        return _empty(partition, spec)
    watermark, stable = log.high_watermark, log.last_stable_offset
    found = log.read(spec.offset, spec.max_bytes, max_offset=end, min_one_batch=spec.min_one_batch)
    read = PartitionRead(
        found.slice, found.size, watermark, stable, log.log_start_offset, end, found.next_offset
    )
    progress = leading.followers[spec.replica_id]
    if progress.consumer_seen_ms != NEVER_MS:
        read.is_urgent = needs_high_watermark(partition, spec.replica_id)
        progress.note_sent_high_watermark(watermark)
    return read


def try_record_idle_follower(
    partition: Partition, replica_id: BrokerId, replica_epoch: int, offset: int, now_ms: int
) -> bool:
    """Records the repeated fetch of a follower that has everything; False if a read is needed.

    The fetch of an in-sync follower at the log end offset, which is also the high watermark, can
    neither change the ISR nor move the high watermark; it only shows that the follower is alive.
    """
    leading, log = partition.leading, partition.log
    if leading is None or not offset == log.log_end_offset == log.high_watermark:
        return False
    progress = leading.followers.get(replica_id)
    if (
        progress is None
        or progress.log_end_offset != offset
        or progress.consumer_seen_ms != NEVER_MS
        or replica_id not in leading.isr.committed
    ):
        return False
    progress.record_fetch(offset, progress.log_start_offset, offset, now_ms)
    progress.broker_epoch = replica_epoch
    return True


def _is_throttled(partition: Partition, replica_id: BrokerId) -> bool:
    """Whether the replication throttle applies to this follower; never if it is in sync."""
    settings, leading = partition.settings, partition.leading
    throttle = settings.leader_throttle
    if throttle is None or not throttle.active or leading is None:
        return False
    if replica_id in leading.isr.committed:
        return False
    return throttle.wait_ms(partition.topic_partition, settings.clock.monotonic_ms()) > 0


def _divergence(partition: Partition, spec: FetchSpec) -> LogEpochEnd | None:
    diverging = partition.settings.rules.divergence(
        partition.log, spec.last_fetched_epoch, spec.offset
    )
    if diverging == UNDEFINED:
        raise BrokerError(ErrorCode.OFFSET_OUT_OF_RANGE)
    return diverging


def _empty(
    partition: Partition,
    spec: FetchSpec,
    *,
    diverging_epoch: LogEpochEnd | None = None,
    preferred: BrokerId = NO_BROKER,
) -> PartitionRead:
    log = partition.log
    return PartitionRead(
        None, 0, log.high_watermark, log.last_stable_offset, log.log_start_offset,
        log.log_end_offset, spec.offset, (), diverging_epoch, preferred,
    )  # fmt: skip


def needs_high_watermark(partition: Partition, follower: BrokerId) -> bool:
    """Whether consumers of this follower wait for a high watermark that it has not received.

    Without an early response it receives the high watermark with the next records or when its
    fetch times out; consumers that read from it should not wait that long (KIP-392). Followers
    without consumers get no early response, because each one causes another fetch (KAFKA-9731).
    """
    leading = partition.leading
    progress = None if leading is None else leading.followers.get(follower)
    if progress is None or progress.consumer_seen_ms == NEVER_MS:
        return False
    if progress.sent_high_watermark >= partition.log.high_watermark:
        return False
    now_ms = partition.settings.clock.monotonic_ms()
    return now_ms - progress.consumer_seen_ms < _READERS_STAY_MS


def _note_reader(partition: Partition, follower: BrokerId) -> None:
    if partition.leading is not None:
        progress = partition.leading.followers[follower]
        progress.note_consumer(partition.settings.clock.monotonic_ms())
        partition.notify_high_watermark()  # the follower's fetch may be parked already


def _preferred_replica(partition: Partition, spec: FetchSpec) -> BrokerId | None:
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
    partition: Partition,
    timestamp_ms: int,
    *,
    isolation: IsolationLevel | None = IsolationLevel.READ_UNCOMMITTED,
    current_leader_epoch: int = NO_EPOCH,
    leader_only: bool = True,
    searched: TimestampSearch = NOT_SEARCHED,
) -> FoundOffset:
    """Returns the result of ListOffsets; replicas and tools with `isolation` None see all records.

    Raises LargeBatchError if a search by time must be continued in a thread; its result is passed
    as `searched` to the next call.

    A new leader's high watermark may be lower than the one that clients saw before. Until it
    reaches the start of the leader's epoch, "latest" would decrease (KAFKA-7703). Such requests,
    and lookups by time that need records above the high watermark, get OFFSET_NOT_AVAILABLE
    (KIP-207).
    """
    check_reader(partition, current_leader_epoch, leader_only=leader_only)
    log = partition.log
    bound = _visible_end(partition, isolation)
    lagging = isolation is not None and _watermark_lags(partition)
    if timestamp_ms == LATEST_TIMESTAMP:
        if lagging:
            raise BrokerError(ErrorCode.OFFSET_NOT_AVAILABLE)
        return FoundOffset(bound, leader_epoch=partition.leader_epoch)
    if timestamp_ms in (EARLIEST_TIMESTAMP, EARLIEST_LOCAL_TIMESTAMP):
        start = log.log_start_offset
        return FoundOffset(start, leader_epoch=log.epochs.epoch_for_offset(start))
    found = searched.hit
    if found is None and timestamp_ms == MAX_TIMESTAMP:
        found = log.max_timestamp_offset()
    elif found is None:
        found = log.offset_for_timestamp(timestamp_ms, searched.next_offset)
    # A record above the bound may still be lost with this leader, or belong to an open transaction:
    # the reader must not learn of it.
    if found is not None and found[1] < bound:
        return FoundOffset(found[1], found[0], found[2])
    if lagging:
        raise BrokerError(ErrorCode.OFFSET_NOT_AVAILABLE)
    return FoundOffset()


def _visible_end(partition: Partition, isolation: IsolationLevel | None) -> int:
    match isolation:
        case None:
            return partition.log.log_end_offset
        case IsolationLevel.READ_COMMITTED:
            return partition.log.last_stable_offset
        case _:
            return partition.log.high_watermark


def _watermark_lags(partition: Partition) -> bool:
    leading = partition.leading
    return leading is not None and partition.log.high_watermark < leading.epoch_start_offset


def end_offset_for_epoch(
    partition: Partition,
    epoch: int,
    *,
    current_leader_epoch: int = NO_EPOCH,
    leader_only: bool = True,
) -> LogEpochEnd:
    """Returns the largest epoch not above `epoch` and its end offset (OffsetForLeaderEpoch)."""
    check_reader(partition, current_leader_epoch, leader_only=leader_only)
    return LogEpochEnd(*partition.log.end_offset_for_epoch(epoch))
