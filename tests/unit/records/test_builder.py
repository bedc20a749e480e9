"""Whole batches: header, codecs, markers."""

import pytest

from barnabas.model.records import Codec, TimestampType
from barnabas.records.batch import crc_ok, parse_header
from barnabas.records.builder import BatchBuilder, build_batch, control_batch
from barnabas.records.control import ControlType, EndMarker, decode_end_marker
from barnabas.records.reader import decode_records, iter_raw
from barnabas.records.record import RawRecord

pytestmark = pytest.mark.usefixtures("hot")


@pytest.mark.parametrize("codec", Codec)
def test_round_trip(codec):
    builder = BatchBuilder(codec=codec, base_offset=7)
    for index in range(200):
        headers = [("h", b"1"), ("n", None)] if index % 3 == 0 else ()
        assert builder.append(b"k%d" % index, b"v" * index, headers, 1000 + index) == index
    assert builder.count == 200
    size = builder.estimated_size
    batch = builder.build()
    header = parse_header(batch)
    assert header.codec == codec
    assert crc_ok(batch, 0, header)
    assert (len(batch) == size) == (codec == Codec.NONE)
    records = iter_raw(batch, 0, header)
    assert records[3] == RawRecord(10, 1003, b"k3", b"vvv", (("h", b"1"), ("n", None)))
    assert [record.offset for record in records] == list(range(7, 207))
    assert (header.base_timestamp, header.max_timestamp) == (1000, 1199)


def test_attributes():
    batch = build_batch(
        [(None, b"x")],
        codec=Codec.ZSTD,
        timestamp_type=TimestampType.LOG_APPEND_TIME,
        transactional=True,
        control=True,
    )
    assert parse_header(batch).attributes == 0b111100


def test_an_empty_batch_is_a_header():
    batch = build_batch([])
    assert len(batch) == 61
    assert decode_records(batch, "t", 0).next_offset == 1


@pytest.mark.parametrize("commit", [True, False])
def test_control_batch(commit):
    batch = control_batch(commit, 3, 1000, 4, 1700)
    header = parse_header(batch)
    assert header.is_control
    assert header.is_transactional
    assert (header.producer_id, header.producer_epoch, header.base_sequence) == (1000, 4, -1)
    (record,) = iter_raw(batch, 0, header)
    assert record.timestamp == 1700
    kind = ControlType.COMMIT if commit else ControlType.ABORT
    assert decode_end_marker(record.key, record.value) == EndMarker(kind, 3)
    assert decode_records(batch, "t", 0).records == []
