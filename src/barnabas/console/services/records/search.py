"""A search through a topic: reads partitions chunk by chunk and reports matches and progress.

A condition is a text, a regular expression, a JSON path or an expression. It is compiled once,
before the search starts, so that a mistake in it is an error of the request, and its cost per
record is bounded. Conditions run in a thread, so the console stays responsive. Memory is bounded by
one fetch response and the matches of one event; the search ends when its iterator is closed.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass
from typing import Any

from barnabas.console.models.records import RecordBody, SearchProgress, SearchQuery
from barnabas.console.services.records.bodies import record_body
from barnabas.console.services.records.decoding import Decoded, DecodedRecord, RecordDecoder
from barnabas.console.services.records.expression import (
    BoundedPattern,
    Expression,
    ExpressionError,
    PatternError,
)
from barnabas.console.services.records.log_entries import LogEntry
from barnabas.console.services.records.partition_reader import (
    SCAN_FETCH_BYTES,
    PartitionBounds,
    PartitionReader,
)
from barnabas.model.errors import LocalError

Condition = Callable[[LogEntry, DecodedRecord], bool]
_MAX_DESCENDANTS = 2
_STRUCTURED = frozenset({"json", "avro", "protobuf", "internal"})
_EVENT_EVERY_S = 0.2


class InvalidSearchError(LocalError):
    """The condition of a search cannot be compiled, or takes too long."""


def compile_condition(query: SearchQuery) -> Condition:
    """Returns the condition of a query.

    The condition raises ValueError for a record that it cannot be evaluated on.

    Raises:
        InvalidSearchError: The condition is invalid.
    """
    makers = {"text": _text, "regex": _regex, "jsonpath": _json_path, "expression": _expression}
    try:
        return makers[query.kind](query.query)
    except (ExpressionError, PatternError) as error:
        raise InvalidSearchError(str(error)) from None


def _text(text: str) -> Condition:
    wanted = text.encode(errors="surrogateescape")
    lowered = text.lower()

    def found(data: bytes | None) -> bool:
        if data is None:
            return False
        return wanted in data or lowered in data.decode(errors="replace").lower()

    def condition(entry: LogEntry, decoded: DecodedRecord) -> bool:
        if found(entry.key) or found(entry.value):
            return True
        if any(lowered in name.lower() or found(value) for name, value in entry.headers):
            return True
        # Formats whose bytes are not the text that the page shows.
        return any(
            part.format in _STRUCTURED - {"json"} and lowered in part.text().lower()
            for part in (decoded.key, decoded.value)
        )

    return condition


def _regex(text: str) -> Condition:
    pattern = BoundedPattern(text)

    def condition(entry: LogEntry, decoded: DecodedRecord) -> bool:
        texts = [_search_text(entry.key, decoded.key), _search_text(entry.value, decoded.value)]
        for name, value in entry.headers:
            texts.append(f"{name}={(value or b'').decode(errors='backslashreplace')}")
        return any(pattern.found_in(item) for item in texts if item)

    return condition


def _search_text(data: bytes | None, decoded: Decoded) -> str:
    if data is None:
        return ""
    if decoded.format in _STRUCTURED - {"json"}:
        return decoded.text()
    return data.decode(errors="backslashreplace")


def _json_path(text: str) -> Condition:
    # Start-up time: only for searches by JSON path.
    from jsonpath import JSONPathEnvironment, JSONPathError

    environment = JSONPathEnvironment(strict=True)
    # Both search with Python's own regular expressions, which have no time limit.
    for name in ("match", "search"):
        environment.function_extensions.pop(name, None)
    if text.count("..") > _MAX_DESCENDANTS:
        raise InvalidSearchError(f"a JSON path may have {_MAX_DESCENDANTS} '..' at most")
    try:
        path = environment.compile(text.strip())
    except (JSONPathError, RecursionError) as error:
        raise InvalidSearchError(f"{text!r} is not a JSON path: {error}") from None

    def condition(_entry: LogEntry, decoded: DecodedRecord) -> bool:
        if decoded.value.format not in _STRUCTURED:
            return False
        try:
            return next(iter(path.finditer(_plain(decoded.value.value))), None) is not None
        except (JSONPathError, RecursionError) as error:
            raise ValueError(str(error)) from None

    return condition


def _expression(text: str) -> Condition:
    expression = Expression(text)

    def condition(entry: LogEntry, decoded: DecodedRecord) -> bool:
        return expression.matches(
            {
                "key": _value(entry.key, decoded.key),
                "value": _value(entry.value, decoded.value),
                "headers": {
                    name: None if value is None else value.decode(errors="backslashreplace")
                    for name, value in entry.headers
                },
                "offset": entry.offset,
                "partition": entry.partition,
                "timestamp": entry.timestamp,
                "topic": entry.topic,
                "size": entry.size_bytes,
            }
        )

    return condition


def _value(data: bytes | None, decoded: Decoded) -> Any:
    if data is None:
        return None
    return decoded.value if decoded.format != "hex" else data.decode(errors="backslashreplace")


def _plain(value: object) -> Any:
    """Returns a value with text for the types that Avro has and JSON lacks (dates, decimals)."""
    if isinstance(value, dict | list):
        return json.loads(json.dumps(value, default=str))
    return value


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
    """Returns the ranges to search: the bounds, limited to the offsets of the query."""
    found = []
    for item in bounds:
        start = max(item.start, query.from_offset or 0)
        end = item.end if query.to_offset is None else min(item.end, query.to_offset)
        if start < end:
            found.append(PartitionBounds(item.partition, start, end))
    return found
