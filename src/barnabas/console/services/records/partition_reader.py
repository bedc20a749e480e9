"""Reads ranges of partitions chunk by chunk; memory is bounded by one fetch response.

Records below the last stable offset are read with `read_committed`, whose responses list the
aborted transactions; the records above it belong to transactions that are still open, or follow
one, and are read with `read_uncommitted`.
"""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Protocol

from barnabas.clients.simple.requests import FetchedBatches, PartitionOffset
from barnabas.console.services.records.log_entries import LogEntry, log_entries
from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BrokerError, DeadlineError, LocalError
from barnabas.model.ids import TopicPartition

PAGE_FETCH_BYTES = 128 * 1024
SCAN_FETCH_BYTES = 1024 * 1024
_MAX_EMPTY_FETCHES = 8
_CONCURRENT = 16
Shorten = Callable[[list[LogEntry]], Awaitable[list[LogEntry]]]
"""Returns entries without the bytes that the caller does not need."""


class UnknownPartitionError(LocalError):
    """A topic has no partition of this number."""


class PartitionSource(Protocol):
    """The part of the asyncio SimpleConsumer that reading needs."""

    async def earliest_offset(self, topic: str, partition: int) -> int: ...

    async def latest_offset(self, topic: str, partition: int) -> int: ...

    async def offset_for_time(
        self, topic: str, partition: int, timestamp_ms: int
    ) -> PartitionOffset | None: ...

    async def fetch(
        self, topic: str, partition: int, offset: int, fetch_size: int = ...
    ) -> FetchedBatches: ...

    async def fetch_many(
        self, offsets: Mapping[TopicPartition, int], fetch_size: int = ...
    ) -> dict[TopicPartition, FetchedBatches | BrokerError]: ...


class RecordSources(Protocol):
    """The two consumers of a console, and the partitions of a topic, which it must not create."""

    async def partitions(self, topic: str) -> list[int]: ...

    @property
    def simple_consumer(self) -> PartitionSource: ...

    @property
    def committed_consumer(self) -> PartitionSource: ...


@dataclass(frozen=True, slots=True)
class PartitionBounds:
    """Log start and high watermark of a partition."""

    partition: int
    start: int
    end: int


class PartitionReader:
    """Reads entries of a topic's partitions."""

    def __init__(self, sources: RecordSources) -> None:
        self._sources = sources

    async def bounds(self, topic: str, partitions: Iterable[int] | None) -> list[PartitionBounds]:
        """Returns the bounds of the given partitions, or of all.

        Raises:
            UnknownPartitionError: The topic does not have a partition.
        """
        source = self._sources.simple_consumer
        existing = await self._sources.partitions(topic)
        wanted = sorted(set(existing if partitions is None else partitions))
        missing = [partition for partition in wanted if partition not in existing]
        if missing:
            raise UnknownPartitionError(
                f"topic {topic} has no partition {missing[0]} with a leader"
            )
        gate = asyncio.Semaphore(_CONCURRENT)

        async def read(partition: int) -> PartitionBounds:
            async with gate:
                start = await source.earliest_offset(topic, partition)
                return PartitionBounds(
                    partition, start, await source.latest_offset(topic, partition)
                )

        return await asyncio.gather(*(read(partition) for partition in wanted))

    async def offset_at(self, topic: str, bounds: PartitionBounds, timestamp_ms: int) -> int:
        """Returns the offset of the first record at or after a time; the end if there is none."""
        source = self._sources.simple_consumer
        found = await source.offset_for_time(topic, bounds.partition, timestamp_ms)
        return bounds.end if found is None else found.offset

    async def fetch(
        self, topic: str, partition: int, offset: int, fetch_bytes: int = PAGE_FETCH_BYTES
    ) -> tuple[list[LogEntry], int]:
        """Returns entries from an offset on and the next offset; at least one whole batch."""
        try:
            fetched = await self._sources.committed_consumer.fetch(
                topic, partition, offset, fetch_bytes
            )
        except BrokerError as error:
            if error.code is not ErrorCode.OFFSET_OUT_OF_RANGE:
                raise
            fetched = None
        if fetched is None or not len(fetched.data):
            fetched = await self._sources.simple_consumer.fetch(
                topic, partition, offset, fetch_bytes
            )
        return log_entries(fetched)

    async def with_news(self, topic: str, positions: Mapping[int, int]) -> list[int]:
        """Waits up to fetch.max.wait.ms for records at the positions; returns their partitions."""
        offsets = {TopicPartition(topic, item): at for item, at in positions.items()}
        found = await self._sources.simple_consumer.fetch_many(offsets, 1)
        for result in found.values():
            if isinstance(result, BrokerError):
                raise result
        return [
            topic_partition.partition
            for topic_partition, result in found.items()
            if not isinstance(result, BrokerError) and len(result.data)
        ]

    async def read_range(
        self,
        topic: str,
        partition: int,
        start: int,
        end: int,
        fetch_bytes: int = PAGE_FETCH_BYTES,
        shorten: Shorten | None = None,
    ) -> AsyncGenerator[tuple[list[LogEntry], int], None]:
        """Yields the entries of [start, end) with the offset after each chunk.

        `shorten` is applied to each chunk before the next one is fetched.

        Raises:
            DeadlineError: The broker returns no records although the end is not reached.
        """
        position, empty = start, 0
        while position < end:
            entries, following = await self.fetch(topic, partition, position, fetch_bytes)
            if following <= position:
                empty += 1
                if empty >= _MAX_EMPTY_FETCHES:
                    topic_partition = TopicPartition(topic, partition)
                    text = f"no records from offset {position} to {end}"
                    raise DeadlineError(f"{topic_partition}: {text}")
                continue
            position, empty = following, 0
            if shorten is not None:
                entries = await shorten(entries)
            yield [entry for entry in entries if entry.offset < end], min(following, end)
