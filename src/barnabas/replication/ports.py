"""Protocols of the components that replication uses.

`ReplicaLog` is the part of `storage.Log` that a replica uses; tests use a log in memory. The broker
implements `IsrChannel` with its connection to the controller and `LogSource` with its log manager
and the topic configurations.
"""

from collections.abc import Callable, Sequence
from typing import Protocol

from barnabas.model.control import AlterPartitionChange, AlterPartitionReply
from barnabas.model.ids import TopicPartition, Uuid
from barnabas.records.batch import BatchHeader
from barnabas.storage.append_info import AppendInfo, AppendOrigin
from barnabas.storage.indexes import AbortedTxn
from barnabas.storage.log_reader import LogRead


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
