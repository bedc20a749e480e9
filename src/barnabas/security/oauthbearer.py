"""SASL OAUTHBEARER (RFC 7628): a client shows a bearer token, the server has it checked.

Used over TLS only: who reads the token can use it.
"""

from collections.abc import Callable
from dataclasses import dataclass

from barnabas.security.errors import AuthenticationError
from barnabas.security.mechanism import ServerStep

NAME = "OAUTHBEARER"
_SEPARATOR = "\x01"
_SCHEME = "bearer "


@dataclass(frozen=True, slots=True)
class TokenIdentity:
    """The contents of a valid token."""

    user: str
    lifetime_ms: int
    """How much longer it is valid."""


CheckToken = Callable[[str], TokenIdentity]
"""AuthenticationError, without a word of the token, when it is not valid."""


class OAuthBearerServer:
    """One exchange: one token in, an empty answer out."""

    def __init__(self, check: CheckToken) -> None:
        self._check = check
        self._used = False

    def step(self, token: bytes) -> ServerStep:
        if self._used:
            raise AuthenticationError("an OAUTHBEARER token after the end of the exchange")
        self._used = True
        authzid, bearer = parse_client_message(token)
        identity = self._check(bearer)
        if authzid and authzid != identity.user:
            raise AuthenticationError("an OAUTHBEARER message that asks to act for another user")
        return ServerStep(b"", identity.user, identity.lifetime_ms)


class OAuthBearerClient:
    """The client's side."""

    name = NAME

    def __init__(self, token: str) -> None:
        if not token or any(ord(character) <= ord(" ") for character in token):
            raise ValueError("the bearer token is empty or contains blanks")
        self._token = token

    def first(self) -> bytes:
        return f"n,,{_SEPARATOR}auth=Bearer {self._token}{_SEPARATOR}{_SEPARATOR}".encode()

    def step(self, token: bytes) -> bytes | None:
        if token:
            raise AuthenticationError("the broker refused the bearer token")
        return None


def parse_client_message(message: bytes) -> tuple[str, str]:
    """The authorization id, or "", and the bearer token."""
    try:
        header, *pairs = message.decode().split(_SEPARATOR)
    except UnicodeDecodeError:
        raise AuthenticationError("an OAUTHBEARER message that is not UTF-8") from None
    flag, _, rest = header.partition(",")
    authzid, comma, excess = rest.partition(",")
    if flag != "n" or not comma or excess or pairs[-2:] != ["", ""]:
        raise AuthenticationError("a malformed OAUTHBEARER message")
    values = dict(pair.partition("=")[::2] for pair in pairs[:-2])
    scheme = values.get("auth", "")
    if scheme[: len(_SCHEME)].lower() != _SCHEME:
        raise AuthenticationError("an OAUTHBEARER message without a bearer token")
    return authzid.removeprefix("a="), scheme[len(_SCHEME) :].strip()
