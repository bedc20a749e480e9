"""How this broker connects to others: TLS and a login, as their common listener asks for."""

import ssl
from typing import TYPE_CHECKING, NamedTuple

from barnabas.broker.config import BrokerConfig
from barnabas.model.errors import ConfigError

if TYPE_CHECKING:
    from barnabas.net.sasl_client import SaslLogin


class InterBrokerSecurity(NamedTuple):
    """Both None on a plaintext listener."""

    tls: ssl.SSLContext | None = None
    login: "SaslLogin | None" = None


def inter_broker_security(config: BrokerConfig) -> InterBrokerSecurity:
    """ConfigError when what the listener needs is not configured."""
    name = config.inter_broker_listener
    known = {endpoint.listener: endpoint for endpoint in config.listeners}
    endpoint = known.get(name)
    if endpoint is None or endpoint.security_protocol == "PLAINTEXT":
        return InterBrokerSecurity()
    from barnabas.broker.access.listener_security import tls_settings
    from barnabas.net.tls_context import client_context

    tls = None
    if endpoint.security_protocol.endswith("SSL"):
        tls = client_context(tls_settings(config, name))
    login = None
    if endpoint.security_protocol.startswith("SASL"):
        login = _login(config, name)
    return InterBrokerSecurity(tls, login)


def _login(config: BrokerConfig, listener: str) -> "SaslLogin | None":
    from barnabas.broker.access.sasl_mechanisms import jaas_of
    from barnabas.net.sasl_client import SaslLogin

    mechanism = config["sasl.mechanism.inter.broker.protocol"].upper()
    entry = jaas_of(config, listener, mechanism)
    if entry is None or entry.username is None or entry.password is None:
        if config["zookeeper.connect"] is None:
            return None  # a broker that is alone connects to nobody
        key = f"listener.name.{listener.lower()}.{mechanism.lower()}.sasl.jaas.config"
        raise ConfigError(f"{key}: brokers need username and password to connect to each other")
    return SaslLogin(mechanism, entry.username, entry.password)
