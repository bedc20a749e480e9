"""Partitions without news do not hold up those with news."""

import asyncio

import pytest
from support.cluster.replicas import Replica, state
from support.storage.memory_log import Entry, MemoryLog

from barnabas.model.error_codes import ErrorCode
from barnabas.model.ids import TopicPartition
from barnabas.replication.fetcher_pool import (
    LONG_WAIT_MS,
    MANY_PARTITIONS,
    QUIET_MS,
    SHORT_WAIT_MS,
    FetcherPool,
)
from barnabas.replication.partition import Partition
from barnabas.replication.ports import FetchedPartition, ReplicaFetchLimits

LIMITS = ReplicaFetchLimits(max_wait_ms=500, backoff_ms=0)
MANY = MANY_PARTITIONS + 4


class Source:
    """One connection; every fetch waits until the test completes it."""

    def __init__(self):
        self.plan = None
        self._answer = None

    @property
    def asked(self):
        return {item.topic_partition.partition for item in self.plan.partitions}

    async def fetch(self, plan):
        self.plan, self._answer = plan, asyncio.get_running_loop().create_future()
        return await self._answer

    async def answer(self, *with_records):
        """Complete all waiting fetches, some of them with a record."""
        answers = []
        for item in self.plan.partitions:
            number = item.topic_partition.partition
            records = [Entry(item.offset, 0, "x")] if number in with_records else []
            answers.append(FetchedPartition(item.topic_partition, ErrorCode.NONE, 0, 0, records))
        self._answer.set_result(answers)
        for _ in range(10):
            await asyncio.sleep(0)

    async def close(self):
        """Nothing to close."""


class Follower:
    """A broker that follows some partitions of broker 1."""

    def __init__(self):
        replica = Replica(2)
        self.clock, self._settings = replica.clock, replica.settings
        self.sources, self.partitions = [], {}
        self.pool = FetcherPool(self._connect, self.clock, LIMITS)

    def _connect(self, _source):
        self.sources.append(Source())
        return self.sources[-1]

    async def follow(self, numbers, leader_epoch=0):
        for number in numbers:
            topic_partition = TopicPartition("t", number)
            partition = self.partitions.setdefault(
                number, Partition(topic_partition, MemoryLog(), self._settings)
            )
            partition.make_follower(
                state(leader_epoch=leader_epoch, topic_partition=topic_partition)
            )
            self.pool.follow(partition)
        for _ in range(5):
            await asyncio.sleep(0)


@pytest.fixture
async def follower():
    made = Follower()
    yield made
    await made.pool.close()


@pytest.fixture
async def lanes(follower):
    """Many partitions, of which number 0 is busy: the rest is in the slow lane."""
    await follower.follow(range(MANY))
    (fast,) = follower.sources
    await fast.answer(0)
    follower.clock.advance(QUIET_MS)
    await fast.answer(0)
    return follower, fast, follower.sources[1]


async def test_few_partitions_stay_together(follower):
    await follower.follow(range(MANY_PARTITIONS))
    (fast,) = follower.sources
    await fast.answer()
    follower.clock.advance(QUIET_MS)
    await fast.answer()
    assert len(follower.sources) == 1
    assert len(fast.asked) == MANY_PARTITIONS
    assert fast.plan.limits is LIMITS


async def test_when_all_are_quiet_they_are_asked_for_seldom(lanes):
    follower, fast, slow = lanes
    await fast.answer()
    follower.clock.advance(QUIET_MS)
    await fast.answer()
    await slow.answer()
    assert slow.asked == set(range(MANY))
    assert slow.plan.limits.max_wait_ms == LONG_WAIT_MS
    await fast.answer()  # for number 0, which has left
    await slow.answer(3)
    assert fast.asked == {3}
    assert slow.plan.limits.max_wait_ms == LIMITS.max_wait_ms


async def test_quiet_partitions_are_asked_for_apart(lanes):
    _, fast, slow = lanes
    assert slow.asked == set(range(1, MANY))
    await fast.answer(0)
    assert fast.asked == {0}
    assert fast.plan.limits.max_wait_ms == SHORT_WAIT_MS
    assert slow.plan.limits.max_wait_ms == LIMITS.max_wait_ms


async def test_news_bring_a_partition_back(lanes):
    follower, fast, slow = lanes
    await slow.answer(7)
    assert follower.partitions[7].log.log_end_offset == 1
    await fast.answer(0)
    assert fast.asked == {0, 7}
    assert slow.asked == set(range(1, MANY)) - {7}


async def test_an_empty_fast_lane_asks_for_nothing(lanes):
    follower, fast, slow = lanes
    await fast.answer()
    follower.clock.advance(QUIET_MS)
    await slow.answer()
    last = fast.plan
    await fast.answer()
    assert slow.asked == set(range(MANY))
    assert fast.plan is last


async def test_a_new_epoch_begins_in_the_fast_lane(lanes):
    follower, fast, slow = lanes
    await follower.follow([3], leader_epoch=1)
    await fast.answer(0)
    assert fast.asked == {0, 3}
    await slow.answer()
    assert 3 not in slow.asked


async def test_a_repeated_command_changes_nothing(lanes):
    follower, fast, slow = lanes
    await follower.follow(range(MANY))
    await fast.answer(0)
    await slow.answer()
    assert fast.asked == {0}
    assert slow.asked == set(range(1, MANY))


async def test_unfollowed_partitions_leave_either_lane(lanes):
    follower, _, slow = lanes
    for number in (0, 5):
        follower.pool.unfollow(TopicPartition("t", number))
    await slow.answer()
    assert slow.asked == set(range(1, MANY)) - {5}
    assert len(follower.partitions) == MANY
