"""Members join, leave, crash and lose sessions at any moment, and a topic grows.

On the embedded tree, without brokers: each owned partition "is read" by moving its consumed offset
up to the end of an imagined log. What must hold: no partition has two owners at once, the group
always ends up owning everything, and after clean rebalances alone nothing is read twice.
"""

import asyncio
import contextlib
from collections import Counter

from hypothesis import given, settings
from hypothesis import strategies as st
from support.clients.connector_world import put_broker, put_topic

from barnabas.clients.connector.core import Watcher
from barnabas.clients.connector.offset_storage import ZooKeeperOffsets
from barnabas.clients.connector.rebalancer import Committer, Rebalancer
from barnabas.clients.connector.registry import GroupRegistry
from barnabas.clients.connector.settings import ConnectorSettings
from barnabas.clients.connector.stream import StreamMaker
from barnabas.clients.connector.topic_count import StaticTopicCount
from barnabas.testing.virtual_clock import VirtualClock
from barnabas.zk.sqlite_tree import EmbeddedStore
from barnabas.zk.tree import SessionLostError

CLEAN = ["join", "leave", "grow", "read", "settle"]
ROUGH = [*CLEAN, "crash", "expire"]

SETTINGS = ConnectorSettings.parse(
    {
        "zookeeper.connect": "embedded",
        "group.id": "g",
        "auto.offset.reset": "smallest",
        "rebalance.backoff.ms": 50,
        "rebalance.max.retries": 1000,
    }
)


class Reader:
    """Replaces fetchers and streams: reads everything when the test calls it."""

    def __init__(self, world):
        self.world = world
        self.infos = []

    def start_connections(self, infos):
        self.infos = list(infos)
        for info in self.infos:
            holders = self.world.holders.setdefault(info.topic_partition, set())
            assert not holders, f"{info.topic_partition} has two readers"
            holders.add(self)

    async def stop_connections(self):
        for info in self.infos:
            self.world.holders[info.topic_partition].discard(self)
        self.infos = []

    def read(self):
        for info in self.infos:
            start = max(info.consumed_offset, 0)
            self.world.seen.update((info.topic_partition, n) for n in range(start, self.world.end))
            info.consumed_offset = self.world.end


class Member:
    def __init__(self, world, name):
        self.tree = world.store.session()
        self.reader = Reader(world)
        registry = GroupRegistry(self.tree, "g", name)
        streams = StreamMaker(SETTINGS.streams, lambda: None).for_topics({"t": 2})
        self.committer = Committer(ZooKeeperOffsets(registry), SETTINGS.offsets)
        self.rebalancer = Rebalancer(registry, SETTINGS, self.reader, self.committer, streams)
        count = StaticTopicCount({"t": 2})
        self.watcher = Watcher(registry, self.rebalancer, streams, count, SETTINGS, VirtualClock())

    async def join(self):
        self.joining = asyncio.create_task(self._join())

    async def _join(self):
        await self.watcher.join()
        self.watcher.start()

    async def leave(self):
        await self.joining
        await self.watcher.stop()
        await self.rebalancer.stop_reading()
        with contextlib.suppress(SessionLostError):
            await self.committer.commit_consumed(self.rebalancer.topic_registry.values, retry=True)
        await self.tree.close()

    async def crash(self):
        await self.joining
        await self.watcher.stop()
        await self.reader.stop_connections()
        await self.tree.close()


class World:
    def __init__(self):
        self.store = EmbeddedStore(VirtualClock())
        self.holders = {}
        self.seen = Counter()
        self.end = 0
        self.partitions = 3
        self.members = []
        self.born = 0

    async def start(self):
        self.admin = self.store.session()
        await put_broker(self.admin, 0, "nowhere", 1)
        await put_topic(self.admin, "t", self.partitions)
        await self.join()

    async def join(self):
        self.members.append(Member(self, f"g_C{self.born}"))
        self.born += 1
        await self.members[-1].join()

    async def leave(self):
        if len(self.members) > 1:
            await self.members.pop(0).leave()

    async def crash(self):
        if len(self.members) > 1:
            await self.members.pop(0).crash()

    async def expire(self):
        await self.members[0].joining
        # A reader that has lost its session stops when it hears of it; until then two may read.
        await self.members[0].reader.stop_connections()
        await self.members[0].tree.expire()

    async def grow(self):
        self.partitions += 1
        await put_topic(self.admin, "t", self.partitions)

    async def read(self):
        self.end += 5
        for member in self.members:
            member.reader.read()

    async def settle(self):
        async with asyncio.timeout(20):
            while sum(len(readers) for readers in self.holders.values()) < self.partitions:
                await asyncio.sleep(0.001)

    async def stop(self):
        for member in self.members:
            await member.leave()
        await self.store.close()


async def play(steps):
    world = World()
    await world.start()
    for step in steps:
        await getattr(world, step)()
        await asyncio.sleep(0)
    await world.settle()
    await world.read()
    await world.stop()
    return world


@settings(max_examples=100, deadline=None)
@given(st.lists(st.sampled_from(CLEAN), max_size=20))
def test_clean_rebalances_read_everything_once(steps):
    world = asyncio.run(play(steps))
    assert len(world.seen) == world.partitions * world.end
    assert set(world.seen.values()) == {1}


@settings(max_examples=100, deadline=None)
@given(st.lists(st.sampled_from(ROUGH), max_size=20))
def test_crashes_and_lost_sessions_lose_nothing(steps):
    world = asyncio.run(play(steps))
    assert len(world.seen) == world.partitions * world.end
