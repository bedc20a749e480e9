"""The tasks around the fetchers."""

import asyncio

import pytest
from support.cluster.replicas import TP, Replica, state
from support.storage.memory_log import Entry

from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import UnavailableError
from barnabas.model.ids import TopicPartition
from barnabas.replication.fetcher_pool import FetcherPool
from barnabas.replication.ports import FetchedPartition, LeaderOffsets, ReplicaFetchLimits

LIMITS = ReplicaFetchLimits(backoff_ms=0)


class ScriptedSource:
    """Responds to fetches from a script, then holds the last one as a long poll does."""

    def __init__(self, script):
        self.script = list(script)
        self.asked = []
        self.closed = False
        self.exhausted = asyncio.Event()

    async def fetch(self, plan):
        self.asked.append([item.offset for item in plan.partitions])
        if not self.script:
            self.exhausted.set()
            await asyncio.Event().wait()
        answer = self.script.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return [answer]

    async def leader_offsets(self, plan):
        return [
            LeaderOffsets(item.topic_partition, ErrorCode.NONE, 5, 5) for item in plan.partitions
        ]

    async def close(self):
        self.closed = True


@pytest.fixture
async def following():
    """A pool that follows one partition from scripted sources."""
    made, pools = {}, []

    def start(script, replica=None):
        def connect(broker_id):
            made[broker_id] = ScriptedSource(script if broker_id == 1 else ())
            return made[broker_id]

        replica = replica or Replica(2)
        replica.partition.make_follower(state())
        pool = FetcherPool(connect, replica.clock, LIMITS)
        pools.append(pool)
        pool.follow(replica.partition)
        return replica, pool, made

    yield start
    for pool in pools:
        await pool.close()


def records(offset, value):
    return FetchedPartition(TP, ErrorCode.NONE, 0, 0, [Entry(offset, 0, value)])


async def test_fetches_follow_each_other(following):
    replica, _, sources = following([records(0, "a"), records(1, "b")])
    await asyncio.wait_for(sources[1].exhausted.wait(), 1)
    assert replica.log.values() == ["a", "b"]
    assert sources[1].asked == [[0], [1], [2]]


@pytest.mark.parametrize(
    "failure", [UnavailableError("gone"), ConnectionResetError(), ZeroDivisionError()]
)
async def test_failures_are_survived(following, failure, caplog):
    replica, _, sources = following([failure, records(0, "a")])
    await asyncio.wait_for(sources[1].exhausted.wait(), 1)
    assert replica.log.values() == ["a"]


async def test_out_of_range_is_realigned(following):
    replica, _, sources = following([FetchedPartition(TP, ErrorCode.OFFSET_OUT_OF_RANGE)])
    await asyncio.wait_for(sources[1].exhausted.wait(), 1)
    assert replica.log.log_start_offset == 5


async def test_a_new_leader_is_followed_and_the_old_driver_ends(following):
    replica, pool, sources = following([])
    replica.partition.make_follower(state(leader=3, leader_epoch=1))
    pool.follow(replica.partition)
    await asyncio.wait_for(sources[3].exhausted.wait(), 1)
    await pool.idle()
    assert sources[1].closed
    assert not sources[3].closed


async def test_unfollowing_leaves_nothing_to_ask(following):
    _, pool, sources = following([FetchedPartition(TP, ErrorCode.FENCED_LEADER_EPOCH)])
    pool.unfollow(TP)
    await pool.idle()
    assert sources[1].closed


async def test_a_flush_wakes_the_driver(following):
    replica = Replica(2, request_flush=lambda _partition: None)
    replica, pool, sources = following([records(0, "a")], replica)
    for _ in range(5):
        await asyncio.sleep(0)
    assert sources[1].asked == [[0]]
    replica.partition.flushed(replica.partition.flush_ticket())
    pool.wake(replica.partition)
    await asyncio.wait_for(sources[1].exhausted.wait(), 1)
    assert sources[1].asked == [[0], [1]]


async def test_stopping_cancels_a_fetch_under_way(following):
    _, pool, sources = following([])
    await asyncio.wait_for(sources[1].exhausted.wait(), 1)
    await pool.close()
    assert sources[1].closed


async def test_a_source_that_follows_nothing_for_a_moment_is_not_replaced(following):
    replica, pool, sources = following([])
    first = sources[1]
    pool.unfollow(TP)
    pool.follow(replica.partition)
    assert sources[1] is first
    await asyncio.wait_for(first.exhausted.wait(), 1)
    await pool.close()
    assert first.closed


async def test_nothing_is_followed_once_it_is_closed(following):
    replica, pool, sources = following([])
    await pool.close()
    replica.partition.make_follower(state(leader=3, leader_epoch=1))
    pool.follow(replica.partition)
    assert 3 not in sources


async def test_partitions_of_one_source_are_spread_over_its_fetchers():
    """`num.replica.fetchers`: connections per source, and a partition stays with its own."""
    made = []

    def connect(broker_id):
        made.append(ScriptedSource(()))
        return made[-1]

    replicas = [Replica(2) for _ in range(4)]
    pool = FetcherPool(connect, replicas[0].clock, LIMITS, fetchers_per_source=2)
    try:
        for number, replica in enumerate(replicas):
            replica.partition.topic_partition = TopicPartition("t", number)
            replica.partition.make_follower(state())
            pool.follow(replica.partition)
            pool.follow(replica.partition)
        for source in made:
            await asyncio.wait_for(source.exhausted.wait(), 1)
        assert [len(source.asked[-1]) for source in made] == [2, 2]
    finally:
        await pool.close()
