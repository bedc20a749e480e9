"""The simple consumer for asyncio: the calls of the blocking one, awaitable, on the running loop.

Requests and what their responses mean are shared with it (`requests`); leaders, connections and
retries come from `KafkaClient`.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from types import TracebackType
from typing import Any, Self, TypeVar

from barnabas.clients.core.client import GROUP, KafkaClient
from barnabas.clients.core.cluster_metadata import Node
from barnabas.clients.core.options import ClientOptions
from barnabas.clients.simple.fetched import FetchedBatches, PartitionMetadata, PartitionOffset
from barnabas.clients.simple.requests import (
    DEFAULT_FETCH_SIZE,
    EARLIEST,
    LAST_OFFSETS_BY_NAME,
    LATEST,
    MOVED,
    FetchPlan,
    FetchTarget,
    check_max_offsets,
    commit_request,
    committed_request,
    descending,
    offsets_request,
    read_commit,
    read_committed_offset,
    read_limits,
    read_offset,
)
from barnabas.model.config_keys.simple import SIMPLE_KEYS
from barnabas.model.errors import BrokerError, DeadlineError, UnavailableError
from barnabas.model.ids import TopicPartition, as_topic_partition
from barnabas.records.record import Record
from barnabas.wire.message import Message

T = TypeVar("T")
Fetched = dict[TopicPartition, FetchedBatches | BrokerError]


class SimpleConsumer:
    """Reads partitions by offset, inside a running event loop. Any number of tasks may use it.

    >>> async def main():
    ...     async with SimpleConsumer(bootstrap_servers="localhost:9092") as consumer:
    ...         offset = await consumer.earliest_offset("orders", 0)
    ...         fetched = await consumer.fetch("orders", 0, offset)
    ...         for record in fetched.records():
    ...             print(record.offset, record.value)
    """

    def __init__(self, config: Mapping[str, object] | None = None, **options: object) -> None:
        values = SIMPLE_KEYS.parse({**(config or {}), **options})
        self._client = KafkaClient(ClientOptions.from_values(values))
        self._client.allow_auto_create(False)
        self._timeout_s: float = values["default.api.timeout.ms"] / 1000
        self._limits = read_limits(values)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Close all connections; the consumer cannot be used after."""
        await self._client.close()

    # -- partitions ----------------------------------------------------------------------------

    async def partitions(self, topic: str) -> list[int]:
        """The partition numbers of a topic."""
        return await self._client.partitions(topic, self._deadline())

    async def leader(self, topic: str, partition: int) -> Node:
        """The broker that leads a partition, found by asking any seed broker."""
        return (await self.partition_metadata(topic, partition)).leader

    async def partition_metadata(self, topic: str, partition: int) -> PartitionMetadata:
        """The leader of a partition with all its replicas."""
        place = as_topic_partition((topic, partition))
        await self._client.leader(place, self._deadline())
        return PartitionMetadata.of(self._client.metadata, place)

    # -- offsets -------------------------------------------------------------------------------

    async def earliest_offset(self, topic: str, partition: int) -> int:
        """The first offset still there."""
        return (await self._offset_at(topic, partition, EARLIEST)).offset

    async def latest_offset(self, topic: str, partition: int) -> int:
        """The offset the next record will get, as this isolation level sees it."""
        return (await self._offset_at(topic, partition, LATEST)).offset

    async def offset_for_time(
        self, topic: str, partition: int, timestamp_ms: int
    ) -> PartitionOffset | None:
        """The first record at or after a time; None when there is none."""
        found = await self._offset_at(topic, partition, timestamp_ms)
        return None if found.offset < 0 else found

    async def offsets_before(
        self, topic: str, partition: int, timestamp_ms: int, max_offsets: int = 1
    ) -> list[int]:
        """Offsets from which to read what is older than a time, the greatest first.

        As the blocking consumer's: the offset after the last record older than the time (-1: the
        end, -2: the beginning), then the beginning where `max_offsets` allows for two.
        """
        check_max_offsets(max_offsets)
        found = (await self._offset_at(topic, partition, timestamp_ms)).offset
        if found < 0:
            found = await self.latest_offset(topic, partition)
        return descending((found, await self.earliest_offset(topic, partition)), max_offsets)

    async def committed(self, group: str, topic: str, partition: int) -> int | None:
        """The offset a group has committed, or None."""
        place = TopicPartition(topic, partition)

        async def ask() -> int | None:
            response = await self._to_coordinator(group, committed_request(group, place))
            return read_committed_offset(response, place)

        return await self._client.retry(ask, self._deadline(), f"the offsets of group {group!r}")

    async def commit(self, group: str, offsets: Mapping[TopicPartition, int]) -> None:
        """Store offsets for a group that has no members."""

        async def ask() -> None:
            read_commit(await self._to_coordinator(group, commit_request(group, offsets)))

        await self._client.retry(ask, self._deadline(), f"committing for group {group!r}")

    # -- records -------------------------------------------------------------------------------

    async def fetch(
        self,
        topic: str,
        partition: int,
        offset: int,
        fetch_size: int = DEFAULT_FETCH_SIZE,
        *,
        timeout: float | None = None,  # noqa: ASYNC109
    ) -> FetchedBatches:
        """Up to `fetch_size` bytes from `offset` on: at least one whole batch if there is one.

        Waits up to fetch.max.wait.ms at the end of the partition, then returns no batches.
        Raises BrokerError OFFSET_OUT_OF_RANGE when the offset is not there.
        """
        place = TopicPartition(topic, partition)
        answer = (await self.fetch_many({place: offset}, fetch_size, timeout))[place]
        if isinstance(answer, BrokerError):
            raise answer
        return answer

    async def fetch_many(
        self,
        offsets: Mapping[TopicPartition, int],
        fetch_size: int = DEFAULT_FETCH_SIZE,
        timeout: float | None = None,  # noqa: ASYNC109
    ) -> Fetched:
        """Up to `fetch_size` bytes of each partition, by one request per leader, all at once.

        A partition that cannot be read has the broker's error in its place.
        """
        found: Fetched = {}
        wanted = {as_topic_partition(place): offset for place, offset in offsets.items()}
        deadline_s = self._deadline(timeout)

        async def ask() -> None:
            missing = {place: at for place, at in wanted.items() if place not in found}
            plans = await self._plans(missing, fetch_size, deadline_s)
            answers = await asyncio.gather(*(self._ask(node, plan) for node, plan in plans.items()))
            moved: list[BrokerError] = []
            for place, answer in (item for part in answers for item in part.items()):
                if isinstance(answer, BrokerError) and answer.code in MOVED:
                    moved.append(answer)
                else:
                    found[place] = answer
            if moved:
                await self._client.refresh()
                raise moved[0]

        await self._client.retry(ask, deadline_s, ", ".join(map(str, wanted)))
        return {place: found[place] for place in wanted}

    async def records(
        self, topic: str, partition: int, start: int | None = None, end: int | None = None
    ) -> AsyncIterator[Record]:
        """The records from `start` on, before `end`: unless told, all that are there now.

        Fetched as they are asked for, and as this isolation level sees them. DeadlineError when
        the end is not reached and nothing more comes.
        """
        loop = asyncio.get_running_loop()
        position = await self.earliest_offset(topic, partition) if start is None else start
        bound = await self.latest_offset(topic, partition) if end is None else end
        moved_s = loop.time()
        while position < bound:
            found, following = (await self.fetch(topic, partition, position)).decode()
            for record in found:
                if record.offset < bound:
                    yield record
            if following > position:
                position, moved_s = following, loop.time()
            elif loop.time() - moved_s > self._timeout_s:
                place = TopicPartition(topic, partition)
                raise DeadlineError(f"{place} gives nothing from {position} on; its end is {bound}")

    # -- inside --------------------------------------------------------------------------------

    async def _offset_at(self, topic: str, partition: int, timestamp: int) -> PartitionOffset:
        place = as_topic_partition((topic, partition))
        deadline_s = self._deadline()

        async def ask() -> PartitionOffset:
            node, epoch = await self._client.leader(place, deadline_s)
            request = offsets_request(place, timestamp, epoch, self._limits.isolation)
            return read_offset(await self._client.send(node.id, request), place)

        return await self._client.retry(
            lambda: self._refreshing(ask), deadline_s, f"offsets of {place}"
        )

    async def _plans(
        self, offsets: Mapping[TopicPartition, int], fetch_size: int, deadline_s: float
    ) -> dict[int, FetchPlan]:
        targets: dict[int, list[FetchTarget]] = {}
        for place, offset in offsets.items():
            node, epoch = await self._client.leader(place, deadline_s)
            topic_id = self._client.metadata.topics[place.topic].topic_id
            targets.setdefault(node.id, []).append(FetchTarget(place, topic_id, offset, epoch))
        return {
            node_id: FetchPlan(tuple(part), fetch_size, self._limits)
            for node_id, part in targets.items()
        }

    async def _ask(self, node_id: int, plan: FetchPlan) -> Fetched:
        async def ask() -> Fetched:
            request = plan.request()
            response = await self._client.send(node_id, request, max_version=plan.max_version)
            return plan.read(response)

        return await self._refreshing(ask)

    async def _refreshing(self, ask: Callable[[], Awaitable[T]]) -> T:
        """After an answer that says the leader moved: look it up before the next try."""
        try:
            return await ask()
        except BrokerError as error:
            if error.code in MOVED:
                await self._client.refresh()
            raise
        except UnavailableError:
            await self._client.refresh()
            raise

    async def _to_coordinator(self, group: str, request: Message) -> Any:
        try:
            return await self._client.send_to_coordinator(
                GROUP, group, request, max_version=LAST_OFFSETS_BY_NAME
            )
        finally:
            # Looked up for each call, as the blocking consumer does: these calls are rare.
            self._client.forget_coordinator(GROUP, group)

    def _deadline(self, timeout_s: float | None = None) -> float:
        limit_s = self._timeout_s if timeout_s is None else timeout_s
        return asyncio.get_running_loop().time() + limit_s
