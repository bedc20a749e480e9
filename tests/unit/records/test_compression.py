"""Codecs: framing, foreign framings, and bombs that are rejected before they are decompressed."""

import struct
import tracemalloc
import zlib
from random import Random

import cramjam
import pytest
import zstandard
from support.records.bombs import BOMBS, MIB, zstd_bomb

from barnabas.model.errors import CorruptRecordError
from barnabas.model.records import Codec
from barnabas.records import compression
from barnabas.records.compression import (
    XERIAL_HEADER,
    DecompressedTooLargeError,
    compress,
    decompress,
)

COMPRESSING = [codec for codec in Codec if codec != Codec.NONE]
DATA = b"".join(b"record number %d " % index for index in range(10_000))


@pytest.fixture(params=[True, False], ids=["with the extra", "without"], autouse=True)
def extra(request, monkeypatch):
    """Every test runs with the libraries of the extra `compression` and without them."""
    if not request.param:
        leave_out_the_extra(monkeypatch)


def leave_out_the_extra(monkeypatch):
    monkeypatch.setattr(compression, "_inflate", zlib)
    monkeypatch.setattr(compression, "_zstandard", None)


@pytest.mark.parametrize("codec", Codec)
@pytest.mark.parametrize("data", [b"", b"x", DATA, bytes(3 * MIB)], ids=["0", "1", "text", "zeros"])
def test_round_trip(codec, data):
    packed = compress(codec, memoryview(data))
    assert bytes(decompress(codec, packed, len(data))) == data


@pytest.mark.parametrize("codec", COMPRESSING)
def test_the_cap_is_exact(codec):
    packed = compress(codec, DATA)
    assert bytes(decompress(codec, packed, len(DATA))) == DATA
    with pytest.raises(DecompressedTooLargeError) as caught:
        decompress(codec, packed, len(DATA) - 1)
    assert caught.value.compressed_size == len(packed)


@pytest.mark.parametrize("codec", [Codec.GZIP, Codec.LZ4, Codec.ZSTD])
def test_levels(codec):
    sizes = {len(compress(codec, DATA, level)) for level in (1, 9)}
    assert len(sizes) == 2


@pytest.mark.parametrize("codec", COMPRESSING)
def test_truncated_or_damaged_or_empty(codec):
    packed = bytes(compress(codec, DATA))
    for bad in (b"", packed[:-1], packed[: len(packed) // 2], packed[:3], b"\xff" * 40):
        with pytest.raises(CorruptRecordError):
            decompress(codec, bad, 10 * MIB)


def test_framing():
    assert bytes(compress(Codec.GZIP, DATA))[:10] == b"\x1f\x8b\x08\0\0\0\0\0\0\x03"
    assert bytes(compress(Codec.SNAPPY, DATA)).startswith(XERIAL_HEADER)
    lz4 = bytes(compress(Codec.LZ4, DATA))
    assert lz4[:4] == b"\x04\x22\x4d\x18"
    assert lz4[4] & 0x20, "Java's reader refuses linked blocks"
    assert bytes(compress(Codec.ZSTD, DATA))[:4] == b"\x28\xb5\x2f\xfd"


@pytest.mark.parametrize("size", [0, 1, 65535, 65536, 65537, 200_000])
@pytest.mark.parametrize("content", ["text", "random"])
def test_lz4_blocks_of_every_size(size, content):
    source = (DATA * (size // len(DATA) + 1)) if content == "text" else Random(1).randbytes(size)
    data = source[:size]
    packed = compress(Codec.LZ4, memoryview(data))
    assert len(packed) <= size + 15 + 4 * (size // 65536), "a block never grows"
    assert bytes(decompress(Codec.LZ4, packed, size)) == data
    assert bytes(cramjam.lz4.decompress(packed)) == data


def test_the_default_lz4_level_is_the_fast_compressor():
    assert compress(Codec.LZ4, DATA) == compress(Codec.LZ4, DATA, 9), "9 is Java's default"
    assert len(compress(Codec.LZ4, DATA, 4)) < len(compress(Codec.LZ4, DATA))


def test_equal_input_gives_equal_bytes():
    for codec in COMPRESSING:
        assert bytes(compress(codec, DATA)) == bytes(compress(codec, DATA))


def test_raw_snappy_is_read_too():
    assert bytes(decompress(Codec.SNAPPY, bytes(cramjam.snappy.compress_raw(DATA)), MIB)) == DATA


def test_gzip_members_in_a_row():
    packed = bytes(compress(Codec.GZIP, b"one ")) + bytes(compress(Codec.GZIP, b"two"))
    assert decompress(Codec.GZIP, packed, 7) == b"one two"
    with pytest.raises(DecompressedTooLargeError):
        decompress(Codec.GZIP, packed, 6)


@pytest.mark.parametrize("size", [0, 1, MIB - 1, MIB, MIB + 1, 3 * MIB])
def test_gzip_in_steps(size):
    data = (DATA * 30)[:size]
    packed = bytes(compress(Codec.GZIP, data)) + bytes(compress(Codec.GZIP, b""))
    assert decompress(Codec.GZIP, packed, size) == data
    with pytest.raises(CorruptRecordError):
        decompress(Codec.GZIP, packed[:-1], size)


def test_zstd_and_lz4_frames_in_a_row():
    for codec in (Codec.ZSTD, Codec.LZ4):
        packed = bytes(compress(codec, DATA)) * 2
        assert bytes(decompress(codec, packed, MIB)) == DATA * 2


@pytest.mark.parametrize("name", BOMBS)
def test_bombs_are_rejected_at_the_cap(name):
    codec, make = BOMBS[name]
    bomb, cap = make(), MIB
    tracemalloc.start()
    try:
        with pytest.raises(CorruptRecordError):
            decompress(codec, bomb, cap)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 3 * cap


def test_the_zstd_bombs_are_real():
    for declared in (True, False):
        bomb = zstd_bomb(MIB, declared=declared)
        assert bytes(decompress(Codec.ZSTD, bomb, MIB)) == bytes(MIB)


def test_a_zstd_frame_that_lies_about_its_size():
    bomb = bytearray(zstd_bomb(16 * MIB, declared=True))
    bomb[6:14] = struct.pack("<Q", 1000)
    with pytest.raises(CorruptRecordError):
        decompress(Codec.ZSTD, bomb, MIB)


def zstd_frame(declared, content, *, last=True):
    """Returns a frame with a content size of 8 bytes and one uncompressed block."""
    start = struct.pack("<I", len(content) << 3 | last)[:3]
    return b"\x28\xb5\x2f\xfd\xe0" + struct.pack("<Q", declared) + start + content


@pytest.mark.parametrize("declared", [0, 2, 2**20, 2**40, 2**62, 2**64 - 2])
def test_a_short_zstd_frame_that_declares_a_wrong_size(declared):
    assert bytes(decompress(Codec.ZSTD, zstd_frame(1, b"a"), 1)) == b"a"
    with pytest.raises(CorruptRecordError):
        decompress(Codec.ZSTD, zstd_frame(declared, b"a"), MIB)


def test_a_short_zstd_frame_above_the_limit():
    frame = zstandard.ZstdCompressor().compress(b"abc")
    assert len(frame) < 18
    assert bytes(decompress(Codec.ZSTD, frame, 3)) == b"abc"
    with pytest.raises(DecompressedTooLargeError):
        decompress(Codec.ZSTD, frame, 2)


@pytest.mark.parametrize("rest", [b"\0", b"abcd", bytes(30)])
@pytest.mark.parametrize("size", [0, 1, 3000])
def test_bytes_behind_a_zstd_frame(size, rest):
    for write in (
        zstandard.ZstdCompressor().compress,
        zstandard.ZstdCompressor(write_checksum=True, write_content_size=False).compress,
    ):
        frame = write(DATA[:size])
        assert bytes(decompress(Codec.ZSTD, frame, size)) == DATA[:size]
        assert bytes(decompress(Codec.ZSTD, frame * 2, 2 * size)) == DATA[:size] * 2
        with pytest.raises(CorruptRecordError):
            decompress(Codec.ZSTD, frame + rest, MIB)
        with pytest.raises(CorruptRecordError):
            decompress(Codec.ZSTD, frame[:-1], MIB)


def test_an_lz4_frame_that_declares_no_content():
    """The frame decoder takes a content size of 0 for an unknown one."""
    head = b"\x04\x22\x4d\x18\x68\x40" + bytes(8) + b"\x05"
    frame = head + bytes(compress(Codec.LZ4, DATA))[7:]
    assert bytes(decompress(Codec.LZ4, frame, len(DATA))) == DATA
    with pytest.raises(DecompressedTooLargeError):
        decompress(Codec.LZ4, frame, len(DATA) - 1)


@pytest.mark.parametrize("length", [-1, 0, 2**31 - 1, 100])
def test_xerial_blocks_that_do_not_fit(length):
    with pytest.raises(CorruptRecordError):
        decompress(Codec.SNAPPY, XERIAL_HEADER + struct.pack(">i", length) + b"abc", MIB)
    with pytest.raises(CorruptRecordError):
        decompress(Codec.SNAPPY, XERIAL_HEADER + b"\0\0", MIB)
    with pytest.raises(CorruptRecordError):
        decompress(Codec.SNAPPY, XERIAL_HEADER[:10], MIB)


def xerial(*blocks):
    return XERIAL_HEADER + b"".join(struct.pack(">i", len(block)) + block for block in blocks)


def raw_snappy(data):
    return bytes(cramjam.snappy.compress_raw(data))


@pytest.mark.parametrize("sizes", [(), (5,), (0,), (5, 0, 7), (40_000, 1, 100_000)])
def test_xerial_blocks_of_any_size(sizes, monkeypatch):
    monkeypatch.setattr(compression, "new_buffer", lambda size: bytearray(b"\xaa" * size))
    parts = [(DATA * 2)[:size] for size in sizes]
    packed = xerial(*map(raw_snappy, parts))
    assert decompress(Codec.SNAPPY, packed, sum(sizes)) == b"".join(parts)
    if sum(sizes):
        with pytest.raises(DecompressedTooLargeError) as caught:
            decompress(Codec.SNAPPY, packed, sum(sizes) - 1)
        assert caught.value.compressed_size == len(packed)


@pytest.mark.parametrize("declared", [0, 1, 999, 1001, 3000])
@pytest.mark.parametrize("position", [0, 1, 2, None], ids=["first", "middle", "last", "raw"])
def test_a_snappy_block_that_declares_a_wrong_size(declared, position):
    size = bytes([declared & 0x7F | 0x80, declared >> 7])
    packed = raw_snappy(DATA[:1000])
    assert packed[:2] == bytes([1000 & 0x7F | 0x80, 1000 >> 7])
    wrong = size + packed[2:]
    if position is not None:
        blocks = [packed] * 3
        blocks[position] = wrong
        wrong = xerial(*blocks)
    with pytest.raises(CorruptRecordError):
        decompress(Codec.SNAPPY, wrong, MIB)


def test_snappy_block_without_a_size():
    for wrong in (b"", b"\xff" * 10, xerial(raw_snappy(DATA), b"\xff" * 10)):
        with pytest.raises(CorruptRecordError):
            decompress(Codec.SNAPPY, wrong, MIB)


def test_the_extra_is_installed():
    assert compression._optional("isal.isal_zlib") is not None
    assert compression._optional("zstandard") is not None
    assert compression._optional("barnabas.no_such_module") is None


@pytest.mark.parametrize("codec", [Codec.GZIP, Codec.ZSTD])
def test_the_extra_accepts_exactly_what_the_ordinary_libraries_accept(codec, monkeypatch):
    source = Random(7)
    inputs = [_damaged(_compressed(codec, source), source) for _ in range(1500)]
    found = [_result(codec, data) for data in inputs]
    leave_out_the_extra(monkeypatch)
    assert found == [_result(codec, data) for data in inputs]
    assert 300 < found.count(None) < 1200


def _compressed(codec: Codec, source: Random) -> bytes:
    """Returns one or two members or frames, with and without content size and checksum."""
    words = (b"abc", b"hello world ", source.randbytes(1))
    data = b"".join(source.choices(words, k=source.randrange(1, 300)))
    if codec == Codec.GZIP or source.random() < 0.5:
        packed = bytes(compress(codec, data))
    else:
        writer = zstandard.ZstdCompressor(write_checksum=source.random() < 0.5).compressobj()
        packed = writer.compress(data) + writer.flush()
    return packed * source.choice((1, 1, 2))


def _damaged(data: bytes, source: Random) -> bytes:
    match source.randrange(5):
        case 0:
            return data[: source.randrange(len(data))]
        case 1:
            return data + bytes(source.randrange(1, 20))
        case 2:
            return data
        case _:  # often in the header, whose fields the libraries treat differently
            at = source.randrange(min(len(data), source.choice((12, 10_000))))
            return data[:at] + bytes([data[at] ^ 1 << source.randrange(8)]) + data[at + 1 :]


def _result(codec: Codec, data: bytes) -> bytes | None:
    try:
        return bytes(decompress(codec, data, 1 * MIB))
    except CorruptRecordError:
        return None


def test_the_first_size_is_estimated_by_the_last_batch(monkeypatch):
    """A batch that expands much is not decompressed several times."""
    leave_out_the_extra(monkeypatch)
    packed = zstandard.ZstdCompressor(write_content_size=False).compress(DATA * 4)
    assert len(DATA) * 4 > 8 * max(len(packed), 64 * 1024)
    capacities = []
    original = cramjam.zstd.decompress_into

    def spied(data, out):
        capacities.append(len(out))
        return original(data, out)

    monkeypatch.setattr(compression.cramjam.zstd, "decompress_into", spied)
    monkeypatch.setattr(compression, "_expansion", {})
    for _ in range(2):
        assert len(decompress(Codec.ZSTD, packed)) == len(DATA) * 4
    assert len(capacities) > 2
    assert len(DATA) * 4 <= capacities[-1] < 1.2 * len(DATA) * 4 + len(packed)


def test_small_batches_do_not_change_the_estimate(monkeypatch):
    monkeypatch.setattr(compression, "_expansion", {})
    zeros = bytes(10 * MIB)
    for codec in (Codec.LZ4, Codec.ZSTD):
        decompress(codec, compress(codec, zeros))
        known = dict(compression._expansion)
        decompress(codec, compress(codec, DATA[:1000]))
        assert compression._expansion == known
        assert 100 < known[codec] <= 256
