"""The shape of a SASL mechanism: tokens in, tokens out, until it is done or has failed."""

from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class ServerStep:
    """What the server answers; `user` is set by the step that proves who the client is."""

    token: bytes
    user: str | None = None
    lifetime_ms: int = 0
    """How long the proof is good for; 0 for ever."""


class ServerMechanism(Protocol):
    """The server's side of one exchange. Used once, for one connection."""

    def step(self, token: bytes) -> ServerStep:
        """Take the client's token; AuthenticationError ends the exchange."""
        ...


class ClientMechanism(Protocol):
    """The client's side of one exchange."""

    name: str

    def first(self) -> bytes:
        """The token to begin with."""
        ...

    def step(self, token: bytes) -> bytes | None:
        """Answer the server's token; None when the exchange is over and the server proved itself
        as far as the mechanism lets it. AuthenticationError if it did not."""
        ...
