"""The state of a connection that each request reads or changes.

The classes are bases of `ServerConnection`, `FrameReader` and `OutputQueue`. Compiled by Cython
they are C structs (`_connection_state_hot.pxd`): `_small_frame_hot` reads a field of theirs with
one instruction, where an attribute of a Python object takes about a hundred. The subclasses define
what the fields mean and their exact types. It also runs as plain Python.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

try:
    import cython
except ImportError:
    from barnabas.model import _cython_shim as cython

if TYPE_CHECKING:
    from collections import deque
    from collections.abc import Callable
    from typing import Protocol

    from barnabas.net.frame_buffer import FrameBuffer
    from barnabas.net.replies import PendingReply, Reply
    from barnabas.runtime.metrics import Histogram

    class ReplyOrder(Protocol):
        """The parts of `ReplyQueue` that are read here."""

        _pending: deque[PendingReply]

        @property
        def output(self) -> OutputState: ...


COMPILED: bool = cython.compiled

_NOTHING = memoryview(b"")


@cython.cclass
class Progress:
    """Counts transferred bytes to detect slow peers; the caller passes the time."""

    __slots__ = ("_bytes", "_since_ms", "last_ms")

    def __init__(self, now_ms: int) -> None:
        self.last_ms = now_ms
        self._since_ms = now_ms
        self._bytes = 0

    def moved(self, count: int, now_ms: int) -> None:
        self._bytes += count
        self.last_ms = now_ms

    def restart(self, now_ms: int) -> None:
        """Starts a new measurement."""
        self._since_ms = now_ms
        self._bytes = 0

    def too_slow(self, now_ms: int, window_ms: int, min_bytes: int) -> bool:
        """Whether a whole window had fewer than `min_bytes`; otherwise starts a new window."""
        if now_ms - self._since_ms < window_ms:
            return False
        if self._bytes < min_bytes:
            return True
        self.restart(now_ms)
        return False

    def stuck(self, now_ms: int, window_ms: int, min_bytes: int) -> bool:
        """Whether a window had no bytes, or the average per window is below `min_bytes`."""
        if now_ms - self.last_ms >= window_ms:
            return True
        elapsed = now_ms - self._since_ms
        return elapsed >= window_ms and self._bytes * window_ms < min_bytes * elapsed


@cython.cclass
class OutputState:
    """Bytes that were queued and not yet sent, and all bytes ever queued."""

    __slots__ = ("queued_bytes", "unsent_bytes")

    def __init__(self) -> None:
        self.unsent_bytes = 0
        self.queued_bytes = 0


@cython.cclass
class ReaderState:
    """Received bytes of a connection, and how it receives."""

    __slots__ = (
        "_data",
        "_frame",
        "_leftover",
        "_now_ms",
        "_recv_into",
        "_saw_large",
        "_scratch",
        "_scratch_bytes",
        "max_frame_bytes",
        "stalled",
    )

    def __init__(
        self,
        scratch: memoryview,
        recv_into: Callable[[memoryview], int],
        now_ms: Callable[[], int],
        max_frame_bytes: int,
    ) -> None:
        self._scratch = scratch
        scratch_bytes = scratch.obj
        self._scratch_bytes = scratch_bytes if type(scratch_bytes) is bytearray else None
        self._recv_into = recv_into
        self._now_ms = now_ms
        self._data = _NOTHING  # received, not yet taken; valid until `settle`
        self._leftover = b""  # the part that `settle` saved: at most one scratch buffer
        self._frame: FrameBuffer | None = None  # a frame larger than the scratch buffer
        self._saw_large = False
        self.max_frame_bytes = max_frame_bytes
        self.stalled = False


@cython.cclass
class ConnectionState:
    """State of a server connection; `_fd` is -1 unless bytes go to the socket unchanged."""

    __slots__ = (
        "_closing",
        "_fd",
        "_handler",
        "_output",
        "_paused",
        "_pending",
        "_progress",
        "_reader",
        "_replies",
        "_send_bytes",
        "_short",
        "_writing",
        "closed",
        "frames_received",
        "received_ns",
        "send_time",
    )

    def __init__(  # noqa: PLR0913 - the parts of a connection
        self,
        reader: ReaderState,
        progress: Progress,
        replies: ReplyOrder,
        handler: Callable[..., Reply],
        short: Callable[..., Reply] | None,
        send_bytes: Callable[[bytes], int],
        fd: int,
    ) -> None:
        self._reader = reader
        self._progress = progress
        self._replies = replies
        self._output = replies.output
        self._pending = replies._pending
        self._handler = handler
        self._short = short
        self._send_bytes = send_bytes
        self._fd = fd
        self._paused = False  # the handler paused it: throttled, or shutting down
        self._closing = False  # as soon as idle
        self._writing = False
        self.closed = False
        self.frames_received = 0
        self.received_ns = 0
        self.send_time: Histogram | None = None
