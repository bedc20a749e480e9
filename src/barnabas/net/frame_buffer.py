"""One frame that did not come whole: grown as its bytes arrive, never as its length claims.

A frame is a big-endian int32 size and then that many bytes. Memory is allocated in steps: at
first one step, then as much again as has really arrived, so a peer that announces 100 MiB and
sends ten bytes costs one step. The memory of the last frame of about one step is used again: a
fresh megabyte must be cleared first, which costs as much as its checksum.
"""

STEP_BYTES = 1 << 20


class SpareBuffer:
    """One step of memory that nobody uses, shared by the connections of a loop."""

    __slots__ = ("_buffer",)

    def __init__(self) -> None:
        self._buffer: bytearray | None = None

    def take(self) -> bytearray:
        """One step, with anything in it."""
        buffer, self._buffer = self._buffer, None
        return bytearray(STEP_BYTES) if buffer is None else buffer

    def give(self, buffer: bytearray) -> None:
        """Keep it for the next frame, unless somebody still looks into it."""
        try:
            last = buffer.pop()  # refused while there are views
        except BufferError:
            return
        buffer.append(last)
        self._buffer = buffer


class FrameBuffer:
    """Receives one frame. `free_space` is where the next bytes go; `take` hands the frame over."""

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
        """How many bytes `grow` adds: as many again as have come."""
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
        """The complete frame, writable."""
        return self._view

    def give_back(self, spare: SpareBuffer) -> None:
        """The frame has been dealt with."""
        self._view = memoryview(b"")
        if len(self._buffer) == STEP_BYTES:
            spare.give(self._buffer)
