"""Compressed bytes of other libraries, whole and damaged: equal content, or CorruptRecordError."""

import zlib
from unittest import mock

import cramjam
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.records.frames import WRITERS
from support.soak import SOAK

from barnabas.model.errors import CorruptRecordError
from barnabas.model.records import Codec
from barnabas.records import compression, lz4_frames
from barnabas.records.compression import decompress

CODECS = list(WRITERS)
LIBRARIES = pytest.mark.parametrize("extra", [True, False], ids=["with the extra", "without"])
EXAMPLES = 2000 if SOAK else 150

# Repeated pieces, so that there are both literals and copies; sometimes several blocks.
CONTENT = st.builds(
    lambda pieces, times: b"".join(pieces) * times,
    st.lists(st.binary(min_size=1, max_size=40), max_size=12),
    st.sampled_from([1, 1, 2, 20, 300]),
)
DAMAGE = st.lists(st.tuples(st.integers(0, 2**20), st.integers(0, 255)), max_size=4)


@pytest.fixture(params=[True, False], ids=["with the extra", "without"], autouse=True)
def extra(request):
    """Every test runs with the libraries of the extra `compression` and without them."""
    if request.param:
        yield
        return
    with mock.patch.multiple(compression, _inflate=zlib, _zstandard=None):
        yield


@st.composite
def frames(draw, codec):
    """Returns the content and a frame of it."""
    content = draw(CONTENT)
    write = WRITERS[codec][draw(st.sampled_from(sorted(WRITERS[codec])))]
    return content, bytes(write(content))


@st.composite
def damaged_frames(draw, codec):
    """Returns a frame with some bytes changed, cut off, or added; often changed at the start."""
    frame = bytearray(draw(frames(codec))[1])
    for position, byte in draw(DAMAGE):
        if frame:
            frame[position % min(len(frame), draw(st.sampled_from([16, 64, 2**20])))] = byte
    cut = draw(st.none() | st.integers(0, len(frame)))
    return bytes(frame[:cut]) + draw(st.sampled_from([b"", b"", b"\0\0\0\0", bytes(frame[:50])]))


@pytest.mark.parametrize("codec", CODECS)
@settings(max_examples=EXAMPLES, deadline=None)
@given(data=st.data())
def test_frames_of_other_libraries(codec, data):
    content, frame = data.draw(frames(codec))
    view = memoryview(b"before" + frame)[6:]
    assert bytes(decompress(codec, view, len(content))) == content
    if content:
        with pytest.raises(compression.DecompressedTooLargeError) as caught:
            decompress(codec, view, len(content) - 1)
        assert caught.value.compressed_size == len(frame)


@pytest.mark.parametrize("codec", CODECS)
@settings(max_examples=4 * EXAMPLES, deadline=None)
@given(data=st.data())
def test_damaged_frames(codec, data):
    frame = data.draw(damaged_frames(codec))
    limit = data.draw(st.sampled_from([0, 1, 100, 2000, 2**17, 2**20]))
    try:
        found = decompress(codec, frame, limit)
    except CorruptRecordError:
        return
    assert len(found) <= limit


@settings(max_examples=4 * EXAMPLES, deadline=None)
@given(frame=damaged_frames(Codec.LZ4), capacity=st.sampled_from([0, 100, 2**17, 2**20]))
def test_lz4_blocks_and_frame_decoder_agree(frame, capacity):
    """What is read block by block is what the frame decoder returns."""
    header = lz4_frames.parse_header(frame)
    found = None if header is None else lz4_frames.decompress_blocks(frame, header, capacity)
    if found is not None:
        assert len(found) <= capacity
        assert found == bytes(cramjam.lz4.decompress(frame))
