"""What is left of one batch when a pass has gone over it.

Kept are: records at or behind the newest of their key; records the pass did not look at; tombstones
until their delete horizon, which the first pass that meets them writes into the batch (KIP-534, so
a later pass cannot put it off: KAFKA-8522); markers until nothing of their transaction is left, and
then until their own horizon. Of a producer's last batch at least the header stays, because its
sequence does (KAFKA-5490).
"""

from dataclasses import dataclass

from barnabas.records.batch import MAGIC, BatchHeader, parse_header
from barnabas.records.raw_record import RawRecord
from barnabas.records.reader import iter_raw
from barnabas.records.rewrite import retain_records
from barnabas.storage.append_info import end_marker_of
from barnabas.storage.compaction.offset_map import OffsetMap
from barnabas.storage.compaction.transactions import CleanedTransactions


@dataclass(frozen=True, slots=True)
class LastRecord:
    """Where a live producer's state comes from: its last data, or a marker if it has none."""

    last_data_offset: int
    epoch: int


@dataclass(frozen=True, slots=True)
class Limits:
    """Where a pass must stop, what time it is, and how long tombstones stay."""

    end_offset: int
    now_ms: int
    delete_retention_ms: int


class BatchFilter:
    """Owned by one pass; sees every batch of the cleaned range in log order."""

    def __init__(
        self,
        newest: OffsetMap,
        transactions: CleanedTransactions,
        last_records: dict[int, LastRecord],
        limits: Limits,
    ) -> None:
        self._newest = newest
        self._transactions = transactions
        self._last_records = last_records
        self._end_offset = limits.end_offset
        self._now_ms = limits.now_ms
        self._horizon = limits.now_ms + limits.delete_retention_ms

    def apply(self, batch: bytes, header: BatchHeader) -> bytes | bytearray | None:
        """The batch as it is, a smaller one, or None when nothing of it is left."""
        if header.magic < MAGIC:
            return batch
        if header.base_offset >= self._end_offset:
            self._pass_over(batch, header)
            return batch
        if header.is_control:
            return self._filter_marker(batch, header)
        return self._filter_data(batch, header)

    def _pass_over(self, batch: bytes, header: BatchHeader) -> None:
        """Keep track behind the range: the segment is written anew, and its index with it."""
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
        # Only a pass that removes what a tombstone deletes may start its clock: behind the end of
        # the map older values are still there, and a reader who met one needs the tombstone.
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
        """The header alone where the producer's state hangs on it, else nothing."""
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
    """The header of a batch that `apply` returned."""
    return parse_header(batch)
