"""Message sets of magic 0 and 1, as old logs hold them."""

import struct
import zlib

import pytest

from barnabas.model.errors import CorruptRecordError
from barnabas.model.records import Codec, TimestampType
from barnabas.records.arrow import take_arrow
from barnabas.records.compression import DecompressedTooLargeError, compress
from barnabas.records.reader import FetchDecoder, decode_records

pytestmark = pytest.mark.usefixtures("hot")


def field(data):
    return struct.pack(">i", -1) if data is None else struct.pack(">i", len(data)) + data


def message(offset, value, *, key=None, magic=1, attributes=0, timestamp=500):
    body = bytes([magic, attributes])
    body += struct.pack(">q", timestamp) if magic else b""
    body += field(key) + field(value)
    return struct.pack(">qiI", offset, len(body) + 4, zlib.crc32(body)) + body


def wrap(codec, inner, offset, **options):
    attributes = options.pop("attributes", 0) | codec
    packed = bytes(compress(codec, b"".join(inner)))
    return message(offset, packed, attributes=attributes, **options)


def simple(result):
    return [
        (record.offset, record.timestamp, record.key, record.value) for record in result.records
    ]


def test_plain_messages():
    data = message(3, b"a", magic=0) + message(4, None, key=b"k", timestamp=77)
    result = decode_records(data, "t", 1)
    assert simple(result) == [(3, -1, None, b"a"), (4, 77, b"k", None)]
    assert (result.next_offset, result.last_leader_epoch) == (5, -1)


@pytest.mark.parametrize("codec", [Codec.GZIP, Codec.SNAPPY, Codec.LZ4])
def test_magic_0_wrappers_hold_absolute_offsets(codec):
    inner = [message(offset, b"%d" % offset, magic=0) for offset in (7, 8, 9)]
    result = decode_records(wrap(codec, inner, 9, magic=0), "t", 0, fetch_offset=8)
    assert simple(result) == [(8, -1, None, b"8"), (9, -1, None, b"9")]
    assert result.next_offset == 10


@pytest.mark.parametrize("codec", [Codec.GZIP, Codec.SNAPPY, Codec.LZ4])
def test_magic_1_wrappers_hold_relative_offsets(codec):
    inner = [message(index, b"%d" % index, timestamp=index) for index in range(3)]
    result = decode_records(wrap(codec, inner, 102), "t", 0)
    assert simple(result) == [(100, 0, None, b"0"), (101, 1, None, b"1"), (102, 2, None, b"2")]


def test_a_compacted_wrapper_has_gaps():
    inner = [message(1, b"a"), message(4, b"b")]
    result = decode_records(wrap(Codec.GZIP, inner, 104), "t", 0)
    assert [record.offset for record in result.records] == [101, 104]


def test_log_append_time_of_the_wrapper_is_everyones():
    inner = [message(index, b"x", timestamp=index) for index in range(2)]
    data = wrap(Codec.GZIP, inner, 1, attributes=8, timestamp=9000)
    result = decode_records(data, "t", 0)
    assert {record.timestamp for record in result.records} == {9000}
    assert {record.timestamp_type for record in result.records} == {TimestampType.LOG_APPEND_TIME}


def test_magic_0_has_no_timestamp_type():
    (record,) = decode_records(message(0, b"", magic=0, attributes=8), "t", 0).records
    assert record.timestamp_type is TimestampType.CREATE_TIME


def test_partial_tail():
    data = message(0, b"a") + message(1, b"b")
    for cut in range(len(message(0, b"a")), len(data)):
        assert decode_records(data[:cut], "t", 0).next_offset == 1


def test_arrow():
    data = message(3, b"a", magic=0) + message(4, None, key=b"k", timestamp=77)
    table = take_arrow(FetchDecoder(data, "t", 1))
    assert table.column("offset").to_pylist() == [3, 4]
    assert table.column("value").to_pylist() == [b"a", None]
    assert table.column("headers").to_pylist() == [[], []]


def test_bomb():
    data = wrap(Codec.GZIP, [message(0, bytes(100_000))], 0)
    with pytest.raises(DecompressedTooLargeError):
        decode_records(data, "t", 0, max_decompressed=50_000)


def recrc(data):
    data = bytearray(data)
    data[12:16] = struct.pack(">I", zlib.crc32(data[16:]))
    return bytes(data)


BAD = {
    "zstd": message(0, b"x", attributes=Codec.ZSTD),
    "codec 7": message(0, b"x", attributes=7),
    "no value": message(0, None, attributes=Codec.GZIP),
    "not gzip": message(0, b"x", attributes=Codec.GZIP),
    "empty wrapper": wrap(Codec.GZIP, [], 0),
    "nested": wrap(Codec.GZIP, [wrap(Codec.GZIP, [message(0, b"x")], 0)], 0),
    "mixed": wrap(Codec.GZIP, [message(0, b"x", magic=0)], 0),
    "cut inside": wrap(Codec.GZIP, [message(0, b"x")[:-1]], 0),
    "inner past wrapper": wrap(Codec.GZIP, [message(5, b"x")], 3),
    "negative offset": message(-1, b"x"),
    "trailing byte": recrc(
        message(0, b"x")[:8] + struct.pack(">i", 24) + message(0, b"x")[12:] + b"\0"
    ),
    "key size": recrc(message(0, b"x")[:26] + b"\x7f\xff\xff\xff" + message(0, b"x")[30:]),
    "key size -2": recrc(message(0, b"x")[:26] + b"\xff\xff\xff\xfe" + message(0, b"x")[30:]),
    "checksum": message(0, b"x")[:-1] + b"y",
    "short magic 1": recrc(struct.pack(">qiIbb", 0, 14, 0, 1, 0) + struct.pack(">ii", -1, -1)),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_messages(name):
    with pytest.raises(CorruptRecordError):
        decode_records(BAD[name], "t", 0)
