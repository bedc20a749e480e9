"""Authentication, TLS and node ACLs of a session on ZooKeeper, as options of kazoo.

kazoo 2.11 does not close the socket of a TLS connection that fails (refused, or a handshake that
fails), so `TlsHandler` opens TLS connections in its place.

The ACLs are those of Kafka's `zookeeper.set.acl`: the creator has all rights, every user may read,
except nodes with secrets, which only the creator may read. /consumers stays open, because consumers
of any user write there.
"""

import socket
import ssl
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from kazoo.handlers.threading import SequentialThreadingHandler
from kazoo.security import ACL, CREATOR_ALL_ACL, OPEN_ACL_UNSAFE, READ_ACL_UNSAFE

from barnabas.model.errors import ConfigError
from barnabas.zk import paths

_SECRET_ROOTS = (
    "/config/users",
    "/config/brokers",
    paths.DELEGATION_TOKENS,
    paths.DECOY_SECRET,
)


@dataclass(frozen=True, slots=True)
class ZooKeeperSecurity:
    """Credentials of a session, and the ACLs of the nodes that it creates."""

    username: str | None = None
    password: str | None = field(default=None, repr=False)
    tls: bool = False
    key_file: str | None = None
    """PEM file with private key and certificates of the client."""
    key_password: str | None = field(default=None, repr=False)
    trust_file: str | None = None
    check_host: bool = True
    set_acl: bool = False

    @classmethod
    def of_broker(cls, value: Callable[[str], Any]) -> "ZooKeeperSecurity":
        """Returns the security of a broker; raises ConfigError for settings that contradict."""
        found = cls.of_client(value)
        set_acl = value("zookeeper.set.acl")
        if set_acl and found.username is None and found.key_file is None:
            text = "needs zookeeper.username, or a client certificate in zookeeper.ssl.keystore"
            raise ConfigError(f"zookeeper.set.acl: {text}.location")
        return replace(found, set_acl=set_acl)

    @classmethod
    def of_client(cls, value: Callable[[str], Any]) -> "ZooKeeperSecurity":
        """Returns the credentials; raises ConfigError for settings that contradict.

        Clients write only below /consumers, which is open to all users.
        """
        username, password = value("zookeeper.username"), value("zookeeper.password")
        if (username is None) is not (password is None):
            raise ConfigError("zookeeper.username and zookeeper.password need each other")
        tls = value("zookeeper.ssl.client.enable")
        key_file = value("zookeeper.ssl.keystore.location") if tls else None
        return cls(
            username,
            password,
            tls,
            key_file,
            value("zookeeper.ssl.keystore.password"),
            value("zookeeper.ssl.truststore.location"),
            bool(value("zookeeper.ssl.endpoint.identification.algorithm")),
        )

    def client_options(self) -> Mapping[str, Any]:
        """Returns the arguments of a KazooClient."""
        options: dict[str, Any] = {}
        if self.username is not None:
            options["auth_data"] = [("digest", f"{self.username}:{self.password}")]
        if self.tls:
            options |= {"use_ssl": True, "handler": TlsHandler(self)}
        return options

    def tls_context(self) -> ssl.SSLContext:
        """Returns a context with the files as they are now."""
        context = ssl.create_default_context(cafile=self.trust_file)
        context.check_hostname = self.check_host
        if self.key_file is not None:
            context.load_cert_chain(self.key_file, password=self.key_password)
        return context

    def acl_of(self, path: str) -> list[ACL] | None:
        """Returns the ACL of a new node; None: ZooKeeper's default, which allows every user
        everything.
        """
        if not self.set_acl:
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
        context = self._security.tls_context()
        plain = socket.create_connection(address, timeout)
        try:
            plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            return context.wrap_socket(plain, server_hostname=hostname)
        except BaseException:
            plain.close()
            raise


OPEN = ZooKeeperSecurity()
"""No authentication, no TLS, no ACLs."""
