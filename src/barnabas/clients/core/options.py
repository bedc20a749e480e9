"""The settings that all clients share, and the addresses in `bootstrap.servers`."""

import socket
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from barnabas.model.config import ConfigValues
from barnabas.model.errors import ConfigError
from barnabas.model.lazy_exports import missing_package
from barnabas.net.connection_options import Address, ConnectionOptions


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


@dataclass(frozen=True, slots=True)
class ClientOptions:
    """Settings of `KafkaClient`, `BlockingRouter` and their connections."""

    bootstrap: tuple[Address, ...]
    connection: ConnectionOptions
    metadata_max_age_ms: int = 300_000
    retry_backoff_ms: int = 100
    retry_backoff_max_ms: int = 1000
    reconnect_backoff_ms: int = 50
    reconnect_backoff_max_ms: int = 1000
    connections_max_idle_ms: int = 540_000
    rebootstrap: bool = True
    bootstrap_timeout_ms: int = 0
    """Only for consumers; the calls of other clients have a time limit."""

    @classmethod
    def from_values(cls, values: ConfigValues) -> "ClientOptions":
        """Returns the options in the values of a table that includes `CLIENT_KEYS`."""
        bootstrap = parse_addresses(values["bootstrap.servers"])
        if values["client.dns.lookup"] == "resolve_canonical_bootstrap_servers_only":
            bootstrap = canonical_addresses(bootstrap)
        return cls(
            bootstrap=tuple(bootstrap),
            connection=_connection(values),
            metadata_max_age_ms=values["metadata.max.age.ms"],
            retry_backoff_ms=values["retry.backoff.ms"],
            retry_backoff_max_ms=values["retry.backoff.max.ms"],
            reconnect_backoff_ms=values["reconnect.backoff.ms"],
            reconnect_backoff_max_ms=values["reconnect.backoff.max.ms"],
            connections_max_idle_ms=values["connections.max.idle.ms"],
            rebootstrap=values["metadata.recovery.strategy"] == "rebootstrap",
            bootstrap_timeout_ms=values.get("bootstrap.timeout.ms", 0),
        )

    def describe(self, kind: str, **more: str) -> str:
        """Returns the text that identifies a client in a debugger or a log."""
        servers = ",".join(map(str, self.bootstrap))
        fields = {"bootstrap.servers": servers, "client.id": self.connection.client_id, **more}
        return f"<{kind} {' '.join(f'{name}={value!r}' for name, value in fields.items())}>"


def _connection(values: ConfigValues) -> ConnectionOptions:
    tls = login = None
    if values["security.protocol"] != "PLAINTEXT":
        # Start-up time: most clients need neither TLS nor a login.
        from barnabas.clients.core.security import login_of, tls_of

        tls, login = tls_of(values), login_of(values)
    return ConnectionOptions(
        client_id=values["client.id"],
        connect_timeout_s=values["socket.connection.setup.timeout.ms"] / 1000,
        request_timeout_s=values["request.timeout.ms"] / 1000,
        tls=tls,
        login=login,
        send_buffer_bytes=values["send.buffer.bytes"],
        receive_buffer_bytes=values["receive.buffer.bytes"],
    )


def tracing_module(values: Mapping[str, Any]) -> ModuleType | None:
    """Returns the module that creates spans if `tracing.enable` is set; it needs an extra."""
    if not values["tracing.enable"]:
        return None
    try:
        from barnabas.clients.core import tracing  # optional extra: otel
    except ModuleNotFoundError as error:
        raise ConfigError(f"tracing.enable=true: {missing_package(error) or error}") from error
    return tracing
