"""Batch headers: parse, walk, patch."""

import pytest

from barnabas.model.errors import CorruptRecordError
from barnabas.model.records import Codec, TimestampType
from barnabas.records import batch
from barnabas.records.builder import build_batch
from barnabas.records.reader import decode_records


@pytest.fixture
def three():
    return build_batch(
        [(b"a", b"1"), (b"b", b"2"), (b"c", None)],
        timestamp_ms=1700,
        base_offset=100,
        producer_id=7,
        producer_epoch=2,
        base_sequence=40,
        partition_leader_epoch=5,
    )


def test_header_fields(three):
    header = batch.parse_header(three)
    assert (header.base_offset, header.last_offset, header.next_offset) == (100, 102, 103)
    assert header.size == len(three)
    assert header.records_count == 3
    assert header.partition_leader_epoch == 5
    assert (header.producer_id, header.producer_epoch, header.base_sequence) == (7, 2, 40)
    assert header.last_sequence == 42
    assert (header.base_timestamp, header.max_timestamp) == (1700, 1700)
    assert header.codec is Codec.NONE
    assert header.timestamp_type is TimestampType.CREATE_TIME
    assert header.attributes == 0
    assert not header.is_transactional
    assert not header.is_control
    assert header.has_producer_id
    assert header.encode() == three[: batch.HEADER_SIZE]


def test_header_equality_and_repr(three):
    header = batch.parse_header(three)
    assert header == batch.parse_header(three)
    assert hash(header) == hash(batch.parse_header(three))
    assert header != 3
    assert "offsets=100..102" in repr(header)


def test_sequences_wrap_to_zero():
    header = batch.parse_header(
        build_batch([(None, b"")] * 3, producer_id=1, producer_epoch=0, base_sequence=2**31 - 2)
    )
    assert header.last_sequence == 0


def test_no_sequence_has_no_last_sequence():
    assert batch.parse_header(build_batch([(None, b"")] * 3)).last_sequence == -1


@pytest.mark.parametrize(
    ("position", "patch"),
    [
        (16, b"\x03"),
        (8, b"\x00\x00\x00\x30"),
        (8, b"\xff\xff\xff\xff"),
        (23, b"\xff\xff\xff\xff"),
        (57, b"\x80\x00\x00\x00"),
        (0, b"\x80"),
        (0, b"\x7f\xff\xff\xff\xff\xff\xff\xfe"),
    ],
    ids=[
        "magic",
        "short length",
        "negative length",
        "delta",
        "count",
        "base offset",
        "next offset",
    ],
)
def test_nonsense_headers_are_corrupt(three, position, patch):
    three[position : position + len(patch)] = patch
    with pytest.raises(CorruptRecordError):
        batch.parse_header(three)


@pytest.mark.parametrize("size", [0, 1, 60])
def test_short_headers_are_corrupt(three, size):
    with pytest.raises(CorruptRecordError):
        batch.parse_header(three[:size])


def test_a_negative_position_is_rejected(three):
    with pytest.raises(CorruptRecordError):
        batch.parse_header(three, -61)


def test_iter_batches_stops_at_a_partial_tail(three):
    data = bytes(three) * 2
    for cut in range(len(three) + 1, len(data)):
        assert [pos for pos, _ in batch.iter_batches(data[:cut])] == [0]
    assert [pos for pos, _ in batch.iter_batches(data)] == [0, len(three)]
    assert [pos for pos, _ in batch.iter_batches(data, len(three))] == [len(three)]
    assert [pos for pos, _ in batch.iter_batches(data, 0, len(three))] == [0]


def test_unknown_codec_is_corrupt(three):
    header = batch.parse_header(three)
    header.attributes = 5
    with pytest.raises(CorruptRecordError):
        _ = header.codec


def test_crc_covers_attributes_to_end(three):
    header = batch.parse_header(three)
    assert batch.crc_ok(three, 0, header)
    for position in (21, 40, 61, len(three) - 1):
        three[position] ^= 1
        assert not batch.crc_ok(three, 0, header)
        three[position] ^= 1
    assert not batch.crc_ok(three[:-1], 0, header)


def test_assign_offsets_keeps_the_checksum(three):
    data = bytearray(b"xx") + three
    batch.assign_offsets(data, 2, 5000, 9)
    header = batch.parse_header(data, 2)
    assert (header.base_offset, header.partition_leader_epoch) == (5000, 9)
    assert batch.crc_ok(data, 2, header)


def test_log_append_time_is_every_records_time(three):
    header = batch.parse_header(three)
    batch.stamp_log_append_time(memoryview(three), 0, header, 9999)
    assert batch.parse_header(three) == header
    assert batch.crc_ok(three, 0, header)
    records = decode_records(three, "t", 0).records
    assert {record.timestamp for record in records} == {9999}
    assert {record.timestamp_type for record in records} == {TimestampType.LOG_APPEND_TIME}
