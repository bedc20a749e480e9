"""`max.connections` and its relatives, as the configuration in force has them.

Host names in `max.connections.per.ip.overrides` are looked up once, off the loop when the broker
runs already; each address of a name has the name's limit.
"""

import asyncio
import ipaddress
import logging
import socket
from collections.abc import Iterable, Mapping

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
    """Keeps `admission`, which all listeners of the broker share, at its limits; loop-owned."""

    def __init__(self, config: BrokerConfig, layers: ConfigLayers) -> None:
        self._config = config
        self._layers = layers
        self._listeners = [endpoint.listener for endpoint in config.listeners]
        self._addresses: dict[str, list[str]] = {}
        self._lookup: asyncio.Task[None] | None = None
        self.admission = Admission(ConnectionSlots(protected=protected_listener(config)))

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
        value = self._layers.broker_value
        own = {
            name: self._layers.listener_value(name, "max.connections") for name in self._listeners
        }
        self.admission.limit(
            SlotLimits(
                value("max.connections"),
                {name: limit for name, limit in own.items() if limit is not None},
                value("max.connections.per.ip"),
                {
                    address: limit
                    for host, limit in self._overrides().items()
                    for address in self._addresses.get(host, [])
                },
            )
        )

    def _overrides(self) -> Mapping[str, int]:
        return parse_address_limits(self._layers.broker_value(_OVERRIDES))


def protected_listener(config: BrokerConfig) -> str | None:
    """The listener of the brokers themselves, when there is another one for clients."""
    return config.inter_broker_listener if len(config.listeners) > 1 else None


def _addresses(host: str) -> list[str]:
    """Every address of a host, as connections show them; OSError when it has none."""
    try:
        return [str(ipaddress.ip_address(host))]
    except ValueError:
        found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
        return list({plain_address((str(address[0]), 0))[0] for *_, address in found})
