"""The offset index: from an offset to a file position at or before its batch.

Entries of 8 bytes: u32 offset relative to the segment's base, u32 file position. One entry for
about every `index.interval.bytes` of log; its offset is the last offset of the batch whose first
byte stands at the position, so a lookup takes the greatest entry at or below the target and walks
headers from there. Whoever walks checks the header first: a position from a damaged file must
not be believed (KAFKA-2012).
"""

import struct
from pathlib import Path
from typing import NamedTuple

from barnabas.storage.filesystem import FileSystem
from barnabas.storage.indexes.entry_file import EntryFile

MAX_RELATIVE_OFFSET = 2**31 - 1
"""Of offsets and of positions: other readers of these files take the fields as signed."""

ENTRY = struct.Struct(">II")
_U32 = struct.Struct(">I")
_POSITION_FIELD = 4


class OffsetPosition(NamedTuple):
    """An offset and where, at the latest, its batch begins."""

    offset: int
    position: int


class OffsetIndex:
    """Index of one segment; loop-owned. Offsets in and out are absolute."""

    __slots__ = ("_base", "entries")

    def __init__(self, fs: FileSystem, path: Path, base_offset: int) -> None:
        self.entries = EntryFile(fs, path, ENTRY.size)
        self._base = base_offset

    def append(self, last_offset: int, position: int) -> None:
        self.entries.append(ENTRY.pack(last_offset - self._base, position))

    def lookup(self, offset: int) -> OffsetPosition:
        """The greatest entry at or below `offset`, or the beginning of the segment."""
        return self._decode(self.entries.floor(offset - self._base, _U32, 0))

    def floor_position(self, position: int) -> OffsetPosition:
        """The last entry whose position is at most `position`."""
        return self._decode(self.entries.floor(position, _U32, _POSITION_FIELD))

    def last(self) -> OffsetPosition:
        count = self.entries.count
        return self._decode(self.entries.entry(count - 1) if count else None)

    def truncate_to(self, position: int) -> None:
        """Drop entries of batches at or after a file position."""
        self.entries.keep(self.entries.floor_index(position - 1, _U32, _POSITION_FIELD))

    def is_full(self, max_bytes: int) -> bool:
        return self.entries.count >= max_bytes // ENTRY.size

    def _decode(self, raw: bytes | None) -> OffsetPosition:
        if raw is None or len(raw) < ENTRY.size:
            return OffsetPosition(self._base, 0)
        relative, position = ENTRY.unpack(raw)
        return OffsetPosition(self._base + relative, position)
