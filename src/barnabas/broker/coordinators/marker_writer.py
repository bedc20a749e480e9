"""Transaction markers in the partitions this broker leads.

Used for WriteTxnMarkers requests and, without the wire in between, by the coordinator itself.
"""

from collections.abc import Callable, Iterable
from typing import NamedTuple

from barnabas.broker.coordinators.group_coordinator import GroupCoordinator
from barnabas.broker.coordinators.group_shard import GroupShardDriver
from barnabas.broker.coordinators.producers import Producers
from barnabas.broker.coordinators.steady_clock import SteadyClock
from barnabas.broker.coordinators.verification import Verifications
from barnabas.broker.purgatory import DelayedOperation, Purgatory
from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BrokerError
from barnabas.model.ids import TopicPartition
from barnabas.model.topic_names import OFFSETS_TOPIC
from barnabas.records.batch import parse_header
from barnabas.records.builder import control_batch
from barnabas.replication.partition import ALL_IN_SYNC, Partition
from barnabas.replication.replica_manager import ReplicaManager
from barnabas.storage.append_info import AppendOrigin
from barnabas.transactions.marker_rules import Marker, MarkerAction, decide_marker

Results = dict[TopicPartition, ErrorCode]


class EndOfTransaction(NamedTuple):
    """What a marker says."""

    producer_id: int
    producer_epoch: int
    commit: bool
    coordinator_epoch: int
    transaction_version: int


class MarkerWriter:
    """Owned by the broker's loop; a partition's marker is decided and written in one turn."""

    def __init__(
        self,
        replicas: ReplicaManager,
        producers: Producers,
        groups: GroupCoordinator,
        verifications: Verifications,
        steady: SteadyClock,
    ) -> None:
        self._replicas = replicas
        self._producers = producers
        self._groups = groups
        self._verifications = verifications
        self._steady = steady

    def write(
        self,
        end: EndOfTransaction,
        partitions: Iterable[TopicPartition],
        purgatory: Purgatory,
        timeout_ms: int,
        done: Callable[[Results], None],
    ) -> None:
        """Write to each partition and wait until all are committed; `done` is told all errors."""
        results: Results = {}
        waiting: list[_Waiting] = []
        for topic_partition in partitions:
            try:
                partition, required = self._write(end, topic_partition)
            except BrokerError as error:
                results[topic_partition] = error.code
                continue
            status = partition.ack_status(required, ALL_IN_SYNC)
            if status is None:
                waiting.append(_Waiting(partition, required, partition.leader_epoch))
            else:
                results[topic_partition] = status
        if not waiting:
            done(results)
            return
        operation = _DelayedMarkers(waiting, results, done)
        purgatory.watch(operation, [item.partition for item in waiting], timeout_ms)

    def _write(
        self, end: EndOfTransaction, topic_partition: TopicPartition
    ) -> tuple[Partition, int]:
        """Write to one partition unless it has the marker; gives the offset to be committed."""
        partition = self._replicas.partition(topic_partition)
        if partition is None:
            raise BrokerError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
        if not partition.is_leader:
            raise BrokerError(ErrorCode.NOT_LEADER_OR_FOLLOWER)
        groups = self._group_shard(topic_partition)
        marker = Marker(end.producer_epoch, end.coordinator_epoch, end.transaction_version)
        action = decide_marker(self._producers.view(topic_partition, end.producer_id), marker)
        if action.error is not ErrorCode.NONE:
            raise BrokerError(action.error)
        required = partition.log.log_end_offset
        if action is MarkerAction.APPEND:
            required = self._append(end, partition)
            if groups is not None:
                groups.marker_appended(end.producer_id, required, commit=end.commit)
        else:
            self._producers.raise_coordinator_epoch(
                topic_partition, end.producer_id, end.coordinator_epoch
            )
        self._verifications.marker_written(topic_partition, end.producer_id, marker.ended_epoch)
        return partition, required

    def _group_shard(self, topic_partition: TopicPartition) -> GroupShardDriver | None:
        """The shard whose pending offsets the marker ends: it must not miss it by loading."""
        if topic_partition.topic != OFFSETS_TOPIC:
            return None
        try:
            return self._groups.shard_at(topic_partition.partition)
        except BrokerError:
            # In the words of a partition leader, which coordinators elsewhere understand.
            raise BrokerError(ErrorCode.NOT_LEADER_OR_FOLLOWER) from None

    def _append(self, end: EndOfTransaction, partition: Partition) -> int:
        now_ms = self._steady.now_ms()
        batch = control_batch(
            end.commit, end.coordinator_epoch, end.producer_id, end.producer_epoch, now_ms
        )
        info = partition.append_to_leader(
            batch,
            parse_header(batch),
            acks=ALL_IN_SYNC,
            now_ms=now_ms,
            origin=AppendOrigin.COORDINATOR,
        )
        return info.last_offset + 1


class _Waiting(NamedTuple):
    partition: Partition
    required_offset: int
    leader_epoch: int


class _DelayedMarkers(DelayedOperation):
    """Waits until every marker is committed, or lost with its leader."""

    __slots__ = ("_done", "_results", "_waiting")

    def __init__(
        self, waiting: list[_Waiting], results: Results, done: Callable[[Results], None]
    ) -> None:
        super().__init__()
        self._waiting = waiting
        self._results = results
        self._done = done

    def try_complete(self) -> bool:
        still = []
        for item in self._waiting:
            status = item.partition.ack_status(item.required_offset, ALL_IN_SYNC, item.leader_epoch)
            if status is None:
                still.append(item)
            else:
                self._results[item.partition.topic_partition] = status
        self._waiting = still
        return not still

    def finish(self, *, expired: bool) -> None:
        for item in self._waiting:
            self._results[item.partition.topic_partition] = ErrorCode.REQUEST_TIMED_OUT
        self._done(self._results)
