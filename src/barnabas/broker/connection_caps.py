"""`max.connections`, `max.connection.creation.rate` and their relatives, as they are in force.

Host names in `max.connections.per.ip.overrides` are looked up once, off the loop when the broker
runs already; each address of a name has the name's limit.
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
    """Keeps what all listeners of the broker share at its limits; loop-owned."""

    def __init__(self, config: BrokerConfig, layers: ConfigLayers, rates: ConnectionRates) -> None:
        self._config = config
        self._rates = rates
        self._layers = layers
        self._listeners = [endpoint.listener for endpoint in config.listeners]
        self._addresses: dict[str, list[str]] = {}
        self._lookup: asyncio.Task[None] | None = None
        self.admission = Admission(ConnectionSlots(protected=config.protected_listener))

    def check(self) -> None:
        """Look up the hosts of the property file; ConfigError when one has no address."""
        for host in parse_address_limits(self._config[_OVERRIDES]):
            try:
                self._addresses[host] = _addresses(host)
            except OSError as error:
                raise ConfigError(f"{_OVERRIDES}: {host!r}: {error.strerror}") from None

    def apply(self) -> None:
        """Put the values in force into force, also for the connections there are."""
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
        """The broker's limit, and those of listeners that have one of their own."""
        own = {name: self._layers.listener_value(name, key) for name in self._listeners}
        of_listeners = {name: limit for name, limit in own.items() if limit is not None}
        return self._layers.broker_value(key), of_listeners

    def _overrides(self) -> Mapping[str, int]:
        return parse_address_limits(self._layers.broker_value(_OVERRIDES))


def _addresses(host: str) -> list[str]:
    """Every address of a host, as connections show them; OSError when it has none."""
    try:
        return [str(ipaddress.ip_address(host))]
    except ValueError:
        found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
        return list({plain_address((str(address[0]), 0))[0] for *_, address in found})
