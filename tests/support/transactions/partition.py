"""A partition as a list: sequences, epochs, open transactions, markers, the last stable offset.

It follows the rules a real log follows, without bytes, and uses the real verification states and
marker rules. Values are compared by identity of content: a value read twice is a duplicate.
"""

from dataclasses import dataclass, field

from barnabas.coordination import SendMarkers
from barnabas.model.error_codes import ErrorCode
from barnabas.model.ids import TopicPartition
from barnabas.transactions.partition_leader import (
    Marker,
    MarkerAction,
    ProducerView,
    VerificationStates,
    VerificationToken,
    decide_marker,
)

DEDUPE_BATCHES = 5


@dataclass(frozen=True)
class Batch:
    """One record of a transaction."""

    producer_id: int
    producer_epoch: int
    sequence: int
    value: object


@dataclass(frozen=True)
class MarkerEntry:
    """A control record; `transaction` numbers the transactions of its id."""

    producer_id: int
    producer_epoch: int
    commit: bool
    transactional_id: str
    transaction: int


@dataclass
class ProducerState:
    producer_epoch: int
    coordinator_epoch: int = -1
    last_sequence: int = -1
    open_first_offset: int | None = None
    recent: list[tuple[int, int, int]] = field(default_factory=list)


class ModelPartition:
    def __init__(self, topic_partition: TopicPartition, *, verify: bool = True) -> None:
        self.topic_partition = topic_partition
        self.log: list[Batch | MarkerEntry] = []
        self.producers: dict[int, ProducerState] = {}
        self.aborted: list[tuple[int, int, int]] = []
        self._verify = verify
        self.verification = VerificationStates(enabled=verify)

    def restart(self) -> None:
        """A new leader: the log and what follows from it stay, verifications do not."""
        self.verification = VerificationStates(enabled=self._verify)

    def transaction_open(self, batch: Batch) -> bool:
        state = self.producers.get(batch.producer_id)
        return (
            state is not None
            and state.open_first_offset is not None
            and state.producer_epoch == batch.producer_epoch
        )

    def append(self, batch: Batch, token: VerificationToken | None) -> ErrorCode:
        state = self.producers.get(batch.producer_id)
        if state is not None:
            key = (batch.producer_epoch, batch.sequence)
            if any(key == (epoch, sequence) for epoch, sequence, _ in state.recent):
                return ErrorCode.NONE
            error = _check_sequence(state, batch)
            if error:
                return error
        error = self.verification.check_append(
            batch.producer_id,
            batch.producer_epoch,
            batch.sequence,
            token,
            transaction_open=self.transaction_open(batch),
        )
        if not error:
            self._store(batch)
        return error

    def _store(self, batch: Batch) -> None:
        offset = len(self.log)
        self.log.append(batch)
        state = self.producers.setdefault(batch.producer_id, ProducerState(batch.producer_epoch))
        if batch.producer_epoch > state.producer_epoch:
            state.recent.clear()
        state.producer_epoch = batch.producer_epoch
        state.last_sequence = batch.sequence
        state.recent.append((batch.producer_epoch, batch.sequence, offset))
        del state.recent[:-DEDUPE_BATCHES]
        if state.open_first_offset is None:
            state.open_first_offset = offset
        self.verification.appended(batch.producer_id)

    def write_marker(self, send: SendMarkers, transaction: int) -> ErrorCode:
        state = self.producers.get(send.producer_id)
        view = state and ProducerView(
            state.producer_epoch, state.coordinator_epoch, state.open_first_offset is not None
        )
        marker = Marker(send.producer_epoch, send.coordinator_epoch, send.transaction_version)
        action = decide_marker(view, marker)
        if action is MarkerAction.APPEND:
            self._store_marker(send, transaction)
        if action in (MarkerAction.APPEND, MarkerAction.SKIP):
            self.verification.marker_written(send.producer_id, marker.ended_epoch)
            state = self.producers[send.producer_id]
            state.coordinator_epoch = max(state.coordinator_epoch, send.coordinator_epoch)
        return action.error

    def _store_marker(self, send: SendMarkers, transaction: int) -> None:
        offset = len(self.log)
        self.log.append(
            MarkerEntry(
                send.producer_id,
                send.producer_epoch,
                send.commit,
                send.transactional_id,
                transaction,
            )
        )
        state = self.producers.setdefault(send.producer_id, ProducerState(send.producer_epoch))
        if send.producer_epoch > state.producer_epoch:
            state.producer_epoch = send.producer_epoch
            state.last_sequence = -1
            state.recent.clear()
        if state.open_first_offset is not None and not send.commit:
            self.aborted.append((send.producer_id, state.open_first_offset, offset))
        state.open_first_offset = None

    @property
    def last_stable_offset(self) -> int:
        """Exclusive: the first offset that read_committed must not pass."""
        opened = [s.open_first_offset for s in self.producers.values()]
        return min((o for o in opened if o is not None), default=len(self.log))

    def read_committed(self) -> list[object]:
        """Returns the records for a read_committed consumer: no aborted ones, none above the
        LSO.
        """
        return [
            entry.value
            for offset, entry in enumerate(self.log[: self.last_stable_offset])
            if isinstance(entry, Batch) and not self._is_aborted(entry.producer_id, offset)
        ]

    def _is_aborted(self, producer_id: int, offset: int) -> bool:
        return any(
            pid == producer_id and first <= offset <= last for pid, first, last in self.aborted
        )


def _check_sequence(state: ProducerState, batch: Batch) -> ErrorCode:
    if batch.producer_epoch < state.producer_epoch:
        return ErrorCode.INVALID_PRODUCER_EPOCH
    expected = 0 if batch.producer_epoch > state.producer_epoch else state.last_sequence + 1
    return ErrorCode.NONE if batch.sequence == expected else ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
