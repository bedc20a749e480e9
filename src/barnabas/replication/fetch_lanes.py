"""The fetchers of one source broker: a fast lane, and a slow one for partitions without news.

A fetch costs time for every partition it names, on both sides, whether there is something to
fetch or not. With many partitions the few that are written to would wait for all the others each
time. So, when there are many, those that have got nothing for a while are asked for by a request
of their own; the first thing they get brings them back into the fast lane.

While the slow lane is in use the fast one waits only briefly for data: a partition that comes back
joins its next request. While the fast lane is empty the slow one waits long: data still ends the
wait at once, and nobody is kept waiting by it.
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
    """All that is fetched from one broker; owned by the broker's loop.

    A partition is in one lane. An answer for a partition that has changed lanes since it was
    asked for is dropped, and given again to the other lane's request.
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
        """Follow in the present epoch; what the slow lane follows so already stays there."""
        place = partition.topic_partition
        if not self._slow_fetcher.follows(partition):
            self._slow_fetcher.remove(place)
            self._fast.fetcher.add(partition)
            self._fast.wake()

    def remove(self, place: TopicPartition) -> None:
        self._fast.fetcher.remove(place)
        self._slow_fetcher.remove(place)

    def wake(self) -> None:
        self._fast.wake()
        if self._slow is not None:
            self._slow.wake()

    async def stop(self) -> None:
        await self._fast.stop()
        if self._slow is not None:
            await self._slow.stop()

    def _sort_out(self) -> None:
        """After an answer in the fast lane: let the slow one take what it can, if it is idle."""
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
        """Before a request of the slow lane, so that nothing is left out of both."""
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
