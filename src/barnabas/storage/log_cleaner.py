"""The log cleaner: selects the dirtiest log, runs a compaction pass, installs the result.

A pass never includes offsets at or above the last stable offset (which is not above the high
watermark: KAFKA-13194), the active segment, or segments younger than `min.compaction.lag.ms`.

One pass runs at a time. A log whose pass fails is excluded until the broker restarts, and the other
logs are still cleaned: a cleaner that stops at one bad log lets every disk fill up (KAFKA-5413,
KAFKA-7215).
"""

import logging
from collections.abc import Iterable
from time import perf_counter_ns
from typing import NamedTuple

from barnabas.model.errors import CorruptRecordError
from barnabas.model.ids import TopicPartition
from barnabas.runtime.metrics import Histogram
from barnabas.storage.cleaning_filter import ENTRY_BYTES, LastRecord
from barnabas.storage.cleaning_pass import CleanPlan, CleanResult, SourceSegment, clean, discard
from barnabas.storage.errors import is_transient
from barnabas.storage.log import Log
from barnabas.storage.retention import newest_timestamp_ms

_log = logging.getLogger(__name__)

# After a pass with a transient error; Kafka's default of log.cleaner.backoff.ms.
_BACKOFF_MS = 15_000
DEFAULT_DEDUPE_BUFFER_BYTES = 128 * 1024 * 1024


class CleanCandidate(NamedTuple):
    """A log with a dirty range that can be cleaned."""

    log: Log
    first_dirty_offset: int
    end_offset: int
    dirty_ratio: float
    overdue: bool


def find_candidate(log: Log, now_ms: int) -> CleanCandidate | None:
    """Returns the dirty range of a log; None if it has none."""
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
    return CleanCandidate(log, dirty, end, dirty_bytes / max(dirty_bytes + clean_bytes, 1), overdue)


def first_dirty_offset(log: Log) -> int:
    """Returns the end of the last pass, or the log start offset if that is outside the log."""
    start, cleaned = log.log_start_offset, log.cleaned_offset
    return cleaned if start <= cleaned <= log.local.active.base_offset else start


def _first_uncleanable_offset(log: Log, first_dirty: int, now_ms: int) -> int:
    # Records of an open transaction must stay: its result decides which of them count. The active
    # segment is still written.
    end = min(log.last_stable_offset, log.local.active.base_offset)
    lag = log.config.min_compaction_lag_ms
    if lag > 0:
        for segment in log.local.segments.between(first_dirty, end):
            if newest_timestamp_ms(segment) > now_ms - lag:
                return min(end, max(segment.base_offset, first_dirty))
    return end


def make_plan(found: CleanCandidate, now_ms: int, map_capacity: int) -> CleanPlan:
    """Collects everything that a pass needs, so that it can run on a thread."""
    log, segments = found.log, found.log.local.segments
    sources = [
        SourceSegment(s, s.open_file(), s.size, segments.end_of(s, log.log_end_offset))
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
        # Up to the end of the last segment, not of the range: the segment's index is rewritten
        # and must keep the entries above the range (KAFKA-13727).
        aborted=log.aborted_transactions(start, sources[-1].end_offset),
        last_records={
            entry.producer_id: LastRecord(entry.last_data_offset, entry.epoch)
            for entry in log.producers
        },
        now_ms=now_ms,
        map_capacity=map_capacity,
    )


class CleanTask:
    """A planned pass: `run` works on any thread, then `LogCleaner.finish` takes the task."""

    __slots__ = ("duration_ns", "error", "log", "plan", "result")

    def __init__(self, log: Log, plan: CleanPlan) -> None:
        self.log = log
        self.plan = plan
        self.result: CleanResult | None = None
        self.error: Exception | None = None
        self.duration_ns = 0

    def run(self) -> None:
        started_ns = perf_counter_ns()
        try:
            self.result = clean(self.plan)
        except Exception as error:  # noqa: BLE001 - a damaged log must not stop the cleaner
            self.error = error
        self.duration_ns = perf_counter_ns() - started_ns


class CleanerStats:
    """Numbers of the cleaner for its metrics; owned by the event loop.

    Attributes:
        passes: Nanoseconds of each pass; `longest_ns` of the longest one.
        bytes_read, bytes_written: Sizes of the segments before and after all passes.
        max_dirty_ratio: The largest share of uncompacted bytes at the last check.
        last_check_ms: Wall-clock time of the last check; None before the first one.
    """

    def __init__(self) -> None:
        self.passes = Histogram()
        self.longest_ns = 0
        self.bytes_read = 0
        self.bytes_written = 0
        self.max_dirty_ratio = 0.0
        self.last_check_ms: int | None = None

    def ran(self, task: CleanTask) -> None:
        """Counts a pass that has ended."""
        self.passes.record(task.duration_ns)
        self.longest_ns = max(self.longest_ns, task.duration_ns)
        if task.result is not None:
            for group in task.result.groups:
                self.bytes_read += sum(segment.size for segment in group.replaced)
                self.bytes_written += group.cleaned.size


class LogCleaner:
    """Selects logs and installs finished passes; owned by the event loop."""

    def __init__(self, dedupe_buffer_bytes: int = DEFAULT_DEDUPE_BUFFER_BYTES) -> None:
        self.set_dedupe_buffer(dedupe_buffer_bytes)
        self.uncleanable: set[TopicPartition] = set()
        self._postponed_until: dict[TopicPartition, int] = {}
        self._running: CleanTask | None = None
        self.stats = CleanerStats()

    def set_dedupe_buffer(self, dedupe_buffer_bytes: int) -> None:
        """Sets the memory for the keys of a pass; the next pass uses it."""
        self._map_capacity = max(dedupe_buffer_bytes // ENTRY_BYTES, 1)

    def begin(self, logs: Iterable[Log], now_ms: int, *, force: bool = False) -> CleanTask | None:
        """Plans a pass over the dirtiest of these logs; None if none needs one."""
        if self._running is not None:
            return None
        self.stats.last_check_ms = now_ms
        self.stats.max_dirty_ratio = 0.0
        best: CleanCandidate | None = None
        for log in logs:
            found = self._candidate(log, now_ms)
            if found is None:
                continue
            self.stats.max_dirty_ratio = max(self.stats.max_dirty_ratio, found.dirty_ratio)
            due = force or found.overdue
            if not due and found.dirty_ratio < log.config.min_cleanable_dirty_ratio:
                continue
            if best is None or _urgency(found) > _urgency(best):
                best = found
        if best is None:
            return None
        plan = make_plan(best, now_ms, self._map_capacity)
        # One pass at a time: the map of keys may use all of `log.cleaner.dedupe.buffer.size`.
        self._running = CleanTask(best.log, plan)
        return self._running

    def _candidate(self, log: Log, now_ms: int) -> CleanCandidate | None:
        if not log.config.compact or log.health.failed:
            return None
        if log.topic_partition in self.uncleanable:
            return None
        if now_ms < self._postponed_until.get(log.topic_partition, now_ms):
            return None
        try:
            return find_candidate(log, now_ms)
        except (OSError, CorruptRecordError) as error:
            self._disable(log, error)
            return None

    def finish(self, task: CleanTask) -> bool:
        """Installs the result of a pass; returns False if the pass changed nothing."""
        self._running = None
        self.stats.ran(task)
        self._postponed_until.pop(task.log.topic_partition, None)
        if task.error is not None:
            self._failed(task, task.error)
            return False
        if task.result is None:
            return False
        if not task.log.replace_segments(task.result):
            self._postpone(task)
            discard(task.result)
            return False
        # Only after the segments are installed: with a checkpoint of this offset, the next start
        # treats all records below it as compacted.
        task.log.cleaned_offset = task.result.end_offset
        return True

    def abandon(self, task: CleanTask) -> None:
        """Ends the pass of a deleted log; the files of the pass are in the deleted directory."""
        if self._running is task:
            self._running = None

    def _failed(self, task: CleanTask, error: Exception) -> None:
        if isinstance(error, OSError) and is_transient(error):
            _log.warning(
                "partition %s: compaction is postponed: %s", task.log.topic_partition, error
            )
            self._postpone(task)
        else:
            self._disable(task.log, error)

    def _postpone(self, task: CleanTask) -> None:
        self._postponed_until[task.log.topic_partition] = task.plan.now_ms + _BACKOFF_MS

    def _disable(self, log: Log, error: Exception) -> None:
        self.uncleanable.add(log.topic_partition)
        _log.error(
            "partition %s: compaction is disabled until restart: %s", log.topic_partition, error
        )


def _urgency(found: CleanCandidate) -> tuple[bool, float]:
    return found.overdue, found.dirty_ratio
