"""Searches over a whole log by time and for aborted transactions."""

from barnabas.records.reader import iter_raw
from barnabas.storage.indexes.transaction_index import AbortedTxn
from barnabas.storage.log_read import TimestampHit
from barnabas.storage.segments import batch_scan, lookup
from barnabas.storage.segments.segment import Segment
from barnabas.storage.segments.segment_list import SegmentList


def first_at_or_after(
    segments: SegmentList, timestamp: int, start_offset: int
) -> TimestampHit | None:
    """The first record with at least this timestamp and this offset."""
    for segment in segments:
        if segment.size and segment.largest_timestamp().timestamp >= timestamp:
            hit = _first_in(segment, timestamp, start_offset)
            segment.release_if_closed()
            if hit is not None:
                return hit
    return None


def greatest_timestamp(segments: SegmentList) -> TimestampHit | None:
    """The record with the greatest timestamp, the first of them if there are several."""
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
    """Aborted transactions that touch [start, end), by first offset."""
    found: list[AbortedTxn] = []
    segment = segments.floor(start) or segments.first
    while True:
        found += segment.aborted.collect(start, end)
        following = segments.following(segment)
        if following is None or segment.aborted.covers(end):
            return sorted(found, key=lambda txn: txn.first_offset)
        segment = following


def _first_in(segment: Segment, timestamp: int, start_offset: int) -> TimestampHit | None:
    """The first record of a segment with at least this timestamp and this offset."""
    start = lookup.time_position(segment, timestamp)
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
    """The first record with this very timestamp in the batch that holds `offset`."""
    span = lookup.find(segment, offset)
    if span is None:
        return None
    batch = segment.open_file().pread(span.size, span.position)
    header = batch_scan.header_at(batch, 0)
    for record in iter_raw(batch, 0, header):
        if record.timestamp == timestamp:
            return TimestampHit(timestamp, record.offset, header.partition_leader_epoch)
    return TimestampHit(timestamp, header.last_offset, header.partition_leader_epoch)
