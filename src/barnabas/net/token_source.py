"""Reads a client's bearer tokens from a file or an OAuth token endpoint (KIP-768).

Blocking; connections on a loop call `get` in a thread before they log in.
"""

import base64
import json
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from barnabas.model.errors import ConfigError, UnavailableError
from barnabas.security.errors import AuthenticationError

_KEY = "sasl.oauthbearer.token.endpoint.url"
_TIMEOUT_S = 10.0
_MAX_BYTES = 1024 * 1024
_SHARE_OF_LIFE = 0.8
"""Share of a token's lifetime after which a new token is requested, as in Kafka."""


@dataclass(frozen=True, slots=True)
class ClientCredentials:
    """Credentials of a client for the token endpoint."""

    client_id: str
    client_secret: str = field(repr=False)
    scope: str | None = None


class TokenSource:
    """Shared by all connections of a client, from any thread."""

    def __init__(self, url: str, credentials: ClientCredentials | None = None) -> None:
        """Raises ConfigError for invalid settings."""
        parts = urllib.parse.urlsplit(url)
        if parts.scheme not in ("file", "http", "https"):
            raise ConfigError(f"{_KEY}={url!r}: must begin with file:, http: or https:")
        if parts.scheme != "file" and credentials is None:
            raise ConfigError(f"{_KEY}: needs sasl.oauthbearer.client.credentials.client.id/secret")
        self._url = url
        self._file = parts.scheme == "file"
        self._credentials = credentials
        self._lock = threading.Lock()
        self._token = ""
        self._refresh_s = 0.0

    def __repr__(self) -> str:
        return f"TokenSource({self._url!r})"

    def get(self) -> str:
        """Returns a valid token; raises AuthenticationError or UnavailableError."""
        if self._file:
            return self._read()
        with self._lock:
            if not self._token or time.monotonic() >= self._refresh_s:
                self._request()
            return self._token

    def _read(self) -> str:
        path = Path(urllib.parse.unquote(urllib.parse.urlsplit(self._url).path))
        try:
            return path.read_text(encoding="utf-8").strip()
        except (OSError, UnicodeDecodeError) as error:
            raise AuthenticationError(f"{_KEY}: {path}: {error}") from None

    def _request(self) -> None:
        try:
            with urllib.request.urlopen(self._ask(), timeout=_TIMEOUT_S) as answer:
                content = json.loads(answer.read(_MAX_BYTES))
            self._token = str(content["access_token"])
            life_s = float(content.get("expires_in", 60))
        except urllib.error.HTTPError as error:
            if error.code >= 500:
                raise UnavailableError(f"{self._url} answers {error.code}") from None
            text = f"{self._url} rejected client {self._client_id!r}: HTTP {error.code}"
            raise AuthenticationError(text) from None
        except OSError as error:
            raise UnavailableError(f"{self._url} cannot be reached: {error}") from None
        except (ValueError, KeyError, TypeError, AttributeError):
            raise AuthenticationError(f"{self._url} returned no token") from None
        self._refresh_s = time.monotonic() + life_s * _SHARE_OF_LIFE

    @property
    def _client_id(self) -> str:
        assert self._credentials is not None
        return self._credentials.client_id

    def _ask(self) -> urllib.request.Request:
        given = self._credentials
        assert given is not None
        form: dict[str, Any] = {"grant_type": "client_credentials"}
        if given.scope:
            form["scope"] = given.scope
        pair = f"{given.client_id}:{given.client_secret}".encode()
        return urllib.request.Request(
            self._url,
            data=urllib.parse.urlencode(form).encode(),
            headers={
                "Authorization": f"Basic {base64.b64encode(pair).decode()}",
                "Accept": "application/json",
            },
        )
