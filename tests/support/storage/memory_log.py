"""A replica's log as a Python list, with a disk that can lose data that was not flushed.

Stands in for `storage.Log` in tests of replication: the same offsets, epochs and errors, but a
"batch" is any list of values and a slice is a list of entries. Every append is one batch.
"""

import bisect
from typing import NamedTuple

from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BrokerError


class Entry(NamedTuple):
    """One record."""

    offset: int
    epoch: int
    value: object
    timestamp_ms: int = 0


class MemoryAppendInfo(NamedTuple):
    """As storage.AppendInfo."""

    first_offset: int
    last_offset: int
    duplicate: bool = False


class MemoryRead(NamedTuple):
    """As storage.LogRead."""

    slice: list
    size: int
    next_offset: int


class MemoryLog:
    """A log in memory; `size` of a read counts entries."""

    def __init__(self):
        self.entries = []
        self.epoch_entries = []  # (epoch, start offset), ascending in both
        self.log_start_offset = 0
        self.log_end_offset = 0
        self.high_watermark = 0
        self.flushed_end = 0
        self.open_transactions = []  # first offsets
        self.aborted = []

    @property
    def last_stable_offset(self):
        return min([self.high_watermark, *self.open_transactions])

    @property
    def latest_epoch(self):
        return self.epoch_entries[-1][0] if self.epoch_entries else -1

    def values(self, end=None):
        limit = self.log_end_offset if end is None else end
        return [entry.value for entry in self.entries if entry.offset < limit]

    # --- appends ---

    def append_as_leader(self, batch, header, *, leader_epoch, now_ms, origin):
        first = self.log_end_offset
        self._append([Entry(first + i, leader_epoch, v, now_ms) for i, v in enumerate(batch)])
        return MemoryAppendInfo(first, self.log_end_offset - 1)

    def append_as_follower(self, batches):
        if batches[0].offset != self.log_end_offset:
            raise AssertionError(f"gap: {batches[0].offset} after {self.log_end_offset}")
        self._append(batches)
        return MemoryAppendInfo(batches[0].offset, batches[-1].offset)

    def _append(self, entries):
        for entry in entries:
            if entry.epoch > self.latest_epoch:
                self._start_epoch(entry.epoch, entry.offset)
        self.entries.extend(entries)
        self.log_end_offset += len(entries)

    # --- reads ---

    def read(self, offset, max_bytes, *, max_offset, min_one_batch):
        if not self.log_start_offset <= offset <= self.log_end_offset:
            raise BrokerError(ErrorCode.OFFSET_OUT_OF_RANGE)
        first = offset - self.log_start_offset
        count = min(max_bytes, max(0, max_offset - offset))
        found = self.entries[first : first + count]
        return MemoryRead(found or None, len(found), offset + len(found))

    def aborted_transactions(self, start, end_exclusive):
        return [item for item in self.aborted if start <= item[1] < end_exclusive]

    def offset_for_timestamp(self, timestamp, start_offset=0):
        for entry in self.entries:
            if entry.timestamp_ms >= timestamp and entry.offset >= start_offset:
                return entry.timestamp_ms, entry.offset, entry.epoch
        return None

    def max_timestamp_offset(self):
        if not self.entries:
            return None
        entry = max(self.entries, key=lambda e: (e.timestamp_ms, -e.offset))
        return entry.timestamp_ms, entry.offset, entry.epoch

    def producer_states(self):
        return []

    # --- moving bounds ---

    def update_high_watermark(self, offset):
        self.high_watermark = offset

    def increment_log_start_offset(self, offset, reason):
        self.entries = self.entries[offset - self.log_start_offset :]
        self.log_start_offset = offset
        while len(self.epoch_entries) > 1 and self.epoch_entries[1][1] <= offset:
            del self.epoch_entries[0]
        if self.epoch_entries and self.epoch_entries[0][1] < offset:
            self.epoch_entries[0] = (self.epoch_entries[0][0], offset)

    def truncate_to(self, offset):
        # Also when nothing is cut: a leader that appended nothing leaves its epoch at the end.
        offset = min(max(offset, self.log_start_offset), self.log_end_offset)
        del self.entries[offset - self.log_start_offset :]
        self.log_end_offset = offset
        self.epoch_entries = [item for item in self.epoch_entries if item[1] < offset]
        self.high_watermark = min(self.high_watermark, offset)
        self.flushed_end = min(self.flushed_end, offset)

    def truncate_fully_and_start_at(self, offset):
        self.entries, self.epoch_entries = [], []
        self.log_start_offset = self.log_end_offset = self.high_watermark = offset
        self.flushed_end = offset

    # --- epochs ---

    @property
    def epochs(self):
        return self

    def epoch_for_offset(self, offset):
        return max([epoch for epoch, start in self.epoch_entries if start <= offset], default=-1)

    def assign_epoch_start(self, epoch):
        self._start_epoch(epoch, self.log_end_offset)

    def _start_epoch(self, epoch, offset):
        if epoch <= self.latest_epoch:
            return
        self.epoch_entries = [item for item in self.epoch_entries if item[1] < offset]
        self.epoch_entries.append((epoch, offset))

    def end_offset_for_epoch(self, epoch):
        if epoch < 0 or not self.epoch_entries or epoch > self.latest_epoch:
            return -1, -1
        if epoch == self.latest_epoch:
            return epoch, self.log_end_offset
        higher = bisect.bisect_right(self.epoch_entries, (epoch, 2**63))
        end = self.epoch_entries[higher][1]
        return (self.epoch_entries[higher - 1][0] if higher else epoch), end

    # --- the disk ---

    def flush(self):
        self.flushed_end = self.log_end_offset

    def flush_to(self, offset):
        self.flushed_end = max(self.flushed_end, min(offset, self.log_end_offset))

    def lose_power(self):
        """Come back with the flushed part alone; the watermark's checkpoint is never ahead."""
        self.truncate_to(self.flushed_end)
