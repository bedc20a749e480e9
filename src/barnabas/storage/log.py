"""The log of one partition: appends, reads, watermarks, truncation.

The only place where segments, producer state and leader epochs change together. Everything here
runs on the broker's loop and touches the page cache at most; flushing and compaction come as tasks
that a thread may run. How a batch is written is `appending`'s business, truncation and retention
`upkeep`'s, what to compact `compaction`'s, finding out what a crash left `recovery`'s.
"""

from collections.abc import Callable
from pathlib import Path

from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BrokerError, CorruptRecordError
from barnabas.records.batch import BatchHeader
from barnabas.storage import appending, upkeep
from barnabas.storage.append_info import AppendInfo, AppendOrigin
from barnabas.storage.compaction.cleaner import CleanResult
from barnabas.storage.errors import CorruptFileError, storage_error
from barnabas.storage.files import file_names
from barnabas.storage.flush_task import FlushTask
from barnabas.storage.flushing import Flushing
from barnabas.storage.indexes.transaction_index import AbortedTxn
from barnabas.storage.log_config import LogConfig
from barnabas.storage.log_parts import LogParts
from barnabas.storage.log_read import LogRead, TimestampHit
from barnabas.storage.lookups import aborted_between, first_at_or_after, greatest_timestamp
from barnabas.storage.producers.producer_state import ProducerEntry

_READ_ERRORS = (OSError, CorruptRecordError, CorruptFileError)


class Log:
    """Loop-owned. Invariant: log start <= last stable offset <= high watermark <= log end."""

    def __init__(self, parts: LogParts) -> None:
        self.topic_partition = parts.topic_partition
        self.topic_id = parts.topic_id
        self.log_start_offset = parts.log_start_offset
        self.high_watermark = parts.high_watermark
        self.local = parts.local
        self.epochs = parts.epochs
        self.producers = parts.producers
        self.health = parts.health
        self.snapshots = parts.snapshots
        self._flushing = Flushing(parts)
        self._touched = False
        """Whether there is anything a clean stop must write."""
        self.last_flush_ms = 0
        self.cleaned_offset = -1
        """Where the last compaction pass ended."""
        self.on_truncated: Callable[[Log], None] = _nobody
        """Told after a truncation, before anything can be appended behind it."""

    # What it is

    @property
    def directory(self) -> Path:
        return self.local.directory

    @property
    def config(self) -> LogConfig:
        return self.local.config

    def update_config(self, config: LogConfig) -> None:
        """Take new settings; they hold from the next append or check on."""
        self.local.config = config

    @property
    def log_end_offset(self) -> int:
        return self.local.log_end_offset

    @property
    def recovery_point(self) -> int:
        """Everything below is known to be on the medium."""
        return self.local.recovery_point

    @property
    def size_bytes(self) -> int:
        return self.local.segments.size_bytes()

    @property
    def latest_epoch(self) -> int:
        return self.epochs.latest_epoch

    @property
    def last_stable_offset(self) -> int:
        """Exclusive: readers of committed data see offsets below it, and not it."""
        unstable = self.producers.first_unstable_offset()
        if unstable is None or unstable >= self.high_watermark:
            return self.high_watermark
        return unstable

    @property
    def flush_due(self) -> bool:
        """Whether `flush.messages` is reached, or a finished segment waits for its flush."""
        return self._flushing.due

    @property
    def unflushed(self) -> bool:
        return self._flushing.unflushed

    # Appends

    def append_as_leader(
        self,
        batch: bytearray | memoryview,
        header: BatchHeader,
        *,
        leader_epoch: int,
        now_ms: int,
        origin: AppendOrigin = AppendOrigin.CLIENT,
    ) -> AppendInfo:
        """Give one validated batch its offsets and write it; `batch` and `header` are changed.

        A retry of a remembered batch is answered with the offsets it had. BrokerError for a fenced
        producer, a wrong sequence, a failed disk.
        """
        self._check_open()
        return appending.as_leader(self, batch, header, leader_epoch, now_ms, origin)

    def append_as_follower(self, batches: memoryview | bytes, *, now_ms: int = 0) -> AppendInfo:
        """Write batches as the leader sent them; a cut-off batch at the end is left out.

        CorruptRecordError when a checksum is wrong or offsets do not go on from the log's end.
        """
        self._check_open()
        return appending.as_follower(self, batches, now_ms)

    def assign_epoch_start(self, epoch: int) -> None:
        """A leader of `epoch` begins at the log's end (KAFKA-7415)."""
        self.epochs.assign(epoch, self.log_end_offset)

    def appended(self, header: BatchHeader, position: int) -> None:
        """Account for a batch that is in the active segment's file, but for its producer."""
        local, last = self.local, header.base_offset + header.last_offset_delta
        segment = local.active
        segment.note_batch(position, header.size, last, header.max_timestamp)
        if header.partition_leader_epoch > self.epochs.latest_epoch:
            self.epochs.assign(header.partition_leader_epoch, header.base_offset)
        local.log_end_offset = last + 1
        local.reader.remember(header.base_offset, segment, position)
        self._flushing.unflushed_records += header.records_count
        self._touched = True

    # Reads

    def read(
        self, offset: int, max_bytes: int, *, max_offset: int, min_one_batch: bool = True
    ) -> LogRead:
        """Whole batches from the one that holds `offset`, below the exclusive `max_offset`.

        OFFSET_OUT_OF_RANGE outside [log start, log end]. `max_offset` is the caller's snapshot of
        a watermark; it is not looked up again here (KAFKA-9807).
        """
        self._check_open()
        end = self.local.log_end_offset
        if not self.log_start_offset <= offset <= end:
            raise BrokerError(
                ErrorCode.OFFSET_OUT_OF_RANGE,
                f"offset {offset} is outside [{self.log_start_offset}, {end}]",
            )
        bound = min(max_offset, end)
        if offset >= bound:
            return LogRead(None, 0, offset, offset)
        try:
            return self.local.reader.read(offset, max_bytes, bound, min_one_batch)
        except _READ_ERRORS as error:
            raise self.health.judge_read(error) from error

    def offset_for_timestamp(self, timestamp: int) -> TimestampHit | None:
        """The first record at or after a time."""
        self._check_open()
        try:
            return first_at_or_after(self.local.segments, timestamp, self.log_start_offset)
        except _READ_ERRORS as error:
            raise self.health.judge_read(error) from error

    def max_timestamp_offset(self) -> TimestampHit | None:
        """The record with the greatest timestamp, the first of them if there are several."""
        self._check_open()
        try:
            return greatest_timestamp(self.local.segments)
        except _READ_ERRORS as error:
            raise self.health.judge_read(error) from error

    def aborted_transactions(self, start: int, end_exclusive: int) -> list[AbortedTxn]:
        """Aborted transactions that touch [start, end_exclusive), by first offset."""
        self._check_open()
        try:
            return aborted_between(self.local.segments, start, end_exclusive)
        except _READ_ERRORS as error:
            raise self.health.judge_read(error) from error

    def end_offset_for_epoch(self, epoch: int) -> tuple[int, int]:
        """(largest epoch at or below `epoch`, its end offset); (-1, -1) when unknown."""
        return self.epochs.end_offset_for(epoch, self.log_end_offset)

    def producer_states(self) -> list[ProducerEntry]:
        return list(self.producers)

    # Watermarks

    def update_high_watermark(self, offset: int) -> int:
        """Set it, within the log; returns what it became. Callers decide about going back."""
        self.high_watermark = max(self.log_start_offset, min(offset, self.log_end_offset))
        self.producers.on_high_watermark(self.high_watermark)
        return self.high_watermark

    def increment_log_start_offset(self, offset: int, reason: str = "") -> bool:
        """Move the log start forward; False when it is there already."""
        if offset > self.high_watermark:
            raise BrokerError(
                ErrorCode.OFFSET_OUT_OF_RANGE,
                f"log start {offset} would pass the high watermark {self.high_watermark}{reason}",
            )
        if offset <= self.log_start_offset:
            return False
        self.log_start_offset = offset
        self.epochs.truncate_from_start(offset)
        return True

    # Truncation

    def truncate_to(self, offset: int) -> bool:
        """Drop everything from `offset` on; False when the log ends there or before."""
        self._check_open()
        if offset >= self.log_end_offset:
            # An epoch in which this replica led and wrote nothing begins at the end. It goes also
            # when nothing else does, or every leader would call it diverged, again and again.
            self.epochs.truncate_from_end(self.log_end_offset)
            return False
        if offset < self.local.segments.first.base_offset:
            self.truncate_fully_and_start_at(offset)
        else:
            upkeep.truncate(self, offset)
        self.on_truncated(self)
        return True

    def truncate_fully_and_start_at(self, offset: int, *, now_ms: int = 0) -> None:
        """Drop everything; the log is empty and goes on at `offset`."""
        self._check_open()
        upkeep.start_over(self, offset, now_ms)
        self.on_truncated(self)

    # Rolling and flushing

    def roll(self, now_ms: int = 0) -> None:
        """Close the active segment, unless it is empty, and begin another."""
        self._check_open()
        try:
            if self.local.active.size:
                self.roll_at(self.log_end_offset, now_ms)
        except OSError as error:
            raise self.health.judge(error) from error

    def roll_at(self, base_offset: int, now_ms: int) -> None:
        """Begin a segment with this base offset; the caller judges an OSError."""
        self.snapshots.take(base_offset, self.producers)
        self.local.roll(base_offset, now_ms)
        self.request_flush()

    def request_flush(self) -> None:
        """Ask for a flush soon: something old enough to be durable is not."""
        self._touched = True
        self._flushing.rolled = True

    def begin_flush(self) -> FlushTask | None:
        """Collect a flush of all that is written; None when nothing waits. `run` it anywhere."""
        return self._flushing.begin()

    def finish_flush(self, task: FlushTask) -> None:
        """Move the recovery point; a failed flush takes the directory offline, always."""
        self._flushing.finish(task)

    def flush(self, up_to: int | None = None) -> None:
        """Force everything to disk, now, unless it already is below `up_to`."""
        if up_to is None or up_to > self.recovery_point:
            self._flushing.flush()

    # Retention and life

    def delete_old_segments(self, now_ms: int) -> int:
        """Remove segments that retention by time, size or log start no longer holds."""
        self._check_open()
        return upkeep.delete_expired(self, now_ms)

    def replace_segments(self, result: CleanResult) -> bool:
        """Put a finished cleaning pass in place; False when the log has changed meanwhile."""
        self._check_open()
        return upkeep.replace_cleaned(self, result)

    def take_expired_files(self, monotonic_ms: int) -> list[Path]:
        """The files of deleted segments whose delay has passed, for somebody to unlink."""
        return self.local.take_expired_files(monotonic_ms)

    def moved(self, directory: Path) -> None:
        """Follow a rename of the partition's directory."""
        self.local.moved(directory)
        self.snapshots.directory = directory
        self.epochs.moved(directory / file_names.EPOCH_CHECKPOINT)

    def close(self) -> None:
        """Make everything durable, leave a producer snapshot at the end, let the files go."""
        if not self.health.failed and self._touched:
            self.snapshots.take(self.log_end_offset, self.producers)
            self.request_flush()
            self._flushing.flush(also=self.local.active.store_indexes())
            self.epochs.store()
        self.abandon()

    def abandon(self) -> None:
        """Let the files go as they are: the log is closed, or its directory is leaving."""
        self._flushing.closed = True
        self.local.close()

    def _check_open(self) -> None:
        self.health.check()
        if self._flushing.closed:
            raise storage_error(f"the log of {self.topic_partition} is closed")

    def __repr__(self) -> str:
        return (
            f"Log({self.topic_partition}, start={self.log_start_offset}, "
            f"hw={self.high_watermark}, end={self.log_end_offset})"
        )


def _nobody(log: Log) -> None:
    """Nobody keeps checkpoints of this log."""
