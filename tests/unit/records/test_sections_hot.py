"""The decoders in C: every copy, truncation and limit; nothing outside of the output is written."""

import itertools
import struct
from random import Random

import cramjam
import lz4.frame
import pytest
from support.records.frames import lz4_writers, xerial

from barnabas import records
from barnabas.model.records import Codec
from barnabas.records._sections_hot import NO_ROOM, expand_into
from barnabas.records.compression import compress, decompress

pytestmark = pytest.mark.skipif(not records.COMPILED, reason="the extensions are not built")

TEXT = b"".join(b"record number %d " % index for index in range(4000))
NOISE = Random(1).randbytes(70_000)
GUARD = 64
REFUSED = -1
LZ4_HEAD = b"\x04\x22\x4d\x18\x60\x40\x82"
LZ4_LINKED_HEAD = b"\x04\x22\x4d\x18\x40\x40\xc0"
LZ4_END = bytes(4)


def expanded(codec, data, room):
    """Returns the content, or the negative result; checks the bytes around the output."""
    memory = bytearray(b"\xa5" * (room + 2 * GUARD))
    size = expand_into(codec, data, memoryview(memory)[GUARD : GUARD + room])
    assert memory[:GUARD] == memory[GUARD + room :] == b"\xa5" * GUARD
    return bytes(memory[GUARD : GUARD + size]) if size >= 0 else size


def lz4_frame(*blocks, head=LZ4_HEAD):
    return head + b"".join(struct.pack("<I", len(b)) + b for b in blocks) + LZ4_END


def lz4_sequence(literals, distance, length):
    """Returns one sequence of an lz4 block: literals and a copy."""
    token, more = bytearray(1), [bytearray(), bytearray()]
    for place, value in enumerate((len(literals), length - 4)):
        token[0] |= min(value, 15) << (4 if place == 0 else 0)
        if value >= 15:
            more[place] += b"\xff" * ((value - 15) // 255) + bytes([(value - 15) % 255])
    return bytes(token + more[0]) + literals + struct.pack("<H", distance) + bytes(more[1])


def lz4_last(literals):
    return lz4_sequence(literals, 0, 4)[:-2]


def snappy_copies(distance, length):
    """Returns a copy in each of the three forms that can express it."""
    if distance < 2048 and 4 <= length <= 11:
        yield bytes([1 | (length - 4) << 2 | distance >> 8 << 5, distance & 0xFF])
    yield bytes([2 | (length - 1) << 2]) + struct.pack("<H", distance)
    yield bytes([3 | (length - 1) << 2]) + struct.pack("<I", distance)


def snappy_block(size, *parts):
    head = bytearray()
    while size > 127:
        head.append(size & 127 | 128)
        size >>= 7
    return bytes(head) + bytes([size]) + b"".join(parts)


def snappy_literals(data):
    assert 0 < len(data) <= 256
    head = [len(data) - 1 << 2] if len(data) <= 60 else [60 << 2, len(data) - 1]
    return bytes(head) + data


def copied(before, distance, length):
    out = bytearray(before)
    for _ in range(length):
        out.append(out[-distance])
    return bytes(out)


@pytest.mark.parametrize("distance", range(1, 65))
def test_copies_of_every_distance(distance):
    """Also near the end of the output, where fewer bytes than usual may be written."""
    start = bytes(range(100, 100 + distance))
    for length in (*range(4, 70), 100, 300):
        content = copied(start, distance, length)
        for rest in (12, 13, 31, 33, 70):
            last = bytes(rest)
            frame = lz4_frame(lz4_sequence(start, distance, length) + lz4_last(last))
            whole = content + last
            assert expanded(Codec.LZ4, frame, len(whole)) == whole
            assert expanded(Codec.LZ4, frame, len(whole) + 40) == whole
            assert expanded(Codec.LZ4, frame, len(whole) - 1) == NO_ROOM
        for copy in snappy_copies(distance, min(length, 64)):
            whole = copied(start, distance, min(length, 64))
            for last in (b"", b"z", b"0123456789" * 4):
                parts = [snappy_literals(start), copy, *([snappy_literals(last)] if last else [])]
                block = snappy_block(len(whole + last), *parts)
                assert expanded(Codec.SNAPPY, block, len(whole + last)) == whole + last


def test_distances_that_are_not_valid():
    for distance in (0, 6, 65_535):
        frame = lz4_frame(lz4_sequence(b"abcde", distance, 4) + lz4_last(bytes(20)))
        assert expanded(Codec.LZ4, frame, 1000) == REFUSED
        for copy in snappy_copies(distance, 4):
            assert expanded(Codec.SNAPPY, snappy_block(9, snappy_literals(b"abcde"), copy), 9) == -1


def test_a_copy_before_the_block_is_valid_in_linked_frames_only():
    blocks = lz4_last(TEXT[:100]), lz4_sequence(b"ab", 60, 8) + lz4_last(bytes(20))
    content = copied(TEXT[:100] + b"ab", 60, 8) + bytes(20)
    linked = lz4_frame(*blocks, head=LZ4_LINKED_HEAD)
    assert expanded(Codec.LZ4, linked, 1000) == content == bytes(decompress(Codec.LZ4, linked))
    assert expanded(Codec.LZ4, lz4_frame(*blocks), 1000) == REFUSED


@pytest.mark.parametrize("size", [1, 13, 100, 3000, 65_536, 65_537])
def test_frames_of_other_writers(size):
    for (name, write), source in itertools.product(lz4_writers(), (TEXT, NOISE)):
        content, checked = source[:size], name.split()[-3:-1] != ["0", "0"]
        found = expanded(Codec.LZ4, write(content), len(content))
        assert found == (REFUSED if checked else content), name
    for source in (TEXT, NOISE, bytes(size)):
        content = source[:size]
        packed = bytes(cramjam.snappy.compress_raw(content))
        for section in (packed, xerial(content), compress(Codec.SNAPPY, content)):
            assert expanded(Codec.SNAPPY, section, len(content)) == content
            assert expanded(Codec.SNAPPY, section, len(content) + 1000) == content
            assert expanded(Codec.SNAPPY, section, len(content) - 1) < 0


@pytest.mark.parametrize(
    "content", [TEXT[:700], NOISE[:300], bytes(1000)], ids=["text", "noise", "zeros"]
)
def test_truncated_and_prolonged_input(content):
    sections = [
        (Codec.LZ4, bytes(compress(Codec.LZ4, content))),
        (Codec.LZ4, lz4.frame.compress(content, store_size=True)),
        (Codec.SNAPPY, bytes(cramjam.snappy.compress_raw(content))),
        (Codec.SNAPPY, bytes(compress(Codec.SNAPPY, content))),
    ]
    for codec, section in sections:
        assert expanded(codec, section, len(content)) == content
        for room in (len(content), 5000):
            for end in range(len(section)):
                assert expanded(codec, section[:end], room) in (REFUSED, NO_ROOM)
            assert expanded(codec, section + b"\0", room) == REFUSED


@pytest.mark.parametrize("codec", [Codec.NONE, Codec.GZIP, Codec.ZSTD, 5, 7, -1])
def test_other_codecs_are_refused(codec):
    assert expanded(codec, TEXT, len(TEXT)) == REFUSED


@pytest.mark.parametrize("last", [b"", b"z", b"zzzz"])
def test_too_few_literals_at_the_end_are_left_to_the_frame_decoder(last):
    frame = lz4_frame(lz4_sequence(b"abcdefgh", 8, 300) + lz4_last(last))
    assert expanded(Codec.LZ4, frame, 1000) == REFUSED


def test_blocks_above_the_size_of_the_frame():
    packed = bytes(cramjam.lz4.compress_block(bytes(65_537), store_size=False))
    assert expanded(Codec.LZ4, lz4_frame(packed), 100_000) == REFUSED
    plain = struct.pack("<I", 1 << 31 | 65_537) + NOISE[:65_537]
    assert expanded(Codec.LZ4, LZ4_HEAD + plain + LZ4_END, 100_000) == REFUSED


@pytest.mark.parametrize("size", [0, 59, 60, 61, 255, 256, 257, 65_536, 65_537, 2**24, 2**24 + 1])
def test_lengths_of_snappy_literals(size):
    """Lengths of one to four bytes, of which the input may have fewer."""
    content = bytes(size + 1)
    for width in range(5):
        if width == 0 and size < 60:
            head = bytes([size << 2])
        elif width > 0 and size < 256**width:
            head = bytes([59 + width << 2]) + size.to_bytes(width, "little")
        else:
            continue
        assert expanded(Codec.SNAPPY, snappy_block(size + 1, head, content), size + 1) == content
        assert expanded(Codec.SNAPPY, snappy_block(size + 1, head, content[1:]), size + 1) == -1


def test_sizes_that_snappy_cannot_declare():
    for head in (
        b"\x80" * 4,
        b"\xff" * 5,
        b"\xff\xff\xff\xff\x0f",
        b"\x80\x80\x80\x80\x08",
        b"\x80",
    ):
        assert expanded(Codec.SNAPPY, head, 1000) == REFUSED
    assert expanded(Codec.SNAPPY, snappy_block(1001, bytes(10)), 1000) == NO_ROOM
