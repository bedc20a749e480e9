"""Fetchers of the ZooKeeper consumer and the search for partition leaders.

A fetcher reads partitions of one broker over one connection and fills their queues; it skips
partitions whose queue is full. Every partition starts without a leader. The leader finder passes
each partition that has a leader to a fetcher of its broker. A fetcher returns the partitions that
the broker rejects, and all of them after a lost connection.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable

from barnabas.clients.connector.settings import FetchSettings
from barnabas.clients.connector.stream import INVALID_OFFSET, FetchedDataChunk, PartitionTopicInfo
from barnabas.clients.core.apis.fetch import (
    FetchOptions,
    FetchSelection,
    FetchTarget,
    aborted_transactions,
    fetch_request,
    fetched_partitions,
)
from barnabas.clients.core.apis.list_offsets import (
    OffsetAndTimestamp,
    OffsetQuery,
    list_offsets_request,
    read_list_offsets,
)
from barnabas.clients.core.client import KafkaClient
from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BarnabasError, BrokerError, ProtocolError, raise_for
from barnabas.model.ids import ZERO_UUID, TopicPartition
from barnabas.model.java_hash import java_abs, java_string_hash
from barnabas.records._batch_header_hot import next_fetch_offset
from barnabas.wire.messages.fetch import FetchRequest, FetchResponse, PartitionData

_log = logging.getLogger(__name__)

BUSY_WAIT_MS = 5
"""Maximum wait of a fetch while another queue is full and may get room."""

MAX_RESPONSE_BYTES = 2**31 - 1

GiveBack = Callable[[Iterable[TopicPartition]], None]


class BrokerFetcher:
    """Reads partitions of one broker in one task. Lifecycle: `start`, `add`, `stop`."""

    def __init__(
        self,
        client: KafkaClient,
        broker_id: int,
        purpose: str,
        settings: FetchSettings,
        give_back: GiveBack,
    ) -> None:
        self._client = client
        self._broker_id = broker_id
        self._purpose = purpose
        self._settings = settings
        self._give_back = give_back
        self._partitions: dict[TopicPartition, PartitionTopicInfo] = {}
        self._wake = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    @property
    def idle(self) -> bool:
        return not self._partitions

    def start(self) -> None:
        self._task = asyncio.get_running_loop().create_task(self._run(), name=self._purpose)

    def initiate_stop(self) -> None:
        """Stops adding chunks to any queue."""
        self._partitions.clear()
        if self._task is not None:
            self._task.cancel()

    async def stop(self) -> None:
        """Stops and waits for the end of the task."""
        self.initiate_stop()
        if self._task is not None:
            await asyncio.gather(self._task, return_exceptions=True)

    def add(self, infos: Iterable[PartitionTopicInfo]) -> None:
        self._partitions.update((info.topic_partition, info) for info in infos)
        self._wake.set()

    def wake(self) -> None:
        """Checks the queues again; call it when one has room."""
        self._wake.set()

    # -- internal ------------------------------------------------------------------------------

    async def _run(self) -> None:
        while True:
            self._wake.clear()
            ready = [info for info in self._partitions.values() if not info.queue.full]
            if not ready:
                await self._wake.wait()
                continue
            try:
                await self._work(ready)
            except BarnabasError as error:
                _log.info("broker %d: %s; looking for leaders again", self._broker_id, error)
                self._return(list(self._partitions))

    async def _work(self, ready: list[PartitionTopicInfo]) -> None:
        unknown = [info for info in ready if info.fetch_offset == INVALID_OFFSET]
        if unknown:
            await self._reset(unknown)
            return
        response = await self._fetch(ready)
        out_of_range = []
        for topic_partition, data in fetched_partitions(response, {}):
            info = self._partitions.get(topic_partition)
            if info is None:
                continue
            if data.error_code == ErrorCode.OFFSET_OUT_OF_RANGE:
                out_of_range.append(info)
            elif data.error_code:
                code = ErrorCode.of(data.error_code)
                _log.info("%s: %s; looking for its leader again", topic_partition, code.name)
                self._return([topic_partition])
            else:
                self._enqueue(info, data)
        if out_of_range:
            await self._reset(out_of_range)

    async def _fetch(self, ready: list[PartitionTopicInfo]) -> FetchResponse:
        """Sends a full fetch request, outside a fetch session and with topic names."""
        settings = self._settings
        busy = len(ready) < len(self._partitions)
        wait_ms = min(BUSY_WAIT_MS, settings.max_wait_ms) if busy else settings.max_wait_ms
        targets = {
            info.topic_partition: FetchTarget(
                ZERO_UUID, info.fetch_offset, -1, settings.partition_max_bytes
            )
            for info in ready
        }
        selection = FetchSelection(targets, by_id=False)
        options = FetchOptions(wait_ms, settings.min_bytes, MAX_RESPONSE_BYTES, settings.isolation)
        connection = await self._client.connection(self._broker_id, self._purpose)
        response: FetchResponse = await connection.send(
            fetch_request(selection, options),
            version=selection.version(connection.version_of(FetchRequest)),
        )
        raise_for(response.error_code, f"fetching from broker {self._broker_id}")
        return response

    def _enqueue(self, info: PartitionTopicInfo, data: PartitionData) -> None:
        records = data.records
        if not records:
            return
        following = offset_after(records, info)
        aborted = aborted_transactions(data, self._settings.isolation)
        info.queue.put(FetchedDataChunk(info, info.fetch_offset, records, aborted))
        info.fetch_offset = following
        # A broker fills its response from the first partition on, so the order rotates.
        self._partitions[info.topic_partition] = self._partitions.pop(info.topic_partition)

    async def _reset(self, infos: list[PartitionTopicInfo]) -> None:
        """Applies auto.offset.reset, or reports the error to the application."""
        if self._settings.reset is None:
            for info in infos:
                self._partitions.pop(info.topic_partition, None)
                info.queue.fail(_out_of_range(info))
            return
        query = OffsetQuery(self._settings.reset)
        request = list_offsets_request(
            {
                info.topic_partition: query
                for info in sorted(infos, key=lambda info: info.topic_partition)
            },
            self._settings.isolation,
        )
        response = await self._client.send(self._broker_id, request, purpose=self._purpose)
        listed = read_list_offsets(response)
        for info in infos:
            found = listed.get(info.topic_partition)
            if isinstance(found, OffsetAndTimestamp) and found.offset >= 0:
                _log.info(
                    "%s: no valid offset, reading from %d", info.topic_partition, found.offset
                )
                info.fetch_offset = found.offset
                # An empty chunk: the stream takes the new offset from it, after the chunks before.
                info.queue.put(FetchedDataChunk(info, info.fetch_offset, memoryview(b"")))
            else:
                _log.info(
                    "%s: broker %d returned no offset: %s",
                    info.topic_partition,
                    self._broker_id,
                    found,
                )
                self._return([info.topic_partition])

    def _return(self, topic_partitions: list[TopicPartition]) -> None:
        for topic_partition in topic_partitions:
            self._partitions.pop(topic_partition, None)
        self._give_back(topic_partitions)


def offset_after(records: memoryview, info: PartitionTopicInfo) -> int:
    """Returns the next offset to fetch; raises ProtocolError if there is no whole batch."""
    following = next_fetch_offset(records, info.fetch_offset)
    if following == info.fetch_offset:
        raise ProtocolError(f"{info.topic_partition}: no whole batch at offset {info.fetch_offset}")
    return following


def _out_of_range(info: PartitionTopicInfo) -> BrokerError:
    return BrokerError(
        ErrorCode.OFFSET_OUT_OF_RANGE,
        f"{info.topic_partition} has no valid offset and auto.offset.reset=none",
    )


ClientSource = Callable[[], Awaitable[KafkaClient]]
"""Returns a client of the registered brokers; a new one if all of them have changed."""


def fetcher_id(topic_partition: TopicPartition, fetchers: int) -> int:
    """Returns which fetcher of a broker reads a partition: Kafka's formula, in 32 bits."""
    topic, partition = topic_partition
    value = (31 * java_string_hash(topic) + partition) & 0xFFFFFFFF
    return java_abs(value - 0x1_0000_0000 if value >= 0x8000_0000 else value) % fetchers


class FetcherManager:
    """Starts and stops fetchers; call `start_connections` and `stop_connections` alternately.

    With `enabled` False it starts no fetchers.
    """

    def __init__(
        self, client_source: ClientSource, settings: FetchSettings, *, enabled: bool = True
    ) -> None:
        self._enabled = enabled
        self._client_source = client_source
        self._settings = settings
        self._partitions: dict[TopicPartition, PartitionTopicInfo] = {}
        self._no_leader: set[TopicPartition] = set()
        self._fetchers: dict[tuple[int, int], BrokerFetcher] = {}
        self._client: KafkaClient | None = None
        self._leader_needed = asyncio.Event()
        self._finder: asyncio.Task[None] | None = None

    @property
    def fetchers(self) -> frozenset[tuple[int, int]]:
        """(broker id, fetcher id) of each running fetcher."""
        return frozenset(self._fetchers)

    def start_connections(self, infos: Iterable[PartitionTopicInfo]) -> None:
        """Starts to read exactly these partitions."""
        if not self._enabled:
            return
        self._partitions = {info.topic_partition: info for info in infos}
        self._no_leader = set(self._partitions)
        self._leader_needed.set()
        self._finder = asyncio.get_running_loop().create_task(
            self._find_leaders(), name="leader-finder"
        )

    async def stop_connections(self) -> None:
        """Stops the leader finder first, because it could start fetchers, then the fetchers."""
        finder, self._finder = self._finder, None
        if finder is not None:
            finder.cancel()
            await asyncio.gather(finder, return_exceptions=True)
        await self._stop_fetchers()
        self._partitions = {}
        self._no_leader.clear()

    def wake(self) -> None:
        """Wakes the fetchers; call it when a queue has room."""
        for fetcher in self._fetchers.values():
            fetcher.wake()

    # -- the leader finder ---------------------------------------------------------------------

    async def _find_leaders(self) -> None:
        while True:
            await self._leader_needed.wait()
            try:
                await self._assign_leaders()
            except BarnabasError as error:
                _log.info("no leaders found for %d partitions: %s", len(self._no_leader), error)
            await self._stop_idle()
            if not self._no_leader:
                self._leader_needed.clear()
            await asyncio.sleep(self._settings.leader_backoff_s)

    async def _assign_leaders(self) -> None:
        client = await self._client_source()
        if client is not self._client:
            await self._stop_fetchers()
            self._no_leader.update(self._partitions)
            self._client = client
        await client.refresh({topic_partition.topic for topic_partition in self._no_leader})
        for topic_partition in sorted(self._no_leader):
            leader = client.metadata.leader_of(topic_partition)
            if leader is not None:
                self._no_leader.discard(topic_partition)
                self._fetcher(client, leader[0].id, topic_partition).add(
                    [self._partitions[topic_partition]]
                )

    def _fetcher(
        self, client: KafkaClient, broker_id: int, topic_partition: TopicPartition
    ) -> BrokerFetcher:
        number = fetcher_id(topic_partition, self._settings.fetchers_per_broker)
        fetcher = self._fetchers.get((broker_id, number))
        if fetcher is None:
            purpose = f"fetcher-{broker_id}-{number}"
            fetcher = BrokerFetcher(client, broker_id, purpose, self._settings, self._give_back)
            self._fetchers[broker_id, number] = fetcher
            fetcher.start()
        return fetcher

    def _give_back(self, topic_partitions: Iterable[TopicPartition]) -> None:
        self._no_leader.update(
            topic_partition
            for topic_partition in topic_partitions
            if topic_partition in self._partitions
        )
        self._leader_needed.set()

    async def _stop_idle(self) -> None:
        for key, fetcher in list(self._fetchers.items()):
            if fetcher.idle:
                del self._fetchers[key]
                fetcher.initiate_stop()
                await fetcher.stop()

    async def _stop_fetchers(self) -> None:
        fetchers, self._fetchers = list(self._fetchers.values()), {}
        # Before the first await, because the task may be cancelled there.
        for fetcher in fetchers:
            fetcher.initiate_stop()
        await asyncio.gather(*(fetcher.stop() for fetcher in fetchers))
