"""Parses `bootstrap.servers`."""

import socket
from collections.abc import Iterable

from barnabas.model.errors import ConfigError
from barnabas.net.connection_options import Address


def parse_address(text: str) -> Address:
    """Returns the address in `host:port` or `[v6]:port`, with or without a prefix `PLAINTEXT://`.

    Raises:
        ConfigError: The text has no host or no valid port.

    >>> parse_address("[::1]:9092")
    Address(host='::1', port=9092)
    """
    rest = text.split("://", 1)[-1]
    host, colon, port = rest.rpartition(":")
    host = host.removeprefix("[").removesuffix("]")
    if not colon or not host or not port.isdigit() or not 0 < int(port) < 65536:
        raise ConfigError(f"bootstrap.servers: {text!r} is not host:port")
    return Address(host, int(port))


def parse_addresses(texts: Iterable[str]) -> list[Address]:
    """Returns the addresses in order, without duplicates."""
    return list(dict.fromkeys(parse_address(text) for text in texts))


def canonical_addresses(addresses: Iterable[Address]) -> list[Address]:
    """Replaces each host by the canonical names of all its addresses, as Kerberos requires."""
    found: dict[Address, None] = {}
    for address in addresses:
        try:
            infos = socket.getaddrinfo(address.host, address.port, type=socket.SOCK_STREAM)
        except OSError as error:
            raise ConfigError(
                f"bootstrap.servers: {address.host!r} cannot be resolved: {error.strerror}"
            ) from error
        for *_, target in infos:
            found[Address(socket.getfqdn(str(target[0])), address.port)] = None
    return list(found)
