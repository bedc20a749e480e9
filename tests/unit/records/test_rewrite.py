"""Recompression and the cleaner's rewriting."""

import pytest

from barnabas.model.records import Codec
from barnabas.records.batch import crc_ok, parse_header, stamp_log_append_time
from barnabas.records.builder import BatchBuilder
from barnabas.records.reader import decode_records, iter_raw
from barnabas.records.rewrite import recompress, retain_records

pytestmark = pytest.mark.usefixtures("hot")


def five(codec=Codec.NONE):
    builder = BatchBuilder(
        codec=codec, base_offset=10, producer_id=3, producer_epoch=1, base_sequence=20
    )
    for index in range(5):
        builder.append(b"k%d" % index, b"v", [("h", b"%d" % index)], 1000 + index)
    return builder.build()


@pytest.mark.parametrize("source", Codec)
@pytest.mark.parametrize("target", Codec)
def test_recompress(source, target):
    batch = five(source)
    other = recompress(batch, target, 1)
    header = parse_header(other)
    assert header.codec == target
    assert crc_ok(other, 0, header)
    assert decode_records(other, "t", 0) == decode_records(batch, "t", 0)
    assert (header.producer_id, header.base_sequence, header.last_offset) == (3, 20, 14)


@pytest.mark.parametrize("codec", Codec)
def test_retain(codec):
    batch = five(codec)
    cleaned = retain_records(batch, [False, True, True, False, True])
    header = parse_header(cleaned)
    assert crc_ok(cleaned, 0, header)
    assert (header.base_offset, header.last_offset, header.records_count) == (10, 14, 3)
    assert (header.base_sequence, header.last_sequence, header.codec) == (20, 24, codec)
    before = iter_raw(batch, 0, parse_header(batch))
    assert iter_raw(cleaned, 0, header) == [before[1], before[2], before[4]]


@pytest.mark.parametrize("codec", Codec)
def test_retain_nothing(codec):
    cleaned = retain_records(five(codec), [False] * 5)
    header = parse_header(cleaned)
    assert len(cleaned) == 61
    assert crc_ok(cleaned, 0, header)
    assert (header.next_offset, header.producer_id, header.records_count) == (15, 3, 0)
    assert iter_raw(cleaned, 0, header) == []


@pytest.mark.parametrize("codec", Codec)
def test_a_delete_horizon_moves_no_timestamp(codec):
    batch = five(codec)
    before = iter_raw(batch, 0, parse_header(batch))
    stamped = retain_records(batch, [True, False, True, True, False], delete_horizon_ms=90_000)
    header = parse_header(stamped)
    assert crc_ok(stamped, 0, header)
    assert header.has_delete_horizon
    assert (header.base_timestamp, header.max_timestamp) == (90_000, 1003)
    assert iter_raw(stamped, 0, header) == [before[0], before[2], before[3]]


def test_the_max_timestamp_is_that_of_what_is_left():
    keep = [True, True, False, False, False]
    assert parse_header(retain_records(five(), keep)).max_timestamp == 1001
    assert parse_header(retain_records(five(), [False] * 5)).max_timestamp == 1004
    stamped = five()
    stamp_log_append_time(stamped, 0, parse_header(stamped), 5000)
    assert parse_header(retain_records(stamped, keep)).max_timestamp == 5000


def test_a_delete_horizon_is_set_once():
    once = retain_records(five(), [True] * 5, delete_horizon_ms=90_000)
    twice = retain_records(once, [True] * 5, delete_horizon_ms=95_000)
    assert twice == once


def test_one_mark_per_record():
    with pytest.raises(ValueError, match="zip"):
        retain_records(five(), [True])
