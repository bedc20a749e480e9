"""Repeated and reordered requests of a transaction: markers, EndTxn, AddPartitionsToTxn.

Markers before transaction version 2 have the epoch of the producer's next transaction, so a marker
that is handled too late can end that one. The codes are those of Apache Kafka 4.3.
"""

import asyncio

import pytest
from support.groups.requests import SMALL, find_coordinator
from support.network.requests import create_topic, fetch_request, list_offset
from support.transactions.requests import TxnPeer

from barnabas.model.error_codes import ErrorCode
from barnabas.wire.messages.add_partitions_to_txn import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnTopic,
    AddPartitionsToTxnTransaction,
)
from barnabas.wire.messages.write_txn_markers import (
    WritableTxnMarker,
    WritableTxnMarkerTopic,
    WriteTxnMarkersRequest,
)

pytestmark = pytest.mark.integration
COMMITTED = 1
OLD, NEW = 4, 5
"""Versions of EndTxn: of transaction version 1 and 2."""


@pytest.fixture
async def broker_app(start):
    return await start(SMALL)


@pytest.fixture
async def txn(peer):
    await find_coordinator(peer, "g")
    await create_topic(peer, "t", 2)
    producer = TxnPeer(peer)
    assert await producer.init() == 0
    return producer


async def ends(peer, partition=0):
    """The end of the log and the last stable offset."""
    end = await list_offset(peer, "t", -1, partition=partition)
    stable = await list_offset(peer, "t", -1, partition=partition, isolation_level=COMMITTED)
    return end.offset, stable.offset


async def end_of_other_connections(broker):
    """Waits until the broker has only the connection of `peer`."""
    async with asyncio.timeout(60):
        while len(broker._listeners.connections("PLAINTEXT")) > 1:
            await asyncio.sleep(0.01)


def marker(txn, *partitions, commit=True):
    topics = [WritableTxnMarkerTopic("t", list(partitions or [0]))]
    return WriteTxnMarkersRequest([WritableTxnMarker(txn.producer_id, txn.epoch, commit, topics)])


async def committed_transaction(txn, version=OLD):
    assert await txn.add("t") == 0
    assert await txn.write("t", b"a") == 0
    assert await txn.end(commit=True, version=version) == 0


async def test_repeated_marker_is_not_written_again(peer, txn):
    await committed_transaction(txn)
    before = await ends(peer)
    result = (await peer.call(marker(txn), 1)).markers[0]
    assert result.topics[0].partitions[0].error_code == 0
    assert await ends(peer) == before


async def test_markers_do_not_wait_for_those_of_other_transactions(broker_app, peer, txn):
    """The first one waits for its followers; the second one is written meanwhile."""
    writer = broker_app.services.coordinators.marker_writer
    waiting = []

    def write(end, partitions, purgatory, timeout_ms, done):
        waiting.append(lambda: done(dict.fromkeys(partitions, ErrorCode.NONE)))

    writer.write = write
    numbers = [peer.send(marker(txn), 1), peer.send(marker(txn), 1)]
    async with asyncio.timeout(60):
        while len(waiting) < len(numbers):
            await asyncio.sleep(0.01)
    for answer in reversed(waiting):
        answer()
    for number in numbers:
        response = await peer.receive(marker(txn).API_KEY, 1, number)
        assert response.markers[0].topics[0].partitions[0].error_code == 0


async def test_brokers_adding_partitions_do_not_wait_for_each_other(broker_app, peer, txn):
    """Passes when the second request starts before the first has its response."""
    manager = broker_app.services.coordinators.local_add_partitions
    waiting = []
    manager.add_or_verify = lambda request, answered: waiting.append(
        lambda: answered(dict.fromkeys(request.partitions, ErrorCode.NONE))
    )
    topics = [AddPartitionsToTxnTopic("t", [0])]
    one = AddPartitionsToTxnTransaction("x", txn.producer_id, txn.epoch, False, topics)
    request = AddPartitionsToTxnRequest([one])
    numbers = [peer.send(request, 5), peer.send(request, 5)]
    async with asyncio.timeout(60):
        while len(waiting) < len(numbers):
            await asyncio.sleep(0.01)
    for answer in waiting:
        answer()
    for number in numbers:
        await peer.receive(request.API_KEY, 5, number)


async def test_marker_of_a_coordinator_that_has_closed_its_connection_ends_nothing(
    broker_app, peer, connect, txn
):
    """The coordinator has repeated it on another connection and completed the transaction."""
    await committed_transaction(txn)
    coordinator = await connect(broker_app)
    end, _ = await ends(peer, partition=1)
    coordinator.send(fetch_request("t", end, partition=1, max_wait_ms=700, min_bytes=1), 11)
    coordinator.send(marker(txn), 1)
    await coordinator.writer.drain()
    coordinator.writer.close()
    assert await txn.add("t") == 0
    assert await txn.write("t", b"b") == 0
    opened = await ends(peer)
    assert opened[0] - opened[1] == 1
    await end_of_other_connections(broker_app)
    assert await ends(peer) == opened
    assert await txn.end(commit=False) == 0


async def test_end_txn_is_repeated_after_the_transaction_is_complete(txn):
    await committed_transaction(txn)
    assert await txn.end(commit=True) == 0
    assert await txn.end(commit=False) == ErrorCode.INVALID_TXN_STATE


async def test_end_txn_of_version_2_is_repeated_with_the_epoch_before(txn):
    epoch = txn.epoch
    await committed_transaction(txn, NEW)
    assert txn.epoch == epoch + 1
    assert await txn.end(commit=True, version=NEW, epoch=epoch) == 0
    assert await txn.end(commit=False, version=NEW, epoch=epoch) == ErrorCode.INVALID_TXN_STATE


async def test_late_add_partitions_of_version_1_opens_a_transaction(peer, txn):
    """As in Kafka: the epoch is the same, so it looks like a request of the next transaction."""
    await committed_transaction(txn)
    assert await txn.add("t") == 0
    assert await txn.add("t", 1) == 0
    assert await txn.end(commit=True) == 0


async def test_late_add_partitions_of_version_2_is_fenced(peer, txn):
    epoch = txn.epoch
    await committed_transaction(txn, NEW)
    late = TxnPeer(peer, "x", txn.producer_id, epoch)
    assert await late.add("t") == ErrorCode.PRODUCER_FENCED


async def test_marker_before_the_first_record_of_its_transaction(peer, txn):
    """It ends the verification, so a late batch cannot open a transaction that never ends."""
    await committed_transaction(txn)
    assert await txn.add("t") == 0
    assert await txn.end(commit=False) == 0
    assert await txn.write("t", b"late") == ErrorCode.TRANSACTION_ABORTABLE
