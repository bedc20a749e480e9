"""Which log to clean next, and up to where: decisions on the loop, no IO but headers.

Nothing at or above the last stable offset is looked at (it is never above the high watermark:
KAFKA-13194), nor the active segment, nor segments younger than `min.compaction.lag.ms`.
"""

from typing import NamedTuple

from barnabas.storage.compaction.batch_filter import LastRecord
from barnabas.storage.compaction.cleaner import CleanPlan, Source
from barnabas.storage.log import Log
from barnabas.storage.retention import youngest_ms


class Candidate(NamedTuple):
    """A log that could be cleaned."""

    log: Log
    first_dirty_offset: int
    end_offset: int
    dirty_ratio: float
    overdue: bool


def candidate(log: Log, now_ms: int) -> Candidate | None:
    """How dirty a log is; None when there is nothing to clean."""
    segments, first_base = log.local.segments, log.local.segments.first.base_offset
    dirty = first_dirty_offset(log)
    end = _first_uncleanable_offset(log, dirty, now_ms)
    dirty_segments = [
        segment
        for segment in segments.between(dirty, end)
        if segment.size and segments.end_of(segment, log.log_end_offset) > dirty
    ]
    if end <= dirty or not dirty_segments:
        return None
    dirty_bytes = sum(segment.size for segment in dirty_segments)
    clean_bytes = sum(s.size for s in segments.between(first_base, dirty) if s.base_offset < dirty)
    oldest = min(segment.first_batch_timestamp() for segment in dirty_segments)
    overdue = oldest >= 0 and now_ms - oldest > log.config.max_compaction_lag_ms
    return Candidate(log, dirty, end, dirty_bytes / max(dirty_bytes + clean_bytes, 1), overdue)


def first_dirty_offset(log: Log) -> int:
    """Where the last pass ended; the log start when that is out of the log's range."""
    start, cleaned = log.log_start_offset, log.cleaned_offset
    return cleaned if start <= cleaned <= log.local.active.base_offset else start


def _first_uncleanable_offset(log: Log, first_dirty: int, now_ms: int) -> int:
    end = min(log.last_stable_offset, log.local.active.base_offset)
    lag = log.config.min_compaction_lag_ms
    if lag > 0:
        for segment in log.local.segments.between(first_dirty, end):
            if youngest_ms(segment) > now_ms - lag:
                return min(end, max(segment.base_offset, first_dirty))
    return end


def make_plan(found: Candidate, now_ms: int, map_capacity: int) -> CleanPlan:
    """Gather what a pass needs, so that it can leave the loop alone."""
    log, segments = found.log, found.log.local.segments
    sources = [
        Source(s, s.open_file(), s.size, segments.end_of(s, log.log_end_offset))
        for s in segments
        if s.base_offset < found.end_offset and s is not log.local.active
    ]
    for source in sources:
        source.segment.release_if_closed()
    start = segments.first.base_offset
    return CleanPlan(
        topic_partition=log.topic_partition,
        fs=log.local.fs,
        directory=log.directory,
        config=log.config,
        generation=log.local.generation,
        first_dirty_offset=found.first_dirty_offset,
        end_offset=found.end_offset,
        sources=sources,
        # To the end of the last segment, not of the range: the segment's index is written anew
        # and must not lose the entries behind the range (KAFKA-13727).
        aborted=log.aborted_transactions(start, sources[-1].end_offset),
        last_records={
            entry.producer_id: LastRecord(entry.last_data_offset, entry.epoch)
            for entry in log.producers
        },
        now_ms=now_ms,
        map_capacity=map_capacity,
    )
