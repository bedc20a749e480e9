"""TLS and SASL of one listener, from its configuration: streams, bounds and the way to handlers."""

import asyncio
import logging
import ssl
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from barnabas.broker.access.authentication import SaslGate, SaslLimits
from barnabas.broker.access.client_entities import ClientEntities
from barnabas.broker.access.sasl_mechanisms import mechanism_factories
from barnabas.broker.config import BrokerConfig
from barnabas.broker.listener_keys import listener_key_name
from barnabas.model.clock import Clock
from barnabas.model.control import Endpoint
from barnabas.model.errors import ConfigError
from barnabas.net.pending import Reply
from barnabas.net.refusal import ConnectionClosedError, Refusal
from barnabas.net.server_connection import FrameHandler, ServerConnection
from barnabas.net.stream import Stream
from barnabas.net.tls_context import TlsSettings, server_context
from barnabas.net.tls_stream import SCRATCH_BYTES, TlsStream
from barnabas.security.distinguished_name import distinguished_name
from barnabas.security.oauthbearer import NAME as OAUTHBEARER
from barnabas.security.plain import NAME as PLAIN
from barnabas.security.principal import USER, Principal, PrincipalRule, map_name, parse_rules
from barnabas.security.sasl_server import MechanismFactory, SaslConfig
from barnabas.security.scram_keys import SCRAM_HASHES

_logger = logging.getLogger("barnabas.broker")


class ListenerSecurity:
    """One per listener that has TLS or SASL; owned by the broker's loop."""

    def __init__(
        self,
        config: BrokerConfig,
        clock: Clock,
        endpoint: Endpoint,
        entities: Callable[[], ClientEntities],
    ) -> None:
        """ConfigError for settings that cannot work, before anybody is served."""
        self._config = config
        self._clock = clock
        self._listener = endpoint.listener
        self._tls: ssl.SSLContext | None = None
        self._mechanisms: dict[str, MechanismFactory] = {}
        self._gate: SaslGate | None = None
        self._scratch = memoryview(b"")
        self._rules: tuple[PrincipalRule, ...] = ()
        if endpoint.security_protocol.endswith("SSL"):
            settings = tls_settings(config, self._listener)
            if endpoint.security_protocol.startswith("SASL"):
                # A login says who it is: certificates are for those who ask here (KIP-684).
                own = listener_key_name(self._listener, "ssl.client.auth")
                settings = replace(settings, peer_certificate=config.values.get(own, "none"))
            self._tls = server_context(settings)
            self._scratch = memoryview(bytearray(SCRATCH_BYTES))
            self._rules = _principal_rules(self._value("ssl.principal.mapping.rules"))
        if endpoint.security_protocol.startswith("SASL"):
            self._mechanisms = dict(mechanism_factories(config, self._listener, entities, clock))
            readable = {PLAIN: "passwords", OAUTHBEARER: "bearer tokens"}
            for mechanism in readable.keys() & self._mechanisms.keys():
                if self._tls is None:
                    line = (
                        "listener %s takes %s (%s) without TLS: everybody on the way can read them"
                    )
                    _logger.warning(line, self._listener, readable[mechanism], mechanism)

    @property
    def has_scram(self) -> bool:
        return not SCRAM_HASHES.keys().isdisjoint(self._mechanisms)

    def handler(self, dispatch: FrameHandler) -> FrameHandler:
        """What frames of this listener go to."""
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
            )
            return self._gate
        return CertificateGate(dispatch, self._rules)

    def secure(self, stream: Stream) -> Stream:
        if self._tls is None:
            return stream
        call_soon = asyncio.get_running_loop().call_soon
        return TlsStream(stream, self._tls, self._scratch, call_soon)

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
    """The frame handler of a TLS listener: a peer's certificate, if it has one, says who it is."""

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


def tls_settings(config: BrokerConfig, listener: str) -> TlsSettings:
    """The TLS settings of a listener, for its server side and for brokers that connect to it."""

    def value(key: str) -> Any:
        return config.listener_value(listener, key)

    return TlsSettings(
        chain_file=value("ssl.keystore.location"),
        key_password=value("ssl.key.password"),
        chain_text=value("ssl.keystore.certificate.chain"),
        key_text=value("ssl.keystore.key"),
        trust_file=value("ssl.truststore.location"),
        trust_text=value("ssl.truststore.certificates"),
        versions=value("ssl.enabled.protocols"),
        ciphers=value("ssl.cipher.suites") or (),
        peer_certificate=value("ssl.client.auth"),
        check_host=bool(value("ssl.endpoint.identification.algorithm")),
    )


def _principal_rules(text: str) -> tuple[PrincipalRule, ...]:
    # A comma also parts the fields of a name: a new rule begins where its word does.
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
