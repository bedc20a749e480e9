"""Reuses the memory of large responses when no views of it exist.

Fresh memory must be cleared, and touched page by page; together that takes longer than receiving
into it. Worse, an allocator that sees buffers of 16 MB come and go keeps some of them, now one and
now three, so that a consumer's resident size never settles. Here it does: a connection keeps two
rooms, one for the response that is read and one for the next, as large as the largest were. What
does not find one free has a room of its own, which ends with it. When only small responses come
the rooms go back to the system.
"""

import mmap
import sys

ROOMS = 2
"""How many are kept."""
SMALL_RESPONSES = 64
"""After so many in a row the rooms of large ones are given back."""
_SMALLEST_STEP = 16  # bits: 64 KiB
_STEPS_PER_DOUBLING = 3  # bits: a room is up to an eighth larger than what it was made for
_CAN_RESIZE = sys.platform == "linux"


class ResponseMemory:
    """The rooms of one connection; owned by its driver. Views may come to their end anywhere."""

    __slots__ = ("_rooms", "_small")

    def __init__(self) -> None:
        self._rooms: list[mmap.mmap] = []
        self._small = 0  # responses since the last large one

    def take(self, size: int) -> memoryview:
        """Room for `size` bytes, with anything in them; nobody else has a view of it."""
        self._small = 0
        if not _CAN_RESIZE:
            return memoryview(bytearray(size))
        # The smallest that is large enough; else the largest, for it grows least.
        self._rooms.sort(key=lambda room: (len(room) < size, abs(len(room) - size)))
        for room in self._rooms:
            if _make_fit(room, size):
                return memoryview(room)[:size]
        room = mmap.mmap(-1, _rounded(size), flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
        if len(self._rooms) < ROOMS:
            self._rooms.append(room)
        return memoryview(room)[:size]

    def small_response(self) -> None:
        """A response has come that needed no room."""
        if self._rooms:
            self._small += 1
            if self._small >= SMALL_RESPONSES:
                self._rooms.clear()  # what is still looked into ends with its last view


def _make_fit(room: mmap.mmap, size: int) -> bool:
    """Make a room large enough; False when there are views of it, for then it cannot be resized."""
    try:
        room.resize(max(len(room), _rounded(size)))
    except BufferError:
        return False
    return True


def _rounded(size: int) -> int:
    """So that a response that is a little larger than the last finds enough room."""
    step = 1 << max(size.bit_length() - 1 - _STEPS_PER_DOUBLING, _SMALLEST_STEP)
    return -(-size // step) * step
