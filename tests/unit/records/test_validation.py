"""Validation of a producer's batch, rule by rule."""

import pytest
from support.records.bad_batches import NOW, bad_batches

from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BrokerError
from barnabas.model.records import Codec, TimestampType
from barnabas.records.batch import crc_ok, parse_header, write_crc
from barnabas.records.batch_rules import DEFAULT_RULES, BatchRules
from barnabas.records.builder import BatchBuilder, build_batch
from barnabas.records.rewrite import retain_records
from barnabas.records.validation import RejectedRecordsError, validate_batch

pytestmark = pytest.mark.usefixtures("hot")

RECORDS = [(b"a", b"1"), (b"b", b"2"), (b"c", None)]
DEEP = BatchRules(deep=True)
SHALLOW = BatchRules(deep=False)


def code(buf, rules=DEFAULT_RULES, now_ms=None):
    with pytest.raises(BrokerError) as caught:
        validate_batch(buf, rules, now_ms=now_ms)
    return caught.value.code


def patched(batch, position, data, *, crc=True):
    batch = bytearray(batch)
    batch[position : position + len(data)] = data
    if crc:
        write_crc(batch, 0, len(batch))
    return batch


@pytest.mark.parametrize("codec", Codec)
@pytest.mark.parametrize("rules", [BatchRules(), DEEP, BatchRules(compacted=True)])
def test_good_batches(codec, rules):
    batch = build_batch(RECORDS, codec=codec, timestamp_ms=5)
    header = validate_batch(memoryview(batch), rules, now_ms=5)
    assert header.records_count == 3


def test_idempotent_and_transactional_batches():
    options = {"producer_id": 1, "producer_epoch": 0, "base_sequence": 0}
    assert validate_batch(build_batch(RECORDS, **options)).producer_id == 1
    assert validate_batch(build_batch(RECORDS, transactional=True, **options)).is_transactional


def test_no_batch_or_several():
    batch = build_batch(RECORDS)
    assert code(b"") == ErrorCode.INVALID_RECORD
    assert code(batch + batch) == ErrorCode.INVALID_RECORD
    assert code(batch + b"\0") == ErrorCode.INVALID_RECORD


def test_length_that_disagrees():
    batch = build_batch(RECORDS)
    assert code(batch[:-1]) == ErrorCode.INVALID_RECORD
    assert code(batch[:30]) == ErrorCode.INVALID_RECORD
    assert code(batch[:5]) == ErrorCode.INVALID_RECORD
    assert code(patched(batch, 8, b"\x7f\xff\xff\xff", crc=False)) == ErrorCode.INVALID_RECORD
    assert code(bytes(100)) == ErrorCode.CORRUPT_MESSAGE
    for length in (b"\0\0\0\x30", b"\xff\xff\xff\xff"):
        assert code(patched(batch, 8, length, crc=False)) == ErrorCode.CORRUPT_MESSAGE


@pytest.mark.parametrize(
    ("magic", "expected"),
    [
        (0, ErrorCode.INVALID_RECORD),
        (1, ErrorCode.INVALID_RECORD),
        (3, ErrorCode.CORRUPT_MESSAGE),
        (255, ErrorCode.CORRUPT_MESSAGE),
    ],
)
def test_magic(magic, expected):
    assert code(patched(build_batch(RECORDS), 16, bytes([magic]))) == expected


def test_the_records_to_blame_are_named():
    keyless = build_batch([(None, b"1"), (b"b", b"2"), (None, None)], codec=Codec.GZIP)
    with pytest.raises(RejectedRecordsError) as caught:
        validate_batch(keyless, BatchRules(compacted=True))
    assert (caught.value.code, list(caught.value.problems)) == (ErrorCode.INVALID_RECORD, [0, 2])
    ahead = build_batch(RECORDS, timestamp_ms=1101)
    with pytest.raises(RejectedRecordsError) as caught:
        validate_batch(ahead, BatchRules(timestamp_after_max_ms=100), now_ms=1000)
    assert list(caught.value.problems) == [0, 1, 2]


def test_checksum():
    batch = build_batch(RECORDS)
    for position in (17, 21, len(batch) - 1):
        bad = bytearray(batch)
        bad[position] ^= 0x40
        assert code(bad) == ErrorCode.CORRUPT_MESSAGE


def test_size():
    batch = build_batch(RECORDS)
    assert validate_batch(batch, BatchRules(max_message_bytes=len(batch)))
    assert code(batch, BatchRules(max_message_bytes=len(batch) - 1)) == ErrorCode.MESSAGE_TOO_LARGE


@pytest.mark.parametrize(
    ("position", "data"),
    [
        (57, b"\0\0\0\0"),
        (57, b"\0\0\0\2"),
        (57, b"\0\0\0\4"),
        (57, b"\xff\xff\xff\xff"),
        (23, b"\xff\xff\xff\xff"),
        (22, b"\x20"),
        (22, b"\x40"),
        (22, b"\x10"),
        (43, b"\0\0\0\0\0\0\0\1"),
    ],
    ids=["no records", "fewer", "more", "negative", "delta", "control", "horizon", "txn", "pid"],
)
def test_headers_that_no_producer_may_send(position, data):
    assert code(patched(build_batch(RECORDS), position, data)) == ErrorCode.INVALID_RECORD


def test_empty_batch():
    assert code(build_batch([])) == ErrorCode.INVALID_RECORD


def test_a_compacted_batch_is_not_a_producers():
    assert code(retain_records(build_batch(RECORDS), [1, 0, 1])) == ErrorCode.INVALID_RECORD


def test_codecs():
    zstd = build_batch(RECORDS, codec=Codec.ZSTD)
    assert code(zstd, BatchRules(produce_version=6)) == ErrorCode.UNSUPPORTED_COMPRESSION_TYPE
    assert validate_batch(zstd, BatchRules(produce_version=7))
    for codec in (5, 6, 7):
        bad = patched(build_batch(RECORDS), 22, bytes([codec]))
        assert code(bad) == ErrorCode.UNSUPPORTED_COMPRESSION_TYPE


def test_log_append_time_from_a_client():
    batch = build_batch(RECORDS, timestamp_type=TimestampType.LOG_APPEND_TIME)
    assert code(batch) == ErrorCode.INVALID_TIMESTAMP


def test_timestamps_ahead():
    rules = BatchRules(timestamp_after_max_ms=100)
    batch = build_batch(RECORDS, timestamp_ms=1101)
    assert code(batch, rules, 1000) == ErrorCode.INVALID_TIMESTAMP
    assert validate_batch(batch, rules, now_ms=1001)
    assert validate_batch(batch, rules)


def test_timestamps_behind():
    rules = BatchRules(timestamp_before_max_ms=100)
    assert rules.must_walk
    batch = build_batch(RECORDS, timestamp_ms=899)
    assert code(batch, rules, 1000) == ErrorCode.INVALID_TIMESTAMP
    assert validate_batch(batch, rules, now_ms=999)


def test_the_oldest_record_counts():
    builder = BatchBuilder()
    for timestamp in (1000, 10, 1000):
        builder.append(b"k", b"v", timestamp_ms=timestamp)
    batch = builder.build()
    assert validate_batch(batch, now_ms=1000)
    rules = BatchRules(timestamp_before_max_ms=100)
    assert code(batch, rules, 1000) == ErrorCode.INVALID_TIMESTAMP


def test_log_append_time_topics_do_not_judge_timestamps():
    rules = BatchRules(
        timestamp_type=TimestampType.LOG_APPEND_TIME,
        timestamp_before_max_ms=100,
        timestamp_after_max_ms=100,
        deep=False,
    )
    assert not rules.must_walk
    assert validate_batch(build_batch(RECORDS, timestamp_ms=5), rules, now_ms=10**6)


def test_no_timestamp_is_no_offence():
    rules = BatchRules(timestamp_before_max_ms=100, timestamp_after_max_ms=100)
    assert validate_batch(build_batch(RECORDS), rules, now_ms=10**6)


@pytest.mark.parametrize("codec", Codec)
def test_keyless_records_on_compacted_topics(codec):
    batch = build_batch([(b"k", b""), (None, b"")], codec=codec)
    assert validate_batch(batch)
    assert code(batch, BatchRules(compacted=True)) == ErrorCode.INVALID_RECORD


def test_records_that_do_not_add_up():
    batch = build_batch(RECORDS)
    bad = patched(batch, 61, b"\x7e")
    assert validate_batch(bad, SHALLOW), "records of trusted producers are not looked at"
    assert code(bad) == ErrorCode.INVALID_RECORD


@pytest.mark.parametrize("codec", [codec for codec in Codec if codec])
def test_undecodable_records(codec):
    batch = build_batch(RECORDS, codec=codec)
    bad = patched(batch, 61, b"\xff" * 12)
    assert code(bad, DEEP) == ErrorCode.INVALID_RECORD


@pytest.mark.parametrize("codec", [codec for codec in Codec if codec])
def test_bombs(codec):
    batch = build_batch([(b"k", bytes(300_000))], codec=codec)
    trusting = BatchRules(deep=False, max_decompressed=100_000)
    assert validate_batch(batch, trusting), "stored as it is, never expanded"
    rules = BatchRules(max_decompressed=100_000)
    assert code(batch, rules) == ErrorCode.MESSAGE_TOO_LARGE


@pytest.mark.parametrize("name", bad_batches())
def test_bad_records(name):
    assert code(bad_batches()[name], now_ms=NOW) == ErrorCode.INVALID_RECORD


@pytest.mark.parametrize("codec", Codec)
@pytest.mark.parametrize("size", [0, 1, 60, 70, 3000, 20_000])
def test_records_of_any_size_pass(codec, size):
    """Lengths, deltas and timestamps that take one, two or more bytes, with and without keys."""
    builder = BatchBuilder(codec=codec)
    for number in range(200 if size < 1000 else 5):
        key = None if number % 3 else b"k" * (number % 150)
        value = None if number % 7 == 3 else b"v" * size
        headers = [("h", b"x" * size)] if number % 5 == 4 else []
        builder.append(key, value, headers, timestamp_ms=NOW + (number * 7919) % 20_000)
    header = validate_batch(builder.build(), now_ms=NOW)
    assert header.max_timestamp <= NOW + 20_000


def test_the_largest_timestamp_is_that_of_the_records():
    batch = patched(build_batch(RECORDS, timestamp_ms=NOW), 35, (NOW + 10**12).to_bytes(8, "big"))
    rules = BatchRules(timestamp_after_max_ms=1000)
    assert validate_batch(batch, rules, now_ms=NOW).max_timestamp == NOW
    assert parse_header(batch).max_timestamp == NOW
    assert crc_ok(batch, 0, parse_header(batch))
