"""Address and options of client connections, for the event-loop and the blocking connection."""

import socket
import ssl
from collections.abc import Generator, Iterator
from dataclasses import dataclass
from typing import Any, Protocol

from barnabas.wire.message import Message

SESSION_SHARE = 0.85
"""Share of a session's lifetime after which a client authenticates again (KIP-368)."""
MIN_REAUTHENTICATION_S = 1.0
"""Brokers reject an earlier re-authentication: a shorter session needs a new connection."""


@dataclass(frozen=True, slots=True)
class Address:
    """Host and port of a broker."""

    host: str
    port: int

    def __str__(self) -> str:
        return f"{self.host}:{self.port}"


class Login(Protocol):
    """Credentials of a client; implemented by `sasl_client.SaslLogin`.

    The connections use this protocol, so that clients without SASL do not load its modules.
    """

    @property
    def needs_prepare(self) -> bool:
        """Whether `prepare` must be called, outside the loop, before `requests`."""
        ...

    def prepare(self) -> None:
        """Fetches a token if the mechanism needs one; may block."""
        ...

    def requests(
        self, served: dict[int, tuple[int, int]], address: Address
    ) -> Generator[tuple[Message, int], Any, int]:
        """Yields the requests of a login with their versions and receives the responses.

        Returns the lifetime of the session in milliseconds, 0 for unlimited.
        """
        ...


@dataclass(frozen=True, slots=True)
class ConnectionOptions:
    """Options that all connections of one client share."""

    client_id: str | None = None
    connect_timeout_s: float = 10.0
    request_timeout_s: float = 30.0
    tls: ssl.SSLContext | None = None
    login: Login | None = None
    send_buffer_bytes: int = -1
    receive_buffer_bytes: int = -1

    @property
    def authenticates(self) -> bool:
        """Whether a connection is authenticated, by TLS or by a login."""
        return self.tls is not None or self.login is not None

    @property
    def sets_buffers(self) -> bool:
        """Whether buffer sizes are configured; they must be set before the socket connects."""
        return self.send_buffer_bytes > 0 or self.receive_buffer_bytes > 0

    def new_socket(self, family: int) -> socket.socket:
        """Returns a socket with the configured buffer sizes.

        The first packet contains the scale of the receive window, so a size that is set after
        connecting has no full effect.
        """
        sock = socket.socket(family, socket.SOCK_STREAM)
        for option, size in self._buffer_sizes():
            if size > 0:
                sock.setsockopt(socket.SOL_SOCKET, option, size)
        return sock

    def _buffer_sizes(self) -> Iterator[tuple[int, int]]:
        yield socket.SO_SNDBUF, self.send_buffer_bytes
        yield socket.SO_RCVBUF, self.receive_buffer_bytes


def connect_problem(error: OSError) -> str:
    """Returns the reason for a failed connection as text for users."""
    if isinstance(error, ConnectionRefusedError):
        return "connection refused: nothing listens there"
    return error.strerror or str(error)
