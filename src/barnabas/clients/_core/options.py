"""The shared settings of a client, typed, from parsed configuration."""

import ssl
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from barnabas.clients._core.addresses import parse_addresses
from barnabas.model.errors import ConfigError
from barnabas.net.connection_options import Address, ConnectionOptions


@dataclass(frozen=True, slots=True)
class ClientOptions:
    """What `KafkaClient` and its pool need to know."""

    bootstrap: tuple[Address, ...]
    connection: ConnectionOptions
    metadata_max_age_ms: int = 300_000
    retry_backoff_ms: int = 100
    retry_backoff_max_ms: int = 1000
    reconnect_backoff_ms: int = 50
    reconnect_backoff_max_ms: int = 1000
    connections_max_idle_ms: int = 540_000
    rebootstrap: bool = True

    @classmethod
    def from_values(cls, values: Mapping[str, Any]) -> "ClientOptions":
        """From the values of a table that includes `CLIENT_KEYS`."""
        return cls(
            bootstrap=tuple(parse_addresses(values["bootstrap.servers"])),
            connection=_connection(values),
            metadata_max_age_ms=values["metadata.max.age.ms"],
            retry_backoff_ms=values["retry.backoff.ms"],
            retry_backoff_max_ms=values["retry.backoff.max.ms"],
            reconnect_backoff_ms=values["reconnect.backoff.ms"],
            reconnect_backoff_max_ms=values["reconnect.backoff.max.ms"],
            connections_max_idle_ms=values["connections.max.idle.ms"],
            rebootstrap=values["metadata.recovery.strategy"] == "rebootstrap",
        )


def _connection(values: Mapping[str, Any]) -> ConnectionOptions:
    return ConnectionOptions(
        client_id=values["client.id"],
        connect_timeout_s=values["socket.connection.setup.timeout.ms"] / 1000,
        request_timeout_s=values["request.timeout.ms"] / 1000,
        tls=_tls(values),
        send_buffer_bytes=values["send.buffer.bytes"],
        receive_buffer_bytes=values["receive.buffer.bytes"],
    )


def _tls(values: Mapping[str, Any]) -> ssl.SSLContext | None:
    if values["security.protocol"].startswith("SASL"):
        raise ConfigError("security.protocol: SASL is not supported by this client yet")
    if values["security.protocol"] != "SSL":
        return None
    try:
        context = ssl.create_default_context(cafile=values["ssl.ca.location"])
        if values["ssl.certificate.location"] is not None:
            context.load_cert_chain(
                values["ssl.certificate.location"],
                values["ssl.key.location"],
                values["ssl.key.password"],
            )
    except (OSError, ssl.SSLError) as error:
        raise ConfigError(f"ssl.*: the certificates cannot be loaded: {error}") from error
    context.check_hostname = bool(values["ssl.endpoint.identification.algorithm"])
    return context
