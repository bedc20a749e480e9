"""FrameReader alone: returned frames, stored bytes, and reservations in the receive budget."""

import struct

import pytest
from support.network.memory_stream import memory_pair

from barnabas.net.close_reasons import CloseReason, ConnectionClosedError
from barnabas.net.frame_buffer import STEP_BYTES
from barnabas.net.frame_reader import SCRATCH_BYTES, ConnectionLimits, FrameReader, Progress
from barnabas.net.listener import Listener
from barnabas.testing.virtual_clock import VirtualClock


def frame(body: bytes) -> bytes:
    return struct.pack(">i", len(body)) + body


class Bytes:
    """A stream whose peer has sent these bytes and then waits."""

    def __init__(self, data: bytes) -> None:
        _, stream = memory_pair()
        self._stream, self.data = stream, data

    def __getattr__(self, name):
        return getattr(self._stream, name)

    def recv_into(self, buffer: memoryview) -> int:
        if not self.data:
            raise BlockingIOError
        count = min(len(buffer), len(self.data))
        buffer[:count] = self.data[:count]
        self.data = self.data[count:]
        return count


class Harness:
    def __init__(self, data: bytes = b"", **limits):
        self.host = Listener(None, clock=VirtualClock(), limits=ConnectionLimits(**limits))
        self.stream = Bytes(data)
        self.room = 0
        self.reader = FrameReader(self.host, self.stream, Progress(0), self._on_room)

    def _on_room(self) -> None:
        self.room += 1

    def taken(self, at_most: int = 1000) -> list[bytes]:
        found = []
        while len(found) < at_most and (data := self.reader.next_frame()) is not None:
            found.append(bytes(data))
        return found

    def receive_all(self) -> list[bytes]:
        found = []
        while self.stream.data:
            assert self.reader.receive()
            found += self.taken()
            if self.reader.settle():
                self.reader.release()
        return found


def test_frames_of_all_sizes_come_out_as_they_went_in():
    sizes = [1, 100, SCRATCH_BYTES - 4, SCRATCH_BYTES, STEP_BYTES - 1, 3 * STEP_BYTES, 5]
    bodies = [bytes([number]) * size for number, size in enumerate(sizes)]
    harness = Harness(b"".join(map(frame, bodies)))
    assert harness.receive_all() == bodies
    assert harness.host.budget.used == 0


def test_frames_that_were_not_taken_survive_the_scratch_buffer():
    harness = Harness(frame(b"one") + frame(b"two") + frame(b"three")[:5])
    harness.reader.receive()
    assert harness.taken(at_most=1) == [b"one"]
    harness.reader.settle()
    harness.host.scratch[:100] = bytes(100)  # another connection's turn
    assert harness.reader.holds_frames
    harness.reader.reread()
    assert harness.taken() == [b"two"]
    assert harness.reader.unfinished


def test_the_start_of_a_size_is_kept_and_is_no_frame():
    harness = Harness(frame(b"one")[:3])
    harness.reader.receive()
    assert harness.taken() == []
    harness.reader.settle()
    assert harness.reader.holds_bytes
    assert not harness.reader.holds_frames
    harness.stream.data = frame(b"one")[3:]
    assert harness.receive_all() == [b"one"]


def test_a_large_frame_holds_its_share_of_the_budget_until_it_is_answered():
    harness = Harness(frame(bytes(STEP_BYTES)))
    harness.reader.receive()
    harness.taken()
    harness.reader.settle()
    assert harness.host.budget.used == STEP_BYTES
    harness.reader.receive()
    assert harness.taken() == [bytes(STEP_BYTES)]
    harness.reader.settle()
    assert harness.host.budget.used == STEP_BYTES
    harness.reader.release()
    assert harness.host.budget.used == 0


def test_without_room_it_stalls_and_tells_when_there_is_some():
    first = Harness(frame(bytes(2 * STEP_BYTES)), max_partial_bytes=STEP_BYTES)
    first.reader.receive()
    first.taken()
    second = Harness(frame(bytes(2 * STEP_BYTES)))
    second.reader = FrameReader(first.host, second.stream, Progress(0), second._on_room)
    second.reader.receive()
    second.taken()
    assert second.reader.stalled
    first.reader.drop()
    assert not second.reader.stalled
    assert second.room == 1


@pytest.mark.parametrize("size", [-1, 0, 101])
def test_a_size_out_of_bounds_is_rejected_before_memory_is_taken(size):
    harness = Harness(struct.pack(">i", size) + bytes(200))
    harness.reader.max_frame_bytes = 100
    harness.reader.receive()
    with pytest.raises(ConnectionClosedError) as refused:
        harness.reader.next_frame()
    assert refused.value.reason is CloseReason.FRAME_SIZE
    assert harness.host.budget.used == 0
