"""SASL OAUTHBEARER (RFC 7628): the client sends a bearer token, which the server verifies.

Tokens are JSON Web Tokens, verified against a set of public keys (JWKS, KIP-768). Only asymmetric
signatures are accepted: with symmetric ones, or none, any client could sign. The mechanism needs
TLS, because any reader of a token can use it.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from barnabas.security.mechanism import AuthenticationError, ServerStep

NAME = "OAUTHBEARER"
_SEPARATOR = "\x01"
_SCHEME = "bearer "


@dataclass(frozen=True, slots=True)
class TokenIdentity:
    """User and remaining lifetime of a valid token."""

    user: str
    lifetime_ms: int
    """Remaining lifetime."""


CheckToken = Callable[[str], TokenIdentity]
"""Verifies a token; raises AuthenticationError, without its content, if it is not valid."""


class OAuthBearerServer:
    """Server side of one exchange: one token, one empty response."""

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
            raise AuthenticationError("an OAUTHBEARER message with another authorization id")
        return ServerStep(b"", identity.user, identity.lifetime_ms)


class OAuthBearerClient:
    """Client side of one exchange."""

    name = NAME

    def __init__(self, token: str) -> None:
        if not token or any(ord(character) <= ord(" ") for character in token):
            raise ValueError("the bearer token is empty or contains blanks")
        self._token = token

    def first(self) -> bytes:
        return f"n,,{_SEPARATOR}auth=Bearer {self._token}{_SEPARATOR}{_SEPARATOR}".encode()

    def step(self, token: bytes) -> bytes | None:
        if token:
            raise AuthenticationError("the broker rejected the bearer token")
        return None


def parse_client_message(message: bytes) -> tuple[str, str]:
    """Returns the authorization id, or "", and the bearer token."""
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


# --- JSON Web Tokens -----------------------------------------------------------------------------


ALGORITHMS = (
    *("RS256", "RS384", "RS512", "PS256", "PS384", "PS512"),
    *("ES256", "ES384", "ES512", "EdDSA"),
)

Keys = Mapping[str | None, Any]
"""PyJWT's keys by key id; the only key of a set may have no id."""


@dataclass(frozen=True, slots=True)
class JwtRules:
    """Required claims of a token; None: not required."""

    issuer: str | None = None
    audiences: tuple[str, ...] = ()
    user_claim: str = "sub"
    clock_skew_s: int = 30


class JwtChecker:
    """A `CheckToken`. `keys` returns the current key set, `now_s` the wall-clock time."""

    def __init__(
        self, rules: JwtRules, keys: Callable[[str | None], Keys], now_s: Callable[[], float]
    ) -> None:
        self._rules = rules
        self._keys = keys
        self._now_s = now_s

    def __call__(self, token: str) -> TokenIdentity:
        claims = self._verified(token)
        now_s, skew_s = self._now_s(), self._rules.clock_skew_s
        expires_s = _number(claims, "exp")
        if expires_s is None or expires_s + skew_s <= now_s:
            raise AuthenticationError("a bearer token that has expired or never expires")
        for name in ("nbf", "iat"):
            if (_number(claims, name) or 0) - skew_s > now_s:
                raise AuthenticationError(f"a bearer token whose {name} is in the future")
        self._check_issue(claims)
        user = claims.get(self._rules.user_claim)
        if not isinstance(user, str) or not user.strip():
            raise AuthenticationError(f"a bearer token without {self._rules.user_claim}")
        return TokenIdentity(user, max(int((expires_s - now_s) * 1000), 1))

    def _verified(self, token: str) -> Mapping[str, object]:
        jwt = _jwt()
        try:
            key_id = jwt.get_unverified_header(token).get("kid")
            keys = self._keys(key_id)
            key = keys.get(key_id) or (next(iter(keys.values())) if len(keys) == 1 else None)
            if key is None or (key_id is not None and key_id not in keys):
                raise AuthenticationError("a bearer token signed with an unknown key")
            options: Any = dict.fromkeys(
                ("verify_exp", "verify_nbf", "verify_iat", "verify_aud", "verify_iss"), False
            )
            claims = jwt.decode(token, key, algorithms=list(ALGORITHMS), options=options)
        except jwt.PyJWTError as error:
            # Its text may quote the token's content.
            text = f"a bearer token that is not valid ({type(error).__name__})"
            raise AuthenticationError(text) from None
        return dict(claims)

    def _check_issue(self, claims: Mapping[str, object]) -> None:
        rules = self._rules
        if rules.issuer is not None and claims.get("iss") != rules.issuer:
            raise AuthenticationError("a bearer token of another issuer")
        named = claims.get("aud", [])
        audiences = named if isinstance(named, list) else [named]
        if rules.audiences and not any(audience in rules.audiences for audience in audiences):
            raise AuthenticationError("a bearer token for another audience")


def _jwt() -> Any:
    import jwt  # optional extra

    return jwt


def parse_key_set(text: str) -> Keys:
    """Parses a JWKS document; raises ValueError if it contains no usable key."""
    jwt = _jwt()
    try:
        return {key.key_id: key for key in jwt.PyJWKSet.from_json(text).keys}
    except (jwt.PyJWTError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"not a JSON Web Key Set: {type(error).__name__}") from None


def _number(claims: Mapping[str, object], name: str) -> float | None:
    value = claims.get(name)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise AuthenticationError(f"a bearer token whose {name} is not a number")
    return float(value)
