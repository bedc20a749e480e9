"""Shards come and go with the leadership of their partition."""

import asyncio

import pytest
from support.clients.manual_loop import FakePartition, ManualLoop
from support.storage.log_world import World, put

from barnabas.broker.coordinators import shard_host
from barnabas.broker.coordinators.shard_host import ShardHost
from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BrokerError
from barnabas.model.ids import TopicPartition


class Driver:
    def __init__(self, partition):
        self.partition = partition
        self.events = []

    def replay(self, key, value, producer_id):
        if key == b"poison":
            raise BrokerError(ErrorCode.CORRUPT_MESSAGE)
        self.events.append(key)

    def replay_marker(self, producer_id, *, commit):
        self.events.append(commit)

    def activate(self):
        self.events.append("active")

    def resign(self):
        self.events.append("resigned")


@pytest.fixture
def made():
    return []


@pytest.fixture
def host(made):
    def make(partition):
        made.append(Driver(partition))
        return made[-1]

    return ShardHost("topic", 1000, make)


def partition(log=None, number=0):
    fake = FakePartition(ManualLoop())
    fake.topic_partition = TopicPartition("topic", number)
    if log is not None:
        fake.log = log
    return fake


def code_of(host, number=0):
    with pytest.raises(BrokerError) as caught:
        host.get(number)
    return caught.value.code


async def settle():
    for _ in range(20):
        await asyncio.sleep(0)


async def test_empty_log_serves_at_once(host, made):
    assert code_of(host) is ErrorCode.NOT_COORDINATOR
    host.leadership_changed(partition())
    assert host.get(0) is made[0]
    assert made[0].events == ["active"]
    assert list(host.active()) == made


async def test_loading_until_all_is_replayed(host, made):
    log = World().log
    put(log, (b"a", b""), (b"b", b""))
    host.leadership_changed(partition(log))
    assert code_of(host) is ErrorCode.COORDINATOR_LOAD_IN_PROGRESS
    assert host.loading
    assert list(host.active()) == []
    await settle()
    assert host.get(0).events == [b"a", b"b", "active"]
    assert not host.loading


async def test_repeated_election_loads_nothing(host, made):
    one = partition()
    host.leadership_changed(one)
    one.leader_epoch += 1
    host.leadership_changed(one)
    assert len(made) == 1


async def test_a_broker_that_lost_leadership_is_not_the_coordinator(host, made):
    one = partition()
    host.leadership_changed(one)
    one.is_leader = False
    host.leadership_changed(one)
    host.leadership_changed(one)
    assert code_of(host) is ErrorCode.NOT_COORDINATOR
    assert made[0].events == ["active", "resigned"]


async def test_lost_leadership_while_loading(host, made):
    log = World().log
    put(log, (b"a", b""))
    one = partition(log)
    host.leadership_changed(one)
    one.is_leader = False
    host.leadership_changed(one)
    await settle()
    assert code_of(host) is ErrorCode.NOT_COORDINATOR
    assert "active" not in made[0].events
    one.is_leader, one.leader_epoch = True, 9
    host.leadership_changed(one)
    await settle()
    assert host.get(0) is made[1]


async def test_partition_deleted_and_made_anew_may_start_at_an_older_epoch(host, made):
    one = partition()
    host.leadership_changed(one)
    one.is_leader = False
    host.leadership_changed(one)
    again = partition()
    again.leader_epoch = 0
    host.leadership_changed(again)
    assert host.get(0) is made[1]


async def test_failed_load_is_tried_again(host, made, monkeypatch):
    """KAFKA-9307: no coordinator may be loading for ever."""
    monkeypatch.setattr(shard_host, "_RETRY_S", 0.01)
    log = World().log
    put(log, (b"poison", b""))
    host.leadership_changed(partition(log))
    await settle()
    assert code_of(host) is ErrorCode.NOT_COORDINATOR
    assert made[0].events == ["resigned"]
    monkeypatch.setattr(Driver, "replay", lambda self, *_: self.events.append("healed"))
    async with asyncio.timeout(10):
        while "active" not in made[-1].events:
            await asyncio.sleep(0.001)
    assert host.get(0).events == ["healed", "active"]


async def test_stop_resigns_everywhere_and_loads_no_more(host, made):
    host.leadership_changed(partition())
    log = World().log
    put(log, (b"a", b""))
    host.leadership_changed(partition(log, number=1))
    await host.stop()
    host.leadership_changed(partition(number=2))
    assert [driver.events[-1] for driver in made] == ["resigned", "resigned"]
    assert len(made) == 2
