"""The three indexes of a segment: offsets, timestamps and aborted transactions.

While a segment is active, all entries are in memory and are written to the file by `store`
(on a flush, a roll or a close): recovery rebuilds indexes after a crash, so writing each entry
immediately has no benefit. The offset index and the time index of a sealed segment use neither
memory nor a descriptor: a search opens the file, reads about twenty keys and closes it again. A
broker may have ten thousand sealed segments. The transaction index has few entries and stays in
memory.

Kafka maps 10 MB of zeros for an active index and trims them when it closes the file. The files
written here always have the trimmed form, which Kafka's tools read as well.

Entries of the transaction index have 34 bytes: i16 version 0, i64 producer id, i64 first offset,
i64 last offset (that of the abort marker), i64 last stable offset when the marker was written. A
transaction is in the index of the segment that holds its marker. The file exists only if it has an
entry.
"""

import struct
from bisect import bisect_right
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from barnabas.storage.errors import CorruptFileError
from barnabas.storage.filesystem import File, FileSystem

_Read = Callable[[int, int], bytes]

MAX_RELATIVE_OFFSET = 2**31 - 1
"""Limit of offsets and positions: other readers of these files read the fields as signed."""

OFFSET_ENTRY = struct.Struct(">II")
_POSITION_FIELD = 4
TIME_ENTRY = struct.Struct(">qI")
_OFFSET_FIELD = 8
_I64 = struct.Struct(">q")
_U32 = struct.Struct(">I")
_OFFSET_ENTRY_BYTES = OFFSET_ENTRY.size
_TIME_ENTRY_BYTES = TIME_ENTRY.size


class _Keys:
    """One field of all entries as a sequence, for `bisect`."""

    __slots__ = ("_count", "_field", "_key", "_read", "_stride")

    def __init__(
        self, read: _Read, count: int, stride: int, key: struct.Struct, field: int
    ) -> None:
        self._read = read
        self._count = count
        self._stride = stride
        self._key = key
        self._field = field

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, index: int) -> int:
        raw = self._read(self._key.size, index * self._stride + self._field)
        value: int = self._key.unpack(raw)[0]
        return value


class EntryFile:
    """Sorted entries, owned by the loop; `sealed` ones are immutable until `replace`."""

    __slots__ = ("_count", "_fs", "_memory", "_stored", "path", "stride")

    def __init__(self, fs: FileSystem, path: Path, stride: int) -> None:
        self._fs = fs
        self.path = path
        self.stride = stride
        self._memory: bytearray | None = None
        self._stored = 0
        self._count = -1

    @property
    def count(self) -> int:
        if self._memory is not None:
            return len(self._memory) // self.stride
        if self._count < 0:
            size = self._fs.size(self.path) if self._fs.exists(self.path) else 0
            self._count = size // self.stride
        return self._count

    def well_sized(self) -> bool:
        """Whether the file exists and holds whole entries."""
        return self._fs.exists(self.path) and self._fs.size(self.path) % self.stride == 0

    def activate(self) -> None:
        """Reads the entries into memory, so that entries can be appended."""
        if self._memory is None:
            self._memory = bytearray(self._read_all())
            self._stored = len(self._memory)

    def replace(self, entries: bytearray) -> None:
        """Replaces all entries by rebuilt ones; the next `store` writes them to the file."""
        self._memory = entries
        self._stored = 0

    def append(self, entry: bytes) -> None:
        assert self._memory is not None, "an index that takes appends is active"
        self._memory += entry

    def keep(self, count: int) -> None:
        """Keeps the first `count` entries and drops the others."""
        self.activate()
        assert self._memory is not None
        del self._memory[count * self.stride :]
        self._stored = min(self._stored, len(self._memory))

    def store(self) -> File | None:
        """Writes the entries to the file, which may be empty; returns the file for a sync."""
        if self._memory is None:
            return None
        file = self._fs.open(self.path, create=True)
        # Before the write: after a rebuild or a truncation the file has entries that are wrong.
        if file.size() > self._stored:
            file.truncate(self._stored)
        if len(self._memory) > self._stored:
            file.pwrite(memoryview(self._memory)[self._stored :], self._stored)
            self._stored = len(self._memory)
        return file

    def seal(self) -> None:
        """Writes the file and releases the memory."""
        self.store()
        self._count = self.count
        self._memory = None

    def renamed(self, path: Path) -> None:
        self.path = path

    def entry(self, index: int) -> bytes:
        if self._memory is not None:
            start = index * self.stride
            return bytes(self._memory[start : start + self.stride])
        return self._fs.open(self.path).pread(self.stride, index * self.stride)

    def floor(self, target: int, key: struct.Struct, field: int) -> bytes | None:
        """Returns the last entry whose key at byte `field` is at most `target`."""
        read, count = self._reader(), self.count
        found = bisect_right(_Keys(read, count, self.stride, key, field), target) - 1
        return None if found < 0 else read(self.stride, found * self.stride)

    def floor_index(self, target: int, key: struct.Struct, field: int) -> int:
        """Returns the number of entries whose key is at most `target`."""
        return bisect_right(_Keys(self._reader(), self.count, self.stride, key, field), target)

    def _reader(self) -> _Read:
        memory = self._memory
        if memory is not None:
            return lambda size, position: bytes(memory[position : position + size])
        if self.count == 0:
            return lambda size, position: b""
        return self._fs.open(self.path).pread

    def _read_all(self) -> bytes:
        if not self._fs.exists(self.path):
            return b""
        file = self._fs.open(self.path)
        return file.pread(file.size() // self.stride * self.stride, 0)


class OffsetPosition(NamedTuple):
    """An offset and the position at or before which its batch begins."""

    offset: int
    position: int


class OffsetIndex:
    """Index of one segment; loop-owned. Offsets in and out are absolute."""

    __slots__ = ("_base", "entries")

    def __init__(self, fs: FileSystem, path: Path, base_offset: int) -> None:
        self.entries = EntryFile(fs, path, OFFSET_ENTRY.size)
        self._base = base_offset

    def append(self, last_offset: int, position: int) -> None:
        self.entries.append(OFFSET_ENTRY.pack(last_offset - self._base, position))

    def lookup(self, offset: int) -> OffsetPosition:
        """Returns the last entry at or below `offset`, or the beginning of the segment."""
        return self._decode(self.entries.floor(offset - self._base, _U32, 0))

    def floor_position(self, position: int) -> OffsetPosition:
        """Returns the last entry whose position is at most `position`."""
        return self._decode(self.entries.floor(position, _U32, _POSITION_FIELD))

    def last(self) -> OffsetPosition:
        count = self.entries.count
        return self._decode(self.entries.entry(count - 1) if count else None)

    def truncate_to(self, position: int) -> None:
        """Drops entries of batches at or after a file position."""
        self.entries.keep(self.entries.floor_index(position - 1, _U32, _POSITION_FIELD))

    def is_full(self, max_bytes: int) -> bool:
        return self.entries.count >= max_bytes // _OFFSET_ENTRY_BYTES

    def _decode(self, raw: bytes | None) -> OffsetPosition:
        if raw is None or len(raw) < OFFSET_ENTRY.size:
            return OffsetPosition(self._base, 0)
        relative, position = OFFSET_ENTRY.unpack(raw)
        return OffsetPosition(self._base + relative, position)


class TimestampOffset(NamedTuple):
    """A timestamp and the last offset of the batch that carries it; -1 for "none"."""

    timestamp: int
    offset: int


class TimeIndex:
    """Index of one segment; loop-owned. Offsets in and out are absolute."""

    __slots__ = ("_base", "_last", "entries")

    def __init__(self, fs: FileSystem, path: Path, base_offset: int) -> None:
        self.entries = EntryFile(fs, path, TIME_ENTRY.size)
        self._base = base_offset
        self._last: TimestampOffset | None = None

    def last(self) -> TimestampOffset:
        if self._last is None:
            count = self.entries.count
            self._last = self._decode(self.entries.entry(count - 1) if count else None)
        return self._last

    def maybe_append(self, timestamp: int, offset: int) -> None:
        """Adds an entry if its timestamp is larger than the last one."""
        if timestamp > self.last().timestamp:
            self.entries.append(TIME_ENTRY.pack(timestamp, offset - self._base))
            self._last = TimestampOffset(timestamp, offset)

    def lookup(self, timestamp: int) -> TimestampOffset:
        """Returns the last entry before `timestamp`; all records up to its offset are earlier."""
        return self._decode(self.entries.floor(timestamp - 1, _I64, 0))

    def truncate_to(self, next_offset: int) -> None:
        """Drops entries at or after an offset."""
        relative = next_offset - self._base - 1
        self.entries.keep(self.entries.floor_index(relative, _U32, _OFFSET_FIELD))
        self._last = None

    def replace(self, entries: bytearray) -> None:
        self.entries.replace(entries)
        self._last = None

    def is_full(self, max_bytes: int) -> bool:
        # One slot stays free for the entry that closing the segment may add.
        return self.entries.count >= max_bytes // _TIME_ENTRY_BYTES - 1

    def _decode(self, raw: bytes | None) -> TimestampOffset:
        if raw is None or len(raw) < TIME_ENTRY.size:
            return TimestampOffset(-1, self._base)
        timestamp, relative = TIME_ENTRY.unpack(raw)
        return TimestampOffset(timestamp, self._base + relative)


# --- Aborted transactions -------------------------------------------------------------------------


TRANSACTION_ENTRY = struct.Struct(">hqqqq")
_TRANSACTION_VERSION = 0


class AbortedTxn(NamedTuple):
    """One aborted transaction of one producer in one partition."""

    producer_id: int
    first_offset: int
    last_offset: int = -1
    last_stable_offset: int = -1


class TransactionIndex:
    """The aborted transactions of a segment; owned by the loop; kept in memory, because there are
    few.

    Like the other indexes it is written to its file by `store`, so an append cannot fail.
    """

    __slots__ = ("_entries", "_fs", "_stored", "path")

    def __init__(self, fs: FileSystem, path: Path) -> None:
        self._fs = fs
        self.path = path
        self._entries: list[AbortedTxn] | None = None
        self._stored = 0

    @property
    def entries(self) -> list[AbortedTxn]:
        if self._entries is None:
            self._entries = self._read()
            self._stored = len(self._entries)
        return self._entries

    def append(self, txn: AbortedTxn) -> None:
        self.entries.append(txn)

    def store(self, *, create: bool = False) -> File | None:
        """Writes the entries to the file; returns the file if it exists, for the caller to sync.

        Without entries a file is created only on demand: a cleaned segment needs an empty one, to
        replace the previous file.
        """
        if self._entries is None and not create:
            return None
        if not self.entries and not create and not self._fs.exists(self.path):
            return None
        file = self._fs.open(self.path, create=True)
        kept = self._stored * TRANSACTION_ENTRY.size
        if file.size() > kept:
            file.truncate(kept)
        new = b"".join(
            TRANSACTION_ENTRY.pack(_TRANSACTION_VERSION, *txn)
            for txn in self.entries[self._stored :]
        )
        if new:
            file.pwrite(new, kept)
            self._stored = len(self.entries)
        return file

    def collect(self, start: int, end: int) -> list[AbortedTxn]:
        """Returns the aborted transactions with offsets in [start, end)."""
        return [txn for txn in self.entries if txn.last_offset >= start and txn.first_offset < end]

    def covers(self, end: int) -> bool:
        """Whether no later segment can hold a transaction that began before `end`."""
        return any(txn.last_stable_offset >= end for txn in self.entries)

    def truncate_to(self, next_offset: int) -> None:
        """Drops transactions whose marker is at or after an offset."""
        kept = [txn for txn in self.entries if txn.last_offset < next_offset]
        if len(kept) != len(self.entries):
            self._entries = kept
            self._stored = min(self._stored, len(kept))

    def reset(self) -> None:
        """Removes all entries, before a rebuild."""
        self._entries = []
        self._stored = 0

    def check(self, base_offset: int) -> None:
        """Raises CorruptFileError if an entry is incomplete or impossible."""
        for txn in self.entries:
            if txn.last_offset < base_offset or txn.first_offset > txn.last_offset:
                raise CorruptFileError(f"{self.path}: impossible entry {txn}")

    def renamed(self, path: Path) -> None:
        self.path = path

    def _read(self) -> list[AbortedTxn]:
        if not self._fs.exists(self.path):
            return []
        file = self._fs.open(self.path)
        data = file.pread(file.size(), 0)
        if len(data) % TRANSACTION_ENTRY.size:
            raise CorruptFileError(f"{self.path}: {len(data)} bytes are not whole entries")
        return [_decode(self.path, fields) for fields in TRANSACTION_ENTRY.iter_unpack(data)]


def _decode(path: Path, fields: tuple[int, ...]) -> AbortedTxn:
    version, *rest = fields
    if version != _TRANSACTION_VERSION:
        raise CorruptFileError(
            f"{path}: version {version} where {_TRANSACTION_VERSION} was expected"
        )
    return AbortedTxn(*rest)
