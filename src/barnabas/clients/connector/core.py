"""The connector on its event loop: the parts, wired, and their life."""

import asyncio
import logging

from barnabas.clients.connector.cluster_client import ClusterClient
from barnabas.clients.connector.committer import Committer
from barnabas.clients.connector.fetcher_manager import FetcherManager
from barnabas.clients.connector.listener import ConsumerRebalanceListener
from barnabas.clients.connector.offset_storage import (
    DualOffsets,
    KafkaOffsets,
    Offsets,
    OffsetStorage,
    ZooKeeperOffsets,
)
from barnabas.clients.connector.rebalancer import Rebalancer
from barnabas.clients.connector.registry import GroupRegistry
from barnabas.clients.connector.settings import ConnectorSettings, consumer_id_string
from barnabas.clients.connector.stream_set import StreamSet
from barnabas.clients.connector.topic_count import TopicCount
from barnabas.clients.connector.watcher import Watcher
from barnabas.model.clock import Clock
from barnabas.model.errors import BarnabasError
from barnabas.model.ids import TopicPartition
from barnabas.zk.tree import MetadataTree, SessionState

_log = logging.getLogger(__name__)


class ConnectorCore:
    """All calls on one loop. Lifecycle: construct with an open session, `consume`, `shutdown`."""

    def __init__(
        self,
        tree: MetadataTree,
        settings: ConnectorSettings,
        clock: Clock,
        *,
        enable_fetchers: bool = True,
    ) -> None:
        self._tree = tree
        self._settings = settings
        self._clock = clock
        consumer = consumer_id_string(settings.group, settings.consumer_id, clock.now_ms())
        self.registry = GroupRegistry(tree, settings.group, consumer)
        self._cluster = ClusterClient(self.registry, settings)
        self.fetchers = FetcherManager(self._cluster.get, settings.fetch, enabled=enable_fetchers)
        self._committer = Committer(self._storage(), settings.offsets)
        self.rebalancer: Rebalancer | None = None
        self._listener: ConsumerRebalanceListener | None = None
        self._streams: StreamSet | None = None
        self._watcher: Watcher | None = None
        self._auto_commit: asyncio.Task[None] | None = None

    @property
    def consumer_id(self) -> str:
        return self.registry.consumer

    @property
    def owned(self) -> frozenset[TopicPartition]:
        """The partitions this consumer reads now."""
        rebalancer = self.rebalancer
        return frozenset(rebalancer.topic_registry if rebalancer is not None else ())

    async def consume(self, topic_count: TopicCount, streams: StreamSet) -> None:
        """Join the group and start to fill the streams."""
        self._streams = streams
        self.rebalancer = Rebalancer(
            self.registry, self._settings, self.fetchers, self._committer, streams
        )
        self.rebalancer.listener = self._listener
        self._watcher = Watcher(
            self.registry, self.rebalancer, streams, topic_count, self._settings, self._clock
        )
        await self._watcher.join()
        self._watcher.start()
        if self._settings.offsets.auto_commit:
            loop = asyncio.get_running_loop()
            self._auto_commit = loop.create_task(self._commit_regularly(), name="auto-commit")

    def set_listener(self, listener: ConsumerRebalanceListener | None) -> None:
        self._listener = listener
        if self.rebalancer is not None:
            self.rebalancer.listener = listener

    async def commit(self, offsets: Offsets | None, retry: bool) -> None:
        """Commit these offsets, or all that was consumed."""
        if offsets is not None:
            await self._committer.commit(offsets, retry)
        elif self.rebalancer is not None:
            rebalancer = self.rebalancer
            await self._committer.commit_consumed(lambda: rebalancer.topic_registry.values(), retry)

    def wake_fetchers(self) -> None:
        self.fetchers.wake()

    async def shutdown(self) -> None:
        """Stop, commit if that is automatic, leave the group; the streams end."""
        if self._auto_commit is not None:
            self._auto_commit.cancel()
            await asyncio.gather(self._auto_commit, return_exceptions=True)
        if self._watcher is not None:
            await self._watcher.stop()
        if self.rebalancer is not None and self._streams is not None:
            await self.rebalancer.stop_reading()
            self._streams.close()
            await self._commit_last()
        await self._cluster.close()
        await self._tree.close()

    # -- inside --------------------------------------------------------------------------------

    def _storage(self) -> OffsetStorage:
        settings = self._settings
        zookeeper = ZooKeeperOffsets(self.registry)
        if settings.offsets.storage == "zookeeper":
            return zookeeper
        kafka = KafkaOffsets(self._cluster.get, settings.group, settings.offsets.timeout_s)
        return DualOffsets(kafka, zookeeper) if settings.offsets.dual_commit else kafka

    async def _commit_last(self) -> None:
        if not self._settings.offsets.auto_commit or self._tree.state is not SessionState.CONNECTED:
            return
        try:
            await self.commit(None, retry=True)
        except BarnabasError as error:
            _log.error("%s: the last commit failed: %s", self.consumer_id, error)

    async def _commit_regularly(self) -> None:
        while True:
            await asyncio.sleep(self._settings.offsets.auto_commit_interval_s)
            try:
                await self.commit(None, retry=False)
            except BarnabasError as error:
                _log.warning("%s: auto commit failed: %s", self.consumer_id, error)
