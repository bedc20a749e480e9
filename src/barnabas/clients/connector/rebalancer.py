"""A rebalance: from the group's picture to running fetchers, in an order that loses nothing.

1. stop the leader finder and the fetchers: nothing more comes in
2. clear the queues and the chunks being read: nothing more goes out
3. commit what was consumed, while it is still ours
4. release ownership
5. compute the assignment
6. read the offsets
7. claim ownership, all or nothing
8. update the topic registry
9. start the fetchers

Members do this at the same time and without a leader, so a claim can meet an owner who has not got
to step 4 yet. Then the attempt fails and is repeated when that owner node is gone, when the group
changes, or after the back-off, whichever is first.
"""

import asyncio
import contextlib
import logging
from collections.abc import Mapping

from barnabas.clients.connector.assignors import Assignment, AssignmentContext
from barnabas.clients.connector.chunks import INVALID_OFFSET, PartitionTopicInfo
from barnabas.clients.connector.committer import Committer
from barnabas.clients.connector.errors import ConsumerRebalanceFailedError
from barnabas.clients.connector.fetcher_manager import FetcherManager
from barnabas.clients.connector.group_view import GroupView
from barnabas.clients.connector.listener import ConsumerRebalanceListener, GlobalAssignment
from barnabas.clients.connector.registry import GroupRegistry, OwnershipConflictError
from barnabas.clients.connector.settings import ConnectorSettings
from barnabas.clients.connector.stream_set import StreamSet
from barnabas.clients.connector.thread_ids import ConsumerThreadId
from barnabas.model.errors import BarnabasError, LocalError
from barnabas.model.ids import TopicPartition
from barnabas.zk.tree import ConnectionLossError, SessionLostError, WatchEvent

_log = logging.getLogger(__name__)

_SHORTEST_PAUSE_S = 0.01


class Rebalancer:
    """Owned by the loop; `run` by one task at a time. `changed` is set by every watch."""

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

    async def run(self, *, patient: bool) -> None:
        """Rebalance until it succeeds, or ConsumerRebalanceFailedError.

        `patient` waits for ZooKeeper as long as it takes; otherwise that uses up attempts too.
        SessionLostError leaves here at once: there is nothing to hold on to.
        """
        loop = asyncio.get_running_loop()
        retries, backoff_s = self._settings.rebalance_retries, self._settings.rebalance_backoff_s
        attempts, deadline = 0, loop.time() + retries * backoff_s
        while True:
            self.changed.clear()
            try:
                await self._attempt()
                return
            except SessionLostError:
                raise
            except BarnabasError as error:
                attempts += 1
                if patient and isinstance(error, ConnectionLossError):
                    attempts, deadline = 0, loop.time() + retries * backoff_s
                elif attempts >= retries and loop.time() >= deadline:
                    raise self._failed(attempts, error) from error
                _log.info("rebalance attempt %d of %s: %s", attempts, self._name, error)
                await self._pause(error)

    async def stop_reading(self) -> None:
        """Steps 1 and 2."""
        await self._fetchers.stop_connections()
        for info in self.topic_registry.values():
            info.revoked = True
        self._streams.clear()

    async def abandon(self) -> None:
        """The session is over, and with it our ownership: stop, and commit nothing.

        News of a loss can come late, when a new session has claimed partitions already; what it
        claimed stays noted and is released by the next attempt.
        """
        self._settled = None
        await self.stop_reading()
        self.topic_registry = {}
        self._committer.forget()

    # -- inside --------------------------------------------------------------------------------

    @property
    def _name(self) -> str:
        return self._registry.consumer

    async def _attempt(self) -> None:
        view = await self._registry.view(self._settings.exclude_internal, self._on_watch)
        session = self._registry.tree.session_id
        if self._settled == (session, view):
            return
        self._settled = None
        if not await self._registry.brokers(self._on_watch):
            _log.warning("no broker is registered; the rebalance waits for one")
            return
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
        for place in self.topic_registry:
            owned.setdefault(place.topic, set()).add(place.partition)
        if self.listener is not None:
            await _call(self.listener.before_releasing_partitions, owned)
        await self._registry.release_ours(self._claimed - self.topic_registry.keys())
        await self._registry.release(self.topic_registry)
        self._claimed.clear()
        self.topic_registry = {}
        self._committer.forget()

    async def _take_over(self, assignment: Assignment) -> None:
        mine = assignment.get(self._name, {})
        # Before the claim, so that a group whose offsets cannot be read blocks nobody.
        await self._committer.fetch(mine)
        self._claimed.update(mine)
        await self._registry.claim(mine)
        try:
            # Again, now that they are ours: the last owner may have committed between the first
            # reading and its release, and what it consumed then would come twice.
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
            place: PartitionTopicInfo(
                place,
                self._streams.stream_of(place.topic, thread.thread).queue,
                offsets.get(place, INVALID_OFFSET),
            )
            for place, thread in mine.items()
        }

    def _warn_of_idle_threads(self, context: AssignmentContext, assignment: Assignment) -> None:
        """A stream without partitions stays empty: its thread waits for nothing."""
        mine = assignment.get(self._name, {})
        by_filter = not self._streams.by_topic
        busy = {("" if by_filter else place.topic, thread) for place, thread in mine.items()}
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
        """Until the owner in our way is gone or anything else changes, or the back-off is over."""
        backoff_s = self._settings.rebalance_backoff_s
        await asyncio.sleep(min(_SHORTEST_PAUSE_S, backoff_s))
        with contextlib.suppress(TimeoutError, ConnectionLossError):
            async with asyncio.timeout(backoff_s):
                if isinstance(error, OwnershipConflictError):
                    owner = await self._registry.tree.exists(error.path, self._on_watch)
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
    """The application's code, off the loop: it may block, and may commit."""
    assert callable(method)
    try:
        await asyncio.to_thread(method, *args)
    except Exception as error:
        raise LocalError(f"the rebalance listener failed: {error!r}") from error


def _for_listener(assignment: Assignment) -> GlobalAssignment:
    shown: dict[str, dict[str, dict[int, str]]] = {}
    for consumer, places in assignment.items():
        topics = shown.setdefault(consumer, {})
        for place, thread in places.items():
            topics.setdefault(place.topic, {})[place.partition] = str(thread)
    return shown
