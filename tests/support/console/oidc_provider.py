"""An OpenID Connect provider on this machine: a login page, tokens, and its public key."""

import contextlib
import html
import json
import secrets
from urllib.parse import parse_qsl, urlencode, urlsplit

import jwt
from cryptography.hazmat.primitives.asymmetric import ec
from support.network.local_http import http_server

from barnabas.console.security.oidc import code_challenge
from barnabas.runtime.clock import SystemClock

CLIENT_ID = "console"


class OidcProvider:
    """Logs in the user who presses a button of its page; `refuse` makes it deny the login."""

    def __init__(self):
        self.url = ""
        self.refuse = False
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._codes = {}

    @contextlib.contextmanager
    def served(self):
        with http_server(self._answer) as self.url:
            yield self

    def _answer(self, path, body):
        parts = urlsplit(path)
        query = dict(parse_qsl(parts.query))
        match parts.path:
            case "/.well-known/openid-configuration":
                return 200, {
                    "issuer": self.url,
                    "authorization_endpoint": f"{self.url}/authorize",
                    "token_endpoint": f"{self.url}/token",
                    "jwks_uri": f"{self.url}/keys",
                }
            case "/keys":
                public = json.loads(jwt.algorithms.ECAlgorithm.to_jwk(self._key.public_key()))
                return 200, {"keys": [{**public, "kid": "1", "alg": "ES256"}]}
            case "/authorize":
                return 200, self._login_page(query)
            case "/token":
                return self._token(dict(parse_qsl(body)))
        return 404, "no such page"

    def _login_page(self, query):
        links = []
        for user in ("ada", "bob"):
            code = secrets.token_urlsafe(8)
            self._codes[code] = (user, query)
            back = urlencode({"code": code, "state": query["state"]})
            address = html.escape(f"{query['redirect_uri']}?{back}")
            links.append(f'<a href="{address}">Log in as {user}</a>')
        return f"<!doctype html><title>Provider</title>{' '.join(links)}"

    def _token(self, fields):
        user, query = self._codes.pop(fields["code"])
        if self.refuse or code_challenge(fields["code_verifier"]) != query["code_challenge"]:
            return 400, {"error": "invalid_grant", "error_description": "the code has expired"}
        now = SystemClock().now_ms() // 1000
        claims = {
            "iss": self.url,
            "aud": CLIENT_ID,
            "iat": now,
            "exp": now + 60,
            "nonce": query["nonce"],
            "preferred_username": user,
        }
        return 200, {"id_token": jwt.encode(claims, self._key, "ES256", headers={"kid": "1"})}
