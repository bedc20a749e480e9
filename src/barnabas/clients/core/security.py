"""Security of a client: TLS and SASL settings, and brokers that require a login.

`tls_of` and `login_of` create the settings from the configuration and raise ConfigError.

`login_wanted` detects whether a broker that closes connections after the first request requires
SASL. A SASL listener responds to ApiVersions and closes the connection on other requests, as a
broker does that is starting or stopping. Its response to an unknown mechanism lists the known ones.

Callers import this module when they need it: most clients have no security settings.
"""

import ssl

from barnabas.model.config import ConfigValues
from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BarnabasError, ConfigError
from barnabas.net.blocking_client import BlockingConnection
from barnabas.net.client import ClientConnection
from barnabas.net.connection_options import Address, ConnectionOptions
from barnabas.net.sasl_client import SaslLogin, TokenSource
from barnabas.net.tls_context import TlsSettings, client_context
from barnabas.security.jaas import parse_jaas
from barnabas.security.mechanism import AuthenticationError
from barnabas.security.oauthbearer import NAME as OAUTHBEARER
from barnabas.wire.messages.sasl_handshake import SaslHandshakeRequest, SaslHandshakeResponse

_NO_MECHANISM = "?"


def tls_of(values: ConfigValues) -> ssl.SSLContext | None:
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


def login_of(values: ConfigValues) -> SaslLogin | None:
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


async def login_wanted(address: Address, options: ConnectionOptions) -> AuthenticationError | None:
    """Returns the error for a listener that needs SASL, which closed a connection without it.

    None if the listener does not need SASL, so the connection was lost for another reason.
    """
    try:
        connection = await ClientConnection.open(address, options)
    except BarnabasError:
        return None
    try:
        return _error_of(address, await connection.send(SaslHandshakeRequest(_NO_MECHANISM)))
    except BarnabasError:
        return None
    finally:
        connection.close()


def login_wanted_blocking(
    address: Address, options: ConnectionOptions
) -> AuthenticationError | None:
    """Does the same as `login_wanted`, without an event loop."""
    try:
        connection = BlockingConnection.open(address, options)
    except BarnabasError:
        return None
    try:
        return _error_of(address, connection.send(SaslHandshakeRequest(_NO_MECHANISM)))
    except BarnabasError:
        return None
    finally:
        connection.close()


def _error_of(address: Address, response: SaslHandshakeResponse) -> AuthenticationError | None:
    if response.error_code != ErrorCode.UNSUPPORTED_SASL_MECHANISM:
        return None
    offered = ", ".join(response.mechanisms)
    return AuthenticationError(
        f"{address} requires SASL ({offered}): set security.protocol to SASL_PLAINTEXT or SASL_SSL"
    )
