"""One segment, a log file and its three indexes; and the list of the segments of one log.

A segment handles file positions, offsets and timestamps; producers, leader epochs and retention
belong to the log.

- The segment tracks its size, and every write starts at that position. A failed write is truncated
  again, so the file does not end in an incomplete batch while the process runs.
- An index entry is added when more than `index.interval.bytes` were written since the last one.
- A lookup starts at an index entry and walks batch headers from there. The header at the entry's
  position must match the entry; otherwise the indexes are rebuilt from the log file and the
  lookup runs again (KAFKA-2012).
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from pathlib import Path

from barnabas.model.errors import CorruptRecordError
from barnabas.records.batch import BatchHeader
from barnabas.storage import batch_scan, file_names
from barnabas.storage._log_state_hot import SegmentState
from barnabas.storage.batch_scan import Span
from barnabas.storage.filesystem import Data, File, FileSystem, OpenFiles
from barnabas.storage.indexes import (
    MAX_RELATIVE_OFFSET,
    OffsetIndex,
    OffsetPosition,
    TimeIndex,
    TimestampOffset,
    TransactionIndex,
)


class Segment(SegmentState):
    """A log file with its three indexes.

    Owned by the event loop; a thread may read a sealed segment through `open_file`.

    Lifecycle: `create` or `load`; appends while active; `seal` when the log rolls; then only reads
    until its files are renamed or removed.
    """

    __slots__ = (
        "_fs",
        "_suffix",
        "aborted",
        "directory",
        "open_files",
        "sealed",
    )

    def __init__(
        self,
        fs: FileSystem,
        directory: Path,
        base_offset: int,
        index_interval: int,
        suffix: str = "",
        open_files: OpenFiles | None = None,
    ) -> None:
        """Creates a segment; one that a thread writes is not part of `open_files`."""
        self._fs = fs
        self.open_files = open_files
        self.directory = directory
        self.base_offset = base_offset
        self._suffix = suffix
        self.sealed = False
        super().__init__(
            base_offset,
            index_interval,
            OffsetIndex(fs, self.path(file_names.OFFSET_INDEX), base_offset),
            TimeIndex(fs, self.path(file_names.TIME_INDEX), base_offset),
        )
        self.aborted = TransactionIndex(fs, self.path(file_names.TRANSACTION_INDEX))

    def path(self, extension: str) -> Path:
        return file_names.segment_file(self.directory, self.base_offset, extension, self._suffix)

    # Lifecycle

    def create(self, now_ms: int) -> None:
        """Creates the log file; index files are created when the first entry is stored."""
        file = self._file = self._fs.open(self.path(file_names.LOG), create=True)
        self._note_open()
        self.created_ms = now_ms
        self.size = file.size()
        self.offsets.entries.replace(bytearray())
        self.times.replace(bytearray())

    def load(self) -> None:
        """Reads the size of an existing segment; its indexes are read on first use."""
        path = self.path(file_names.LOG)
        self.size = self._fs.size(path)
        self.created_ms = self._fs.modified_ms(path)
        self.sealed = True

    def activate(self) -> None:
        """Prepares a loaded segment for appends."""
        self.sealed = False
        largest = self.largest_timestamp()
        self.offsets.entries.activate()
        self.times.entries.activate()
        self._largest = largest
        self._bytes_since_index = self.size - self.offsets.last().position
        self.first_timestamp = self.first_batch_timestamp()

    def seal(self) -> None:
        """Ends appends; the last time index entry then carries the greatest timestamp."""
        largest = self.largest_timestamp()
        if largest.timestamp >= 0:
            self.times.maybe_append(largest.timestamp, largest.offset)
        self.sealed = True
        self.store_indexes()

    def forget_indexes(self) -> None:
        """Frees the memory of a sealed segment's indexes after a flush has stored them."""
        self.offsets.entries.seal()
        self.times.entries.seal()

    def store_indexes(self, *, create_aborted: bool = False) -> list[File]:
        """Writes the index files; returns the files that a flush must sync."""
        stored = (
            self.offsets.entries.store(),
            self.times.entries.store(),
            self.aborted.store(create=create_aborted),
        )
        return [file for file in stored if file is not None]

    def open_file(self) -> File:
        self.used = True
        file = self._file
        if file is None:
            file = self._file = self._fs.open(self.path(file_names.LOG))
            self._note_open()
        return file

    def _note_open(self) -> None:
        if self.open_files is not None:
            self.open_files.opened(self)

    def release(self) -> None:
        """Drops the reference to the file; file slices that are being sent keep it open."""
        self._file = None
        if self.open_files is not None:
            self.open_files.closed(self)

    def release_if_closed(self) -> None:
        """Closes the file of a sealed segment; descriptors are limited and opening is fast."""
        if self.sealed:
            self.release()

    # Appends

    def write(self, data: Data) -> int:
        """Appends bytes and returns their position; an OSError leaves the size unchanged.

        If truncating the partial write fails as well, that error is raised: the file may then end
        in an incomplete batch, and the caller must take the directory offline.
        """
        position = self.size
        file = self.open_file()
        try:
            file.pwrite(data, position)
        except OSError:
            file.truncate(position)
            raise
        self.size = position + len(data)
        return position

    def note_batch(self, position: int, size: int, last_offset: int, max_timestamp: int) -> None:
        """Updates timestamps and indexes for a batch that was written at `position`."""
        if position == 0:
            self.first_timestamp = max_timestamp
        largest = self._largest
        if largest is None or max_timestamp > largest.timestamp:
            self._largest = TimestampOffset(max_timestamp, last_offset)
        if self._bytes_since_index > self.index_interval:
            self.offsets.append(last_offset, position)
            self.times.maybe_append(*self.largest_timestamp())
            self._bytes_since_index = 0
        self._bytes_since_index += size

    def fits(self, last_offset: int, size: int, max_index_bytes: int) -> bool:
        """Whether offsets, positions and indexes allow a batch that ends at `last_offset`."""
        return (
            last_offset - self.base_offset <= MAX_RELATIVE_OFFSET
            and self.size + size <= MAX_RELATIVE_OFFSET
            and not self.offsets.is_full(max_index_bytes)
            and not self.times.is_full(max_index_bytes)
        )

    # Lookups by offset and position

    def find(self, offset: int) -> Span | None:
        """Returns the first batch whose last offset is at least `offset`; None past the end."""
        entry = self.offsets.lookup(offset)
        if not self._is_trusted(entry):
            self.rebuild_indexes()
            entry = self.offsets.lookup(offset)
        return batch_scan.find(self.open_file(), entry.position, self.size, offset)

    def last_batch_within(self, start: Span, limit: int) -> Span:
        """Returns the last whole batch that ends at or before position `limit`, from `start` on."""
        entry = self.offsets.floor_position(limit)
        last = start
        if entry.position > start.position:
            span = batch_scan.span_at(self.open_file(), entry.position, self.size)
            if span is None or not start.last_offset < span.base_offset <= entry.offset:
                self.rebuild_indexes()
                return self.last_batch_within(start, limit)
            if span.end > limit:
                return self._batch_before(start, entry)
            last = span
        while last.end < limit:
            span = batch_scan.span_at(self.open_file(), last.end, self.size)
            if span is None or span.end > limit:
                break
            last = span
        return last

    def next_offset(self) -> int:
        """Returns one past the last offset in the segment; the base offset when it is empty."""
        entry = self.offsets.last()
        if not self._is_trusted(entry):
            self.rebuild_indexes()
            entry = self.offsets.last()
        last = self.base_offset
        for _, header in batch_scan.walk(self.open_file(), entry.position, self.size):
            last = header.next_offset
        return last

    def _is_trusted(self, entry: OffsetPosition) -> bool:
        """Whether a batch with a matching offset begins at the position of an index entry."""
        if entry.position == 0:
            return True
        span = batch_scan.span_at(self.open_file(), entry.position, self.size)
        return span is not None and self.base_offset <= span.base_offset <= entry.offset

    def _batch_before(self, start: Span, entry: OffsetPosition) -> Span:
        """Returns the last batch before an index entry whose own batch ends too late."""
        if start.end == entry.position:
            return start
        earlier = self.offsets.floor_position(entry.position - 1)
        begin = max(earlier.position, start.position)
        last = start
        for position, header in batch_scan.walk(self.open_file(), begin, entry.position):
            last = Span(position, header.size, header.base_offset, header.last_offset)
        return last

    # Lookups by time

    def time_position(self, timestamp: int) -> int:
        """Returns the position of the first batch that can hold a record at or after a time."""
        entry = self.times.lookup(timestamp)
        if entry.timestamp < 0:
            return 0
        span = self._span_with_timestamp(entry)
        if span is None:
            self.rebuild_indexes()
            return self.time_position(timestamp)
        return span.position

    def largest_timestamp(self) -> TimestampOffset:
        """Returns the greatest timestamp and its batch's last offset; (-1, base) without one."""
        if self._largest is None:
            held = self._file
            self._largest = self._find_largest_timestamp()
            self._restore_file(held)
        return self._largest

    def first_batch_timestamp(self) -> int:
        """Returns the greatest timestamp of the first batch, -1 without one."""
        held = self._file
        span = batch_scan.span_at(self.open_file(), 0, self.size) if self.size else None
        found = -1 if span is None else self._header(span).max_timestamp
        self._restore_file(held)
        return found

    def _find_largest_timestamp(self) -> TimestampOffset:
        if self.size == 0:
            return TimestampOffset(-1, self.base_offset)
        largest = self.times.last()
        span = self._span_with_timestamp(largest) if largest.timestamp >= 0 else None
        if span is None:
            self.rebuild_indexes()
            return self.largest_timestamp()
        if self.sealed:
            return largest
        for _, header in batch_scan.walk(self.open_file(), span.end, self.size):
            if header.max_timestamp > largest.timestamp:
                largest = TimestampOffset(header.max_timestamp, header.last_offset)
        return largest

    def _span_with_timestamp(self, entry: TimestampOffset) -> Span | None:
        """Returns the batch of a time index entry, or None if its timestamp does not match."""
        if not self.base_offset <= entry.offset <= self.base_offset + MAX_RELATIVE_OFFSET:
            return None
        span = self.find(entry.offset)
        if span is None or span.base_offset > entry.offset:
            return None
        return span if self._header(span).max_timestamp == entry.timestamp else None

    def _header(self, span: Span) -> BatchHeader:
        for _, header in batch_scan.walk(self.open_file(), span.position, span.end):
            return header
        raise CorruptRecordError(f"no batch at position {span.position}")

    def _restore_file(self, held: File | None) -> None:
        """Closes a sealed segment's file again if a lookup opened it."""
        if self.sealed and held is None:
            self.release()

    # Truncation

    def truncate_at(self, position: int, next_offset: int) -> None:
        """Truncates the file at a batch boundary, and the indexes accordingly."""
        self.offsets.truncate_to(position)
        self.times.truncate_to(next_offset)
        self.aborted.truncate_to(next_offset)
        file = self.open_file()
        file.truncate(position)
        file.sync()
        self.size = position
        self._largest = None
        self.store_indexes()
        self.activate()

    # Index maintenance

    def indexes_plausible(self) -> bool:
        """Whether the index files exist, hold whole entries, and end within the log."""
        if not (self.offsets.entries.well_sized() and self.times.entries.well_sized()):
            return False
        last = self.offsets.last()
        return self.offsets.entries.count == 0 or (
            last.offset > self.base_offset and 0 < last.position < self.size
        )

    def reset_indexes(self) -> None:
        """Clears all three indexes; `note_batch` fills the offset and the time index again."""
        self._reset_entries()
        self.aborted.reset()

    def _reset_entries(self) -> None:
        self.offsets.entries.replace(bytearray())
        self.times.replace(bytearray())
        self._largest = TimestampOffset(-1, self.base_offset)
        self._bytes_since_index = 0

    def rebuild_indexes(self) -> None:
        """Rebuilds the offset index and the time index from the log file."""
        self._reset_entries()
        for position, header in batch_scan.walk(self.open_file(), 0, self.size):
            self.note_batch(position, header.size, header.last_offset, header.max_timestamp)
        largest = self.largest_timestamp()
        if largest.timestamp >= 0:
            self.times.maybe_append(largest.timestamp, largest.offset)
        self.store_indexes()

    # Renaming and removing files

    def rename_files(self, suffix: str) -> None:
        """Gives every file of the segment another suffix; open descriptors stay valid.

        When a suffix is added, the log file is renamed first, so that a crash leaves index files
        without a segment. When the suffix is removed, the log file is renamed last, so that a
        segment appears only after its indexes (see `crash_cleanup`).
        """
        extensions = file_names.SEGMENT_EXTENSIONS
        order = extensions if suffix else (*extensions[1:], file_names.LOG)
        old = {extension: self.path(extension) for extension in order}
        self._suffix = suffix
        for extension, path in old.items():
            if self._fs.exists(path):
                self._fs.rename(path, self.path(extension))
        self.moved(self.directory)

    def moved(self, directory: Path) -> None:
        """Updates all paths after the directory or the suffix has changed."""
        self.directory = directory
        self.offsets.entries.renamed(self.path(file_names.OFFSET_INDEX))
        self.times.entries.renamed(self.path(file_names.TIME_INDEX))
        self.aborted.renamed(self.path(file_names.TRANSACTION_INDEX))

    def close_and_list_files(self) -> list[Path]:
        """Closes the file and returns the paths of all files that the segment may have."""
        self.release()
        return [self.path(extension) for extension in file_names.SEGMENT_EXTENSIONS]

    def remove_files(self) -> None:
        for path in self.close_and_list_files():
            if self._fs.exists(path):
                self._fs.remove(path)

    def set_aside(self) -> None:
        """Renames the log file so that no log loads it, and removes its indexes."""
        log, *indexes = self.close_and_list_files()
        self._fs.rename(log, log.with_name(log.name + file_names.STRANDED))
        for path in indexes:
            if self._fs.exists(path):
                self._fs.remove(path)

    def modified_ms(self) -> int:
        return self._fs.modified_ms(self.path(file_names.LOG))

    def __repr__(self) -> str:
        return f"Segment({self.path(file_names.LOG).name}, size={self.size})"


# --- Segments of one log --------------------------------------------------------------------------


class SegmentList:
    """Segments of an open log, at least one; the last one is active. Owned by the loop."""

    __slots__ = ("_bases", "_segments")

    def __init__(self) -> None:
        self._bases: list[int] = []
        self._segments: list[Segment] = []

    def __len__(self) -> int:
        return len(self._segments)

    def __iter__(self) -> Iterator[Segment]:
        return iter(list(self._segments))

    @property
    def first(self) -> Segment:
        return self._segments[0]

    @property
    def active(self) -> Segment:
        return self._segments[-1]

    def add(self, segment: Segment) -> None:
        at = bisect_left(self._bases, segment.base_offset)
        if at < len(self._bases) and self._bases[at] == segment.base_offset:
            raise ValueError(f"two segments at offset {segment.base_offset}")
        self._bases.insert(at, segment.base_offset)
        self._segments.insert(at, segment)

    def remove(self, segment: Segment) -> None:
        at = bisect_left(self._bases, segment.base_offset)
        if at == len(self._segments) or self._segments[at] is not segment:
            raise ValueError(f"{segment!r} is not in the log")
        del self._bases[at], self._segments[at]

    def holds(self, segment: Segment) -> bool:
        at = bisect_left(self._bases, segment.base_offset)
        return at < len(self._segments) and self._segments[at] is segment

    def floor(self, offset: int) -> Segment | None:
        """Returns the segment whose range contains `offset`."""
        at = bisect_right(self._bases, offset) - 1
        return None if at < 0 else self._segments[at]

    def following(self, segment: Segment) -> Segment | None:
        at = bisect_right(self._bases, segment.base_offset)
        return self._segments[at] if at < len(self._segments) else None

    def between(self, start: int, end: int) -> list[Segment]:
        """Returns the segments that may contain offsets in [start, end)."""
        low = max(bisect_right(self._bases, start) - 1, 0)
        high = bisect_left(self._bases, end)
        return self._segments[low:high]

    def end_of(self, segment: Segment, log_end_offset: int) -> int:
        """Returns the end of a segment's range: the next base offset, or the log end offset."""
        following = self.following(segment)
        return log_end_offset if following is None else following.base_offset

    def size_bytes(self) -> int:
        return sum(segment.size for segment in self._segments)
