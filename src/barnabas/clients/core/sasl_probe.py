"""Detects whether a broker that closes connections after the first request requires SASL.

A SASL listener responds to ApiVersions and closes the connection on other requests, as a broker
does that is starting or stopping. Its response to an unknown mechanism lists the known ones.
"""

from typing import Any

from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BarnabasError
from barnabas.net.blocking_client import BlockingConnection
from barnabas.net.client import ClientConnection
from barnabas.net.connection_options import Address, ConnectionOptions
from barnabas.security.mechanism import AuthenticationError
from barnabas.wire.messages.sasl_handshake import SaslHandshakeRequest

_NO_MECHANISM = "?"


async def login_wanted(address: Address, options: ConnectionOptions) -> AuthenticationError | None:
    """Returns the error to raise instead of a lost connection; None if there is another cause."""
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


def _error_of(address: Address, response: Any) -> AuthenticationError | None:
    if response.error_code != ErrorCode.UNSUPPORTED_SASL_MECHANISM:
        return None
    offered = ", ".join(response.mechanisms)
    return AuthenticationError(
        f"{address} requires SASL ({offered}): set security.protocol to SASL_PLAINTEXT or SASL_SSL"
    )
