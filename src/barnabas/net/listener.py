"""Accepts connections on one address, within its limits, and closes slow and idle ones.

Without free file descriptors, the listener pauses accepting, because the socket stays readable and
the loop would spin. At the connection limit, new connections wait until one closes. A connection
above the limit of its address is closed immediately, logged and counted.
"""

import asyncio
import contextlib
import errno
import socket
from collections.abc import Callable, Sequence

from barnabas.net.admission import ConnectionAdmission
from barnabas.net.close_reasons import ClosedConnections, CloseReason
from barnabas.net.frame_buffer import ReceiveBudget, SpareBuffer
from barnabas.net.frame_reader import SCRATCH_BYTES, ConnectionLimits
from barnabas.net.server_connection import ConnectionSecurity, FrameHandler, ServerConnection
from barnabas.net.stream import ByteStream, TcpStream, plain_address
from barnabas.runtime.clock import Clock

BACKLOG = 1024
_MISSING_FAMILY = frozenset({errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT})
# A burst of connections must not keep the loop from the open ones.
_ACCEPTS_PER_TURN = 64
# accept() would fail immediately again, in a busy loop, until a connection is closed.
_OUT_OF_FILES_PAUSE_S = 0.25
_SWEEP_S = 1.0
# Without memory for frames, connections that make no progress for this long are closed.
_STUCK_UNDER_PRESSURE_MS = 1000
_OUT_OF_FILES = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM})


# --- Sockets --------------------------------------------------------------------------------------


def listen_on(
    host: str,
    port: int,
    *,
    backlog: int = BACKLOG,
    send_buffer_bytes: int = -1,
    receive_buffer_bytes: int = -1,
) -> list[socket.socket]:
    """Listens on every address of `host`, all on one port; an empty host means all interfaces.

    A name such as localhost often has an IPv4 and an IPv6 address, and clients use either. Raises
    OSError, with the address as its filename, if the port is in use or this machine has none of the
    addresses. Port 0 selects a free port. Buffer sizes below 0 keep the system's automatic sizes;
    connections inherit the sizes.
    """
    sizes = {socket.SO_SNDBUF: send_buffer_bytes, socket.SO_RCVBUF: receive_buffer_bytes}
    opened: list[socket.socket] = []
    try:
        for family, address in _addresses(host, port):
            try:
                opened.append(_open(family, (address, port), backlog))
            except OSError as error:
                if error.errno not in _MISSING_FAMILY:
                    raise
                continue
            port = opened[0].getsockname()[1]
        for option, size in sizes.items():
            if size >= 0:
                for sock in opened:
                    sock.setsockopt(socket.SOL_SOCKET, option, size)
        if not opened:
            raise OSError(errno.EADDRNOTAVAIL, "no address of this machine", host)
    except BaseException:
        for sock in opened:
            sock.close()
        raise
    return opened


def _addresses(host: str, port: int) -> Sequence[tuple[int, str]]:
    if not host:
        if socket.has_dualstack_ipv6():
            return [(socket.AF_INET6, "::")]
        return [(socket.AF_INET, "0.0.0.0")]
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except socket.gaierror as error:
        raise OSError(error.errno, error.strerror, host) from error
    unique = dict.fromkeys((family, str(address[0])) for family, _, _, _, address in found)
    return sorted(unique, key=lambda item: item[0] != socket.AF_INET)


def _open(family: int, address: tuple[str, int], backlog: int) -> socket.socket:
    sock = socket.socket(family, socket.SOCK_STREAM)
    try:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if family == socket.AF_INET6:
            only_six = address[0] != "::"
            sock.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, only_six)
        sock.setblocking(False)
        sock.bind(address)
        sock.listen(backlog)
    except OSError as error:
        sock.close()
        raise OSError(error.errno, error.strerror, f"{address[0]}:{address[1]}") from error
    return sock


# --- Listener -------------------------------------------------------------------------------------


class Listener:
    """Listening sockets and their connections; owned by the loop that starts it."""

    def __init__(  # noqa: PLR0913 - the parts of a listener
        self,
        handler: FrameHandler,
        *,
        clock: Clock,
        limits: ConnectionLimits | None = None,
        name: str = "PLAINTEXT",
        security: ConnectionSecurity | None = None,
        admission: ConnectionAdmission | None = None,
        short: FrameHandler | None = None,
    ) -> None:
        """`security` creates the streams and restricts connections until authentication;
        `admission` is shared by all listeners of a broker. `short` gets a frame that arrived alone
        before `handler`, and returns None to leave it to `handler`.
        """
        self.clock = clock
        self._security = security
        self.limits = limits or ConnectionLimits()
        self.name = name
        self.budget = ReceiveBudget(self.limits.max_partial_bytes, self._on_pressure)
        self.closed_connections = ClosedConnections(name, clock)
        self.scratch = memoryview(bytearray(SCRATCH_BYTES))
        self.spare = SpareBuffer()
        self.connections: set[ServerConnection] = set()
        self._handler = handler
        self._short = short
        self._admission = admission or ConnectionAdmission()
        self._admission.join(self)
        self._sockets: list[socket.socket] = []
        self._loop: asyncio.AbstractEventLoop | None = None
        self._sweep: asyncio.TimerHandle | None = None
        self._retry: asyncio.TimerHandle | None = None
        self._all_closed: asyncio.Event | None = None

    @property
    def address(self) -> tuple[str, int]:
        """The actual address and port."""
        if not self._sockets:
            raise RuntimeError("the listener has no address")
        host, port = self._sockets[0].getsockname()[:2]
        return host, port

    def start(self, sockets: Sequence[socket.socket]) -> None:
        """Starts to accept on listening sockets (`bind.listen_on`)."""
        self._loop = asyncio.get_running_loop()
        self._sockets = list(sockets)
        self._watch_sockets()
        self._sweep = self._loop.call_later(_SWEEP_S, self._sweep_connections)

    def drain(self) -> None:
        """Accepts no more connections and requests; requests in progress get responses."""
        self._stop_accepting()
        for connection in list(self.connections):
            connection.close_when_idle()

    async def stop(self, *, grace_s: float = 1.0) -> None:
        """Drains, waits up to `grace_s` for requests in progress and closes all connections."""
        self.drain()
        if self.connections:
            self._all_closed = asyncio.Event()
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._all_closed.wait(), grace_s)
        for connection in list(self.connections):
            connection.close()

    def serve(self, stream: ByteStream) -> ServerConnection:
        """Serves a connected stream."""
        connection = ServerConnection(
            self, stream, self._handler, listener_name=self.name, short=self._short
        )
        self._admission.opened(self, stream.peer[0])
        self.connections.add(connection)
        if self._security is not None:
            self._security.accepted(connection)
        connection.start()
        return connection

    def call_soon(self, callback: Callable[[], None]) -> None:
        (self._loop or asyncio.get_running_loop()).call_soon(callback)

    def call_later(self, delay_s: float, callback: Callable[[], None]) -> None:
        (self._loop or asyncio.get_running_loop()).call_later(delay_s, callback)

    def connection_closed(self, connection: ServerConnection) -> None:
        self.connections.discard(connection)
        self._admission.closed(self, connection.stream.peer[0])
        if not self.connections and self._all_closed is not None:
            self._all_closed.set()

    # --- accepting -------------------------------------------------------------------------

    def accept_again(self) -> None:
        """Accepts again, unless paused because of missing file descriptors."""
        if self._retry is None:
            self._watch_sockets()

    def _watch_sockets(self) -> None:
        self._retry = None
        if self._loop is not None:
            for sock in self._sockets:
                self._loop.add_reader(sock, self._on_acceptable, sock)

    def _on_acceptable(self, listening: socket.socket) -> None:
        for _ in range(_ACCEPTS_PER_TURN):
            if not self._admission.has_room(self):
                self._wait_for_room()
                return
            if not self._accept_one(listening):
                return

    def _wait_for_room(self) -> None:
        full = "the limit is reached, new connections wait"
        self.closed_connections.add(CloseReason.TOO_MANY_CONNECTIONS, None, full)
        self._ignore_sockets()
        self._admission.wait_for_room(self)

    def _accept_one(self, listening: socket.socket) -> bool:
        try:
            sock, peer = listening.accept()
        except (BlockingIOError, InterruptedError, ConnectionAbortedError):
            return False
        except OSError as error:
            if error.errno not in _OUT_OF_FILES:
                raise
            self._pause_accepting(error)
            return False
        address = plain_address(peer)
        if not self._admission.has_slot_for(address[0]):
            self.closed_connections.add(CloseReason.TOO_MANY_FROM_IP, address, "over the limit")
            sock.close()
            return True
        self._serve_socket(sock)
        return True

    def _serve_socket(self, sock: socket.socket) -> None:
        try:
            stream: ByteStream = TcpStream(asyncio.get_running_loop(), sock)
            if self._security is not None:
                stream = self._security.secure(stream)
        except OSError:  # the peer has closed the connection
            sock.close()
            return
        self.serve(stream)

    def _pause_accepting(self, error: OSError) -> None:
        self.closed_connections.add(CloseReason.OUT_OF_FILES, None, error.strerror or "")
        self._ignore_sockets()
        if self._loop is not None:
            self._retry = self._loop.call_later(_OUT_OF_FILES_PAUSE_S, self._watch_sockets)

    def _stop_accepting(self) -> None:
        for timer in (self._sweep, self._retry):
            if timer is not None:
                timer.cancel()
        self._ignore_sockets()
        for sock in self._sockets:
            sock.close()
        self._sockets = []

    def _ignore_sockets(self) -> None:
        if self._loop is not None:
            for sock in self._sockets:
                self._loop.remove_reader(sock)

    # --- periodic checks -------------------------------------------------------------------

    def _sweep_connections(self) -> None:
        now_ms = self.clock.monotonic_ms()
        for connection in list(self.connections):
            connection.check_deadlines(now_ms)
        if self.budget.under_pressure:
            self._on_pressure()
        if self._loop is not None:
            self._sweep = self._loop.call_later(_SWEEP_S, self._sweep_connections)

    def _on_pressure(self) -> None:
        """Closes stuck peers with unfinished frames; called at the limit of the receive budget."""
        now_ms = self.clock.monotonic_ms()
        for connection in list(self.connections):
            if connection.is_stuck(now_ms, _STUCK_UNDER_PRESSURE_MS):
                connection.close_with_reason(
                    CloseReason.MEMORY, "holds an unfinished frame while memory is short"
                )
