"""The segments of one partition on disk: writing, rolling, removing, truncating, flushing.

`LocalLog` is the lower half of a log: bytes and offsets, without producers, leader epochs or
watermarks. Files are removed in two steps: they are renamed to `.deleted` at once and unlinked
after `file.delete.delay.ms`, so that responses in flight and tools can still read them.

A flush has three steps: collected on the event loop, run on a thread, finished on the loop. A
request that waits for a flush while one runs is covered by the next one, which includes everything
appended meanwhile (group commit). Several flushes may run at once; each covers everything that was
not durable when it began. `LogFlusher` decides when a log must be flushed, adds the leader epochs
and producer snapshots to the task, and applies its result.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from barnabas.storage import file_names
from barnabas.storage._log_state_hot import FlusherState, LocalState
from barnabas.storage.errors import is_transient, storage_error
from barnabas.storage.filesystem import File, FileSystem
from barnabas.storage.leader_epochs import EpochsVersion, LeaderEpochs
from barnabas.storage.log_config import LogConfig
from barnabas.storage.log_dirs import DirHealth
from barnabas.storage.log_reader import LogReader
from barnabas.storage.producer_snapshot import SnapshotFiles
from barnabas.storage.segment import Segment, SegmentList


@dataclass(slots=True)
class FlushTask:
    """Work for a thread: files and directories to sync, and a list of leader epochs to write.

    `run` never raises; the log reads `error` when it finishes the task.
    """

    fs: FileSystem
    end_offset: int
    generation: int
    files: list[File]
    directories: list[Path] = field(default_factory=list)
    epochs: LeaderEpochs | None = None
    epochs_version: EpochsVersion | None = None
    sealed: list[Segment] = field(default_factory=list)
    snapshots: list[File] = field(default_factory=list)
    name_changes: int = 0
    error: OSError | None = None
    epochs_error: OSError | None = None
    """Transient error of writing the leader epochs; records and file names are durable anyway."""

    def run(self) -> None:
        try:
            for file in (*self.snapshots, *self.files):
                file.sync()
            for directory in self.directories:
                self.fs.sync_dir(directory)
        except OSError as error:
            self.error = error
        else:
            self._write_epochs()

    def _write_epochs(self) -> None:
        if self.epochs is None or self.epochs_version is None:
            return
        try:
            self.epochs.write(self.epochs_version)
        except OSError as error:
            # The failed write was to a temporary file, so no fsync of records has failed.
            if is_transient(error):
                self.epochs_error = error
            else:
                self.error = error


class LocalLog(LocalState):
    """The segments of one log: writes, rolls, truncates and flushes them.

    Owned by the event loop.

    Invariant: `active` is the last of `segments` and ends at `log_end_offset`.
    """

    __slots__ = (
        "_name_changes",
        "_names_synced",
        "_removed",
        "_unflushed_sealed",
        "directory",
        "fs",
        "generation",
        "recovery_point",
        "segments",
    )
    active: Segment
    reader: LogReader

    def __init__(
        self, fs: FileSystem, directory: Path, config: LogConfig, segments: SegmentList
    ) -> None:
        super().__init__(segments.active, config, LogReader(segments))
        self.fs = fs
        self.directory = directory
        self.segments = segments
        self.recovery_point = 0
        self.generation = 0
        """Number of truncations and replacements; a task of an earlier generation is discarded."""
        self._removed: list[tuple[Segment, int | None]] = []
        self._unflushed_sealed: list[Segment] = []
        self._name_changes = 1
        self._names_synced = 0

    # Rolling

    def must_roll(self, size: int, last_offset: int, max_timestamp: int, now_ms: int) -> bool:
        """Whether a batch needs a new segment because of size, age, indexes or relative offsets."""
        active, config = self.active, self.config
        if active.size == 0:
            return not active.fits(last_offset, size, config.max_index_bytes)
        if active.size + size > config.segment_bytes:
            return True
        if not active.fits(last_offset, size, config.max_index_bytes):
            return True
        # The age is measured in record timestamps if there are any, so that old data which is
        # written again does not make one segment per batch.
        if active.first_timestamp >= 0 and max_timestamp >= 0:
            waited = max_timestamp - active.first_timestamp
        else:
            waited = now_ms - active.created_ms
        return waited > config.segment_ms - self.jitter_ms

    def roll(self, base_offset: int, now_ms: int) -> Segment:
        """Starts a new segment; after an OSError the old one is still active."""
        old = self.active
        # An empty active segment has this base offset already; two segments with one name are
        # impossible.
        if old.base_offset == base_offset:
            return old
        fresh = self.new_segment(base_offset)
        fresh.create(now_ms)
        if old.size:
            self._seal(old)
            self._unflushed_sealed.append(old)
        else:
            self.remove_segments([old])
        self.segments.add(fresh)
        self.active = fresh
        self._name_changes += 1
        return fresh

    def new_segment(self, base_offset: int, suffix: str = "") -> Segment:
        interval = self.config.index_interval_bytes
        return Segment(
            self.fs, self.directory, base_offset, interval, suffix, self.active.open_files
        )

    def _seal(self, segment: Segment) -> None:
        try:
            segment.seal()
        except OSError as error:
            # The entries stay in memory. The next flush writes them again, and it must succeed
            # before the recovery point moves past this segment.
            if not is_transient(error):
                raise

    # Removing

    def remove_segments(self, segments: Iterable[Segment]) -> int:
        """Removes segments from the log and renames their files to `.deleted`.

        The newest segment is first, so that a crash in between leaves a log without gaps.
        """
        count = 0
        for segment in sorted(segments, key=lambda item: item.base_offset, reverse=True):
            self.segments.remove(segment)
            self._schedule_unlink(segment)
            count += 1
        self._invalidate_positions()
        return count

    def _schedule_unlink(self, segment: Segment) -> None:
        """Renames a segment's files and adds them to the list of files to unlink."""
        if segment in self._unflushed_sealed:
            self._unflushed_sealed.remove(segment)
        segment.rename_files(file_names.DELETED)
        self._removed.append((segment, None))

    @property
    def has_removed_files(self) -> bool:
        """Whether files of removed segments wait for their deletion."""
        return bool(self._removed)

    def take_expired_files(self, monotonic_ms: int) -> list[Path]:
        """Returns the files whose delete delay has passed.

        The delay starts at the first call after the removal.
        """
        kept: list[tuple[Segment, int | None]] = []
        due: list[Segment] = []
        for segment, deadline in self._removed:
            if deadline is None:
                deadline = monotonic_ms + self.config.file_delete_delay_ms
            if deadline <= monotonic_ms:
                due.append(segment)
            else:
                kept.append((segment, deadline))
        self._removed = kept
        return [path for segment in due for path in segment.close_and_list_files()]

    def replace_segments(self, replaced: list[Segment], cleaned: Segment) -> None:
        """Replaces segments by the cleaned segment that was written from them.

        `crash_cleanup` relies on the order of these steps. They need no sync between them: all
        are renames in one directory, which file systems keep in order.
        """
        cleaned.rename_files(file_names.SWAP)
        # After all files of the cleaned segment are called `.swap`, and before they get their final
        # names. At a crash between two renames either the old segments are complete or the new
        # ones.
        for segment in reversed(replaced):
            self.segments.remove(segment)
            self._schedule_unlink(segment)
        cleaned.rename_files("")
        cleaned.sealed = True
        self.segments.add(cleaned)
        self._name_changes += 1
        self._invalidate_positions()

    # Truncation

    def truncate_to(self, offset: int) -> None:
        """Removes every batch that contains `offset` or later offsets.

        A segment must start at or before `offset`.
        """
        self.remove_segments([s for s in self.segments if s.base_offset > offset])
        last = self.segments.active
        if last in self._unflushed_sealed:
            self._unflushed_sealed.remove(last)
        span = last.find(offset) if last.size else None
        if span is not None:
            last.truncate_at(span.position, min(span.base_offset, offset))
        else:
            last.activate()
        end = offset if span is None else min(span.base_offset, offset)
        self._restart(last, end)

    def truncate_fully(self, offset: int, now_ms: int) -> None:
        """Removes all segments and starts a new one at `offset`."""
        self.remove_segments(list(self.segments))
        fresh = self.new_segment(offset)
        fresh.create(now_ms)
        self.segments.add(fresh)
        self._restart(fresh, offset)

    def _restart(self, active: Segment, end_offset: int) -> None:
        self.active = active
        self.log_end_offset = end_offset
        # Never above the end: otherwise a crash would make recovery trust records that are written
        # after the truncation.
        self.recovery_point = min(self.recovery_point, end_offset)
        self._name_changes += 1
        self._invalidate_positions()

    def _invalidate_positions(self) -> None:
        self.generation += 1
        self.reader.forget()

    # Flushing

    def begin_flush(self) -> FlushTask:
        """Collects the files and directories to sync to make all records durable."""
        files: list[File] = []
        for segment in self._unflushed_sealed:
            files += [segment.open_file(), *segment.store_indexes()]
        files.append(self.active.open_file())
        task = FlushTask(self.fs, self.log_end_offset, self.generation, files)
        task.sealed = list(self._unflushed_sealed)
        task.name_changes = self._name_changes
        if self._names_synced != self._name_changes:
            task.directories.append(self.directory)
        if not self._names_synced:
            # The name of a new partition's directory must be durable as well (KAFKA-3968).
            task.directories.append(self.directory.parent)
        return task

    def finish_flush(self, task: FlushTask) -> bool:
        """Moves the recovery point; returns False if the log was truncated since `begin_flush`."""
        # A truncation has removed offsets that this flush covered, and new records may have taken
        # them. The next flush covers the new ones.
        if task.generation != self.generation:
            return False
        for segment in task.sealed:
            segment.forget_indexes()
            segment.release_if_closed()
        self._unflushed_sealed = [s for s in self._unflushed_sealed if s not in task.sealed]
        self._names_synced = max(self._names_synced, task.name_changes)
        self.recovery_point = max(self.recovery_point, task.end_offset)
        return True

    def mark_unflushed(self, segments: Iterable[Segment]) -> None:
        """Adds sealed segments that the next flush must sync."""
        self._unflushed_sealed += segments

    # Moving

    def moved(self, directory: Path) -> None:
        self.directory = directory
        for segment in self.segments:
            segment.moved(directory)
        for segment, _ in self._removed:
            segment.moved(directory)

    def close(self) -> None:
        for segment in self.segments:
            segment.release()
        self.reader.forget()


# --- Flushing -------------------------------------------------------------------------------------


class LogFlusher(FlusherState):
    """Flush state of one log; owned by the event loop."""

    __slots__ = (
        "_epochs",
        "_health",
        "_local",
        "_snapshots",
    )

    def __init__(
        self, local: LocalLog, epochs: LeaderEpochs, snapshots: SnapshotFiles, health: DirHealth
    ) -> None:
        super().__init__()
        self._local = local
        self._epochs = epochs
        self._snapshots = snapshots
        self._health = health

    @property
    def unflushed(self) -> bool:
        return self._local.recovery_point < self._local.log_end_offset

    def begin(self) -> FlushTask | None:
        self._health.check()
        if self.closed or not (self.unflushed or self.rolled):
            return None
        try:
            task = self._local.begin_flush()
        except OSError as error:
            raise self._health.write_failed(error) from error
        # Snapshots and epochs go with the records: when the recovery point moves, recovery reads
        # neither the records nor anything else below it again.
        task.snapshots = list(self._snapshots.unsynced)
        task.epochs, task.epochs_version = self._epochs, self._epochs.unwritten()
        self.rolled = False
        self.unflushed_records = 0
        return task

    def finish(self, task: FlushTask) -> None:
        if self.closed:
            # The files were closed or moved while the task ran; its result no longer applies.
            return
        if task.error is not None:
            self._health.fail(task.error)
            raise storage_error(task.error) from task.error
        self._health.check()
        if task.epochs_error is not None:
            # The recovery point does not move, so recovery rebuilds the epochs from the records.
            self._health.write_failed(task.epochs_error)
            self.rolled = True
            return
        self._snapshots.unsynced = [
            file for file in self._snapshots.unsynced if file not in task.snapshots
        ]
        if not self._local.finish_flush(task):
            self.rolled = True

    def flush(self) -> None:
        """Flushes synchronously."""
        task = self.begin()
        if task is not None:
            task.run()
            self.finish(task)
