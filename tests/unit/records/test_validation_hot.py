"""`accept_plain` accepts correct uncompressed batches and leaves all others to validation."""

import pytest
from support.records.bad_batches import NOW, bad_batches

from barnabas.model.records import Codec
from barnabas.records import validation
from barnabas.records.batch import parse_header, write_crc
from barnabas.records.batch_rules import BatchRules
from barnabas.records.builder import build_batch

pytestmark = pytest.mark.usefixtures("hot")

RECORDS = [(b"a", b"1"), (b"b", b"2"), (b"c", None)]
PRODUCER = {"producer_id": 1, "producer_epoch": 0, "base_sequence": 0}
RULES = BatchRules()


def accepted(batch, rules=RULES, now_ms=NOW):
    return validation.accept_plain(memoryview(bytearray(batch)), rules, now_ms)


@pytest.mark.parametrize("options", [{}, PRODUCER, {"transactional": True, **PRODUCER}])
def test_correct_batches_are_accepted(options):
    batch = build_batch(RECORDS, timestamp_ms=NOW, **options)
    assert accepted(batch) == parse_header(batch)


@pytest.mark.parametrize("codec", [codec for codec in Codec if codec])
def test_compressed_batches_are_left_to_validation(codec):
    assert accepted(build_batch(RECORDS, codec=codec, timestamp_ms=NOW)) is None


@pytest.mark.parametrize("name", bad_batches())
def test_no_bad_batch_is_accepted(name):
    assert accepted(bad_batches()[name]) is None


@pytest.mark.parametrize(
    ("position", "data"),
    [
        (8, b"\0\0\0\x31"),  # the length
        (16, b"\1"),  # magic
        (22, b"\x08"),  # LogAppendTime
        (22, b"\x10"),  # transactional without a producer id
        (22, b"\x20"),  # a control batch
        (22, b"\x40"),  # a delete horizon
        (23, b"\0\0\0\7"),  # the last offset delta
        (35, b"\0\0\0\0\0\0\0\1"),  # the largest timestamp
        (43, b"\0\0\0\0\0\0\0\1"),  # a producer id without epoch and sequence
        (57, b"\0\0\0\0"),  # the number of records
    ],
)
def test_a_wrong_header_is_left_to_validation(position, data):
    batch = bytearray(build_batch(RECORDS, timestamp_ms=NOW))
    batch[position : position + len(data)] = data
    write_crc(batch, 0, len(batch))
    assert accepted(batch) is None


def test_a_wrong_checksum_and_other_sizes_are_left_to_validation():
    batch = build_batch(RECORDS, timestamp_ms=NOW)
    assert accepted(batch[:-1] + bytes([batch[-1] ^ 1])) is None
    assert accepted(batch + batch) is None
    for size in range(len(batch)):
        assert accepted(batch[:size]) is None


@pytest.mark.parametrize(
    "rules",
    [
        BatchRules(max_message_bytes=70),
        BatchRules(timestamp_before_max_ms=9),
        BatchRules(timestamp_after_max_ms=-11),
    ],
)
def test_limits_of_the_topic_are_checked(rules):
    assert accepted(build_batch(RECORDS, timestamp_ms=NOW - 10), rules) is None


def test_a_compacted_topic_needs_keys():
    rules = BatchRules(compacted=True)
    assert accepted(build_batch(RECORDS, timestamp_ms=NOW), rules) is not None
    assert accepted(build_batch([(None, b"v")], timestamp_ms=NOW), rules) is None
