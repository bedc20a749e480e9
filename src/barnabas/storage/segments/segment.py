"""One segment: a log file and its three indexes.

Knows file positions, offsets and timestamps; not producers, epochs or retention. How something
is found in it is `lookup`'s business. Strategy:

- The size is tracked here, and every write goes to that position. A write that fails is cut off
  again, so the file never ends in half a batch while the process lives.
- An index entry is added once more than `index.interval.bytes` were written since the last.
- Index files can be lost or wrong: `rebuild_indexes` makes them anew from the log.
"""

from pathlib import Path

from barnabas.storage.files import file_names
from barnabas.storage.filesystem import Data, File, FileSystem
from barnabas.storage.indexes.offset_index import MAX_RELATIVE_OFFSET, OffsetIndex
from barnabas.storage.indexes.time_index import TimeIndex, TimestampOffset
from barnabas.storage.indexes.transaction_index import TransactionIndex
from barnabas.storage.segments import batch_scan, lookup


class Segment:
    """Loop-owned, except that closed segments may be read from a thread through `open_file`.

    Lifecycle: `create` or `open`; appends while active; `seal` when the log rolls; then only reads
    until its files are renamed or removed.
    """

    __slots__ = (
        "_bytes_since_index",
        "_file",
        "_fs",
        "_largest",
        "_suffix",
        "aborted",
        "base_offset",
        "created_ms",
        "directory",
        "first_timestamp",
        "index_interval",
        "offsets",
        "sealed",
        "size",
        "times",
    )

    def __init__(
        self,
        fs: FileSystem,
        directory: Path,
        base_offset: int,
        index_interval: int,
        suffix: str = "",
    ) -> None:
        self._fs = fs
        self.directory = directory
        self.base_offset = base_offset
        self.index_interval = index_interval
        self._suffix = suffix
        self._file: File | None = None
        self._bytes_since_index = 0
        self._largest: TimestampOffset | None = None
        self.size = 0
        self.sealed = False
        self.created_ms = 0
        self.first_timestamp = -1
        self.offsets = OffsetIndex(fs, self.path(file_names.OFFSET_INDEX), base_offset)
        self.times = TimeIndex(fs, self.path(file_names.TIME_INDEX), base_offset)
        self.aborted = TransactionIndex(fs, self.path(file_names.TRANSACTION_INDEX))

    def path(self, extension: str) -> Path:
        return file_names.segment_file(self.directory, self.base_offset, extension, self._suffix)

    # Lifecycle

    def create(self, now_ms: int) -> None:
        """Make the log file; index files follow when there is something to put in them."""
        self._file = self._fs.open(self.path(file_names.LOG), create=True)
        self.created_ms = now_ms
        self.size = self._file.size()
        self.offsets.entries.replace(bytearray())
        self.times.replace(bytearray())

    def load(self) -> None:
        """Learn the size of an existing segment; its indexes are read when they are needed."""
        path = self.path(file_names.LOG)
        self.size = self._fs.size(path)
        self.created_ms = self._fs.modified_ms(path)
        self.sealed = True

    def activate(self) -> None:
        """Make a loaded segment ready for appends."""
        self.sealed = False
        largest = self.largest_timestamp()
        self.offsets.entries.activate()
        self.times.entries.activate()
        self._largest = largest
        self._bytes_since_index = self.size - self.offsets.last().position
        self.first_timestamp = self.first_batch_timestamp()

    def seal(self) -> None:
        """Close to appends: the last time entry carries the greatest timestamp."""
        largest = self.largest_timestamp()
        if largest.timestamp >= 0:
            self.times.maybe_append(largest.timestamp, largest.offset)
        self.sealed = True
        self.store_indexes()

    def forget_indexes(self) -> None:
        """Drop the memory of a sealed segment's indexes, once a flush has stored them."""
        self.offsets.entries.seal()
        self.times.entries.seal()

    def store_indexes(self, *, create_aborted: bool = False) -> list[File]:
        """Bring the index files up to date; returns those a flush must force to disk."""
        stored = (
            self.offsets.entries.store(),
            self.times.entries.store(),
            self.aborted.store(create=create_aborted),
        )
        return [file for file in stored if file is not None]

    def open_file(self) -> File:
        if self._file is None:
            self._file = self._fs.open(self.path(file_names.LOG))
        return self._file

    def release(self) -> None:
        """Let the file go; slices that are being sent keep it open."""
        self._file = None

    def release_if_closed(self) -> None:
        """Let the file of a closed segment go: descriptors are scarcer than opens are slow."""
        if self.sealed:
            self.release()

    # Appends

    def write(self, data: Data) -> int:
        """Write at the end; returns the position. After an OSError the end is where it was.

        Raises the error of the cut as well, if even that fails: the caller must then give the
        directory up, for the file may end in half a batch.
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
        """Account for a written batch in timestamps and indexes."""
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
        """Whether offsets, positions and indexes can take a batch that ends at `last_offset`."""
        return (
            last_offset - self.base_offset <= MAX_RELATIVE_OFFSET
            and self.size + size <= MAX_RELATIVE_OFFSET
            and not self.offsets.is_full(max_index_bytes)
            and not self.times.is_full(max_index_bytes)
        )

    # Timestamps

    def largest_timestamp(self) -> TimestampOffset:
        """The greatest timestamp and its batch's last offset; (-1, base) where there is none."""
        if self._largest is None:
            held = self._file
            self._largest = lookup.largest_timestamp(self)
            self._let_go(held)
        return self._largest

    def first_batch_timestamp(self) -> int:
        """The greatest timestamp of the first batch, -1 without one."""
        held = self._file
        found = lookup.first_timestamp(self)
        self._let_go(held)
        return found

    def _let_go(self, held: File | None) -> None:
        """Do not hold a closed segment's file just because something was looked up in it."""
        if self.sealed:
            self._file = held

    # Cutting

    def truncate_at(self, position: int, next_offset: int) -> None:
        """Cut the file at a batch boundary and the indexes with it."""
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

    # Indexes as files

    def indexes_plausible(self) -> bool:
        """Whether the index files exist, hold whole entries, and end within the log."""
        if not (self.offsets.entries.well_sized() and self.times.entries.well_sized()):
            return False
        last = self.offsets.last()
        return self.offsets.entries.count == 0 or (
            last.offset > self.base_offset and 0 < last.position < self.size
        )

    def reset_indexes(self) -> None:
        """Forget all three indexes; `note_batch` fills two of them again."""
        self._reset_entries()
        self.aborted.reset()

    def _reset_entries(self) -> None:
        self.offsets.entries.replace(bytearray())
        self.times.replace(bytearray())
        self._largest = TimestampOffset(-1, self.base_offset)
        self._bytes_since_index = 0

    def rebuild_indexes(self) -> None:
        """Write offset and time index anew from the log."""
        self._reset_entries()
        for position, header in batch_scan.walk(self.open_file(), 0, self.size):
            self.note_batch(position, header.size, header.last_offset, header.max_timestamp)
        largest = self.largest_timestamp()
        if largest.timestamp >= 0:
            self.times.maybe_append(largest.timestamp, largest.offset)
        self.store_indexes()

    # Files under other names

    def rename_files(self, suffix: str) -> None:
        """Give every file of the segment another suffix; open descriptors stay good.

        On the way out the log file goes first, so that what a crash leaves is no segment; on the
        way in it comes last, so that a segment is not seen before its indexes are (`leftovers`).
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
        """Follow the directory, or the suffix, to new paths."""
        self.directory = directory
        self.offsets.entries.renamed(self.path(file_names.OFFSET_INDEX))
        self.times.entries.renamed(self.path(file_names.TIME_INDEX))
        self.aborted.renamed(self.path(file_names.TRANSACTION_INDEX))

    def give_up(self) -> list[Path]:
        """Let the files go; returns where they are, or would be."""
        self.release()
        return [self.path(extension) for extension in file_names.SEGMENT_EXTENSIONS]

    def remove_files(self) -> None:
        for path in self.give_up():
            if self._fs.exists(path):
                self._fs.remove(path)

    def set_aside(self) -> None:
        """Keep the log file under a name that no log loads; its indexes can be made again."""
        log, *indexes = self.give_up()
        self._fs.rename(log, log.with_name(log.name + file_names.STRANDED))
        for path in indexes:
            if self._fs.exists(path):
                self._fs.remove(path)

    def modified_ms(self) -> int:
        return self._fs.modified_ms(self.path(file_names.LOG))

    def __repr__(self) -> str:
        return f"Segment({self.path(file_names.LOG).name}, size={self.size})"
