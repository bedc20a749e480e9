"""Why a peer would not speak Kafka: the likely cause, in words, for one typed error.

Used after a first exchange failed, never on a working connection; it blocks, an event loop runs it
in a thread. It asks the port two harmless questions: ZooKeeper's `srvr` word, and a TLS hello.
"""

import socket
import ssl

PROBE_SECONDS = 1.0
ZOOKEEPER_ANSWERS = (b"Zookeeper version", b"srvr is not executed", b"This ZooKeeper")


def diagnose(host: str, port: int, *, tls: bool) -> str:
    """What seems to be listening at an address that did not answer as a broker."""
    if _is_zookeeper(host, port):
        return f"{host}:{port} is a ZooKeeper server, not a broker (brokers usually listen on 9092)"
    if tls:
        return f"{host}:{port} did not complete a TLS handshake: is it a plaintext listener?"
    if _speaks_tls(host, port):
        return f"{host}:{port} expects TLS: set security.protocol to SSL or SASL_SSL"
    return (
        f"{host}:{port} closed the connection on the first request: it is no Kafka broker, "
        "or it requires TLS or SASL"
    )


def _is_zookeeper(host: str, port: int) -> bool:
    try:
        with socket.create_connection((host, port), PROBE_SECONDS) as peer:
            peer.sendall(b"srvr")
            return peer.recv(64).startswith(ZOOKEEPER_ANSWERS)
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
        # A server that answered with an alert of its own still speaks TLS.
        return "ALERT" in (error.reason or "")
    except OSError:
        return False
    return True
