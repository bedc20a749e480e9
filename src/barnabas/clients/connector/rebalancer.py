"""A rebalance of the ZooKeeper consumer: from the view of the group to running fetchers.

The order of the steps ensures that no record is lost:

1. stop the leader finder and the fetchers
2. clear the queues and the chunks that are being read
3. commit the consumed offsets while the partitions are still owned
4. release ownership
5. compute the assignment
6. read the offsets
7. claim ownership, all or nothing
8. update the topic registry
9. start the fetchers
"""

import asyncio
import contextlib
import logging
from collections.abc import Callable, Collection, Iterable, Mapping, Set

from barnabas.clients.connector.assignors import Assignment, AssignmentContext, ConsumerThreadId
from barnabas.clients.connector.fetcher import FetcherManager
from barnabas.clients.connector.offset_storage import Offsets, OffsetStorage, with_retries
from barnabas.clients.connector.registry import GroupRegistry, GroupView, OwnershipConflictError
from barnabas.clients.connector.settings import ConnectorSettings, OffsetSettings
from barnabas.clients.connector.stream import INVALID_OFFSET, PartitionTopicInfo, StreamSet
from barnabas.model.errors import BarnabasError, LocalError
from barnabas.model.ids import TopicPartition
from barnabas.model.records import OffsetAndMetadata
from barnabas.zk.tree import ConnectionLossError, SessionLostError, WatchEvent

_log = logging.getLogger(__name__)

PartitionOwnership = Mapping[str, Set[int]]
"""Partitions by topic."""

GlobalAssignment = Mapping[str, Mapping[str, Mapping[int, str]]]
"""For each consumer: topic, partition, and the thread id that reads it."""
_SHORTEST_PAUSE_S = 0.01


class ConsumerRebalanceFailedError(BarnabasError):
    """All `rebalance.max.retries` attempts failed; the consumer owns no partitions."""


class ConsumerRebalanceListener:
    """Base class of listeners. A separate thread calls it; the rebalance waits for the end."""

    def before_releasing_partitions(self, ownership: PartitionOwnership) -> None:
        """Fetching has stopped; offsets may still be committed for these partitions."""

    def before_starting_fetchers(self, consumer_id: str, assignment: GlobalAssignment) -> None:
        """The new partitions are owned; nothing of them has been fetched yet."""


class Committer:
    """Sends one commit at a time, because a late older one would move offsets back."""

    def __init__(self, storage: OffsetStorage, settings: OffsetSettings) -> None:
        self._storage = storage
        self._settings = settings
        self._stored: dict[TopicPartition, int] = {}
        self._lock = asyncio.Lock()

    async def fetch(
        self, topic_partitions: Collection[TopicPartition]
    ) -> dict[TopicPartition, int]:
        """Returns the committed offsets that exist."""
        if not topic_partitions:
            return {}
        found = await with_retries(
            lambda: self._storage.fetch(topic_partitions),
            self._settings.commit_retries,
            self._settings.backoff_s,
        )
        self._stored.update(found)
        return found

    async def commit_consumed(
        self, owned: Callable[[], Iterable[PartitionTopicInfo]], retry: bool
    ) -> None:
        """Commits consumed offsets that are not stored yet; calls `owned` when it has the lock."""
        async with self._lock:
            offsets = {
                info.topic_partition: OffsetAndMetadata(info.consumed_offset)
                for info in owned()
                if info.consumed_offset
                not in (INVALID_OFFSET, self._stored.get(info.topic_partition))
            }
            await self._commit(offsets, retry)

    async def commit(self, offsets: Offsets, retry: bool) -> None:
        """Commits these offsets without a check of ownership."""
        async with self._lock:
            await self._commit(offsets, retry)

    def forget(self) -> None:
        """Forgets the stored offsets; other consumers may commit from now on."""
        self._stored.clear()

    async def _commit(self, offsets: Offsets, retry: bool) -> None:
        if not offsets:
            return
        retries = self._settings.commit_retries if retry else 0
        await with_retries(lambda: self._storage.commit(offsets), retries, self._settings.backoff_s)
        self._stored.update(
            (topic_partition, given.offset) for topic_partition, given in offsets.items()
        )


class Rebalancer:
    """Runs rebalances on the loop, one task at a time. Every watch sets `changed`."""

    def __init__(
        self,
        registry: GroupRegistry,
        settings: ConnectorSettings,
        fetchers: FetcherManager,
        committer: Committer,
        streams: StreamSet,
    ) -> None:
        self.topic_registry: dict[TopicPartition, PartitionTopicInfo] = {}
        self.changed = asyncio.Event()
        self.listener: ConsumerRebalanceListener | None = None
        self.completed = 0
        self._registry = registry
        self._settings = settings
        self._fetchers = fetchers
        self._committer = committer
        self._streams = streams
        self._settled: tuple[int, GroupView] | None = None
        self._claimed: set[TopicPartition] = set()

    async def run(self, *, retry_connection_loss: bool) -> None:
        """Rebalances until it succeeds; raises ConsumerRebalanceFailedError otherwise.

        With `retry_connection_loss`, a lost connection to ZooKeeper does not count as an attempt.
        SessionLostError is raised at once, because the ownership has ended with the session.
        """
        loop = asyncio.get_running_loop()
        retries, backoff_s = self._settings.rebalance_retries, self._settings.rebalance_backoff_s
        attempts, deadline = 0, loop.time() + retries * backoff_s
        while True:
            # Before the view is read: a watch that fires during the attempt must start the next
            # one.
            self.changed.clear()
            try:
                await self._attempt()
                return
            except SessionLostError:
                raise
            except BarnabasError as error:
                attempts += 1
                if retry_connection_loss and isinstance(error, ConnectionLossError):
                    attempts, deadline = 0, loop.time() + retries * backoff_s
                # Number and time are both limited: a watch can end a pause early, so all attempts
                # could fail within milliseconds while another member still releases partitions.
                elif attempts >= retries and loop.time() >= deadline:
                    raise self._failed(attempts, error) from error
                _log.info("rebalance attempt %d of %s: %s", attempts, self._name, error)
                await self._pause(error)

    async def stop_reading(self) -> None:
        """Runs steps 1 and 2."""
        await self._fetchers.stop_connections()
        for info in self.topic_registry.values():
            info.revoked = True
        self._streams.clear()

    async def abandon(self) -> None:
        """Stops reading without a commit: the ownership has ended with the session.

        The loss may be reported after a new session has claimed partitions. `_claimed` keeps those,
        and the next attempt releases them.
        """
        self._settled = None
        await self.stop_reading()
        self.topic_registry = {}
        self._committer.forget()

    # -- internal ------------------------------------------------------------------------------

    @property
    def _name(self) -> str:
        return self._registry.consumer

    async def _attempt(self) -> None:
        view = await self._registry.view(self._settings.exclude_internal, self._on_watch)
        session = self._registry.tree.session_id
        # The same members, topics and session as at the last success: the watch fired for a
        # change that concerns other groups' topics, or for our own nodes. Rebalancing would
        # interrupt reading for nothing.
        if self._settled == (session, view):
            return
        self._settled = None
        if not await self._registry.brokers(self._on_watch):
            _log.warning("no broker is registered; the rebalance waits for one")
            return
        # The order of Kafka's ZookeeperConsumerConnector: stop fetchers, clear the queues,
        # commit, release, claim, start fetchers. Committing before the release lets the next
        # owner continue exactly there; a fetcher that still ran could hand out records behind the
        # commit.
        await self._close_fetchers()
        await self._release()
        context = view.context(self._name)
        assignment = self._settings.assignor(context)
        await self._take_over(assignment)
        self._warn_of_idle_threads(context, assignment)
        self._settled = (session, view)
        self._streams.recover()
        self.completed += 1

    async def _close_fetchers(self) -> None:
        await self.stop_reading()
        if self._settings.offsets.auto_commit:
            await self._committer.commit_consumed(self.topic_registry.values, retry=True)

    async def _release(self) -> None:
        owned: dict[str, set[int]] = {}
        for topic_partition in self.topic_registry:
            owned.setdefault(topic_partition.topic, set()).add(topic_partition.partition)
        if self.listener is not None:
            await _call(self.listener.before_releasing_partitions, owned)
        # Partitions that were claimed by an attempt which then failed. Their nodes may exist
        # although the registry of topics does not list them.
        await self._registry.release_ours(self._claimed - self.topic_registry.keys())
        await self._registry.release(self.topic_registry)
        self._claimed.clear()
        self.topic_registry = {}
        self._committer.forget()

    async def _take_over(self, assignment: Assignment) -> None:
        mine = assignment.get(self._name, {})
        # Before the claim: if the offsets cannot be read, other members can still claim the
        # partitions.
        await self._committer.fetch(mine)
        # Before the request: if the response is lost, the claim may still have happened.
        self._claimed.update(mine)
        await self._registry.claim(mine)
        try:
            # Read again after the claim: the last owner may have committed between the first read
            # and its release. With the older offsets those records would be consumed twice.
            offsets = await self._committer.fetch(mine)
            self.topic_registry = self._infos(mine, offsets)
            if self.listener is not None:
                shown = _for_listener(assignment)
                await _call(self.listener.before_starting_fetchers, self._name, shown)
        except BarnabasError:
            self.topic_registry = {}
            await self._registry.release(mine)
            raise
        self._fetchers.start_connections(self.topic_registry.values())

    def _infos(
        self,
        mine: Mapping[TopicPartition, ConsumerThreadId],
        offsets: Mapping[TopicPartition, int],
    ) -> dict[TopicPartition, PartitionTopicInfo]:
        return {
            topic_partition: PartitionTopicInfo(
                topic_partition,
                self._streams.stream_of(topic_partition.topic, thread.thread).queue,
                offsets.get(topic_partition, INVALID_OFFSET),
            )
            for topic_partition, thread in mine.items()
        }

    def _warn_of_idle_threads(self, context: AssignmentContext, assignment: Assignment) -> None:
        """Logs a warning for each stream that has no partitions."""
        mine = assignment.get(self._name, {})
        by_filter = not self._streams.by_topic
        busy = {
            ("" if by_filter else topic_partition.topic, thread)
            for topic_partition, thread in mine.items()
        }
        threads = {
            ("" if by_filter else topic, thread)
            for topic in context.my_topics
            for thread in context.threads_for_topic.get(topic, ())
            if thread.consumer == self._name
        }
        for topic, thread in sorted(threads - busy):
            _log.warning(
                "no broker partitions consumed by consumer thread %s for %s",
                thread,
                f"topic {topic}" if topic else "any topic of the filter",
            )

    async def _pause(self, error: BarnabasError) -> None:
        """Waits until the other owner releases it, a watch fires, or the back-off ends."""
        backoff_s = self._settings.rebalance_backoff_s
        # Changes of a group come in bursts (every member releases and claims). A short pause lets
        # several of them cause one attempt.
        await asyncio.sleep(min(_SHORTEST_PAUSE_S, backoff_s))
        with contextlib.suppress(TimeoutError, ConnectionLossError):
            async with asyncio.timeout(backoff_s):
                if isinstance(error, OwnershipConflictError):
                    owner = await self._registry.tree.exists(error.path, self._on_watch)
                    # Released between the failed claim and this request, so no watch would fire
                    # for it.
                    if owner is None:
                        return
                await self.changed.wait()

    def _failed(self, attempts: int, error: BarnabasError) -> ConsumerRebalanceFailedError:
        return ConsumerRebalanceFailedError(
            f"{self._name} can't rebalance after {attempts} attempts: {error}"
        )

    def _on_watch(self, event: WatchEvent) -> None:
        self.changed.set()


async def _call(method: object, *args: object) -> None:
    """Calls the application's listener in a thread: it may block and commit."""
    assert callable(method)
    try:
        await asyncio.to_thread(method, *args)
    except Exception as error:
        raise LocalError(f"the rebalance listener failed: {error!r}") from error


def _for_listener(assignment: Assignment) -> GlobalAssignment:
    shown: dict[str, dict[str, dict[int, str]]] = {}
    for consumer, topic_partitions in assignment.items():
        topics = shown.setdefault(consumer, {})
        for topic_partition, thread in topic_partitions.items():
            topics.setdefault(topic_partition.topic, {})[topic_partition.partition] = str(thread)
    return shown
