"""All fetchers of a broker, by the broker they fetch from.

They start when the first partition is followed from a broker and end when the last one leaves.
With `num.replica.fetchers` above 1 the partitions of one source are spread over so many fetchers,
each with connections of its own.
"""

from collections.abc import Callable

from barnabas.model.clock import Clock
from barnabas.model.ids import BrokerId, TopicPartition
from barnabas.model.java_hash import java_string_hash
from barnabas.replication.fetch_lanes import SourceFetchers
from barnabas.replication.fetch_plan import FetchLimits
from barnabas.replication.fetcher import ReplicaFetcher
from barnabas.replication.fetcher_driver import SourceFactory
from barnabas.replication.partition import Partition
from barnabas.replication.throttle import ReplicationThrottle

FetcherId = tuple[BrokerId, int]
"""The broker that is fetched from, and which of its fetchers."""


class FetcherPool:
    """The `FollowerControl` of a `ReplicaManager`; owned by the broker's loop.

    `idle()` is awaited by the broker now and then, and ends fetchers that follow nothing any more;
    `close()` ends all.
    """

    def __init__(
        self,
        connect: SourceFactory,
        clock: Clock,
        limits: FetchLimits,
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

    def follow(self, partition: Partition) -> None:
        """Fetch from the partition's present leader, and from nobody else."""
        if self._closed:  # a command that came while the broker stops: nobody would end it again
            return
        wanted = self._fetcher_id(partition)
        for fetcher_id, fetchers in self._sources.items():
            if fetcher_id != wanted:
                fetchers.remove(partition.topic_partition)
        found = self._sources.get(wanted)  # which is false while it follows nothing
        (self._start(wanted) if found is None else found).add(partition)

    def unfollow(self, topic_partition: TopicPartition) -> None:
        for fetchers in self._sources.values():
            fetchers.remove(topic_partition)

    def wake(self, partition: Partition) -> None:
        """A flush was done: the partition's new end may be told to its leader."""
        fetchers = self._sources.get(self._fetcher_id(partition))
        if fetchers is not None:
            fetchers.wake()

    def _fetcher_id(self, partition: Partition) -> FetcherId:
        """Spread partitions by Kafka's rule, so that a partition keeps its fetcher."""
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
        """Stop the fetchers that have nothing left to follow."""
        for source in [s for s, fetchers in self._sources.items() if not len(fetchers)]:
            await self._sources.pop(source).stop()

    async def close(self) -> None:
        """Stop following altogether, and for good."""
        self._closed = True
        sources, self._sources = list(self._sources.values()), {}
        for fetchers in sources:
            await fetchers.stop()
