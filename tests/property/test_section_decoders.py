"""The snappy and lz4 decoders in C beside cramjam: equal content or a refusal, for any bytes.

The bytes around the output never change.
"""

import struct
from unittest import mock

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.records.frames import WRITERS
from support.soak import SOAK

from barnabas import records
from barnabas.model.errors import CorruptRecordError
from barnabas.model.records import Codec
from barnabas.records import compression, lz4_frames
from barnabas.records._sections_hot import expand_into

pytestmark = pytest.mark.skipif(not records.COMPILED, reason="the extensions are not built")
EXAMPLES = 5000 if SOAK else 300
CODECS = (Codec.SNAPPY, Codec.LZ4)
GUARD = 80

CONTENT = st.builds(
    lambda pieces, times: b"".join(pieces) * times,
    st.lists(st.binary(min_size=1, max_size=40), max_size=12),
    st.sampled_from([1, 1, 2, 20, 300]),
)
DAMAGE = st.lists(st.tuples(st.integers(0, 2**20), st.integers(0, 255)), max_size=4)
SMALL = st.integers(0, 40)


@st.composite
def damaged(draw, codec):
    """Returns a section of another library with some bytes changed, cut off, or added."""
    write = WRITERS[codec][draw(st.sampled_from(sorted(WRITERS[codec])))]
    section = bytearray(write(draw(CONTENT)))
    for position, byte in draw(DAMAGE):
        if section:
            section[position % min(len(section), draw(st.sampled_from([32, 2**20])))] = byte
    return bytes(section[: draw(st.none() | st.integers(0, len(section)))])


@st.composite
def lz4_sequences(draw):
    """Returns a frame of random sequences: most of its copies are valid, its end rarely is."""
    block = bytearray()
    for _ in range(draw(st.integers(0, 8))):
        literals = draw(st.binary(max_size=30))
        length = draw(SMALL)
        block.append(min(len(literals), 15) << 4 | min(length, 15))
        if len(literals) >= 15:
            block.append(len(literals) - 15)
        block += literals + struct.pack("<H", draw(SMALL))
        if length >= 15:
            block.append(length - 15)
    last = draw(st.binary(max_size=14))
    block += bytes([len(last) << 4]) + last
    head = draw(st.sampled_from([b"\x60\x40\x82", b"\x40\x40\xc0"]))
    sized = struct.pack("<I", len(block)) + bytes(block)
    return b"\x04\x22\x4d\x18" + head + sized * draw(st.sampled_from([1, 1, 2])) + bytes(4)


@st.composite
def snappy_elements(draw):
    """Returns a raw block of random elements that often declares the right size."""
    block, size = bytearray(), 0
    for _ in range(draw(st.integers(0, 12))):
        kind, length = draw(st.integers(0, 3)), draw(st.integers(1, 64))
        if kind == 0:
            literals = draw(st.binary(min_size=1, max_size=30))
            length = len(literals)
            block += bytes([length - 1 << 2]) + literals
        elif kind == 1:
            length = 4 + length % 8
            block += bytes([1 | (length - 4) << 2, draw(SMALL)])
        else:
            distance = struct.pack("<H" if kind == 2 else "<I", draw(SMALL))
            block += bytes([kind | (length - 1) << 2]) + distance
        size += length
    size += draw(st.sampled_from([0, 0, 0, 1]))
    head = [size] if size < 128 else [size & 127 | 128, size >> 7]
    return bytes(head) + bytes(block)


def expanded(codec, data, room):
    memory = bytearray(b"\xa5" * (room + 2 * GUARD))
    size = expand_into(codec, data, memoryview(memory)[GUARD : GUARD + room])
    assert memory[:GUARD] == memory[GUARD + room :] == b"\xa5" * GUARD
    assert size <= room
    return bytes(memory[GUARD : GUARD + size]) if size >= 0 else None


def by_libraries(codec, data, limit):
    """Returns the content; None if the libraries reject the section."""
    with (
        mock.patch.object(compression, "expand_into", return_value=-1),
        mock.patch.object(lz4_frames, "expand_into", return_value=-1),
    ):
        try:
            return bytes(compression.decompress(codec, data, limit))
        except CorruptRecordError:
            return None


@pytest.mark.parametrize("codec", CODECS)
@settings(max_examples=EXAMPLES, deadline=None)
@given(data=st.data())
def test_damaged_sections(codec, data):
    section = data.draw(damaged(codec))
    for room in (1, 100, 2000, 2**17):
        found = expanded(codec, section, room)
        assert found is None or found == by_libraries(codec, section, room)


@settings(max_examples=2 * EXAMPLES, deadline=None)
@given(frame=lz4_sequences(), room=st.integers(1, 1000))
def test_random_lz4_sequences(frame, room):
    found = expanded(Codec.LZ4, frame, room)
    assert found is None or found == by_libraries(Codec.LZ4, frame, room)


@settings(max_examples=2 * EXAMPLES, deadline=None)
@given(block=snappy_elements(), room=st.integers(1, 1000))
def test_random_snappy_elements(block, room):
    """Every block that cramjam accepts is accepted."""
    wanted = by_libraries(Codec.SNAPPY, block, room)
    assert expanded(Codec.SNAPPY, block, room) == wanted
