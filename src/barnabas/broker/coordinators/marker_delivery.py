"""Sends the coordinator's markers to the leaders of the partitions."""

from collections.abc import Callable
from typing import Protocol

from barnabas.broker.coordinators.marker_writer import EndOfTransaction, MarkerWriter, Results
from barnabas.broker.coordinators.transaction_shard import MarkersWritten
from barnabas.broker.metadata_cache import MetadataCache
from barnabas.broker.purgatory import Purgatory
from barnabas.coordination.outcome import SendMarkers
from barnabas.model.clock import Clock
from barnabas.model.error_codes import ErrorCode
from barnabas.model.ids import BrokerId, TopicPartition

_SETTLING_MS = 10_000
_TIMEOUT_MS = 30_000


class MarkerChannel(Protocol):
    """WriteTxnMarkers to another broker; `done` is told every partition once, also on failure."""

    def send(
        self,
        broker_id: BrokerId,
        end: EndOfTransaction,
        partitions: tuple[TopicPartition, ...],
        done: Callable[[Results], None],
    ) -> None: ...


class MarkerRouter:
    """A `MarkerDelivery`: own partitions directly, those of others through the channel.

    A partition that the metadata does not know is taken for deleted, and its transaction goes on
    without it. That holds only once this broker has been told of the whole cluster, or
    an open transaction would be left behind in a partition that is merely not known yet.
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
        """The broker is part of its cluster from now on."""
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
