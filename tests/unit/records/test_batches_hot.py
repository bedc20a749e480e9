"""Compressed batches of every writer: records and columns, limits, and damaged sections."""

import itertools

import pytest
from support.records.frames import WRITERS
from support.records.packed import repacked

from barnabas.model.errors import CorruptRecordError
from barnabas.model.records import Codec
from barnabas.records.arrow import take_arrow
from barnabas.records.builder import build_batch
from barnabas.records.compression import DecompressedTooLargeError, compress
from barnabas.records.reader import FetchDecoder

pytestmark = pytest.mark.usefixtures("hot")

KINDS = {
    "plain": [(b"k%d" % index, b"value %d" % index * 9) for index in range(150)],
    "headers": [(None, b"v%d" % index, [("h", b"x")]) for index in range(30)],
    "tombstones": [(b"key", None)] * 40,
    "equal": [(None, bytes(1000))] * 300,
    "large": [(None, bytes(index % 251 for index in range(100_000)))] * 3,
}


def batch(kind, base, **options):
    return bytes(build_batch(KINDS[kind], base_offset=base, timestamp_ms=7, **options))


def by_records(data, **options):
    records = FetchDecoder(data, "t", 0, **options).take()
    return [(r.offset, r.timestamp, r.key, r.value, r.headers) for r in records]


def by_columns(data, **options):
    table = take_arrow(FetchDecoder(data, "t", 0, **options))
    table.validate(full=True)
    return [
        (
            row["offset"],
            row["timestamp"].timestamp() * 1000,
            row["key"],
            row["value"],
            tuple((header["key"], header["value"]) for header in row["headers"]),
        )
        for row in table.to_pylist()
    ]


def writers(codec):
    """Returns the writers of a codec; of the many for lz4 the ones with blocks of 64 KB."""
    named = WRITERS[codec].items()
    return [write for name, write in named if not name.startswith("lz4") or " 4 " in name]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("codec", [Codec.SNAPPY, Codec.LZ4])
def test_every_writer(codec, kind):
    count = len(KINDS[kind])
    wanted = by_records(batch(kind, 0) + batch(kind, count))
    for write in writers(codec):
        data = repacked(batch(kind, 0), codec, write) + repacked(batch(kind, count), codec, write)
        assert by_records(data) == by_columns(data) == wanted


def test_batches_of_different_codecs_and_kinds():
    data, plain, base = b"", b"", 0
    for codec, kind in itertools.product(Codec, ("plain", "tombstones", "headers", "plain")):
        data += batch(kind, base, codec=codec)
        plain += batch(kind, base)
        base += len(KINDS[kind])
    assert by_records(data) == by_columns(data) == by_records(plain)


@pytest.mark.parametrize("codec", [Codec.GZIP, Codec.SNAPPY, Codec.LZ4, Codec.ZSTD])
@pytest.mark.parametrize("kind", ["plain", "equal", "large"])
def test_the_limit_is_exact(codec, kind):
    size = len(batch(kind, 0)) - 61
    data = batch(kind, 0, codec=codec)
    assert by_records(data, max_decompressed=size) == by_columns(data, max_decompressed=size)
    for read in (by_records, by_columns):
        with pytest.raises(DecompressedTooLargeError, match=f"more than the {size - 1} bytes"):
            read(data, max_decompressed=size - 1)


@pytest.mark.parametrize("codec", [Codec.SNAPPY, Codec.LZ4])
def test_a_section_that_cannot_be_decompressed(codec):
    def damaged(content):
        section = bytearray(compress(codec, content))
        del section[-9:]
        return bytes(section)

    good = batch("plain", 0, codec=codec)
    bad = repacked(batch("plain", 150), codec, damaged)
    for take in (FetchDecoder.take, take_arrow):
        decoder = FetchDecoder(good + bad + good, "t", 0)
        assert len(take(decoder)) == 150
        assert decoder.next_offset == 150
        for _ in range(2):
            with pytest.raises(CorruptRecordError):
                take(decoder)
