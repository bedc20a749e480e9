"""What a server connection needs of its neighbours: a handler of frames, and a listener."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

from barnabas.model.clock import Clock
from barnabas.net.budget import ReceiveBudget
from barnabas.net.frame_buffer import SpareBuffer
from barnabas.net.limits import ConnectionLimits
from barnabas.net.pending import Reply
from barnabas.net.refusal import Refusal, RefusalLog
from barnabas.net.stream import Stream

if TYPE_CHECKING:
    from barnabas.net.server_connection import ServerConnection


class ConnectionClosedError(Exception):
    """A handler refuses the connection; it is closed without an answer."""

    def __init__(self, reason: Refusal, detail: str) -> None:
        super().__init__(reason, detail)
        self.reason = reason
        self.detail = detail


class FrameHandler(Protocol):
    """Whoever understands frames; may raise ProtocolError or ConnectionClosedError."""

    def __call__(self, connection: "ServerConnection", frame: memoryview) -> Reply: ...


class ConnectionSecurity(Protocol):
    """What a listener with TLS or SASL does with connections before they are served."""

    def secure(self, stream: Stream) -> Stream:
        """The stream to speak through: itself, or one that encrypts."""
        ...

    def accepted(self, connection: "ServerConnection") -> None:
        """A connection begins."""
        ...


class Host(Protocol):
    """What a connection needs of its listener."""

    @property
    def clock(self) -> Clock: ...

    @property
    def limits(self) -> ConnectionLimits: ...

    @property
    def budget(self) -> ReceiveBudget: ...

    @property
    def refusals(self) -> RefusalLog: ...

    @property
    def scratch(self) -> memoryview: ...

    @property
    def spare(self) -> SpareBuffer: ...

    def call_soon(self, callback: Callable[[], None]) -> None: ...

    def call_later(self, delay_s: float, callback: Callable[[], None]) -> None: ...

    def connection_closed(self, connection: "ServerConnection") -> None: ...
