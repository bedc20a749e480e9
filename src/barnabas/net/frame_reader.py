"""Reads the bytes of one connection and cuts them into frames.

A frame is a big-endian int32 size followed by that many bytes. All connections of the loop read
through one shared scratch buffer. A frame that arrived completely is copied out of it; a larger
frame is received directly into separate memory, within the listener's receive budget.

The connection decides when to read. It calls `receive` (or `reread`), takes frames with
`next_frame` as long as it can handle them, and then calls `settle`. Only after `settle` may another
connection use the scratch buffer.
"""

import struct
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from barnabas.net._connection_state_hot import Progress, ReaderState
from barnabas.net.close_reasons import ConnectionClosedError, bad_size
from barnabas.net.frame_buffer import STEP_BYTES, FrameBuffer, ReceiveBudget, SpareBuffer
from barnabas.net.stream import ByteStream
from barnabas.runtime.clock import Clock

_unpack_size = struct.Struct(">i").unpack_from
SCRATCH_BYTES = 64 * 1024
_SIZE_BYTES = 4
# After a large frame the next is probably large too: read only a few bytes of it through the
# scratch buffer, because those are copied twice.
_SCRATCH_AFTER_LARGE = 4 * 1024
_NOTHING = memoryview(b"")


@dataclass(frozen=True, slots=True)
class ConnectionLimits:
    """All limits of one listener; the defaults are those of an embedded broker.

    `max_partial_bytes` limits the total memory of large frames that are incomplete or have no
    response yet. The oldest incomplete frame never waits, so one more frame is possible.
    """

    max_frame_bytes: int = 100 * 1024 * 1024
    max_partial_bytes: int = 64 * 1024 * 1024
    max_pending_replies: int = 64
    max_unsent_bytes: int = 1024 * 1024
    idle_ms: int = 600_000
    first_frame_ms: int = 30_000
    progress_ms: int = 30_000
    min_progress_bytes: int = 16 * 1024
    unsupported_delay_ms: int = 500
    """Delay before closing the connection after an unsupported request: some tools ignore
    ApiVersions and connect again immediately."""


class ReaderHost(Protocol):
    """The parts of a listener that a reader uses; its connections share them."""

    @property
    def clock(self) -> Clock: ...

    @property
    def limits(self) -> ConnectionLimits: ...

    @property
    def budget(self) -> ReceiveBudget: ...

    @property
    def scratch(self) -> memoryview: ...

    @property
    def spare(self) -> SpareBuffer: ...


class FrameReader(ReaderState):
    """Reads frames from the stream of one connection.

    Owned by one connection. `stalled` while it waits for the receive budget; `unfinished` while
    a large frame has been received in part.

    `drained` is True if no received bytes are left after the frame that `next_frame` returned.
    `max_frame_bytes` may change between frames: it is lower until the peer is authenticated.
    """

    __slots__ = (
        "_handled",
        "_host",
        "_on_room",
        "_progress",
        "_reserved",
        "drained",
        "unfinished",
    )

    def __init__(
        self, host: ReaderHost, stream: ByteStream, progress: Progress, on_room: Callable[[], None]
    ) -> None:
        """`on_room` is called when the receive budget has room again."""
        super().__init__(
            host.scratch,
            stream.recv_into,
            host.clock.monotonic_ms,
            host.limits.max_frame_bytes,
        )
        self._host = host
        self._progress = progress
        self._on_room = on_room
        self._handled: FrameBuffer | None = None  # the one taken last, until `settle`
        self._reserved = 0  # of the receive budget
        self.drained = False
        self.unfinished = False

    @property
    def holds_bytes(self) -> bool:
        """Whether it holds bytes of a frame that was not taken yet."""
        return self._frame is not None or bool(self._leftover)

    @property
    def holds_frames(self) -> bool:
        """Whether it may hold a complete frame, so that no receiving is necessary."""
        return len(self._leftover) >= _SIZE_BYTES

    # --- receiving --------------------------------------------------------------------------

    def receive(self) -> bool:
        """Receives available bytes; False if the peer has closed its side.

        Raises BlockingIOError when no bytes are available.
        """
        frame = self._frame
        if frame is None:
            if self._leftover or self._saw_large:
                count = self._receive_behind_leftover(self._scratch)
            else:
                count = self._recv_into(self._scratch)
                self._data = self._scratch[:count]
            self._progress.moved(count, self._now_ms())
            return count > 0
        if frame.full:
            if not self._reserve(frame.next_step):
                return True
            frame.grow()
        count = self._recv_into(frame.free_space())
        frame.received(count)
        self._progress.moved(count, self._now_ms())
        return count > 0

    def _receive_behind_leftover(self, scratch: memoryview) -> int:
        held = len(self._leftover)
        room = _SCRATCH_AFTER_LARGE + held if self._saw_large else len(scratch)
        count = self._recv_into(scratch[held:room])
        self._saw_large = False
        scratch[:held] = self._leftover
        self._leftover = b""
        self._data = scratch[: held + count]
        return count

    def reread(self) -> None:
        """Makes the bytes that `settle` saved available to `next_frame`."""
        if self._frame is None and self._leftover:
            self._data, self._leftover = memoryview(self._leftover), b""

    # --- taking frames ------------------------------------------------------------------------

    def next_frame(self) -> memoryview | None:
        """Returns the next complete frame in separate memory, or None.

        Raises ConnectionClosedError for an invalid size.
        """
        if self._frame is not None:
            return self._take_large(self._frame)
        data = self._data
        if len(data) < _SIZE_BYTES:
            return None
        (size,) = _unpack_size(data)
        if not 0 < size <= self.max_frame_bytes:
            reason, detail = bad_size(bytes(data[:_SIZE_BYTES]), size, self.max_frame_bytes)
            raise ConnectionClosedError(reason, detail)
        end = _SIZE_BYTES + size
        if end > len(data):
            self._data = _NOTHING
            self._begin_large(size, data[_SIZE_BYTES:])
            return None
        self.drained = end == len(data)
        self._data = _NOTHING if self.drained else data[end:]
        return memoryview(bytearray(data[_SIZE_BYTES:end]))

    def _begin_large(self, size: int, start: memoryview) -> None:
        self._frame = FrameBuffer(size, start, self._host.spare)
        self.unfinished = True
        self._progress.restart(self._host.clock.monotonic_ms())
        if self._frame.allocated >= STEP_BYTES:
            self._reserve(self._frame.allocated)

    def _take_large(self, frame: FrameBuffer) -> memoryview | None:
        if not frame.complete:
            return None
        self._frame, self._handled = None, frame
        self.drained, self.unfinished = True, False
        self._saw_large = frame.size > SCRATCH_BYTES
        return frame.take()

    def settle(self) -> bool:
        """Ends a round of `next_frame` calls; returns whether a large frame was among the results.

        Saves the bytes that were not taken. Reuses the memory of a large frame for the next one,
        unless views of it exist. The caller calls `release` when all responses are complete.
        """
        if self._data is not _NOTHING:
            self._leftover = bytes(self._data)
            self._data = _NOTHING
        if self._handled is None:
            return False
        self._handled.give_back(self._host.spare)
        self._handled = None
        return True

    # --- the receive budget ----------------------------------------------------------------

    def _reserve(self, size: int) -> bool:
        self.stalled = not self._host.budget.try_reserve(self, size)
        if not self.stalled:
            self._reserved += size
        return not self.stalled

    def resume_receiving(self) -> None:
        """Called when the receive budget has room again."""
        self.stalled = False
        self._on_room()

    def release(self) -> None:
        """Releases the reservation of handled frames; an unfinished frame keeps its part."""
        if self._reserved:
            keep = min(self._reserved, self._frame.allocated) if self._frame is not None else 0
            self._host.budget.release(self, self._reserved - keep)
            self._reserved = keep

    def drop(self) -> None:
        """Discards all received bytes; called when the connection is closed."""
        self._frame = self._handled = None
        self.unfinished = False
        self._data = _NOTHING
        self._leftover = b""
        self._host.budget.forget(self)
