"""Reading from a replica: the checks a fetch passes, and what a reader of each kind may see.

A consumer reads below the high watermark, or below the last stable offset when it wants committed
transactions only; a follower reads to the end of the log. Both bounds are exclusive. Every bound
is read once, before the log is touched, so that a response never holds data past the watermark it
names (KAFKA-9807, KAFKA-9835).
"""

from collections.abc import Sequence
from dataclasses import dataclass

from barnabas.model.control import NO_BROKER_EPOCH
from barnabas.model.ids import NO_BROKER, BrokerId
from barnabas.model.records import NO_EPOCH, IsolationLevel
from barnabas.replication.epochs import EpochEnd
from barnabas.storage.file_slice import FileSlice
from barnabas.storage.transaction_index import AbortedTxn

EARLIEST_TIMESTAMP = -2
LATEST_TIMESTAMP = -1
MAX_TIMESTAMP = -3
EARLIEST_LOCAL_TIMESTAMP = -4


@dataclass(slots=True)
class FetchSpec:
    """One partition of one fetch. Not frozen: one is built per partition on the hot path.

    `replica_id` is NO_BROKER for consumers. `leader_only` is false for consumers that named a
    rack and may therefore read from a follower. `log_start_offset` is the follower's own.
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
    """What a fetch answers for one partition; `slice` is None when there is nothing to send."""

    slice: FileSlice | None
    size: int
    high_watermark: int
    last_stable_offset: int
    log_start_offset: int
    log_end_offset: int
    next_offset: int
    aborted: Sequence[AbortedTxn] = ()
    diverging_epoch: EpochEnd | None = None
    preferred_read_replica: BrokerId = NO_BROKER
    is_urgent: bool = False
    """To be answered at once, also when there is nothing to send."""


@dataclass(frozen=True, slots=True)
class OffsetAnswer:
    """One ListOffsets answer; -1 everywhere means that no record matches."""

    offset: int = -1
    timestamp_ms: int = -1
    leader_epoch: int = NO_EPOCH
