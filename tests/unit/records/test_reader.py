"""Fetch responses: skipped records, returned records, and the next position."""

import pytest

from barnabas.model.errors import CorruptRecordError
from barnabas.model.records import Codec
from barnabas.records.batch import parse_header
from barnabas.records.builder import build_batch, control_batch
from barnabas.records.compression import DecompressedTooLargeError
from barnabas.records.reader import FetchDecoder, decode_records, iter_raw, records_section
from barnabas.records.rewrite import retain_records

pytestmark = pytest.mark.usefixtures("hot")


def batch(base, count=3, **options):
    return bytes(
        build_batch([(None, b"%d" % (base + i)) for i in range(count)], base_offset=base, **options)
    )


def marker(base, producer_id, commit):
    data = control_batch(commit, 0, producer_id, 0, 0)
    data[:8] = base.to_bytes(8, "big")
    return bytes(data)


def values(result):
    return [int(record.value) for record in result.records]


def test_batches_in_a_row():
    result = decode_records(batch(0) + batch(3, partition_leader_epoch=8), "t", 2)
    assert values(result) == [0, 1, 2, 3, 4, 5]
    assert (result.next_offset, result.last_leader_epoch) == (6, 8)
    assert {(record.topic, record.partition) for record in result.records} == {("t", 2)}


@pytest.mark.parametrize("size", [65_535, 65_536, 1_000_003])
def test_large_values(size):
    """The decoder copies a value of 64 KB in another way than a smaller one."""
    value = bytes(range(256)) * (size // 256) + bytes(size % 256)
    batch = build_batch([(value[::-1], value), (None, b"small")])
    found = decode_records(bytes(batch), "t", 0).records
    assert [(record.key, record.value) for record in found] == [
        (value[::-1], value),
        (None, b"small"),
    ]


def test_nothing():
    assert decode_records(b"", "t", 0, fetch_offset=9) == ([], 9, -1)


@pytest.mark.parametrize("codec", Codec)
def test_mid_batch(codec):
    result = decode_records(batch(0, codec=codec), "t", 0, fetch_offset=2)
    assert values(result) == [2]


def test_batches_below_the_offset_are_not_decoded():
    broken = bytearray(batch(0))
    broken[-1] ^= 0xFF
    assert values(decode_records(bytes(broken) + batch(3), "t", 0, fetch_offset=3)) == [3, 4, 5]


def test_partial_tail():
    data = batch(0) + batch(3)
    for cut in range(len(batch(0)), len(data)):
        result = decode_records(data[:cut], "t", 0)
        assert (values(result), result.next_offset) == ([0, 1, 2], 3)


def test_gaps_after_compaction():
    cleaned = retain_records(batch(0, 5), [False, True, False, True, False])
    result = decode_records(cleaned, "t", 0)
    assert (values(result), result.next_offset) == ([1, 3], 5)


def test_emptied_batches_advance_the_position():
    emptied = retain_records(batch(0, 5), [False] * 5)
    assert decode_records(emptied, "t", 0) == ([], 5, -1)
    assert values(decode_records(bytes(emptied) + batch(5), "t", 0)) == [5, 6, 7]


def test_control_batches_are_skipped():
    result = decode_records(batch(0) + marker(3, 1, True), "t", 0)
    assert (values(result), result.next_offset) == ([0, 1, 2], 4)


@pytest.fixture
def transactions():
    """Producer 1 aborts, producer 2 commits, interleaved; then 1 commits."""
    one = {"producer_id": 1, "producer_epoch": 0, "transactional": True}
    two = {"producer_id": 2, "producer_epoch": 0, "transactional": True}
    return (
        batch(0, base_sequence=0, **one)
        + batch(3, base_sequence=0, **two)
        + batch(6, 1)
        + marker(7, 1, False)
        + batch(8, 2, base_sequence=3, **one)
        + marker(10, 2, True)
        + marker(11, 1, True)
    )


def test_read_uncommitted_sees_everything(transactions):
    result = decode_records(transactions, "t", 0)
    assert (values(result), result.next_offset) == ([0, 1, 2, 3, 4, 5, 6, 8, 9], 12)


def test_aborted_transactions_are_skipped(transactions):
    result = decode_records(transactions, "t", 0, aborted=[(1, 0)])
    assert (values(result), result.next_offset) == ([3, 4, 5, 6, 8, 9], 12)


def test_the_aborted_list_need_not_be_sorted(transactions):
    result = decode_records(transactions, "t", 0, aborted=[(2, 3), (1, 0)])
    assert values(result) == [6, 8, 9]


def test_an_abort_that_began_before_the_fetch(transactions):
    result = decode_records(transactions, "t", 0, fetch_offset=1, aborted=[(1, 0)])
    assert values(result) == [3, 4, 5, 6, 8, 9]


def test_everything_aborted_still_advances():
    data = batch(0, producer_id=1, producer_epoch=0, base_sequence=0, transactional=True)
    assert decode_records(data, "t", 0, aborted=[(1, 0)]) == ([], 3, -1)


def test_only_transactional_batches_can_be_aborted():
    data = batch(0, producer_id=1, producer_epoch=0, base_sequence=0)
    assert values(decode_records(data, "t", 0, aborted=[(1, 0)])) == [0, 1, 2]


def test_a_second_abort_marker_is_harmless(transactions):
    data = marker(0, 5, False) + marker(1, 5, False)
    assert decode_records(data, "t", 0, aborted=[(5, 0)]).next_offset == 2


def test_a_wrong_checksum():
    data = bytearray(batch(0))
    data[-1] ^= 1
    with pytest.raises(CorruptRecordError, match="checksum"):
        decode_records(data, "t", 0)
    with pytest.raises(CorruptRecordError):
        decode_records(data[:20] + b"\xff" + data[21:], "t", 0)


def test_checksums_can_be_left_unchecked():
    data = bytearray(batch(0))
    data[17] ^= 1
    assert values(decode_records(data, "t", 0, check_crcs=False)) == [0, 1, 2]


def test_records_before_a_corrupt_batch_come_first():
    bad = bytearray(batch(3))
    bad[-1] ^= 1
    decoder = FetchDecoder(batch(0) + bytes(bad), "t", 0)
    assert len(decoder.take()) == 3
    assert decoder.next_offset == 3
    assert not decoder.exhausted
    for _ in range(2):
        with pytest.raises(CorruptRecordError):
            decoder.take()


def test_a_batch_corrupt_half_way_leaves_none_of_its_records():
    bad = bytearray(batch(3))
    bad[-1] = 2
    decoder = FetchDecoder(batch(0) + bytes(bad), "t", 0, check_crcs=False)
    assert [int(record.value) for record in decoder.take()] == [0, 1, 2]
    with pytest.raises(CorruptRecordError):
        decoder.take()


@pytest.mark.parametrize("length", [-1, 0, 13, 48])
def test_impossible_lengths(length):
    data = bytearray(batch(0))
    data[8:12] = length.to_bytes(4, "big", signed=True)
    with pytest.raises(CorruptRecordError):
        decode_records(data, "t", 0)


def test_an_error_to_come_is_not_the_end():
    data = bytearray(batch(0))
    data[8:12] = b"\xff\xff\xff\xff"
    decoder = FetchDecoder(batch(0) + bytes(data), "t", 0)
    assert len(decoder.take()) == 3
    assert not decoder.exhausted
    with pytest.raises(CorruptRecordError):
        decoder.take()


def test_unknown_magic():
    data = bytearray(batch(0))
    data[16] = 3
    with pytest.raises(CorruptRecordError, match="magic 3"):
        decode_records(data, "t", 0)


def test_take_some():
    decoder = FetchDecoder(batch(0) + batch(3) + batch(6), "t", 0)
    taken = []
    while not decoder.exhausted:
        part = decoder.take(2)
        assert len(part) in (1, 2)
        taken += [int(record.value) for record in part]
        assert decoder.position == len(taken)
    assert taken == list(range(9))
    assert decoder.take(2) == []


def test_take_decodes_no_more_than_needed():
    bad = bytearray(batch(3))
    bad[-1] ^= 1
    decoder = FetchDecoder(batch(0) + bytes(bad), "t", 0)
    assert len(decoder.take(3)) == 3


@pytest.mark.parametrize("codec", [c for c in Codec if c != Codec.NONE])
def test_the_cap_on_decompression(codec):
    data = build_batch([(None, bytes(100_000))], codec=codec)
    with pytest.raises(DecompressedTooLargeError):
        decode_records(data, "t", 0, max_decompressed=50_000)
    assert len(decode_records(data, "t", 0, max_decompressed=200_000).records) == 1


def test_iter_raw_reads_control_records():
    data = marker(0, 1, True)
    (record,) = iter_raw(data, 0, parse_header(data))
    assert record.key == b"\0\0\0\1"


def test_a_batch_cut_short_has_no_section():
    data = batch(0)
    with pytest.raises(CorruptRecordError):
        records_section(data[:-1], 0, parse_header(data))


def test_uncompressed_records_are_not_copied():
    data = bytearray(batch(0))
    section = records_section(data, 0, parse_header(data))
    assert isinstance(section, memoryview)
    assert section.obj is data
