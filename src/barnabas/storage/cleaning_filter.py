"""Decides which records of a batch a compaction pass keeps.

The filter keeps:

- records at or after the newest offset of their key, and records above the range of the pass;
- tombstones until their delete horizon. The first pass that reads a tombstone writes the horizon
  into the batch, so a later pass cannot postpone it (KIP-534, KAFKA-8522);
- transaction markers until no data of their transaction is left, and then until their own horizon:
  without the marker a reader cannot tell whether the data was committed. Two markers have the same
  key, so they are never compared by key (KAFKA-14055);
- at least the header of a producer's last batch, which carries its sequence number (KAFKA-5490).

The records of aborted transactions are removed.
"""

import secrets
from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import blake2b

from barnabas.records.batch import MAGIC, BatchHeader, parse_header
from barnabas.records.control import ControlType, EndMarker
from barnabas.records.reader import iter_raw
from barnabas.records.record import RawRecord
from barnabas.records.rewrite import retain_records
from barnabas.storage.append_info import end_marker_of
from barnabas.storage.indexes import AbortedTxn

_DIGEST_BYTES = 16
ENTRY_BYTES = 170
"""Approximate memory of one entry of the map, used to convert a buffer size to a capacity."""


class OffsetMap:
    """Maps each key of the dirty range to its newest offset; owned by one compaction pass.

    Keys are stored as 16-byte digests, so the memory does not depend on their length. The digest
    uses random bytes of this pass, so that a client cannot construct two keys with the same digest
    to have a record removed.
    """

    __slots__ = ("_capacity", "_offsets", "_salt", "latest_offset")

    def __init__(self, capacity: int) -> None:
        self._capacity = capacity
        self._offsets: dict[bytes, int] = {}
        self._salt = secrets.token_bytes(16)
        self.latest_offset = -1
        """Offset of the last record that the map covers."""

    def __len__(self) -> int:
        return len(self._offsets)

    def try_put(self, key: bytes, offset: int) -> bool:
        """Sets the offset of a key; returns False if the key is new and the map is full."""
        digest = self._digest(key)
        if digest not in self._offsets and len(self._offsets) >= self._capacity:
            return False
        self._offsets[digest] = offset
        return True

    def get(self, key: bytes) -> int:
        """Returns the newest offset of a key in the dirty range, -1 if it does not occur there."""
        return self._offsets.get(self._digest(key), -1)

    def _digest(self, key: bytes) -> bytes:
        return blake2b(key, digest_size=_DIGEST_BYTES, key=self._salt).digest()


class _Aborting:
    """An aborted transaction whose marker the pass has not reached yet."""

    __slots__ = ("seen_data", "txn")

    def __init__(self, txn: AbortedTxn) -> None:
        self.txn = txn
        self.seen_data = False


class CleanedTransactions:
    """Tracks transactions while a pass reads batches in log order.

    `kept_aborted` collects the index entries of the cleaned segment.
    """

    def __init__(self, aborted: Iterable[AbortedTxn]) -> None:
        self._upcoming = sorted(aborted, key=lambda txn: txn.first_offset, reverse=True)
        self._aborting: dict[int, _Aborting] = {}
        self._committing: set[int] = set()
        self.kept_aborted: list[AbortedTxn] = []

    def drops_data(self, header: BatchHeader) -> bool:
        """Whether a batch of records belongs to an aborted transaction."""
        self._begin_up_to(header.last_offset)
        if not header.is_transactional:
            return False
        aborting = self._aborting.get(header.producer_id)
        if aborting is not None:
            aborting.seen_data = True
            return True
        self._committing.add(header.producer_id)
        return False

    def drops_marker(self, header: BatchHeader, marker: EndMarker | None) -> bool:
        """Whether the marker can be removed because no data of its transaction is left."""
        self._begin_up_to(header.last_offset)
        if marker is None:
            # An earlier pass removed its record; the header only preserves the producer epoch.
            return True
        if marker.type is ControlType.ABORT:
            aborting = self._aborting.pop(header.producer_id, None)
            if aborting is None or not aborting.seen_data:
                return True
            self.kept_aborted.append(aborting.txn)
            return False
        committing = header.producer_id in self._committing
        self._committing.discard(header.producer_id)
        return not committing

    def keep_marker(self, header: BatchHeader, marker: EndMarker | None) -> None:
        """Keeps a marker above the range of the pass, together with its index entry."""
        self._begin_up_to(header.last_offset)
        self._committing.discard(header.producer_id)
        aborting = self._aborting.pop(header.producer_id, None)
        if aborting is not None and marker is not None and marker.type is ControlType.ABORT:
            self.kept_aborted.append(aborting.txn)

    def take_kept_aborted(self) -> list[AbortedTxn]:
        """Returns and clears the index entries of the segment that was just written."""
        kept, self.kept_aborted = self.kept_aborted, []
        return kept

    def _begin_up_to(self, offset: int) -> None:
        while self._upcoming and self._upcoming[-1].first_offset <= offset:
            txn = self._upcoming.pop()
            self._aborting.setdefault(txn.producer_id, _Aborting(txn))


@dataclass(frozen=True, slots=True)
class LastRecord:
    """Batch that carries the state of a producer: its last data, or a marker without data."""

    last_data_offset: int
    epoch: int


@dataclass(frozen=True, slots=True)
class CleanLimits:
    """End of the range, current time and retention of tombstones of one pass."""

    end_offset: int
    now_ms: int
    delete_retention_ms: int


class BatchFilter:
    """Filters every batch of the cleaned range in log order; owned by one pass."""

    def __init__(
        self,
        newest: OffsetMap,
        transactions: CleanedTransactions,
        last_records: dict[int, LastRecord],
        limits: CleanLimits,
    ) -> None:
        self._newest = newest
        self._transactions = transactions
        self._last_records = last_records
        self._end_offset = limits.end_offset
        self._now_ms = limits.now_ms
        self._horizon = limits.now_ms + limits.delete_retention_ms

    def apply(self, batch: bytes, header: BatchHeader) -> bytes | bytearray | None:
        """Returns the unchanged batch, a smaller one, or None if no record is kept."""
        if header.magic < MAGIC:
            return batch
        if header.base_offset >= self._end_offset:
            self._track_only(batch, header)
            return batch
        if header.is_control:
            return self._filter_marker(batch, header)
        return self._filter_data(batch, header)

    def _track_only(self, batch: bytes, header: BatchHeader) -> None:
        """Tracks a batch above the range: its segment and index are rewritten as well."""
        if header.is_control:
            self._transactions.keep_marker(header, end_marker_of(batch, header))
        else:
            self._transactions.drops_data(header)

    def _filter_marker(self, batch: bytes, header: BatchHeader) -> bytes | bytearray | None:
        droppable = self._transactions.drops_marker(header, end_marker_of(batch, header))
        if not droppable:
            return batch
        if not header.has_delete_horizon:
            return retain_records(
                batch, [True] * header.records_count, delete_horizon_ms=self._horizon
            )
        if header.base_timestamp > self._now_ms:
            return batch
        return self._emptied(batch, header)

    def _filter_data(self, batch: bytes, header: BatchHeader) -> bytes | bytearray | None:
        if self._transactions.drops_data(header):
            return self._emptied(batch, header)
        records = iter_raw(batch, 0, header)
        keep = [self._keeps(header, record) for record in records]
        if not any(keep):
            return self._emptied(batch, header)
        tombstones = any(
            kept and record.value is None for kept, record in zip(keep, records, strict=True)
        )
        # A pass may set the horizon only if it removes all older values of the key. Above the end
        # of the map they still exist, and a consumer that has read one needs the tombstone.
        starts = not header.has_delete_horizon and header.last_offset <= self._newest.latest_offset
        horizon = self._horizon if tombstones and starts else None
        if all(keep) and horizon is None:
            return batch
        return retain_records(batch, keep, delete_horizon_ms=horizon)

    def _keeps(self, header: BatchHeader, record: RawRecord) -> bool:
        if record.offset > self._newest.latest_offset:
            return True
        if record.key is None or record.offset < self._newest.get(record.key):
            return False
        if record.value is not None:
            return True
        return not header.has_delete_horizon or header.base_timestamp > self._now_ms

    def _emptied(self, batch: bytes, header: BatchHeader) -> bytes | bytearray | None:
        """Returns the batch header alone if it carries the producer's state, otherwise None."""
        if not self._is_last_of_producer(header):
            return None
        if header.records_count == 0:
            return batch
        return retain_records(batch, [False] * header.records_count)

    def _is_last_of_producer(self, header: BatchHeader) -> bool:
        last = self._last_records.get(header.producer_id)
        if header.producer_id < 0 or last is None:
            return False
        if last.last_data_offset >= 0:
            return header.last_offset == last.last_data_offset
        return header.is_control and header.producer_epoch == last.epoch


def rewritten_header(batch: bytes | bytearray) -> BatchHeader:
    """Parses the header of a batch that `BatchFilter.apply` returned."""
    return parse_header(batch)
