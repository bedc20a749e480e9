"""Reads and searches in a log: by offset, by time, and for aborted transactions.

A read returns a slice of one segment's file that contains whole batches. It never includes a byte
at or above `max_offset`, which is exclusive (a high watermark, a last stable offset or the log end
offset). It exceeds `max_bytes` only if the first batch alone is larger and the caller wants at
least one batch.

Consumers continue where they stopped, most of them at the end of the log. The reader therefore
remembers the positions of the latest appends and of the ends of the latest reads. A lookup that
finds such a position reads one batch header to verify it and needs no index.
"""

from collections import deque
from itertools import islice
from typing import NamedTuple

from barnabas.records.reader import iter_raw
from barnabas.storage import batch_scan
from barnabas.storage.batch_scan import Span
from barnabas.storage.file_slice import FileSlice
from barnabas.storage.segment import Segment
from barnabas.storage.segment_list import SegmentList
from barnabas.storage.transaction_index import AbortedTxn

# Consumers continue where the last fetch ended: its file position saves an index lookup.
_REMEMBERED_POSITIONS = 512
# Consumers read few segments at a time; file descriptors are scarce.
_MAX_OPEN_SEGMENTS = 4


class LogRead(NamedTuple):
    """Result of a read; without data `slice` is None and `size` is 0."""

    slice: FileSlice | None
    size: int
    first_batch_base_offset: int
    next_offset: int
    """Offset of the next read; equal to the requested offset if no data was returned."""


class TimestampHit(NamedTuple):
    """The record that a search by timestamp found."""

    timestamp: int
    offset: int
    leader_epoch: int


class LogReader:
    """Lookups in the segments of one log; owned by the event loop."""

    __slots__ = ("_open_segments", "_positions", "_segments")

    def __init__(self, segments: SegmentList) -> None:
        self._segments = segments
        self._open_segments: deque[Segment] = deque()
        """Sealed segments that were read recently; their files stay open."""
        self._positions: dict[int, tuple[Segment, int]] = {}

    def remember(self, offset: int, segment: Segment, position: int) -> None:
        """Remembers the position at which a read from `offset` starts."""
        positions = self._positions
        positions[offset] = (segment, position)
        if len(positions) > _REMEMBERED_POSITIONS:
            # The older half at once: removing the first key of a dict again and again scans the
            # places of the keys that were removed before it.
            self._positions = dict(islice(positions.items(), len(positions) // 2, None))

    def forget(self) -> None:
        """Drops all remembered positions; called after segments have changed."""
        self._positions.clear()

    def read(self, offset: int, max_bytes: int, bound: int, min_one_batch: bool) -> LogRead:
        """Reads batches from the one that contains `offset` up to `bound` (exclusive)."""
        found = self.locate(offset)
        if found is None or found[1].last_offset >= bound:
            return LogRead(None, 0, offset, offset)
        segment, first = found
        end = self._end_position(segment, first, bound)
        next_offset = bound
        if end - first.position > max_bytes:
            if first.size > max_bytes and not min_one_batch:
                return LogRead(None, 0, first.base_offset, offset)
            last = self._cut(segment, first, end, max_bytes)
            end, next_offset = last.end, last.last_offset + 1
        elif end == segment.size:
            next_offset = min(bound, self._segments.end_of(segment, bound))
        self.remember(next_offset, segment, end)
        size = end - first.position
        piece = FileSlice(segment.open_file(), first.position, size)
        if segment.sealed:
            self._keep_open(segment)
        return LogRead(piece, size, first.base_offset, next_offset)

    def locate(self, offset: int) -> tuple[Segment, Span] | None:
        """Returns the first batch whose last offset is at least `offset`, and its segment."""
        known = self._positions.get(offset)
        if known is not None:
            segment, position = known
            span = batch_scan.span_at(segment.open_file(), position, segment.size)
            if span is not None:
                return segment, span
        return self._search(offset)

    def _keep_open(self, segment: Segment) -> None:
        if segment not in self._open_segments:
            self._open_segments.append(segment)
            if len(self._open_segments) > _MAX_OPEN_SEGMENTS:
                self._open_segments.popleft().release()

    def _search(self, offset: int) -> tuple[Segment, Span] | None:
        segment = self._segments.floor(offset) or self._segments.first
        while True:
            span = segment.find(offset) if segment.size else None
            if span is not None:
                return segment, span
            # After compaction a segment may have no batch at or after an offset of its range.
            following = self._segments.following(segment)
            if following is None:
                return None
            segment = following

    def _end_position(self, segment: Segment, first: Span, bound: int) -> int:
        """Returns the position of the first batch that contains `bound`, or the segment's size."""
        known = self._positions.get(bound)
        if known is not None and known[0] is segment:
            return known[1]
        following = self._segments.following(segment)
        if following is not None and bound >= following.base_offset:
            return segment.size
        span = segment.find(bound)
        return segment.size if span is None else max(span.position, first.end)

    def _cut(self, segment: Segment, first: Span, end: int, max_bytes: int) -> Span:
        if first.size >= max_bytes:
            return first
        return segment.last_batch_within(first, min(first.position + max_bytes, end))


def first_at_or_after(
    segments: SegmentList, timestamp: int, start_offset: int
) -> TimestampHit | None:
    """Returns the first record with at least this timestamp and at least this offset."""
    for segment in segments:
        if segment.size and segment.largest_timestamp().timestamp >= timestamp:
            hit = _first_in(segment, timestamp, start_offset)
            segment.release_if_closed()
            if hit is not None:
                return hit
    return None


def greatest_timestamp(segments: SegmentList) -> TimestampHit | None:
    """Returns the first record that has the greatest timestamp."""
    candidates = [segment for segment in segments if segment.size]
    if not candidates:
        return None
    segment = max(candidates, key=lambda item: item.largest_timestamp().timestamp)
    largest = segment.largest_timestamp()
    if largest.timestamp < 0:
        return None
    hit = _record_with(segment, largest.timestamp, largest.offset)
    segment.release_if_closed()
    return hit


def aborted_between(segments: SegmentList, start: int, end: int) -> list[AbortedTxn]:
    """Returns aborted transactions that overlap [start, end), ordered by first offset."""
    found: list[AbortedTxn] = []
    segment = segments.floor(start) or segments.first
    while True:
        found += segment.aborted.collect(start, end)
        following = segments.following(segment)
        if following is None or segment.aborted.covers(end):
            return sorted(found, key=lambda txn: txn.first_offset)
        segment = following


def _first_in(segment: Segment, timestamp: int, start_offset: int) -> TimestampHit | None:
    """Returns the segment's first record with at least this timestamp and this offset."""
    start = segment.time_position(timestamp)
    file = segment.open_file()
    for position, header in batch_scan.walk(file, start, segment.size):
        if header.max_timestamp < timestamp or header.last_offset < start_offset:
            continue
        batch = file.pread(header.size, position)
        for record in iter_raw(batch, 0, header):
            if record.timestamp >= timestamp and record.offset >= start_offset:
                return TimestampHit(record.timestamp, record.offset, header.partition_leader_epoch)
    return None


def _record_with(segment: Segment, timestamp: int, offset: int) -> TimestampHit | None:
    """Returns the first record with exactly this timestamp in the batch that contains `offset`."""
    span = segment.find(offset)
    if span is None:
        return None
    batch = segment.open_file().pread(span.size, span.position)
    header = batch_scan.header_at(batch, 0)
    for record in iter_raw(batch, 0, header):
        if record.timestamp == timestamp:
            return TimestampHit(timestamp, record.offset, header.partition_leader_epoch)
    return TimestampHit(timestamp, header.last_offset, header.partition_leader_epoch)
