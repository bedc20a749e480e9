"""One accepted connection: reads frames, sends responses in the order of their requests.

The read callback handles a frame and sends its response directly, without a task or a queue; a
small request that arrived alone has a compiled short path (`_small_frame_hot`). The connection is
muted (not read from) while

- a request is in progress that the next one must not overtake,
- too many replies are pending,
- too many bytes are unsent (back-pressure for slow clients), or
- the receive budget is exhausted.

A muted connection is resumed through the loop, never from another connection's callback: only one
callback at a time may use the scratch buffer.
"""

import logging
from collections.abc import Callable
from contextlib import suppress
from time import perf_counter_ns
from typing import Protocol

from barnabas.model.errors import ProtocolError
from barnabas.net._connection_state_hot import ConnectionState, Progress
from barnabas.net._small_frame_hot import DONE, NOTHING_DONE, RECEIVED, serve_small
from barnabas.net.close_reasons import ClosedConnections, CloseReason, ConnectionClosedError
from barnabas.net.frame_reader import FrameReader, ReaderHost
from barnabas.net.replies import Reply
from barnabas.net.reply_queue import ReplyQueue
from barnabas.net.stream import ByteStream, TcpStream
from barnabas.security.principal import ANONYMOUS

_logger = logging.getLogger("barnabas.net")


UNKNOWN_SOFTWARE = ("unknown", "unknown")


class FrameHandler(Protocol):
    """Handles the frames of a connection; may raise ProtocolError or ConnectionClosedError."""

    def __call__(self, connection: "ServerConnection", frame: memoryview) -> Reply: ...


class ConnectionSecurity(Protocol):
    """Sets up TLS and SASL for the connections of a listener."""

    def secure(self, stream: ByteStream) -> ByteStream:
        """Returns the stream to use: the given one, or one that encrypts."""
        ...

    def accepted(self, connection: "ServerConnection") -> None:
        """Called when a connection begins."""
        ...


class ConnectionHost(ReaderHost, Protocol):
    """The parts of a listener that a connection uses."""

    @property
    def closed_connections(self) -> ClosedConnections: ...

    def call_soon(self, callback: Callable[[], None]) -> None: ...

    def call_later(self, delay_s: float, callback: Callable[[], None]) -> None: ...

    def connection_closed(self, connection: "ServerConnection") -> None: ...


class ServerConnection(ConnectionState):
    """One accepted connection: reads requests and sends responses in order.

    Owned by the listener's loop; every method runs there.

    `attachment` is state that the handler keeps for this peer (session, client software).
    `client_software` is the name and version that the client reported (KIP-511).
    `principal` is set by authentication; before, `set_bounds` may restrict the connection.
    `received_ns` is the time at which bytes were last read, for the time that a request waits.
    `send_time` is the metric of the response that the handler returns, set by the handler.
    """

    __slots__ = (
        "_deadline_ms",
        "_host",
        "_limits",
        "_reading",
        "_resuming",
        "attachment",
        "client_software",
        "listener_name",
        "principal",
        "stream",
    )
    _reader: FrameReader
    _replies: ReplyQueue

    def __init__(
        self,
        host: ConnectionHost,
        stream: ByteStream,
        handler: FrameHandler,
        *,
        listener_name: str = "PLAINTEXT",
        short: FrameHandler | None = None,
    ) -> None:
        """`short` gets a frame that arrived alone before `handler`; None leaves it to `handler`."""
        progress = Progress(host.clock.monotonic_ms())
        super().__init__(
            FrameReader(host, stream, progress, self._schedule_resume),
            progress,
            ReplyQueue(host.limits, self._reply_ready),
            handler,
            short,
            stream.send_bytes,
            stream.fd if type(stream) is TcpStream else -1,
        )
        self._host = host
        self._limits = host.limits
        self._reading = False
        self._resuming = False
        self._deadline_ms: int | None = None
        self.attachment: object = None
        self.client_software = UNKNOWN_SOFTWARE
        self.listener_name = listener_name
        self.principal = ANONYMOUS
        self.stream = stream

    def start(self) -> None:
        self._update_reading()

    # --- receiving -------------------------------------------------------------------------

    def _on_readable(self) -> None:
        try:
            done = serve_small(self)
            if done == DONE:
                return
            if done == NOTHING_DONE:
                if self._must_wait():
                    self._mute()
                    return
                if not self._reader.unfinished:
                    self._receive()
            elif done == RECEIVED:
                self._handle_frames()
            if self._reader.unfinished and not self._reader.stalled:
                # The rest of the frame has probably arrived: read it in the same callback.
                self._receive()
        except BlockingIOError:
            pass
        except Exception as error:  # noqa: BLE001 - one connection fails, the others continue
            self._fail(error)
            return
        if not self.closed:
            self._flush()

    def _mute(self) -> None:
        """Stops reading.

        Called only when the peer sends something: a consumer that waits for its long poll needs no
        system calls to mute and unmute.
        """
        self._reading = False
        self.stream.watch_readable(None)

    def _receive(self) -> None:
        if self._reader.receive():
            self.received_ns = perf_counter_ns()
            self._handle_frames()
        else:
            self.close()

    def _handle_frames(self) -> None:
        """Handles the received frames; keeps those that must wait.

        The caller has checked that the connection need not wait.
        """
        reader, replies = self._reader, self._replies
        while (frame := reader.next_frame()) is not None:
            self.frames_received += 1
            replies.add(self._handler(self, frame), self.send_time)
            if self.closed:
                replies.clear()
                break
            if reader.drained or self._must_wait():
                break
        if reader.settle() and not replies.pending:
            reader.release()

    def _reply_ready(self) -> None:
        """Sends a completed reply and the completed replies after it."""
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
        except Exception as error:  # noqa: BLE001 - one connection fails, the others continue
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
        output = self._output
        if output.unsent_bytes or self._writing:
            try:
                sent = self._replies.send(self.stream)
            except OSError as error:
                self._fail(error)
                return
            self._progress.moved(sent, self._host.clock.monotonic_ms())
            if output.unsent_bytes or self._writing:
                self._update_writing()
            if self._reader.holds_frames and not self._must_wait():
                self._schedule_resume()  # requests that waited for unsent bytes
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

    # --- lifecycle ------------------------------------------------------------------------------

    def pause(self) -> None:
        """Stops reading requests (quota throttle); pending requests still get responses."""
        self._paused = True

    def unpause(self) -> None:
        """Reads requests again, unless the connection is closing."""
        if not self._closing:
            self._paused = False
            self._schedule_resume()

    @property
    def idle(self) -> bool:
        """Whether no request is in progress and no bytes are unsent."""
        return not (self._replies.pending or self._replies.unsent)

    @property
    def last_active_ms(self) -> int:
        """Time of the last transfer in either direction, initially of the start."""
        return self._progress.last_ms

    def close_when_idle(self) -> None:
        """Reads no more requests and closes after the pending responses were sent."""
        self._paused = self._closing = True
        if self.idle:
            self.close()

    def close_with_reason(self, reason: CloseReason, detail: str) -> None:
        """Closes the connection and logs the reason."""
        if not self.closed:
            self._host.closed_connections.add(reason, self.stream.peer, detail)
            self.close()

    def close_after_replies(self, reason: CloseReason, detail: str) -> None:
        """Logs the reason and closes after the pending responses were sent."""
        if not self.closed:
            self._host.closed_connections.add(reason, self.stream.peer, detail)
            self.close_when_idle()

    def set_bounds(self, deadline_ms: int, max_frame_bytes: int | None = None) -> None:
        """Sets a deadline and a maximal frame size, which hold until `lift_bounds`."""
        self._deadline_ms = deadline_ms
        if max_frame_bytes is not None:
            self._reader.max_frame_bytes = max_frame_bytes

    def lift_bounds(self) -> None:
        """Removes the bounds after authentication; the listener's limits still hold."""
        self._reader.max_frame_bytes = self._limits.max_frame_bytes
        self._deadline_ms = None

    def check_deadlines(self, now_ms: int) -> None:
        """Closes the connection if the peer has closed it, is idle for too long, or is too slow."""
        limits = self._limits
        if self._deadline_ms is not None and now_ms >= self._deadline_ms:
            self.close_with_reason(CloseReason.AUTHENTICATION, "did not authenticate in time")
            return
        if self._replies.pending and self.stream.peer_is_gone():
            # A muted connection is not read, so a closed peer would stay unnoticed.
            self.close()
            return
        if self._writing or self._owes_bytes():
            window = limits.progress_ms if self.frames_received else limits.first_frame_ms
            if self._progress.too_slow(now_ms, window, limits.min_progress_bytes):
                doing = "reading its responses" if self._writing else "sending a request"
                self.close_with_reason(CloseReason.SLOW_PEER, f"too slow in {doing}")
        elif 0 <= limits.idle_ms <= now_ms - self._progress.last_ms and self.idle:
            self.close()

    def is_stuck(self, now_ms: int, window_ms: int) -> bool:
        """Whether the peer holds an unfinished frame and sends almost nothing."""
        if not self._reader.unfinished or self._must_wait():
            return False
        return self._progress.stuck(now_ms, window_ms, self._limits.min_progress_bytes)

    def close(self) -> None:
        """Closes immediately; releases unsent parts and abandons pending replies."""
        if self.closed:
            return
        self.closed = True
        self._reading = self._writing = False
        self.stream.close()
        self._reader.drop()
        self._replies.clear()
        self._host.connection_closed(self)

    def _owes_bytes(self) -> bool:
        """Whether the peer must send: its first request, or the rest of a request."""
        if self._must_wait():
            return False
        return self._reader.holds_bytes or not self.frames_received

    def _close_later(self, error: ConnectionClosedError) -> None:
        """Logs immediately, stops reading and closes after a delay."""
        self._host.closed_connections.add(error.reason, self.stream.peer, error.detail)
        self._paused = self._closing = True
        self._reading = False
        self.stream.watch_readable(None)
        self._host.call_later(self._limits.unsupported_delay_ms / 1000, self.close)

    def _fail(self, error: Exception) -> None:
        if not isinstance(error, OSError):
            # Requests before this one were served; a produce among them may have stored records.
            with suppress(OSError):
                self._replies.send(self.stream)
        if isinstance(error, ConnectionClosedError):
            if error.reason is CloseReason.UNSUPPORTED and not self._closing:
                self._close_later(error)
            else:
                self.close_with_reason(error.reason, error.detail)
        elif isinstance(error, ProtocolError):
            self.close_with_reason(CloseReason.MALFORMED, str(error))
        elif isinstance(error, OSError):
            _logger.debug("peer=%s:%s lost: %s", *self.stream.peer, error)
            self.close()
        elif isinstance(error, MemoryError):
            self.close_with_reason(CloseReason.MEMORY, "not enough memory for a request")
        else:
            self._host.closed_connections.request_failed(self.stream.peer)
            self.close_with_reason(
                CloseReason.INTERNAL, f"{type(error).__name__} while handling a request"
            )
