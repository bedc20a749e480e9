"""The index of aborted transactions of one segment.

Entries of 34 bytes: i16 version 0, i64 producer id, i64 first offset, i64 last offset (that of the
abort marker), i64 last stable offset when the marker was written. A transaction is in the
index of the segment that holds its marker. The file exists only if it has an entry.
"""

import struct
from pathlib import Path
from typing import NamedTuple

from barnabas.storage.errors import CorruptFileError
from barnabas.storage.filesystem import File, FileSystem

ENTRY = struct.Struct(">hqqqq")
_VERSION = 0


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
        kept = self._stored * ENTRY.size
        if file.size() > kept:
            file.truncate(kept)
        new = b"".join(ENTRY.pack(_VERSION, *txn) for txn in self.entries[self._stored :])
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
        if len(data) % ENTRY.size:
            raise CorruptFileError(f"{self.path}: {len(data)} bytes are not whole entries")
        return [_decode(self.path, fields) for fields in ENTRY.iter_unpack(data)]


def _decode(path: Path, fields: tuple[int, ...]) -> AbortedTxn:
    version, *rest = fields
    if version != _VERSION:
        raise CorruptFileError(f"{path}: version {version} where {_VERSION} was expected")
    return AbortedTxn(*rest)
