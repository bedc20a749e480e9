"""Authentication, TLS and node ACLs of a session on ZooKeeper, as options of kazoo.

kazoo 2.11 does not close the socket of a TLS connection that fails (refused, or a handshake that
fails), so `TlsHandler` opens TLS connections in its place.

The ACLs are those of Kafka's `zookeeper.set.acl`: the creator has all rights, every user may read,
except nodes with secrets, which only the creator may read. /consumers stays open, because consumers
of any user write there.
"""

import socket
import ssl
from collections.abc import Mapping
from typing import Any

from kazoo.handlers.threading import SequentialThreadingHandler
from kazoo.security import ACL, CREATOR_ALL_ACL, OPEN_ACL_UNSAFE, READ_ACL_UNSAFE

from barnabas.zk import paths
from barnabas.zk.zookeeper_security import ZooKeeperSecurity

_SECRET_ROOTS = (
    "/config/users",
    "/config/brokers",
    paths.DELEGATION_TOKENS,
    paths.DECOY_SECRET,
)


def client_options(security: ZooKeeperSecurity) -> Mapping[str, Any]:
    """Returns the arguments of a KazooClient."""
    options: dict[str, Any] = {}
    if security.username is not None:
        options["auth_data"] = [("digest", f"{security.username}:{security.password}")]
    if security.tls:
        options |= {"use_ssl": True, "handler": TlsHandler(security)}
    return options


def acl_of(path: str, security: ZooKeeperSecurity) -> list[ACL] | None:
    """Returns the ACL of a new node; None: ZooKeeper's default, which allows every user
    everything.
    """
    if not security.set_acl:
        return None
    if path == paths.CONSUMERS:
        return list(OPEN_ACL_UNSAFE)
    if any(path == root or path.startswith(f"{root}/") for root in _SECRET_ROOTS):
        return list(CREATOR_ALL_ACL)
    return [*CREATOR_ALL_ACL, *READ_ACL_UNSAFE]


class TlsHandler(SequentialThreadingHandler):  # type: ignore[misc]
    """kazoo's threads, with TLS connections that are closed if they cannot be established."""

    def __init__(self, security: ZooKeeperSecurity) -> None:
        super().__init__()
        self._security = security

    def create_connection(
        self, address: tuple[str, int], hostname: str, timeout: float, **_: object
    ) -> ssl.SSLSocket:
        """Connects; reads the certificate files again, so that renewed ones are used."""
        context = tls_context(self._security)
        plain = socket.create_connection(address, timeout)
        try:
            plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            return context.wrap_socket(plain, server_hostname=hostname)
        except BaseException:
            plain.close()
            raise


def tls_context(security: ZooKeeperSecurity) -> ssl.SSLContext:
    """Returns a context with the files as they are now."""
    context = ssl.create_default_context(cafile=security.trust_file)
    context.check_hostname = security.check_host
    if security.key_file is not None:
        context.load_cert_chain(security.key_file, password=security.key_password)
    return context
