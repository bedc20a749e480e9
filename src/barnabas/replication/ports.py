"""What replication needs from its neighbours, as protocols.

`ReplicaLog` is the part of `storage.Log` that a replica uses, so that tests may hand in a log in
memory. `IsrChannel` is implemented by whoever talks to the controller; `LogSource` by whoever
knows topic configurations; `PartitionListener` by the purgatories and coordinators above.
"""

from collections.abc import Callable, Sequence
from typing import Protocol

from barnabas.model.control import AlterPartitionChange, AlterPartitionReply
from barnabas.model.ids import TopicPartition, Uuid
from barnabas.records.batch import BatchHeader
from barnabas.storage.append_info import AppendInfo, AppendOrigin
from barnabas.storage.log_reader import LogRead
from barnabas.storage.transaction_index import AbortedTxn


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
    def offset_for_timestamp(self, timestamp: int) -> tuple[int, int, int] | None: ...
    def max_timestamp_offset(self) -> tuple[int, int, int] | None: ...
    def truncate_to(self, offset: int) -> object: ...
    def truncate_fully_and_start_at(self, offset: int) -> object: ...
    def update_high_watermark(self, offset: int) -> object: ...
    def increment_log_start_offset(self, offset: int, reason: str) -> object: ...
    def end_offset_for_epoch(self, epoch: int) -> tuple[int, int]: ...
    def assign_epoch_start(self, epoch: int) -> object:
        """Note that a leader of this epoch begins at the log's end."""
        ...


class LogSource(Protocol):
    """Where a replica's log comes from and goes to; raises BrokerError(KAFKA_STORAGE_ERROR).

    `is_new` says that there cannot be one yet. Deleting what is not there is no error.
    """

    def get_or_create(
        self, topic_partition: TopicPartition, topic_id: Uuid, *, is_new: bool
    ) -> ReplicaLog: ...
    def delete(self, topic_partition: TopicPartition) -> None: ...


class IsrChannel(Protocol):
    """Carries a proposed in-sync set to the controller.

    `on_reply` is called once, on the loop, also when the outcome is unknown: a request that timed
    out answers REQUEST_TIMED_OUT and the partition proposes again.
    """

    def alter_partition(
        self, change: AlterPartitionChange, on_reply: Callable[[AlterPartitionReply], None]
    ) -> None: ...
