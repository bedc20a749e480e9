"""Rows of Arrow columns become the same bytes as records appended one by one."""

import array

import pyarrow as pa
import pytest

from barnabas.records.batch import HEADER_SIZE

KEYS = [b"a", None, b"", b"k" * 70, b"e"] * 8
VALUES = [b"v" * (number % 130) if number % 7 else None for number in range(40)]


def column(hot, values, kind=None):
    made = pa.array([b"before", *values], kind or pa.binary()).slice(1)
    bits, ends, data = made.buffers()
    return hot["_rows_hot"].BytesColumn(bits if made.null_count else None, ends, data, made.offset)


def encoder(hot, keys, values, order):
    keys = None if keys is None else column(hot, keys)
    return hot["_rows_hot"].RowEncoder(keys, column(hot, values), array.array("q", order))


@pytest.mark.parametrize("keys", [KEYS, None])
def test_same_bytes_as_one_by_one(hot, keys):
    order = [*range(39, -1, -2), *range(0, 40, 2)]
    rows = encoder(hot, keys, VALUES, order)
    by_rows, one_by_one = (hot["_append_hot"].RecordAppender() for _ in range(2))
    done = 0
    while done < len(order):
        count = by_rows.try_append_rows(1000 + done, rows, done, len(order), 500 + 900 * done)
        for place in order[done : done + count]:
            one_by_one.append(1000 + done, keys and keys[place], VALUES[place])
        assert count > 0
        done += count
    assert (by_rows.size, by_rows.count) == (one_by_one.size, one_by_one.count)
    assert by_rows.max_timestamp == one_by_one.max_timestamp
    assert by_rows.base_timestamp == one_by_one.base_timestamp
    assert by_rows.take()[HEADER_SIZE:] == one_by_one.take()[HEADER_SIZE:]


def test_never_past_the_limit(hot):
    rows = encoder(hot, KEYS, VALUES, range(40))
    for limit in range(HEADER_SIZE, 400):
        appender = hot["_append_hot"].RecordAppender(128)
        count = appender.try_append_rows(0, rows, 0, 40, limit)
        assert appender.size <= max(limit, HEADER_SIZE)
        key, value = rows.row(count)
        assert appender.size_if_appended(0, key, value) > limit


def test_a_row_that_does_not_fit_leaves_no_trace(hot):
    appender = hot["_append_hot"].RecordAppender()
    rows = encoder(hot, None, [b"x" * 500], [0])
    assert appender.try_append_rows(77, rows, 0, 1, 200) == 0
    assert (appender.size, appender.count, appender.base_timestamp) == (HEADER_SIZE, 0, -1)


def test_rows_as_objects(hot):
    rows = encoder(hot, [b"k", None], [None, b"v"], [1, 0])
    assert (rows.row(0), rows.row(1)) == ((None, b"v"), (b"k", None))


def test_text_and_empty_buffers(hot):
    words = hot["_rows_hot"].RowEncoder(
        None, column(hot, ["ä", None], pa.string()), array.array("q", [0, 1])
    )
    assert [words.row(0)[1], words.row(1)[1]] == ["ä".encode(), None]
    bits, ends, _ = pa.array([None], pa.binary()).buffers()
    assert hot["_rows_hot"].BytesColumn(bits, ends, None, 0).get(0) is None


def test_times_of_their_own(hot):
    """Timestamps are relative to the first record, in any order of timestamps."""
    times = [5000, -7, 2**40, 0]
    rows = hot["_rows_hot"].RowEncoder(
        None, column(hot, [b"a", b"b", b"c", b"d"]), array.array("q", [2, 0, 1, 3]),
        array.array("q", times),
    )  # fmt: skip
    by_rows, one_by_one = (hot["_append_hot"].RecordAppender() for _ in range(2))
    assert by_rows.try_append_rows(1, rows, 0, 2, 1000) == 2
    assert by_rows.try_append_rows(1, rows, 2, 4, 1000) == 2
    for place in (2, 0, 1, 3):
        one_by_one.append(times[place], None, b"abcd"[place : place + 1])
    assert by_rows.base_timestamp == one_by_one.base_timestamp == 2**40
    assert by_rows.max_timestamp == one_by_one.max_timestamp
    assert by_rows.take()[HEADER_SIZE:] == one_by_one.take()[HEADER_SIZE:]
    assert rows.time(1, 9) == 5000
