"""The encoder: sizes, limits, gaps, accepted types."""

import pytest

from barnabas.records.batch import HEADER_SIZE
from barnabas.records.builder import BatchBuilder


@pytest.fixture
def appender(hot):
    return hot["_append_hot"].RecordAppender()


def test_known_bytes(appender):
    assert appender.append(1000, b"k", b"vv", [("h", b"x"), ("n", None)]) == 0
    assert appender.append(1001, None, None) == 1
    assert appender.append(999, b"", b"") == 2
    assert appender.take()[HEADER_SIZE:] == bytes.fromhex(
        "20 00 00 00 02 6b 04 7676 04 02 68 02 78 02 6e 010c 00 02 02 01 01 000c 00 01 04 00 00 00"
    )


def test_counters(appender):
    assert (appender.size, appender.count, appender.base_timestamp) == (HEADER_SIZE, 0, -1)
    appender.append(50, None, b"x" * 10)
    appender.append(20, None, b"y")
    appender.append(70, None, b"z")
    assert appender.count == 3
    assert (appender.base_timestamp, appender.max_timestamp) == (50, 70)
    assert len(appender.take()) == HEADER_SIZE + 17 + 8 + 8


@pytest.mark.parametrize("size", [0, 1, 55, 56, 57, 63, 64, 8190, 8191, 8192, 100_000])
def test_size_is_known_before(appender, size):
    headers = [("k" * (size % 300), b"v" * size)]
    for timestamp in (0, 2**40, 5):
        expected = appender.size_if_appended(timestamp, b"k" * size, b"v" * size, headers)
        appender.append(timestamp, b"k" * size, b"v" * size, headers)
        assert appender.size == expected
    assert len(appender.take()) == expected


def test_try_append_declines_past_the_limit(appender):
    assert appender.try_append(0, None, b"x" * 100, (), 10) == 0
    size = appender.size
    assert appender.try_append(0, None, b"x", (), size) == -1
    assert (appender.size, appender.count) == (size, 1)
    assert appender.try_append(0, None, b"x", (), size + 8) == 1


def test_a_closed_appender_keeps_its_records_and_takes_no_more(appender):
    assert appender.try_append(1000, None, b"a", (), 1000) == 0
    appender.close()
    assert appender.try_append(1000, None, b"b", (), 1000) == -1
    assert appender.count == 1
    assert appender.take()[HEADER_SIZE:].endswith(b"a\x00")


def test_a_batch_that_was_taken_takes_no_more(appender):
    appender.append(1, None, b"a")
    taken = bytes(appender.take())
    assert appender.try_append(1, None, b"b", [("h", b"1")], 1000) == -1
    assert b"b" not in taken[HEADER_SIZE:]
    assert appender.count == 0


def test_accepts_any_bytes(appender):
    appender.append(0, bytearray(b"k"), memoryview(b"v"), [("h", bytearray(b"x"))])
    assert appender.take()[HEADER_SIZE:] == bytes.fromhex("18 00 00 00 02 6b 02 76 02 02 68 02 78")


@pytest.mark.parametrize("bad", ["text", 7, [1], 1.5])
def test_rejects_what_is_not_bytes(appender, bad):
    with pytest.raises(TypeError):
        appender.append(0, None, bad)
    with pytest.raises(TypeError):
        appender.append(0, bad, None)
    with pytest.raises(TypeError):
        appender.append(0, None, None, [("h", bad)])
    assert appender.count == 0


def test_a_bytes_subclass_is_bytes(appender):
    class Name(bytes):
        pass

    appender.append(0, None, Name(b"v"))
    assert appender.take()[HEADER_SIZE:].endswith(b"v\x00")


def test_gaps(appender):
    assert appender.append_at(3, 0, None, b"a") == 3
    assert appender.append_at(9, 0, None, b"b") == 9
    with pytest.raises(ValueError, match="offset delta 9 after 9"):
        appender.append_at(9, 0, None, b"c")


def test_a_given_base_timestamp(hot):
    appender = hot["_append_hot"].RecordAppender(base_timestamp=100)
    appender.append(90, None, b"")
    assert appender.take()[HEADER_SIZE:] == bytes.fromhex("0c 00 13 00 01 00 00")


def test_extreme_timestamps(appender):
    appender.append(0, None, b"")
    appender.append(2**63 - 1, None, b"")
    appender.append(-(2**63), None, b"")
    assert bytes.fromhex("feffffffffffffffff01") in appender.take()


def test_many_small_records_grow_the_buffer(appender):
    for index in range(5000):
        assert appender.append(index, b"k", b"v") == index
    assert appender.size == len(appender.take())


def test_timestamp_deltas_wrap_as_64_bits(appender):
    appender.append(1, None, b"")
    appender.append(-(2**63), None, b"")
    assert bytes.fromhex("feffffffffffffffff01") in appender.take()


@pytest.mark.parametrize("values", [[], [b"x"], [b"x" * 100, None, b"y"]])
def test_a_sealed_batch_equals_that_of_the_builder(hot, values):
    appender = hot["_append_hot"].RecordAppender()
    builder = BatchBuilder(producer_id=2**40, producer_epoch=3, base_sequence=2**31 - 1)
    for number, value in enumerate(values):
        appender.append(1000 - number, b"k", value)
        builder.append(b"k", value, timestamp_ms=1000 - number)
    assert appender.take_sealed(2**40, 3, 2**31 - 1) == builder.build()
    assert appender.try_append(0, None, b"late", (), 1000) == -1
