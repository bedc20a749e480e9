"""lz4 frames: which are read block by block, and that all others go to the frame decoder."""

import itertools
import struct
from random import Random

import cramjam
import lz4.frame
import pytest
from support.records.frames import LZ4_BLOCK_SIZES, lz4_writers

from barnabas.model.errors import CorruptRecordError
from barnabas.model.records import Codec
from barnabas.records import lz4_frames
from barnabas.records.compression import DecompressedTooLargeError, decompress
from barnabas.records.lz4_frames import compress_fast, decompress_blocks, parse_header

KIB = 1024
HEAD = b"\x04\x22\x4d\x18\x60\x40\x82"
END = bytes(4)
TEXT = b"".join(b"record number %d " % index for index in range(20_000))
NOISE = Random(1).randbytes(200 * KIB)
LIMIT = 1024 * KIB


@pytest.fixture(autouse=True)
def hot(hot):
    """Every test runs with compiled and with pure buffers."""


def block(content, *, packed=True):
    """Returns one block with its length."""
    if not packed:
        return struct.pack("<I", len(content) | 1 << 31) + content
    packed = bytes(cramjam.lz4.compress_block(content, store_size=False))
    return struct.pack("<I", len(packed)) + packed


def sized_head(size):
    """Returns a valid header that declares `size` bytes of content."""
    head = b"\x68\x40" + struct.pack("<Q", size)
    return HEAD[:4] + head + bytes([lz4_frames._xxh32(head) >> 8 & 0xFF])


def by_blocks(frame, capacity=LIMIT):
    """Returns what is read block by block; None if the frame decoder must decide."""
    header = parse_header(frame)
    return None if header is None else decompress_blocks(frame, header, capacity)


def rejected(frame, limit=LIMIT):
    """Whether both ways reject the frame."""
    with pytest.raises(CorruptRecordError):
        decompress(Codec.LZ4, frame, limit)
    return by_blocks(frame, limit) is None


@pytest.mark.parametrize("size", [0, 1, 100, 64 * KIB, 64 * KIB + 1, 300_000])
def test_every_combination_of_flags(size):
    for (name, write), source in itertools.product(lz4_writers(), (TEXT, NOISE)):
        content = source[:size]
        frame = write(content)
        assert bytes(decompress(Codec.LZ4, frame, len(content))) == content, name
        assert by_blocks(frame, len(content)) in (None, content), name


@pytest.mark.parametrize("block_size", LZ4_BLOCK_SIZES)
@pytest.mark.parametrize("store_size", [False, True])
def test_frames_of_other_clients_are_read_by_blocks(block_size, store_size):
    for content in (TEXT, NOISE, TEXT[:1000]):
        frame = lz4.frame.compress(
            content, block_size=block_size, block_linked=False, store_size=store_size
        )
        assert by_blocks(frame) == content
        assert parse_header(frame).content_size == (len(content) if store_size else None)
        assert by_blocks(memoryview(b"x" + frame)[1:], len(content)) == content
        assert by_blocks(frame, len(content) - 1) is None


@pytest.mark.parametrize(
    "options", [{"content_checksum": True}, {"block_checksum": True}, {"block_linked": True}]
)
def test_checksums_and_linked_blocks_are_left_to_the_frame_decoder(options):
    frame = bytearray(lz4.frame.compress(TEXT, **{"block_linked": False, **options}))
    assert by_blocks(frame) is None
    assert bytes(decompress(Codec.LZ4, frame, LIMIT)) == TEXT
    if "block_linked" not in options:
        frame[-1 if "content_checksum" in options else -5] ^= 1
        assert rejected(frame)


def test_uncompressed_blocks():
    parts = [block(NOISE[: 64 * KIB], packed=False), block(TEXT[:100]), block(b"z", packed=False)]
    frame = HEAD + b"".join(parts) + END
    content = NOISE[: 64 * KIB] + TEXT[:100] + b"z"
    assert by_blocks(frame, len(content)) == decompress(Codec.LZ4, frame) == content
    assert by_blocks(frame, len(content) - 1) is None
    with pytest.raises(DecompressedTooLargeError):
        decompress(Codec.LZ4, frame, len(content) - 1)


@pytest.mark.parametrize("content", [TEXT[:5000], TEXT, NOISE[: 70 * KIB]])
def test_truncated_and_prolonged_frames(content):
    frame = compress_fast(content)
    cuts = {*range(40), *range(len(frame) - 12, len(frame)), len(frame) // 2}
    assert all(rejected(frame[:cut]) for cut in cuts)
    assert by_blocks(frame) == content
    for rest in (b"x", b"abcd", b"\xff" * 20):
        assert rejected(frame + rest)


def test_frames_in_a_row_are_left_to_the_frame_decoder():
    skippable = b"\x50\x2a\x4d\x18" + struct.pack("<I", 3) + b"abc"
    frame = compress_fast(TEXT)
    for row in (frame + frame, frame + skippable, skippable + frame):
        assert by_blocks(row) is None
    assert bytes(decompress(Codec.LZ4, frame * 2, LIMIT)) == TEXT * 2


@pytest.mark.parametrize("position", range(4, 15))
def test_a_damaged_header(position):
    frame = bytearray(sized_head(1000) + block(TEXT[:1000]) + END)
    assert by_blocks(frame) == TEXT[:1000]
    frame[position] ^= 0x04
    assert rejected(frame)


@pytest.mark.parametrize("declared", [1, 999, 1001, 65536, LIMIT, LIMIT + 1, 2**63, 2**64 - 1])
def test_a_wrong_content_size(declared):
    assert rejected(sized_head(declared) + block(TEXT[:1000]) + END)


def test_a_content_size_above_the_limit():
    with pytest.raises(DecompressedTooLargeError):
        decompress(Codec.LZ4, sized_head(1000) + block(TEXT[:1000]) + END, 999)


def test_a_content_size_of_0_means_an_unknown_size():
    """The frame decoder treats it so."""
    frame = sized_head(0) + block(TEXT[:1000]) + END
    assert by_blocks(frame) == decompress(Codec.LZ4, frame) == TEXT[:1000]


def test_an_empty_frame():
    for frame in (HEAD + END, sized_head(0) + END, compress_fast(b"")):
        assert decompress(Codec.LZ4, frame, 0) == b""


BAD_BLOCKS = {
    "longer than the frame": struct.pack("<I", 1000) + bytes(10),
    "longest": struct.pack("<I", 0x7FFFFFFF) + bytes(10),
    "longest, uncompressed": struct.pack("<I", 0xFFFFFFFF) + bytes(10),
    "too much content": block(TEXT[: 64 * KIB + 1]),
    "uncompressed, with too much content": block(NOISE[: 64 * KIB + 1], packed=False),
    "larger than its content may be": block(NOISE[: 64 * KIB]),
    "literals without an end": struct.pack("<I", 4) + b"\xf0\xff\xff\xff",
    "a copy from before the start": struct.pack("<I", 6) + b"\x10a\x09\0\x10b",
}


@pytest.mark.parametrize("name", BAD_BLOCKS)
def test_blocks_that_are_not_valid(name):
    for before in (b"", block(TEXT[:100])):
        assert rejected(HEAD + before + BAD_BLOCKS[name] + END)


def test_an_empty_block_is_left_to_the_frame_decoder():
    assert by_blocks(HEAD + struct.pack("<I", 1 << 31) + block(TEXT[:100]) + END) is None


def test_a_block_does_not_refer_to_the_one_before():
    linked = b"\x00\x10\x00\x10z"  # four bytes from 16 before, then one literal
    frame = HEAD + block(TEXT[:100]) + struct.pack("<I", len(linked)) + linked + END
    assert rejected(frame)


def test_a_block_with_a_size_before_it():
    """`decompress_block_into` would accept it, although its first bytes are not compressed."""
    packed = bytes(cramjam.lz4.compress_block(b"abc" * 100, store_size=True))
    out = bytearray(64 * KIB)
    assert cramjam.lz4.decompress_block_into(packed, out, output_len=len(out)) == 300
    frame = HEAD + struct.pack("<I", len(packed)) + packed + END
    assert rejected(frame)


def test_a_block_that_begins_like_a_size():
    """Without compiled code it is left to the frame decoder."""
    content = b"\x09\0\0" + bytes(range(1, 12)) * 10
    packed = block(content)
    assert int.from_bytes(packed[4:8], "little") <= 64 * KIB
    frame = HEAD + packed + END
    assert by_blocks(frame) in (None, content)
    assert decompress(Codec.LZ4, frame, len(content)) == content


def test_an_older_cramjam(monkeypatch):
    monkeypatch.setattr(lz4_frames, "_SUPPORTED", False)
    frame = compress_fast(TEXT)
    assert parse_header(frame) is None
    assert bytes(decompress(Codec.LZ4, frame, len(TEXT))) == TEXT


def test_this_cramjam_is_supported():
    assert lz4_frames._SUPPORTED
    assert by_blocks(compress_fast(TEXT)) == TEXT


def test_nothing_undefined_is_returned(monkeypatch):
    monkeypatch.setattr(lz4_frames, "new_buffer", lambda size: bytearray(b"\xaa" * size))
    for content in (TEXT, TEXT[:1000], NOISE):
        assert by_blocks(compress_fast(content)) == content
