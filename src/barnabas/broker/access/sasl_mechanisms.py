"""The SASL mechanisms a listener enables, made from its configuration and the stored users."""

import base64
import os
from collections.abc import Callable, Mapping
from typing import Any

from barnabas.broker.access.client_entities import ClientEntities
from barnabas.broker.access.key_set import KeySet
from barnabas.broker.config import BrokerConfig
from barnabas.broker.listener_keys import MECHANISMS
from barnabas.model.clock import Clock
from barnabas.model.errors import ConfigError
from barnabas.model.extras import missing_package
from barnabas.security.jaas import JaasEntry, parse_jaas
from barnabas.security.jwt_tokens import JwtChecker, JwtRules
from barnabas.security.mechanism import ServerMechanism
from barnabas.security.oauthbearer import NAME as OAUTHBEARER
from barnabas.security.oauthbearer import OAuthBearerServer
from barnabas.security.plain import NAME as PLAIN
from barnabas.security.plain import PlainServer, check_against
from barnabas.security.sasl_server import MechanismFactory
from barnabas.security.scram_keys import SCRAM_HASHES, ScramHash
from barnabas.security.scram_server import ScramServer

_NONCE_BYTES = 24


def enabled_mechanisms(config: BrokerConfig, listener: str) -> list[str]:
    """What a SASL listener offers; ConfigError for what is not served."""
    names = [name.upper() for name in config.listener_value(listener, "sasl.enabled.mechanisms")]
    for name in names:
        if name not in MECHANISMS:
            served = ", ".join(MECHANISMS)
            raise ConfigError(f"sasl.enabled.mechanisms: {name} is not served, these are: {served}")
    if not names:
        raise ConfigError(f"sasl.enabled.mechanisms: listener {listener} has none")
    return names


def jaas_of(config: BrokerConfig, listener: str, mechanism: str) -> JaasEntry | None:
    """The login configuration of a mechanism on a listener, the most particular one there is."""
    text = config.listener_value(listener, f"{mechanism.lower()}.sasl.jaas.config")
    if text is None:
        text = config.listener_value(listener, "sasl.jaas.config")
    if text is None:
        return None
    try:
        return parse_jaas(text)
    except ValueError as error:
        raise ConfigError(f"sasl.jaas.config of listener {listener}: {error}") from None


def mechanism_factories(
    config: BrokerConfig, listener: str, entities: Callable[[], ClientEntities], clock: Clock
) -> Mapping[str, MechanismFactory]:
    """One factory per enabled mechanism; each call begins an exchange."""
    factories: dict[str, MechanismFactory] = {}
    for name in enabled_mechanisms(config, listener):
        if name == PLAIN:
            factories[name] = _plain(config, listener)
        elif name == OAUTHBEARER:
            factories[name] = _oauthbearer(config, listener, clock)
        else:
            factories[name] = _scram(SCRAM_HASHES[name], entities)
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


def _scram(scram: ScramHash, entities: Callable[[], ClientEntities]) -> MechanismFactory:
    name = scram.mechanism

    def make() -> ServerMechanism:
        nonce = base64.b64encode(os.urandom(_NONCE_BYTES)).decode()
        known = entities()
        return ScramServer(
            scram,
            lambda user: known.credential(user, name),
            nonce,
            lambda user: known.decoy(user, name),
        )

    return make
