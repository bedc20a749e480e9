"""Produce, Fetch, ListOffsets and their neighbours over the wire."""

import asyncio
import logging
import time

import pytest
from support.cluster.broker_app import until
from support.network.requests import (
    batch,
    create_topic,
    fetch,
    fetch_request,
    list_offset,
    produce,
    produce_request,
)

from barnabas.model.error_codes import ErrorCode
from barnabas.model.records import Codec
from barnabas.records.batch import iter_batches, parse_header
from barnabas.records.reader import decode_records
from barnabas.replication.partition import Partition
from barnabas.wire.messages.delete_records import (
    DeleteRecordsPartition,
    DeleteRecordsRequest,
    DeleteRecordsTopic,
)
from barnabas.wire.messages.init_producer_id import InitProducerIdRequest
from barnabas.wire.messages.offset_for_leader_epoch import (
    OffsetForLeaderEpochRequest,
    OffsetForLeaderPartition,
    OffsetForLeaderTopic,
)

pytestmark = pytest.mark.integration

UNSUPPORTED_CODEC = ErrorCode.UNSUPPORTED_COMPRESSION_TYPE


def values(answer):
    return [record.value for record in decode_records(answer.records, "t", 0).records]


@pytest.mark.parametrize("version", range(3, 13))
async def test_every_produce_version(peer, version):
    await create_topic(peer, "t")
    first = await produce(peer, "t", batch(b"a", b"b"), version=version)
    second = await produce(peer, "t", batch(b"c"), version=version, acks=1)
    assert (first.error_code, first.base_offset, second.base_offset) == (0, 0, 2)
    assert values(await fetch(peer, "t", 0)) == [b"a", b"b", b"c"]


@pytest.mark.parametrize("version", range(4, 18))
async def test_every_fetch_version(peer, version):
    topic_id = await create_topic(peer, "t")
    await produce(peer, "t", batch(b"a", b"b"))
    request = fetch_request("t", 0)
    request.topics[0].topic_id = topic_id
    response = await peer.call(request, version)
    answer = response.responses[0].partitions[0]
    assert values(answer) == [b"a", b"b"]
    assert (answer.high_watermark, answer.last_stable_offset) == (2, 2)


async def test_without_acknowledgement_nothing_is_answered(peer):
    await create_topic(peer, "t")
    peer.send(produce_request("t", batch(b"a"), acks=0), 9)
    assert values(await fetch(peer, "t", 0)) == [b"a"]


async def test_without_acknowledgement_an_error_closes(peer, caplog):
    caplog.set_level(logging.INFO)
    peer.send(produce_request("missing", batch(b"a"), acks=0), 9)
    assert await peer.is_closed()
    assert "UNKNOWN_TOPIC_OR_PARTITION" in caplog.text


@pytest.mark.parametrize(
    ("topic", "records", "fields", "expected"),
    [
        ("t", batch(b"a"), {"acks": 2}, ErrorCode.INVALID_REQUIRED_ACKS),
        ("missing", batch(b"a"), {}, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
        ("t", batch(b"a"), {"partition": 9}, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
        ("t", None, {}, ErrorCode.INVALID_RECORD),
        ("t", batch(b"a") + batch(b"b"), {}, ErrorCode.INVALID_RECORD),
        ("t", batch(b"a")[:-1], {}, ErrorCode.INVALID_RECORD),
        ("t", batch(b"a")[:-1] + b"!", {}, ErrorCode.CORRUPT_MESSAGE),
        ("t", batch(bytes(2_000_000)), {}, ErrorCode.MESSAGE_TOO_LARGE),
        (
            "t",
            batch(b"a", codec=Codec.ZSTD),
            {"version": 6},
            ErrorCode.UNSUPPORTED_COMPRESSION_TYPE,
        ),
        ("t", batch(b"a", timestamp_ms=2**60), {}, ErrorCode.INVALID_TIMESTAMP),
        (
            "t",
            batch(b"a", transactional=True, producer_id=1, producer_epoch=0, base_sequence=0),
            {},
            ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED,
        ),
        ("compacted", batch(b"no key"), {}, ErrorCode.INVALID_RECORD),
    ],
)
async def test_a_bad_batch_gets_its_error_and_the_connection_lives(
    peer, topic, records, fields, expected
):
    await create_topic(peer, "t")
    await create_topic(peer, "compacted", cleanup_policy="compact")
    answer = await produce(peer, topic, records, **fields)
    assert ErrorCode(answer.error_code) is expected
    blamed = [0] if topic == "compacted" or expected is ErrorCode.INVALID_TIMESTAMP else []
    assert [error.batch_index for error in answer.record_errors] == blamed
    assert (await produce(peer, "t", batch(b"good"))).base_offset == 0


async def test_idempotent_retries_are_answered_with_the_first_offset(peer):
    await create_topic(peer, "t")
    given = await peer.call(InitProducerIdRequest(None, 1000), 4)
    another = await peer.call(InitProducerIdRequest(None, 1000), 0)
    assert another.producer_id == given.producer_id + 1

    def numbered(sequence, epoch=0):
        return batch(
            b"a",
            producer_id=given.producer_id,
            producer_epoch=epoch,
            base_sequence=sequence,
        )

    assert (await produce(peer, "t", numbered(0))).base_offset == 0
    assert (await produce(peer, "t", numbered(1))).base_offset == 1
    retry = await produce(peer, "t", numbered(0))
    assert (retry.error_code, retry.base_offset) == (0, 0)
    gap = await produce(peer, "t", numbered(5))
    assert ErrorCode(gap.error_code) is ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER


async def test_pipelined_requests_are_answered_in_order(peer):
    await create_topic(peer, "t")
    sent = [peer.send(produce_request("t", batch(b"%d" % n)), 9) for n in range(50)]
    for number, correlation in enumerate(sent):
        response = await peer.receive(0, 9, correlation)
        assert response.responses[0].partition_responses[0].base_offset == number


async def test_a_topic_with_compression_type_recompresses(peer):
    await create_topic(peer, "t", compression_type="lz4")
    await produce(peer, "t", batch(b"x" * 1000, b"y" * 1000))
    answer = await fetch(peer, "t", 0)
    assert parse_header(answer.records).codec is Codec.LZ4
    assert values(answer) == [b"x" * 1000, b"y" * 1000]


async def test_log_append_time_is_the_brokers(peer):
    await create_topic(peer, "t", message_timestamp_type="LogAppendTime")
    answer = await produce(peer, "t", batch(b"a", timestamp_ms=5))
    assert abs(answer.log_append_time_ms - time.time_ns() // 1_000_000) < 60_000


# --- fetch -------------------------------------------------------------------------------------


async def test_a_fetch_waits_for_data_and_no_longer(broker_app, peer, connect):
    await create_topic(peer, "t")
    waiting = await connect(broker_app)
    correlation = waiting.send(fetch_request("t", 0, max_wait_ms=600_000), 11)
    await until(lambda: len(broker_app.services.fetch_purgatory) == 1)
    await produce(peer, "t", batch(b"a"))
    response = await waiting.receive(1, 11, correlation, timeout=60)
    assert values(response.responses[0].partitions[0]) == [b"a"]
    assert len(broker_app.services.fetch_purgatory) == 0


async def test_an_empty_fetch_ends_at_its_deadline(peer):
    await create_topic(peer, "t")
    begin = time.monotonic()
    answer = await fetch(peer, "t", 0, max_wait_ms=200)
    assert 0.2 <= time.monotonic() - begin < 30
    assert bytes(answer.records) == b""


async def test_min_bytes_gathers_several_batches(broker_app, peer, connect):
    await create_topic(peer, "t")
    waiting = await connect(broker_app)
    correlation = waiting.send(fetch_request("t", 0, max_wait_ms=5000, min_bytes=300), 11)
    for number in range(3):
        await produce(peer, "t", batch(bytes([number]) * 100))
        await asyncio.sleep(0.02)  # for a response that comes too early, after one batch
    response = await waiting.receive(1, 11, correlation)
    assert len(values(response.responses[0].partitions[0])) == 2


async def test_a_peer_that_leaves_is_forgotten(broker_app, peer, connect):
    await create_topic(peer, "t")
    waiting = await connect(broker_app)
    waiting.send(fetch_request("t", 0, max_wait_ms=1000), 11)
    await until(lambda: len(broker_app.services.fetch_purgatory) == 1)
    await waiting.close()
    await until(lambda: len(broker_app.services.fetch_purgatory) == 0)


async def test_at_least_one_whole_batch_however_small_the_limit(peer):
    await create_topic(peer, "t")
    for _ in range(3):
        await produce(peer, "t", batch(bytes(50_000)))
    answer = await fetch(peer, "t", 0, max_bytes=10)
    assert len(list(iter_batches(answer.records))) == 1
    answer = await fetch(peer, "t", 1, max_bytes=60_000)
    assert parse_header(answer.records).base_offset == 1


async def test_offsets_out_of_range_name_the_real_bounds(peer):
    await create_topic(peer, "t")
    await produce(peer, "t", batch(b"a"))
    at_end = await fetch(peer, "t", 1)
    assert at_end.error_code == 0
    beyond = await fetch(peer, "t", 2)
    assert ErrorCode(beyond.error_code) is ErrorCode.OFFSET_OUT_OF_RANGE
    assert (beyond.high_watermark, beyond.log_start_offset) == (1, 0)


@pytest.mark.parametrize(
    ("epoch", "expected"),
    [
        (0, ErrorCode.NONE),
        (-1, ErrorCode.NONE),
        (1, ErrorCode.UNKNOWN_LEADER_EPOCH),
    ],
)
async def test_a_fetch_is_fenced_by_its_leader_epoch(peer, epoch, expected):
    await create_topic(peer, "t")
    request = fetch_request("t", 0)
    request.topics[0].partitions[0].current_leader_epoch = epoch
    response = await peer.call(request, 11)
    assert ErrorCode(response.responses[0].partitions[0].error_code) is expected


async def test_an_incremental_session_tells_only_news(peer):
    await create_topic(peer, "t", 2)
    request = fetch_request("t", 0, session_epoch=0)
    request.topics[0].partitions += fetch_request("t", 0, partition=1).topics[0].partitions
    opened = await peer.call(request, 11)
    assert opened.session_id > 0
    assert len(opened.responses[0].partitions) == 2

    def incremental(epoch):
        again = fetch_request("t", 0, session_id=opened.session_id, session_epoch=epoch)
        again.topics = []
        return again

    assert (await peer.call(incremental(1), 11)).responses == []
    await produce(peer, "t", batch(b"a"), partition=1)
    news = await peer.call(incremental(2), 11)
    assert [p.partition_index for p in news.responses[0].partitions] == [1]
    wrong = await peer.call(incremental(7), 11)
    assert ErrorCode(wrong.error_code) is ErrorCode.INVALID_FETCH_SESSION_EPOCH
    unknown = await peer.call(fetch_request("t", 0, session_id=12345, session_epoch=1), 11)
    assert ErrorCode(unknown.error_code) is ErrorCode.FETCH_SESSION_ID_NOT_FOUND


async def test_an_unknown_topic_id_is_reported(peer):
    answer = (await peer.call(fetch_request("", 0), 13)).responses[0].partitions[0]
    assert ErrorCode(answer.error_code) is ErrorCode.UNKNOWN_TOPIC_ID


# --- offsets -----------------------------------------------------------------------------------


async def test_offsets_by_name_and_by_time(peer):
    await create_topic(peer, "t")
    for timestamp in (1000, 3000, 2000):
        await produce(peer, "t", batch(b"a", b"b", timestamp_ms=timestamp))
    found = {
        timestamp: await list_offset(peer, "t", timestamp, version=8)
        for timestamp in (-1, -2, -3, -4, 0, 1001, 3000, 3001)
    }
    assert {key: answer.offset for key, answer in found.items()} == {
        -1: 6, -2: 0, -3: 2, -4: 0, 0: 0, 1001: 2, 3000: 2, 3001: -1,
    }  # fmt: skip
    assert found[3000].timestamp == 3000
    for timestamp, before in ((-3, 7), (-4, 8), (-5, 9), (-6, 11)):
        early = await list_offset(peer, "t", timestamp, version=before - 1)
        assert ErrorCode(early.error_code) is ErrorCode.UNSUPPORTED_VERSION
    missing = await list_offset(peer, "missing", -1)
    assert ErrorCode(missing.error_code) is ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


async def test_delete_records_moves_the_start(peer):
    await create_topic(peer, "t")
    for _ in range(3):
        await produce(peer, "t", batch(b"a"))

    async def delete(offset):
        asked = DeleteRecordsTopic("t", [DeleteRecordsPartition(0, offset)])
        response = await peer.call(DeleteRecordsRequest([asked], 1000), 2)
        return response.topics[0].partitions[0]

    assert (await delete(2)).low_watermark == 2
    assert (await list_offset(peer, "t", -2)).offset == 2
    below = await fetch(peer, "t", 0)
    assert ErrorCode(below.error_code) is ErrorCode.OFFSET_OUT_OF_RANGE
    assert ErrorCode((await delete(9)).error_code) is ErrorCode.OFFSET_OUT_OF_RANGE
    assert (await delete(-1)).low_watermark == 3


async def test_epoch_ends(peer):
    await create_topic(peer, "t")
    await produce(peer, "t", batch(b"a"))
    asked = OffsetForLeaderTopic("t", [OffsetForLeaderPartition(0, -1, 0)])
    response = await peer.call(OffsetForLeaderEpochRequest(-1, [asked]), 4)
    end = response.topics[0].partitions[0]
    assert (end.error_code, end.leader_epoch, end.end_offset) == (0, 0, 1)


async def test_a_produce_whose_acknowledgement_fails_is_stored_once(
    broker_app, peer, connect, monkeypatch
):
    """UNKNOWN_SERVER_ERROR would make the producer send the records under a new sequence."""
    await create_topic(peer, "t")
    given = await peer.call(InitProducerIdRequest(transactional_id=None), 4)
    records = batch(b"once", producer_id=given.producer_id, producer_epoch=0, base_sequence=0)
    status = Partition.ack_status

    def fail_once(self, *args):
        monkeypatch.setattr(Partition, "ack_status", status)
        raise RuntimeError("the acknowledgement fails")

    monkeypatch.setattr(Partition, "ack_status", fail_once)
    peer.send(produce_request("t", bytearray(records)), 9)
    assert await peer.is_closed()
    again = await connect(broker_app)
    answer = await produce(again, "t", bytearray(records))
    assert (answer.error_code, answer.base_offset) == (0, 0)
    assert values(await fetch(again, "t", 0)) == [b"once"]
