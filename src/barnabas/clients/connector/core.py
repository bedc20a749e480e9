"""The connector on its event loop: creates the components and reacts to changes in ZooKeeper.

Watches and session states only set an event, so all changes during a rebalance cause one more
rebalance. After a lost session the consumer is registered again first.
"""

import asyncio
import contextlib
import logging
from collections.abc import Collection, Iterable

from barnabas.clients.connector.fetcher import FetcherManager
from barnabas.clients.connector.offset_storage import (
    DualOffsets,
    KafkaOffsets,
    Offsets,
    OffsetStorage,
    ZooKeeperOffsets,
)
from barnabas.clients.connector.rebalancer import (
    Committer,
    ConsumerRebalanceFailedError,
    ConsumerRebalanceListener,
    Rebalancer,
)
from barnabas.clients.connector.registry import ClusterClient, GroupRegistry
from barnabas.clients.connector.settings import ConnectorSettings, consumer_id_string
from barnabas.clients.connector.stream import PartitionTopicInfo, StreamSet
from barnabas.clients.connector.topic_count import TopicCount
from barnabas.model.errors import BarnabasError
from barnabas.model.ids import TopicPartition
from barnabas.records.record import Record
from barnabas.runtime.clock import Clock
from barnabas.zk.tree import ConnectionLossError, MetadataTree, SessionLostError, SessionState

_log = logging.getLogger(__name__)

_CANCEL_AGAIN_S = 0.1


class Watcher:
    """Registers the consumer, rebalances after changes. Lifecycle: `join`, `start`, `stop`."""

    def __init__(
        self,
        registry: GroupRegistry,
        rebalancer: Rebalancer,
        streams: StreamSet,
        topic_count: TopicCount,
        settings: ConnectorSettings,
        clock: Clock,
    ) -> None:
        self._registry = registry
        self._rebalancer = rebalancer
        self._streams = streams
        self._topic_count = topic_count
        self._settings = settings
        self._clock = clock
        self._session_id = 0
        self._registered = False
        self._lost = False
        self._task: asyncio.Task[None] | None = None

    async def join(self) -> None:
        """Registers the consumer and runs the first rebalance."""
        self._registry.tree.add_session_listener(self._on_session)
        await self._register()
        await self._rebalancer.run(retry_connection_loss=False)

    def start(self) -> None:
        self._task = asyncio.get_running_loop().create_task(self._run(), name="watcher-executor")

    async def stop(self) -> None:
        task, self._task = self._task, None
        while task is not None and not task.done():
            # More than once: asyncio.wait_for of Python 3.11 can swallow a cancellation.
            task.cancel()
            await asyncio.wait([task], timeout=_CANCEL_AGAIN_S)

    # -- internal ------------------------------------------------------------------------------

    async def _run(self) -> None:
        while True:
            await self._rebalancer.changed.wait()
            self._rebalancer.changed.clear()
            try:
                await self._rebalance()
            except SessionLostError:
                self._lost = True
                await self._retry_later()
            except ConnectionLossError:
                await self._retry_later()
            except BarnabasError as error:
                _log.error("%s: %s", self._registry.consumer, error)
                self._streams.fail(error)
                # A failed rebalance has used all of its attempts: the streams report it, and only
                # the next change of the group or the brokers starts another one.
                if not isinstance(error, ConsumerRebalanceFailedError):
                    await self._retry_later()

    async def _rebalance(self) -> None:
        if self._lost:
            self._lost = self._registered = False
            await self._rebalancer.abandon()
        if self._registry.tree.state is not SessionState.CONNECTED:
            return
        if not self._registered or self._registry.tree.session_id != self._session_id:
            await self._rebalancer.abandon()
            await self._register()
        await self._rebalancer.run(retry_connection_loss=True)

    async def _retry_later(self) -> None:
        """Waits for a change or the back-off, then requests another rebalance."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(self._settings.rebalance_backoff_s):
                await self._rebalancer.changed.wait()
        self._rebalancer.changed.set()

    async def _register(self) -> None:
        """Registers the consumer; removes the node of its expired session."""
        if self._session_id:
            self._registry.former_sessions.add(self._session_id)
        session_id = self._registry.tree.session_id
        node = self._topic_count.node(self._clock.now_ms())
        # A little longer than the node of an expired session can exist.
        await self._registry.register(node, 1.5 * self._settings.session_timeout_s)
        self._session_id = session_id
        self._registered = True

    def _on_session(self, state: SessionState) -> None:
        if state is SessionState.LOST:
            self._lost = True
        self._rebalancer.changed.set()


class ConnectorCore:
    """Components of one connector, on one loop. Lifecycle: `consume`, then `shutdown`."""

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
        self._confirmed: dict[TopicPartition, int] = {}
        """The offsets that the application has committed."""

    @property
    def consumer_id(self) -> str:
        return self.registry.consumer

    @property
    def owned(self) -> frozenset[TopicPartition]:
        """The partitions that this consumer owns."""
        rebalancer = self.rebalancer
        return frozenset(rebalancer.topic_registry if rebalancer is not None else ())

    async def consume(self, topic_count: TopicCount, streams: StreamSet) -> None:
        """Joins the group and starts to fill the streams."""
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
        """Commits offsets for the application, by default all consumed ones.

        The records before them count as processed.
        """
        if offsets is None:
            self._confirmed.update(
                (info.topic_partition, info.consumed_offset) for info in self._owned_infos()
            )
            await self._commit_consumed(retry)
        else:
            self._confirmed.update(
                (partition, given.offset) for partition, given in offsets.items()
            )
            await self._committer.commit(offsets, retry)

    def wake_fetchers(self) -> None:
        self.fetchers.wake()

    async def shutdown(self, *, processed_only: bool = False) -> None:
        """Ends the streams and leaves the group; commits first if commits are automatic.

        With `processed_only`, the records in progress are not committed: they must be read again.
        """
        if self._auto_commit is not None:
            self._auto_commit.cancel()
            await asyncio.gather(self._auto_commit, return_exceptions=True)
        if self._watcher is not None:
            await self._watcher.stop()
        if self.rebalancer is not None and self._streams is not None:
            # Reading ends before the last commit, which then has the final positions. The session
            # ends after it: its owner nodes keep other members away from the partitions until the
            # offsets are stored.
            await self.rebalancer.stop_reading()
            self._streams.close()
            if processed_only:
                self._exclude(self._streams.in_progress())
            await self._commit_last()
        await self._cluster.close()
        await self._tree.close()

    # -- internal ------------------------------------------------------------------------------

    def _storage(self) -> OffsetStorage:
        settings = self._settings
        zookeeper = ZooKeeperOffsets(self.registry)
        if settings.offsets.storage == "zookeeper":
            return zookeeper
        kafka = KafkaOffsets(self._cluster.get, settings.group, settings.offsets.timeout_s)
        return DualOffsets(kafka, zookeeper) if settings.offsets.dual_commit else kafka

    def _owned_infos(self) -> Collection[PartitionTopicInfo]:
        """Returns the owned partitions."""
        return () if self.rebalancer is None else self.rebalancer.topic_registry.values()

    async def _commit_consumed(self, retry: bool) -> None:
        await self._committer.commit_consumed(self._owned_infos, retry)

    def _exclude(self, records: Iterable[Record]) -> None:
        """Moves consumed offsets back to these records, unless the application committed them."""
        owned = {} if self.rebalancer is None else self.rebalancer.topic_registry
        for record in records:
            topic_partition = TopicPartition(record.topic, record.partition)
            info = owned.get(topic_partition)
            if info is not None and self._confirmed.get(topic_partition) != record.offset + 1:
                info.consumed_offset = min(info.consumed_offset, record.offset)

    async def _commit_last(self) -> None:
        if not self._settings.offsets.auto_commit or self._tree.state is not SessionState.CONNECTED:
            return
        try:
            await self._commit_consumed(retry=True)
        except BarnabasError as error:
            _log.error("%s: the last commit failed: %s", self.consumer_id, error)

    async def _commit_regularly(self) -> None:
        while True:
            await asyncio.sleep(self._settings.offsets.auto_commit_interval_s)
            try:
                await self._commit_consumed(retry=False)
            except BarnabasError as error:
                _log.warning("%s: auto commit failed: %s", self.consumer_id, error)
