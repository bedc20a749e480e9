"""A short-lived picture of the cluster's metadata that all requests share.

Listing 10,000 topics reads the whole metadata, so the result is kept for `MAX_AGE_S`: the pages and
sorts of a table, and several users, need one read. A change through the console discards it.
Concurrent requests wait for the same read.

If reading the metadata takes long, a snapshot is kept for a multiple of that time, so that the
brokers get fewer of these large requests. While the next snapshot is read, requests get the older
one and do not wait. Such a snapshot does not wait for the sizes of logs; they are added when they
arrive.
"""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from barnabas.admin import ClusterDescription, LogDir, TopicDescription
from barnabas.console.cluster_link import ClusterLink
from barnabas.model.errors import BarnabasError
from barnabas.model.ids import TopicPartition

MAX_AGE_S = 2.0
KEPT_FACTOR = 10.0
SLOW_READ_S = 0.5
MAX_STALE_S = 60.0
_WHOLE_CLUSTER_S = 60.0
_LOG_DIRS_S = 4.0
_LOG_DIRS_WAIT_S = 1.0

LogDirs = dict[int, tuple[LogDir, ...]]


@dataclass(frozen=True, slots=True)
class ClusterSnapshot:
    """Metadata at one time. `log_dirs` is empty if the brokers do not return them."""

    taken_s: float
    cluster: ClusterDescription
    topics: dict[str, TopicDescription]
    log_dirs: dict[int, tuple[LogDir, ...]]
    sizes: dict[str, int]


class ClusterSnapshots:
    """Reads and keeps the newest snapshot."""

    def __init__(self, link: ClusterLink, now: Callable[[], float]) -> None:
        self._link = link
        self._now = now
        self._newest: ClusterSnapshot | None = None
        self._read_s = 0.0
        self._reading: asyncio.Task[ClusterSnapshot] | None = None
        self._log_dirs: LogDirs = {}
        self._reading_log_dirs: asyncio.Task[None] | None = None

    async def current(self) -> ClusterSnapshot:
        """Returns a snapshot that is at most MAX_AGE_S old, or older on a very large cluster."""
        newest = self._newest
        age = 0.0 if newest is None else self._now() - newest.taken_s
        if newest is not None and age <= max(MAX_AGE_S, KEPT_FACTOR * self._read_s):
            return newest
        if self._reading is None or self._reading.done():
            self._reading = asyncio.create_task(self._read())
        if newest is not None and self._read_s > SLOW_READ_S and age <= MAX_STALE_S:
            self._reading.add_done_callback(_ignore_error)
            return newest
        return await asyncio.shield(self._reading)

    async def topic(self, name: str) -> ClusterSnapshot:
        """Returns a snapshot that has at least this topic, if it exists.

        Raises:
            BrokerError: The topic is unknown.
        """
        if self._newest is not None and self._read_s <= SLOW_READ_S:
            snapshot = await self.current()
            if name in snapshot.topics:
                return snapshot  # a topic that was created a moment ago is not in it
        taken = self._now()
        cluster = await self._link.admin.describe_cluster()
        topic = await self._link.admin.describe_topic(name)
        wanted = [TopicPartition(name, item.partition) for item in topic.partitions]
        log_dirs = await self.log_dirs(wanted)
        return ClusterSnapshot(taken, cluster, {name: topic}, log_dirs, topic_sizes(log_dirs))

    def discard(self) -> None:
        """Makes the next request read the metadata again."""
        self._newest = None
        self._reading = None

    async def close(self) -> None:
        tasks = [task for task in (self._reading, self._reading_log_dirs) if task is not None]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _read(self) -> ClusterSnapshot:
        taken = self._now()
        admin = self._link.admin
        cluster = await admin.describe_cluster()
        described = await admin.describe_topics(None, timeout=_WHOLE_CLUSTER_S)
        topics = {item.name: item for item in described.ok.values()}
        # Counted without the sizes, for which a snapshot waits only a limited time.
        self._read_s = self._now() - taken
        log_dirs = await self._newest_log_dirs()
        snapshot = ClusterSnapshot(taken, cluster, topics, log_dirs, topic_sizes(log_dirs))
        if self._reading is asyncio.current_task():  # not discarded meanwhile
            self._newest = snapshot
        return snapshot

    async def _newest_log_dirs(self) -> LogDirs:
        """Returns the log directories, or those of the last read if the brokers take long."""
        if self._reading_log_dirs is None or self._reading_log_dirs.done():
            self._reading_log_dirs = asyncio.create_task(self._keep_log_dirs())
        slow = self._read_s > SLOW_READ_S
        await asyncio.wait(
            {self._reading_log_dirs}, timeout=_LOG_DIRS_WAIT_S if slow else _LOG_DIRS_S
        )
        return self._log_dirs

    async def _keep_log_dirs(self) -> None:
        self._log_dirs = await self.log_dirs(None)
        newest = self._newest
        if newest is not None and newest.log_dirs is not self._log_dirs:
            sizes = topic_sizes(self._log_dirs)
            self._newest = replace(newest, log_dirs=self._log_dirs, sizes=sizes)

    async def log_dirs(self, partitions: Sequence[TopicPartition] | None) -> LogDirs:
        """Reads the log directories with these partitions, or with all; empty if that fails."""
        slow = partitions is None and self._read_s > SLOW_READ_S
        try:
            # A broker that has just died is still in the metadata; its disks are left out.
            found = await self._link.admin.describe_log_dirs(
                partitions=partitions, timeout=_WHOLE_CLUSTER_S if slow else _LOG_DIRS_S
            )
        except BarnabasError:
            return {}
        return {broker: tuple(dirs) for broker, dirs in found.ok.items()}


def _ignore_error(task: asyncio.Task[ClusterSnapshot]) -> None:
    """Reads the result of a task that no request waits for; the next request reads again."""
    if not task.cancelled():
        task.exception()


def topic_sizes(log_dirs: dict[int, tuple[LogDir, ...]]) -> dict[str, int]:
    """Returns the bytes of each topic, all replicas included."""
    sizes: dict[str, int] = {}
    for directories in log_dirs.values():
        for directory in directories:
            for topic_partition, replica in directory.replicas.items():
                topic = topic_partition.topic
                sizes[topic] = sizes.get(topic, 0) + replica.size_bytes
    return sizes
