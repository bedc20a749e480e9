"""Creates a client's TLS and SASL settings from its configuration. Raises ConfigError."""

import ssl
from collections.abc import Mapping
from typing import Any

from barnabas.model.errors import ConfigError
from barnabas.net.sasl_client import SaslLogin, TokenSource
from barnabas.net.tls_context import TlsSettings, client_context
from barnabas.security.jaas import parse_jaas
from barnabas.security.oauthbearer import NAME as OAUTHBEARER


def tls_of(values: Mapping[str, Any]) -> ssl.SSLContext | None:
    """Returns the TLS context; None for protocols without TLS."""
    if not values["security.protocol"].endswith("SSL"):
        return None
    return client_context(
        TlsSettings(
            chain_file=values["ssl.certificate.location"] or values["ssl.keystore.location"],
            key_file=values["ssl.key.location"],
            key_password=values["ssl.key.password"],
            chain_text=values["ssl.keystore.certificate.chain"],
            key_text=values["ssl.keystore.key"],
            trust_file=values["ssl.ca.location"] or values["ssl.truststore.location"],
            trust_text=values["ssl.truststore.certificates"],
            versions=values["ssl.enabled.protocols"],
            check_host=bool(values["ssl.endpoint.identification.algorithm"]),
        )
    )


def login_of(values: Mapping[str, Any]) -> SaslLogin | None:
    """Returns the SASL credentials; None for protocols without SASL."""
    if not values["security.protocol"].startswith("SASL"):
        return None
    mechanism = values["sasl.mechanism"].upper()
    if mechanism == OAUTHBEARER:
        return SaslLogin(mechanism, "", "", TokenSource.from_config(values.__getitem__))
    user, password = values["sasl.username"], values["sasl.password"]
    by_token = False
    if values["sasl.jaas.config"] is not None:
        try:
            entry = parse_jaas(values["sasl.jaas.config"])
        except ValueError as error:
            raise ConfigError(f"sasl.jaas.config: {error}") from None
        user, password, by_token = entry.username, entry.password, entry.by_token
    if user is None or password is None:
        raise ConfigError(
            "security.protocol: SASL needs sasl.username and sasl.password, or sasl.jaas.config"
        )
    return SaslLogin(mechanism, user, password, by_token=by_token)
