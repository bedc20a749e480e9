"""SASL login of a client, without IO, and the source of its bearer tokens.

`log_in` is a generator of requests with their versions; the event-loop and the blocking connection
use it. The connection sends each request and passes in the response. The generator returns the
lifetime of the session in milliseconds, 0 for unlimited. Errors name the mechanism and the user,
never a secret.
"""

import base64
import json
import os
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import ConfigError, UnavailableError
from barnabas.net.client_protocol import VersionRanges, choose_version
from barnabas.net.connection_options import Address
from barnabas.security.mechanism import AuthenticationError, ClientMechanism
from barnabas.security.oauthbearer import NAME as OAUTHBEARER
from barnabas.security.oauthbearer import OAuthBearerClient
from barnabas.security.plain import NAME as PLAIN
from barnabas.security.plain import PlainClient
from barnabas.security.scram import ScramClient
from barnabas.security.scram_keys import SCRAM_HASHES
from barnabas.wire.message import Message
from barnabas.wire.messages.sasl_authenticate import SaslAuthenticateRequest
from barnabas.wire.messages.sasl_handshake import SaslHandshakeRequest

_KEY = "sasl.oauthbearer.token.endpoint.url"
_TIMEOUT_S = 10.0
_MAX_BYTES = 1024 * 1024
_SHARE_OF_LIFE = 0.8
"""Share of a token's lifetime after which a new token is requested, as in Kafka."""
MECHANISMS = (PLAIN, *SCRAM_HASHES, OAUTHBEARER)
_HANDSHAKE_VERSION = 1
_NONCE_BYTES = 24


@dataclass(frozen=True, slots=True)
class ClientCredentials:
    """Credentials of a client for the token endpoint."""

    client_id: str
    client_secret: str = field(repr=False)
    scope: str | None = None


class TokenSource:
    """Bearer tokens of a client, from a file or an OAuth token endpoint (KIP-768).

    Shared by all connections of a client, from any thread. `get` blocks: connections on a loop
    call it in a thread before they log in.
    """

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

    @classmethod
    def from_config(cls, value: Callable[[str], Any]) -> "TokenSource":
        """Returns the source that the keys `sasl.oauthbearer.*` describe; raises ConfigError."""
        url = value(_KEY)
        if url is None:
            raise ConfigError(f"sasl.mechanism=OAUTHBEARER needs {_KEY}")
        client_id = value("sasl.oauthbearer.client.credentials.client.id")
        secret = value("sasl.oauthbearer.client.credentials.client.secret")
        credentials = None
        if client_id is not None and secret is not None:
            credentials = ClientCredentials(client_id, secret, value("sasl.oauthbearer.scope"))
        return cls(url, credentials)

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
            with urllib.request.urlopen(self._token_request(), timeout=_TIMEOUT_S) as response:
                content = json.loads(response.read(_MAX_BYTES))
            self._token = str(content["access_token"])
            life_s = float(content.get("expires_in", 60))
        except urllib.error.HTTPError as error:
            error.close()  # closes the connection of the response
            if error.code >= 500:
                raise UnavailableError(f"{self._url} returned HTTP status {error.code}") from None
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

    def _token_request(self) -> urllib.request.Request:
        given = self._credentials
        assert given is not None
        form: dict[str, object] = {"grant_type": "client_credentials"}
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


@dataclass(frozen=True, slots=True)
class SaslLogin:
    """Mechanism and credentials of a login."""

    mechanism: str
    user: str
    password: str = field(repr=False)
    tokens: TokenSource | None = None
    """For OAUTHBEARER."""
    by_token: bool = False
    """Whether user and password are a delegation token, for SCRAM."""

    def __post_init__(self) -> None:
        if self.mechanism not in MECHANISMS:
            known = ", ".join(MECHANISMS)
            raise ConfigError(f"sasl.mechanism={self.mechanism!r}: must be one of: {known}")
        if (self.mechanism == OAUTHBEARER) is (self.tokens is None):
            raise ConfigError("OAUTHBEARER needs sasl.oauthbearer.token.endpoint.url")
        if self.by_token and self.mechanism not in SCRAM_HASHES:
            raise ConfigError(f"sasl.jaas.config: tokenauth needs SCRAM, not {self.mechanism}")
        if self.tokens is not None:
            return
        try:
            self.begin()
        except ValueError as error:
            raise ConfigError(f"sasl.username, sasl.password: {error}") from None

    def begin(self) -> ClientMechanism:
        """Starts a new SASL exchange."""
        if self.tokens is not None:
            try:
                return OAuthBearerClient(self.tokens.get())
            except ValueError as error:
                raise AuthenticationError(f"{self.tokens}: {error}") from None
        if self.mechanism == PLAIN:
            return PlainClient(self.user, self.password)
        nonce = base64.b64encode(os.urandom(_NONCE_BYTES)).decode()
        scram = SCRAM_HASHES[self.mechanism]
        return ScramClient(scram, self.user, self.password, nonce, by_token=self.by_token)

    @property
    def needs_prepare(self) -> bool:
        """Whether the mechanism needs a token."""
        return self.tokens is not None

    def prepare(self) -> None:
        """Fetches a token if the mechanism needs one; may block."""
        if self.tokens is not None:
            self.tokens.get()

    def requests(
        self, served: VersionRanges, address: Address
    ) -> Generator[tuple[Message, int], Any, int]:
        """Yields the requests of a login; see `log_in`."""
        return log_in(self, served, address)


def log_in(
    login: SaslLogin, served: VersionRanges, address: Address
) -> Generator[tuple[Message, int], Any, int]:
    """Yields the requests of a login; raises AuthenticationError with the reason of a failure."""
    response = yield SaslHandshakeRequest(login.mechanism), _HANDSHAKE_VERSION
    if response.error_code == ErrorCode.UNSUPPORTED_SASL_MECHANISM:
        offered = ", ".join(response.mechanisms) or "none"
        raise AuthenticationError(
            f"{address} does not enable SASL mechanism {login.mechanism}, only: {offered}"
        )
    if response.error_code == ErrorCode.ILLEGAL_SASL_STATE:
        raise AuthenticationError(
            f"{address} is a listener without SASL: set security.protocol to PLAINTEXT or SSL"
        )
    if response.error_code:
        raise _rejected(login, address, response.error_code, None)
    version = choose_version(SaslAuthenticateRequest, served, address)
    exchange = login.begin()
    token: bytes | None = exchange.first()
    lifetime_ms = 0
    while token is not None:
        response = yield SaslAuthenticateRequest(token), version
        if response.error_code:
            raise _rejected(login, address, response.error_code, response.error_message)
        lifetime_ms = response.session_lifetime_ms
        try:
            token = exchange.step(response.auth_bytes)
        except AuthenticationError as error:
            raise AuthenticationError(f"{address} did not prove its identity: {error}") from None
    return lifetime_ms


def _rejected(
    login: SaslLogin, address: Address, code: int, message: str | None
) -> AuthenticationError:
    why = message or ErrorCode.of(code).explanation
    return AuthenticationError(
        f"{address} rejected {login.mechanism} login of user {login.user!r}: {why}"
    )
