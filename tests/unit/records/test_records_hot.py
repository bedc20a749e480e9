"""The decoder: records, raw records, checks; hostile bytes raise CorruptRecordError only."""

import pytest

from barnabas.model.errors import CorruptRecordError
from barnabas.model.records import TimestampType
from barnabas.records.batch import BatchHeader


def header(count, last_delta=None, *, base_timestamp=1000, attributes=0):
    last_delta = max(count - 1, 0) if last_delta is None else last_delta
    return BatchHeader(
        50, 0, 3, 2, 0, attributes, last_delta, base_timestamp, 7777, -1, -1, -1, count
    )


def raw(hot, data, *args, **options):
    return hot["_records_hot"].RecordCursor(bytes.fromhex(data), header(*args, **options)).raw()


GOOD = "20 00 00 00 02 6b 04 7676 04 02 68 02 78 02 6e 01"


def test_known_bytes(hot):
    assert raw(hot, GOOD, 1) == [
        (50, 1000, b"k", b"vv", (("h", b"x"), ("n", None))),
    ]


def test_deltas_and_nulls(hot):
    data = "0c 00 01 00 01 01 00" + "0e 00 c801 0a 00 01 00"
    assert raw(hot, data, 2, 5) == [(50, 999, None, None, ()), (55, 1100, b"", None, ())]


def test_log_append_time(hot):
    (record,) = raw(hot, "0c 00 01 00 01 01 00", 1, attributes=8)
    assert record.timestamp == 7777


def test_undecodable_header_keys_survive(hot):
    (record,) = raw(hot, "12 00 00 00 01 01 02 02 ff 00", 1)
    assert record.headers == (("\udcff", b""),)


def test_non_contiguous_memory_is_not_read_as_if_it_were(hot):
    data = memoryview(bytes.fromhex("0c ff 00 ff 00 ff 00 ff 01 ff 01 ff 00 ff"))[::2]
    try:
        records = hot["_records_hot"].RecordCursor(data, header(1)).raw()
    except (ValueError, BufferError):
        return
    assert records == [(50, 1000, None, None, ())]


@pytest.mark.parametrize(
    ("data", "count"),
    [
        ("", 1),
        ("0c 00 00 00 01 01 00", 2),
        ("0c 00 00 00 01 01 00", 0),
        ("0c 00 00 00 01 01 00", -1),
        ("0c 00 00 00 01 01 00", 2**31 - 1),
        ("0c 00 00 00 01 01 00 00", 1),
        ("0a 00 00 00 01 01 00", 1),
        ("0e 00 00 00 01 01 00", 1),
        ("01 00 00 00 01 01 00", 1),
        ("feffffff0f 00 00 00 01 01 00", 1),
        ("ffffffff0f 00 00 00 01 01 00", 1),
        ("ffffffffff 00 00 00 01 01 00", 1),
        ("ffffffff7f 00 00 00 01 01 00", 1),
        ("0c 00 00 02 01 01 00", 1),
        ("0c 00 00 01 01 01 00", 1),
        ("0c 00 00 00 03 01 00", 1),
        ("0c 00 00 00 10 01 00", 1),
        ("0c 00 00 00 01 03 00", 1),
        ("0c 00 00 00 01 7e 00", 1),
        ("0c 00 00 00 01 01 01", 1),
        ("0c 00 00 00 01 01 02", 1),
        ("14 00 00 00 01 01 feffffff0f", 1),
        ("10 00 00 00 01 01 02 01 00", 1),
        ("10 00 00 00 01 01 02 00 02", 1),
        ("10 00 00 00 01 01 02 00 03", 1),
        ("0e 00 80 80 80 80 80 80", 1),
        ("20 00 ffffffffffffffffff02 00 01 01 00 00 00", 1),
        ("20 00 ffffffffffffffffffff 00 01 01 00 00 00", 1),
    ],
)
def test_hostile_bytes(hot, data, count):
    data = bytes.fromhex(data)
    module = hot["_records_hot"]
    last_delta = 0
    for walk in ("raw", "check", "spans"):
        with pytest.raises(CorruptRecordError):
            getattr(module.RecordCursor(data, header(count, last_delta)), walk)()
    with pytest.raises(CorruptRecordError):
        module.RecordCursor(data, header(count, last_delta)).records("t", 0, 0, [])
    columns = hot["_columns_hot"].ArrowColumns()
    with pytest.raises(CorruptRecordError):
        module.RecordCursor(data, header(count, last_delta)).columns(columns, 0)


@pytest.mark.parametrize("walk", ["raw", "check", "spans"])
def test_every_truncation_is_corrupt(hot, walk):
    data = bytes.fromhex(GOOD + "0c 00 00 02 01 01 00")
    for cut in range(len(data)):
        with pytest.raises(CorruptRecordError):
            getattr(hot["_records_hot"].RecordCursor(data[:cut], header(2)), walk)()


def test_check(hot):
    cursor = hot["_records_hot"].RecordCursor
    data = bytes.fromhex("0c 00 01 00 00 01 00" + "0c 00 04 02 01 01 00" + "0c 00 00 04 01 01 00")
    assert cursor(data, header(3)).check() == (999, 1002, 1)
    assert cursor(data[:7], header(1)).check() == (999, 999, -1)


def test_check_demands_consecutive_offsets(hot):
    data = bytes.fromhex("0c 00 00 00 01 01 00" + "0c 00 00 04 01 01 00")
    with pytest.raises(CorruptRecordError, match="record 1 claims offset delta 2"):
        hot["_records_hot"].RecordCursor(data, header(2, 2)).check()


def test_spans(hot):
    data = bytes.fromhex(GOOD + "0c 00 00 02 01 01 00")
    assert hot["_records_hot"].RecordCursor(data, header(2)).spans() == [
        (0, 17, 1000),
        (17, 24, 1000),
    ]


def test_records_from_an_offset(hot):
    data = bytes.fromhex(GOOD + "0c 00 00 02 01 01 00")
    out = []
    hot["_records_hot"].RecordCursor(data, header(2)).records("t", 4, 51, out)
    (record,) = out
    assert (record.topic, record.partition, record.offset, record.timestamp) == ("t", 4, 51, 1000)
    assert (record.key, record.value, record.headers) == (None, None, ())
    assert record.leader_epoch == 3
    assert record.timestamp_type is TimestampType.CREATE_TIME


def test_extreme_offsets_and_times(hot):
    top = header(1)
    top.base_offset = 2**63 - 1
    top.base_timestamp = 2**63 - 1
    (record,) = hot["_records_hot"].RecordCursor(bytes.fromhex("0c 00 00 00 01 01 00"), top).raw()
    assert (record.offset, record.timestamp) == (2**63 - 1, 2**63 - 1)


def test_timestamps_wrap_as_64_bits(hot):
    top = header(1, base_timestamp=2**63 - 1)
    (record,) = hot["_records_hot"].RecordCursor(bytes.fromhex("0c 00 02 00 01 01 00"), top).raw()
    assert record.timestamp == -(2**63)
