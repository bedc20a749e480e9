"""SASL login of a client, without IO: used by the event-loop and the blocking connection.

`log_in` is a generator of requests with their versions. The connection sends each request and
passes in the response. The generator returns the lifetime of the session in milliseconds, 0 for
unlimited. Errors name the mechanism and the user, never a secret.
"""

import base64
import os
from collections.abc import Generator
from dataclasses import dataclass, field
from typing import Any

from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import ConfigError
from barnabas.net.connection_options import Address
from barnabas.net.token_source import TokenSource
from barnabas.net.version_agreement import VersionRanges, choose_version
from barnabas.security.errors import AuthenticationError
from barnabas.security.mechanism import ClientMechanism
from barnabas.security.oauthbearer import NAME as OAUTHBEARER
from barnabas.security.oauthbearer import OAuthBearerClient
from barnabas.security.plain import NAME as PLAIN
from barnabas.security.plain import PlainClient
from barnabas.security.scram_client import ScramClient
from barnabas.security.scram_keys import SCRAM_HASHES
from barnabas.wire.message import Message
from barnabas.wire.messages.sasl_authenticate import SaslAuthenticateRequest
from barnabas.wire.messages.sasl_handshake import SaslHandshakeRequest

MECHANISMS = (PLAIN, *SCRAM_HASHES, OAUTHBEARER)
_HANDSHAKE_VERSION = 1
_NONCE_BYTES = 24


@dataclass(frozen=True, slots=True)
class SaslLogin:
    """Mechanism and credentials of a login."""

    mechanism: str
    user: str
    password: str = field(repr=False)
    tokens: TokenSource | None = None
    """For OAUTHBEARER."""

    def __post_init__(self) -> None:
        if self.mechanism not in MECHANISMS:
            known = ", ".join(MECHANISMS)
            raise ConfigError(f"sasl.mechanism={self.mechanism!r}: must be one of: {known}")
        if (self.mechanism == OAUTHBEARER) is (self.tokens is None):
            raise ConfigError("OAUTHBEARER needs sasl.oauthbearer.token.endpoint.url")
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
        return ScramClient(SCRAM_HASHES[self.mechanism], self.user, self.password, nonce)

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
    answer = yield SaslHandshakeRequest(login.mechanism), _HANDSHAKE_VERSION
    if answer.error_code == ErrorCode.UNSUPPORTED_SASL_MECHANISM:
        offered = ", ".join(answer.mechanisms) or "none"
        raise AuthenticationError(
            f"{address} does not enable SASL mechanism {login.mechanism}, only: {offered}"
        )
    if answer.error_code == ErrorCode.ILLEGAL_SASL_STATE:
        raise AuthenticationError(
            f"{address} is a listener without SASL: set security.protocol to PLAINTEXT or SSL"
        )
    if answer.error_code:
        raise _refused(login, address, answer.error_code, None)
    version = choose_version(SaslAuthenticateRequest, served, address)
    exchange = login.begin()
    token: bytes | None = exchange.first()
    lifetime_ms = 0
    while token is not None:
        answer = yield SaslAuthenticateRequest(token), version
        if answer.error_code:
            raise _refused(login, address, answer.error_code, answer.error_message)
        lifetime_ms = answer.session_lifetime_ms
        try:
            token = exchange.step(answer.auth_bytes)
        except AuthenticationError as error:
            raise AuthenticationError(f"{address} did not prove its identity: {error}") from None
    return lifetime_ms


def _refused(
    login: SaslLogin, address: Address, code: int, message: str | None
) -> AuthenticationError:
    why = message or ErrorCode.of(code).explanation
    return AuthenticationError(
        f"{address} refused {login.mechanism} login of user {login.user!r}: {why}"
    )
