"""The use cases of records on one cluster."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import aclosing
from typing import Protocol

from barnabas.console.models.records import (
    BrowseQuery,
    DownloadQuery,
    FormatQuery,
    ImportedBody,
    PartitionRange,
    ProduceBody,
    ProducedBody,
    RecordBody,
    RecordDetail,
    RecordPage,
    SearchProgress,
    SearchQuery,
    TailEvent,
    TailQuery,
)
from barnabas.console.services.records.bodies import RecordPreviews, record_body, record_detail
from barnabas.console.services.records.browsing import (
    BACKWARD,
    FORWARD,
    Browser,
    Cursor,
    EntryPage,
)
from barnabas.console.services.records.decoding import RecordDecoder
from barnabas.console.services.records.log_entries import LogEntry
from barnabas.console.services.records.partition_reader import (
    SCAN_FETCH_BYTES,
    PartitionBounds,
    PartitionReader,
    RecordSources,
    Shorten,
)
from barnabas.console.services.records.schema_registry import SchemaRegistry
from barnabas.console.services.records.search import (
    InvalidSearchError,
    Search,
    compile_condition,
    search_ranges,
)
from barnabas.console.services.records.transfer import (
    ImportFormat,
    SendsRecords,
    import_file,
    produce,
)
from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BrokerError, LocalError

MAX_TAIL_RECORDS = 200


class RecordNotFoundError(LocalError):
    """A partition has no record at an offset."""


class RecordClients(RecordSources, Protocol):
    """The clients of a console that records need."""

    @property
    def producer(self) -> SendsRecords: ...


class RecordService:
    """Browses, searches and produces records. `now` returns monotonic seconds."""

    def __init__(
        self, clients: RecordClients, registry: SchemaRegistry | None, now: Callable[[], float]
    ) -> None:
        self._clients = clients
        self._registry = registry
        self._now = now
        self.reader = PartitionReader(clients)

    # -- read ----------------------------------------------------------------------------------

    async def browse(self, topic: str, query: BrowseQuery) -> RecordPage:
        previews = RecordPreviews(self.decoder(query, preview=True))
        partitions = None if query.partition is None else [query.partition]
        bounds = await self._before(topic, await self.reader.bounds(topic, partitions), query.until)
        page = await self._page(topic, bounds, query, previews.shorten)
        starts = {item.partition: item.start for item in bounds}
        ends = {item.partition: item.end for item in bounds}
        at_end = all(page.following[item] >= ends[item] for item in ends)
        at_start = all(page.preceding[item] <= starts[item] for item in starts)
        return RecordPage(
            items=await previews.bodies(page.entries),
            next="" if at_end else Cursor(FORWARD, page.following).encode(),
            previous="" if at_start else Cursor(BACKWARD, page.preceding).encode(),
            partitions=[
                PartitionRange(partition=item.partition, start=item.start, end=item.end)
                for item in bounds
            ],
        )

    async def _page(
        self,
        topic: str,
        bounds: Sequence[PartitionBounds],
        query: BrowseQuery,
        shorten: Shorten,
    ) -> EntryPage:
        browser = Browser(self.reader, topic, query.limit, shorten)
        if query.cursor:
            cursor = Cursor.decode(query.cursor)
            if cursor.direction == BACKWARD:
                return await browser.backward(bounds, cursor.positions)
            return await browser.forward(bounds, cursor.positions)
        if query.start == "newest":
            return await browser.backward(bounds, {})
        return await browser.forward(bounds, await self._positions(topic, bounds, query))

    async def _positions(
        self, topic: str, bounds: Sequence[PartitionBounds], query: BrowseQuery
    ) -> dict[int, int]:
        if query.start == "offset":
            if query.offset is None:
                raise InvalidSearchError("start=offset needs offset")
            return {item.partition: query.offset for item in bounds}
        if query.start == "time":
            if query.time is None:
                raise InvalidSearchError("start=time needs time")
            return await self._at_time(topic, bounds, query.time)
        return {}

    async def _at_time(
        self, topic: str, bounds: Sequence[PartitionBounds], time_ms: int
    ) -> dict[int, int]:
        found = [await self.reader.offset_at(topic, item, time_ms) for item in bounds]
        return {item.partition: offset for item, offset in zip(bounds, found, strict=True)}

    async def entry(self, topic: str, partition: int, offset: int) -> LogEntry:
        """Returns one record.

        Raises:
            RecordNotFoundError: There is none: it is deleted, compacted, or not written yet.
        """
        (bounds,) = await self.reader.bounds(topic, [partition])
        if bounds.start <= offset < bounds.end:
            try:
                entries, _ = await self.reader.fetch(topic, partition, offset, 1)
            except BrokerError as error:
                if error.code is not ErrorCode.OFFSET_OUT_OF_RANGE:
                    raise
                entries = []
            for entry in entries:
                if entry.offset == offset:
                    return entry
        raise RecordNotFoundError(
            f"{topic}-{partition} has no record at offset {offset}; "
            f"its offsets are {bounds.start} to {bounds.end - 1}"
            if bounds.end > bounds.start
            else f"{topic}-{partition} has no records"
        )

    async def record(
        self, topic: str, partition: int, offset: int, query: FormatQuery
    ) -> RecordDetail:
        decoder = self.decoder(query, preview=True)
        entry = await self.entry(topic, partition, offset)
        await decoder.prepare([entry])
        return record_detail(entry, decoder.decode(entry))

    # -- streams -------------------------------------------------------------------------------

    async def search(self, topic: str, query: SearchQuery) -> AsyncIterator[SearchProgress]:
        """Returns the events of a search; mistakes in the query raise before it starts."""
        condition = compile_condition(query)
        decoder = self.decoder(query)
        ranges = await self._ranges(topic, query)
        search = Search(self.reader, decoder, condition, query.limit, self._now)
        return search.run(topic, ranges)

    async def matches(self, topic: str, query: DownloadQuery) -> AsyncIterator[Sequence[LogEntry]]:
        """Returns chunks of the entries that match, or of all, for a file.

        A record for which the condition cannot be evaluated is left out.
        """
        decoder = self.decoder(query)
        condition = compile_condition(query) if query.query else None
        ranges = await self._ranges(topic, query)

        def kept(entry: LogEntry) -> bool:
            if entry.control is not None or entry.problem is not None:
                return False
            try:
                return condition is None or condition(entry, decoder.decode(entry))
            except ValueError:
                return False

        def selected(entries: list[LogEntry]) -> list[LogEntry]:
            return [entry for entry in entries if kept(entry)]

        async def chunks() -> AsyncIterator[Sequence[LogEntry]]:
            for item in ranges:
                reading = self.reader.read_range(
                    topic, item.partition, item.start, item.end, SCAN_FETCH_BYTES
                )
                async with aclosing(reading):
                    async for entries, _ in reading:
                        await decoder.prepare(entries)
                        yield await asyncio.to_thread(selected, entries)

        return chunks()

    async def tail(self, topic: str, query: TailQuery) -> AsyncIterator[TailEvent]:
        """Returns the records that are written from now on."""
        decoder = self.decoder(query, preview=True)
        partitions = None if query.partition is None else [query.partition]
        bounds = await self.reader.bounds(topic, partitions)
        return self._follow(topic, {item.partition: item.end for item in bounds}, decoder)

    async def _follow(
        self, topic: str, positions: dict[int, int], decoder: RecordDecoder
    ) -> AsyncIterator[TailEvent]:
        yield TailEvent(items=[])
        while True:
            fresh: list[LogEntry] = []
            for partition in await self.reader.with_news(topic, positions):
                entries, positions[partition] = await self.reader.fetch(
                    topic, partition, positions[partition], SCAN_FETCH_BYTES
                )
                fresh.extend(entries)
            shown = fresh[-MAX_TAIL_RECORDS:]
            await decoder.prepare(shown)
            items: list[RecordBody] = [record_body(item, decoder.decode(item)) for item in shown]
            if items:
                yield TailEvent(items=items, skipped=len(fresh) - len(shown))

    async def _ranges(self, topic: str, query: SearchQuery) -> list[PartitionBounds]:
        partitions = None if query.partition is None else [query.partition]
        bounds = await self.reader.bounds(topic, partitions)
        if query.from_time is not None:
            starts = await self._at_time(topic, bounds, query.from_time)
            bounds = [PartitionBounds(b.partition, starts[b.partition], b.end) for b in bounds]
        return search_ranges(await self._before(topic, bounds, query.to_time), query)

    async def _before(
        self, topic: str, bounds: list[PartitionBounds], time_ms: int | None
    ) -> list[PartitionBounds]:
        """Returns the bounds without the records at or after a time."""
        if time_ms is None:
            return bounds
        ends = await self._at_time(topic, bounds, time_ms)
        return [
            PartitionBounds(b.partition, b.start, max(b.start, ends[b.partition])) for b in bounds
        ]

    # -- write ---------------------------------------------------------------------------------

    async def produce(self, topic: str, body: ProduceBody) -> ProducedBody:
        await self._check_topic(topic)
        return ProducedBody(
            topic=topic, records=await produce(self._clients.producer, topic, body.records)
        )

    async def import_file(
        self, topic: str, content: AsyncIterator[bytes], form: ImportFormat
    ) -> ImportedBody:
        await self._check_topic(topic)
        count = await import_file(self._clients.producer, topic, content, form)
        return ImportedBody(topic=topic, records=count)

    async def _check_topic(self, topic: str) -> None:
        """Raises UNKNOWN_TOPIC_OR_PARTITION: a typo must not create a topic."""
        await self._clients.partitions(topic)

    def decoder(self, query: FormatQuery, *, preview: bool = False) -> RecordDecoder:
        try:
            return RecordDecoder(
                self._registry,
                query.key_format,
                query.value_format,
                query.avro_schema,
                preview=preview,
            )
        except ValueError as error:
            raise InvalidSearchError(f"avro_schema: {error}") from None
