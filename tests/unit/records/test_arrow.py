"""Fetch responses as Arrow: equal to the records, row by row."""

import subprocess
import sys

import pyarrow as pa
import pytest

from barnabas.model.errors import CorruptRecordError
from barnabas.model.records import Codec
from barnabas.records.arrow import _SHARED_BYTES, ArrowRows, schema, take_arrow
from barnabas.records.batch import assign_offsets, write_crc
from barnabas.records.builder import BatchBuilder, build_batch, control_batch
from barnabas.records.reader import FetchDecoder

pytestmark = pytest.mark.usefixtures("hot")


def mixed(base, count, codec=Codec.NONE):
    builder = BatchBuilder(codec=codec, base_offset=base)
    for index in range(count):
        builder.append(
            None if index % 3 == 0 else b"k%d" % index,
            None if index % 5 == 0 else b"v" * index,
            [("a", b"%d" % index), ("ü", None)][: index % 3],
            1000 + index,
        )
    return bytes(builder.build())


def rows(table):
    for row in table.to_pylist():
        row["timestamp"] = round(row["timestamp"].timestamp() * 1000)
        row["headers"] = tuple((header["key"], header["value"]) for header in row["headers"])
        yield row


@pytest.mark.parametrize("codec", Codec)
def test_equal_to_records(codec):
    data = mixed(0, 50, codec) + mixed(50, 7)
    table = take_arrow(FetchDecoder(data, "t", 6, fetch_offset=5))
    table.validate(full=True)
    records = FetchDecoder(data, "t", 6, fetch_offset=5).take()
    assert [
        {name: getattr(record, name) for name in table.schema.names} for record in records
    ] == list(rows(table))


def varied(codec):
    """Small batches of every kind: plain, keyless, both, with headers, tombstones, long numbers."""
    kinds = (
        [(b"k%d" % n, b"v" * n) for n in range(9)],
        [(None, b"v%d" % n) for n in range(11)],
        [(None if n % 3 else b"k", b"v") for n in range(10)],
        [(b"k", None), (b"", b"")],
        [(b"k", b"v", [("h", b"x")]), (None, b"w")],
        [(b"k" * 9000, b"v" * 70_000), (None, b"")],
        [(None, b"v")],
    )
    data, base = b"", 0
    for turn in range(3):
        for kind in kinds:
            data += build_batch(kind, codec=codec, base_offset=base, timestamp_ms=10**12 + turn)
            base += len(kind)
    return data


@pytest.mark.parametrize("codec", Codec)
def test_many_small_batches_equal_their_records(codec):
    data = varied(codec)
    table = take_arrow(FetchDecoder(data, "t", 0, fetch_offset=3))
    table.validate(full=True)
    records = FetchDecoder(data, "t", 0, fetch_offset=3).take()
    names = table.schema.names
    assert [{name: getattr(record, name) for name in names} for record in records] == list(
        rows(table)
    )


def test_transactions_among_small_batches():
    def batch(base, producer_id):
        return bytes(
            build_batch(
                [(None, b"%d" % base)],
                base_offset=base,
                timestamp_ms=1,
                producer_id=producer_id,
                producer_epoch=0,
                base_sequence=0,
                transactional=producer_id >= 0,
            )
        )

    def marker(base, producer_id, commit):
        made = control_batch(commit, 0, producer_id, 0, 1)
        assign_offsets(made, 0, base, 0)
        return bytes(made)

    data = batch(0, 7) + batch(1, -1) + batch(2, 8) + marker(3, 7, False) + marker(4, 8, True)
    data += batch(5, 7) + marker(6, 7, True)
    decoder = FetchDecoder(data, "t", 0, aborted=[(7, 0)])
    assert take_arrow(decoder).column("value").to_pylist() == [b"1", b"2", b"5"]
    assert decoder.next_offset == 7
    everything = take_arrow(FetchDecoder(data, "t", 0))
    assert everything.column("value").to_pylist() == [b"0", b"1", b"2", b"5"]


@pytest.mark.parametrize("codec", [Codec.NONE, Codec.LZ4])
def test_damaged_batches_give_the_same_as_records(codec):
    data = bytearray(build_batch([(None, b"a"), (b"k", b"bc")], codec=codec, timestamp_ms=5))
    data += build_batch([(None, b"d")], base_offset=2, codec=codec, timestamp_ms=5)
    for at in range(len(data)):
        for flip in (0x01, 0x80, 0xFF):
            bad = bytearray(data)
            bad[at] ^= flip
            for check in (True, False):
                assert outcome(bad, check, columns=True) == outcome(bad, check, columns=False)


CHECKSUM_SIZES = [*range(20), *range(1014, 1030), *range(2990, 3010), 6100, 24_555, 24_600, 80_000]
"""Sizes of values around those at which the computation of checksums changes its way."""


@pytest.mark.parametrize("size", CHECKSUM_SIZES)
def test_checksums_of_all_sizes(size):
    value = bytes(index * 7 & 0xFF for index in range(size))
    data = build_batch([(None, value)], timestamp_ms=1)
    assert take_arrow(FetchDecoder(data, "t", 0)).column("value").to_pylist() == [value]
    for at in {21, 62, len(data) // 2, len(data) - 1}:
        bad = bytearray(data)
        bad[at] ^= 0x10
        with pytest.raises(CorruptRecordError, match="wrong checksum"):
            take_arrow(FetchDecoder(bad, "t", 0))


def large(base, count=700):
    """A batch of about 70 KB in which keys come and go, and values have different sizes."""
    builder = BatchBuilder(base_offset=base)
    for index in range(count):
        key = None if index // 50 % 2 else b"k%d" % index
        builder.append(key, b"%d" % index * (index % 37 + 1), (), 1000 + index)
    return bytes(builder.build())


@pytest.mark.parametrize("share", [0, 0.1, 0.34, 0.5, 0.7, 0.999])
def test_a_large_batch_that_is_damaged_leaves_no_rows(share):
    """Large batches are checked and copied in steps; the damage may be in any of them."""
    first, second = large(0), large(700)
    bad = bytearray(first + second)
    bad[len(first) + 61 + int(share * (len(second) - 62))] ^= 0x01
    decoder = FetchDecoder(bad, "t", 0)
    table = take_arrow(decoder)
    table.validate(full=True)
    assert table.equals(take_arrow(FetchDecoder(first, "t", 0)))
    assert decoder.next_offset == 700
    with pytest.raises(CorruptRecordError, match="wrong checksum of the batch at 700"):
        take_arrow(decoder)


def test_large_batches_equal_their_records():
    data = b"".join(large(base) for base in (0, 700, 1400))
    table = take_arrow(FetchDecoder(data, "t", 0))
    table.validate(full=True)
    records = FetchDecoder(data, "t", 0).take()
    names = ("offset", "timestamp", "key", "value", "headers")
    assert [tuple(row[name] for name in names) for row in rows(table)] == [
        tuple(getattr(record, name) for name in names) for record in records
    ]


def test_a_false_number_of_records_needs_no_memory():
    """The checksum is right, but the batch cannot contain so many records."""
    data = bytearray(build_batch([(None, b"v")]))
    data[57:61] = (2**31 - 1).to_bytes(4, "big")
    write_crc(data, 0, len(data))
    with pytest.raises(CorruptRecordError, match="do not fit"):
        take_arrow(FetchDecoder(data, "t", 0))


def test_an_unknown_codec_is_corrupt():
    data = bytearray(build_batch([(None, b"a")]))
    data[22] |= 5
    with pytest.raises(CorruptRecordError, match="codec 5"):
        take_arrow(FetchDecoder(data, "t", 0, check_crcs=False))


def outcome(data, check_crcs, *, columns):
    decoder = FetchDecoder(data, "t", 0, check_crcs=check_crcs, max_decompressed=100_000)
    try:
        if columns:
            found = take_arrow(decoder)
            found.validate(full=True)
            found = list(
                zip(*(found.column(n).to_pylist() for n in ("offset", "value")), strict=True)
            )
        else:
            found = [(record.offset, record.value) for record in decoder.take()]
    except CorruptRecordError:
        found = "corrupt"
    return found, decoder.next_offset, decoder.last_leader_epoch


def test_schema_and_names():
    table = take_arrow(FetchDecoder(mixed(0, 3), "t", 0))
    assert table.schema == schema()
    assert table.schema.names == [
        "topic", "partition", "offset", "timestamp", "key", "value", "headers",
    ]  # fmt: skip


def test_nothing():
    table = take_arrow(FetchDecoder(b"", "t", 0))
    table.validate(full=True)
    assert (table.num_rows, table.schema) == (0, schema())


def test_no_timestamp_is_null():
    data = build_batch([(None, b"a")]) + build_batch([(None, b"b")], timestamp_ms=4, base_offset=1)
    table = take_arrow(FetchDecoder(data, "t", 0))
    table.validate(full=True)
    assert table.column("timestamp").is_null().to_pylist() == [True, False]


def test_max_records_ends_at_a_batch():
    decoder = FetchDecoder(mixed(0, 5) + mixed(5, 5) + mixed(10, 5), "t", 0)
    assert take_arrow(decoder, 6).num_rows == 10
    assert decoder.next_offset == 10
    assert take_arrow(decoder, 6).num_rows == 5


def test_a_batch_corrupt_half_way_leaves_no_rows():
    bad = bytearray(mixed(11, 12))
    bad[-1] ^= 0x7F
    decoder = FetchDecoder(mixed(0, 11) + bytes(bad), "t", 0, check_crcs=False)
    table = take_arrow(decoder)
    table.validate(full=True)
    assert table == take_arrow(FetchDecoder(mixed(0, 11), "t", 0))
    with pytest.raises(CorruptRecordError):
        take_arrow(decoder)


def test_many_partitions_into_one_set_of_columns(hot):
    columns = hot["_columns_hot"].ArrowColumns()
    for partition in range(100):
        FetchDecoder(mixed(0, 12), "t", partition).take_columns(columns)
    assert columns.count == 1200
    assert len(columns.take()["value"][2]) == columns_size(100)


def columns_size(times):
    return times * sum(index for index in range(12) if index % 5)


def test_pyarrow_is_not_imported_before_it_is_needed():
    """Passes when the process exits with status 0."""
    clients = ("group.consumer", "group.aio_consumer", "simple.consumer")
    imports = ", ".join(f"barnabas.clients.{name}" for name in clients)
    code = f"import sys, {imports}; sys.exit('pyarrow' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize("at", range(8))
def test_plain_records_around_one_that_is_not(at):
    """Records with key, value, no headers and short numbers are read by separate compiled code."""
    odd = [
        (None, b"v", [], 1000),
        (b"k", None, [], 1000),
        (b"k", b"v", [("h", b"x")], 1000),
        (b"k", b"v" * 9000, [], 1000),
        (b"k" * 9000, b"v", [], 1000),
        (b"k", b"v", [], 1_000_000),
        (b"k", b"v", [], 900),
        (b"", b"", [], 1000),
    ][at]
    builder = BatchBuilder(base_offset=3)
    for index in range(20):
        builder.append(*(odd if index in (9, 19) else (b"k%d" % index, b"v" * index, [], 1000)))
    data = bytes(builder.build())
    for start in (0, 3, 7):
        table = take_arrow(FetchDecoder(data, "t", 0, fetch_offset=start))
        table.validate(full=True)
        records = FetchDecoder(data, "t", 0, fetch_offset=start).take()
        wanted = [(r.offset, r.timestamp, r.key, r.value, r.headers) for r in records]
        names = ("offset", "timestamp", "key", "value", "headers")
        assert [tuple(row[name] for name in names) for row in rows(table)] == wanted


def test_a_plain_record_that_is_cut_short():
    """For any corrupt byte, decoding to columns and to records has the same result."""
    whole = build_batch([(b"key", b"value", (), 1000 + n) for n in range(4)])
    for position in range(61, len(whole)):
        for byte in (0, 1, 0x7F, 0x80, 0xFF):
            data = bytearray(whole)
            data[position] = byte
            assert _columns(data) == _records(data), (position, byte)


def _records(data):
    try:
        found = FetchDecoder(data, "t", 0, check_crcs=False).take()
    except CorruptRecordError:
        return None
    return [(record.offset, record.key, record.value) for record in found]


def _columns(data):
    try:
        table = take_arrow(FetchDecoder(data, "t", 0, check_crcs=False))
    except CorruptRecordError:
        return None
    columns = (table.column(name).to_pylist() for name in ("offset", "key", "value"))
    return list(zip(*columns, strict=True))


def test_batches_of_one_topic_share_its_column():
    first, second = (take_arrow(FetchDecoder(mixed(0, 50), "t", 3)) for _ in range(2))
    for name in ("topic", "partition"):
        one, other = (table.column(name) for table in (first, second))
        assert one.buffers()[-1].address == other.buffers()[-1].address
    assert first.column("topic").to_pylist() == ["t"] * 50
    assert first.column("partition").to_pylist() == [3] * 50


def test_a_topic_column_that_is_too_large_to_share():
    name = "t" * 249
    count = _SHARED_BYTES // len(name) + 1
    data = build_batch([(None, b"v")] * count, timestamp_ms=0)
    table = take_arrow(FetchDecoder(data, name, 0))
    table.validate(full=True)
    assert table.column("topic").unique().to_pylist() == [name]
    assert table.num_rows == count


def test_columns_of_several_partitions_and_of_a_decoder_without_records():
    collected = ArrowRows()
    empty = FetchDecoder(b"", "e", 9)
    for decoder in (empty, FetchDecoder(mixed(0, 2), "a", 1), FetchDecoder(mixed(0, 1), "b", 2)):
        collected.take_from(decoder)
    table = collected.build()
    assert table.column("topic").to_pylist() == ["a", "a", "b"]
    assert table.column("partition").to_pylist() == [1, 1, 2]


@pytest.mark.parametrize("header", [(), (("h", b""),)])
def test_only_a_record_without_timestamp_is_null(header):
    builder = BatchBuilder()
    for timestamp in (5, -1, 7):
        builder.append(None, b"v", header, timestamp)
    table = take_arrow(FetchDecoder(bytes(builder.build()), "t", 0))
    assert table.column("timestamp").cast(pa.int64()).to_pylist() == [5, None, 7]
