"""One accepted connection: frames in, responses out in the order of their requests.

A frame that can be answered at once is handled inside the read callback: no task, no queue.
Reading stops ("mute") while a request is in progress that the next one must not overtake, while
too many replies are pending, while too much is unsent (a slow reader gets back-pressure, not
memory), and while the receive budget is spent.

Never resumed from inside another connection's callback, always through the loop: the scratch
buffer that frames are read through belongs to one callback at a time.
"""

import logging

from barnabas.model.errors import ProtocolError
from barnabas.net.connection_ports import ConnectionClosedError, FrameHandler, Host
from barnabas.net.frame_reader import FrameReader
from barnabas.net.progress import Progress
from barnabas.net.refusal import Refusal
from barnabas.net.reply_queue import ReplyQueue
from barnabas.net.stream import Stream
from barnabas.security.principal import ANONYMOUS

_logger = logging.getLogger("barnabas.net")


class ServerConnection:
    """Owned by the listener's loop; every method runs there.

    `attachment` is the handler's own state about this peer (its session, its client software);
    `principal` is who the peer has proved to be; until then it may be bounded (`set_bounds`).
    """

    __slots__ = (
        "_closing",
        "_deadline_ms",
        "_handler",
        "_host",
        "_limits",
        "_paused",
        "_progress",
        "_reader",
        "_reading",
        "_replies",
        "_resuming",
        "_writing",
        "attachment",
        "closed",
        "frames_received",
        "listener_name",
        "principal",
        "stream",
    )

    def __init__(
        self, host: Host, stream: Stream, handler: FrameHandler, *, listener_name: str = "PLAINTEXT"
    ) -> None:
        self._host = host
        self._limits = host.limits
        self._handler = handler
        self._progress = Progress(host.clock.monotonic_ms())
        self._reader = FrameReader(host, stream, self._progress, self._schedule_resume)
        self._replies = ReplyQueue(host.limits, self._reply_ready)
        self._paused = False  # by the handler: throttled, or shutting down
        self._closing = False  # as soon as idle
        self._reading = False
        self._writing = False
        self._resuming = False
        self._deadline_ms: int | None = None
        self.attachment: object = None
        self.closed = False
        self.frames_received = 0
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
        reader = self._reader
        try:
            if not reader.unfinished:
                self._receive()
            if reader.unfinished and not reader.stalled:
                # Its bytes are probably there: no turn of the loop for them.
                self._receive()
        except BlockingIOError:
            pass
        except Exception as error:  # noqa: BLE001 - one connection fails, the others go on
            self._fail(error)
            return
        if not self.closed:
            self._flush()

    def _receive(self) -> None:
        if self._reader.receive():
            self._handle_frames()
        else:
            self.close()

    def _handle_frames(self) -> None:
        """Handle the frames that are there; keep what must wait."""
        self._handle_while_able()
        self._reader.settle(answered=not self._replies.pending)

    def _handle_while_able(self) -> None:
        next_frame = self._reader.next_frame
        while not self.closed and not self._must_wait():
            frame = next_frame()
            if frame is None:
                return
            self.frames_received += 1
            self._replies.add(self._handler(self, frame))
        if self.closed:
            self._replies.clear()

    def _reply_ready(self) -> None:
        """A pending reply was filled in: send it and those that waited behind it."""
        self._replies.collect()
        if not self._replies.pending:
            self._reader.release()
        self._flush()
        self._resume_soon_if_muted()

    def _must_wait(self) -> bool:
        return self._paused or self._reader.stalled or self._replies.full

    def _resume_soon_if_muted(self) -> None:
        if self._reader.holds_frames or not self._reading:
            self._schedule_resume()

    def _schedule_resume(self) -> None:
        if not self._resuming and not self.closed:
            self._resuming = True
            self._host.call_soon(self._resume)

    def _resume(self) -> None:
        self._resuming = False
        if self.closed or self._must_wait():
            return
        try:
            self._reader.reread()
            self._handle_frames()
        except Exception as error:  # noqa: BLE001 - one connection fails, the others go on
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
        if self._replies.unsent or self._writing:
            try:
                sent = self._replies.send(self.stream)
            except OSError as error:
                self._fail(error)
                return
            self._progress.moved(sent, self._host.clock.monotonic_ms())
            self._update_writing()
            if self._reader.holds_frames and not self._must_wait():
                self._schedule_resume()  # requests that waited for this output to go
        if self._closing and self.idle:
            self.close()

    def _update_writing(self) -> None:
        wanted = self._replies.unsent
        if wanted != self._writing:
            self._writing = wanted
            self._progress.restart(self._host.clock.monotonic_ms())
            self.stream.watch_writable(self._on_writable if wanted else None)

    def _on_writable(self) -> None:
        self._flush()
        self._resume_soon_if_muted()

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
        return not (self._replies.pending or self._replies.unsent)

    @property
    def last_active_ms(self) -> int:
        """When bytes went either way for the last time, or when it began."""
        return self._progress.last_ms

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

    def set_bounds(self, deadline_ms: int, max_frame_bytes: int | None = None) -> None:
        """Until `lift_bounds`: it has until then, and may send no larger frames."""
        self._deadline_ms = deadline_ms
        if max_frame_bytes is not None:
            self._reader.max_frame_bytes = max_frame_bytes

    def lift_bounds(self) -> None:
        """The peer has proved who it is: only the listener's own limits hold from now on."""
        self._reader.max_frame_bytes = self._limits.max_frame_bytes
        self._deadline_ms = None

    def check_deadlines(self, now_ms: int) -> None:
        """Close a peer that is gone, idle too long, or too slow with what it has begun."""
        limits = self._limits
        if self._deadline_ms is not None and now_ms >= self._deadline_ms:
            self.refuse(Refusal.AUTHENTICATION, "did not authenticate in time")
            return
        if self._replies.pending and self.stream.peer_is_gone():
            # While a request is in progress nothing is read, so its end would go unnoticed.
            self.close()
            return
        if self._writing or self._owes_bytes():
            window = limits.progress_ms if self.frames_received else limits.first_frame_ms
            if self._progress.too_slow(now_ms, window, limits.min_progress_bytes):
                doing = "reading its responses" if self._writing else "sending a request"
                self.refuse(Refusal.SLOW_PEER, f"too slow in {doing}")
        elif 0 <= limits.idle_ms <= now_ms - self._progress.last_ms and self.idle:
            self.close()

    def is_stuck(self, now_ms: int, window_ms: int) -> bool:
        """Whether it holds an unfinished frame and sends next to nothing of it."""
        if not self._reader.unfinished or self._must_wait():
            return False
        return self._progress.stuck(now_ms, window_ms, self._limits.min_progress_bytes)

    def close(self) -> None:
        """Close now; unsent parts are released, pending replies are abandoned."""
        if self.closed:
            return
        self.closed = True
        self._reading = self._writing = False
        self.stream.close()
        self._reader.drop()
        self._replies.clear()
        self._host.connection_closed(self)

    def _owes_bytes(self) -> bool:
        """Whether it is the peer's turn to send: its first request, or the rest of one."""
        if self._must_wait():
            return False
        return self._reader.holds_bytes or not self.frames_received

    def _refuse_later(self, error: ConnectionClosedError) -> None:
        """Log now, read no more, and close after the delay."""
        self._host.refusals.refused(error.reason, self.stream.peer, error.detail)
        self._paused = self._closing = True
        self._reading = False
        self.stream.watch_readable(None)
        self._host.call_later(self._limits.unsupported_delay_ms / 1000, self.close)

    def _fail(self, error: Exception) -> None:
        if isinstance(error, ConnectionClosedError):
            if error.reason is Refusal.UNSUPPORTED and not self._closing:
                self._refuse_later(error)
            else:
                self.refuse(error.reason, error.detail)
        elif isinstance(error, ProtocolError):
            self.refuse(Refusal.MALFORMED, str(error))
        elif isinstance(error, OSError):
            _logger.debug("peer=%s:%s lost: %s", *self.stream.peer, error)
            self.close()
        elif isinstance(error, MemoryError):
            self.refuse(Refusal.MEMORY, "not enough memory for a request")
        else:
            self._host.refusals.failed(self.stream.peer)
            self.refuse(Refusal.INTERNAL, f"{type(error).__name__} while handling a request")
