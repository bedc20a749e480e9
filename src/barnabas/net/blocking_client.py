"""A client connection on a blocking socket, without event loop: one request at a time.

For the simple consumer and Spark executors: it needs no thread and no switch between loops, and it
receives large responses directly into their final buffer.
"""

import socket
import ssl
import struct
import sys
import time
from typing import Any

from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BarnabasError, DeadlineError, ProtocolError, UnavailableError
from barnabas.net._frame_receiver_hot import FrameReceiver
from barnabas.net.client_protocol import (
    FIRST_API_VERSIONS,
    ClientProtocol,
    VersionRanges,
    choose_version,
    version_ranges,
    versions_request,
)
from barnabas.net.connection_options import (
    MIN_REAUTHENTICATION_S,
    SESSION_SHARE,
    Address,
    ConnectionOptions,
    connect_problem,
)
from barnabas.net.diagnosis import diagnose, tls_failure
from barnabas.security.mechanism import AuthenticationError
from barnabas.wire.message import Message, Request, ResponseT

CAN_WAIT_FOR_ALL = sys.platform == "linux"
TIMEVAL = struct.Struct("ll")


class BlockingConnection:
    """One connection, for one thread at a time. Any failure closes it."""

    def __init__(self, address: Address, options: ConnectionOptions) -> None:
        self.address = address
        self.versions: VersionRanges = {}
        self._options = options
        self._protocol = ClientProtocol(options.client_id)
        self._receiver = FrameReceiver()
        self._socket: socket.socket | None = None
        self._expires_s: float | None = None
        self._can_log_in_again = False

    @classmethod
    def open(cls, address: Address, options: ConnectionOptions) -> "BlockingConnection":
        """Connects and exchanges ApiVersions; the error of a failure names its cause."""
        connection = cls(address, options)
        connection._connect()
        try:
            connection._agree_on_versions()
            connection._log_in()
        except AuthenticationError:
            connection.close()
            raise
        except (ProtocolError, UnavailableError) as error:
            connection.close()
            if isinstance(error, DeadlineError):
                raise
            if isinstance(error.__cause__, ssl.SSLError):
                raise _tls_failure(address, error.__cause__) from error
            raise diagnose(address, tls=options.tls is not None) from error
        return connection

    @property
    def closed(self) -> bool:
        """Whether it is closed; closes it if its session is too short to authenticate again."""
        if self._session_over() and not self._can_log_in_again:
            self.close()
        return self._socket is None

    def version_of(self, request: type[Message]) -> int:
        """Returns the highest version of a request that both sides support."""
        return choose_version(request, self.versions, self.address)

    def send(
        self,
        request: Request[ResponseT],
        *,
        version: int | None = None,
        timeout_s: float | None = None,
    ) -> ResponseT:
        """Sends a request and waits for its response; authenticates again before if it is due."""
        if self._session_over() and self._can_log_in_again:
            self._log_in_again()
        response: ResponseT = self._exchange(request, version, timeout_s)
        return response

    def _exchange(
        self, request: Message, version: int | None = None, timeout_s: float | None = None
    ) -> Any:
        chosen = self.version_of(type(request)) if version is None else version
        limit = self._options.request_timeout_s if timeout_s is None else timeout_s
        peer, deadline_s = self._open_socket(), time.monotonic() + limit
        try:
            for part in self._protocol.send(request, chosen):
                peer.settimeout(_left(deadline_s))
                peer.sendall(part)  # type: ignore[arg-type]  # any buffer is accepted
            return self._protocol.receive(self._next_frame(peer, deadline_s))
        except TimeoutError:
            self.close()
            name = type(request).__name__
            raise DeadlineError(
                f"{self.address} did not respond to {name} in {limit:g} s"
            ) from None
        except OSError as error:
            self.close()
            raise UnavailableError(f"{self.address} closed the connection: {error}") from error
        except ProtocolError:
            self.close()
            raise

    def close(self) -> None:
        if self._socket is not None:
            self._socket.close()
            self._socket = None

    def _connect(self) -> None:
        options, address = self._options, self.address
        try:
            peer = _connect_socket(address, options)
            peer.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            if options.tls is not None:
                peer = options.tls.wrap_socket(peer, server_hostname=address.host)
        except TimeoutError:
            limit = options.connect_timeout_s
            raise DeadlineError(f"{address} did not respond within {limit:g} s") from None
        except ssl.SSLError as error:
            raise _tls_failure(address, error) from error
        except OSError as error:
            raise UnavailableError(
                f"cannot connect to {address}: {connect_problem(error)}"
            ) from error
        self._socket = peer

    def _agree_on_versions(self) -> None:
        response = self.send(versions_request(), version=FIRST_API_VERSIONS)
        if response.error_code == ErrorCode.UNSUPPORTED_VERSION:
            response = self.send(versions_request(), version=0)
        self.versions = version_ranges(response)

    def _log_in(self) -> None:
        if self._options.login is None:
            return
        steps = self._options.login.requests(self.versions, self.address)
        response: Any = None
        try:
            while True:
                request, version = steps.send(response)
                response = self._exchange(request, version)
        except StopIteration as over:
            session_s = over.value * SESSION_SHARE / 1000
            self._expires_s = time.monotonic() + session_s if session_s else None
            self._can_log_in_again = session_s >= MIN_REAUTHENTICATION_S

    def _log_in_again(self) -> None:
        """Authenticates again on this connection (KIP-368)."""
        try:
            self._log_in()
        except BarnabasError:
            self.close()
            raise

    def _session_over(self) -> bool:
        return self._expires_s is not None and time.monotonic() >= self._expires_s

    def _open_socket(self) -> socket.socket:
        if self._socket is None:
            raise UnavailableError(f"the connection to {self.address} was closed")
        return self._socket

    def _next_frame(self, peer: socket.socket, deadline_s: float) -> memoryview:
        while True:
            count = self._receive(peer, _left(deadline_s))
            if not count:
                self.close()
                raise UnavailableError(f"{self.address} closed the connection")
            frames = self._receiver.filled(count)
            if frames:
                return frames[0]

    def _receive(self, peer: socket.socket, limit_s: float) -> int:
        """Receives bytes; a large response in one call.

        Receiving it in small parts would acquire the interpreter's lock a hundred times, in
        competition with a thread that decodes.
        """
        buffer = self._receiver.buffer()
        if not (self._receiver.large and CAN_WAIT_FOR_ALL) or isinstance(peer, ssl.SSLSocket):
            peer.settimeout(limit_s)
            return peer.recv_into(buffer)
        peer.settimeout(None)
        # A timeout of 0 would mean no timeout.
        limit = TIMEVAL.pack(*divmod(max(int(limit_s * 1e6), 1), 1_000_000))
        peer.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, limit)
        try:
            return peer.recv_into(buffer, 0, socket.MSG_WAITALL)
        except BlockingIOError:
            raise TimeoutError from None


def _left(deadline_s: float) -> float:
    """Returns the time until the deadline, which all receive calls of a request share."""
    left = deadline_s - time.monotonic()
    if left <= 0:
        raise TimeoutError
    return left


def _connect_socket(address: Address, options: ConnectionOptions) -> socket.socket:
    """Connects to the first reachable address of the host."""
    if not options.sets_buffers:
        return socket.create_connection((address.host, address.port), options.connect_timeout_s)
    found = socket.getaddrinfo(address.host, address.port, type=socket.SOCK_STREAM)
    problem: OSError | None = None
    for family, _, _, _, target in found:
        sock = options.new_socket(family)
        sock.settimeout(options.connect_timeout_s)
        try:
            sock.connect(target)
        except OSError as error:
            sock.close()
            problem = error
        else:
            return sock
    raise problem or OSError(f"{address.host} has no address")


def _tls_failure(address: Address, error: OSError) -> BarnabasError:
    failure = tls_failure(address, error)
    if failure.retriable:  # the error does not name a cause
        cause = diagnose(address, tls=True)
        return failure if cause.retriable else cause
    return failure
