"""Whether a broker that ends connections on the first request wants a login.

A SASL listener answers ApiVersions and closes on anything else, which looks like a broker that is
starting or stopping. Asked for a mechanism that does not exist, it names those that do.
"""

from typing import Any

from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BarnabasError
from barnabas.net.blocking_client import BlockingConnection
from barnabas.net.client import ClientConnection
from barnabas.net.connection_options import Address, ConnectionOptions
from barnabas.security.errors import AuthenticationError
from barnabas.wire.messages.sasl_handshake import SaslHandshakeRequest

_NO_MECHANISM = "?"


async def login_wanted(address: Address, options: ConnectionOptions) -> AuthenticationError | None:
    """The error to raise in place of a lost connection; None when the cause is another."""
    try:
        connection = await ClientConnection.open(address, options)
    except BarnabasError:
        return None
    try:
        return _judge(address, await connection.send(SaslHandshakeRequest(_NO_MECHANISM)))
    except BarnabasError:
        return None
    finally:
        connection.close()


def login_wanted_blocking(
    address: Address, options: ConnectionOptions
) -> AuthenticationError | None:
    """The same for callers without a loop."""
    try:
        connection = BlockingConnection.open(address, options)
    except BarnabasError:
        return None
    try:
        return _judge(address, connection.send(SaslHandshakeRequest(_NO_MECHANISM)))
    except BarnabasError:
        return None
    finally:
        connection.close()


def _judge(address: Address, answer: Any) -> AuthenticationError | None:
    if answer.error_code != ErrorCode.UNSUPPORTED_SASL_MECHANISM:
        return None
    offered = ", ".join(answer.mechanisms)
    return AuthenticationError(
        f"{address} requires SASL ({offered}): set security.protocol to SASL_PLAINTEXT or SASL_SSL"
    )
