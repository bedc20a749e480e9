"""Codecs: framing, foreign framings, and bombs that are refused, not expanded."""

import struct
import tracemalloc
from random import Random

import cramjam
import pytest
from support.records.bombs import MIB, bombs, zstd_bomb

from barnabas.model.errors import CorruptRecordError
from barnabas.model.records import Codec
from barnabas.records.compression import (
    XERIAL_HEADER,
    DecompressedTooLargeError,
    compress,
    decompress,
)

COMPRESSING = [codec for codec in Codec if codec != Codec.NONE]
DATA = b"".join(b"record number %d " % index for index in range(10_000))


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


BOMBS = bombs()


@pytest.mark.parametrize("name", BOMBS)
def test_bombs_are_refused_at_the_cap(name):
    codec, bomb = BOMBS[name]
    cap = MIB
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


@pytest.mark.parametrize("length", [-1, 0, 2**31 - 1, 100])
def test_xerial_blocks_that_do_not_fit(length):
    with pytest.raises(CorruptRecordError):
        decompress(Codec.SNAPPY, XERIAL_HEADER + struct.pack(">i", length) + b"abc", MIB)
    with pytest.raises(CorruptRecordError):
        decompress(Codec.SNAPPY, XERIAL_HEADER + b"\0\0", MIB)
    with pytest.raises(CorruptRecordError):
        decompress(Codec.SNAPPY, XERIAL_HEADER[:10], MIB)
