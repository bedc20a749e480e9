"""Parameters and results of reads from a replica.

A consumer reads below the high watermark, with `read_committed` below the last stable offset; a
follower reads to the log end offset. All bounds are exclusive. Every bound is read once, before
the log is read, so that a response never contains records above its high watermark (KAFKA-9807,
KAFKA-9835).
"""

from collections.abc import Sequence
from dataclasses import dataclass

from barnabas.model.control import NO_BROKER_EPOCH
from barnabas.model.ids import NO_BROKER, BrokerId
from barnabas.model.records import NO_EPOCH, IsolationLevel
from barnabas.replication.epochs import LogEpochEnd
from barnabas.storage.indexes import AbortedTxn
from barnabas.storage.log_reader import FileSlice


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
class OffsetAnswer:
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
