"""Drives the fetchers: one task and one connection per broker that is followed.

The only module here that awaits. It holds no rule of its own: what to ask and what an answer
means is `fetcher`'s. Tasks start when the first partition is followed from a broker and end when
the last one leaves.
"""

import asyncio
import logging
from collections.abc import Callable
from contextlib import suppress

from barnabas.model.clock import Clock
from barnabas.model.errors import BarnabasError
from barnabas.model.ids import BrokerId, TopicPartition
from barnabas.replication.fetch_plan import FetchLimits, FetchPlan, OffsetsPlan, ReplicaSource
from barnabas.replication.fetcher import ReplicaFetcher
from barnabas.replication.partition import Partition
from barnabas.replication.throttle import ReplicationThrottle

logger = logging.getLogger(__name__)

SourceFactory = Callable[[BrokerId], ReplicaSource]
"""Makes the connection to a broker; it connects, and connects again, when first used."""


class FetcherDriver:
    """One source broker's fetcher and its task; owned by the broker's loop."""

    def __init__(self, fetcher: ReplicaFetcher, source: ReplicaSource, clock: Clock) -> None:
        self.fetcher = fetcher
        self._source = source
        self._clock = clock
        self._wake = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        self._task = asyncio.get_running_loop().create_task(
            self._run(), name=f"replica-fetcher-{self.fetcher.source}"
        )

    def wake(self) -> None:
        """Look again: partitions came, or a flush was done."""
        self._wake.set()

    async def stop(self) -> None:
        """End the task and close the connection."""
        if self._task is not None:
            self._task.cancel()
            with suppress(asyncio.CancelledError):
                await self._task
        await self._source.close()

    async def _run(self) -> None:
        while True:
            self._wake.clear()
            plan = self.fetcher.poll(self._clock.monotonic_ms())
            if plan is None:
                await self._idle()
            else:
                await self._ask(plan)

    async def _idle(self) -> None:
        wait_ms = self.fetcher.wait_ms(self._clock.monotonic_ms())
        timeout = None if wait_ms is None else max(wait_ms, 1) / 1000
        with suppress(TimeoutError):
            await asyncio.wait_for(self._wake.wait(), timeout)

    async def _ask(self, plan: FetchPlan | OffsetsPlan) -> None:
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
            logger.exception("following broker %d", self.fetcher.source)
            self.fetcher.handle_failure(plan, self._clock.monotonic_ms())


class FetcherPool:
    """All fetchers of a broker: the `FollowerControl` of its `ReplicaManager`.

    `idle()` is awaited by the broker now and then, and ends drivers that follow nothing any more;
    `close()` ends all.
    """

    def __init__(
        self,
        connect: SourceFactory,
        clock: Clock,
        limits: FetchLimits,
        on_caught_up: Callable[[TopicPartition], None] = lambda _partition: None,
        throttle: ReplicationThrottle | None = None,
    ) -> None:
        self._throttle = throttle
        self._connect = connect
        self._clock = clock
        self._limits = limits
        self._on_caught_up = on_caught_up
        self._drivers: dict[BrokerId, FetcherDriver] = {}

    def follow(self, partition: Partition) -> None:
        """Fetch from the partition's present leader, and from nobody else."""
        for source, driver in self._drivers.items():
            if source != partition.leader:
                driver.fetcher.remove(partition.topic_partition)
        driver = self._drivers.get(partition.leader) or self._start(partition.leader)
        driver.fetcher.add(partition)
        driver.wake()

    def unfollow(self, topic_partition: TopicPartition) -> None:
        for driver in self._drivers.values():
            driver.fetcher.remove(topic_partition)

    def wake(self, partition: Partition) -> None:
        """A flush was done: the partition's new end may be told to its leader."""
        driver = self._drivers.get(partition.leader)
        if driver is not None:
            driver.wake()

    def _start(self, source: BrokerId) -> FetcherDriver:
        fetcher = ReplicaFetcher(source, self._limits, self._on_caught_up, self._throttle)
        driver = FetcherDriver(fetcher, self._connect(source), self._clock)
        self._drivers[source] = driver
        driver.start()
        return driver

    async def idle(self) -> None:
        """Stop the drivers that have nothing left to follow."""
        for source in [s for s, driver in self._drivers.items() if not len(driver.fetcher)]:
            await self._drivers.pop(source).stop()

    async def close(self) -> None:
        """Stop following altogether."""
        drivers, self._drivers = list(self._drivers.values()), {}
        for driver in drivers:
            await driver.stop()
