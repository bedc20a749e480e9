"""Memory for large responses of a client connection, which is used again for later ones.

It does not receive: `FrameReceiver` cuts the stream into frames.
"""

import mmap
import sys

from barnabas.runtime.freed_memory import keep_freed_memory

ROOMS = 3
"""Number of rooms that are kept: for a response that is read, one that waits, and the next."""
RECORDS_FACTOR = 8
"""Records of several responses exist at the same time, as copies: malloc keeps their memory."""
SMALL_RESPONSES = 64
"""Number of consecutive small responses after which the rooms are freed."""
_SMALLEST_STEP = 16  # bits: 64 KiB
_STEPS_PER_DOUBLING = 3  # bits: a room is up to an eighth larger than the requested size
_CAN_RESIZE = sys.platform == "linux"


class ResponseMemory:
    """The rooms of one connection; owned by its driver. Any thread may release views.

    The system must clear new memory page by page, which takes longer than receiving into it. Also,
    an allocator keeps a varying number of freed 16 MB buffers, so the resident size of a consumer
    would vary. Therefore a connection keeps three buffers ("rooms") of the largest sizes needed:
    for the response that is read, one that waits, and the next. If no room is free, a response gets
    separate memory, which is freed after use. After a number of small responses the rooms are
    freed.
    """

    __slots__ = ("_largest", "_rooms", "_small")

    def __init__(self) -> None:
        self._rooms: list[mmap.mmap] = []
        self._largest = 0
        self._small = 0  # responses since the last large one

    def take(self, size: int) -> memoryview:
        """Returns memory of `size` bytes with undefined contents and no other views."""
        self._small = 0
        if size > self._largest:
            self._largest = size
            keep_freed_memory(RECORDS_FACTOR * size)
        if not _CAN_RESIZE:
            return memoryview(bytearray(size))
        # The smallest room that is large enough, otherwise the largest, which grows least.
        self._rooms.sort(key=lambda room: (len(room) < size, abs(len(room) - size)))
        for room in self._rooms:
            if _make_fit(room, size):
                return memoryview(room)[:size]
        room = mmap.mmap(-1, _rounded(size), flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
        if len(self._rooms) < ROOMS:
            self._rooms.append(room)
        return memoryview(room)[:size]

    def small_response(self) -> None:
        """Counts a response that needed no room."""
        if self._rooms:
            self._small += 1
            if self._small >= SMALL_RESPONSES:
                self._rooms.clear()  # memory with views is freed with the last view


def _make_fit(room: mmap.mmap, size: int) -> bool:
    """Enlarges a room if necessary; returns False if it has views and cannot be resized."""
    try:
        room.resize(max(len(room), _rounded(size)))
    except BufferError:
        return False
    return True


def _rounded(size: int) -> int:
    """Rounds up, so that a slightly larger response fits into the same room."""
    step = 1 << max(size.bit_length() - 1 - _STEPS_PER_DOUBLING, _SMALLEST_STEP)
    return -(-size // step) * step
