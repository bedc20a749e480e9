"""Transaction markers: written to the partitions that this broker leads, sent to other leaders.

`MarkerWriter` serves WriteTxnMarkers requests and the coordinator of this broker. `MarkerRouter`
distributes the coordinator's markers to this broker and others.
"""

from collections.abc import Callable, Iterable
from typing import NamedTuple, Protocol

from barnabas.broker.coordinators.group_coordinator import GroupCoordinator, GroupShardDriver
from barnabas.broker.coordinators.shard_runtime import SteadyClock, append_as_coordinator
from barnabas.broker.coordinators.transaction_coordinator import MarkersWritten
from barnabas.broker.coordinators.verification import Producers, Verifications
from barnabas.broker.metadata_cache import MetadataCache
from barnabas.broker.purgatory import DelayedOperation, Purgatory
from barnabas.coordination import SendMarkers
from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BrokerError
from barnabas.model.ids import OFFSETS_TOPIC, BrokerId, TopicPartition
from barnabas.records.builder import control_batch
from barnabas.replication.partition import ALL_IN_SYNC, Partition
from barnabas.replication.replica_manager import ReplicaManager
from barnabas.runtime.clock import Clock
from barnabas.transactions.partition_leader import Marker, MarkerAction, decide_marker

Results = dict[TopicPartition, ErrorCode]
# Soon after a start an unknown partition is not proof of a deleted one: its metadata may be late.
_SETTLING_MS = 10_000
_TIMEOUT_MS = 30_000


class EndOfTransaction(NamedTuple):
    """The contents of a marker."""

    producer_id: int
    producer_epoch: int
    commit: bool
    coordinator_epoch: int
    transaction_version: int


class MarkerWriter:
    """Writes transaction markers to the partitions that this broker leads.

    Owned by the broker's loop; one callback decides and writes the marker of a partition.
    """

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
        """Writes to each partition; calls `done` with all errors when the markers are committed."""
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
        """Writes to one partition unless it has the marker; returns the offset to wait for."""
        partition = self._replicas.partition(topic_partition)
        if partition is None:
            raise BrokerError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
        if not partition.is_leader:
            raise BrokerError(ErrorCode.NOT_LEADER_OR_FOLLOWER)
        # Before the append: a marker in the log whose pending offsets the shard did not apply would
        # be lost for the group.
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
        """Returns the shard with the pending offsets; raises while it loads and would miss them."""
        if topic_partition.topic != OFFSETS_TOPIC:
            return None
        try:
            return self._groups.shard_at(topic_partition.partition)
        except BrokerError:
            # The error of a partition leader, which coordinators on other brokers retry.
            raise BrokerError(ErrorCode.NOT_LEADER_OR_FOLLOWER) from None

    def _append(self, end: EndOfTransaction, partition: Partition) -> int:
        now_ms = self._steady.now_ms()
        batch = control_batch(
            end.commit, end.coordinator_epoch, end.producer_id, end.producer_epoch, now_ms
        )
        return append_as_coordinator(partition, batch, now_ms)


class _Waiting(NamedTuple):
    partition: Partition
    required_offset: int
    leader_epoch: int


class _DelayedMarkers(DelayedOperation):
    """Waits until every marker is committed, or its partition has another leader."""

    __slots__ = ("_done", "_results", "_waiting")

    def __init__(
        self, waiting: list[_Waiting], results: Results, done: Callable[[Results], None]
    ) -> None:
        super().__init__()
        self._waiting = waiting
        self._results = results
        self._done = done

    def try_complete(self, _changed: object) -> bool:
        still = []
        for item in self._waiting:
            # With the epoch of the append: a leader that lost and regained its role may have lost
            # the marker in between.
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


class MarkerChannel(Protocol):
    """Sends WriteTxnMarkers to another broker; calls `done` once, also after a failure."""

    def send(
        self,
        broker_id: BrokerId,
        end: EndOfTransaction,
        partitions: tuple[TopicPartition, ...],
        done: Callable[[Results], None],
    ) -> None: ...


class MarkerRouter:
    """A `MarkerDelivery`: writes to partitions of this broker, sends to the others.

    A partition that is missing in the metadata counts as deleted, and its transaction completes
    without it. This is correct only after this broker received the metadata of the whole cluster.
    Before, an open transaction would remain in a partition that is only missing temporarily.
    """

    def __init__(
        self,
        broker_id: BrokerId,
        metadata: MetadataCache,
        writer: MarkerWriter,
        channel: MarkerChannel,
        purgatory: Purgatory,
        clock: Clock,
    ) -> None:
        self._broker_id = broker_id
        self._metadata = metadata
        self._writer = writer
        self._channel = channel
        self._purgatory = purgatory
        self._clock = clock
        self._deleted_topics: set[str] = set()
        self._settled_ms: int | None = None

    def started(self) -> None:
        """Called when the broker has received the metadata of the cluster."""
        self._settled_ms = self._clock.monotonic_ms() + _SETTLING_MS

    def topics_deleted(self, topics: frozenset[str]) -> None:
        self._deleted_topics |= topics

    def deliver(self, send: SendMarkers, written: MarkersWritten) -> None:
        by_leader: dict[BrokerId, list[TopicPartition]] = {}
        unknown: Results = {}
        deleted: set[TopicPartition] = set()
        for topic_partition in send.partitions:
            state = self._metadata.partition(topic_partition)
            if state is not None:
                by_leader.setdefault(state.leader, []).append(topic_partition)
            elif self._is_deleted(topic_partition):
                deleted.add(topic_partition)
            else:
                # Not in the metadata of this broker, perhaps not yet: the marker is retried.
                # Without it the partition would keep an open transaction.
                unknown[topic_partition] = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        if unknown or deleted:
            written(unknown, deleted)
        end = EndOfTransaction(
            send.producer_id,
            send.producer_epoch,
            send.commit,
            send.coordinator_epoch,
            send.transaction_version,
        )
        for leader, topic_partitions in by_leader.items():
            self._send(
                leader, end, tuple(topic_partitions), lambda results: written(results, frozenset())
            )

    def _send(
        self,
        leader: BrokerId,
        end: EndOfTransaction,
        topic_partitions: tuple[TopicPartition, ...],
        done: Callable[[Results], None],
    ) -> None:
        if leader == self._broker_id:
            self._writer.write(end, topic_partitions, self._purgatory, _TIMEOUT_MS, done)
        # No request: the coordinator retries until the partition has a leader.
        elif leader < 0:
            done(dict.fromkeys(topic_partitions, ErrorCode.NOT_LEADER_OR_FOLLOWER))
        else:
            self._channel.send(leader, end, topic_partitions, done)

    def _is_deleted(self, topic_partition: TopicPartition) -> bool:
        if topic_partition.topic in self._deleted_topics and not self._metadata.has_topic(
            topic_partition.topic
        ):
            return True
        settled_ms = self._settled_ms
        return settled_ms is not None and self._clock.monotonic_ms() >= settled_ms
