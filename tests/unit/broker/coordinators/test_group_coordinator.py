"""A running shard: replies wait for the commit, failures are reported, timers are monotonic."""

from types import SimpleNamespace

import pytest
from support.clients.manual_loop import FakeLedPartition, ManualLoop
from support.groups.driver import image, join_request
from support.groups.recorded_reply import RecordedReply

from barnabas.broker.coordinators.group_coordinator import GroupShardDriver
from barnabas.broker.coordinators.shard_runtime import RuntimeSettings, SteadyClock
from barnabas.groups.coordinator import GroupCoordinatorShard
from barnabas.groups.requests import (
    OffsetCommitRequest,
    OffsetFetchRequest,
    OffsetToCommit,
    TxnOffsetCommitRequest,
)
from barnabas.groups.step import GroupConfig
from barnabas.model.error_codes import ErrorCode
from barnabas.model.ids import TopicPartition

TOPIC_PARTITION = TopicPartition("t", 0)


@pytest.fixture
def world():
    loop = ManualLoop()
    partition = FakeLedPartition(loop)
    settings = RuntimeSettings(
        clock=loop.clock,
        steady=SteadyClock(loop.clock),
        schedule=loop.schedule,
        call_soon=loop.call_soon,
        commit_timeout_ms=5000,
        max_batch_bytes=lambda: 2000,
    )
    config = GroupConfig(initial_rebalance_delay_ms=0, min_session_timeout_ms=100)
    shard = GroupCoordinatorShard(config, image(t=4), lambda: "id")
    driver = GroupShardDriver(shard, partition, settings)
    driver.activate()
    return SimpleNamespace(
        loop=loop, partition=partition, driver=driver, shard=shard, settings=settings
    )


def commit(world, offset=1, metadata=""):
    reply = RecordedReply()
    offsets = (OffsetToCommit("t", 0, offset, -1, metadata),)
    request = OffsetCommitRequest("g", offsets)
    world.driver.run(lambda shard, now_ms: shard.commit_offsets(request, now_ms), reply)
    return reply


def committed(world):
    return world.shard.fetch_offsets(OffsetFetchRequest("g", (TOPIC_PARTITION,))).offsets[0].offset


def test_reply_waits_for_the_commit(world):
    reply = commit(world)
    assert reply.count == 0
    assert committed(world) == 1, "the next step builds on it"
    world.partition.commit(1)
    world.loop.turn()
    assert reply.replies[0].partitions == ((TOPIC_PARTITION, ErrorCode.NONE),)


def test_failed_append_changes_nothing(world):
    world.partition.fail_next = ErrorCode.NOT_ENOUGH_REPLICAS
    reply = commit(world)
    assert reply.replies[0].partitions == ((TOPIC_PARTITION, ErrorCode.COORDINATOR_NOT_AVAILABLE),)
    assert committed(world) == -1


def test_too_large_for_the_topic(world):
    reply = commit(world, metadata="x" * 3000)
    assert reply.replies[0].partitions == ((TOPIC_PARTITION, ErrorCode.INVALID_COMMIT_OFFSET_SIZE),)
    assert world.partition.batches == []


def test_followers_that_take_too_long(world):
    reply = commit(world)
    world.loop.advance(5000)
    assert reply.codes == [ErrorCode.COORDINATOR_NOT_AVAILABLE]
    world.partition.commit(1)
    world.loop.turn()
    assert reply.count == 1


def test_reading_waits_for_what_was_written(world):
    told = []
    commit(world)
    world.driver.read(told.append)
    assert told == []
    world.partition.commit(1)
    world.loop.turn()
    assert told == [ErrorCode.NONE]


def test_resigning_completes_every_request_once(world):
    waiting = commit(world)
    parked = RecordedReply()
    first = join_request("", known=False, session_timeout_ms=6000)
    world.driver.run(lambda shard, now_ms: shard.join_group(first, now_ms), parked)
    world.driver.resign()
    assert waiting.codes == [ErrorCode.NOT_COORDINATOR]
    assert parked.count == 1
    world.loop.advance(100_000)
    world.partition.commit(100)
    world.loop.turn()
    assert (waiting.count, parked.count) == (1, 1)
    assert world.loop.waiting == 0


def test_sessions_end_by_monotonic_time(world):
    world.partition.alone = True
    reply = RecordedReply()
    request = join_request("", known=False, session_timeout_ms=6000, rebalance_timeout_ms=60_000)
    world.driver.run(lambda shard, now_ms: shard.join_group(request, now_ms), reply)
    world.loop.advance(0)
    assert reply.replies[0].error_code is ErrorCode.NONE
    world.loop.clock.jump_wall(10 * 365 * 86_400_000)
    world.loop.advance(5000)
    assert world.shard.describe_group("g").members
    world.loop.advance(2000)
    assert not world.shard.describe_group("g").members


def test_offsets_of_a_transaction_are_written_under_its_producer(world):
    reply = RecordedReply()
    request = TxnOffsetCommitRequest("g", "x", 7, 3, (OffsetToCommit("t", 0, 9),))
    world.driver.run(lambda shard, now_ms: shard.commit_txn_offsets(request, now_ms), reply)
    header, records = world.partition.batches[0]
    assert (header.producer_id, header.producer_epoch, header.is_transactional) == (7, 3, True)
    assert len(records) == 1
    assert committed(world) == -1
    world.driver.marker_appended(7, 2, commit=True)
    assert committed(world) == 9
    world.partition.commit(1)
    world.loop.turn()
    assert reply.count == 1, "its own record is committed, the marker is not"


def test_after_a_marker_readers_wait_for_it(world):
    told = []
    world.driver.marker_appended(7, 1, commit=True)
    world.driver.read(told.append)
    assert told == []
    world.partition.commit(1)
    world.loop.turn()
    assert told == [ErrorCode.NONE]


def test_replayed_records_are_state(world):
    commit(world, 5)
    _, records = world.partition.batches[0]
    other = GroupCoordinatorShard(GroupConfig(), image(t=4), lambda: "id")
    driver = GroupShardDriver(other, FakeLedPartition(world.loop), world.settings)
    driver.replay(records[0].key, records[0].value, -1)
    driver.activate()
    assert other.fetch_offsets(OffsetFetchRequest("g", (TOPIC_PARTITION,))).offsets[0].offset == 5
