"""Login with OpenID Connect: the authorization code flow with PKCE (RFC 7636).

The browser is sent to the provider and comes back with a code; the console exchanges the code for
an ID token, whose signature, issuer, audience, expiry and nonce are checked. Programs send an ID
token of the same client as `Authorization: Bearer`. The endpoints and the public keys are read from
the provider at the first login, the keys again when a token names an unknown one.
"""

import base64
import hashlib
import hmac
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode, urlsplit

import httpx

from barnabas.console.settings import OidcSettings, is_loopback
from barnabas.model.errors import BarnabasError, ConfigError, UnavailableError
from barnabas.model.lazy_exports import missing_package
from barnabas.security.mechanism import AuthenticationError
from barnabas.security.oauthbearer import JwtChecker, JwtRules, Keys, parse_key_set

_TIMEOUT_S = 10.0
_PENDING_S = 600.0
_MAX_PENDING = 1000
_KEYS_EVERY_S = 10.0


class LoginFailedError(BarnabasError):
    """The provider did not confirm the user; the text is for the user."""


@dataclass(frozen=True, slots=True)
class Pending:
    """A login that the browser has started."""

    started_s: float
    verifier: str
    nonce: str
    target: str
    redirect_uri: str


class OidcLogin:
    """The client of one provider.

    Args:
        now: Monotonic seconds.
        time_s: Seconds of the wall clock.
        make_client: Returns an HTTP client; tests replace it.
    """

    def __init__(
        self,
        settings: OidcSettings,
        now: Callable[[], float],
        time_s: Callable[[], float],
        make_client: Callable[[], httpx.AsyncClient] = lambda: httpx.AsyncClient(
            timeout=_TIMEOUT_S
        ),
    ) -> None:
        check_issuer(settings.issuer)
        try:
            _jwt()  # the error names the extra at the start
        except ModuleNotFoundError as error:
            raise missing_package(error) or error from None
        self._settings = settings
        self._now = now
        self._time_s = time_s
        self._make_client = make_client
        self._pending: dict[str, Pending] = {}
        self._endpoints: dict[str, Any] = {}
        self._keys: Keys = {}
        self._keys_read_s = -_KEYS_EVERY_S

    async def start(self, target: str, redirect_uri: str) -> tuple[str, str]:
        """Returns the address of the provider's login page, and the state for a cookie."""
        endpoints = await self._discover()
        self._forget_old()
        state, nonce, verifier = (secrets.token_urlsafe(32) for _ in range(3))
        self._pending[state] = Pending(self._now(), verifier, nonce, target, redirect_uri)
        query = urlencode(
            {
                "response_type": "code",
                "client_id": self._settings.client_id,
                "redirect_uri": redirect_uri,
                "scope": self._settings.scope,
                "state": state,
                "nonce": nonce,
                "code_challenge": code_challenge(verifier),
                "code_challenge_method": "S256",
            }
        )
        address = endpoints["authorization_endpoint"]
        return f"{address}{'&' if '?' in address else '?'}{query}", state

    async def finish(self, state: str, cookie: str | None, code: str) -> tuple[str, str]:
        """Returns the user's name and the page that was wanted.

        Raises:
            LoginFailedError: The login was not started by this browser, is too old, or the
                provider or its token is not accepted.
        """
        pending = self._pending.pop(state, None)
        if pending is None or self._now() - pending.started_s > _PENDING_S:
            raise LoginFailedError("the login took too long or was used before; log in again")
        if cookie is None or not hmac.compare_digest(cookie, state):
            raise LoginFailedError("the login was started in another browser")
        token = await self._exchange(code, pending)
        name = await self.user_of(token)
        if not hmac.compare_digest(_nonce_of(token), pending.nonce):
            raise LoginFailedError("the token belongs to another login")
        return name, pending.target

    async def user_of(self, token: str) -> str:
        """Returns the user that an ID token names; LoginFailedError if it is not valid."""
        await self._discover()
        await self._read_keys(_key_id_of(token))
        settings = self._settings
        rules = JwtRules(settings.issuer, (settings.client_id,), settings.user_claim)
        try:
            return JwtChecker(rules, lambda _: self._keys, self._time_s)(token).user
        except AuthenticationError as error:
            raise LoginFailedError(f"the provider sent {error}") from None

    async def _exchange(self, code: str, pending: Pending) -> str:
        settings = self._settings
        fields = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": pending.redirect_uri,
            "client_id": settings.client_id,
            "code_verifier": pending.verifier,
        }
        if settings.client_secret is not None:
            fields["client_secret"] = settings.client_secret
        body = await self._request("POST", (await self._discover())["token_endpoint"], fields)
        token = body.get("id_token")
        if not isinstance(token, str):
            reason = body.get("error_description") or body.get("error") or "no id_token"
            raise LoginFailedError(f"the provider rejected the login: {reason}")
        return token

    async def _discover(self) -> dict[str, Any]:
        if not self._endpoints:
            issuer = self._settings.issuer
            address = f"{issuer.rstrip('/')}/.well-known/openid-configuration"
            found = await self._request("GET", address)
            needed = ("issuer", "authorization_endpoint", "token_endpoint", "jwks_uri")
            missing = [name for name in needed if not isinstance(found.get(name), str)]
            if missing:
                raise LoginFailedError(f"{address} has no {missing[0]}")
            if found["issuer"] != issuer:
                raise LoginFailedError(f"{address} names the issuer {found['issuer']}")
            self._endpoints = found
        return self._endpoints

    async def _read_keys(self, key_id: str | None) -> None:
        known = bool(self._keys) and (key_id is None or key_id in self._keys)
        if known or self._now() - self._keys_read_s < _KEYS_EVERY_S:
            return
        self._keys_read_s = self._now()
        async with self._make_client() as client:
            try:
                response = await client.get(self._endpoints["jwks_uri"])
                self._keys = parse_key_set(response.text)
            except (httpx.HTTPError, ValueError) as error:
                raise UnavailableError(f"the keys of the provider: {error}") from error

    async def _request(
        self, method: str, address: str, fields: dict[str, str] | None = None
    ) -> dict[str, Any]:
        async with self._make_client() as client:
            try:
                response = await client.request(method, address, data=fields)
                body = response.json()
            except (httpx.HTTPError, ValueError) as error:
                raise UnavailableError(
                    f"{address}: {str(error) or type(error).__name__}"
                ) from error
        return body if isinstance(body, dict) else {}

    def _forget_old(self) -> None:
        limit = self._now() - _PENDING_S
        kept = [(key, item) for key, item in self._pending.items() if item.started_s > limit]
        self._pending = dict(kept[-_MAX_PENDING:])


def code_challenge(verifier: str) -> str:
    """Returns the challenge of a verifier, as in appendix B of RFC 7636.

    >>> code_challenge("dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk")
    'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM'
    """
    digest = hashlib.sha256(verifier.encode()).digest()
    return base64.urlsafe_b64encode(digest).rstrip(b"=").decode()


def check_issuer(issuer: str) -> None:
    """Raises ConfigError for an issuer that is not reached through TLS."""
    parts = urlsplit(issuer)
    local = parts.scheme == "http" and is_loopback(parts.hostname or "")
    if not (parts.scheme == "https" or local) or not parts.hostname:
        raise ConfigError(f"--oidc-issuer {issuer}: must begin with https://")


def _jwt() -> Any:
    import jwt  # optional extra

    return jwt


def _key_id_of(token: str) -> str | None:
    jwt = _jwt()
    try:
        found = jwt.get_unverified_header(token).get("kid")
    except jwt.PyJWTError:
        raise LoginFailedError("the token is not a JSON Web Token") from None
    return found if isinstance(found, str) else None


def _nonce_of(token: str) -> str:
    """Returns the nonce of a token whose signature was checked before."""
    return str(_jwt().decode(token, options={"verify_signature": False}).get("nonce", ""))
