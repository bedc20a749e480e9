"""All fetchers of a broker, by source broker.

A fetcher starts with the first partition of its source and stops after the last one is removed.
`num.replica.fetchers` distributes the partitions of one source over several fetchers, each with
separate connections.
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
"""The source broker and the index of the fetcher."""


class FetcherPool:
    """The `FollowerControl` of a `ReplicaManager`; owned by the event loop.

    The broker awaits `idle()` periodically to stop fetchers without partitions; `close()` stops
    all fetchers.
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
