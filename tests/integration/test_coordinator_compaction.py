"""The coordinators' logs are compacted while in use, and load to the same state."""

import asyncio

import pytest
from support.groups.requests import SMALL, alone, commit, committed, find_coordinator, heartbeat
from support.network.requests import create_topic
from support.transactions.requests import TxnPeer

from barnabas.model.error_codes import ErrorCode
from barnabas.model.ids import OFFSETS_TOPIC, TRANSACTIONS_TOPIC, TopicPartition

pytestmark = pytest.mark.integration
EAGER = {
    **SMALL,
    "offsets.topic.segment.bytes": 8 * 1024,
    "transaction.state.log.segment.bytes": 8 * 1024,
    "log.cleaner.min.cleanable.ratio": 0.01,
    "log.cleaner.backoff.ms": 20,
}


def log_of(broker, topic):
    return broker.services.logs.get(TopicPartition(topic, 0))


async def loaded(peer):
    while await heartbeat(peer, "nobody", 1, group="none") != ErrorCode.UNKNOWN_MEMBER_ID:
        await asyncio.sleep(0.01)


async def shrunk(broker, topic, below_bytes):
    for _ in range(500):
        if log_of(broker, topic).size_bytes < below_bytes:
            return
        await asyncio.sleep(0.02)
    raise AssertionError(f"{log_of(broker, topic).size_bytes} bytes")


async def test_offsets(start, connect):
    broker = await start(EAGER)
    peer = await connect(broker)
    await find_coordinator(peer, "g")
    await create_topic(peer, "t", 3)
    member, generation = await alone(peer, "members")
    for number in range(600):
        assert await commit(peer, "t", number, partition=number % 3) == 0
    await shrunk(broker, OFFSETS_TOPIC, 30 * 1024)
    await broker.stop()
    broker = await start(EAGER)
    peer = await connect(broker)
    await loaded(peer)
    found = [(await committed(peer, "t", partition=n)).committed_offset for n in range(3)]
    assert found == [597, 598, 599]
    assert await heartbeat(peer, member, generation, group="members") == 0


async def test_transactions_and_their_offsets(start, connect):
    broker = await start(EAGER)
    peer = await connect(broker)
    await find_coordinator(peer, "g")
    await create_topic(peer, "t")
    txn = TxnPeer(peer)
    await txn.init()
    for number in range(150):
        await txn.add_offsets("g")
        await txn.commit_offset("g", "t", number)
        assert await txn.end(commit=number % 2 == 0) == 0
    await shrunk(broker, TRANSACTIONS_TOPIC, 20 * 1024)
    await shrunk(broker, OFFSETS_TOPIC, 40 * 1024)
    await txn.add_offsets("g")
    await txn.commit_offset("g", "t", 1000)
    await broker.stop()
    broker = await start(EAGER)
    txn.peer = peer = await connect(broker)
    await loaded(peer)
    assert (await committed(peer, "t")).committed_offset == 148
    unstable = await committed(peer, "t", require_stable=True)
    assert unstable.error_code == ErrorCode.UNSTABLE_OFFSET_COMMIT
    assert await txn.end(commit=True) == 0
    assert (await committed(peer, "t", require_stable=True)).committed_offset == 1000
