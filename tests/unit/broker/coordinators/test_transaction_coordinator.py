"""A running shard of transactions: appends, markers, producer ids, its timer."""

import asyncio
from types import SimpleNamespace

import pytest
from support.clients.manual_loop import FakeLedPartition, ManualLoop
from support.groups.recorded_reply import RecordedReply

from barnabas.broker.coordinators.shard_runtime import SteadyClock
from barnabas.broker.coordinators.transaction_coordinator import (
    TransactionSettings,
    TransactionShardDriver,
)
from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import UnavailableError
from barnabas.model.ids import TopicPartition
from barnabas.transactions.requests import AddPartitions, EndTxn, InitProducerId, TransactionConfig
from barnabas.transactions.shard import TransactionCoordinatorShard

TOPIC_PARTITION = TopicPartition("t", 0)


class FakeIds:
    """A block of ids at hand, or one that must be claimed first."""

    def __init__(self, at_hand=True):
        self.at_hand = at_hand
        self.error = None

    def try_next(self):
        return 1000 if self.at_hand else None

    async def next(self):
        if self.error is not None:
            raise self.error
        return 2000


class FakeMarkers:
    def __init__(self):
        self.sends = []

    def deliver(self, send, written):
        self.sends.append((send, written))


@pytest.fixture
def world():
    return make()


def make(alone=True, at_hand=True):
    loop, ids, markers = ManualLoop(), FakeIds(at_hand), FakeMarkers()
    partition = FakeLedPartition(loop, alone=alone)
    settings = TransactionSettings(
        clock=loop.clock,
        steady=SteadyClock(loop.clock),
        schedule=loop.schedule,
        call_soon=loop.call_soon,
        commit_timeout_ms=3000,
        producer_ids=ids,
        markers=markers,
    )
    shard = TransactionCoordinatorShard(5, TransactionConfig(abort_scan_interval_ms=1000))
    driver = TransactionShardDriver(shard, partition, settings)
    driver.activate()
    return SimpleNamespace(**locals())


def init(world):
    recorded = RecordedReply()
    request = InitProducerId("x", 2000)
    world.driver.run(lambda s, now, new: s.init_producer_id(request, now, new), recorded)
    return recorded


def add(world):
    recorded = RecordedReply()
    request = AddPartitions("x", 1000, 0, frozenset({TOPIC_PARTITION}))
    world.driver.run(lambda s, now, _: s.add_partitions(request, now), recorded)
    return recorded


def end(world, commit=True):
    recorded = RecordedReply()
    request = EndTxn("x", 1000, 0, commit)
    world.driver.run(lambda s, now, new: s.end_txn(request, now, new), recorded)
    return recorded


def state(world):
    return world.shard.describe_transaction("x").state.label


def test_a_transaction_is_complete_after_its_markers_are_written(world):
    reply = init(world).replies[0]
    assert (reply.producer_id, reply.producer_epoch) == (1000, 0)
    assert add(world).error is ErrorCode.NONE
    assert end(world).error is ErrorCode.NONE
    assert state(world) == "PrepareCommit"
    assert world.markers.sends == [], "the answer goes out first"
    world.loop.turn()
    ((send, written),) = world.markers.sends
    assert (send.partitions, send.commit, send.coordinator_epoch) == ((TOPIC_PARTITION,), True, 5)
    written({TOPIC_PARTITION: ErrorCode.NONE}, frozenset())
    assert state(world) == "CompleteCommit"


def test_a_failed_marker_is_sent_again(world):
    init(world), add(world), end(world, commit=False)
    world.loop.turn()
    world.markers.sends[0][1]({TOPIC_PARTITION: ErrorCode.NOT_LEADER_OR_FOLLOWER}, frozenset())
    assert state(world) == "PrepareAbort"
    world.loop.advance(100)
    world.markers.sends[1][1]({}, frozenset({TOPIC_PARTITION}))
    assert state(world) == "CompleteAbort"


def test_reply_waits_for_the_commit():
    world = make(alone=False)
    recorded = init(world)
    assert recorded.replies == []
    assert init(world).error is ErrorCode.CONCURRENT_TRANSACTIONS
    world.partition.commit(1)
    world.loop.turn()
    assert recorded.error is ErrorCode.NONE


def test_uncommitted_decision_sends_no_markers():
    world = make()
    init(world), add(world)
    world.partition.alone = False
    recorded = end(world)
    assert world.markers.sends == []
    assert recorded.replies == []
    world.partition.commit(world.partition.log.log_end_offset)
    world.loop.turn()
    assert recorded.error is ErrorCode.NONE
    world.loop.turn()
    assert len(world.markers.sends) == 1


def test_a_coordinator_that_resigned_sends_no_markers(world):
    init(world), add(world), end(world)
    world.driver.resign()
    world.loop.turn()
    assert world.markers.sends == []


def test_a_failed_append_is_reported_and_undone(world):
    init(world)
    world.partition.fail_next = ErrorCode.NOT_ENOUGH_REPLICAS
    assert add(world).error is ErrorCode.COORDINATOR_NOT_AVAILABLE
    assert add(world).error is ErrorCode.NONE


def test_followers_that_take_too_long():
    world = make(alone=False)
    recorded = init(world)
    world.loop.advance(3000)
    assert recorded.error is ErrorCode.COORDINATOR_NOT_AVAILABLE


def test_silent_transaction_is_aborted_by_the_timer(world):
    init(world), add(world)
    world.loop.clock.jump_wall(86_400_000)
    world.loop.advance(1000)
    assert state(world) == "Ongoing", "the wall clock does not count"
    world.loop.advance(3000)
    assert state(world) == "PrepareAbort"
    assert world.markers.sends[0][0].producer_epoch == 1


def test_resigning_completes_pending_requests_with_an_error():
    world = make(alone=False)
    recorded = init(world)
    world.driver.resign()
    assert recorded.error is ErrorCode.NOT_COORDINATOR
    assert init(world).error is ErrorCode.NOT_COORDINATOR
    world.loop.advance(100_000)
    assert world.loop.waiting == 0


async def test_producer_id_is_claimed_when_none_is_at_hand():
    world = make(at_hand=False)
    recorded = init(world)
    assert recorded.replies == []
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    assert recorded.replies[0].producer_id == 2000


async def test_no_producer_id_to_be_had():
    world = make(at_hand=False)
    world.ids.error = UnavailableError("the tree is away")
    recorded = init(world)
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    assert recorded.codes == [ErrorCode.COORDINATOR_NOT_AVAILABLE]


def test_replay_goes_on_with_decided_transactions(world):
    init(world), add(world), end(world)
    records = [record for _, records in world.partition.batches for record in records]
    other = make()
    fresh = TransactionCoordinatorShard(6, TransactionConfig())
    driver = TransactionShardDriver(fresh, FakeLedPartition(other.loop), other.settings)
    for record in records:
        driver.replay(record.key, record.value, -1)
    driver.activate()
    send, _ = other.markers.sends[-1]
    assert (send.partitions, send.commit, send.coordinator_epoch) == ((TOPIC_PARTITION,), True, 6)
