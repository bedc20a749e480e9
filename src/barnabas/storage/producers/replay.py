"""Producer state from the log itself: reads the headers after a snapshot and applies them."""

from barnabas.records.batch import BatchHeader
from barnabas.storage.append_info import end_marker_of
from barnabas.storage.producers.producer_state import CompletedTxn, ProducerStates
from barnabas.storage.segments import batch_scan
from barnabas.storage.segments.segment_list import SegmentList


def replay_producers(
    producers: ProducerStates, segments: SegmentList, start: int, end: int
) -> None:
    """Apply every batch in [start, end)."""
    for segment in segments.between(start, end):
        span = segment.find(start) if segment.size else None
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
