"""Settings of a console: address, users and roles, and the cluster that it shows."""

import ipaddress
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit

from barnabas.model.errors import ConfigError

DEFAULT_PORT = 8080
LoginMethod = Literal["none", "scram", "proxy", "oidc"]


@dataclass(frozen=True, slots=True)
class OidcSettings:
    """An OpenID Connect provider and this console's registration there."""

    issuer: str
    client_id: str
    client_secret: str | None = field(default=None, repr=False)
    user_claim: str = "preferred_username"
    scope: str = "openid profile"


@dataclass(frozen=True, slots=True)
class ConsoleSettings:
    """All settings of one console process.

    `client` has Kafka's client keys (`bootstrap.servers`, `security.protocol`, …). `roles` maps
    user names to role names; `default_role` is the role of every other user who has logged in.
    """

    client: Mapping[str, str]
    host: str = "127.0.0.1"
    port: int = DEFAULT_PORT
    read_only: bool = False
    login: LoginMethod = "none"
    proxy_header: str = "X-Forwarded-User"
    trusted_proxies: tuple[str, ...] = ("127.0.0.1", "::1")
    roles: Mapping[str, str] = field(default_factory=dict)
    default_role: str = "read"
    public_host: str | None = None
    audit_log: Path | None = None
    zookeeper: str | None = None
    schema_registry: str | None = None
    oidc: OidcSettings | None = None
    metrics_urls: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.login == "none" and not is_loopback(self.host):
            raise ConfigError(
                f"--host {self.host}: other machines could use the console without a login; "
                "add --login scram, --login proxy or --login oidc"
            )
        if (self.login == "oidc") is not (self.oidc is not None):
            raise ConfigError("--login oidc needs --oidc-issuer and --oidc-client-id")
        if self.zookeeper is not None and not self.zookeeper.strip():
            raise ConfigError("--zookeeper: an address is required, such as localhost:2181")
        if self.schema_registry is not None:
            _check_url("--schema-registry", self.schema_registry)
        for url in self.metrics_urls:
            _check_url("--metrics-url", url if "//" in url else f"http://{url}")

    @property
    def bootstrap(self) -> str:
        return self.client["bootstrap.servers"]

    @property
    def allowed_hosts(self) -> frozenset[str]:
        """Names that the Host header of a request may have, without the port."""
        names = {"localhost", "127.0.0.1", "[::1]", _bracketed(self.host)}
        return frozenset(names | ({self.public_host} if self.public_host else set()))


def is_loopback(host: str) -> bool:
    """Returns whether only this machine can reach an address.

    >>> is_loopback("localhost"), is_loopback("::1"), is_loopback("0.0.0.0"), is_loopback("db1")
    (True, True, False, False)
    """
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _check_url(option: str, text: str) -> None:
    parts = urlsplit(text)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ConfigError(f"{option} {text}: must look like http://HOST:PORT")


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host
