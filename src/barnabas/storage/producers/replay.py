"""Producer state from the log itself: reads the headers after a snapshot and applies them."""

from barnabas.records.batch import BatchHeader
from barnabas.storage.append_info import end_marker_of
from barnabas.storage.producers.producer_state import (
    BatchMetadata,
    CompletedTxn,
    ProducerStates,
)
from barnabas.storage.segments import batch_scan, lookup
from barnabas.storage.segments.segment import Segment
from barnabas.storage.segments.segment_list import SegmentList

_RECENT_BYTES = 256 * 1024


def replay_producers(
    producers: ProducerStates, segments: SegmentList, start: int, end: int
) -> None:
    """Apply every batch in [start, end)."""
    for segment in segments.between(start, end):
        span = lookup.find(segment, start) if segment.size else None
        if span is None:
            continue
        file = segment.open_file()
        for position, header in batch_scan.walk(file, span.position, segment.size):
            if header.base_offset >= end:
                return
            if header.producer_id >= 0:
                batch = file.pread(header.size, position) if header.is_control else b""
                replay_batch(producers, header, batch)


def replay_batch(
    producers: ProducerStates, header: BatchHeader, batch: bytes
) -> CompletedTxn | None:
    """Apply one batch of a producer; `batch` is needed of control batches only."""
    if not header.is_control:
        producers.apply_data(header, header.base_offset, header.last_offset)
        return None
    marker = end_marker_of(batch, header)
    if marker is None:
        return None
    ended = producers.apply_marker(header, marker, header.last_offset)
    if ended is not None:
        producers.complete(ended)
    return ended


def remember_recent(producers: ProducerStates, segment: Segment) -> None:
    """Fill the windows of remembered batches from the end of a log.

    A snapshot keeps one batch per producer, but a client may retry any of its last five across a
    restart of the broker; what stands in the last stretch of the log is remembered again.
    """
    if not producers.entries or not segment.size:
        return
    start = segment.offsets.floor_position(max(segment.size - _RECENT_BYTES, 0)).position
    found: dict[int, list[BatchMetadata]] = {}
    for _, header in batch_scan.walk(segment.open_file(), start, segment.size):
        entry = producers.entries.get(header.producer_id)
        if entry is not None and not header.is_control and header.producer_epoch == entry.epoch:
            batch = BatchMetadata(
                header.last_sequence,
                header.last_offset,
                header.last_offset_delta,
                header.max_timestamp,
            )
            found.setdefault(header.producer_id, []).append(batch)
    for producer_id, batches in found.items():
        producers.entries[producer_id].recall(batches)
