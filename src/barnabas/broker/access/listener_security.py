"""TLS and SASL of one listener: its certificates, its streams and its frame handler.

Certificates can be replaced while the broker runs. A change of the files, or of the listener's
settings by IncrementalAlterConfigs, is applied to new connections; existing connections keep the
certificate they were opened with. If the new files or settings cannot be loaded, the broker logs
the reason and continues to use the old certificate. It warns about a certificate that has expired
or will expire soon.
"""

import asyncio
import logging
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from barnabas.broker.access.authentication import OnFailure, SaslGate, SaslLimits
from barnabas.broker.access.client_entities import ClientEntities
from barnabas.broker.access.delegation_tokens import TokenSource
from barnabas.broker.access.sasl_mechanisms import mechanism_factories
from barnabas.broker.config import listener_key_name
from barnabas.broker.config_layers import ConfigLayers
from barnabas.model.control import Endpoint
from barnabas.model.errors import ConfigError
from barnabas.net.close_reasons import CloseReason, ConnectionClosedError
from barnabas.net.replies import Reply
from barnabas.net.server_connection import FrameHandler, ServerConnection
from barnabas.net.stream import ByteStream
from barnabas.net.tls_context import (
    ReloadableClientContext,
    TlsSettings,
    own_certificate_end,
    server_context,
)
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

FILE_CHECK_MS = 1000
"""Interval at which the files are checked for changes."""

EXPIRY_WARNING_DAYS = 14

Lookup = Callable[[str], Any]
"""Returns the value of a key for one listener."""

_Signature = tuple[tuple[int, int, int] | None, ...]


class ListenerCertificates:
    """The current TLS context of one listener; owned by the broker's loop."""

    def __init__(self, endpoint: Endpoint, layers: ConfigLayers) -> None:
        """Raises ConfigError if the certificates cannot be loaded."""
        self.listener = endpoint.listener
        self._layers = layers
        self._sasl = endpoint.security_protocol.startswith("SASL")
        self._settings = self._current()
        self._signature = _signature(self._settings)
        self.context = server_context(self._settings)
        self._warn_of_expiry()

    def check(self, changed: Mapping[str, str]) -> None:
        """Raises ConfigError if the listener could not use these dynamic values of the broker."""
        settings = self._settings_from(self._layers.listener_lookup(self.listener, changed))
        if settings != self._settings:
            server_context(settings)

    def reload(self) -> bool:
        """Loads changed settings or files; returns whether there is a new certificate."""
        try:
            settings = self._current()
            signature = _signature(settings)
            if settings == self._settings and signature == self._signature:
                return False
            # Stored first: a broken file is reported once, not at every check.
            self._settings, self._signature = settings, signature
            self.context = server_context(settings)
        except ConfigError as error:
            line = "listener %s keeps its certificate, the new one is not usable: %s"
            _logger.error(line, self.listener, error)
            return False
        _logger.info("listener %s uses new certificates", self.listener)
        self._warn_of_expiry()
        return True

    def _warn_of_expiry(self) -> None:
        end = own_certificate_end(self._settings)
        if end is not None and end < datetime.now(UTC) + timedelta(days=EXPIRY_WARNING_DAYS):
            verb = "expired" if end < datetime.now(UTC) else "expires"
            line = "the certificate of listener %s %s on %s; clients will reject it"
            _logger.warning(line, self.listener, verb, end.isoformat(" ", "minutes"))

    @property
    def client_settings(self) -> TlsSettings:
        """Returns the settings of this broker's connections to the same listener of other
        brokers.
        """
        return tls_settings(self._layers.listener_lookup(self.listener))

    def _current(self) -> TlsSettings:
        return self._settings_from(self._layers.listener_lookup(self.listener))

    def _settings_from(self, value: Lookup) -> TlsSettings:
        settings = tls_settings(value)
        if not self._sasl:
            return settings
        # SASL identifies the client: only the listener's own key requests certificates (KIP-684).
        own = listener_key_name(self.listener, "ssl.client.auth")
        return replace(settings, peer_certificate=self._layers.own_value(own) or "none")


class ClientCertificates:
    """The TLS context of connections to other brokers; follows the inter-broker listener."""

    def __init__(self, context: ReloadableClientContext, listener: ListenerCertificates) -> None:
        self._context = context
        self._listener = listener

    def reload(self) -> None:
        """Loads the listener's current certificates for new connections."""
        try:
            self._context.reload(self._listener.client_settings)
        except ConfigError as error:
            _logger.error("connections to other brokers keep their certificate: %s", error)


def inter_broker_context(value: Lookup) -> ReloadableClientContext:
    """Returns the context of connections to other brokers."""
    return ReloadableClientContext.of(tls_settings(value))


def tls_settings(value: Lookup) -> TlsSettings:
    """Returns the TLS settings of a listener; PEM text in a value replaces the file."""
    chain_text, trust_text = (
        value("ssl.keystore.certificate.chain"),
        value("ssl.truststore.certificates"),
    )
    return TlsSettings(
        chain_file=None if chain_text else value("ssl.keystore.location"),
        key_password=value("ssl.key.password"),
        chain_text=chain_text,
        key_text=value("ssl.keystore.key"),
        trust_file=None if trust_text else value("ssl.truststore.location"),
        trust_text=trust_text,
        versions=value("ssl.enabled.protocols"),
        ciphers=value("ssl.cipher.suites") or (),
        peer_certificate=value("ssl.client.auth"),
        check_host=bool(value("ssl.endpoint.identification.algorithm")),
    )


def _signature(settings: TlsSettings) -> _Signature:
    """Returns values that change when a file is written or replaced."""
    return tuple(_file_signature(name) for name in (settings.chain_file, settings.trust_file))


def _file_signature(name: str | None) -> tuple[int, int, int] | None:
    if name is None:
        return None
    try:
        stat = Path(name).stat()
    except OSError:
        return None
    return stat.st_mtime_ns, stat.st_size, stat.st_ino


_logger = logging.getLogger("barnabas.broker")


# --- Listeners ------------------------------------------------------------------------------------


class ListenerSecurity:
    """TLS and SASL of one listener; exists only if the listener has either.

    Owned by the broker's loop.
    """

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
            raise ConnectionClosedError(CloseReason.AUTHENTICATION, str(error)) from None
        connection.principal = Principal(USER, name)


def _principal_rules(text: str) -> tuple[PrincipalRule, ...]:
    # Names contain commas too: a new rule begins at RULE: or DEFAULT.
    try:
        return parse_rules(split_rules(text))
    except ValueError as error:
        raise ConfigError(f"ssl.principal.mapping.rules: {error}") from None


def split_rules(text: str) -> list[str]:
    r"""Returns the single rules of `ssl.principal.mapping.rules`.

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
