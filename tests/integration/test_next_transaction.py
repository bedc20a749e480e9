"""The next transaction of a producer begins before the markers of the last one are written.

Clients that get CONCURRENT_TRANSACTIONS wait for their backoff, so the broker waits for the markers
instead. The broker forces every append to disk, so the markers are written after the response to
EndTxn; nothing here depends on how long that takes.
"""

import pytest
from support.groups.requests import SMALL, find_coordinator
from support.network.requests import create_topic
from support.transactions.requests import TxnPeer

from barnabas.wire.messages.end_txn import EndTxnRequest

pytestmark = pytest.mark.integration

PARTITIONS = 10
TRANSACTIONS = 20
SETTINGS = {
    **SMALL,
    "fsync.before.ack": True,
    "add.partitions.to.txn.retry.backoff.max.ms": "30000",
}


@pytest.fixture
async def broker_app(start):
    return await start(SETTINGS)


@pytest.fixture
async def txn(peer):
    await find_coordinator(peer, "g")
    await create_topic(peer, "t", PARTITIONS)
    producer = TxnPeer(peer)
    assert await producer.init() == 0
    return producer


async def end_without_waiting(txn):
    """EndTxn of transaction version 2: its response contains the next epoch."""
    request = EndTxnRequest(txn.transactional_id, txn.producer_id, txn.epoch, True)
    answer = await txn.peer.call(request, 5)
    assert answer.error_code == 0
    txn.producer_id, txn.epoch, txn.sequences = answer.producer_id, answer.producer_epoch, {}


async def test_no_batch_of_the_next_transaction_is_rejected(txn):
    for number in range(TRANSACTIONS):
        for partition in range(PARTITIONS):
            assert await txn.write("t", b"%d" % number, partition=partition, version=12) == 0
        await end_without_waiting(txn)
