"""The fetchers of one source broker: a fast lane, and a slow lane for idle partitions.

A fetch costs time on both brokers for every partition it names, with or without new records. With
many partitions the few active ones would wait for all the others each time. Partitions that have
received nothing for a while therefore move to a separate request, the slow lane; the first records
move them back to the fast lane.

While the slow lane is in use, a fetch of the fast lane waits only briefly for data, so that a
partition that moves back is in a request soon. While the fast lane is empty, a fetch of the slow
lane waits long; new records still end the wait at once.
"""

from dataclasses import replace

from barnabas.model.clock import Clock
from barnabas.model.ids import TopicPartition
from barnabas.replication.fetch_plan import FetchLimits
from barnabas.replication.fetcher import ReplicaFetcher
from barnabas.replication.fetcher_driver import FetcherDriver, SourceFactory
from barnabas.replication.partition import Partition

MANY_PARTITIONS = 16
QUIET_MS = 1000
SHORT_WAIT_MS = 20
LONG_WAIT_MS = 5000


class SourceFetchers:
    """All partitions fetched from one broker; owned by the event loop.

    A partition is in exactly one lane. The response for a partition that has changed lanes since
    the request is dropped; the other lane fetches the same records.
    """

    def __init__(
        self, fast: ReplicaFetcher, slow: ReplicaFetcher, connect: SourceFactory, clock: Clock
    ) -> None:
        self._clock = clock
        self._limits: FetchLimits = fast.limits
        self._brief = replace(fast.limits, max_wait_ms=min(SHORT_WAIT_MS, fast.limits.max_wait_ms))
        self._patient = replace(fast.limits, max_wait_ms=max(LONG_WAIT_MS, fast.limits.max_wait_ms))
        self._connect = connect
        self._fast = FetcherDriver(fast, connect(fast.source), clock, after_answer=self._sort_out)
        self._slow_fetcher = slow
        self._slow: FetcherDriver | None = None

    def __len__(self) -> int:
        return len(self._fast.fetcher) + len(self._slow_fetcher)

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

    def _sort_out(self) -> None:
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
