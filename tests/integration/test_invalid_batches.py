"""Batches with a correct checksum and invalid records are rejected, so no consumer reads them."""

import pytest
from support.network.requests import batch, create_topic, fetch, list_offset, produce
from support.records.bad_batches import NOW, RECORDS, bad_batches, batch_with

from barnabas.model.error_codes import ErrorCode
from barnabas.model.records import Codec
from barnabas.records.batch import parse_header, write_crc
from barnabas.records.builder import build_batch
from barnabas.records.reader import decode_records

pytestmark = pytest.mark.integration

LATEST = -1


async def test_bad_records_are_rejected_and_consumers_go_on(peer):
    await create_topic(peer, "t")
    wrong = {}
    for name, bad in bad_batches().items():
        answer = await produce(peer, "t", bad)
        if answer.error_code != ErrorCode.INVALID_RECORD:
            wrong[name] = answer.error_code
    assert wrong == {}
    assert (await list_offset(peer, "t", LATEST)).offset == 0
    for codec in Codec:
        assert (await produce(peer, "t", build_batch(RECORDS, codec=codec))).error_code == 0
    found = await fetch(peer, "t", 0)
    assert len(decode_records(found.records, "t", 0).records) == len(Codec) * len(RECORDS)


async def test_the_answer_says_what_is_wrong(peer):
    await create_topic(peer, "t")
    answer = await produce(peer, "t", batch_with(b"not gzip at all", 3, Codec.GZIP))
    assert "gzip" in answer.error_message


async def test_a_batch_that_unpacks_to_too_much(start, connect):
    peer = await connect(await start({"max.decompressed.batch.bytes": 100_000}))
    await create_topic(peer, "t")
    for codec in Codec:
        if codec:
            bomb = build_batch([(b"k", bytes(300_000))], codec=codec)
            answer = await produce(peer, "t", bomb)
            assert answer.error_code == ErrorCode.MESSAGE_TOO_LARGE


async def test_trusted_producers_can_be_spared_the_check(start, connect):
    """The header and the checksum are still judged."""
    peer = await connect(await start({"record.validation.enable": False}))
    await create_topic(peer, "t")
    stored = batch_with(b"not gzip at all", 3, Codec.GZIP)
    assert (await produce(peer, "t", stored)).error_code == 0
    assert (await produce(peer, "t", batch_with(b"", 0))).error_code == ErrorCode.INVALID_RECORD
    damaged = bytearray(batch(b"a"))
    damaged[-1] ^= 1
    assert (await produce(peer, "t", damaged)).error_code == ErrorCode.CORRUPT_MESSAGE


@pytest.mark.parametrize("codec", [Codec.NONE, Codec.GZIP])
async def test_a_wrong_largest_timestamp_is_corrected(peer, codec):
    """Lookups by time trust the header of a batch, so it must tell what its records tell."""
    await create_topic(peer, "t")
    wrong = bytearray(build_batch(RECORDS, codec=codec, timestamp_ms=NOW))
    wrong[35:43] = (NOW + 10**12).to_bytes(8, "big")
    write_crc(wrong, 0, len(wrong))
    assert (await produce(peer, "t", wrong)).error_code == 0
    found = await fetch(peer, "t", 0)
    assert parse_header(found.records).max_timestamp == NOW
    assert len(decode_records(found.records, "t", 0).records) == len(RECORDS)
