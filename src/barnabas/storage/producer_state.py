"""State of the producers of one log: sequence numbers, epochs, open transactions.

The log calls `check_*` before it writes a batch and `apply_*` after the write, so a failed write
changes nothing. Replay after a restart and replication call only `apply_*`: a batch that another
leader accepted is never rejected here (KAFKA-6003).

Per producer the last five batches are remembered, the most a client may have in flight, so that a
retry of any of them gets the offset of the first attempt (KIP-98). The state is kept longer than
the records and is removed only by `producer.id.expiration.ms` (KIP-360).
"""

from collections.abc import Iterator
from typing import NamedTuple

from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BrokerError
from barnabas.model.records import NO_EPOCH, NO_SEQUENCE
from barnabas.records.batch import MAX_SEQUENCE, BatchHeader
from barnabas.records.control import ControlType, EndMarker
from barnabas.storage.indexes import AbortedTxn

# Kafka's number: a client has at most five requests in flight, so duplicates are among them.
REMEMBERED_BATCHES = 5
NO_OFFSET = -1


class BatchMetadata(NamedTuple):
    """One remembered batch: the fields that identify a retry and its response."""

    last_sequence: int
    last_offset: int
    offset_delta: int
    timestamp: int

    @property
    def first_sequence(self) -> int:
        return (self.last_sequence - self.offset_delta) & MAX_SEQUENCE

    @property
    def first_offset(self) -> int:
        return self.last_offset - self.offset_delta


class CompletedTxn(NamedTuple):
    """A transaction that a marker has just ended."""

    producer_id: int
    first_offset: int
    last_offset: int
    aborted: bool


class ProducerEntry:
    """State of one producer id in one partition; loop-owned."""

    __slots__ = (
        "batches",
        "coordinator_epoch",
        "epoch",
        "last_timestamp",
        "producer_id",
        "txn_first_offset",
    )

    def __init__(self, producer_id: int) -> None:
        self.producer_id = producer_id
        self.epoch = NO_EPOCH
        self.coordinator_epoch = -1
        self.last_timestamp = -1
        self.txn_first_offset = NO_OFFSET
        self.batches: list[BatchMetadata] = []

    @property
    def last_sequence(self) -> int:
        return self.batches[-1].last_sequence if self.batches else NO_SEQUENCE

    @property
    def last_data_offset(self) -> int:
        return self.batches[-1].last_offset if self.batches else NO_OFFSET

    def duplicate_of(self, header: BatchHeader) -> BatchMetadata | None:
        """Returns the remembered batch that `header` repeats."""
        if header.producer_epoch != self.epoch:
            return None
        first, last = header.base_sequence, header.last_sequence
        for batch in self.batches:
            if batch.last_sequence == last and batch.first_sequence == first:
                return batch
        return None

    def take_epoch(self, epoch: int) -> None:
        """Starts a new epoch, without remembered batches."""
        if epoch != self.epoch:
            self.epoch = epoch
            self.batches = []

    def remember(self, batch: BatchMetadata) -> None:
        if len(self.batches) == REMEMBERED_BATCHES:
            del self.batches[0]
        self.batches.append(batch)

    def recall(self, batches: list[BatchMetadata]) -> None:
        """Adopts older batches found in the log if they end with the known last batch."""
        if self.batches and batches[-1].last_offset == self.batches[-1].last_offset:
            self.batches = batches[-REMEMBERED_BATCHES:]


class ProducerStates:
    """All producers of one partition; owned by the event loop.

    Invariant: `_open_txns` (producer to first offset) and `_unreplicated` (first to last offset)
    are ordered by first offset, so the first of each is the earliest unstable one.
    """

    def __init__(self) -> None:
        self.entries: dict[int, ProducerEntry] = {}
        self._open_txns: dict[int, int] = {}
        self._unreplicated: dict[int, int] = {}

    def __iter__(self) -> Iterator[ProducerEntry]:
        return iter(self.entries.values())

    def __len__(self) -> int:
        return len(self.entries)

    # Before a write

    def check_data(self, header: BatchHeader) -> BatchMetadata | None:
        """Checks a client's batch; returns the batch that it repeats, or None to append it."""
        entry = self.entries.get(header.producer_id)
        # The state may have expired while the producer still has its id, so any first sequence is
        # accepted. The producer would otherwise fail although no record is missing (KIP-360).
        if entry is None:
            return None
        # Duplicates are checked before the epoch and the sequence: a retry of a stored batch has an
        # old sequence, and its producer must get the offset of the first attempt, not an error.
        duplicate = entry.duplicate_of(header)
        if duplicate is not None:
            return duplicate
        _check_epoch(entry, header)
        _check_sequence(entry, header)
        if entry.txn_first_offset != NO_OFFSET and not header.is_transactional:
            raise BrokerError(
                ErrorCode.INVALID_TXN_STATE,
                f"producer {entry.producer_id} wrote outside its open transaction",
            )
        return None

    def check_marker(self, header: BatchHeader, marker: EndMarker) -> None:
        """Rejects a marker of a fenced producer or of a fenced coordinator."""
        entry = self.entries.get(header.producer_id)
        if entry is None:
            return
        _check_epoch(entry, header)
        if marker.coordinator_epoch < entry.coordinator_epoch:
            raise BrokerError(
                ErrorCode.TRANSACTION_COORDINATOR_FENCED,
                f"coordinator epoch {marker.coordinator_epoch} is older than "
                f"{entry.coordinator_epoch}",
            )

    # After a write

    def apply_data(self, header: BatchHeader, first_offset: int, last_offset: int) -> None:
        """Applies a written batch of records."""
        entry = self.entries.get(header.producer_id)
        if entry is None:
            entry = self.entries[header.producer_id] = ProducerEntry(header.producer_id)
        entry.take_epoch(header.producer_epoch)
        entry.last_timestamp = header.max_timestamp
        entry.remember(
            BatchMetadata(
                header.last_sequence, last_offset, header.last_offset_delta, header.max_timestamp
            )
        )
        if header.is_transactional and entry.txn_first_offset == NO_OFFSET:
            entry.txn_first_offset = first_offset
            self._open_txns[header.producer_id] = first_offset

    def apply_marker(
        self, header: BatchHeader, marker: EndMarker, offset: int
    ) -> CompletedTxn | None:
        """Applies a written marker; returns the transaction that it ended."""
        entry = self.entries.get(header.producer_id)
        if entry is None:
            entry = self.entries[header.producer_id] = ProducerEntry(header.producer_id)
        entry.take_epoch(header.producer_epoch)
        entry.coordinator_epoch = marker.coordinator_epoch
        entry.last_timestamp = header.max_timestamp
        first, entry.txn_first_offset = entry.txn_first_offset, NO_OFFSET
        self._open_txns.pop(header.producer_id, None)
        if first == NO_OFFSET:
            return None
        return CompletedTxn(header.producer_id, first, offset, marker.type is ControlType.ABORT)

    def end_transaction(
        self, header: BatchHeader, marker: EndMarker, offset: int
    ) -> AbortedTxn | None:
        """Applies a written marker; returns the index entry of the transaction it aborted."""
        ended = self.apply_marker(header, marker, offset)
        if ended is None:
            return None
        self.complete(ended)
        if not ended.aborted:
            return None
        stable = self.stable_offset_after(ended)
        return AbortedTxn(ended.producer_id, ended.first_offset, ended.last_offset, stable)

    def complete(self, txn: CompletedTxn) -> None:
        """Keeps an ended transaction unstable until its marker is below the high watermark."""
        # Consumers read committed data below the last stable offset. A marker above the high
        # watermark may still be lost with the leader, so its transaction must not count as ended
        # yet.
        latest = next(reversed(self._unreplicated), NO_OFFSET)
        self._unreplicated[txn.first_offset] = txn.last_offset
        if txn.first_offset < latest:
            self._unreplicated = dict(sorted(self._unreplicated.items()))

    # Stability

    def first_unstable_offset(self) -> int | None:
        """Returns the first offset of the earliest transaction that is not yet stable."""
        if not self._open_txns and not self._unreplicated:
            return None
        firsts = []
        if self._open_txns:
            firsts.append(next(iter(self._open_txns.values())))
        if self._unreplicated:
            firsts.append(next(iter(self._unreplicated)))
        return min(firsts)

    def stable_offset_after(self, txn: CompletedTxn) -> int:
        """Returns the last stable offset after `txn` is stable, for its index entry."""
        # Kafka stores this offset in the index entry: a search for aborted transactions ends at an
        # entry whose last stable offset is past the range.
        others = [first for pid, first in self._open_txns.items() if pid != txn.producer_id]
        return min(others, default=txn.last_offset + 1)

    def on_high_watermark(self, high_watermark: int) -> None:
        """Removes ended transactions whose marker is below the high watermark."""
        if self._unreplicated:
            self._unreplicated = {
                first: last for first, last in self._unreplicated.items() if last >= high_watermark
            }

    # Snapshots and expiration

    def restore(self, entry: ProducerEntry) -> None:
        """Adds an entry of a snapshot; call `settle` after the last one."""
        self.entries[entry.producer_id] = entry

    def settle(self) -> None:
        """Rebuilds the order of open transactions after entries were restored."""
        found = (
            (entry.producer_id, entry.txn_first_offset)
            for entry in self
            if entry.txn_first_offset != NO_OFFSET
        )
        self._open_txns = dict(sorted(found, key=lambda item: item[1]))

    def expire(self, now_ms: int, expiration_ms: int) -> int:
        """Removes producers that were idle too long and have no open transaction."""
        idle = [
            entry.producer_id
            for entry in self
            if entry.txn_first_offset == NO_OFFSET
            and now_ms - entry.last_timestamp >= expiration_ms
        ]
        for producer_id in idle:
            del self.entries[producer_id]
        return len(idle)

    def clear(self) -> None:
        self.entries.clear()
        self._open_txns.clear()
        self._unreplicated.clear()


def _check_epoch(entry: ProducerEntry, header: BatchHeader) -> None:
    if header.producer_epoch < entry.epoch:
        raise BrokerError(
            ErrorCode.INVALID_PRODUCER_EPOCH,
            f"producer {entry.producer_id} has epoch {header.producer_epoch}, "
            f"{entry.epoch} is current",
        )


def _check_sequence(entry: ProducerEntry, header: BatchHeader) -> None:
    if header.producer_epoch != entry.epoch:
        # Each epoch has its own sequences. Another first sequence means that a batch of the new
        # epoch was lost in transit (KIP-360).
        in_order = header.base_sequence == 0
    else:
        # A producer known by a marker alone has no last sequence and must begin at 0.
        in_order = header.base_sequence == (entry.last_sequence + 1) & MAX_SEQUENCE
    if not in_order and entry.epoch != NO_EPOCH:
        raise BrokerError(
            ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER,
            f"producer {entry.producer_id} sent sequence {header.base_sequence} after "
            f"{entry.last_sequence}",
        )
