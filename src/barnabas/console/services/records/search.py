"""A search through a topic: reads partitions chunk by chunk and reports matches and progress.

Memory is bounded by one fetch response and the matches of one event. Conditions run in a thread, so
the console stays responsive; the search ends when its iterator is closed.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass

from barnabas.console.models.records import RecordBody, SearchProgress, SearchQuery
from barnabas.console.services.records.bodies import record_body
from barnabas.console.services.records.decoding import RecordDecoder
from barnabas.console.services.records.expression import PatternError
from barnabas.console.services.records.log_entries import LogEntry
from barnabas.console.services.records.partition_reader import (
    SCAN_FETCH_BYTES,
    PartitionBounds,
    PartitionReader,
)
from barnabas.console.services.records.predicates import Condition, InvalidSearchError

_EVENT_EVERY_S = 0.2


@dataclass(slots=True)
class _Counts:
    matched: int = 0
    scanned: int = 0
    position: int = 0
    scanned_bytes: int = 0
    not_evaluated: int = 0
    problem: str | None = None


class Search:
    """One search; `now` returns monotonic seconds."""

    def __init__(
        self,
        reader: PartitionReader,
        decoder: RecordDecoder,
        condition: Condition,
        limit: int,
        now: Callable[[], float],
    ) -> None:
        self._reader = reader
        self._decoder = decoder
        self._condition = condition
        self._limit = limit
        self._now = now
        self._counts = _Counts()

    async def run(
        self, topic: str, ranges: Sequence[PartitionBounds]
    ) -> AsyncIterator[SearchProgress]:
        """Yields progress several times a second, and once at the end."""
        started = sent = self._now()
        total = sum(item.end - item.start for item in ranges)
        waiting: list[RecordBody] = []
        done_before = 0
        for item in ranges:
            chunks = self._reader.read_range(
                topic, item.partition, item.start, item.end, SCAN_FETCH_BYTES
            )
            async for entries, following in chunks:
                waiting.extend(await self._matches(entries))
                self._counts.position = done_before + following - item.start
                if self._counts.matched >= self._limit:
                    yield self._event(waiting, total, started, finished=True)
                    return
                if self._now() - sent >= _EVENT_EVERY_S:
                    yield self._event(waiting, total, started)
                    waiting, sent = [], self._now()
            done_before += item.end - item.start
        self._counts.position = total
        yield self._event(waiting, total, started, finished=True)

    async def _matches(self, entries: list[LogEntry]) -> list[RecordBody]:
        await self._decoder.prepare(entries)
        try:
            return await asyncio.to_thread(self._filter, entries)
        except PatternError as error:
            raise InvalidSearchError(str(error)) from None

    def _filter(self, entries: list[LogEntry]) -> list[RecordBody]:
        found: list[RecordBody] = []
        counts = self._counts
        for entry in entries:
            if counts.matched >= self._limit:
                break
            counts.scanned += 1
            counts.scanned_bytes += entry.size_bytes
            if entry.control is not None or entry.problem is not None:
                continue
            decoded = self._decoder.decode(entry)
            try:
                if self._condition(entry, decoded):
                    counts.matched += 1
                    found.append(record_body(entry, decoded))
            except PatternError:
                raise
            except ValueError as error:
                counts.not_evaluated += 1
                counts.problem = counts.problem or f"offset {entry.offset}: {error}"
        return found

    def _event(
        self, matches: list[RecordBody], total: int, started: float, finished: bool = False
    ) -> SearchProgress:
        counts = self._counts
        return SearchProgress(
            matches=matches,
            matched=counts.matched,
            scanned=counts.scanned,
            total=total,
            position=counts.position,
            scanned_bytes=counts.scanned_bytes,
            seconds=round(self._now() - started, 3),
            not_evaluated=counts.not_evaluated,
            problem=counts.problem,
            finished=finished,
        )


def search_ranges(bounds: Sequence[PartitionBounds], query: SearchQuery) -> list[PartitionBounds]:
    """Returns the offsets of each partition that the query's offsets leave."""
    found = []
    for item in bounds:
        start = max(item.start, query.from_offset or 0)
        end = item.end if query.to_offset is None else min(item.end, query.to_offset)
        if start < end:
            found.append(PartitionBounds(item.partition, start, end))
    return found
