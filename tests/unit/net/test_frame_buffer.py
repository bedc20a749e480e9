"""Frames that arrive in parts: memory grows with the received bytes and is reused."""

import errno
import mmap

import pytest

from barnabas.net import frame_buffer
from barnabas.net.frame_buffer import STEP_BYTES, FrameBuffer, SpareBuffer

LARGE = STEP_BYTES - 100


def received(size, spare, fill=1):
    frame = FrameBuffer(size, memoryview(b""), spare)
    while not frame.complete:
        if frame.full:
            frame.grow()
        space = frame.free_space()
        space[:] = bytes([fill]) * len(space)
        frame.received(len(space))
        del space  # or the memory could not grow
    return frame


@pytest.mark.parametrize("size", [10, LARGE, STEP_BYTES, STEP_BYTES + 1, 3 * STEP_BYTES])
def test_a_frame_has_its_size_whatever_memory_it_stands_in(size):
    spare = SpareBuffer()
    for fill in (1, 2):
        frame = received(size, spare, fill)
        assert bytes(frame.take()) == bytes([fill]) * size
        frame.give_back(spare)


def test_a_peer_that_announces_much_and_sends_little_costs_one_step():
    frame = FrameBuffer(100 * STEP_BYTES, memoryview(b"abc"), SpareBuffer())
    assert frame.allocated == STEP_BYTES


def test_the_memory_of_a_frame_serves_the_next():
    spare = SpareBuffer()
    given = spare.take()
    spare.give(given)
    assert spare.take() is given
    assert spare.take() is not given


def test_memory_that_somebody_looks_into_is_not_used_again():
    spare = SpareBuffer()
    frame = received(LARGE, spare)
    records = frame.take()[10:20]
    frame.give_back(spare)
    received(LARGE, spare, fill=2)
    assert bytes(records) == b"\x01" * 10


def test_a_large_frame_grows_by_one_step_at_a_time():
    frame = FrameBuffer(100 * STEP_BYTES, memoryview(b""), SpareBuffer())
    for steps in range(1, 5):
        assert (frame.allocated, len(frame.free_space())) == (steps * STEP_BYTES, STEP_BYTES)
        frame.received(STEP_BYTES)
        assert (frame.full, frame.next_step) == (True, STEP_BYTES)
        frame.grow()


def test_a_system_that_cannot_resize_a_mapping_copies_it(monkeypatch):
    class FixedMapping(mmap.mmap):
        def resize(self, _):
            raise SystemError("mmap: resizing not available--no mremap()")

    monkeypatch.setattr(frame_buffer.mmap, "mmap", FixedMapping)
    size = 2 * STEP_BYTES + 10
    assert bytes(received(size, SpareBuffer()).take()) == b"\x01" * size


def test_a_frame_without_memory_raises_a_memory_error(monkeypatch):
    class Exhausted(mmap.mmap):
        def resize(self, _):
            raise OSError(errno.ENOMEM, "Cannot allocate memory")

    monkeypatch.setattr(frame_buffer.mmap, "mmap", Exhausted)
    with pytest.raises(MemoryError):
        received(2 * STEP_BYTES, SpareBuffer())

    def exhausted(*_, **__):
        raise OSError(errno.ENOMEM, "Cannot allocate memory")

    monkeypatch.setattr(frame_buffer.mmap, "mmap", exhausted)
    with pytest.raises(MemoryError):
        FrameBuffer(2 * STEP_BYTES, memoryview(b""), SpareBuffer())
