"""An OAuth issuer for tests: keys, tokens, a JWKS, and a token endpoint on this machine."""

import contextlib
import json
from http.server import BaseHTTPRequestHandler

import jwt
from cryptography.hazmat.primitives.asymmetric import rsa
from jwt.algorithms import RSAAlgorithm
from support.network.local_http import serving

from barnabas.runtime.clock import SystemClock

ISSUER, AUDIENCE = "https://issuer.example", "kafka"


class Issuer:
    """Signs with one key at a time; `rotate` makes another."""

    def __init__(self):
        self.keys = {}
        self.rotate()
        self.requests = []

    def rotate(self):
        self.key_id = f"key-{len(self.keys) + 1}"
        self.keys[self.key_id] = rsa.generate_private_key(public_exponent=65537, key_size=2048)

    def key_set(self):
        public = [
            {**json.loads(RSAAlgorithm.to_jwk(key.public_key())), "kid": key_id, "alg": "RS256"}
            for key_id, key in self.keys.items()
        ]
        return json.dumps({"keys": public})

    def token(self, user="ann", *, algorithm="RS256", key=None, headers=None, **claims):
        now = SystemClock().now_ms() // 1000
        content = {"sub": user, "iss": ISSUER, "aud": AUDIENCE, "iat": now, "exp": now + 300}
        content = {k: v for k, v in {**content, **claims}.items() if v is not None}
        signing = self.keys[self.key_id] if key is None else key
        named = {"kid": self.key_id} if headers is None else headers
        return jwt.encode(content, signing, algorithm, headers=named)

    @contextlib.contextmanager
    def served(self):
        """The base URL of a server with /jwks and /token."""
        issuer = self

        class Pages(BaseHTTPRequestHandler):
            def do_GET(self):
                self._answer(200, issuer.key_set())

            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"])).decode()
                issuer.requests.append((self.headers["Authorization"], body))
                allowed = self.headers["Authorization"] == "Basic YW5uOmFubi1zZWNyZXQ="
                content = {"access_token": issuer.token(), "expires_in": 300}
                self._answer(200 if allowed else 401, json.dumps(content if allowed else {}))

            def _answer(self, code, text):
                self.send_response(code)
                self.send_header("Content-Type", "application/json")
                self.end_headers()
                self.wfile.write(text.encode())

            def log_message(self, *args):
                pass

        with serving(Pages) as url:
            yield url
