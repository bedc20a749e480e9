"""SASL mechanisms of a listener, and the public keys that verify bearer tokens (JWKS)."""

import base64
import logging
import os
import threading
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from barnabas.broker.access.client_entities import ClientEntities
from barnabas.broker.access.delegation_tokens import TokenSource
from barnabas.broker.config import MECHANISMS, BrokerConfig
from barnabas.model.errors import ConfigError
from barnabas.model.lazy_exports import missing_package
from barnabas.net.sasl_client import SaslLogin
from barnabas.net.sasl_client import TokenSource as BearerTokenSource
from barnabas.runtime.clock import Clock
from barnabas.security.jaas import JaasEntry, parse_jaas
from barnabas.security.mechanism import ServerMechanism
from barnabas.security.oauthbearer import NAME as OAUTHBEARER
from barnabas.security.oauthbearer import (
    JwtChecker,
    JwtRules,
    Keys,
    OAuthBearerServer,
    parse_key_set,
)
from barnabas.security.plain import NAME as PLAIN
from barnabas.security.plain import PlainServer, check_against
from barnabas.security.sasl_server import MechanismFactory
from barnabas.security.scram import ScramServer
from barnabas.security.scram_keys import SCRAM_HASHES, ScramHash

_NONCE_BYTES = 24


def enabled_mechanisms(config: BrokerConfig, listener: str) -> list[str]:
    """Returns the enabled mechanisms; raises ConfigError for unsupported ones."""
    names = [name.upper() for name in config.listener_value(listener, "sasl.enabled.mechanisms")]
    for name in names:
        if name not in MECHANISMS:
            served = ", ".join(MECHANISMS)
            raise ConfigError(
                f"sasl.enabled.mechanisms: {name} is not supported; supported are: {served}"
            )
    if not names:
        raise ConfigError(f"sasl.enabled.mechanisms: listener {listener} has none")
    return names


def jaas_of(config: BrokerConfig, listener: str, mechanism: str) -> JaasEntry | None:
    """Returns the most specific login configuration of a mechanism on a listener, or None."""
    text = config.listener_value(listener, f"{mechanism.lower()}.sasl.jaas.config")
    if text is None:
        text = config.listener_value(listener, "sasl.jaas.config")
    if text is None:
        return None
    try:
        return parse_jaas(text)
    except ValueError as error:
        raise ConfigError(f"sasl.jaas.config of listener {listener}: {error}") from None


def inter_broker_login(config: BrokerConfig, listener: str) -> SaslLogin | None:
    """Returns the login of connections to other brokers; None if a single broker has none.

    Raises:
        ConfigError: The broker is part of a cluster and has no credentials.
    """
    alone = config["zookeeper.connect"] is None  # it connects to no other broker
    mechanism = config["sasl.mechanism.inter.broker.protocol"].upper()
    if mechanism == OAUTHBEARER:
        value = partial(config.listener_value, listener)
        if value("sasl.oauthbearer.token.endpoint.url") is None and alone:
            return None
        return SaslLogin(mechanism, "", "", BearerTokenSource.from_config(value))
    entry = jaas_of(config, listener, mechanism)
    if entry is None or entry.username is None or entry.password is None:
        if alone:
            return None
        key = f"listener.name.{listener.lower()}.{mechanism.lower()}.sasl.jaas.config"
        raise ConfigError(f"{key}: brokers need username and password to connect to each other")
    return SaslLogin(mechanism, entry.username, entry.password)


def mechanism_factories(
    config: BrokerConfig,
    listener: str,
    entities: Callable[[], ClientEntities],
    tokens: TokenSource,
    clock: Clock,
) -> Mapping[str, MechanismFactory]:
    """Returns a factory per enabled mechanism; each call starts an exchange."""
    factories: dict[str, MechanismFactory] = {}
    for name in enabled_mechanisms(config, listener):
        if name == PLAIN:
            factories[name] = _plain(config, listener)
        elif name == OAUTHBEARER:
            factories[name] = _oauthbearer(config, listener, clock)
        else:
            factories[name] = _scram(SCRAM_HASHES[name], entities, tokens)
    return factories


def _plain(config: BrokerConfig, listener: str) -> MechanismFactory:
    entry = jaas_of(config, listener, PLAIN)
    users = {} if entry is None else entry.users
    if not users:
        key = f"listener.name.{listener.lower()}.plain.sasl.jaas.config"
        raise ConfigError(f"{key}: PLAIN needs users, as options user_NAME=password")
    check = check_against(users)
    return lambda: PlainServer(check)


def _oauthbearer(config: BrokerConfig, listener: str, clock: Clock) -> MechanismFactory:
    def value(name: str) -> Any:
        return config.listener_value(listener, name)

    url = value("sasl.oauthbearer.jwks.endpoint.url")
    if url is None:
        text = f"OAUTHBEARER on listener {listener} needs the issuer's public keys"
        raise ConfigError(f"sasl.oauthbearer.jwks.endpoint.url: {text}")
    try:
        keys = KeySet(url, value("sasl.oauthbearer.jwks.endpoint.refresh.ms"), clock)
    except ModuleNotFoundError as error:
        raise missing_package(error) or error from None
    rules = JwtRules(
        value("sasl.oauthbearer.expected.issuer"),
        tuple(value("sasl.oauthbearer.expected.audience")),
        value("sasl.oauthbearer.sub.claim.name"),
        value("sasl.oauthbearer.clock.skew.seconds"),
    )
    check = JwtChecker(rules, keys.keys, lambda: clock.now_ms() / 1000)
    return lambda: OAuthBearerServer(check)


def _scram(
    scram: ScramHash, entities: Callable[[], ClientEntities], tokens: TokenSource
) -> MechanismFactory:
    name = scram.mechanism

    def make() -> ServerMechanism:
        nonce = base64.b64encode(os.urandom(_NONCE_BYTES)).decode()
        known, known_tokens = entities(), tokens()
        token_lookup = None
        if known_tokens is not None:
            token_lookup = partial(known_tokens.login, mechanism=name)
        return ScramServer(
            scram,
            lambda user: known.credential(user, name),
            nonce,
            lambda user: known.decoy(user, name),
            token_lookup,
        )

    return make


# --- public keys of bearer tokens ----------------------------------------------------------------


_logger = logging.getLogger("barnabas.broker")

_URL = "sasl.oauthbearer.jwks.endpoint.url"
_TIMEOUT_S = 10.0
_MAX_BYTES = 1024 * 1024
_UNKNOWN_KEY_MS = 10_000
"""Minimum time between two refreshes because of unknown keys."""


class KeySet:
    """A set of public keys, used on the loop.

    A file is read again when it changes. A URL is read in a thread, to not block the loop, when the
    set is old or a key is missing.
    """

    def __init__(self, url: str, refresh_ms: int, clock: Clock) -> None:
        """Raises ConfigError if the keys cannot be loaded."""
        parts = urlsplit(url)
        if parts.scheme not in ("file", "http", "https"):
            raise ConfigError(f"{_URL}={url!r}: must begin with file:, http: or https:")
        self._url = url
        self._file = Path(unquote(parts.path)) if parts.scheme == "file" else None
        self._refresh_ms = refresh_ms
        self._clock = clock
        self._modified_ns = 0
        self._loading = threading.Lock()
        try:
            self._keys = self._load()
        except (OSError, ValueError) as error:
            raise ConfigError(f"{_URL}={url!r}: {error}") from None
        self._loaded_ms = clock.monotonic_ms()

    def keys(self, key_id: str | None) -> Keys:
        """Returns the current set; if `key_id` is missing, it is refreshed in the background."""
        if self._file is not None:
            self._reread()
            return self._keys
        age_ms = self._clock.monotonic_ms() - self._loaded_ms
        missing = key_id is not None and key_id not in self._keys
        if age_ms >= (_UNKNOWN_KEY_MS if missing else self._refresh_ms):
            self._loaded_ms = self._clock.monotonic_ms()
            threading.Thread(target=self._refresh, name="jwks-refresh", daemon=True).start()
        return self._keys

    def _reread(self) -> None:
        assert self._file is not None
        try:
            if self._file.stat().st_mtime_ns != self._modified_ns:
                self._keys = self._load()
        except (OSError, ValueError) as error:
            _logger.warning("%s cannot be read, the previous keys are used: %s", self._url, error)

    def _refresh(self) -> None:
        with self._loading:
            try:
                self._keys = self._load()
            except (OSError, ValueError) as error:
                _logger.warning(
                    "%s cannot be read, the previous keys are used: %s", self._url, error
                )

    def _load(self) -> Keys:
        if self._file is not None:
            self._modified_ns = self._file.stat().st_mtime_ns
            return parse_key_set(self._file.read_text(encoding="utf-8"))
        try:
            with urllib.request.urlopen(self._url, timeout=_TIMEOUT_S) as response:
                return parse_key_set(response.read(_MAX_BYTES).decode())
        except urllib.error.HTTPError as error:
            error.close()  # the error is the response, which keeps its connection open
            raise
