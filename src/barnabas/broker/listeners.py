"""The broker's listeners: bound first, started when the broker can serve requests.

`ConnectionCaps` applies `max.connections`, `max.connection.creation.rate` and the related limits.
Host names in `max.connections.per.ip.overrides` are resolved once, in a thread if the broker is
already running. The limit of a name applies to each of its addresses.
"""

import asyncio
import ipaddress
import logging
import socket
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from barnabas.broker.access.listener_security import ListenerSecurity
from barnabas.broker.access.throttling import ConnectionRates, RatedConnections
from barnabas.broker.config import BrokerConfig
from barnabas.broker.config_layers import ConfigLayers
from barnabas.model.config import parse_address_limits
from barnabas.model.control import Endpoint
from barnabas.model.errors import ConfigError
from barnabas.net.admission import ConnectionAdmission, ConnectionSlots, SlotLimits
from barnabas.net.close_reasons import CloseReason
from barnabas.net.frame_reader import ConnectionLimits
from barnabas.net.listener import BACKLOG, Listener, listen_on
from barnabas.net.server_connection import ConnectionSecurity, FrameHandler, ServerConnection
from barnabas.net.stream import plain_address
from barnabas.runtime.clock import Clock

_logger = logging.getLogger("barnabas.broker")
_OVERRIDES = "max.connections.per.ip.overrides"
_DEFAULT_QUEUED_BYTES = 64 * 1024 * 1024
_NEVER_MS = 2**62


class ConnectionCaps:
    """Sets the connection limits that all listeners share; owned by the broker's loop."""

    def __init__(self, config: BrokerConfig, layers: ConfigLayers, rates: ConnectionRates) -> None:
        self._config = config
        self._rates = rates
        self._layers = layers
        self._listeners = [endpoint.listener for endpoint in config.listeners]
        self._addresses: dict[str, list[str]] = {}
        self._lookup: asyncio.Task[None] | None = None
        self.admission = ConnectionAdmission(ConnectionSlots(protected=config.protected_listener))

    def check(self) -> None:
        """Resolves the hosts of the properties file; raises ConfigError if one has no address."""
        for host in parse_address_limits(self._config[_OVERRIDES]):
            try:
                self._addresses[host] = _addresses(host)
            except OSError as error:
                raise ConfigError(f"{_OVERRIDES}: {host!r}: {error.strerror}") from None

    def apply(self) -> None:
        """Applies the current values, also to existing connections."""
        if self._lookup is not None:
            self._lookup.cancel()
        unknown = self._overrides().keys() - self._addresses.keys()
        if unknown:
            self._lookup = asyncio.get_running_loop().create_task(self._look_up(unknown))
        self._limit()
        self._rates.limit(*self._values("max.connection.creation.rate"))

    async def stop(self) -> None:
        if self._lookup is not None:
            self._lookup.cancel()
            await asyncio.wait([self._lookup])

    async def _look_up(self, hosts: Iterable[str]) -> None:
        loop = asyncio.get_running_loop()
        for host in hosts:
            try:
                self._addresses[host] = await loop.run_in_executor(None, _addresses, host)
            except OSError as error:
                _logger.warning("%s: %r is ignored: %s", _OVERRIDES, host, error.strerror)
        self._limit()

    def _limit(self) -> None:
        of_ips = {
            address: limit
            for host, limit in self._overrides().items()
            for address in self._addresses.get(host, [])
        }
        per_ip = self._layers.broker_value("max.connections.per.ip")
        self.admission.limit(SlotLimits(*self._values("max.connections"), per_ip, of_ips))

    def _values(self, key: str) -> tuple[int, dict[str, int]]:
        """Returns the limit of the broker, and the limits set for single listeners."""
        own = {name: self._layers.listener_value(name, key) for name in self._listeners}
        of_listeners = {name: limit for name, limit in own.items() if limit is not None}
        return self._layers.broker_value(key), of_listeners

    def _overrides(self) -> Mapping[str, int]:
        return parse_address_limits(self._layers.broker_value(_OVERRIDES))


def _addresses(host: str) -> list[str]:
    """Returns all addresses of a host, in the form of a peer's; raises OSError if it has none."""
    try:
        return [str(ipaddress.ip_address(host))]
    except ValueError:
        found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
        return list({plain_address((str(address[0]), 0))[0] for *_, address in found})


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
        security: Mapping[str, ListenerSecurity] | None = None,
        rates: ConnectionRates | None = None,
        admission: ConnectionAdmission | None = None,
    ) -> None:
        """`security` contains the listeners that use TLS or SASL, by name; `admission` limits the
        number of connections of all listeners.
        """
        self._config = config
        self._clock = clock
        self._security = security or {}
        self._rates = rates
        self._admission = admission or ConnectionAdmission()
        self._bound: list[_Bound] = []

    @property
    def endpoints(self) -> list[Endpoint]:
        """Returns the addresses with their actual ports."""
        return [bound.endpoint for bound in self._bound]

    def bind(self) -> None:
        """Binds all addresses; raises OSError if one is in use."""
        for wanted in self._config.listeners:
            if wanted.security_protocol != "PLAINTEXT" and wanted.listener not in self._security:
                raise ConfigError(
                    f"listeners: {wanted.listener} has no settings for {wanted.security_protocol}"
                )
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

    def start(self, handler: FrameHandler, short: FrameHandler | None = None) -> None:
        """Starts to serve requests; `short` may serve those of clients that need not authenticate.

        `short` returns None for a request that it leaves to `handler`.
        """
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
                short=short if security is None else None,
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

    def closed_connections(self) -> Iterator[tuple[CloseReason, int]]:
        """Yields the numbers of closed connections by reason, per listener."""
        for bound in self._bound:
            if bound.listener is not None:
                yield from bound.listener.closed_connections.counts.items()

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
