"""Idempotence: who the producer is, and which sequence each batch has. Pure.

A broker takes the batches of one partition and producer epoch only in the order of their
sequences, and knows the last five, so a retry is never stored twice. When a batch has failed for
good its sequence is a hole nobody will fill: the epoch is bumped and the partition's sequences
begin at 0 again, once nothing of the old epoch is in flight there (KIP-360).
"""

from dataclasses import dataclass, field

from barnabas.clients.producer.batch import ProducerBatch
from barnabas.model.ids import TopicPartition
from barnabas.model.records import NO_EPOCH, NO_SEQUENCE

MAX_EPOCH = 32766
SEQUENCES = 2**31
MAX_IN_FLIGHT_PER_PARTITION = 5


@dataclass(slots=True)
class PartitionSequences:
    """What has been sent of one partition, under one producer id and epoch."""

    producer_id: int
    producer_epoch: int
    next_sequence: int = 0
    acknowledged: bool = False
    in_flight: list[ProducerBatch] = field(default_factory=list)


class ProducerIdentity:
    """Owned by the sender's loop. Without idempotence it has no id and only counts in flight."""

    def __init__(self, idempotent: bool, max_in_flight: int) -> None:
        self.idempotent = idempotent
        self.producer_id = -1
        self.producer_epoch = NO_EPOCH
        self._ordered = idempotent or max_in_flight == 1
        self._max_in_flight = min(max_in_flight, MAX_IN_FLIGHT_PER_PARTITION)
        self._partitions: dict[TopicPartition, PartitionSequences] = {}

    @property
    def ready(self) -> bool:
        """Whether batches may be sent: an id is there, or none is needed."""
        return not self.idempotent or self.producer_id >= 0

    def adopt(self, producer_id: int, producer_epoch: int) -> None:
        """An id and epoch from the broker: every partition begins anew."""
        self.producer_id = producer_id
        self.producer_epoch = producer_epoch

    def may_send(self, place: TopicPartition) -> bool:
        """Whether a batch of this partition may go out now."""
        state = self._partitions.get(place)
        if state is None or not state.in_flight:
            return True
        if self._stale(state):
            return False
        if self.idempotent and not state.acknowledged:
            # A broker that knows nothing of us takes any sequence: were the first batch of an
            # epoch refused, one sent behind it would be stored in its place.
            return False
        return not self._ordered or len(state.in_flight) < self._max_in_flight

    def sending(self, batch: ProducerBatch) -> None:
        """Give the batch its sequence, unless it has one of this epoch, and count it."""
        state = self._partitions.get(batch.partition)
        if state is None or (self._stale(state) and not state.in_flight):
            state = PartitionSequences(self.producer_id, self.producer_epoch)
            self._partitions[batch.partition] = state
        if self.idempotent and not self._numbered(batch, state):
            batch.producer_id = state.producer_id
            batch.producer_epoch = state.producer_epoch
            batch.base_sequence = state.next_sequence
            state.next_sequence = (state.next_sequence + batch.count) % SEQUENCES
        state.in_flight.append(batch)

    def answered(self, batch: ProducerBatch) -> None:
        """The batch is not in flight any more, whatever the answer was."""
        state = self._partitions.get(batch.partition)
        if state is not None and batch in state.in_flight:
            state.in_flight.remove(batch)

    def stored(self, batch: ProducerBatch) -> None:
        """The broker has the batch, and so a sequence to go on from."""
        state = self._partitions.get(batch.partition)
        if state is not None and state.producer_epoch == batch.producer_epoch:
            state.acknowledged = True

    def others_before(self, batch: ProducerBatch) -> bool:
        """Whether an earlier batch of the partition is still unanswered: then a broker that
        misses a sequence misses that one, and trying again will help."""
        state = self._partitions.get(batch.partition)
        return state is not None and any(
            other is not batch and other.base_sequence < batch.base_sequence
            for other in state.in_flight
        )

    def is_next(self, batch: ProducerBatch, queued: list[ProducerBatch]) -> bool:
        """Whether no earlier batch is in flight or waiting for another try.

        A batch of an epoch that is over was sent behind one that failed: it is refused for the
        hole which that one left, and has its turn in the epoch that now is.
        """
        if (batch.producer_id, batch.producer_epoch) != (self.producer_id, self.producer_epoch):
            return False
        waiting = any(
            other is not batch
            and other.has_sequence
            and other.base_sequence < batch.base_sequence
            and other.producer_epoch == batch.producer_epoch
            for other in queued
        )
        return not waiting and not self.others_before(batch)

    def bump_epoch(self) -> bool:
        """After a hole in the sequences. False when epochs are used up: a new id is needed.

        Without transactions the producer may do this by itself: brokers take any higher epoch
        that begins at sequence 0.
        """
        if self.producer_epoch >= MAX_EPOCH:
            self.producer_id = -1
            self.producer_epoch = NO_EPOCH
            return False
        self.producer_epoch += 1
        return True

    def _stale(self, state: PartitionSequences) -> bool:
        mine = (self.producer_id, self.producer_epoch)
        return (state.producer_id, state.producer_epoch) != mine

    def _numbered(self, batch: ProducerBatch, state: PartitionSequences) -> bool:
        same = (batch.producer_id, batch.producer_epoch) == (
            state.producer_id,
            state.producer_epoch,
        )
        return batch.base_sequence != NO_SEQUENCE and same
