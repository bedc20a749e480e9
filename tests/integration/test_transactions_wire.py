"""Transactions over the wire: versions, both protocols, zombies, late requests, administration."""

import asyncio

import pytest
from support.cluster.broker_app import until
from support.groups.requests import SMALL, alone, committed, find_coordinator
from support.network.requests import (
    batch,
    create_topic,
    fetch,
    list_offset,
    produce,
    produce_request,
)
from support.transactions.requests import TxnPeer

from barnabas.model.error_codes import ErrorCode
from barnabas.model.ids import OFFSETS_TOPIC, TopicPartition
from barnabas.records.reader import decode_records
from barnabas.runtime.clock import SystemClock
from barnabas.wire.messages.add_partitions_to_txn import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnTopic,
    AddPartitionsToTxnTransaction,
)
from barnabas.wire.messages.api_versions import ApiVersionsRequest
from barnabas.wire.messages.delete_topics import DeleteTopicsRequest, DeleteTopicState
from barnabas.wire.messages.describe_producers import DescribeProducersRequest, TopicRequest
from barnabas.wire.messages.describe_transactions import DescribeTransactionsRequest
from barnabas.wire.messages.end_txn import EndTxnRequest
from barnabas.wire.messages.list_transactions import ListTransactionsRequest
from barnabas.wire.messages.write_txn_markers import (
    WritableTxnMarker,
    WritableTxnMarkerTopic,
    WriteTxnMarkersRequest,
)

pytestmark = pytest.mark.integration
COMMITTED = 1


@pytest.fixture(params=[False, True], ids=["", "fsync"])
async def broker_app(start, request):
    """With fsync before acknowledgement every step waits for its commit, as with followers."""
    return await start({**SMALL, "fsync.before.ack": request.param})


@pytest.fixture
async def ready(peer):
    await find_coordinator(peer, "g")
    await create_topic(peer, "t", 3)
    return peer


@pytest.fixture
async def txn(ready):
    producer = TxnPeer(ready)
    assert await producer.init() == 0
    return producer


async def read(peer, topic="t", *, partition=0, isolation=COMMITTED):
    values, offset = [], 0
    while True:  # a fetch gives records of one segment at most
        answer = await fetch(peer, topic, offset, partition=partition, isolation_level=isolation)
        if not answer.records:
            return values
        aborted = [(one.producer_id, one.first_offset) for one in answer.aborted_transactions or ()]
        decoded = decode_records(
            answer.records, topic, partition, fetch_offset=offset, aborted=aborted
        )
        values += [record.value for record in decoded.records]
        offset = decoded.next_offset


async def lag_of_stable(peer, partition=0):
    """How far the last stable offset is behind the end."""
    end = await list_offset(peer, "t", -1, partition=partition)
    stable = await list_offset(peer, "t", -1, partition=partition, isolation_level=COMMITTED)
    return end.offset - stable.offset


# --- the first protocol: partitions are added by the client ---


@pytest.mark.parametrize("version", range(6))
async def test_every_init_version(ready, version):
    producer = TxnPeer(ready)
    assert await producer.init(version=version) == 0
    assert producer.epoch == 0
    assert await producer.init(version=version) == 0
    assert producer.epoch == 1


@pytest.mark.parametrize("version", range(4))
async def test_every_add_version(txn, version):
    assert await txn.add("t", 0, 1, version=version) == 0
    assert await txn.write("t", b"a", partition=1) == 0


@pytest.mark.parametrize("version", range(5))
async def test_every_end_version(ready, txn, version):
    for commit in (True, False):
        assert await txn.add("t") == 0
        assert await txn.write("t", b"kept" if commit else b"dropped") == 0
        assert await txn.end(commit=commit, version=version) == 0
    assert await read(ready) == [b"kept"]
    assert await read(ready, isolation=0) == [b"kept", b"dropped"]
    assert await lag_of_stable(ready) == 0


@pytest.mark.parametrize("version", range(3, 12))
async def test_every_produce_version_writes_in_a_transaction(ready, txn, version):
    assert await txn.add("t") == 0
    assert await txn.write("t", b"a", version=version) == 0
    assert await read(ready) == []
    assert await txn.end(commit=True) == 0
    assert await read(ready) == [b"a"]


async def test_readers_stop_at_the_first_open_transaction(ready, txn):
    await produce(ready, "t", batch(b"before"))
    assert await txn.add("t") == 0
    assert await txn.write("t", b"open") == 0
    await produce(ready, "t", batch(b"after"))
    assert await read(ready) == [b"before"]
    assert await lag_of_stable(ready) == 2
    assert await txn.end(commit=True) == 0
    assert await read(ready) == [b"before", b"open", b"after"]
    assert await lag_of_stable(ready) == 0


async def test_waiting_reader_is_woken_by_the_marker(broker_app, ready, txn, connect):
    reader = await connect(broker_app)
    await txn.add("t")
    await txn.write("t", b"a")
    waiting = asyncio.create_task(
        fetch(reader, "t", 0, isolation_level=COMMITTED, max_wait_ms=90_000)
    )
    await until(lambda: len(broker_app.services.fetch_purgatory) == 1)
    assert not waiting.done()
    await txn.end(commit=True)
    answer = await asyncio.wait_for(waiting, 60)  # before the end of its own wait
    assert [r.value for r in decode_records(answer.records, "t", 0).records] == [b"a"]


async def test_unknown_partitions_keep_the_others_out(txn):
    assert await txn.add("nowhere", 0) == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert await txn.add(OFFSETS_TOPIC, 0) == ErrorCode.TOPIC_AUTHORIZATION_FAILED
    assert await txn.add("t", 0, 77) == ErrorCode.OPERATION_NOT_ATTEMPTED
    assert await txn.write("t", b"a") == ErrorCode.TRANSACTION_ABORTABLE


async def test_write_without_adding_is_rejected(ready, txn):
    """KAFKA-12671: it would open a transaction that never ends."""
    assert await txn.write("t", b"late") == ErrorCode.TRANSACTION_ABORTABLE
    assert await txn.write("t", b"late", version=9) == ErrorCode.INVALID_TXN_STATE
    await txn.add("t")
    await txn.write("t", b"a")
    await txn.end(commit=True)
    late = await txn.write("t", b"late", sequence=1)
    assert late == ErrorCode.TRANSACTION_ABORTABLE
    assert await lag_of_stable(ready) == 0
    assert await read(ready, isolation=0) == [b"a"]


@pytest.mark.parametrize("version", [9, 11, 12])
async def test_a_broker_that_does_not_lead_reports_it(broker_app, txn, version):
    """A client aborts after INVALID_TXN_STATE and never searches for the new leader."""
    if version < 12:
        await txn.add("t")
    broker_app.services.replicas.partition(TopicPartition("t", 0)).resign()
    assert await txn.write("t", b"a", version=version) == ErrorCode.NOT_LEADER_OR_FOLLOWER
    unknown = await txn.write("nowhere", b"a", version=version)
    assert unknown == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    unknown = await txn.write("t", b"a", partition=77, version=version)
    assert unknown == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    internal = await txn.write(OFFSETS_TOPIC, b"a", version=version)
    assert internal == ErrorCode.INVALID_TOPIC_EXCEPTION


async def test_leadership_comes_before_the_records(broker_app, ready):
    """Only the leader validates records, whatever error they have."""
    broker_app.services.replicas.partition(TopicPartition("t", 0)).resign()
    damaged = bytearray(batch(b"a"))
    damaged[-1] ^= 1
    answer = await produce(ready, "t", damaged)
    assert answer.error_code == ErrorCode.NOT_LEADER_OR_FOLLOWER


async def test_transactional_batch_needs_a_transactional_id(ready, txn):
    await txn.add("t")
    records = batch(
        b"a", producer_id=txn.producer_id, producer_epoch=0, base_sequence=0, transactional=True
    )
    answer = (await ready.call(produce_request("t", records), 9)).responses[0]
    code = answer.partition_responses[0].error_code
    assert code == ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED


async def test_successor_fences_and_aborts(ready, txn):
    await txn.add("t")
    await txn.write("t", b"zombie")
    successor = TxnPeer(ready)
    assert await successor.init() == 0
    assert (successor.producer_id, successor.epoch) == (txn.producer_id, 2)
    assert await txn.write("t", b"late") == ErrorCode.INVALID_PRODUCER_EPOCH
    assert await txn.add("t") == ErrorCode.PRODUCER_FENCED
    assert await txn.add("t", version=1) == ErrorCode.INVALID_PRODUCER_EPOCH
    assert await txn.end(commit=True) == ErrorCode.PRODUCER_FENCED
    assert await txn.end(commit=True, version=1) == ErrorCode.INVALID_PRODUCER_EPOCH
    assert await read(ready) == []
    assert await lag_of_stable(ready) == 0


async def test_silent_transaction_is_aborted(start, connect):
    settings = {"transaction.abort.timed.out.transaction.cleanup.interval.ms": 50}
    peer = await connect(await start({**SMALL, **settings}))
    await create_topic(peer, "t")
    txn = TxnPeer(peer)
    await txn.init(timeout_ms=2000)  # it must be open until the next three requests are served
    assert await txn.add("t") == 0
    assert await txn.write("t", b"a") == 0
    assert await lag_of_stable(peer) == 1
    async with asyncio.timeout(60):
        while await lag_of_stable(peer) > 0:
            await asyncio.sleep(0.05)
    assert await read(peer) == []
    assert await txn.end(commit=True) == ErrorCode.PRODUCER_FENCED


async def test_timeout_beyond_the_limit(ready):
    code = await TxnPeer(ready).init(timeout_ms=900_001)
    assert code == ErrorCode.INVALID_TRANSACTION_TIMEOUT


async def test_deleted_topic_does_not_hold_the_transaction_up(ready, txn):
    await create_topic(ready, "gone")
    await txn.add("gone")
    await txn.add("t")
    await txn.write("t", b"a")
    request = DeleteTopicsRequest(topics=[DeleteTopicState("gone")], timeout_ms=5000)
    assert (await ready.call(request, 6)).responses[0].error_code == 0
    assert await txn.end(commit=True) == 0
    assert await read(ready) == [b"a"]
    state = (await ready.call(DescribeTransactionsRequest(["x"]), 0)).transaction_states[0]
    assert state.transaction_state == "CompleteCommit"


# --- the second protocol: partitions join by being written to (KIP-890) ---


async def test_features_tell_of_the_second_protocol(peer):
    for version in (3, 4):
        answer = await peer.call(ApiVersionsRequest("test", "1"), version)
        levels = {one.name: one.max_version_level for one in answer.finalized_features}
        assert levels == {"transaction.version": 2, "group.version": 1}
        assert answer.finalized_features_epoch == 0
    assert {one.name for one in answer.supported_features} == set(levels)


@pytest.mark.parametrize("version", [12, 13])
async def test_transactions_without_adding(ready, version):
    topic_id = await create_topic(ready, "ids")
    txn = TxnPeer(ready)
    assert await txn.init(version=5) == 0
    epochs = []
    for commit in (True, False, True):
        value = b"kept" if commit else b"dropped"
        assert await _write_by_id(txn, "ids", topic_id, value, version) == 0
        assert await _write_by_id(txn, "ids", topic_id, value, version) == 0
        epochs.append(txn.epoch)
        assert await txn.end(commit=commit, version=5) == 0
    assert epochs == [0, 1, 2]
    assert await read(ready, "ids") == [b"kept"] * 4


async def _write_by_id(txn, topic, topic_id, value, version):
    if version < 13:
        return await txn.write(topic, value, version=version)
    first = txn.sequences.get(topic, 0)
    records = batch(
        value,
        producer_id=txn.producer_id,
        producer_epoch=txn.epoch,
        base_sequence=first,
        transactional=True,
        timestamp_ms=SystemClock().now_ms(),
    )
    request = produce_request(topic, records, transactional_id="x")
    request.topic_data[0].topic_id = topic_id
    answer = (await txn.peer.call(request, version)).responses[0].partition_responses[0]
    txn.sequences[topic] = first + 1
    return answer.error_code


async def test_late_end_does_not_decide_the_next_transaction(ready, txn):
    """KAFKA-17754: an EndTxn that was under way while the client went on."""
    await txn.write("t", b"first", version=12)
    old = txn.epoch
    assert await txn.end(commit=True, version=5) == 0
    await txn.write("t", b"second", version=12)
    assert await txn.end(commit=False, version=5, epoch=old) == ErrorCode.PRODUCER_FENCED
    assert await txn.end(commit=True, version=5, epoch=old) == ErrorCode.PRODUCER_FENCED
    assert await read(ready) == [b"first"]
    assert await txn.end(commit=True, version=5) == 0
    assert await read(ready) == [b"first", b"second"]


async def test_repeated_end_is_answered_as_the_first(txn):
    await txn.write("t", b"a", version=12)
    old = txn.epoch
    assert await txn.end(commit=True, version=5) == 0
    assert await txn.end(commit=True, version=5, epoch=old) == 0
    assert await txn.end(commit=False, version=5, epoch=old) == ErrorCode.INVALID_TXN_STATE


async def test_late_write_does_not_reach_the_next_transaction(ready, txn):
    await txn.write("t", b"a", version=12)
    old, sequence = txn.epoch, txn.sequences["t", 0]
    await txn.end(commit=True, version=5)
    late = TxnPeer(ready, producer_id=txn.producer_id, epoch=old)
    code = await late.write("t", b"late", version=12, sequence=sequence)
    assert code == ErrorCode.INVALID_PRODUCER_EPOCH
    assert await lag_of_stable(ready) == 0


async def test_abort_of_nothing(txn):
    """A producer whose write failed cannot know whether its partition joined."""
    assert await txn.end(commit=False, version=5) == 0
    assert txn.epoch == 1
    assert await txn.end(commit=True, version=5) == ErrorCode.INVALID_TXN_STATE


async def test_both_protocols_in_turn(ready, txn):
    await txn.add("t")
    await txn.write("t", b"1")
    assert await txn.end(commit=True) == 0
    await txn.write("t", b"2", version=12)
    assert await txn.end(commit=True, version=5) == 0
    await txn.add("t")
    await txn.write("t", b"3")
    assert await txn.end(commit=True) == 0
    assert await read(ready) == [b"1", b"2", b"3"]


async def test_brokers_verify_and_add(ready, txn):
    def request(verify_only, *partitions):
        topics = [AddPartitionsToTxnTopic("t", list(partitions))]
        one = AddPartitionsToTxnTransaction("x", txn.producer_id, txn.epoch, verify_only, topics)
        return AddPartitionsToTxnRequest(transactions=[one])

    async def codes(asked, version):
        result = (await ready.call(asked, version)).results_by_transaction[0]
        return [one.partition_error_code for one in result.topic_results[0].results_by_partition]

    await txn.add("t", 0)
    assert sorted(await codes(request(True, 0, 1), 4)) == [0, ErrorCode.TRANSACTION_ABORTABLE]
    assert await codes(request(False, 1), 5) == [0]
    assert await codes(request(True, 1), 4) == [0]


# --- offsets ---


@pytest.mark.parametrize("version", range(6))
async def test_every_offset_commit_version(ready, txn, version):
    if version < 5:
        assert await txn.add_offsets("g", version=min(version, 4)) == 0
    assert await txn.commit_offset("g", "t", 7, version=version) == 0
    assert (await committed(ready, "t")).committed_offset == -1
    unstable = await committed(ready, "t", require_stable=True)
    assert unstable.error_code == ErrorCode.UNSTABLE_OFFSET_COMMIT
    assert await txn.end(commit=True, version=5 if version == 5 else 4) == 0
    found = await committed(ready, "t", require_stable=True)
    assert (found.committed_offset, found.metadata) == (7, "in transaction")


async def test_offsets_are_added_before_any_group_exists(peer):
    await create_topic(peer, "t")
    txn = TxnPeer(peer)
    assert await txn.init() == 0
    assert await txn.add_offsets("g") == ErrorCode.COORDINATOR_LOAD_IN_PROGRESS
    assert await txn.add_offsets("g") == 0
    assert await txn.commit_offset("g", "t", 7) == 0
    assert await txn.end(commit=True) == 0
    assert (await committed(peer, "t")).committed_offset == 7


async def test_aborted_offsets_are_dropped(ready, txn):
    await txn.add_offsets("g")
    await txn.commit_offset("g", "t", 7)
    assert await txn.end(commit=False) == 0
    assert (await committed(ready, "t", require_stable=True)).committed_offset == -1


async def test_offsets_need_to_be_added(ready, txn):
    assert await txn.commit_offset("g", "t", 7, version=4) == ErrorCode.TRANSACTION_ABORTABLE
    assert await txn.commit_offset("g", "t", 7, version=3) == ErrorCode.INVALID_TXN_STATE
    await txn.add_offsets("g")
    await txn.commit_offset("g", "t", 7)
    await txn.end(commit=True)
    assert await txn.commit_offset("g", "t", 8, version=4) == ErrorCode.TRANSACTION_ABORTABLE


async def test_stale_members_do_not_commit(ready, txn):
    member, generation = await alone(ready)
    await txn.add_offsets("g")
    fields = {"member_id": member, "generation_id": generation}
    assert await txn.commit_offset("g", "t", 1, **fields) == 0
    fields["generation_id"] += 1
    assert await txn.commit_offset("g", "t", 2, **fields) == ErrorCode.ILLEGAL_GENERATION
    fields["member_id"] = "stranger"
    assert await txn.commit_offset("g", "t", 2, **fields) == ErrorCode.UNKNOWN_MEMBER_ID


async def test_fenced_producer_commits_no_offsets(ready, txn):
    await txn.add_offsets("g")
    await txn.commit_offset("g", "t", 1)
    successor = TxnPeer(ready)
    await successor.init()
    assert await txn.commit_offset("g", "t", 2) == ErrorCode.INVALID_PRODUCER_EPOCH


# --- administration ---


async def test_transactions_are_listed_and_described(ready, txn):
    await txn.add("t", 0, 2)
    listed = (await ready.call(ListTransactionsRequest(), 2)).transaction_states
    assert [(one.transactional_id, one.transaction_state) for one in listed] == [("x", "Ongoing")]
    assert not (await ready.call(ListTransactionsRequest(["Empty"]), 0)).transaction_states
    odd = await ready.call(ListTransactionsRequest(["Nonsense"]), 0)
    assert odd.unknown_state_filters == ["Nonsense"]
    found, none = (await ready.call(DescribeTransactionsRequest(["x", "y"]), 0)).transaction_states
    assert (found.transaction_state, found.producer_id) == ("Ongoing", txn.producer_id)
    assert [(one.topic, one.partitions) for one in found.topics] == [("t", [0, 2])]
    assert none.error_code == ErrorCode.TRANSACTIONAL_ID_NOT_FOUND


@pytest.mark.parametrize("version", [1, 2])
async def test_hanging_transaction_is_ended_by_hand(ready, txn, version):
    await txn.add("t")
    await txn.write("t", b"a", b"b")
    asked = DescribeProducersRequest([TopicRequest("t", [0, 9])])
    known, unknown = (await ready.call(asked, 0)).topics[0].partitions
    state = known.active_producers[0]
    assert (state.producer_id, state.last_sequence) == (txn.producer_id, 1)
    assert state.current_txn_start_offset == 0
    assert unknown.error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    topics = [WritableTxnMarkerTopic("t", [0])]
    marker = WritableTxnMarker(txn.producer_id, txn.epoch, False, topics, 0)
    result = (await ready.call(WriteTxnMarkersRequest([marker]), version)).markers[0]
    assert result.topics[0].partitions[0].error_code == 0
    assert await lag_of_stable(ready) == 0
    assert await read(ready) == []


async def test_markers_for_what_is_not_here(ready, txn):
    topics = [WritableTxnMarkerTopic("t", [9]), WritableTxnMarkerTopic("nowhere", [0])]
    marker = WritableTxnMarker(txn.producer_id, txn.epoch, False, topics, 0)
    result = (await ready.call(WriteTxnMarkersRequest([marker]), 1)).markers[0]
    codes = {one.partitions[0].error_code for one in result.topics}
    assert codes == {ErrorCode.UNKNOWN_TOPIC_OR_PARTITION}
    assert (await ready.call(WriteTxnMarkersRequest(), 1)).markers == []


async def test_decided_transaction_is_finished_after_a_restart(start, connect):
    """The broker ends between the decision and the markers."""
    broker = await start(SMALL)
    peer = await connect(broker)
    await find_coordinator(peer, "g")
    await create_topic(peer, "t")
    txn = TxnPeer(peer)
    await txn.init()
    await txn.add("t")
    await txn.write("t", b"a")
    await txn.add_offsets("g")
    await txn.commit_offset("g", "t", 7)
    broker.services.coordinators.marker_writer.write = lambda *_: None
    request = EndTxnRequest("x", txn.producer_id, txn.epoch, True)
    assert (await peer.call(request, 3)).error_code == 0
    assert await lag_of_stable(peer) == 1
    await broker.stop()
    peer = await connect(await start(SMALL))
    for _ in range(500):
        if await lag_of_stable(peer) == 0:
            break
        await asyncio.sleep(0.01)
    assert await read(peer) == [b"a"]
    assert (await committed(peer, "t", require_stable=True)).committed_offset == 7


async def test_marker_of_an_older_coordinator_is_rejected(ready, txn):
    topics = [WritableTxnMarkerTopic("t", [0])]
    for epoch, expected in ((5, 0), (4, ErrorCode.TRANSACTION_COORDINATOR_FENCED)):
        marker = WritableTxnMarker(txn.producer_id, txn.epoch, False, topics, epoch)
        result = (await ready.call(WriteTxnMarkersRequest([marker]), 1)).markers[0]
        assert result.topics[0].partitions[0].error_code == expected
