"""Interfaces of SASL mechanisms, which exchange tokens until they succeed or fail."""

from dataclasses import dataclass
from typing import Protocol

from barnabas.model.errors import RemoteError


@dataclass(frozen=True, slots=True)
class ServerStep:
    """Response of the server; `user` is set by the step that authenticates the client."""

    token: bytes
    user: str | None = None
    lifetime_ms: int = 0
    """How long the credentials are valid after this step; 0: no limit."""
    by_token: bool = False
    """Whether the client logged in with a delegation token."""


class ServerMechanism(Protocol):
    """Server side of one exchange."""

    def step(self, token: bytes) -> ServerStep:
        """Processes a token of the client; raises AuthenticationError if the login fails."""
        ...


class ClientMechanism(Protocol):
    """Client side of one exchange."""

    name: str

    def first(self) -> bytes:
        """Returns the first token."""
        ...

    def step(self, token: bytes) -> bytes | None:
        """Returns the response to a token of the server, or None at the end of the exchange.

        Raises AuthenticationError if the server fails to prove its identity.
        """
        ...


# --- errors --------------------------------------------------------------------------------------


class AuthenticationError(RemoteError):
    """The peer failed to authenticate, or violated the protocol of the exchange.

    The text is for the log: it names the reason, never data of the peer. The response to the peer
    is the same for every reason, so that it does not reveal which user names exist.
    """
