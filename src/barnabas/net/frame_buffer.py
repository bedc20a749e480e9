"""One frame that did not come whole: grown as its bytes arrive, never as its length claims.

A frame is a big-endian int32 size and then that many bytes. Memory is allocated in steps: at
first one step, then as much again as has really arrived, so a peer that announces 100 MiB and
sends ten bytes costs one step.
"""

STEP_BYTES = 1 << 20


class FrameBuffer:
    """Receives one frame. `free_space` is where the next bytes go; `take` hands the frame over."""

    __slots__ = ("_buffer", "_filled", "_view", "size")

    def __init__(self, size: int, start: memoryview) -> None:
        self.size = size
        self._buffer = bytearray(min(size, max(STEP_BYTES, len(start))))
        self._buffer[: len(start)] = start
        self._filled = len(start)
        self._view = memoryview(self._buffer)

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
        """The complete frame, writable; this object lets go of it."""
        return self._view
