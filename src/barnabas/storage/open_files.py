"""Limits the descriptors that segments keep open.

An active segment keeps its log file open, because it is written often. With one descriptor for
each partition, a broker would reach the limit of its process (RLIMIT_NOFILE) with some thousand
partitions, and clients could not connect any more. Beyond `limit`, the segment that was not used
for the longest time closes its file and opens it again when it is needed.

The order is that of the second-chance algorithm: a use of a file sets a flag and moves nothing, so
an append to an open segment costs no more than before.
"""

from collections import OrderedDict
from typing import Protocol


class OpenFile(Protocol):
    """A segment, as seen by `OpenFiles`."""

    used: bool
    """Whether the file was used since `OpenFiles` looked at it."""

    def release(self) -> None:
        """Drops the file and calls `OpenFiles.closed`."""
        ...


class OpenFiles:
    """Segments with an open file, in the order of opening; owned by the event loop."""

    __slots__ = ("_open", "limit")

    def __init__(self, limit: int) -> None:
        # Not a dict: finding its first key takes a step for each key deleted before.
        self._open: OrderedDict[OpenFile, None] = OrderedDict()
        self.limit = max(limit, 1)

    def __len__(self) -> int:
        return len(self._open)

    def opened(self, segment: OpenFile) -> None:
        """Adds a segment; closes others if there are too many open files."""
        self._open[segment] = None
        while len(self._open) > self.limit:
            self._close_one(segment)

    def closed(self, segment: OpenFile) -> None:
        self._open.pop(segment, None)

    def _close_one(self, newest: OpenFile) -> None:
        """Closes the oldest file without a use; each one that was used gets a second chance."""
        while True:
            oldest = next(iter(self._open))
            if oldest is newest or oldest.used:
                oldest.used = False
                self._open.move_to_end(oldest)
            else:
                oldest.release()
                return
