"""A short-lived picture of the cluster's metadata that all requests share.

Listing 10,000 topics reads the whole metadata, so the result is kept for `MAX_AGE_S`: the pages and
sorts of a table, and several users, need one read. A change through the console discards it.
Concurrent requests wait for the same read.
"""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass

from barnabas.admin import ClusterDescription, LogDir, TopicDescription
from barnabas.console.cluster_link import ClusterLink
from barnabas.model.errors import BarnabasError

MAX_AGE_S = 2.0
_LOG_DIRS_S = 4.0


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
        self._reading: asyncio.Task[ClusterSnapshot] | None = None

    async def current(self) -> ClusterSnapshot:
        """Returns a snapshot that is at most MAX_AGE_S old."""
        newest = self._newest
        if newest is not None and self._now() - newest.taken_s <= MAX_AGE_S:
            return newest
        if self._reading is None:
            self._reading = asyncio.create_task(self._read())
        try:
            return await asyncio.shield(self._reading)
        finally:
            self._forget_finished()

    def discard(self) -> None:
        """Makes the next request read the metadata again."""
        self._newest = None
        self._reading = None

    def _forget_finished(self) -> None:
        if self._reading is not None and self._reading.done():
            self._reading = None

    async def _read(self) -> ClusterSnapshot:
        admin = self._link.admin
        taken = self._now()
        cluster = await admin.describe_cluster()
        listings = await admin.list_topics(internal=True)
        described = await admin.describe_topics([item.name for item in listings])
        topics = {item.name: item for item in described.ok.values()}
        log_dirs = await self._log_dirs()
        snapshot = ClusterSnapshot(taken, cluster, topics, log_dirs, topic_sizes(log_dirs))
        self._newest = snapshot
        return snapshot

    async def _log_dirs(self) -> dict[int, tuple[LogDir, ...]]:
        try:
            # A broker that has just died is still in the metadata; its disks are left out.
            found = await self._link.admin.describe_log_dirs(timeout=_LOG_DIRS_S)
        except BarnabasError:
            return {}
        return {broker: tuple(dirs) for broker, dirs in found.ok.items()}


def topic_sizes(log_dirs: dict[int, tuple[LogDir, ...]]) -> dict[str, int]:
    """Returns the bytes of each topic, all replicas included."""
    sizes: dict[str, int] = {}
    for directories in log_dirs.values():
        for directory in directories:
            for topic_partition, replica in directory.replicas.items():
                topic = topic_partition.topic
                sizes[topic] = sizes.get(topic, 0) + replica.size_bytes
    return sizes
