"""A file of fixed-size, sorted entries: what the offset index and the time index share.

Two lives. While its segment takes appends, all entries are in memory and reach the file when
`store` is called (a flush, a roll, a close): indexes are rebuilt after a crash anyway, so writing
each entry through would buy nothing. Once sealed, nothing is kept in memory and no descriptor is
held: a search opens the file, reads some twenty keys, and lets it go, so a broker with ten thousand
closed segments pays nothing for them.

Kafka maps 10 MB of zeros for an active index and trims them when it closes; this file always has
the trimmed form, which Kafka's tools read as they read its own.
"""

import struct
from bisect import bisect_right
from collections.abc import Callable
from pathlib import Path

from barnabas.storage.filesystem import File, FileSystem

_Read = Callable[[int, int], bytes]


class _Keys:
    """The entries seen as a sequence of one field, for `bisect`."""

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
    """Loop-owned. `sealed` entries are immutable until `replace` installs a rebuilt set."""

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
        """Bring the entries into memory, to be appended to."""
        if self._memory is None:
            self._memory = bytearray(self._read_all())
            self._stored = len(self._memory)

    def replace(self, entries: bytearray) -> None:
        """Install a rebuilt set; the file follows with the next `store`."""
        self._memory = entries
        self._stored = 0

    def append(self, entry: bytes) -> None:
        assert self._memory is not None, "an index that takes appends is active"
        self._memory += entry

    def keep(self, count: int) -> None:
        """Drop every entry from number `count` on."""
        self.activate()
        assert self._memory is not None
        del self._memory[count * self.stride :]
        self._stored = min(self._stored, len(self._memory))

    def store(self) -> File | None:
        """Make the file equal the memory, creating it even when empty; returns it to be forced."""
        if self._memory is None:
            return None
        file = self._fs.open(self.path, create=True)
        if file.size() > self._stored:
            file.truncate(self._stored)
        if len(self._memory) > self._stored:
            file.pwrite(memoryview(self._memory)[self._stored :], self._stored)
            self._stored = len(self._memory)
        return file

    def seal(self) -> None:
        """Store, and forget the memory."""
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
        """The last entry whose key at byte `field` is at most `target`."""
        read, count = self._reader(), self.count
        found = bisect_right(_Keys(read, count, self.stride, key, field), target) - 1
        return None if found < 0 else read(self.stride, found * self.stride)

    def floor_index(self, target: int, key: struct.Struct, field: int) -> int:
        """The number of entries whose key is at most `target`."""
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
