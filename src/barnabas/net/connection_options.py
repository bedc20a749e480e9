"""Where to connect and how: shared by the event-loop and the blocking connection."""

import socket
import ssl
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from barnabas.net.sasl_client import SaslLogin


SESSION_SHARE = 0.85
"""Of the life of a session, after which a client takes a new connection (KIP-368)."""


@dataclass(frozen=True, slots=True)
class Address:
    """Where a broker listens."""

    host: str
    port: int

    def __str__(self) -> str:
        return f"{self.host}:{self.port}"


@dataclass(frozen=True, slots=True)
class ConnectionOptions:
    """What every connection of one client shares."""

    client_id: str | None = None
    connect_timeout_s: float = 10.0
    request_timeout_s: float = 30.0
    tls: ssl.SSLContext | None = None
    login: "SaslLogin | None" = None
    send_buffer_bytes: int = -1
    receive_buffer_bytes: int = -1

    @property
    def sets_buffers(self) -> bool:
        """Whether sockets get buffer sizes of their own, which must happen before they connect."""
        return self.send_buffer_bytes > 0 or self.receive_buffer_bytes > 0

    def new_socket(self, family: int) -> socket.socket:
        """A socket with the buffer sizes set.

        The receive window's scale is part of the first packet, so a size that is set after the
        connection was made has no full effect.
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
    """Why a connection could not be made, for a person."""
    if isinstance(error, ConnectionRefusedError):
        return "connection refused: nothing listens there"
    return error.strerror or str(error)
