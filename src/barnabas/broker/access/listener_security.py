"""TLS and SASL of one listener: creates its streams and its frame handler."""

import asyncio
import logging
from collections.abc import Callable
from typing import Any

from barnabas.broker.access.authentication import OnFailure, SaslGate, SaslLimits
from barnabas.broker.access.client_entities import ClientEntities
from barnabas.broker.access.delegation_tokens import TokenSource
from barnabas.broker.access.listener_tls import ListenerCertificates
from barnabas.broker.access.sasl_mechanisms import mechanism_factories
from barnabas.broker.config_layers import ConfigLayers
from barnabas.model.control import Endpoint
from barnabas.model.errors import ConfigError
from barnabas.net.refusal import ConnectionClosedError, Refusal
from barnabas.net.replies import Reply
from barnabas.net.server_connection import FrameHandler, ServerConnection
from barnabas.net.stream import ByteStream
from barnabas.net.tls_stream import SCRATCH_BYTES, TlsStream
from barnabas.runtime.clock import Clock
from barnabas.security.oauthbearer import NAME as OAUTHBEARER
from barnabas.security.plain import NAME as PLAIN
from barnabas.security.principal import (
    USER,
    Principal,
    PrincipalRule,
    distinguished_name,
    map_name,
    parse_rules,
)
from barnabas.security.sasl_server import MechanismFactory, SaslConfig
from barnabas.security.scram_keys import SCRAM_HASHES

_logger = logging.getLogger("barnabas.broker")


class ListenerSecurity:
    """One per listener that has TLS or SASL; owned by the broker's loop."""

    def __init__(
        self,
        layers: ConfigLayers,
        clock: Clock,
        endpoint: Endpoint,
        entities: Callable[[], ClientEntities],
        tokens: TokenSource,
        on_failure: OnFailure,
    ) -> None:
        """Raises ConfigError for settings that cannot work."""
        config = self._config = layers.static
        self._clock = clock
        self._on_failure = on_failure
        self._listener = endpoint.listener
        self.certificates: ListenerCertificates | None = None
        self._mechanisms: dict[str, MechanismFactory] = {}
        self._gate: SaslGate | None = None
        self._scratch = memoryview(b"")
        self._rules: tuple[PrincipalRule, ...] = ()
        if endpoint.security_protocol.endswith("SSL"):
            self.certificates = ListenerCertificates(endpoint, layers)
            self._scratch = memoryview(bytearray(SCRATCH_BYTES))
            self._rules = _principal_rules(self._value("ssl.principal.mapping.rules"))
        if endpoint.security_protocol.startswith("SASL"):
            self._mechanisms = dict(
                mechanism_factories(config, self._listener, entities, tokens, clock)
            )
            readable = {PLAIN: "passwords", OAUTHBEARER: "bearer tokens"}
            for mechanism in readable.keys() & self._mechanisms.keys():
                if self.certificates is None:
                    line = (
                        "listener %s accepts %s (%s) without TLS: they can be read on the network"
                    )
                    _logger.warning(line, self._listener, readable[mechanism], mechanism)

    @property
    def has_scram(self) -> bool:
        return not SCRAM_HASHES.keys().isdisjoint(self._mechanisms)

    def handler(self, dispatch: FrameHandler) -> FrameHandler:
        """Returns the frame handler of this listener."""
        if self._mechanisms:
            self._gate = SaslGate(
                dispatch,
                self._mechanisms,
                SaslConfig(
                    self._config["connection.failed.authentication.delay.ms"],
                    self._value("connections.max.reauth.ms"),
                ),
                SaslLimits(self._value("sasl.server.max.receive.size"), self._time_ms),
                self._clock,
                self._on_failure,
            )
            return self._gate
        return CertificateGate(dispatch, self._rules)

    def secure(self, stream: ByteStream) -> ByteStream:
        if self.certificates is None:
            return stream
        call_soon = asyncio.get_running_loop().call_soon
        return TlsStream(stream, self.certificates.context, self._scratch, call_soon)

    def accepted(self, connection: ServerConnection) -> None:
        if self._gate is not None:
            self._gate.accepted(connection)
        else:
            connection.set_bounds(self._clock.monotonic_ms() + self._time_ms)

    @property
    def _time_ms(self) -> int:
        return int(self._config["connections.max.unauthenticated.ms"])

    def _value(self, key: str) -> Any:
        return self._config.listener_value(self._listener, key)


class CertificateGate:
    """Frame handler of a TLS listener; the principal is the name in the client's certificate."""

    def __init__(self, dispatch: FrameHandler, rules: tuple[PrincipalRule, ...]) -> None:
        self._dispatch = dispatch
        self._rules = rules

    def __call__(self, connection: ServerConnection, frame: memoryview) -> Reply:
        if connection.attachment is None:
            connection.attachment = self
            self._name(connection)
            connection.lift_bounds()
        return self._dispatch(connection, frame)

    def _name(self, connection: ServerConnection) -> None:
        stream = connection.stream
        certificate: Any = None
        if isinstance(stream, TlsStream):
            certificate = stream.peer_certificate()
        if certificate is None:
            return
        try:
            name = map_name(distinguished_name(certificate["subject"]), self._rules)
        except ValueError as error:
            raise ConnectionClosedError(Refusal.AUTHENTICATION, str(error)) from None
        connection.principal = Principal(USER, name)


def _principal_rules(text: str) -> tuple[PrincipalRule, ...]:
    # Names contain commas too: a new rule begins at RULE: or DEFAULT.
    try:
        return parse_rules(split_rules(text))
    except ValueError as error:
        raise ConfigError(f"ssl.principal.mapping.rules: {error}") from None


def split_rules(text: str) -> list[str]:
    r"""
    >>> split_rules("RULE:^CN=(.*?),.*$/$1/L, DEFAULT")
    ['RULE:^CN=(.*?),.*$/$1/L', 'DEFAULT']
    """
    rules: list[str] = []
    for piece in text.split(","):
        if piece.strip().startswith("RULE:") or piece.strip() == "DEFAULT" or not rules:
            rules.append(piece.strip())
        else:
            rules[-1] += f",{piece}"
    return rules
