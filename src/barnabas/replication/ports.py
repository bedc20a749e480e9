"""Protocols of the components that replication uses, and the values they exchange.

`ReplicaLog` is the part of `storage.Log` that a replica uses; tests use a log in memory. The broker
implements `IsrChannel` with its connection to the controller and `LogSource` with its log manager
and the topic configurations. It implements `ReplicaSource`, a follower's connection to a leader,
with Fetch (v12 or later, which contains the epoch of the last record) and ListOffsets.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from barnabas.model.control import NO_BROKER_EPOCH, AlterPartitionChange, AlterPartitionReply
from barnabas.model.error_codes import ErrorCode
from barnabas.model.ids import NO_BROKER, BrokerId, TopicPartition, Uuid
from barnabas.model.records import NO_EPOCH, IsolationLevel
from barnabas.records.batch import BatchHeader
from barnabas.replication.epochs import LogEpochEnd
from barnabas.storage.append_info import AppendInfo, AppendOrigin
from barnabas.storage.indexes import AbortedTxn
from barnabas.storage.log_reader import LogRead


@dataclass(frozen=True, slots=True)
class ReplicaFetchLimits:
    """Kafka's `replica.fetch.*` settings."""

    max_wait_ms: int = 500
    min_bytes: int = 1
    max_bytes: int = 10 * 1024 * 1024
    partition_max_bytes: int = 1024 * 1024
    backoff_ms: int = 1000


@dataclass(frozen=True, slots=True)
class FetchPartition:
    """One partition to fetch, with its leader epoch and the epoch of the follower's last record."""

    topic_partition: TopicPartition
    topic_id: Uuid
    leader_epoch: int
    offset: int
    last_fetched_epoch: int
    log_start_offset: int


@dataclass(frozen=True, slots=True)
class ReplicaFetchPlan:
    """One fetch; the leader fills the partitions in this order."""

    partitions: tuple[FetchPartition, ...]
    limits: ReplicaFetchLimits


@dataclass(slots=True)
class FetchedPartition:
    """A leader's response for one partition; `records` contains whole batches."""

    topic_partition: TopicPartition
    error: ErrorCode = ErrorCode.NONE
    high_watermark: int = -1
    log_start_offset: int = -1
    records: memoryview | bytes = b""
    diverging_epoch: LogEpochEnd | None = None


@dataclass(frozen=True, slots=True)
class OffsetsPlan:
    """Request for the leader's log start and end, for partitions with an offset out of range."""

    partitions: tuple[FetchPartition, ...]


@dataclass(frozen=True, slots=True)
class LeaderOffsets:
    """Log start offset and log end offset of a leader."""

    topic_partition: TopicPartition
    error: ErrorCode = ErrorCode.NONE
    start_offset: int = -1
    end_offset: int = -1


class ReplicaSource(Protocol):
    """A connection to one leader; raises BarnabasError or OSError without a response."""

    async def fetch(self, plan: ReplicaFetchPlan) -> Sequence[FetchedPartition]: ...
    async def leader_offsets(self, plan: OffsetsPlan) -> Sequence[LeaderOffsets]: ...
    async def close(self) -> None: ...


# --- Fetches that this broker serves --------------------------------------------------------------


@dataclass(slots=True)
class FetchSpec:
    """One partition of one fetch; not frozen, because a fetch creates one per partition.

    `replica_id` is NO_BROKER for consumers. `leader_only` is false for consumers with a rack,
    which may read from a follower. `log_start_offset` is that of the follower's log.
    """

    offset: int
    max_bytes: int
    min_one_batch: bool = True
    current_leader_epoch: int = NO_EPOCH
    isolation: IsolationLevel = IsolationLevel.READ_UNCOMMITTED
    replica_id: BrokerId = NO_BROKER
    last_fetched_epoch: int = NO_EPOCH
    log_start_offset: int = -1
    replica_epoch: int = NO_BROKER_EPOCH
    client_rack: str | None = None
    leader_only: bool = True


# --- The log of a replica and the controller ------------------------------------------------------


class EpochsOfLog(Protocol):
    """The epoch entries of a log."""

    def epoch_for_offset(self, offset: int) -> int: ...


class ReplicaLog(Protocol):
    """One replica's log: offsets, appends, reads, truncation, epochs."""

    @property
    def epochs(self) -> EpochsOfLog: ...
    @property
    def log_start_offset(self) -> int: ...
    @property
    def log_end_offset(self) -> int: ...
    @property
    def high_watermark(self) -> int: ...
    @property
    def last_stable_offset(self) -> int: ...
    @property
    def latest_epoch(self) -> int: ...

    def append_as_leader(
        self,
        batch: bytearray | memoryview,
        header: BatchHeader,
        *,
        leader_epoch: int,
        now_ms: int,
        origin: AppendOrigin,
    ) -> AppendInfo: ...
    def append_as_follower(self, batches: memoryview | bytes) -> AppendInfo: ...
    def read(
        self, offset: int, max_bytes: int, *, max_offset: int, min_one_batch: bool
    ) -> LogRead: ...
    def aborted_transactions(self, start: int, end_exclusive: int) -> Sequence[AbortedTxn]: ...
    def offset_for_timestamp(
        self, timestamp: int, start_offset: int
    ) -> tuple[int, int, int] | None: ...
    def max_timestamp_offset(self) -> tuple[int, int, int] | None: ...
    def truncate_to(self, offset: int) -> object: ...
    def truncate_fully_and_start_at(self, offset: int) -> object: ...
    def update_high_watermark(self, offset: int) -> object: ...
    def increment_log_start_offset(self, offset: int, reason: str) -> object: ...
    def end_offset_for_epoch(self, epoch: int) -> tuple[int, int]: ...
    def assign_epoch_start(self, epoch: int) -> object:
        """Records that the leader of this epoch starts at the log end offset."""
        ...


class LogSource(Protocol):
    """Creates and deletes the logs of replicas; raises BrokerError(KAFKA_STORAGE_ERROR).

    `is_new` means that the partition was just created, so no log can exist yet. Deleting a log
    that does not exist is not an error.
    """

    def get_or_create(
        self, topic_partition: TopicPartition, topic_id: Uuid, *, is_new: bool
    ) -> ReplicaLog: ...
    def delete(self, topic_partition: TopicPartition) -> None: ...


class IsrChannel(Protocol):
    """Sends a proposed ISR to the controller.

    `on_reply` is called once, on the event loop. If the outcome is unknown, for example after a
    timeout, the reply has REQUEST_TIMED_OUT and the partition proposes again.
    """

    def alter_partition(
        self, change: AlterPartitionChange, on_reply: Callable[[AlterPartitionReply], None]
    ) -> None: ...
