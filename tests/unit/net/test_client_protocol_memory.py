"""Memory of large responses: reused only if no view of it exists, and released when idle."""

import sys

import pytest

from barnabas.net import response_memory
from barnabas.net._frame_receiver_hot import FrameReceiver
from barnabas.net.response_memory import ROOMS, SMALL_RESPONSES, ResponseMemory

MIB = 1024**2
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="rooms are resized there only")


def test_a_room_is_used_again_once_the_last_view_is_gone():
    memory = ResponseMemory()
    whole = memory.take(MIB)
    room, part = whole.obj, whole[5:9]
    whole.release()
    assert memory.take(MIB).obj is not room, "a part of it is still looked into"
    part.release()
    assert memory.take(MIB).obj is room


def test_memory_with_an_open_view_is_not_reused():
    memory = ResponseMemory()
    views = [memory.take(MIB) for _ in range(ROOMS + 3)]
    for number, view in enumerate(views):
        view[:] = bytes([number]) * MIB
    assert [bytes(view) == bytes([n]) * MIB for n, view in enumerate(views)] == [True] * len(views)


def test_only_so_many_rooms_are_kept():
    memory = ResponseMemory()
    views = [memory.take(MIB) for _ in range(ROOMS + 3)]
    rooms = {id(view.obj) for view in views[:ROOMS]}
    for view in views:
        view.release()
    again = [memory.take(MIB) for _ in range(ROOMS)]
    assert {id(view.obj) for view in again} == rooms


def test_a_room_grows_with_its_responses_and_holds_smaller_ones():
    memory = ResponseMemory()
    room = memory.take(MIB).obj
    for size in (8 * MIB, 100_000, 7 * MIB):
        view = memory.take(size)
        assert (view.obj, len(view)) == (room, size)
        view.release()
    assert len(room) == 8 * MIB


def test_the_room_that_fits_best_is_taken():
    memory = ResponseMemory()
    large, small = memory.take(8 * MIB), memory.take(MIB)
    rooms = large.obj, small.obj
    large.release()
    small.release()
    assert memory.take(900_000).obj is rooms[1]
    assert memory.take(7 * MIB).obj is rooms[0]
    assert memory.take(9 * MIB).obj is rooms[0], "the other would have to grow more"


def test_rooms_are_given_back_when_only_small_responses_come():
    memory = ResponseMemory()
    room = memory.take(MIB).obj
    for _ in range(SMALL_RESPONSES - 1):
        memory.small_response()
    assert memory.take(MIB).obj is room
    for _ in range(SMALL_RESPONSES):
        memory.small_response()
    assert memory.take(MIB).obj is not room


def test_where_rooms_cannot_be_resized_every_response_has_its_own(monkeypatch):
    monkeypatch.setattr(response_memory, "_CAN_RESIZE", False)
    memory = ResponseMemory()
    assert len(memory.take(MIB)) == MIB
    assert memory.take(MIB).obj is not memory.take(MIB).obj


def test_a_receiver_takes_its_large_frames_from_there():
    receiver = FrameReceiver()
    first = receive(receiver, b"a" * 200_000)
    room = first.obj
    second = receive(receiver, b"b" * 200_000)
    assert bytes(first) == b"a" * 200_000, "looked into while the second came"
    first.release()
    assert receive(receiver, b"c" * 150_000).obj is room
    assert bytes(second) == b"b" * 200_000
    second.release()
    for _ in range(SMALL_RESPONSES):
        receive(receiver, b"small")
    assert receive(receiver, b"d" * 200_000).obj is not room


def receive(receiver, body):
    data, frames = len(body).to_bytes(4, "big") + body, []
    while not frames:
        buffer = receiver.buffer()
        count = min(len(buffer), len(data))
        buffer[:count] = data[:count]
        data = data[count:]
        frames = receiver.filled(count)
    return frames[0]
