"""One accepted connection: frames in, responses out in the order of their requests.

Reads go through a scratch buffer shared by all connections of the loop; a frame that came whole is
copied out of it, a larger one is received straight into its own memory. A frame that can be
answered at once is handled inside the read callback: no task, no queue. Reading stops ("mute")
while a request is in progress that the next one must not overtake, while too many replies are
pending, while too much is unsent (a slow reader gets back-pressure, not memory), and while the
receive budget is spent.

Never resumed from inside another connection's callback, always through the loop: the scratch
buffer belongs to one callback at a time.
"""

import logging
import struct
from collections import deque

from barnabas.model.errors import ProtocolError
from barnabas.net.connection_ports import ConnectionClosedError, FrameHandler, Host
from barnabas.net.frame_buffer import STEP_BYTES, FrameBuffer
from barnabas.net.output_queue import OutputQueue
from barnabas.net.pending import PendingReply
from barnabas.net.progress import Progress
from barnabas.net.refusal import Refusal, bad_size
from barnabas.net.stream import Stream
from barnabas.security.principal import ANONYMOUS

_logger = logging.getLogger("barnabas.net")
_unpack_size = struct.Struct(">i").unpack_from

SCRATCH_BYTES = 64 * 1024
_SIZE_BYTES = 4
# After a large frame the next is probably large too: read little of it through the scratch
# buffer, so that little of it is copied twice.
_SCRATCH_AFTER_LARGE = 4 * 1024


class ServerConnection:
    """Owned by the listener's loop; every method runs there.

    `attachment` is the handler's own state about this peer (its session, its client software);
    `principal` is who the peer has proved to be. Until then `max_frame_bytes` may be lower than
    the listener's, and the peer be given time until `deadline_ms`.
    """

    __slots__ = (
        "_closing",
        "_frame",
        "_handler",
        "_host",
        "_leftover",
        "_limits",
        "_output",
        "_paused",
        "_pending",
        "_progress",
        "_reading",
        "_reserved",
        "_resuming",
        "_saw_large",
        "_stalled",
        "_writing",
        "attachment",
        "closed",
        "deadline_ms",
        "frames_received",
        "listener_name",
        "max_frame_bytes",
        "principal",
        "stream",
    )

    def __init__(
        self, host: Host, stream: Stream, handler: FrameHandler, *, listener_name: str = "PLAINTEXT"
    ) -> None:
        self._host = host
        self._limits = host.limits
        self._handler = handler
        self._frame: FrameBuffer | None = None
        self._leftover = b""  # received, not yet handled: at most one scratch buffer
        self._output = OutputQueue()
        self._pending: deque[PendingReply] = deque()
        self._progress = Progress(host.clock.monotonic_ms())
        self._reserved = 0  # of the receive budget
        self._paused = False  # by the handler: throttled, or shutting down
        self._stalled = False  # waits for the receive budget
        self._closing = False  # as soon as idle
        self._reading = False
        self._writing = False
        self._resuming = False
        self._saw_large = False
        self.attachment: object = None
        self.closed = False
        self.deadline_ms: int | None = None
        self.frames_received = 0
        self.max_frame_bytes = host.limits.max_frame_bytes
        self.listener_name = listener_name
        self.principal = ANONYMOUS
        self.stream = stream

    def start(self) -> None:
        self._update_reading()

    # --- receiving -------------------------------------------------------------------------

    def _on_readable(self) -> None:
        if self._must_wait():
            # Muted lazily, only when the peer does send: a consumer that waits for its long
            # poll costs no system call to mute and unmute.
            self._reading = False
            self.stream.watch_readable(None)
            return
        try:
            if self._frame is None:
                self._receive_frames()
            if self._frame is not None and not self._stalled:
                # Its bytes are probably there: no turn of the loop for them.
                self._receive_rest(self._frame)
        except BlockingIOError:
            pass
        except (OSError, ConnectionClosedError, ProtocolError) as error:
            self._fail(error)
            return
        if not self.closed:
            self._flush()

    def _receive_frames(self) -> None:
        held = len(self._leftover)
        scratch = self._host.scratch
        room = _SCRATCH_AFTER_LARGE + held if self._saw_large else len(scratch)
        count = self.stream.recv_into(scratch[held:room])
        if count == 0:
            self.close()
            return
        self._saw_large = False
        if held:
            scratch[:held] = self._leftover
            self._leftover = b""
        self._progress.moved(count, self._host.clock.monotonic_ms())
        self._consume(scratch[: held + count])

    def _consume(self, data: memoryview) -> None:
        """Handle the whole frames in `data`; keep what remains."""
        position, end = 0, len(data)
        while end - position >= 4 and not self.closed:
            if self._must_wait():
                break
            (size,) = _unpack_size(data, position)
            self._check_size(size, data[position : position + 4])
            start = position + 4
            if start + size > end:
                self._begin_large(size, data[start:end])
                return
            position = start + size
            self._handle(memoryview(bytearray(data[start:position])))
        if position < end and not self.closed:
            self._leftover = bytes(data[position:end])

    def _check_size(self, size: int, start: memoryview) -> None:
        if not 0 < size <= self.max_frame_bytes:
            reason, detail = bad_size(bytes(start), size, self.max_frame_bytes)
            raise ConnectionClosedError(reason, detail)

    def _begin_large(self, size: int, start: memoryview) -> None:
        self._frame = FrameBuffer(size, start, self._host.spare)
        self._progress.restart(self._host.clock.monotonic_ms())
        if self._frame.allocated >= STEP_BYTES:
            self._reserve(self._frame.allocated)

    def _receive_rest(self, frame: FrameBuffer) -> None:
        if frame.full:
            if not self._reserve(frame.next_step):
                return
            frame.grow()
        count = self.stream.recv_into(frame.free_space())
        if count == 0:
            self.close()
            return
        frame.received(count)
        self._progress.moved(count, self._host.clock.monotonic_ms())
        if frame.complete:
            self._frame = None
            self._saw_large = frame.size > SCRATCH_BYTES
            self._handle(frame.take())
            frame.give_back(self._host.spare)
            if self._reserved and not self._pending:
                self._release_reserved()

    def _reserve(self, size: int) -> bool:
        self._stalled = not self._host.budget.try_reserve(self, size)
        if not self._stalled:
            self._reserved += size
        return not self._stalled

    def _release_reserved(self) -> None:
        """Give back what answered frames held; an unfinished one keeps its share."""
        keep = min(self._reserved, self._frame.allocated) if self._frame is not None else 0
        self._host.budget.release(self, self._reserved - keep)
        self._reserved = keep

    def resume_receiving(self) -> None:
        """The receive budget has room again."""
        self._stalled = False
        self._schedule_resume()

    # --- handling --------------------------------------------------------------------------

    def _handle(self, frame: memoryview) -> None:
        self.frames_received += 1
        reply = self._handler(self, frame)
        if reply is None:
            return
        if isinstance(reply, PendingReply):
            self._pending.append(reply)
            reply.when_ready(self._reply_ready)
        elif self._pending:
            later = PendingReply(pipelined=True)
            later.complete(reply)
            self._pending.append(later)
        else:
            self._output.append(reply)
        if self.closed:
            self._drop_unsent()

    def _reply_ready(self) -> None:
        """A pending reply was filled in: send it and those that waited behind it."""
        pending = self._pending
        while pending and pending[0].ready:
            parts = pending.popleft().parts
            if parts:
                self._output.append(parts)
        if self._reserved and not pending:
            self._release_reserved()
        self._flush()
        if self._leftover or not self._reading:
            self._schedule_resume()

    def _must_wait(self) -> bool:
        if self._paused or self._stalled:
            return True
        if self._output.unsent_bytes > self._limits.max_unsent_bytes:
            return True
        pending = self._pending
        return bool(pending) and (
            not pending[-1].pipelined or len(pending) >= self._limits.max_pending_replies
        )

    def _schedule_resume(self) -> None:
        if not self._resuming and not self.closed:
            self._resuming = True
            self._host.call_soon(self._resume)

    def _resume(self) -> None:
        self._resuming = False
        if self.closed or self._must_wait():
            return
        try:
            if self._frame is None and self._leftover:
                data, self._leftover = self._leftover, b""
                self._consume(memoryview(data))
        except (OSError, ConnectionClosedError, ProtocolError) as error:
            self._fail(error)
            return
        self._flush()
        self._update_reading()

    def _update_reading(self) -> None:
        if not self._reading and not self.closed and not self._must_wait():
            self._reading = True
            self._progress.restart(self._host.clock.monotonic_ms())
            self.stream.watch_readable(self._on_readable)

    # --- sending ---------------------------------------------------------------------------

    def _flush(self) -> None:
        if self.closed:
            return
        if self._output or self._writing:
            try:
                sent = self._output.flush(self.stream)
            except OSError as error:
                self._fail(error)
                return
            self._progress.moved(sent, self._host.clock.monotonic_ms())
            self._update_writing()
            if len(self._leftover) >= _SIZE_BYTES and not self._must_wait():
                self._schedule_resume()  # requests that waited for this output to go
        if self._closing and self.idle:
            self.close()

    def _update_writing(self) -> None:
        wanted = bool(self._output)
        if wanted != self._writing:
            self._writing = wanted
            self._progress.restart(self._host.clock.monotonic_ms())
            self.stream.watch_writable(self._on_writable if wanted else None)

    def _on_writable(self) -> None:
        self._flush()
        if self._leftover or not self._reading:
            self._schedule_resume()

    def _drop_unsent(self) -> None:
        self._output.clear()
        while self._pending:
            self._pending.popleft().abandon()

    # --- life ------------------------------------------------------------------------------

    def pause(self) -> None:
        """Take no requests for now (a quota throttle); what is pending is answered."""
        self._paused = True

    def unpause(self) -> None:
        """Go on, unless it is closing."""
        if not self._closing:
            self._paused = False
            self._schedule_resume()

    @property
    def idle(self) -> bool:
        """No request in progress and nothing unsent."""
        return not (self._pending or self._output)

    def close_when_idle(self) -> None:
        """Take no more requests, answer those in progress, then close."""
        self._paused = self._closing = True
        if self.idle:
            self.close()

    def refuse(self, reason: Refusal, detail: str) -> None:
        """Close with one log line."""
        if not self.closed:
            self._host.refusals.refused(reason, self.stream.peer, detail)
            self.close()

    def refuse_after_replies(self, reason: Refusal, detail: str) -> None:
        """Close with one log line, once what is pending has been answered."""
        if not self.closed:
            self._host.refusals.refused(reason, self.stream.peer, detail)
            self.close_when_idle()

    def lift_bounds(self) -> None:
        """The peer has proved who it is: only the listener's own limits hold from now on."""
        self.max_frame_bytes = self._limits.max_frame_bytes
        self.deadline_ms = None

    def check_deadlines(self, now_ms: int) -> None:
        """Close a peer that is gone, idle too long, or too slow with what it has begun."""
        limits = self._limits
        if self.deadline_ms is not None and now_ms >= self.deadline_ms:
            self.refuse(Refusal.AUTHENTICATION, "did not authenticate in time")
            return
        if self._pending and self.stream.peer_is_gone():
            # While a request is in progress nothing is read, so its end would go unnoticed.
            self.close()
            return
        if self._writing or self._owes_bytes():
            window = limits.progress_ms if self.frames_received else limits.first_frame_ms
            if self._progress.too_slow(now_ms, window, limits.min_progress_bytes):
                doing = "reading its responses" if self._writing else "sending a request"
                self.refuse(Refusal.SLOW_PEER, f"too slow in {doing}")
        elif 0 <= limits.idle_ms <= now_ms - self._progress.last_ms and not self._pending:
            self.close()

    def is_stuck(self, now_ms: int, window_ms: int) -> bool:
        """Whether it holds an unfinished frame and sends next to nothing of it."""
        if self._frame is None or self._must_wait():
            return False
        return self._progress.stuck(now_ms, window_ms, self._limits.min_progress_bytes)

    def close(self) -> None:
        """Close now; unsent parts are released, pending replies are abandoned."""
        if self.closed:
            return
        self.closed = True
        self._reading = self._writing = False
        self.stream.close()
        self._frame = None
        self._leftover = b""
        self._drop_unsent()
        self._host.budget.forget(self)
        self._host.connection_closed(self)

    def _owes_bytes(self) -> bool:
        """Whether it is the peer's turn to send: its first request, or the rest of one."""
        if self._must_wait():
            return False
        return self._frame is not None or bool(self._leftover) or not self.frames_received

    def _fail(self, error: Exception) -> None:
        if isinstance(error, ConnectionClosedError):
            self.refuse(error.reason, error.detail)
        elif isinstance(error, ProtocolError):
            self.refuse(Refusal.MALFORMED, str(error))
        else:
            _logger.debug("peer=%s:%s lost: %s", *self.stream.peer, error)
            self.close()
