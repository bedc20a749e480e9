"""The time index: from a timestamp to the offset where a search for it may begin.

Entries of 12 bytes: i64 timestamp, u32 offset relative to the segment's base. An entry (t, o)
says that the greatest timestamp up to then was t, in the batch that ends at o; timestamps and
offsets both increase strictly. The last entry of a closed segment carries its greatest timestamp.
"""

import struct
from pathlib import Path
from typing import NamedTuple

from barnabas.storage.filesystem import FileSystem
from barnabas.storage.indexes.entry_file import EntryFile

ENTRY = struct.Struct(">qI")
_I64 = struct.Struct(">q")
_U32 = struct.Struct(">I")
_OFFSET_FIELD = 8


class TimestampOffset(NamedTuple):
    """A timestamp and the last offset of the batch that carries it; -1 for "none"."""

    timestamp: int
    offset: int


class TimeIndex:
    """Index of one segment; loop-owned. Offsets in and out are absolute."""

    __slots__ = ("_base", "_last", "entries")

    def __init__(self, fs: FileSystem, path: Path, base_offset: int) -> None:
        self.entries = EntryFile(fs, path, ENTRY.size)
        self._base = base_offset
        self._last: TimestampOffset | None = None

    def last(self) -> TimestampOffset:
        if self._last is None:
            count = self.entries.count
            self._last = self._decode(self.entries.entry(count - 1) if count else None)
        return self._last

    def maybe_append(self, timestamp: int, offset: int) -> None:
        """Add an entry if it moves time forward; equal or older times carry no news."""
        if timestamp > self.last().timestamp:
            self.entries.append(ENTRY.pack(timestamp, offset - self._base))
            self._last = TimestampOffset(timestamp, offset)

    def lookup(self, timestamp: int) -> TimestampOffset:
        """The last entry strictly before `timestamp`; nothing up to its offset can be later."""
        return self._decode(self.entries.floor(timestamp - 1, _I64, 0))

    def truncate_to(self, next_offset: int) -> None:
        """Drop entries at or after an offset."""
        relative = next_offset - self._base - 1
        self.entries.keep(self.entries.floor_index(relative, _U32, _OFFSET_FIELD))
        self._last = None

    def replace(self, entries: bytearray) -> None:
        self.entries.replace(entries)
        self._last = None

    def is_full(self, max_bytes: int) -> bool:
        # One slot stays free for the entry that closing the segment may add.
        return self.entries.count >= max_bytes // ENTRY.size - 1

    def _decode(self, raw: bytes | None) -> TimestampOffset:
        if raw is None or len(raw) < ENTRY.size:
            return TimestampOffset(-1, self._base)
        timestamp, relative = ENTRY.unpack(raw)
        return TimestampOffset(timestamp, self._base + relative)
