"""The segments of one partition on disk: writing, rolling, removing, cutting.

The lower half of a log: bytes and offsets, without producers, epochs or watermarks. Removal is in
two steps: files are renamed to `.deleted` at once and unlinked after `file.delete.delay.ms`, so
slices that are being sent and tools that look on do not lose them underfoot.
"""

from collections.abc import Iterable
from pathlib import Path

from barnabas.storage.errors import is_passing
from barnabas.storage.files import file_names
from barnabas.storage.filesystem import File, FileSystem
from barnabas.storage.flush_task import FlushTask
from barnabas.storage.log_config import LogConfig
from barnabas.storage.log_read import LogReader
from barnabas.storage.segments import lookup
from barnabas.storage.segments.segment import Segment
from barnabas.storage.segments.segment_list import SegmentList


class LocalLog:
    """Loop-owned. Invariant: `active` is the last of `segments` and ends at `log_end_offset`."""

    __slots__ = (
        "_doomed",
        "_name_changes",
        "_names_synced",
        "_unflushed_sealed",
        "active",
        "config",
        "directory",
        "fs",
        "generation",
        "jitter_ms",
        "log_end_offset",
        "reader",
        "recovery_point",
        "segments",
    )

    def __init__(
        self, fs: FileSystem, directory: Path, config: LogConfig, segments: SegmentList
    ) -> None:
        self.fs = fs
        self.directory = directory
        self.config = config
        self.segments = segments
        self.active = segments.active
        self.reader = LogReader(segments)
        self.log_end_offset = 0
        self.recovery_point = 0
        self.jitter_ms = 0
        self.generation = 0
        """Counts truncations and replacements: work begun before one must not be finished."""
        self._doomed: list[tuple[Segment, int | None]] = []
        self._unflushed_sealed: list[Segment] = []
        self._name_changes = 1
        self._names_synced = 0

    # Rolling

    def must_roll(self, size: int, last_offset: int, max_timestamp: int, now_ms: int) -> bool:
        """Whether a batch needs a new segment: size, age, indexes or relative offsets."""
        active, config = self.active, self.config
        if active.size == 0:
            return not active.fits(last_offset, size, config.max_index_bytes)
        if active.size + size > config.segment_bytes:
            return True
        if not active.fits(last_offset, size, config.max_index_bytes):
            return True
        # Age is counted in record time where there is one, so replayed old data rolls sensibly.
        if active.first_timestamp >= 0 and max_timestamp >= 0:
            waited = max_timestamp - active.first_timestamp
        else:
            waited = now_ms - active.created_ms
        return waited > config.segment_ms - self.jitter_ms

    def roll(self, base_offset: int, now_ms: int) -> Segment:
        """Begin a new segment. After an OSError the old one is still active."""
        old = self.active
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
        return Segment(self.fs, self.directory, base_offset, interval, suffix)

    def _seal(self, segment: Segment) -> None:
        try:
            segment.seal()
        except OSError as error:
            # The entries stay in memory and the flush, which must succeed before the recovery
            # point passes this segment, writes them again.
            if not is_passing(error):
                raise

    # Removing

    def remove_segments(self, segments: Iterable[Segment]) -> int:
        """Take segments out of the log, newest first; their files wait as `.deleted`.

        Newest first, so that a crash in between leaves a log without holes.
        """
        removed = 0
        for segment in sorted(segments, key=lambda item: item.base_offset, reverse=True):
            self.segments.remove(segment)
            self.doom(segment)
            removed += 1
        self._forget_places()
        return removed

    def doom(self, segment: Segment) -> None:
        """Rename a segment's files and put them on the list to unlink."""
        if segment in self._unflushed_sealed:
            self._unflushed_sealed.remove(segment)
        segment.rename_files(file_names.DELETED)
        self._doomed.append((segment, None))

    def take_expired_files(self, monotonic_ms: int) -> list[Path]:
        """What has waited long enough; the wait begins when this first sees a segment."""
        kept: list[tuple[Segment, int | None]] = []
        due: list[Segment] = []
        for segment, deadline in self._doomed:
            if deadline is None:
                deadline = monotonic_ms + self.config.file_delete_delay_ms
            if deadline <= monotonic_ms:
                due.append(segment)
            else:
                kept.append((segment, deadline))
        self._doomed = kept
        return [path for segment in due for path in segment.give_up()]

    def replace_segments(self, replaced: list[Segment], cleaned: Segment) -> None:
        """Put a cleaned segment in the place of those it was made from.

        The steps are in the order that `leftovers` relies on. They need no sync between them: all
        are changes of names in one directory, and file systems keep those in order.
        """
        cleaned.rename_files(file_names.SWAP)
        for segment in reversed(replaced):
            self.segments.remove(segment)
            self.doom(segment)
        cleaned.rename_files("")
        cleaned.sealed = True
        self.segments.add(cleaned)
        self._name_changes += 1
        self._forget_places()

    # Cutting

    def truncate_to(self, offset: int) -> None:
        """Drop every batch that reaches `offset` or beyond; some segment begins before it."""
        self.remove_segments([s for s in self.segments if s.base_offset > offset])
        last = self.segments.active
        if last in self._unflushed_sealed:
            self._unflushed_sealed.remove(last)
        span = lookup.find(last, offset) if last.size else None
        if span is not None:
            last.truncate_at(span.position, min(span.base_offset, offset))
        else:
            last.activate()
        end = offset if span is None else min(span.base_offset, offset)
        self._restart(last, end)

    def truncate_fully(self, offset: int, now_ms: int) -> None:
        """Drop everything and go on at `offset`."""
        self.remove_segments(list(self.segments))
        fresh = self.new_segment(offset)
        fresh.create(now_ms)
        self.segments.add(fresh)
        self._restart(fresh, offset)

    def _restart(self, active: Segment, end_offset: int) -> None:
        self.active = active
        self.log_end_offset = end_offset
        self.recovery_point = min(self.recovery_point, end_offset)
        self._name_changes += 1
        self._forget_places()

    def _forget_places(self) -> None:
        self.generation += 1
        self.reader.forget()

    # Flushing

    def begin_flush(self) -> FlushTask:
        """Collect what must be forced for everything up to the log end to be durable."""
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
            # A new partition's own directory is a name too, in the log directory (KAFKA-3968).
            task.directories.append(self.directory.parent)
        return task

    def finish_flush(self, task: FlushTask) -> bool:
        """Note what a task has made durable; False when a truncation came between."""
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
        """Segments found at start-up, or swapped in, that no flush has covered yet."""
        self._unflushed_sealed += segments

    # Moving

    def moved(self, directory: Path) -> None:
        self.directory = directory
        for segment in self.segments:
            segment.moved(directory)
        for segment, _ in self._doomed:
            segment.moved(directory)

    def close(self) -> None:
        for segment in self.segments:
            segment.release()
        self.reader.forget()
