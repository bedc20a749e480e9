"""Idempotence: the producer's id and epoch, and the sequence of each batch. Pure.

A broker accepts the batches of one partition and producer epoch only in the order of their
sequences and remembers the last five, so a retry is never stored twice. A batch that failed leaves
a gap in the sequences: the producer increments its epoch, and the partition's sequences begin at 0
again when no batch of the old epoch is left there (KIP-360). A batch that was sent keeps its epoch
and sequence for every retry, because the broker may have stored it: with another sequence it would
be stored twice. It gets a sequence of the new epoch only if the broker rejects it as out of order.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field

from barnabas.clients.producer.batch import SEQUENCES, ProducerBatch
from barnabas.model.ids import TopicPartition
from barnabas.model.records import NO_EPOCH, NO_SEQUENCE

# The largest int16 is reserved: with it a coordinator fences a producer.
MAX_EPOCH = 32766
# The broker remembers the sequences of the last five batches of a producer (KAFKA-5494).
MAX_IN_FLIGHT_PER_PARTITION = 5


@dataclass(slots=True)
class PartitionSequences:
    """The sequences of one partition under one producer id and epoch."""

    producer_id: int
    producer_epoch: int
    next_sequence: int = 0
    acknowledged: bool = False
    last_stored: int = NO_SEQUENCE
    """The highest base sequence of a batch that the broker has stored."""
    newest: list[int] = field(default_factory=list)
    """The base sequences of the newest batches, which the broker remembers."""
    in_flight: list[ProducerBatch] = field(default_factory=list)


class ProducerIdentity:
    """Assigns sequences and tracks batches in flight. Owned by the sender's loop."""

    def __init__(self, idempotent: bool, max_in_flight: int) -> None:
        self.idempotent = idempotent
        self.producer_id = -1
        self.producer_epoch = NO_EPOCH
        self._ordered = idempotent or max_in_flight == 1
        self._max_in_flight = min(max_in_flight, MAX_IN_FLIGHT_PER_PARTITION)
        self._partitions: dict[TopicPartition, PartitionSequences] = {}

    @property
    def ready(self) -> bool:
        """Whether batches may be sent: the producer has an id or needs none."""
        return not self.idempotent or self.producer_id >= 0

    def adopt(self, producer_id: int, producer_epoch: int) -> None:
        """Sets the id and epoch that the broker assigned; all sequences restart."""
        self.producer_id = producer_id
        self.producer_epoch = producer_epoch

    def may_send(self, topic_partition: TopicPartition) -> bool:
        """Whether a batch of this partition may be sent now."""
        state = self._partitions.get(topic_partition)
        if state is None or not state.in_flight:
            return True
        if self._stale(state):
            return False
        if self.idempotent and not state.acknowledged:
            # A broker without state of this producer accepts any first sequence: if it rejected the
            # first batch of an epoch, it would store the second one in its place.
            return False
        if not self._ordered:
            return True
        return len(state.in_flight) < self._max_in_flight and self._recognizes_retries(state)

    def _recognizes_retries(self, state: PartitionSequences) -> bool:
        """Whether a leader would recognize all batches in flight after one more batch.

        A leader remembers the newest five batches of a producer. After a change of leadership later
        batches may be stored by the new leader while an earlier one waits for a response of the
        old one. The retry of that batch must still be recognized.
        """
        if len(state.newest) < MAX_IN_FLIGHT_PER_PARTITION:
            return True
        kept = state.newest[1:]
        return all(batch.base_sequence in kept for batch in state.in_flight)

    def is_idle(self, topic_partition: TopicPartition) -> bool:
        """Whether the partition has sequences of the current epoch and no batch in flight."""
        state = self._partitions.get(topic_partition)
        return (
            state is not None
            and not state.in_flight
            and state.producer_epoch == self.producer_epoch
            and state.producer_id == self.producer_id
        )

    def sending(self, batch: ProducerBatch) -> None:
        """Assigns a sequence, unless the batch has one, and marks it as in flight.

        Retries precede new batches of their partition, so a batch without a sequence means that
        none with a sequence of the old epoch is left.
        """
        state = self._partitions.get(batch.partition)
        if state is None or (self._stale(state) and self._may_begin_epoch(state, batch)):
            state = PartitionSequences(self.producer_id, self.producer_epoch)
            self._partitions[batch.partition] = state
        # The first comparison alone decides for a new batch.
        new = batch.base_sequence == NO_SEQUENCE or not self._numbered(batch, state)
        if self.idempotent and new:
            batch.producer_id = state.producer_id
            batch.producer_epoch = state.producer_epoch
            batch.base_sequence = state.next_sequence
            state.next_sequence = (state.next_sequence + batch.count) % SEQUENCES
            state.newest = [*state.newest, batch.base_sequence][-MAX_IN_FLIGHT_PER_PARTITION:]
        state.in_flight.append(batch)

    def on_response(self, batch: ProducerBatch) -> None:
        """Marks the batch as not in flight, whatever the response was."""
        state = self._partitions.get(batch.partition)
        if state is not None and batch in state.in_flight:
            state.in_flight.remove(batch)

    def out_of_order(self, batch: ProducerBatch, queued: Iterable[ProducerBatch]) -> None:
        """Takes back the sequences of an earlier epoch that the broker can never accept.

        A batch of that epoch failed before this one and left a gap. So the broker has stored
        neither this batch nor a later one of the partition, and they get sequences of the current
        epoch. While an earlier batch is in flight or queued, it may still close the gap.
        """
        state = self._partitions.get(batch.partition)
        if state is None or not self._stale(state) or state.in_flight:
            return
        others = [
            other
            for other in queued
            if other.partition == batch.partition and self._numbered(other, state)
        ]
        if any(other.base_sequence < batch.base_sequence for other in others):
            return
        for other in (batch, *others):
            other.base_sequence = NO_SEQUENCE

    def stored(self, batch: ProducerBatch) -> None:
        """Notes that the broker stored the batch, so more batches may be in flight."""
        state = self._partitions.get(batch.partition)
        if state is None:
            return
        if batch in state.in_flight:
            state.in_flight.remove(batch)
        if state.producer_epoch == batch.producer_epoch:
            state.acknowledged = True
            if not self._precedes(batch, state):
                state.last_stored = batch.base_sequence

    def is_known_as_stored(self, batch: ProducerBatch) -> bool:
        """Whether the broker has stored a later batch of the same epoch, so this one as well.

        A broker accepts sequences only in order. It rejects the retry of a batch that it no longer
        remembers as out of order.
        """
        state = self._partitions.get(batch.partition)
        if state is None or state.producer_epoch != batch.producer_epoch:
            return False
        return state.producer_id == batch.producer_id and self._precedes(batch, state)

    def _precedes(self, batch: ProducerBatch, state: PartitionSequences) -> bool:
        """Whether the batch is before the last stored one; sequences continue with 0."""
        if state.last_stored == NO_SEQUENCE or batch.base_sequence == NO_SEQUENCE:
            return False
        return 0 < (state.last_stored - batch.base_sequence) % SEQUENCES < SEQUENCES // 2

    def others_before(self, batch: ProducerBatch) -> bool:
        """Whether an earlier batch of the partition is in flight.

        A broker that reports a missing sequence misses that batch then, so a retry can succeed.
        """
        state = self._partitions.get(batch.partition)
        return state is not None and any(
            other is not batch and other.base_sequence < batch.base_sequence
            for other in state.in_flight
        )

    def is_next(self, batch: ProducerBatch, queued: list[ProducerBatch]) -> bool:
        """Whether no earlier batch is in flight or queued for a retry.

        A batch of an earlier epoch was sent after a batch that failed. If the broker rejects it
        because of the missing sequence, it is sent again in the current epoch.
        """
        if (batch.producer_id, batch.producer_epoch) != (self.producer_id, self.producer_epoch):
            return False
        waiting = any(
            other is not batch
            and other.partition == batch.partition
            and other.has_sequence
            and other.base_sequence < batch.base_sequence
            and other.producer_epoch == batch.producer_epoch
            for other in queued
        )
        return not waiting and not self.others_before(batch)

    def bump_epoch(self) -> bool:
        """Increments the epoch after a gap in the sequences.

        Without transactions the producer may do this itself: brokers accept any higher epoch that
        begins with sequence 0. Returns False after the last epoch: a new producer id is needed.
        """
        if self.producer_epoch >= MAX_EPOCH:
            self.producer_id = -1
            self.producer_epoch = NO_EPOCH
            return False
        self.producer_epoch += 1
        return True

    def _may_begin_epoch(self, state: PartitionSequences, batch: ProducerBatch) -> bool:
        """Whether all batches of the old epoch are complete.

        None of them may be in flight, and this batch must not have a sequence of that epoch.
        """
        return not state.in_flight and not self._numbered(batch, state)

    def _stale(self, state: PartitionSequences) -> bool:
        mine = (self.producer_id, self.producer_epoch)
        return (state.producer_id, state.producer_epoch) != mine

    def _numbered(self, batch: ProducerBatch, state: PartitionSequences) -> bool:
        same = (batch.producer_id, batch.producer_epoch) == (
            state.producer_id,
            state.producer_epoch,
        )
        return batch.base_sequence != NO_SEQUENCE and same
