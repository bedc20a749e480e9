"""Rebuilds producer state from a snapshot and the batch headers behind it."""

from barnabas.records.batch import BatchHeader
from barnabas.storage import batch_scan
from barnabas.storage.append_info import end_marker_of
from barnabas.storage.producer_snapshot import SnapshotFiles
from barnabas.storage.producer_state import BatchMetadata, ProducerStates
from barnabas.storage.segment import Segment
from barnabas.storage.segment_list import SegmentList
from barnabas.storage.transaction_index import AbortedTxn

_RECENT_BYTES = 256 * 1024


def restore_producers(
    snapshots: SnapshotFiles, segments: SegmentList, end_offset: int
) -> ProducerStates:
    """Returns the state before `end_offset`: the newest usable snapshot plus a replay."""
    producers, start = snapshots.restore(end_offset)
    _replay_range(producers, segments, max(start, segments.first.base_offset), end_offset)
    return producers


def _replay_range(producers: ProducerStates, segments: SegmentList, start: int, end: int) -> None:
    """Applies every batch in [start, end)."""
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


def replay_batch(producers: ProducerStates, header: BatchHeader, batch: bytes) -> AbortedTxn | None:
    """Applies one batch of a producer; returns the transaction that it aborted.

    Only control batches need their bytes in `batch`.
    """
    if not header.is_control:
        producers.apply_data(header, header.base_offset, header.last_offset)
        return None
    marker = end_marker_of(batch, header)
    if marker is None:
        return None
    return producers.end_transaction(header, marker, header.last_offset)


def remember_recent(producers: ProducerStates, segment: Segment) -> None:
    """Restores the remembered batches of each producer from the end of the log.

    A snapshot keeps one batch per producer, but a client may retry any of its last five batches
    after a restart of the broker. The last 256 KiB of the log usually contain them.
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
