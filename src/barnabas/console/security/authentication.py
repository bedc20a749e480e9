"""Finds the identity of a request: the local user, a SCRAM user, or one whom a proxy or an
OpenID Connect provider names.

SCRAM: the console opens a connection to the cluster with the given name and password; the broker
decides. HTTP Basic is accepted for programs; the result is kept for a minute, by a hash of the
password, so that a program with many requests does not log in to the cluster each time.
"""

import base64
import binascii
import hashlib
import ipaddress
import secrets
from collections.abc import Callable, Mapping

from starlette.datastructures import Headers

from barnabas.admin import AsyncAdmin
from barnabas.console.cluster_link import supported
from barnabas.console.security.identity import ConsoleUser, Role
from barnabas.console.security.oidc import OidcLogin
from barnabas.console.settings import ConsoleSettings
from barnabas.model.config_keys.client import ADMIN_KEYS
from barnabas.model.errors import BarnabasError, UnavailableError
from barnabas.runtime.clock import SystemClock

LOCAL_USER = "local"
_KEEP_S = 60.0
_LOGIN_TIMEOUT_S = 10.0
_MAX_KEPT = 1000


class Authenticator:
    """Applies the login method of the settings; `now` returns monotonic seconds."""

    def __init__(self, settings: ConsoleSettings, now: Callable[[], float]) -> None:
        self._settings = settings
        self._now = now
        self._salt = secrets.token_bytes(16)
        self._kept: dict[bytes, tuple[float, ConsoleUser]] = {}
        self._roles = {name: Role.of(role) for name, role in settings.roles.items()}
        self._default_role = Role.of(settings.default_role)
        self.oidc = None if settings.oidc is None else OidcLogin(settings.oidc, now, _time_s)

    def principal(self, name: str, role: Role | None = None) -> ConsoleUser:
        """Returns the identity of an authenticated user with the configured role."""
        return ConsoleUser(name, role or self._roles.get(name, self._default_role))

    async def __call__(self, headers: Headers, address: str) -> ConsoleUser | None:
        """Returns the identity of a request without a session cookie; None without one."""
        if self._settings.login == "none":
            return ConsoleUser(LOCAL_USER, Role.ADMIN)
        if self._settings.login == "proxy":
            return self._from_proxy(headers, address)
        if self.oidc is not None:
            return await self._from_bearer(headers, self.oidc)
        return await self._from_basic(headers)

    async def password_login(self, name: str, password: str) -> ConsoleUser | None:
        """Logs in to the cluster; returns None if it rejects the name or the password.

        Raises:
            UnavailableError: The cluster does not respond.
        """
        if await _accepted(login_settings(self._settings.client, name, password)):
            return self.principal(name)
        return None

    def _from_proxy(self, headers: Headers, address: str) -> ConsoleUser | None:
        name = headers.get(self._settings.proxy_header)
        if not name or not _is_trusted(address, self._settings.trusted_proxies):
            return None
        return self.principal(name)

    async def _from_bearer(self, headers: Headers, oidc: OidcLogin) -> ConsoleUser | None:
        scheme, _, token = headers.get("authorization", "").partition(" ")
        if scheme.lower() != "bearer":
            return None
        try:
            return self.principal(await oidc.user_of(token.strip()))
        except BarnabasError:
            return None

    async def _from_basic(self, headers: Headers) -> ConsoleUser | None:
        credentials = _basic(headers.get("authorization"))
        if credentials is None:
            return None
        name, password = credentials
        key = hashlib.blake2b(f"{name}\0{password}".encode(), key=self._salt).digest()
        kept = self._kept.get(key)
        if kept is not None and self._now() - kept[0] <= _KEEP_S:
            return kept[1]
        principal = await self.password_login(name, password)
        if principal is not None:
            if len(self._kept) >= _MAX_KEPT:
                self._kept.clear()
            self._kept[key] = (self._now(), principal)
        return principal


def login_settings(client: Mapping[str, str], name: str, password: str) -> dict[str, str]:
    """Returns the client settings with the credentials of a user who logs in."""
    own = ("sasl.jaas.config", "sasl.username", "sasl.password", "sasl.mechanism")
    settings = {key: value for key, value in client.items() if key not in own}
    protocol = settings.get("security.protocol", "PLAINTEXT")
    settings["security.protocol"] = "SASL_SSL" if protocol.endswith("SSL") else "SASL_PLAINTEXT"
    mechanism = client.get("sasl.mechanism", "")
    settings["sasl.mechanism"] = mechanism if mechanism.startswith("SCRAM") else "SCRAM-SHA-256"
    settings["sasl.username"] = name
    settings["sasl.password"] = password
    return settings


def _time_s() -> float:
    return SystemClock().now_ms() / 1000


async def _accepted(settings: Mapping[str, str]) -> bool:
    async with AsyncAdmin(supported(ADMIN_KEYS, settings)) as admin:
        try:
            await admin.describe_api_versions(timeout=_LOGIN_TIMEOUT_S)
        except UnavailableError:
            raise
        except BarnabasError:
            return False
    return True


def _is_trusted(address: str, proxies: tuple[str, ...]) -> bool:
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return False
    return any(parsed in ipaddress.ip_network(item, strict=False) for item in proxies)


def _basic(header: str | None) -> tuple[str, str] | None:
    scheme, _, value = (header or "").partition(" ")
    if scheme.lower() != "basic":
        return None
    try:
        name, colon, password = base64.b64decode(value, validate=True).decode().partition(":")
    except (binascii.Error, UnicodeDecodeError):
        return None
    return (name, password) if colon and name else None
