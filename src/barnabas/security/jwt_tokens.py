"""Checks JSON Web Tokens against a set of public keys (JWKS), as KIP-768 has it.

Only asymmetric signatures are accepted: a symmetric one, or none, would let any client sign.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from barnabas.security.errors import AuthenticationError
from barnabas.security.oauthbearer import TokenIdentity

ALGORITHMS = (
    *("RS256", "RS384", "RS512", "PS256", "PS384", "PS512"),
    *("ES256", "ES384", "ES512", "EdDSA"),
)

Keys = Mapping[str | None, Any]
"""PyJWT's keys by key id; None is the id of a set's only key."""


@dataclass(frozen=True, slots=True)
class JwtRules:
    """The required claims of a token; None means no requirement."""

    issuer: str | None = None
    audiences: tuple[str, ...] = ()
    user_claim: str = "sub"
    clock_skew_s: int = 30


class JwtChecker:
    """Callable as `oauthbearer.CheckToken`. `keys` gives the set in force, `now_s` wall time."""

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

    def _verified(self, token: str) -> Mapping[str, Any]:
        import jwt  # optional extra

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

    def _check_issue(self, claims: Mapping[str, Any]) -> None:
        rules = self._rules
        if rules.issuer is not None and claims.get("iss") != rules.issuer:
            raise AuthenticationError("a bearer token of another issuer")
        named = claims.get("aud", [])
        audiences = [named] if isinstance(named, str) else named
        if rules.audiences and not set(rules.audiences).intersection(audiences):
            raise AuthenticationError("a bearer token for another audience")


def parse_key_set(text: str) -> Keys:
    """Read a JWKS document; ValueError when it holds no usable key."""
    import jwt  # optional extra

    try:
        return {key.key_id: key for key in jwt.PyJWKSet.from_json(text).keys}
    except (jwt.PyJWTError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"not a JSON Web Key Set: {type(error).__name__}") from None


def _number(claims: Mapping[str, Any], name: str) -> float | None:
    value = claims.get(name)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise AuthenticationError(f"a bearer token whose {name} is not a number")
    return float(value)
