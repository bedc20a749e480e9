"""Credentials and TLS settings of a session on ZooKeeper; imports no kazoo."""

from dataclasses import dataclass, field, replace

from barnabas.model.config import ConfigLookup
from barnabas.model.errors import ConfigError


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
    def of_broker(cls, value: ConfigLookup) -> "ZooKeeperSecurity":
        """Returns the security of a broker; raises ConfigError for settings that contradict."""
        found = cls.of_client(value)
        set_acl = value("zookeeper.set.acl")
        if set_acl and found.username is None and found.key_file is None:
            text = "needs zookeeper.username, or a client certificate in zookeeper.ssl.keystore"
            raise ConfigError(f"zookeeper.set.acl: {text}.location")
        return replace(found, set_acl=set_acl)

    @classmethod
    def of_client(cls, value: ConfigLookup) -> "ZooKeeperSecurity":
        """Returns the credentials; raises ConfigError for settings that contradict.

        Clients write only below /consumers, which is open to all users.
        """
        username, password = value("zookeeper.username"), value("zookeeper.password")
        if (username is None) is not (password is None):
            raise ConfigError("zookeeper.username and zookeeper.password must be set together")
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


OPEN = ZooKeeperSecurity()
"""No authentication, no TLS, no ACLs."""
