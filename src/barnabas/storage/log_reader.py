"""Reads and searches in a log: by offset, by time, and for aborted transactions.

A read returns a slice of one segment's file that contains whole batches. It never includes a byte
at or above `max_offset`, which is exclusive (a high watermark, a last stable offset or the log end
offset). It exceeds `max_bytes` only if the first batch alone is larger and the caller wants at
least one batch.

Consumers continue where they stopped, most of them at the end of the log. The reader therefore
remembers the positions of the latest appends and of the ends of the latest reads. A lookup that
finds such a position reads one batch header to verify it and needs no index. If only a few KB
follow there, as for a consumer at the end of the log, the lookup reads all of them, and the
response needs no second system call.
"""

from collections.abc import Callable
from functools import partial
from itertools import islice
from typing import NamedTuple

from barnabas.records.batch import BatchHeader
from barnabas.records.compression import DEFAULT_MAX_DECOMPRESSED, DecompressedTooLargeError
from barnabas.records.reader import iter_raw
from barnabas.storage import batch_scan
from barnabas.storage._log_short_paths_hot import REMEMBERED_POSITIONS
from barnabas.storage._log_state_hot import ReaderState
from barnabas.storage.batch_scan import Span
from barnabas.storage.filesystem import File
from barnabas.storage.indexes import AbortedTxn
from barnabas.storage.segment import Segment, SegmentList


class FileSlice:
    """A range of a segment's file, for `sendfile` or to be read.

    The reference keeps the file open: the segment may be deleted, and the descriptor stays valid
    until `release` or until the slice is garbage collected. If `fd` is -1, `sendfile` is not
    possible and the caller uses `read`. `data` are the bytes, if they have been read already.
    """

    __slots__ = ("_data", "_file", "position", "size")

    def __init__(self, file: File, position: int, size: int, data: bytes | None = None) -> None:
        self._file: File | None = file
        self._data = data
        self.position = position
        self.size = size

    @property
    def fd(self) -> int:
        return self._open().fileno()

    def __len__(self) -> int:
        return self.size

    def read(self, size: int | None = None) -> bytes:
        """Returns the bytes, or the first `size` of them."""
        wanted = self.size if size is None else min(size, self.size)
        if self._data is not None:
            return self._data[:wanted]
        return self._open().pread(wanted, self.position)

    def release(self) -> None:
        """Drops the reference to the file; a second call does nothing."""
        self._file = self._data = None

    def _open(self) -> File:
        if self._file is None:
            raise ValueError("the slice has been released")
        return self._file

    def __repr__(self) -> str:
        return f"FileSlice(position={self.position}, size={self.size})"


# Consumers read few segments at a time; file descriptors are scarce.
_MAX_OPEN_SEGMENTS = 4
_QUICK_BYTES = 1 << 20
_QUICK_RECORDS = 10_000
"""Batches above these limits take more than a few milliseconds to search for a timestamp."""
# A response copies records up to this size instead of sending them with sendfile.
_READ_AT_ONCE_BYTES = 8 << 10


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


class LargeBatchError(Exception):
    """A search by timestamp reached a batch that takes long to decode.

    The caller runs `search` in a thread; it uses no state of the log. If it returns None, the
    search continues at `next_offset`.
    """

    def __init__(self, search: Callable[[], TimestampHit | None], next_offset: int) -> None:
        super().__init__(f"the batch before offset {next_offset} takes long to decode")
        self.search = search
        self.next_offset = next_offset


class LogReader(ReaderState):
    """Lookups in the segments of one log; owned by the event loop."""

    __slots__ = ("_open_segments", "_segments")
    _positions: dict[int, tuple[Segment, int]]
    _end_segment: Segment | None

    def __init__(self, segments: SegmentList) -> None:
        super().__init__()
        self._segments = segments
        # Not a deque: an empty one takes 760 bytes for each partition.
        self._open_segments: list[Segment] = []
        """Sealed segments that were read recently; their files stay open."""

    def appended(self, offset: int, segment: Segment, position: int, end_offset: int) -> None:
        """Remembers the position of a batch that was appended, and that the log ends after it."""
        self._end_offset, self._end_segment = end_offset, segment
        self.remember(offset, segment, position)

    def remember(self, offset: int, segment: Segment, position: int) -> None:
        """Remembers the position at which a read from `offset` starts."""
        positions = self._positions
        positions[offset] = (segment, position)
        if len(positions) > REMEMBERED_POSITIONS:
            # The older half at once: removing the first key of a dict again and again scans the
            # places of the keys that were removed before it.
            self._positions = dict(islice(positions.items(), len(positions) // 2, None))

    def forget(self) -> None:
        """Drops all remembered positions; called after segments have changed."""
        self._positions.clear()
        self._end_offset, self._end_segment = -1, None

    def read(self, offset: int, max_bytes: int, bound: int, min_one_batch: bool) -> LogRead:
        """Reads batches from the one that contains `offset` up to `bound` (exclusive)."""
        found, data = self._locate(offset)
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
        if data is not None and len(data) != size:
            data = data[:size] if len(data) > size else None
        piece = FileSlice(segment.open_file(), first.position, size, data)
        if segment.sealed:
            self._keep_open(segment)
        return LogRead(piece, size, first.base_offset, next_offset)

    def locate(self, offset: int) -> tuple[Segment, Span] | None:
        """Returns the first batch whose last offset is at least `offset`, and its segment."""
        return self._locate(offset)[0]

    def _locate(self, offset: int) -> tuple[tuple[Segment, Span] | None, bytes | None]:
        """Does the work of `locate`; also returns the bytes up to the segment's end, if few."""
        known = self._positions.get(offset)
        if known is not None:
            segment, position = known
            rest = segment.size - position
            data = None
            if 0 < rest <= _READ_AT_ONCE_BYTES:
                data = segment.open_file().pread(rest, position)
                span = batch_scan.span_in(data, position, segment.size)
            else:
                span = batch_scan.span_at(segment.open_file(), position, segment.size)
            if span is not None:
                return (segment, span), data
        return self._search(offset), None

    def _keep_open(self, segment: Segment) -> None:
        if segment not in self._open_segments:
            self._open_segments.append(segment)
            if len(self._open_segments) > _MAX_OPEN_SEGMENTS:
                self._open_segments.pop(0).release()

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
        if bound == self._end_offset and segment is self._end_segment:
            return segment.size
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
            try:
                hit = _first_in(segment, timestamp, start_offset)
            finally:
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
    try:
        return _record_with(segment, largest.timestamp, largest.offset)
    finally:
        segment.release_if_closed()


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
        search = partial(_first_in_batch, batch, header, timestamp, start_offset)
        hit = _searched(header, search)
        if hit is not None:
            return hit
    return None


def _searched(
    header: BatchHeader, search: Callable[[int], TimestampHit | None]
) -> TimestampHit | None:
    """Runs the search in one batch; raises LargeBatchError if it takes long."""
    in_thread = partial(search, DEFAULT_MAX_DECOMPRESSED)
    if header.records_count > _QUICK_RECORDS:
        raise LargeBatchError(in_thread, header.last_offset + 1)
    try:
        return search(_QUICK_BYTES)
    except DecompressedTooLargeError:
        raise LargeBatchError(in_thread, header.last_offset + 1) from None


def _first_in_batch(
    batch: bytes, header: BatchHeader, timestamp: int, start_offset: int, max_decompressed: int
) -> TimestampHit | None:
    for record in iter_raw(batch, 0, header, max_decompressed):
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
    return _searched(header, partial(_exact_in_batch, batch, header, timestamp))


def _exact_in_batch(
    batch: bytes, header: BatchHeader, timestamp: int, max_decompressed: int
) -> TimestampHit:
    for record in iter_raw(batch, 0, header, max_decompressed):
        if record.timestamp == timestamp:
            return TimestampHit(timestamp, record.offset, header.partition_leader_epoch)
    return TimestampHit(timestamp, header.last_offset, header.partition_leader_epoch)
