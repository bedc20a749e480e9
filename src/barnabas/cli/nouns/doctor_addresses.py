"""The first part of `doctor`: results of checks, and the checks of one broker address.

Host name, port, protocol and SASL login are checked in this order; the first failed check ends
them, so the reported problem is the one to fix first.
"""

import enum
import socket
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace

from barnabas.model.errors import BarnabasError, UnavailableError
from barnabas.net.blocking_client import BlockingConnection
from barnabas.net.connection_options import Address, ConnectionOptions, connect_problem
from barnabas.security.mechanism import AuthenticationError
from barnabas.wire.messages.metadata import MetadataRequest, MetadataResponse
from barnabas.wire.messages.sasl_handshake import SaslHandshakeRequest


class Status(enum.StrEnum):
    OK = "OK"
    WARNING = "WARNING"
    FAILED = "FAILED"


@dataclass(frozen=True, slots=True)
class Finding:
    """The result of one check; the keys of its row are a stable interface."""

    check: str
    status: Status
    target: str
    detail: str
    cause: str | None = None
    fix: str | None = None

    def row(self) -> dict[str, object]:
        return {
            "check": self.check,
            "status": str(self.status),
            "target": self.target,
            "detail": self.detail,
            "cause": self.cause,
            "fix": self.fix,
        }


def passed(check: str, target: object, detail: str) -> Finding:
    return Finding(check, Status.OK, str(target), detail)


def failed(check: str, target: object, detail: str, cause: str, fix: str) -> Finding:
    return Finding(check, Status.FAILED, str(target), detail, cause, fix)


def warning(check: str, target: object, detail: str, cause: str, fix: str) -> Finding:
    return Finding(check, Status.WARNING, str(target), detail, cause, fix)


CONNECT_SECONDS = 3.0
RESPONSE_SECONDS = 10.0
"""How long a program that accepts the connection may take to respond; a busy broker takes long."""
LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
KNOWN_PROBLEMS = (
    (
        "ZooKeeper",
        "protocol",
        "this is ZooKeeper, not a broker",
        "use a broker's address, usually port 9092: -b {host}:9092",
    ),
    (
        "expects TLS",
        "tls",
        "the port expects TLS, the settings have no TLS",
        "set security.protocol=SSL (or SASL_SSL), and ssl.ca.location if the CA is private",
    ),
    (
        "listener without TLS",
        "tls",
        "the port has no TLS, the settings require TLS",
        "set security.protocol=PLAINTEXT (or SASL_PLAINTEXT), or use the TLS port",
    ),
    (
        "certificate of",
        "tls",
        "the broker's certificate is not accepted",
        "set ssl.ca.location to the authority that signed it, and use a name that it is for",
    ),
    (
        "TLS",
        "tls",
        "the TLS handshake failed",
        "check that this is the TLS port, and ssl.keystore.location if the broker requires a "
        "certificate",
    ),
)
"""Text in the error, check, detail and fix; the first match is used."""


class AddressCheck:
    """The checks of one address; `metadata` has the broker's response after a successful check."""

    def __init__(self, address: Address, options: ConnectionOptions, role: str) -> None:
        self.address = address
        self.metadata: MetadataResponse | None = None
        # With the client's timeout nothing would be printed for 30 s.
        limit = min(options.request_timeout_s, RESPONSE_SECONDS)
        self._options = replace(options, request_timeout_s=limit)
        self._role = role

    @property
    def responded(self) -> bool:
        return self.metadata is not None

    def check(self) -> Iterator[Finding]:
        """Yields a finding per step; ends after the first failure."""
        for step in (self._resolve, self._connect, self._check_protocol):
            finding = step()
            yield finding
            if finding.status != "OK":
                return

    def _resolve(self) -> Finding:
        address = self.address
        try:
            found = socket.getaddrinfo(address.host, address.port, type=socket.SOCK_STREAM)
        except OSError as error:
            return failed(
                "dns",
                address,
                f"{address.host} cannot be resolved: {error.strerror or error}",
                _name_cause(self._role),
                _name_fix(self._role, address.host),
            )
        numbers = sorted({str(item[4][0]) for item in found})
        return passed("dns", address, f"{address.host} is {', '.join(numbers)}")

    def _connect(self) -> Finding:
        address = self.address
        started = time.perf_counter()
        try:
            socket.create_connection((address.host, address.port), CONNECT_SECONDS).close()
        except OSError as error:
            problem = "no response" if isinstance(error, TimeoutError) else connect_problem(error)
            return failed(
                "port", address, problem, _port_cause(error), _port_fix(self._role, address)
            )
        took = (time.perf_counter() - started) * 1000
        return passed("port", address, f"open ({took:.1f} ms)")

    def _check_protocol(self) -> Finding:
        address = self.address
        try:
            connection = BlockingConnection.open(address, self._options)
        except BarnabasError as error:
            return _no_kafka(address, error)
        try:
            self.metadata = connection.send(MetadataRequest(topics=None), timeout_s=CONNECT_SECONDS)
        except UnavailableError:
            return self._login_needed()
        finally:
            connection.close()
        count = len(connection.versions)
        return passed("protocol", address, f"a Kafka broker with {count} APIs")

    def _login_needed(self) -> Finding:
        """Handles a broker that responds to ApiVersions but requires a login for Metadata."""
        mechanisms = self._mechanisms()
        if not mechanisms:
            return failed(
                "protocol",
                self.address,
                "responded to the first request and closed on the second",
                "the broker requires a login (SASL), or is overloaded",
                "set security.protocol to SASL_PLAINTEXT or SASL_SSL, with sasl.mechanism",
            )
        tls = self._options.tls is not None
        protocol = "SASL_SSL" if tls else "SASL_PLAINTEXT"
        listed = ", ".join(mechanisms)
        return failed(
            "sasl",
            self.address,
            f"the broker requires a login; it supports {listed}",
            "no SASL settings were given",
            f"set security.protocol={protocol} sasl.mechanism={mechanisms[0]} "
            "sasl.username=… sasl.password=…",
        )

    def _mechanisms(self) -> list[str]:
        """Returns the SASL mechanisms, which a broker lists when it rejects an unknown one."""
        connection = BlockingConnection.open(self.address, self._options)
        try:
            request = SaslHandshakeRequest(mechanism="?")
            return list(connection.send(request, timeout_s=CONNECT_SECONDS).mechanisms)
        except BarnabasError:
            return []
        finally:
            connection.close()


def _no_kafka(address: Address, error: BarnabasError) -> Finding:
    """Returns the finding for a failed connection, by the text of the error."""
    cause = str(error)
    for words, check, detail, fix in KNOWN_PROBLEMS:
        if words in cause:
            return failed(check, address, detail, cause, fix.format(host=address.host))
    if isinstance(error, AuthenticationError):
        fix = "check sasl.mechanism, sasl.username and sasl.password"
        return failed("sasl", address, "the broker rejected the login", cause, fix)
    fix = "check host and port: another program listens there"
    return failed("protocol", address, "no Kafka broker responded", cause, fix)


def _name_cause(role: str) -> str:
    if role == "advertised":
        return "the broker advertises a name that this machine cannot resolve"
    return "the name is misspelt, or known only inside a container network or VPN"


def _name_fix(role: str, host: str) -> str:
    if role == "advertised":
        return f"set advertised.listeners to what clients can resolve, or map {host} in /etc/hosts"
    return "check the spelling, the VPN, or use the IP address"


def _port_cause(error: OSError) -> str:
    if isinstance(error, ConnectionRefusedError):
        return "the host is up, but no broker listens on this port"
    return "a firewall drops the packets, or the host is down"


def _port_fix(role: str, address: Address) -> str:
    if role == "advertised" and address.host in LOOPBACK:
        return (
            f"the broker advertises {address}, which is this machine itself: set its "
            "advertised.listeners to an address that clients can reach"
        )
    if role == "advertised":
        return f"open {address} for clients, or correct the broker's advertised.listeners"
    return f"start the broker (barnabas up --port {address.port}), or correct host and port"
