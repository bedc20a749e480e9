"""The log of one partition: appends, reads, watermarks, truncation, retention.

`Log` keeps segments, producer state, leader epochs, snapshots and watermarks consistent with each
other. It belongs to the event loop and touches at most the page cache there; flushes and
compaction passes are tasks that a thread runs. Rules of every append:

- memory changes only after the bytes are in the file;
- a failed write is truncated again. Lack of space fails only that append; every other error takes
  the directory offline until the broker restarts.

`records.validation` has checked the batches and `replication` the leadership before an append.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BrokerError, CorruptRecordError
from barnabas.model.ids import TopicPartition, Uuid
from barnabas.records.batch import BatchHeader, assign_offsets, stamp_log_append_time
from barnabas.records.control import EndMarker
from barnabas.storage import file_names
from barnabas.storage._log_short_paths_hot import append_to_active
from barnabas.storage._log_state_hot import LogState, flush_due, note_change
from barnabas.storage.append_info import AppendInfo, AppendOrigin, end_marker_of, follower_batches
from barnabas.storage.cleaning_pass import CleanResult
from barnabas.storage.errors import CorruptFileError, storage_error
from barnabas.storage.indexes import MAX_RELATIVE_OFFSET, AbortedTxn
from barnabas.storage.leader_epochs import LeaderEpochs
from barnabas.storage.local_log import FlushTask, LocalLog, LogFlusher
from barnabas.storage.log_config import LogConfig
from barnabas.storage.log_dirs import DirHealth
from barnabas.storage.log_reader import (
    LogRead,
    TimestampHit,
    aborted_between,
    first_at_or_after,
    greatest_timestamp,
)
from barnabas.storage.producer_snapshot import SnapshotFiles, restore_producers
from barnabas.storage.producer_state import BatchMetadata, ProducerEntry, ProducerStates
from barnabas.storage.retention import expired_segments

_READ_ERRORS = (OSError, CorruptRecordError, CorruptFileError)


@dataclass(slots=True)
class LogParts:
    """Components of a `Log`; `recovery.open_log` loads all of them from disk."""

    topic_partition: TopicPartition
    topic_id: Uuid | None
    local: LocalLog
    epochs: LeaderEpochs
    producers: ProducerStates
    snapshots: SnapshotFiles
    health: DirHealth
    log_start_offset: int
    high_watermark: int


class Log(LogState):
    """The log of one partition.

    Owned by the event loop.

    Invariant: log start offset <= last stable offset <= high watermark <= log end offset.
    """

    local: LocalLog
    _flusher: LogFlusher

    def __init__(self, parts: LogParts) -> None:
        super().__init__(
            parts.local,
            LogFlusher(parts.local, parts.epochs, parts.snapshots, parts.health),
            parts.epochs,
            parts.health,
            parts.producers,
            parts.log_start_offset,
            parts.high_watermark,
        )
        self.topic_partition = parts.topic_partition
        self.topic_id = parts.topic_id
        self.snapshots = parts.snapshots
        self.last_flush_ms = 0
        self.cleaned_offset = -1
        """End offset of the last compaction pass; -1 without one."""
        self.on_truncated: Callable[[Log], None] = _ignore_truncation
        """Called after a truncation and before the next append."""

    # Properties

    @property
    def directory(self) -> Path:
        return self.local.directory

    @property
    def config(self) -> LogConfig:
        return self.local.config

    def update_config(self, config: LogConfig) -> None:
        """Installs new settings; the next append or periodic check uses them."""
        self.local.config = config
        note_change(self)

    def report_changes(self, changed: "list[Log]") -> None:
        """Adds this log to the list at each change of its records, offsets, files or settings.

        The log is added once until `reported` is called, and now, because nothing is known of it.
        """
        self._changed = changed
        self.reported()
        note_change(self)

    def reported(self) -> None:
        """Called when the list was read."""
        self._listed = False

    @property
    def log_end_offset(self) -> int:
        return self.local.log_end_offset

    @property
    def recovery_point(self) -> int:
        """All records below this offset were flushed to the disk."""
        return self.local.recovery_point

    @property
    def size_bytes(self) -> int:
        return self.local.segments.size_bytes()

    @property
    def latest_epoch(self) -> int:
        return self.epochs.latest_epoch

    @property
    def last_stable_offset(self) -> int:
        """The first offset that `read_committed` consumers do not see yet."""
        unstable = self.producers.first_unstable_offset()
        if unstable is None or unstable >= self.high_watermark:
            return self.high_watermark
        return unstable

    @property
    def flush_due(self) -> bool:
        """Whether `flush.messages` is reached or a sealed segment is not flushed yet."""
        due: bool = flush_due(self)
        return due

    @property
    def unflushed(self) -> bool:
        return self._flusher.unflushed

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
        """Assigns offsets to one validated batch and writes it; changes `batch` and `header`.

        The retry of a remembered batch returns the offsets of the first attempt. Raises BrokerError
        for a fenced producer, a wrong sequence number or a failed disk.
        """
        self._check_open()
        config = self.local.config
        if header.size > config.segment_bytes:
            raise BrokerError(ErrorCode.RECORD_LIST_TOO_LARGE)
        marker = None
        if header.producer_id >= 0:
            if header.is_control:
                marker = self._checked_marker(batch, header)
            elif origin is AppendOrigin.CLIENT:
                # Before any byte changes: a duplicate must not get new offsets, and an error must
                # leave the log untouched. Other origins have no sequence numbers that a client
                # could repeat.
                duplicate = self.producers.check_data(header)
                if duplicate is not None:
                    return self._info_of_duplicate(duplicate)
        append_time = -1
        if config.log_append_time:
            stamp_log_append_time(batch, 0, header, now_ms)
            append_time = now_ms
        first = self.local.log_end_offset
        last = first + header.last_offset_delta
        if header.is_control or not append_to_active(self, batch, header, leader_epoch, now_ms):
            assign_offsets(batch, 0, first, leader_epoch)
            header.base_offset = first
            header.partition_leader_epoch = leader_epoch
            self._note_batch(header, self._write_batch(batch, header, now_ms), marker)
        start = self.log_start_offset
        return AppendInfo(first, last, header.max_timestamp, append_time, start, False)

    def append_as_follower(self, batches: memoryview | bytes, *, now_ms: int = 0) -> AppendInfo:
        """Writes batches as the leader sent them; ignores an incomplete batch at the end.

        Raises CorruptRecordError when a checksum is wrong or when the offsets do not continue at
        the log end offset.
        """
        self._check_open()
        # All batches are checked before the first is written, so a corrupt one cannot leave the log
        # with a part of a response.
        headers = follower_batches(batches, self.log_end_offset)
        if not headers:
            end = self.log_end_offset
            return AppendInfo(end, end - 1, -1, -1, self.log_start_offset, False)
        written = self._write_batches(memoryview(batches), headers, now_ms)
        for position, header in headers:
            marker = None
            if header.is_control and header.producer_id >= 0:
                marker = end_marker_of(memoryview(batches)[position:], header)
            self._note_batch(header, written + position, marker)
        first, last = headers[0][1].base_offset, headers[-1][1].last_offset
        newest = max(header.max_timestamp for _, header in headers)
        return AppendInfo(first, last, newest, -1, self.log_start_offset, False)

    def assign_epoch_start(self, epoch: int) -> None:
        """Records that the leader of `epoch` starts at the log end offset (KAFKA-7415)."""
        self.epochs.assign(epoch, self.log_end_offset)

    def _checked_marker(
        self, batch: bytearray | memoryview, header: BatchHeader
    ) -> EndMarker | None:
        marker = end_marker_of(batch, header)
        if marker is not None:
            self.producers.check_marker(header, marker)
        return marker

    def _info_of_duplicate(self, batch: BatchMetadata) -> AppendInfo:
        return AppendInfo(
            batch.first_offset,
            batch.last_offset,
            batch.timestamp,
            batch.timestamp if self.config.log_append_time else -1,
            self.log_start_offset,
            True,
        )

    def _write_batch(self, batch: bytearray | memoryview, header: BatchHeader, now_ms: int) -> int:
        """Writes one batch to the active segment or a new one; returns its position."""
        local, size = self.local, header.size
        last = header.base_offset + header.last_offset_delta
        try:
            if local.must_roll(size, last, header.max_timestamp, now_ms):
                self.roll_at(header.base_offset, now_ms)
            data = batch if len(batch) == size else memoryview(batch)[:size]
            position = local.active.write(data)
        except OSError as error:
            raise self.health.write_failed(error, size) from error
        if self.health.failing:
            self.health.write_succeeded(size)
        return position

    def _write_batches(
        self, batches: memoryview, headers: list[tuple[int, BatchHeader]], now_ms: int
    ) -> int:
        """Writes all batches of a leader to one segment; returns the position of the first."""
        position, final = headers[-1]
        total = position + final.size
        end, first, last = self.log_end_offset, headers[0][1].base_offset, final.last_offset
        newest = max(header.max_timestamp for _, header in headers)
        try:
            if self.local.must_roll(total, last, newest, now_ms):
                # The new segment starts at the log end offset, so segments leave no gap, except
                # when the offsets behind a gap are too large for the relative offsets of an index.
                self.roll_at(first if last - end > MAX_RELATIVE_OFFSET else end, now_ms)
            written = self.local.active.write(batches[:total])
        except OSError as error:
            raise self.health.write_failed(error, total) from error
        if self.health.failing:
            self.health.write_succeeded(total)
        return written

    def _note_batch(self, header: BatchHeader, position: int, marker: EndMarker | None) -> None:
        """Updates all state for a batch that is in the active segment's file."""
        local, last = self.local, header.base_offset + header.last_offset_delta
        segment = local.active
        segment.note_batch(position, header.size, last, header.max_timestamp)
        # A follower learns the epochs of its leader only from the batches. They must be known
        # before the next fetch, which names the epoch of the last record (KIP-595).
        if header.partition_leader_epoch > self.epochs.latest_epoch:
            self.epochs.assign(header.partition_leader_epoch, header.base_offset)
        local.log_end_offset = last + 1
        local.reader.appended(header.base_offset, segment, position, last + 1)
        self._flusher.unflushed_records += header.records_count
        self._modified = True
        note_change(self)
        if header.producer_id < 0:
            return
        if marker is not None:
            # The index is changed in the same step as the producer state: as soon as the last
            # stable offset passes the marker, a read_committed fetch must list the transaction.
            aborted = self.producers.end_transaction(header, marker, last)
            if aborted is not None:
                segment.aborted.append(aborted)
        elif not header.is_control:
            self.producers.apply_data(header, header.base_offset, last)

    # Reads

    def read(
        self, offset: int, max_bytes: int, *, max_offset: int, min_one_batch: bool = True
    ) -> LogRead:
        """Reads whole batches from the one that contains `offset`, below `max_offset` (exclusive).

        `max_offset` is the watermark that the caller has read; this method does not read it again
        (KAFKA-9807). Raises OFFSET_OUT_OF_RANGE outside [log start offset, log end offset].
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
            raise self.health.read_failed(error) from error

    def offset_for_timestamp(self, timestamp: int, start_offset: int = 0) -> TimestampHit | None:
        """Returns the first record at or after `start_offset` with at least this timestamp.

        Raises LargeBatchError if the search must be continued in a thread.
        """
        self._check_open()
        first = max(start_offset, self.log_start_offset)
        try:
            return first_at_or_after(self.local.segments, timestamp, first)
        except _READ_ERRORS as error:
            raise self.health.read_failed(error) from error

    def max_timestamp_offset(self) -> TimestampHit | None:
        """Returns the first record that has the greatest timestamp.

        Raises LargeBatchError if the search must be continued in a thread.
        """
        self._check_open()
        try:
            return greatest_timestamp(self.local.segments)
        except _READ_ERRORS as error:
            raise self.health.read_failed(error) from error

    def aborted_transactions(self, start: int, end_exclusive: int) -> list[AbortedTxn]:
        """Returns aborted transactions that overlap [start, end_exclusive), by first offset."""
        self._check_open()
        try:
            return aborted_between(self.local.segments, start, end_exclusive)
        except _READ_ERRORS as error:
            raise self.health.read_failed(error) from error

    def end_offset_for_epoch(self, epoch: int) -> tuple[int, int]:
        """Returns (largest epoch at or below `epoch`, its end offset); (-1, -1) when unknown."""
        return self.epochs.end_offset_for(epoch, self.log_end_offset)

    def producer_states(self) -> list[ProducerEntry]:
        return list(self.producers)

    # Watermarks

    def update_high_watermark(self, offset: int) -> int:
        """Sets the high watermark, limited to the log's range, and returns it.

        The caller decides whether it may decrease.
        """
        end = self.local.log_end_offset
        mark = max(self.log_start_offset, end if offset > end else offset)
        self.high_watermark = mark
        note_change(self)
        # A transaction counts as unstable until its marker is below the high watermark: before, the
        # marker may still be truncated.
        self.producers.on_high_watermark(mark)
        return mark

    def increment_log_start_offset(self, offset: int, reason: str = "") -> bool:
        """Moves the log start offset forward; returns False if it is not below `offset`."""
        if offset > self.high_watermark:
            raise BrokerError(
                ErrorCode.OFFSET_OUT_OF_RANGE,
                f"log start offset {offset} is above the high watermark "
                f"{self.high_watermark}{reason}",
            )
        if offset <= self.log_start_offset:
            return False
        self.log_start_offset = offset
        note_change(self)
        # The epoch of the new first record keeps an entry, so that a follower in that epoch can
        # still request the end offset of the epoch.
        self.epochs.truncate_from_start(offset)
        return True

    # Truncation

    def truncate_to(self, offset: int) -> bool:
        """Removes all records from `offset` on; returns False if the log has none."""
        self._check_open()
        if offset >= self.log_end_offset:
            # An epoch in which this replica led without writing starts at the log end offset.
            # It must be removed here too, or every new leader reports divergence again.
            self.epochs.truncate_from_end(self.log_end_offset)
            return False
        if offset < self.local.segments.first.base_offset:
            self.truncate_fully_and_start_at(offset)
        else:
            self._truncate(offset)
        self.on_truncated(self)
        return True

    def truncate_fully_and_start_at(self, offset: int, *, now_ms: int = 0) -> None:
        """Removes all records; the next append gets `offset`."""
        self._check_open()
        self.request_flush()
        try:
            self.local.truncate_fully(offset, now_ms)
            self.epochs.clear()
            self.epochs.store()
            self.snapshots.clear()
        except OSError as error:
            raise self.health.write_failed(error) from error
        self.producers.clear()
        self.log_start_offset = offset
        self.cleaned_offset = -1
        self.update_high_watermark(offset)
        self.on_truncated(self)

    def _truncate(self, offset: int) -> None:
        self.request_flush()
        try:
            self.local.truncate_to(offset)
            end = self.log_end_offset
            self.epochs.truncate_from_end(end)
            self.epochs.store()
            self.snapshots.remove_above(end)
        except OSError as error:
            raise self.health.write_failed(error) from error
        self.log_start_offset = min(self.log_start_offset, end)
        self.cleaned_offset = min(self.cleaned_offset, end)
        # The state cannot be reverted batch by batch, so it is built again from the last snapshot
        # at or below the new end. Snapshots above it are already removed, because they contain the
        # removed batches.
        self.producers = restore_producers(self.snapshots, self.local.segments, end)
        self.update_high_watermark(self.high_watermark)

    # Rolling and flushing

    def roll(self, now_ms: int = 0) -> None:
        """Seals the active segment and starts a new one, unless the active one is empty."""
        self._check_open()
        try:
            if self.local.active.size:
                self.roll_at(self.log_end_offset, now_ms)
        except OSError as error:
            raise self.health.write_failed(error) from error

    def roll_at(self, base_offset: int, now_ms: int) -> None:
        """Starts a segment with this base offset; the caller handles an OSError."""
        # Before the roll: the snapshot of offset N holds the state of all batches below N, and
        # recovery starts from the snapshot of the first segment that it has to read.
        self.snapshots.take(base_offset, self.producers)
        self.local.roll(base_offset, now_ms)
        self.request_flush()

    def request_flush(self) -> None:
        """Makes `flush_due` true: data that must become durable soon is not flushed yet."""
        self._modified = True
        self._flusher.rolled = True
        note_change(self)

    def begin_flush(self) -> FlushTask | None:
        """Returns a task that flushes all written data on any thread; None without such data."""
        return self._flusher.begin()

    def finish_flush(self, task: FlushTask) -> None:
        """Moves the recovery point; any failed flush takes the directory offline."""
        note_change(self)  # first, because the flush is still due if `finish` raises
        self._flusher.finish(task)

    def flush(self, up_to: int | None = None) -> None:
        """Flushes synchronously, unless all records below `up_to` are durable already."""
        if up_to is None or up_to > self.recovery_point:
            note_change(self)
            self._flusher.flush()

    # Retention, compaction, lifecycle

    def delete_old_segments(self, now_ms: int) -> int:
        """Removes segments that expired by time, size or log start; returns their number."""
        self._check_open()
        expired = expired_segments(self, now_ms)
        if not expired:
            return 0
        note_change(self)
        try:
            # A log always has an active segment: the next append and the log end offset need one.
            if expired[-1] is self.local.active:
                self.roll(now_ms)
            for segment in expired:
                self.local.remove_segments([segment])
            first = self.local.segments.first.base_offset
            self.log_start_offset = max(self.log_start_offset, first)
            self.epochs.truncate_from_start(self.log_start_offset)
            self._remove_unused_snapshots(beyond=first)
        except OSError as error:
            raise self.health.write_failed(error) from error
        return len(expired)

    def replace_segments(self, result: CleanResult) -> bool:
        """Installs the segments of a compaction pass.

        Returns False and changes nothing if segments were removed or truncated since the plan.
        """
        self._check_open()
        # The pass ran on a thread, from a list of segments that may be outdated. Installing its
        # result would bring removed records back.
        if result.plan.generation != self.local.generation:
            return False
        note_change(self)
        try:
            for group in result.groups:
                self.local.replace_segments(group.replaced, group.cleaned)
            self._remove_unused_snapshots(beyond=self.local.active.base_offset)
        except OSError as error:
            # The swap is incomplete; only the recovery at the next start can finish it.
            self.health.fail(error)
            raise storage_error(error) from error
        return True

    def _remove_unused_snapshots(self, *, beyond: int) -> None:
        """Removes snapshots without a segment at their offset; keeps those above `beyond`."""
        bases = {segment.base_offset for segment in self.local.segments}
        self.snapshots.keep(o for o in self.snapshots.offsets if o in bases or o > beyond)

    def moved(self, directory: Path) -> None:
        """Updates all paths after the partition's directory was renamed."""
        self.local.moved(directory)
        self.snapshots.directory = directory
        self.epochs.moved(directory / file_names.EPOCH_CHECKPOINT)

    def close(self) -> None:
        """Flushes everything, writes a producer snapshot at the log end and closes the files."""
        task = self.begin_close()
        if task is None:
            self.abandon()
        else:
            task.run()
            self.finish_close(task)

    def begin_close(self) -> FlushTask | None:
        """Writes the snapshot and the indexes; returns the last flush, None if none is needed.

        Run the task on any thread, then call `finish_close`.
        """
        if self.health.failed or not self._modified:
            return None
        # The next start loads this snapshot instead of reading the last segment.
        self.snapshots.take(self.log_end_offset, self.producers)
        self.request_flush()
        task = self._flusher.begin()
        if task is not None:
            task.files += self.local.active.store_indexes()
        return task

    def finish_close(self, task: FlushTask) -> None:
        """Applies the last flush and closes the files."""
        self._flusher.finish(task)
        self.epochs.store()
        self.abandon()

    def abandon(self) -> None:
        """Closes the files without writing anything."""
        self._flusher.closed = True
        self.local.close()

    def _check_open(self) -> None:
        self.health.check()
        if self._flusher.closed:
            raise storage_error(f"the log of {self.topic_partition} is closed")

    def __repr__(self) -> str:
        return (
            f"Log({self.topic_partition}, start={self.log_start_offset}, "
            f"hw={self.high_watermark}, end={self.log_end_offset})"
        )


def _ignore_truncation(log: Log) -> None:
    """Default of `Log.on_truncated`."""
