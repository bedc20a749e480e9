"""SASL PLAIN (RFC 4616): one token, `authzid NUL user NUL password`.

The password is not encrypted: listeners without TLS warn when they enable this mechanism.
"""

import hmac
from collections.abc import Callable, Mapping

from barnabas.security.mechanism import AuthenticationError, ServerStep

NAME = "PLAIN"
PasswordCheck = Callable[[str, str], bool]
"""Whether the user has this password; takes the same time for unknown users."""


def check_against(users: Mapping[str, str]) -> PasswordCheck:
    """Returns a check against passwords in memory, in constant time (CVE-2021-38153)."""

    def check(user: str, password: str) -> bool:
        known = users.get(user)
        same = hmac.compare_digest(password.encode(), (known or "").encode())
        return same and known is not None

    return check


class PlainServer:
    """Server side of one exchange: exactly one token."""

    __slots__ = ("_check",)

    def __init__(self, check: PasswordCheck) -> None:
        self._check = check

    def step(self, token: bytes) -> ServerStep:
        try:
            authzid, user, password = token.decode("utf-8").split("\0")
        except ValueError:
            raise AuthenticationError("a PLAIN token that is not three fields of UTF-8") from None
        if not user or not password:
            raise AuthenticationError("a PLAIN token without user name or password")
        if not self._check(user, password):
            raise AuthenticationError("wrong user name or password")
        # Another authorization id would be an impersonation (CVE-2017-12610).
        if authzid and authzid != user:
            raise AuthenticationError("a PLAIN token with another authorization id")
        return ServerStep(b"", user)


class PlainClient:
    """Client side: sends one token; every response except an error means success."""

    __slots__ = ("_password", "_user", "name")

    def __init__(self, user: str, password: str) -> None:
        if "\0" in user or "\0" in password or not user or not password:
            raise ValueError("PLAIN needs a user name and a password without NUL characters")
        self.name = NAME
        self._user = user
        self._password = password

    def first(self) -> bytes:
        return f"\0{self._user}\0{self._password}".encode()

    def step(self, token: bytes) -> bytes | None:
        if token:
            raise AuthenticationError("the server sent an unexpected token after PLAIN")
        return None
