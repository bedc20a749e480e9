"""Lookups in one segment: from an offset, a file position or a time to a batch.

An index says where to begin, headers are walked from there. What comes from an index file is
checked against the header it points at; where that is no batch of the right offset or time, the
indexes are rebuilt from the log, once, and asked again (KAFKA-2012). Searches over several
segments are in `storage.lookups` and `log_read`.
"""

from typing import TYPE_CHECKING

from barnabas.model.errors import CorruptRecordError
from barnabas.records.batch import BatchHeader
from barnabas.storage.indexes.offset_index import MAX_RELATIVE_OFFSET, OffsetPosition
from barnabas.storage.indexes.time_index import TimestampOffset
from barnabas.storage.segments import batch_scan
from barnabas.storage.segments.batch_scan import Span

if TYPE_CHECKING:
    from barnabas.storage.segments.segment import Segment


# By offset and position


def find(segment: "Segment", offset: int) -> Span | None:
    """The first batch whose last offset is at least `offset`; None past the end."""
    entry = segment.offsets.lookup(offset)
    if not _trusted(segment, entry):
        segment.rebuild_indexes()
        entry = segment.offsets.lookup(offset)
    return batch_scan.find(segment.open_file(), entry.position, segment.size, offset)


def cut(segment: "Segment", start: Span, limit: int) -> Span:
    """The last whole batch that ends at or before `limit`, from the batch `start` on."""
    entry = segment.offsets.floor_position(limit)
    last = start
    if entry.position > start.position:
        span = batch_scan.span_at(segment.open_file(), entry.position, segment.size)
        if span is None or not start.last_offset < span.base_offset <= entry.offset:
            segment.rebuild_indexes()
            return cut(segment, start, limit)
        last = span if span.end <= limit else _before(segment, start, entry)
    while last.end < limit:
        span = batch_scan.span_at(segment.open_file(), last.end, segment.size)
        if span is None or span.end > limit:
            break
        last = span
    return last


def next_offset(segment: "Segment") -> int:
    """One past the last offset in the segment; the base offset when it is empty."""
    entry = segment.offsets.last()
    if not _trusted(segment, entry):
        segment.rebuild_indexes()
        entry = segment.offsets.last()
    last = segment.base_offset
    for _, header in batch_scan.walk(segment.open_file(), entry.position, segment.size):
        last = header.next_offset
    return last


def _trusted(segment: "Segment", entry: OffsetPosition) -> bool:
    if entry.position == 0:
        return True
    span = batch_scan.span_at(segment.open_file(), entry.position, segment.size)
    return span is not None and segment.base_offset <= span.base_offset <= entry.offset


def _before(segment: "Segment", start: Span, entry: OffsetPosition) -> Span:
    """The last batch that begins before an indexed one that does not fit."""
    earlier = segment.offsets.floor_position(entry.position - 1)
    begin = max(earlier.position, start.position)
    last = start
    for position, header in batch_scan.walk(segment.open_file(), begin, entry.position):
        last = Span(position, header.size, header.base_offset, header.last_offset)
    return last


# By time


def time_position(segment: "Segment", timestamp: int) -> int:
    """The position of the first batch that can hold a record at or after `timestamp`."""
    entry = segment.times.lookup(timestamp)
    if entry.timestamp < 0:
        return 0
    span = _span_with_timestamp(segment, entry)
    if span is None:
        segment.rebuild_indexes()
        return time_position(segment, timestamp)
    return span.position


def largest_timestamp(segment: "Segment") -> TimestampOffset:
    """The greatest timestamp and its batch's last offset; (-1, base) where there is none.

    `Segment.largest_timestamp` remembers it.
    """
    if segment.size == 0:
        return TimestampOffset(-1, segment.base_offset)
    largest = segment.times.last()
    span = _span_with_timestamp(segment, largest) if largest.timestamp >= 0 else None
    if span is None:
        segment.rebuild_indexes()
        return segment.largest_timestamp()
    if segment.sealed:
        return largest
    for _, header in batch_scan.walk(segment.open_file(), span.end, segment.size):
        if header.max_timestamp > largest.timestamp:
            largest = TimestampOffset(header.max_timestamp, header.last_offset)
    return largest


def first_timestamp(segment: "Segment") -> int:
    """The greatest timestamp of the first batch, -1 without one."""
    span = batch_scan.span_at(segment.open_file(), 0, segment.size) if segment.size else None
    return -1 if span is None else _header(segment, span).max_timestamp


def _span_with_timestamp(segment: "Segment", entry: TimestampOffset) -> Span | None:
    """The batch a time entry speaks of, if its timestamp is what the entry says."""
    if not segment.base_offset <= entry.offset <= segment.base_offset + MAX_RELATIVE_OFFSET:
        return None
    span = find(segment, entry.offset)
    if span is None or span.base_offset > entry.offset:
        return None
    header = _header(segment, span)
    return span if header.max_timestamp == entry.timestamp else None


def _header(segment: "Segment", span: Span) -> BatchHeader:
    for _, header in batch_scan.walk(segment.open_file(), span.position, span.end):
        return header
    raise CorruptRecordError(f"no batch at position {span.position}")
