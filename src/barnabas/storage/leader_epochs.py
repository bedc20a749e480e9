"""The start offset of each leader epoch: `leader-epoch-checkpoint`.

A follower truncates by this list after a change of leader (KIP-101, KIP-279), so it must match the
log after every append, truncation and restart. In memory it is always current. On disk it covers
flushed data: a flush writes it durably before the recovery point moves, and recovery rebuilds the
entries of later batches. An epoch without records may be missing; it has nothing to truncate.

The file is text: version 0, the number of entries, then `epoch start_offset` per line.
"""

from bisect import bisect_right
from itertools import pairwise
from pathlib import Path
from threading import Lock
from typing import NamedTuple

from barnabas.model.records import NO_EPOCH
from barnabas.storage.errors import CorruptFileError
from barnabas.storage.filesystem import FileSystem
from barnabas.storage.small_files import read_lines, write_lines

UNDEFINED_OFFSET = -1


class EpochEntry(NamedTuple):
    """A leader epoch and its first offset."""

    epoch: int
    start_offset: int


class EpochsVersion(NamedTuple):
    """The list at one point in time, to be written to the file."""

    number: int
    path: Path
    lines: tuple[str, ...]


class LeaderEpochs:
    """The leader epochs of one log with their start offsets.

    Owned by the event loop, except `write`.

    Invariant: epochs and start offsets both increase strictly.
    """

    __slots__ = ("_fs", "_lock", "_version", "_written", "entries", "path")

    def __init__(self, fs: FileSystem, path: Path) -> None:
        self._fs = fs
        self.path = path
        self.entries: list[EpochEntry] = []
        self._version = 0
        self._written = 0
        self._lock = Lock()

    @property
    def latest_epoch(self) -> int:
        return self.entries[-1].epoch if self.entries else NO_EPOCH

    def load(self) -> None:
        """Reads the file; an invalid file counts as missing, and recovery rebuilds the list."""
        try:
            lines = read_lines(self._fs, self.path)
            self.entries = [_parse(line) for line in lines]
        except CorruptFileError:
            self.entries = []
        if not _increasing(self.entries):
            self.entries = []

    def assign(self, epoch: int, start_offset: int) -> bool:
        """Records the start of an epoch; returns False if the epoch is not newer."""
        if epoch < 0 or epoch <= self.latest_epoch:
            return False
        # Earlier epochs that start at or after the new one have no records left.
        self.truncate_from_end(start_offset)
        self.entries.append(EpochEntry(epoch, start_offset))
        self._version += 1
        return True

    def end_offset_for(self, epoch: int, log_end_offset: int) -> tuple[int, int]:
        """Returns (largest epoch at or below `epoch`, its end offset); (-1, -1) when unknown."""
        if epoch == NO_EPOCH or not self.entries:
            return NO_EPOCH, UNDEFINED_OFFSET
        # The latest epoch has no successor; it ends at the end of the log.
        if epoch == self.latest_epoch:
            return epoch, log_end_offset
        higher = bisect_right(self.entries, epoch, key=lambda entry: entry.epoch)
        # An epoch above the latest one is not in this log, so its end is unknown.
        if higher == len(self.entries):
            return NO_EPOCH, UNDEFINED_OFFSET
        end = self.entries[higher].start_offset
        if higher == 0:
            # Older than all known epochs: it ends where the first known epoch starts.
            return epoch, end
        return self.entries[higher - 1].epoch, end

    def epoch_for_offset(self, offset: int) -> int:
        """Returns the epoch in which `offset` was written, or -1."""
        found = bisect_right(self.entries, offset, key=lambda entry: entry.start_offset) - 1
        return NO_EPOCH if found < 0 else self.entries[found].epoch

    def truncate_from_end(self, end_offset: int) -> None:
        """Removes entries that start at or after `end_offset`."""
        while self.entries and self.entries[-1].start_offset >= end_offset:
            self.entries.pop()
            self._version += 1

    def truncate_from_start(self, start_offset: int) -> None:
        """Removes entries below `start_offset`; the epoch of that offset then starts there."""
        kept = bisect_right(self.entries, start_offset, key=lambda entry: entry.start_offset) - 1
        if kept >= 0 and (kept > 0 or self.entries[0].start_offset < start_offset):
            first = EpochEntry(self.entries[kept].epoch, start_offset)
            self.entries = [first, *self.entries[kept + 1 :]]
            self._version += 1

    def adopt(self, other: "LeaderEpochs") -> None:
        """Copies the list of a log with the same records."""
        if self.entries != other.entries:
            self.entries = list(other.entries)
            self._version += 1

    def clear(self) -> None:
        if self.entries:
            self._version += 1
        self.entries = []

    def moved(self, path: Path) -> None:
        self.path = path

    def unwritten(self) -> EpochsVersion | None:
        """Returns the list if it differs from the file, to be passed to `write`."""
        if self._version == self._written:
            return None
        lines = tuple(f"{entry.epoch} {entry.start_offset}" for entry in self.entries)
        return EpochsVersion(self._version, self.path, lines)

    def write(self, version: EpochsVersion) -> None:
        """Writes a version durably unless a later one was written; works on any thread."""
        with self._lock:
            if version.number > self._written:
                write_lines(self._fs, version.path, version.lines)
                self._written = version.number

    def store(self) -> None:
        """Writes the file durably if the list has changed."""
        version = self.unwritten()
        if version is not None:
            self.write(version)


def _increasing(entries: list[EpochEntry]) -> bool:
    return all(
        earlier.epoch < later.epoch and earlier.start_offset < later.start_offset
        for earlier, later in pairwise(entries)
    )


def _parse(line: str) -> EpochEntry:
    epoch, _, start = line.partition(" ")
    try:
        return EpochEntry(int(epoch), int(start))
    except ValueError:
        raise CorruptFileError(f"not an epoch entry: {line!r}") from None
