"""Transactions while their leaders and coordinators are killed: whole or not at all, and once."""

import asyncio

import pytest
from support.cluster.workload import leader_of, leaders, wait_until
from support.transactions.requests import TxnPeer
from support.transactions.transactional_load import TransactionWriter, torn_transactions
from support.wire.peer import WirePeer

from barnabas.model.error_codes import ErrorCode

pytestmark = [pytest.mark.faults, pytest.mark.xdist_group("cluster")]

PARTITIONS = 3
KILLS = 2


def test_transactions_are_whole_across_fail_over(cluster, topic_name):
    cluster.topic(topic_name, partitions=PARTITIONS)
    wait_until(lambda: all(len(p.isr) == 3 for p in leaders(cluster, topic_name).values()))
    writer = TransactionWriter(cluster, topic_name, PARTITIONS)
    writer.start()
    wait_until(lambda: len(writer.committed) > 5, what="the first transactions")
    for turn in range(KILLS):
        place = ("__transaction_state", topic_name)[turn % 2]
        victim = leader_of(cluster, place)
        cluster.kill(victim)
        before = len(writer.committed)
        wait_until(lambda before=before: len(writer.committed) > before + 5, what="commits")
        cluster.start(victim)
    writer.stop()
    assert writer.error is None
    found = {}
    # The last one is committed before its markers are everywhere.
    written = {"at_least": PARTITIONS * len(writer.committed), "timeout": 30}
    for record in cluster.records(topic_name, read_committed=True, **written):
        found.setdefault(record.value, []).append(record.partition)
    assert torn_transactions(found, PARTITIONS, writer.committed) == (set(), set())
    print(f"transactions: {len(writer.committed)} committed, {writer.aborted} aborted")


def test_follower_rejects_a_transactional_batch_as_not_leader(cluster, topic_name):
    """With INVALID_TXN_STATE, clients abort and do not look for the new leader.

    A broker that lost its session while it was suspended or had no CPU time is such a follower.
    """
    cluster.topic(topic_name)
    wait_until(lambda: len(leaders(cluster, topic_name)[0].isr) == 3)
    leader = leader_of(cluster, topic_name)
    codes = asyncio.run(codes_of_brokers(cluster, topic_name))
    assert codes.pop(leader) == ErrorCode.NONE
    assert set(codes.values()) == {ErrorCode.NOT_LEADER_OR_FOLLOWER}


async def codes_of_brokers(cluster, topic):
    """The error of each broker for the first batch of a transaction; the leader is last."""
    leader = leader_of(cluster, topic)
    peers = {n: await WirePeer.connect(broker.port) for n, broker in cluster.brokers.items()}
    try:
        txn = await initialized(peers.values(), topic)
        assert await txn.add(topic) == 0
        return {
            number: await TxnPeer(peers[number], topic, txn.producer_id, txn.epoch).write(
                topic, b"a"
            )
            for number in sorted(peers, key=lambda number: number == leader)
        }
    finally:
        for peer in peers.values():
            await peer.close()


async def initialized(peers, transactional_id):
    """A producer at the broker that coordinates its transactions."""
    async with asyncio.timeout(60):
        while True:
            for peer in peers:
                txn = TxnPeer(peer, transactional_id)
                if await txn.init() == 0:
                    return txn
