"""Buffer of one incomplete frame; grows with the received bytes, not with the announced size.

A frame is a big-endian int32 size and then that many bytes. Memory is allocated in steps:
first one step, then as many bytes as were received so far. So a peer that announces 100 MiB and
sends ten bytes uses one step. The memory of the last frame of about one step is reused: the system
must clear new memory, which takes as long as the checksum of the frame.
"""

STEP_BYTES = 1 << 20


class SpareBuffer:
    """One unused step of memory, shared by the connections of a loop."""

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
    """Receives one frame into `free_space`; `take` returns the complete frame."""

    __slots__ = ("_buffer", "_filled", "_view", "size")

    def __init__(self, size: int, start: memoryview, spare: SpareBuffer) -> None:
        self.size = size
        if STEP_BYTES // 2 < size <= STEP_BYTES:
            self._buffer = spare.take()
        else:
            self._buffer = bytearray(min(size, max(STEP_BYTES, len(start))))
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
        """Returns the number of bytes that `grow` adds: as many as were received."""
        return min(self.size - len(self._buffer), max(STEP_BYTES, self._filled))

    def grow(self) -> None:
        more = self.next_step
        self._view.release()
        self._buffer.extend(bytes(more))
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
        if len(self._buffer) == STEP_BYTES:
            spare.give(self._buffer)
