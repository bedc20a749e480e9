"""Batches that decompress to much are validated in a thread: other clients are served meanwhile."""

import asyncio
import threading

import pytest
from support.network.requests import (
    batch,
    create_topic,
    fetch,
    list_offset,
    produce,
    produce_request,
)

from barnabas.broker import produce_rules
from barnabas.broker.produce_rules import LOOP_BYTES
from barnabas.model.error_codes import ErrorCode
from barnabas.model.records import Codec
from barnabas.records import validation
from barnabas.records.builder import build_batch
from barnabas.records.reader import decode_records
from barnabas.storage import log_reader
from barnabas.wire.messages.delete_records import (
    DeleteRecordsPartition,
    DeleteRecordsRequest,
    DeleteRecordsTopic,
)

pytestmark = pytest.mark.integration
PRODUCE = 0


def large(codec=Codec.GZIP, value=b"large"):
    return build_batch([(None, value + bytes(2 * LOOP_BYTES))], codec=codec)


async def delete_records(peer, topic, before):
    partitions = [DeleteRecordsPartition(0, before)]
    request = DeleteRecordsRequest([DeleteRecordsTopic(topic, partitions)], timeout_ms=5000)
    assert (await peer.call(request, 2)).topics[0].partitions[0].error_code == 0


@pytest.fixture
async def topic(peer):
    await create_topic(peer, "t")
    return "t"


@pytest.fixture
def held_validation(monkeypatch):
    """Validations of large batches begin when the test sets the event."""
    allowed = threading.Event()
    names = set()
    original = validation.records_section

    def section(buf, pos, header, max_decompressed):
        if max_decompressed > LOOP_BYTES and header.codec:
            names.add(threading.current_thread().name.rsplit("_", 1)[0])
            assert allowed.wait(60)
        return original(buf, pos, header, max_decompressed)

    monkeypatch.setattr(validation, "records_section", section)
    allowed.threads = names
    return allowed


@pytest.mark.parametrize("codec", [codec for codec in Codec if codec])
async def test_other_clients_are_served_and_the_connection_keeps_its_order(
    broker_app, peer, connect, topic, held_validation, codec
):
    other = await connect(broker_app)
    numbers = [
        peer.send(produce_request(topic, large(codec)), 9),
        peer.send(produce_request(topic, batch(b"after")), 9),
    ]
    async with asyncio.timeout(60):
        while not held_validation.threads:
            await asyncio.sleep(0.01)
    assert (await produce(other, topic, batch(b"other"))).base_offset == 0
    held_validation.set()
    offsets = []
    for number in numbers:
        response = await peer.receive(PRODUCE, 9, number)
        offsets.append(response.responses[0].partition_responses[0].base_offset)
    assert offsets == [1, 2]
    assert held_validation.threads == {"barnabas-batch-validation"}


async def test_an_error_of_a_large_batch(start, connect):
    peer = await connect(await start({"max.decompressed.batch.bytes": LOOP_BYTES + 1}))
    await create_topic(peer, "t")
    assert (await produce(peer, "t", large())).error_code == ErrorCode.MESSAGE_TOO_LARGE
    assert (await produce(peer, "nowhere", large())).error_code == (
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    )


async def test_a_closed_connection_does_not_disturb_the_broker(
    broker_app, peer, connect, topic, held_validation
):
    """Passes when the batch of the closed connection is appended and another one is accepted."""
    hasty = await connect(broker_app)
    hasty.send(produce_request(topic, large()), 9)
    async with asyncio.timeout(60):
        while not held_validation.threads:
            await asyncio.sleep(0.01)
    await hasty.close()
    held_validation.set()
    async with asyncio.timeout(60):
        while (await produce(peer, topic, batch(b"x"))).base_offset == 0:
            await asyncio.sleep(0.01)


async def test_topic_compression_of_a_large_batch(start, connect, monkeypatch):
    threads = []
    original = produce_rules.recompress

    def recompress(*given, **options):
        threads.append(threading.current_thread().name.rsplit("_", 1)[0])
        return original(*given, **options)

    monkeypatch.setattr(produce_rules, "recompress", recompress)
    peer = await connect(await start({"compression.type": "gzip"}))
    await create_topic(peer, "t")
    for value in (b"small", bytes(produce_rules.LOOP_COMPRESSION_BYTES)):
        answer = await produce(peer, "t", build_batch([(None, value)]))
        assert answer.error_code == 0
    assert threads[1] == "barnabas-batch-validation" != threads[0]
    found = await fetch(peer, "t", 0)
    assert len(decode_records(found.records, "t", 0).records) == 2


# --- searches by time -----------------------------------------------------------------------------

TIME = 1_700_000_000_000
MAX_TIMESTAMP = -3


@pytest.fixture
def search_threads(monkeypatch):
    """Names of the threads that decode batches for a search by time, with the decoded sizes."""
    threads = []
    original = log_reader.iter_raw

    def iter_raw(buf, pos, header, max_decompressed):
        found = original(buf, pos, header, max_decompressed)
        threads.append(threading.current_thread().name.rsplit("_", 1)[0])
        return found

    monkeypatch.setattr(log_reader, "iter_raw", iter_raw)
    return threads


@pytest.mark.parametrize("codec", [codec for codec in Codec if codec])
async def test_a_search_by_time_decodes_a_large_batch_in_a_thread(
    peer, topic, search_threads, codec
):
    records = [(None, bytes(2 * LOOP_BYTES)), (None, b"next")]
    await produce(peer, topic, build_batch(records, codec=codec, timestamp_ms=TIME))
    found = await list_offset(peer, topic, TIME)
    assert (found.error_code, found.offset, found.timestamp) == (0, 0, TIME)
    found = await list_offset(peer, topic, MAX_TIMESTAMP)
    assert (found.error_code, found.offset, found.timestamp) == (0, 0, TIME)
    assert set(search_threads) == {"barnabas-batch-validation"}


async def test_a_search_by_time_decodes_a_batch_of_many_records_in_a_thread(
    peer, topic, search_threads
):
    records = [(None, b"") for _ in range(20_000)]
    await produce(peer, topic, build_batch(records, timestamp_ms=TIME))
    assert (await list_offset(peer, topic, TIME)).offset == 0
    assert search_threads == ["barnabas-batch-validation"]


async def test_a_search_by_time_continues_after_a_large_batch_without_a_match(
    peer, topic, search_threads
):
    """The records with this time are deleted, so the next batch has the result."""
    first = [(None, bytes(2 * LOOP_BYTES)), (None, b"kept")]
    await produce(peer, topic, build_batch(first, codec=Codec.GZIP, timestamp_ms=TIME))
    await produce(peer, topic, batch(b"later", timestamp_ms=TIME + 5))
    await delete_records(peer, topic, before=1)
    found = await list_offset(peer, topic, TIME + 1)
    assert (found.offset, found.timestamp) == (2, TIME + 5)
    found = await list_offset(peer, topic, TIME)
    assert (found.offset, found.timestamp) == (1, TIME)


async def test_a_search_by_time_in_a_small_batch_needs_no_thread(peer, topic, search_threads):
    await produce(peer, topic, build_batch([(None, b"x")], codec=Codec.GZIP, timestamp_ms=TIME))
    assert (await list_offset(peer, topic, TIME)).offset == 0
    assert search_threads == ["MainThread"]
