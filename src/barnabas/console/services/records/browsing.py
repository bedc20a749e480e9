"""Pages of a topic's records in order of time, forward and backward.

A page merges its partitions by timestamp. A cursor names the offset in each partition where the
next page continues; reading backward goes through windows of offsets that grow while compaction,
markers or empty batches leave too few records in them.
"""

import asyncio
import heapq
from collections import deque
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from itertools import islice

from barnabas.console.services.records.log_entries import LogEntry
from barnabas.console.services.records.partition_reader import (
    PAGE_FETCH_BYTES,
    PartitionBounds,
    PartitionReader,
    Shorten,
)
from barnabas.model.errors import LocalError

_CONCURRENT = 16
_MAX_WINDOW = 1_000_000
FORWARD, BACKWARD = "f", "b"


class InvalidCursorError(LocalError):
    """A cursor is not one that the console returned."""


@dataclass(frozen=True, slots=True)
class Cursor:
    """A direction and the offset of each partition from which, or up to which, to read."""

    direction: str
    positions: dict[int, int]

    def encode(self) -> str:
        """Returns the text of a cursor.

        >>> Cursor("f", {0: 5, 1: 7}).encode()
        'f0:5.1:7'
        """
        return self.direction + ".".join(f"{key}:{value}" for key, value in self.positions.items())

    @classmethod
    def decode(cls, text: str) -> "Cursor":
        try:
            pairs = [item.split(":") for item in text[1:].split(".")]
            positions = {int(key): int(value) for key, value in pairs}
        except ValueError:
            raise InvalidCursorError(f"the cursor {text[:40]!r} is invalid") from None
        if text[0] not in (FORWARD, BACKWARD) or min(positions.values(), default=-1) < 0:
            raise InvalidCursorError(f"the cursor {text[:40]!r} is invalid")
        return cls(text[0], positions)


@dataclass(frozen=True, slots=True)
class EntryPage:
    """Entries in ascending order of time, and where each direction continues."""

    entries: list[LogEntry]
    following: dict[int, int]
    preceding: dict[int, int]


class Browser:
    """Reads pages of one topic; `shorten` is applied to the entries when they are read."""

    def __init__(
        self, reader: PartitionReader, topic: str, limit: int, shorten: Shorten | None = None
    ) -> None:
        self._reader = reader
        self._topic = topic
        self._limit = limit
        self._shorten = shorten

    async def forward(
        self, bounds: Sequence[PartitionBounds], positions: dict[int, int]
    ) -> EntryPage:
        """Returns the first entries at or after the positions."""
        starts = {
            item.partition: min(
                max(positions.get(item.partition, item.start), item.start), item.end
            )
            for item in bounds
        }
        chosen, reads = await self._read_all(
            bounds, lambda item: self._from(item, starts[item.partition]), self._first
        )
        following = dict(starts)
        for partition, own in _by_partition(chosen).items():
            following[partition] = own[-1].offset + 1
        for partition in self._finished(reads, chosen):
            following[partition] = reads[partition].reached
        return EntryPage(chosen, following, starts)

    async def backward(self, bounds: Sequence[PartitionBounds], ends: dict[int, int]) -> EntryPage:
        """Returns the last entries before the ends."""
        limits = {
            item.partition: min(max(ends.get(item.partition, item.end), item.start), item.end)
            for item in bounds
        }
        chosen, reads = await self._read_all(
            bounds, lambda item: self._before(item, limits[item.partition]), self._last
        )
        preceding = dict(limits)
        for partition, own in _by_partition(chosen).items():
            preceding[partition] = own[0].offset
        for partition in self._finished(reads, chosen):
            preceding[partition] = reads[partition].reached
        return EntryPage(chosen, limits, preceding)

    async def _read_all(
        self,
        bounds: Sequence[PartitionBounds],
        read_one: Callable[[PartitionBounds], Awaitable["_Read"]],
        choose: Callable[[list[list[LogEntry]]], list[LogEntry]],
    ) -> tuple[list[LogEntry], dict[int, "_Read"]]:
        """Reads the partitions, some at a time; returns the entries of the page and all reads.

        Only the chosen entries of the partitions read so far are kept.
        """
        chosen: list[LogEntry] = []
        reads: dict[int, _Read] = {}
        for group in _groups(bounds):
            found = await asyncio.gather(*map(read_one, group))
            reads.update({read.partition: read for read in found})
            chosen = choose([chosen, *(read.entries for read in found)])
        return chosen, reads

    def _finished(self, reads: dict[int, "_Read"], chosen: Sequence[LogEntry]) -> list[int]:
        """Returns the partitions of which all that exists is on the page; offsets without records
        beyond it need not be read again.
        """
        shown = _by_partition(chosen)
        return [
            partition
            for partition, read in reads.items()
            if len(read.entries) < self._limit
            and len(shown.get(partition, ())) == len(read.entries)
        ]

    def _first(self, parts: list[list[LogEntry]]) -> list[LogEntry]:
        return list(islice(heapq.merge(*parts, key=_time), self._limit))

    def _last(self, parts: list[list[LogEntry]]) -> list[LogEntry]:
        newest = heapq.merge(*(part[::-1] for part in parts), key=_time, reverse=True)
        return list(islice(newest, self._limit))[::-1]

    async def _from(self, bounds: PartitionBounds, start: int) -> "_Read":
        found: list[LogEntry] = []
        reached = start
        chunks = self._reader.read_range(
            self._topic, bounds.partition, start, bounds.end, shorten=self._shorten
        )
        async with aclosing(chunks):
            async for entries, following in chunks:
                found.extend(entries)
                reached = following
                if len(found) >= self._limit:
                    break
        return _Read(bounds.partition, found[: self._limit], reached)

    async def _before(self, bounds: PartitionBounds, end: int) -> "_Read":
        window = self._limit
        found: deque[LogEntry] = deque(maxlen=self._limit)
        low = end
        while low > bounds.start and len(found) < self._limit and window <= _MAX_WINDOW:
            high, low = low, max(bounds.start, low - window)
            part: deque[LogEntry] = deque(maxlen=self._limit)
            async for entries, _ in self._reader.read_range(
                self._topic, bounds.partition, low, high, PAGE_FETCH_BYTES * 4, self._shorten
            ):
                part.extend(entries)
            found = deque([*part, *found], maxlen=self._limit)
            window *= 4
        return _Read(bounds.partition, list(found), low)


@dataclass(frozen=True, slots=True)
class _Read:
    """Up to `limit` entries of a partition, and the offset up to which it was read."""

    partition: int
    entries: list[LogEntry]
    reached: int


def _time(entry: LogEntry) -> tuple[int, int, int]:
    return entry.timestamp, entry.partition, entry.offset


def _by_partition(entries: Sequence[LogEntry]) -> dict[int, list[LogEntry]]:
    found: dict[int, list[LogEntry]] = {}
    for entry in entries:
        found.setdefault(entry.partition, []).append(entry)
    return found


def _groups(bounds: Sequence[PartitionBounds]) -> Iterator[Sequence[PartitionBounds]]:
    for at in range(0, len(bounds), _CONCURRENT):
        yield bounds[at : at + _CONCURRENT]
