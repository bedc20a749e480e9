"""Frames that did not come whole: memory as bytes arrive, and the same memory for the next."""

import pytest

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
