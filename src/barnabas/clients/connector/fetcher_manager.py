"""Fetchers and the leader finder: partitions in, chunks in their queues out.

Every partition begins without a leader. The finder asks the cluster, gives each partition that has
one to the fetcher of its broker, and stays with the rest. What a fetcher cannot read comes back.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable

from barnabas.clients.connector.chunks import PartitionTopicInfo
from barnabas.clients.connector.fetcher import Fetcher
from barnabas.clients.connector.settings import FetchSettings
from barnabas.clients.core.client import KafkaClient
from barnabas.model.errors import BarnabasError
from barnabas.model.ids import TopicPartition
from barnabas.model.java_hash import java_abs, java_string_hash

_log = logging.getLogger(__name__)

ClientSource = Callable[[], Awaitable[KafkaClient]]
"""A client of the cluster as ZooKeeper knows it now; a new one when the brokers have moved."""


def fetcher_id(topic_partition: TopicPartition, fetchers: int) -> int:
    """Returns which fetcher of a broker reads a partition: Kafka's formula, in 32 bits."""
    topic, partition = topic_partition
    value = (31 * java_string_hash(topic) + partition) & 0xFFFFFFFF
    return java_abs(value - 0x1_0000_0000 if value >= 0x8000_0000 else value) % fetchers


class FetcherManager:
    """`start_connections` and `stop_connections` in turn, on the loop.

    One that is not `enabled` reads nothing, for a connector without fetchers.
    """

    def __init__(
        self, client_source: ClientSource, settings: FetchSettings, *, enabled: bool = True
    ) -> None:
        self._enabled = enabled
        self._client_source = client_source
        self._settings = settings
        self._partitions: dict[TopicPartition, PartitionTopicInfo] = {}
        self._no_leader: set[TopicPartition] = set()
        self._fetchers: dict[tuple[int, int], Fetcher] = {}
        self._client: KafkaClient | None = None
        self._look = asyncio.Event()
        self._finder: asyncio.Task[None] | None = None

    @property
    def fetchers(self) -> frozenset[tuple[int, int]]:
        """(broker id, fetcher id) of each that runs."""
        return frozenset(self._fetchers)

    def start_connections(self, infos: Iterable[PartitionTopicInfo]) -> None:
        """Begin to read these, and nothing else."""
        if not self._enabled:
            return
        self._partitions = {info.place: info for info in infos}
        self._no_leader = set(self._partitions)
        self._look.set()
        self._finder = asyncio.get_running_loop().create_task(
            self._find_leaders(), name="leader-finder"
        )

    async def stop_connections(self) -> None:
        """First the leader finder, which could start fetchers, then the fetchers."""
        finder, self._finder = self._finder, None
        if finder is not None:
            finder.cancel()
            await asyncio.gather(finder, return_exceptions=True)
        await self._stop_fetchers()
        self._partitions = {}
        self._no_leader.clear()

    def wake(self) -> None:
        """Some queue has room again."""
        for fetcher in self._fetchers.values():
            fetcher.wake()

    # -- the leader finder ---------------------------------------------------------------------

    async def _find_leaders(self) -> None:
        while True:
            await self._look.wait()
            try:
                await self._look_once()
            except BarnabasError as error:
                _log.info("no leaders found for %d partitions: %s", len(self._no_leader), error)
            await self._stop_idle()
            if not self._no_leader:
                self._look.clear()
            await asyncio.sleep(self._settings.leader_backoff_s)

    async def _look_once(self) -> None:
        client = await self._client_source()
        if client is not self._client:
            await self._stop_fetchers()
            self._no_leader.update(self._partitions)
            self._client = client
        await client.refresh({place.topic for place in self._no_leader})
        for place in sorted(self._no_leader):
            leader = client.metadata.leader_of(place)
            if leader is not None:
                self._no_leader.discard(place)
                self._fetcher(client, leader[0].id, place).add([self._partitions[place]])

    def _fetcher(self, client: KafkaClient, broker_id: int, place: TopicPartition) -> Fetcher:
        number = fetcher_id(place, self._settings.fetchers_per_broker)
        fetcher = self._fetchers.get((broker_id, number))
        if fetcher is None:
            purpose = f"fetcher-{broker_id}-{number}"
            fetcher = Fetcher(client, broker_id, purpose, self._settings, self._give_back)
            self._fetchers[broker_id, number] = fetcher
            fetcher.start()
        return fetcher

    def _give_back(self, places: Iterable[TopicPartition]) -> None:
        self._no_leader.update(place for place in places if place in self._partitions)
        self._look.set()

    async def _stop_idle(self) -> None:
        for key, fetcher in list(self._fetchers.items()):
            if fetcher.idle:
                del self._fetchers[key]
                fetcher.initiate_stop()
                await fetcher.stop()

    async def _stop_fetchers(self) -> None:
        fetchers, self._fetchers = list(self._fetchers.values()), {}
        # All at once and before the first wait: this may be cancelled while it waits.
        for fetcher in fetchers:
            fetcher.initiate_stop()
        await asyncio.gather(*(fetcher.stop() for fetcher in fetchers))
