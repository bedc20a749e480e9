"""Applies `max.connections`, `max.connection.creation.rate` and the related limits.

Host names in `max.connections.per.ip.overrides` are resolved once, in a thread if the broker is
already running. The limit of a name applies to each of its addresses.
"""

import asyncio
import ipaddress
import logging
import socket
from collections.abc import Iterable, Mapping

from barnabas.broker.access.connection_rates import ConnectionRates
from barnabas.broker.config import BrokerConfig
from barnabas.broker.config_layers import ConfigLayers
from barnabas.model.address_limits import parse_address_limits
from barnabas.model.errors import ConfigError
from barnabas.net.admission import Admission
from barnabas.net.connection_slots import ConnectionSlots, SlotLimits
from barnabas.net.stream import plain_address

_logger = logging.getLogger("barnabas.broker")

_OVERRIDES = "max.connections.per.ip.overrides"


class ConnectionCaps:
    """Sets the connection limits that all listeners share; owned by the broker's loop."""

    def __init__(self, config: BrokerConfig, layers: ConfigLayers, rates: ConnectionRates) -> None:
        self._config = config
        self._rates = rates
        self._layers = layers
        self._listeners = [endpoint.listener for endpoint in config.listeners]
        self._addresses: dict[str, list[str]] = {}
        self._lookup: asyncio.Task[None] | None = None
        self.admission = Admission(ConnectionSlots(protected=config.protected_listener))

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
    """Returns all addresses of a host as peers' addresses; raises OSError if it has none."""
    try:
        return [str(ipaddress.ip_address(host))]
    except ValueError:
        found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
        return list({plain_address((str(address[0]), 0))[0] for *_, address in found})
