"""All fetchers of a broker, by source broker.

A fetcher starts with the first partition of its source and stops after the last one is removed.
`num.replica.fetchers` distributes the partitions of one source over several fetchers, each with
separate connections.
"""

import asyncio
import logging
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace

from barnabas.model.errors import BarnabasError
from barnabas.model.ids import BrokerId, TopicPartition
from barnabas.model.java_hash import java_string_hash
from barnabas.replication.fetcher import ReplicaFetcher
from barnabas.replication.partition import Partition
from barnabas.replication.ports import (
    OffsetsPlan,
    ReplicaFetchLimits,
    ReplicaFetchPlan,
    ReplicaSource,
)
from barnabas.replication.throttle import ReplicationThrottle
from barnabas.runtime.clock import Clock

logger = logging.getLogger(__name__)
SourceFactory = Callable[[BrokerId], ReplicaSource]
"""Creates a connection object; it connects on first use and reconnects when necessary."""
# Above this number, idle partitions move to a second fetcher with long waits.
MANY_PARTITIONS = 16
QUIET_MS = 1000
SHORT_WAIT_MS = 20
LONG_WAIT_MS = 5000
FetcherId = tuple[BrokerId, int]
"""The source broker and the index of the fetcher."""


class FetcherDriver:
    """The fetcher of one source broker and its task; owned by the event loop."""

    def __init__(
        self,
        fetcher: ReplicaFetcher,
        source: ReplicaSource,
        clock: Clock,
        before_poll: Callable[[], None] = lambda: None,
        after_response: Callable[[], None] = lambda: None,
    ) -> None:
        self.fetcher = fetcher
        self._source = source
        self._clock = clock
        self._before_poll = before_poll
        self._after_response = after_response
        self._wake = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        self._task = asyncio.get_running_loop().create_task(
            self._run(), name=f"replica-fetcher-{self.fetcher.source}"
        )

    def wake(self) -> None:
        """Polls again, after a partition was added or a flush has finished."""
        self._wake.set()

    async def stop(self) -> None:
        """Cancels the task and closes the connection."""
        if self._task is not None:
            self._task.cancel()
            with suppress(asyncio.CancelledError):
                await self._task
        await self._source.close()

    async def _run(self) -> None:
        while True:
            self._wake.clear()
            self._before_poll()
            plan = self.fetcher.poll(self._clock.monotonic_ms())
            if plan is None:
                await self._idle()
            else:
                await self._send(plan)
                self._after_response()

    async def _idle(self) -> None:
        wait_ms = self.fetcher.wait_ms(self._clock.monotonic_ms())
        timeout = None if wait_ms is None else max(wait_ms, 1) / 1000
        with suppress(TimeoutError):
            await asyncio.wait_for(self._wake.wait(), timeout)

    async def _send(self, plan: ReplicaFetchPlan | OffsetsPlan) -> None:
        try:
            if isinstance(plan, OffsetsPlan):
                offsets = await self._source.leader_offsets(plan)
                self.fetcher.handle_offsets(plan, offsets, self._clock.monotonic_ms())
            else:
                fetched = await self._source.fetch(plan)
                self.fetcher.handle_fetched(plan, fetched, self._clock.monotonic_ms())
        except (BarnabasError, OSError) as error:
            logger.info("cannot fetch from broker %d: %s", self.fetcher.source, error)
            self.fetcher.handle_failure(plan, self._clock.monotonic_ms())
        except Exception:
            logger.exception("fetching from broker %d failed", self.fetcher.source)
            self.fetcher.handle_failure(plan, self._clock.monotonic_ms())


class SourceFetchers:
    """All partitions fetched from one broker; owned by the event loop.

    A partition is in exactly one lane. The response for a partition that has changed lanes since
    the request is dropped; the other lane fetches the same records.

    A fetch costs time on both brokers for every partition it names, with or without new records.
    With many partitions the few active ones would wait for all the others each time. Partitions
    that have received nothing for a while therefore move to a separate request, the slow lane; the
    first records move them back to the fast lane.

    While the slow lane is in use, a fetch of the fast lane waits only briefly for data, so that a
    partition that moves back is in a request soon. While the fast lane is empty, a fetch of the
    slow lane waits long; new records still end the wait at once.
    """

    def __init__(
        self, fast: ReplicaFetcher, slow: ReplicaFetcher, connect: SourceFactory, clock: Clock
    ) -> None:
        self._clock = clock
        self._limits: ReplicaFetchLimits = fast.limits
        self._brief = replace(fast.limits, max_wait_ms=min(SHORT_WAIT_MS, fast.limits.max_wait_ms))
        self._patient = replace(fast.limits, max_wait_ms=max(LONG_WAIT_MS, fast.limits.max_wait_ms))
        self._connect = connect
        self._fast = FetcherDriver(
            fast, connect(fast.source), clock, after_response=self._start_slow_lane
        )
        self._slow_fetcher = slow
        self._slow: FetcherDriver | None = None

    def __len__(self) -> int:
        return len(self._fast.fetcher) + len(self._slow_fetcher)

    @property
    def max_lag(self) -> int:
        return max(self._fast.fetcher.max_lag, self._slow_fetcher.max_lag)

    def start(self) -> None:
        self._fast.start()

    def add(self, partition: Partition) -> None:
        """Follows a partition; one that the slow lane follows in this epoch stays there."""
        topic_partition = partition.topic_partition
        if not self._slow_fetcher.follows(partition):
            self._slow_fetcher.remove(topic_partition)
            self._fast.fetcher.add(partition)
            self._fast.wake()

    def remove(self, topic_partition: TopicPartition) -> None:
        self._fast.fetcher.remove(topic_partition)
        self._slow_fetcher.remove(topic_partition)

    def wake(self) -> None:
        self._fast.wake()
        if self._slow is not None:
            self._slow.wake()

    async def stop(self) -> None:
        await self._fast.stop()
        if self._slow is not None:
            await self._slow.stop()

    def _start_slow_lane(self) -> None:
        """Starts or wakes the slow lane after a response of the fast lane."""
        if len(self._fast.fetcher) > MANY_PARTITIONS:
            if self._slow is None:
                source = self._connect(self._fast.fetcher.source)
                self._slow = FetcherDriver(
                    self._slow_fetcher, source, self._clock, self._take_quiet, self._give_busy
                )
                self._slow.start()
            self._slow.wake()
        self._fast.fetcher.limits = self._brief if len(self._slow_fetcher) else self._limits

    def _take_quiet(self) -> None:
        """Moves idle partitions to the slow lane, before its request so that none is skipped."""
        if len(self._slow_fetcher) or len(self._fast.fetcher) > MANY_PARTITIONS:
            quiet = self._fast.fetcher.take_quiet(self._clock.monotonic_ms(), QUIET_MS)
            self._slow_fetcher.adopt(quiet)
        idle = not len(self._fast.fetcher) and self._slow_fetcher.all_caught_up
        self._slow_fetcher.limits = self._patient if idle else self._limits

    def _give_busy(self) -> None:
        busy = self._slow_fetcher.take_busy()
        if busy:
            self._fast.fetcher.adopt(busy)
            self._fast.wake()


class FetcherPool:
    """The `FollowerControl` of a `ReplicaManager`; owned by the event loop.

    The broker awaits `idle()` periodically to stop fetchers without partitions; `close()` stops
    all fetchers.
    """

    def __init__(
        self,
        connect: SourceFactory,
        clock: Clock,
        limits: ReplicaFetchLimits,
        on_caught_up: Callable[[TopicPartition], None] = lambda _partition: None,
        throttle: ReplicationThrottle | None = None,
        fetchers_per_source: int = 1,
    ) -> None:
        self._fetchers_per_source = fetchers_per_source
        self._throttle = throttle
        self._connect = connect
        self._clock = clock
        self._limits = limits
        self._on_caught_up = on_caught_up
        self._sources: dict[FetcherId, SourceFetchers] = {}
        self._closed = False

    @property
    def max_lag(self) -> int:
        """The largest number of committed records that a follower on this broker still lacks."""
        return max((fetchers.max_lag for fetchers in self._sources.values()), default=0)

    def follow(self, partition: Partition) -> None:
        """Fetches the partition from its current leader and from no other broker."""
        if self._closed:  # a command during shutdown: no later call would stop the fetcher
            return
        wanted = self._fetcher_id(partition)
        for fetcher_id, fetchers in self._sources.items():
            if fetcher_id != wanted:
                fetchers.remove(partition.topic_partition)
        found = self._sources.get(wanted)  # an empty one is falsy, so compare with None
        (self._start(wanted) if found is None else found).add(partition)

    def unfollow(self, topic_partition: TopicPartition) -> None:
        for fetchers in self._sources.values():
            fetchers.remove(topic_partition)

    def wake(self, partition: Partition) -> None:
        """Polls again after a flush: the next fetch may report the new log end offset."""
        fetchers = self._sources.get(self._fetcher_id(partition))
        if fetchers is not None:
            fetchers.wake()

    def _fetcher_id(self, partition: Partition) -> FetcherId:
        """Selects the fetcher by Kafka's hash, so that a partition keeps its fetcher."""
        topic_partition = partition.topic_partition
        spread = 31 * java_string_hash(topic_partition.topic) + topic_partition.partition
        return partition.leader, spread % self._fetchers_per_source

    def _start(self, fetcher_id: FetcherId) -> SourceFetchers:
        source, _ = fetcher_id
        fast, slow = (
            ReplicaFetcher(source, self._limits, self._on_caught_up, self._throttle)
            for _ in range(2)
        )
        fetchers = SourceFetchers(fast, slow, self._connect, self._clock)
        self._sources[fetcher_id] = fetchers
        fetchers.start()
        return fetchers

    async def idle(self) -> None:
        """Stops the fetchers without partitions."""
        for source in [s for s, fetchers in self._sources.items() if not len(fetchers)]:
            await self._sources.pop(source).stop()

    async def close(self) -> None:
        """Stops all fetchers; later calls of `follow` have no effect."""
        self._closed = True
        sources, self._sources = list(self._sources.values()), {}
        for fetchers in sources:
            await fetchers.stop()
