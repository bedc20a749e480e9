import pytest
from hypothesis import given
from hypothesis import strategies as st

from barnabas.model.errors import ProtocolError
from barnabas.wire.framing import FrameDecoder, frame_size


def framed(content: bytes) -> bytes:
    return len(content).to_bytes(4, "big") + content


@given(st.lists(st.binary(max_size=20), max_size=6), st.lists(st.integers(1, 9), min_size=1))
def test_frames_come_out_however_the_bytes_come_in(contents, chunks):
    stream = b"".join(map(framed, contents))
    decoder, frames, turn = FrameDecoder(), [], 0
    while stream:
        size = chunks[turn % len(chunks)]
        frames += [bytes(frame) for frame in decoder.feed(stream[:size])]
        stream, turn = stream[size:], turn + 1
    assert frames == contents
    assert decoder.is_idle


def test_each_frame_has_writable_memory_of_its_own():
    first, second = FrameDecoder().feed(framed(b"one") + framed(b"two"))
    first[0] = ord("O")
    assert (bytes(first), bytes(second)) == (b"One", b"two")


def test_what_is_missing():
    decoder = FrameDecoder()
    assert decoder.missing == 4
    assert list(decoder.feed(b"\0\0")) == []
    assert (decoder.missing, decoder.is_idle) == (2, False)
    assert list(decoder.feed(b"\0\5ab")) == []
    assert decoder.missing == 3


@pytest.mark.parametrize(
    ("start", "reason"),
    [
        (b"\x16\x03\x01\x02", "speaks TLS"),
        (b"\x15\x03\x03\x00", "TLS alert"),
        (b"GET ", "speaks HTTP"),
        (b"POST", "speaks HTTP"),
        (b"\xff\xff\xff\xff", "negative"),
        (b"\x00\x00\x04\x01", "1025 bytes, the most allowed is 1024"),
    ],
)
def test_sizes_that_cannot_be(start, reason):
    with pytest.raises(ProtocolError, match=reason):
        frame_size(start, 1024)


def test_an_error_is_for_good():
    decoder = FrameDecoder(max_size=10)
    with pytest.raises(ProtocolError):
        list(decoder.feed(b"\x7f\xff\xff\xff"))
    with pytest.raises(ProtocolError):
        list(decoder.feed(framed(b"fine")))


def test_the_limit_itself_is_allowed():
    assert [bytes(f) for f in FrameDecoder(max_size=3).feed(framed(b"abc"))] == [b"abc"]


def test_frames_before_a_bad_size_come_out():
    frames = FrameDecoder(max_size=3).feed(framed(b"abc") + b"\x7f\xff\xff\xff")
    assert bytes(next(frames)) == b"abc"
    with pytest.raises(ProtocolError):
        next(frames)
