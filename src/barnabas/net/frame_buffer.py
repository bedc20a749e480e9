"""Memory of incomplete frames: the buffer of one frame, and the limit of all.

A frame is a big-endian int32 size and then that many bytes.
"""

import mmap
from collections import deque
from collections.abc import Callable
from typing import Protocol

# A peer may announce 100 MB and send nothing: memory grows with what has arrived. One step is also
# the most that one call receives: the other connections of the loop wait meanwhile.
STEP_BYTES = 1 << 20


class SpareBuffer:
    """One unused buffer of STEP_BYTES, shared by the connections of a loop."""

    __slots__ = ("_buffer",)

    def __init__(self) -> None:
        self._buffer: bytearray | None = None

    def take(self) -> bytearray:
        """Returns one step of memory with undefined contents."""
        buffer, self._buffer = self._buffer, None
        return bytearray(STEP_BYTES) if buffer is None else buffer

    def give(self, buffer: bytearray) -> None:
        """Keeps the buffer for the next frame, unless views of it exist."""
        try:
            last = buffer.pop()  # fails while views exist
        except BufferError:
            return
        buffer.append(last)
        self._buffer = buffer


class FrameBuffer:
    """Receives one frame into `free_space`; `take` returns the complete frame.

    Grows with the received bytes, one step at a time, not with the announced size. So a peer that
    announces 100 MiB and sends ten bytes uses one step. The memory of the last frame of about one
    step is reused: the system must clear new memory, which takes as long as the checksum of the
    frame. A larger frame has a mapping of its own, because a mapping grows without a copy: with a
    bytearray, one growth of a frame of 8 MB took 15 ms.
    """

    __slots__ = ("_buffer", "_filled", "_view", "size")

    def __init__(self, size: int, start: memoryview, spare: SpareBuffer) -> None:
        self.size = size
        self._buffer: bytearray | mmap.mmap
        if size > STEP_BYTES:
            self._buffer = _new_mapping(STEP_BYTES)
        elif size > STEP_BYTES // 2:
            self._buffer = spare.take()
        else:
            self._buffer = bytearray(size)
        self._buffer[: len(start)] = start
        self._filled = len(start)
        self._view = memoryview(self._buffer)[:size]

    @property
    def filled(self) -> int:
        return self._filled

    @property
    def allocated(self) -> int:
        return len(self._buffer)

    @property
    def full(self) -> bool:
        """Whether it must `grow` before more can be received."""
        return self._filled == len(self._buffer) < self.size

    @property
    def complete(self) -> bool:
        return self._filled == self.size

    @property
    def next_step(self) -> int:
        """Returns the number of bytes that `grow` adds."""
        return min(self.size - len(self._buffer), STEP_BYTES)

    def grow(self) -> None:
        self._view.release()
        self._buffer = _grown(self._buffer, len(self._buffer) + self.next_step)
        self._view = memoryview(self._buffer)

    def free_space(self) -> memoryview:
        return self._view[self._filled :]

    def received(self, count: int) -> None:
        self._filled += count

    def take(self) -> memoryview:
        """Returns the complete frame as a writable view."""
        return self._view

    def give_back(self, spare: SpareBuffer) -> None:
        """Returns the memory of a handled frame to `spare`."""
        self._view = memoryview(b"")
        if len(self._buffer) == STEP_BYTES and isinstance(self._buffer, bytearray):
            spare.give(self._buffer)


def _new_mapping(size: int) -> mmap.mmap:
    try:
        return mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    except OSError as error:
        raise MemoryError(f"no memory for a frame: {error}") from None


def _grown(buffer: bytearray | mmap.mmap, size: int) -> mmap.mmap:
    """Returns a mapping of `size` bytes that starts with the bytes of `buffer`."""
    if isinstance(buffer, mmap.mmap):
        try:
            buffer.resize(size)
        except OSError as error:
            raise MemoryError(f"no memory for a frame: {error}") from None
        except SystemError:  # macOS cannot resize a mapping
            pass
        else:
            return buffer
    larger = _new_mapping(size)
    larger[: len(buffer)] = buffer[:]
    return larger


class Holder(Protocol):
    """A reader that reserves memory."""

    def resume_receiving(self) -> None: ...


class ReceiveBudget:
    """Memory limit of the large frames of a listener's connections.

    Owned by the loop of its listener.

    Limits the total memory of large frames that are incomplete or have no response yet. Only
    allocated memory is counted. At the limit, a connection that needs more memory must wait. The
    connection with the oldest frame never waits, otherwise connections could block each other. So
    the memory stays below the limit plus one frame. Frames below one step are not counted, because
    the number of connections limits them.
    """

    __slots__ = ("_held", "_on_pressure", "_waiting", "limit", "used")

    def __init__(self, limit: int, on_pressure: Callable[[], None] | None = None) -> None:
        self.limit = limit
        self.used = 0
        self._held: dict[Holder, int] = {}  # in the order in which their frames began
        self._waiting: deque[Holder] = deque()
        self._on_pressure = on_pressure

    def try_reserve(self, holder: Holder, size: int) -> bool:
        """Reserves memory; on failure queues the holder, which is resumed when memory is free."""
        oldest = next(iter(self._held), holder)
        if self.used + size > self.limit and oldest is not holder:
            if holder not in self._waiting:
                self._waiting.append(holder)
            if self._on_pressure is not None:
                self._on_pressure()
            return False
        self.used += size
        self._held[holder] = self._held.get(holder, 0) + size
        return True

    def release(self, holder: Holder, size: int) -> None:
        """Releases a part of a reservation and resumes waiting readers."""
        held = self._held.pop(holder, 0)
        self.used -= min(size, held)
        if held > size:
            self._held[holder] = held - size
        self._resume_waiting()

    def forget(self, holder: Holder) -> None:
        """Releases all reservations of a closed connection."""
        if holder in self._waiting:
            self._waiting.remove(holder)
        held = self._held.pop(holder, 0)
        if held:
            self.used -= held
            self._resume_waiting()

    def _resume_waiting(self) -> None:
        waiting, self._waiting = self._waiting, deque()
        for holder in waiting:
            holder.resume_receiving()

    @property
    def under_pressure(self) -> bool:
        return bool(self._waiting)
