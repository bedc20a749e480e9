"""The broker's listeners: bound first, started when the broker can serve requests."""

import socket
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from barnabas.broker.access.connection_rates import ConnectionRates, RatedConnections
from barnabas.broker.config import BrokerConfig
from barnabas.model.clock import Clock
from barnabas.model.control import Endpoint
from barnabas.model.errors import ConfigError
from barnabas.net.admission import Admission
from barnabas.net.bind import BACKLOG, listen_on
from barnabas.net.limits import ConnectionLimits
from barnabas.net.listener import Listener
from barnabas.net.server_connection import ConnectionSecurity, FrameHandler

if TYPE_CHECKING:
    from barnabas.broker.access.listener_security import ListenerSecurity
    from barnabas.net.server_connection import ServerConnection

_DEFAULT_QUEUED_BYTES = 64 * 1024 * 1024
_NEVER_MS = 2**62


@dataclass(slots=True)
class _Bound:
    endpoint: Endpoint
    sockets: list[socket.socket]
    listener: Listener | None = None


class Listeners:
    """One `Listener` per configured address; owned by the broker's loop."""

    def __init__(
        self,
        config: BrokerConfig,
        clock: Clock,
        security: Mapping[str, "ListenerSecurity"] | None = None,
        rates: ConnectionRates | None = None,
        admission: Admission | None = None,
    ) -> None:
        """`security` contains the listeners that use TLS or SASL, by name; `admission` limits the
        number of connections of all listeners.
        """
        self._config = config
        self._clock = clock
        self._security = security or {}
        self._rates = rates
        self._admission = admission or Admission()
        self._bound: list[_Bound] = []

    @property
    def endpoints(self) -> list[Endpoint]:
        """Returns the addresses with their actual ports."""
        return [bound.endpoint for bound in self._bound]

    def bind(self) -> None:
        """Binds all addresses; raises OSError if one is in use."""
        for wanted in self._config.listeners:
            if wanted.security_protocol != "PLAINTEXT" and wanted.listener not in self._security:
                raise ConfigError(f"listeners: {wanted.listener} would be served in the clear")
            sockets = listen_on(
                wanted.host,
                wanted.port,
                backlog=self._given("socket.listen.backlog.size", BACKLOG),
                send_buffer_bytes=self._given("socket.send.buffer.bytes", -1),
                receive_buffer_bytes=self._given("socket.receive.buffer.bytes", -1),
            )
            port = sockets[0].getsockname()[1]
            endpoint = Endpoint(wanted.listener, wanted.host, port, wanted.security_protocol)
            self._bound.append(_Bound(endpoint, sockets))

    def start(self, handler: FrameHandler) -> None:
        """Starts to serve requests."""
        limits = connection_limits(self._config)
        for bound in self._bound:
            name = bound.endpoint.listener
            security = self._security.get(name)
            bound.listener = Listener(
                handler if security is None else security.handler(handler),
                clock=self._clock,
                limits=limits,
                name=name,
                security=self._rated(name, security),
                admission=self._admission,
            )
            bound.listener.start(bound.sockets)

    def _rated(self, name: str, security: "ListenerSecurity | None") -> ConnectionSecurity | None:
        if self._rates is None:
            return security
        return RatedConnections(self._rates, security, name)

    def connections(self, name: str) -> "list[ServerConnection]":
        """Returns the open connections of a listener."""
        found = [bound.listener for bound in self._bound if bound.endpoint.listener == name]
        return [c for listener in found if listener is not None for c in listener.connections]

    def drain(self) -> None:
        """Accepts no more requests; requests in progress still get responses."""
        for bound in self._bound:
            if bound.listener is not None:
                bound.listener.drain()

    def _given(self, name: str, otherwise: int) -> int:
        """Returns a configured socket option, or `otherwise` (the system's default).

        Kafka's defaults (buffers of 100 KiB, a backlog of 50) are slower than the system's.
        """
        return int(self._config[name]) if name in self._config.given else otherwise

    async def stop(self) -> None:
        for bound in self._bound:
            if bound.listener is not None:
                await bound.listener.stop()
            for sock in bound.sockets:
                sock.close()
        self._bound.clear()


def connection_limits(config: BrokerConfig) -> ConnectionLimits:
    """Returns the configured limits of single connections."""
    queued_bytes, idle_ms = config["queued.max.request.bytes"], config["connections.max.idle.ms"]
    return ConnectionLimits(
        max_frame_bytes=config["socket.request.max.bytes"],
        max_partial_bytes=queued_bytes if queued_bytes > 0 else _DEFAULT_QUEUED_BYTES,
        max_pending_replies=min(config["queued.max.requests"], 64),
        idle_ms=idle_ms if idle_ms >= 0 else _NEVER_MS,
    )
