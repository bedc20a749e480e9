"""Requests of a follower to a leader and their results, and the port that sends them.

The broker implements `ReplicaSource` with Fetch (v12 or later, which contains the epoch of the last
record) and ListOffsets over a separate connection.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from barnabas.model.error_codes import ErrorCode
from barnabas.model.ids import TopicPartition, Uuid
from barnabas.replication.epochs import LogEpochEnd


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
