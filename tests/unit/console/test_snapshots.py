"""How long a snapshot of the metadata is kept, on small and on very large clusters."""

import asyncio

import pytest

from barnabas.admin import ClusterDescription, LogDir, Node, ReplicaInfo, TopicDescription
from barnabas.admin.results import Results
from barnabas.console.services.snapshots import ClusterSnapshots
from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BrokerError
from barnabas.model.ids import ZERO_UUID, TopicPartition

ORDERS = TopicDescription("orders", ZERO_UUID, False, ())


class FakeAdmin:
    """Responds at once; `read_s` is the time that a read of all topics takes on the clock."""

    def __init__(self):
        self.now_s = 100.0
        self.read_s = 0.0
        self.reads = []
        self.sizes_ready = asyncio.Event()
        self.sizes_ready.set()

    @property
    def admin(self):
        return self

    def now(self):
        return self.now_s

    async def describe_cluster(self):
        return ClusterDescription("c", 0, (Node(0, "host", 9092, None),))

    async def describe_topics(self, topics, timeout):
        assert topics is None
        self.reads.append("all")
        self.now_s += self.read_s
        return Results({"orders": ORDERS})

    async def describe_topic(self, name):
        self.reads.append(name)
        if name != "orders":
            raise BrokerError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, name)
        return ORDERS

    async def describe_log_dirs(self, partitions, timeout):
        await self.sizes_ready.wait()
        replica = ReplicaInfo(10, 0, False)
        log_dir = LogDir("/d", None, {TopicPartition("orders", 0): replica}, None, None)
        return Results({0: (log_dir,)})


@pytest.fixture
async def cluster():
    return FakeAdmin()


@pytest.fixture
async def snapshots(cluster):
    kept = ClusterSnapshots(cluster, cluster.now)
    yield kept
    await kept.close()


async def test_a_snapshot_is_shared_for_two_seconds(cluster, snapshots):
    first, second = await asyncio.gather(snapshots.current(), snapshots.current())
    assert first is second
    assert first.sizes == {"orders": 10}
    cluster.now_s += 3
    assert await snapshots.current() is not first
    assert cluster.reads == ["all", "all"]


async def test_a_change_discards_the_snapshot(cluster, snapshots):
    await snapshots.current()
    snapshots.discard()
    await snapshots.current()
    assert cluster.reads == ["all", "all"]


async def test_a_large_cluster_is_read_less_often_and_pages_do_not_wait(cluster, snapshots):
    cluster.read_s = 3.0
    first = await snapshots.current()
    cluster.now_s = first.taken_s + 29
    assert await snapshots.current() is first
    cluster.now_s = first.taken_s + 40
    assert await snapshots.current() is first
    await asyncio.sleep(0)
    while cluster.reads != ["all", "all"]:
        await asyncio.sleep(0)
    while (second := await snapshots.current()) is first:
        await asyncio.sleep(0)
    cluster.now_s = second.taken_s + 100
    assert await snapshots.current() is not second


async def test_the_sizes_of_a_large_cluster_are_added_later(cluster, snapshots, monkeypatch):
    monkeypatch.setattr("barnabas.console.services.snapshots._LOG_DIRS_WAIT_S", 0.0)
    cluster.read_s = 3.0
    cluster.sizes_ready.clear()
    first = await snapshots.current()
    assert (first.sizes, list(first.topics)) == ({}, ["orders"])
    cluster.sizes_ready.set()
    while not (await snapshots.current()).sizes:
        await asyncio.sleep(0)
    assert cluster.reads == ["all"]


async def test_one_topic_of_a_large_cluster_needs_no_read_of_the_others(cluster, snapshots):
    cluster.read_s = 3.0
    await snapshots.current()
    found = await snapshots.topic("orders")
    assert (list(found.topics), found.sizes) == (["orders"], {"orders": 10})
    assert cluster.reads == ["all", "orders"]
    with pytest.raises(BrokerError, match="nobody"):
        await snapshots.topic("nobody")
