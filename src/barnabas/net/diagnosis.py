"""Finds the probable reason why a peer does not respond as a Kafka broker.

Used only after the first exchange of a connection failed. It blocks, so an event loop runs it in a
thread. It sends harmless probes: ZooKeeper's `srvr` command, a TLS hello, ApiVersions, HTTP GET.
"""

import socket
import ssl

from barnabas.model.errors import BarnabasError, UnavailableError
from barnabas.net.connection_options import Address
from barnabas.security.mechanism import AuthenticationError

PROBE_SECONDS = 1.0
_CORRELATION_ID = b"\x00\x00\x00\x07"
# Size, API key 18, version 0, correlation id, no client id.
_API_VERSIONS = b"\x00\x00\x00\x0a\x00\x12\x00\x00" + _CORRELATION_ID + b"\xff\xff"
ZOOKEEPER_RESPONSES = (b"Zookeeper version", b"srvr is not executed", b"This ZooKeeper")


def diagnose(address: Address, *, tls: bool) -> BarnabasError:
    """Returns an error that names the probable kind of server at the address.

    The error is retriable, unless it is certain that only one side uses TLS.
    """
    host, port = address.host, address.port
    if tls:
        if _speaks_kafka(host, port):
            return AuthenticationError(
                f"{address} is a listener without TLS: set security.protocol to PLAINTEXT or "
                "SASL_PLAINTEXT"
            )
        return UnavailableError(f"{address} did not complete a TLS handshake")
    if _speaks_tls(host, port):
        return AuthenticationError(
            f"{address} expects TLS: set security.protocol to SSL or SASL_SSL"
        )
    if _is_zookeeper(host, port):
        return UnavailableError(
            f"{address} is a ZooKeeper server, not a broker (brokers usually listen on 9092)"
        )
    if _is_http(host, port):
        return UnavailableError(f"{address} is an HTTP server, not a broker")
    if not _listens(host, port):  # for example a broker that stopped meanwhile
        return UnavailableError(f"{address} closed the connection, and nothing listens there now")
    return UnavailableError(
        f"{address} closed the connection on the first request: it is not a Kafka broker, "
        "or it requires TLS or SASL"
    )


def tls_failure(address: Address, error: OSError) -> BarnabasError:
    """Returns the reason of a TLS failure; certificate errors are not retriable. Sends nothing."""
    if isinstance(error, ssl.SSLCertVerificationError):
        return AuthenticationError(
            f"the certificate of {address} is not accepted: {error.verify_message}"
        )
    reason = (getattr(error, "reason", None) or error.strerror or "connection closed").lower()
    if "alert" in reason:
        alert = reason.split("alert", 1)[1].strip("_ ").replace("_", " ")
        return AuthenticationError(
            f"{address} ended TLS: {alert} "
            "(it may want a client certificate: ssl.keystore.location)"
        )
    return UnavailableError(f"TLS with {address} failed: {reason.replace('_', ' ')}")


def _listens(host: str, port: int) -> bool:
    try:
        socket.create_connection((host, port), PROBE_SECONDS).close()
    except ConnectionRefusedError:
        return False
    except OSError:
        pass
    return True


def _is_zookeeper(host: str, port: int) -> bool:
    try:
        with socket.create_connection((host, port), PROBE_SECONDS) as peer:
            peer.sendall(b"srvr")
            return peer.recv(64).startswith(ZOOKEEPER_RESPONSES)
    except OSError:
        return False


def _speaks_kafka(host: str, port: int) -> bool:
    """Whether the server responds to ApiVersions without TLS, with the same correlation id."""
    try:
        with socket.create_connection((host, port), PROBE_SECONDS) as peer:
            peer.sendall(_API_VERSIONS)
            return peer.recv(8)[4:] == _CORRELATION_ID
    except OSError:
        return False


def _is_http(host: str, port: int) -> bool:
    try:
        with socket.create_connection((host, port), PROBE_SECONDS) as peer:
            peer.sendall(b"GET / HTTP/1.0\r\n\r\n")
            return peer.recv(5) == b"HTTP/"
    except OSError:
        return False


def _speaks_tls(host: str, port: int) -> bool:
    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    try:
        with socket.create_connection((host, port), PROBE_SECONDS) as peer:
            context.wrap_socket(peer).close()
    except ssl.SSLError as error:
        # A server that responded with a TLS alert uses TLS too.
        return "ALERT" in (error.reason or "")
    except OSError:
        return False
    return True
