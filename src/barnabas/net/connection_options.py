"""Where to connect and how: shared by the event-loop and the blocking connection."""

import ssl
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


def connect_problem(error: OSError) -> str:
    """Why a connection could not be made, for a person."""
    if isinstance(error, ConnectionRefusedError):
        return "connection refused: nothing listens there"
    return error.strerror or str(error)
