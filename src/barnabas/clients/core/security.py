"""A client's TLS and SASL settings, from parsed configuration; ConfigError for what cannot work."""

import ssl
from collections.abc import Mapping
from typing import Any

from barnabas.model.errors import ConfigError
from barnabas.net.sasl_client import SaslLogin
from barnabas.net.tls_context import TlsSettings, client_context
from barnabas.net.token_source import ClientCredentials, TokenSource
from barnabas.security.jaas import parse_jaas
from barnabas.security.oauthbearer import NAME as OAUTHBEARER


def tls_of(values: Mapping[str, Any]) -> ssl.SSLContext | None:
    """None for protocols without TLS."""
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
    """None for protocols without SASL."""
    if not values["security.protocol"].startswith("SASL"):
        return None
    mechanism = values["sasl.mechanism"].upper()
    if mechanism == OAUTHBEARER:
        return SaslLogin(mechanism, "", "", _tokens_of(values))
    user, password = values["sasl.username"], values["sasl.password"]
    if values["sasl.jaas.config"] is not None:
        try:
            entry = parse_jaas(values["sasl.jaas.config"])
        except ValueError as error:
            raise ConfigError(f"sasl.jaas.config: {error}") from None
        user, password = entry.username, entry.password
    if user is None or password is None:
        raise ConfigError(
            "security.protocol: SASL needs sasl.username and sasl.password, or sasl.jaas.config"
        )
    return SaslLogin(mechanism, user, password)


def _tokens_of(values: Mapping[str, Any]) -> TokenSource:
    url = values["sasl.oauthbearer.token.endpoint.url"]
    if url is None:
        raise ConfigError("sasl.mechanism=OAUTHBEARER needs sasl.oauthbearer.token.endpoint.url")
    client_id = values["sasl.oauthbearer.client.credentials.client.id"]
    secret = values["sasl.oauthbearer.client.credentials.client.secret"]
    credentials = None
    if client_id is not None and secret is not None:
        credentials = ClientCredentials(client_id, secret, values["sasl.oauthbearer.scope"])
    return TokenSource(url, credentials)
