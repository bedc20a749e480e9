"""The simple consumer for asyncio: the calls of the blocking one as coroutines.

`requests` has the requests that both share; `KafkaClient` has leaders, connections and retries.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, TypeVar, Unpack

from barnabas.clients.core.apis.fetch import FetchTarget
from barnabas.clients.core.backoff import deadline_of
from barnabas.clients.core.client import GROUP, KafkaClient
from barnabas.clients.core.cluster_metadata import Node, PartitionMetadata
from barnabas.clients.core.options import ClientOptions
from barnabas.clients.simple.requests import (
    DEFAULT_FETCH_SIZE,
    LEADER_MOVED,
    CommittedOffsetQuery,
    Fetched,
    FetchedBatches,
    GroupCommit,
    PartitionOffset,
    PartitionOffsetQuery,
    SimpleFetchPlan,
    SimpleFetchSettings,
    add_final_results,
    check_max_offsets,
    largest_offsets,
    no_progress,
    pending_offsets,
)
from barnabas.model.config import merged
from barnabas.model.config_keys.client import SIMPLE_KEYS
from barnabas.model.errors import BrokerError, UnavailableError
from barnabas.model.ids import TopicPartition, as_topic_partition
from barnabas.model.records import EARLIEST_TIMESTAMP, LATEST_TIMESTAMP
from barnabas.records.record import Record
from barnabas.runtime.closing import AsyncClosesOnExit
from barnabas.wire.message import Request, ResponseT
from barnabas.wire.messages.fetch import FetchRequest

if TYPE_CHECKING:
    from barnabas.model.config_keys.keywords import SimpleConsumerKeywords

T = TypeVar("T")


class SimpleConsumer(AsyncClosesOnExit):
    """Reads partitions by offset, inside a running event loop. Any number of tasks may use it.

    Args:
        config: configuration keys in Kafka's spelling (`{"bootstrap.servers": "kafka1:9092"}`).
        **options: the same keys with underscores (`bootstrap_servers="kafka1:9092"`).

    Raises:
        ConfigError: a key is unknown or a value is invalid.

    Every call raises DeadlineError if the brokers do not respond within `default.api.timeout.ms`.

    >>> async def main():
    ...     async with SimpleConsumer(bootstrap_servers="localhost:9092") as consumer:
    ...         offset = await consumer.earliest_offset("orders", 0)
    ...         fetched = await consumer.fetch("orders", 0, offset)
    ...         for record in fetched.records():
    ...             print(record.offset, record.value)
    """

    def __init__(
        self,
        config: Mapping[str, object] | None = None,
        **options: "Unpack[SimpleConsumerKeywords]",
    ) -> None:
        values = SIMPLE_KEYS.parse(merged(config, options))
        self._client = KafkaClient(ClientOptions.from_values(values))
        self._client.allow_auto_create(False)
        self._timeout_s: float = values["default.api.timeout.ms"] / 1000
        self._settings = SimpleFetchSettings.from_values(values)

    async def close(self) -> None:
        """Closes all connections. The consumer cannot be used afterwards."""
        await self._client.close()

    # -- partitions ----------------------------------------------------------------------------

    async def partitions(self, topic: str) -> list[int]:
        """Returns the partition numbers of a topic, in ascending order."""
        return await self._client.partitions(topic, self._deadline())

    async def leader(self, topic: str, partition: int) -> Node:
        """Returns the broker that leads a partition."""
        leader = (await self.partition_metadata(topic, partition)).leader
        assert leader is not None  # partition_metadata() waits for one
        return leader

    async def partition_metadata(self, topic: str, partition: int) -> PartitionMetadata:
        """Returns the leader, the replicas and the in-sync replicas of a partition."""
        topic_partition = as_topic_partition((topic, partition))
        await self._client.leader(topic_partition, self._deadline())
        return self._client.metadata.describe(topic_partition)

    # -- offsets -------------------------------------------------------------------------------

    async def earliest_offset(self, topic: str, partition: int) -> int:
        """Returns the log start offset of a partition."""
        return (await self._offset_at(topic, partition, EARLIEST_TIMESTAMP)).offset

    async def latest_offset(self, topic: str, partition: int) -> int:
        """Returns the high watermark, or the last stable offset with `read_committed`."""
        return (await self._offset_at(topic, partition, LATEST_TIMESTAMP)).offset

    async def offset_for_time(
        self, topic: str, partition: int, timestamp_ms: int
    ) -> PartitionOffset | None:
        """Returns the first record at or after a time, None if there is none."""
        found = await self._offset_at(topic, partition, timestamp_ms)
        return None if found.offset < 0 else found

    async def offsets_before(
        self, topic: str, partition: int, timestamp_ms: int, max_offsets: int = 1
    ) -> list[int]:
        """Returns offsets to start from in order to read records before a time, largest first.

        The first offset is the one after the last record older than `timestamp_ms`; with -1
        (latest) it is the end of the partition, with -2 (earliest) its start. The second one is
        the start of the partition.

        Args:
            max_offsets: maximum length of the result, at least 1.
        """
        check_max_offsets(max_offsets)
        found = (await self._offset_at(topic, partition, timestamp_ms)).offset
        if found < 0:
            found = await self.latest_offset(topic, partition)
        return largest_offsets((found, await self.earliest_offset(topic, partition)), max_offsets)

    async def committed(self, group: str, topic: str, partition: int) -> int | None:
        """Returns the committed offset of a group, None if it has none for this partition."""
        query = CommittedOffsetQuery(group, TopicPartition(topic, partition))
        request = query.request()

        async def attempt() -> int | None:
            return query.read(await self._to_coordinator(group, request, query.LAST_VERSION))

        return await self._client.retry(attempt, self._deadline(), str(query))

    async def commit(self, group: str, offsets: Mapping[TopicPartition, int]) -> None:
        """Stores committed offsets for a group that has no members.

        Raises:
            BrokerError: UNKNOWN_MEMBER_ID while the group has members.
        """
        commit = GroupCommit(group, offsets)
        request = commit.request()

        async def attempt() -> None:
            commit.check(await self._to_coordinator(group, request, commit.LAST_VERSION))

        await self._client.retry(attempt, self._deadline(), str(commit))

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
        """Fetches up to `fetch_size` bytes from `offset` on, at least one whole batch.

        At the end of the partition the broker waits up to `fetch.max.wait.ms` for new records;
        the result has no batches if none arrive.

        Args:
            timeout: seconds for the call instead of `default.api.timeout.ms`.

        Raises:
            BrokerError: OFFSET_OUT_OF_RANGE if the partition does not have the offset.
        """
        topic_partition = TopicPartition(topic, partition)
        found = await self.fetch_many({topic_partition: offset}, fetch_size, timeout)
        batches = found[topic_partition]
        if isinstance(batches, BrokerError):
            raise batches
        return batches

    async def fetch_many(
        self,
        offsets: Mapping[TopicPartition, int],
        fetch_size: int = DEFAULT_FETCH_SIZE,
        timeout: float | None = None,  # noqa: ASYNC109
    ) -> dict[TopicPartition, FetchedBatches | BrokerError]:
        """Fetches up to `fetch_size` bytes of each partition from all leaders concurrently.

        A partition that cannot be read (for example, because its offset is out of range) has the
        broker's error as its value.
        """
        found: Fetched = {}
        wanted = {as_topic_partition(given): offset for given, offset in offsets.items()}
        deadline_s = self._deadline(timeout)

        async def attempt() -> None:
            plans = await self._plans(pending_offsets(wanted, found), fetch_size, deadline_s)
            results = await asyncio.gather(
                *(self._fetch_from(node_id, plan) for node_id, plan in plans.items())
            )
            moved: dict[TopicPartition, BrokerError] = {}
            for part in results:
                moved.update(add_final_results(part, found))
            if moved:
                await self._client.refresh()
                raise next(iter(moved.values()))

        await self._client.retry(attempt, deadline_s, ", ".join(map(str, wanted)))
        return {topic_partition: found[topic_partition] for topic_partition in wanted}

    async def records(
        self, topic: str, partition: int, start: int | None = None, end: int | None = None
    ) -> AsyncIterator[Record]:
        """Yields the records from offset `start` up to, but without, offset `end`.

        Args:
            start: the default is the log start offset.
            end: the default is the latest offset at the time of the call.

        Raises:
            DeadlineError: no further records arrive although `end` is not reached.
        """
        loop = asyncio.get_running_loop()
        position = await self.earliest_offset(topic, partition) if start is None else start
        bound = await self.latest_offset(topic, partition) if end is None else end
        progress_s = loop.time()
        while position < bound:
            found, following = (await self.fetch(topic, partition, position)).decode()
            for record in found:
                if record.offset < bound:
                    yield record
            if following > position:
                position, progress_s = following, loop.time()
            elif loop.time() - progress_s > self._timeout_s:
                raise no_progress(topic, partition, position, bound)

    # -- private ------------------------------------------------------------------------------

    async def _offset_at(self, topic: str, partition: int, timestamp: int) -> PartitionOffset:
        topic_partition = as_topic_partition((topic, partition))
        deadline_s = self._deadline()

        async def attempt() -> PartitionOffset:
            node, epoch = await self._client.leader(topic_partition, deadline_s)
            query = PartitionOffsetQuery(topic_partition, timestamp, epoch)
            request = query.request(self._settings.isolation)
            return query.read(await self._client.send(node.id, request))

        return await self._client.retry(
            lambda: self._refreshing(attempt), deadline_s, f"offsets of {topic_partition}"
        )

    async def _plans(
        self, offsets: Mapping[TopicPartition, int], fetch_size: int, deadline_s: float
    ) -> dict[int, SimpleFetchPlan]:
        targets: dict[int, dict[TopicPartition, FetchTarget]] = {}
        for topic_partition, offset in offsets.items():
            node, epoch = await self._client.leader(topic_partition, deadline_s)
            topic_id = self._client.metadata.topics[topic_partition.topic].topic_id
            target = FetchTarget(topic_id, offset, epoch, fetch_size)
            targets.setdefault(node.id, {})[topic_partition] = target
        return {node_id: SimpleFetchPlan(part, self._settings) for node_id, part in targets.items()}

    async def _fetch_from(self, node_id: int, plan: SimpleFetchPlan) -> Fetched:
        async def attempt() -> Fetched:
            last_version = plan.version(FetchRequest.MAX_VERSION)
            response = await self._client.send(node_id, plan.request(), max_version=last_version)
            return plan.read(response)

        return await self._refreshing(attempt)

    async def _refreshing(self, attempt: Callable[[], Awaitable[T]]) -> T:
        """Runs one attempt; refreshes the metadata after an error that a new leader can cure."""
        try:
            return await attempt()
        except BrokerError as error:
            if error.code in LEADER_MOVED:
                await self._client.refresh()
            raise
        except UnavailableError:
            await self._client.refresh()
            raise

    async def _to_coordinator(
        self, group: str, request: Request[ResponseT], last_version: int
    ) -> ResponseT:
        try:
            return await self._client.send_to_coordinator(
                GROUP, group, request, max_version=last_version
            )
        finally:
            # These calls are rare, so each one looks up the coordinator, as in the blocking class.
            self._client.forget_coordinator(GROUP, group)

    def _deadline(self, timeout_s: float | None = None) -> float:
        limit_s = self._timeout_s if timeout_s is None else timeout_s
        return deadline_of(asyncio.get_running_loop().time(), limit_s)
