"""Authentication of one connection: the order of requests and their responses.

Drives SaslHandshake and SaslAuthenticate (KIP-43, KIP-152) and re-authentication (KIP-368) around
the mechanisms. It does not decode requests and gets the time from its caller.

state             SaslHandshake              SaslAuthenticate    other requests
NEW               chooses a mechanism        34, close           close (ApiVersions is served)
CHOSEN            34, close                  one step            close (ApiVersions is served)
AUTHENTICATED     begins to authenticate     34, close           served until the session expires
                  again
AGAIN             34, close                  one step            close
FAILED            close                      close               close

Every failure has the same response and closes the connection after a delay; the log has the reason.
"""

import enum
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from barnabas.model.error_codes import ErrorCode
from barnabas.security.mechanism import AuthenticationError, ServerMechanism
from barnabas.security.principal import USER, Principal

FAILURE_TEXT = "Authentication failed: invalid credentials"
# Kafka's limit (KIP-368): a client must not occupy the broker with logins.
MIN_REAUTHENTICATION_MS = 1_000
# Before authentication a peer is not trusted with more memory.
MAX_TOKEN_BYTES = 64 * 1024

MechanismFactory = Callable[[], ServerMechanism]


class SaslState(enum.Enum):
    """State of a connection; see the table above."""

    NEW = enum.auto()
    CHOSEN = enum.auto()
    AUTHENTICATED = enum.auto()
    AGAIN = enum.auto()
    FAILED = enum.auto()


@dataclass(frozen=True, slots=True)
class SaslConfig:
    """Settings of a listener."""

    failure_delay_ms: int = 100
    max_session_ms: int = 0
    """`connections.max.reauth.ms`; 0: unlimited."""


@dataclass(frozen=True, slots=True)
class HandshakeReply:
    error: ErrorCode
    mechanisms: tuple[str, ...]
    close_after_ms: int | None = None
    """None: the connection stays open. Otherwise it is closed after this delay."""
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class AuthenticateReply:
    error: ErrorCode
    token: bytes = b""
    message: str | None = None
    session_lifetime_ms: int = 0
    principal: Principal | None = None
    """Set by the step that authenticates the connection."""
    close_after_ms: int | None = None
    reason: str | None = None
    """For the log, not for the response."""


class SaslServer:
    """Authenticates one connection: the state machine of the SASL requests.

    Owned by the connection's loop.

    `mechanisms` are those that the listener enables; each call of a factory starts a new exchange.
    """

    def __init__(
        self, mechanisms: Mapping[str, MechanismFactory], config: SaslConfig | None = None
    ) -> None:
        self._mechanisms = mechanisms
        self._config = config or SaslConfig()
        self._exchange: ServerMechanism | None = None
        self._mechanism: str | None = None
        self._authenticated_ms = 0
        self._lifetime_ms = 0
        self.state = SaslState.NEW
        self.principal: Principal | None = None
        self.raw_tokens = False
        """After SaslHandshake v0 each frame is a token, without SaslAuthenticate."""

    def may_serve(self, now_ms: int, *, is_api_versions: bool = False) -> bool:
        """Whether a request that is not part of SASL may be served; if not, it must be rejected."""
        if self.state is SaslState.AUTHENTICATED:
            return not self._expired(now_ms)
        return is_api_versions and self.state in (SaslState.NEW, SaslState.CHOSEN)

    def handshake(self, mechanism: str, version: int, now_ms: int) -> HandshakeReply:
        enabled = tuple(sorted(self._mechanisms))
        if self.state not in (SaslState.NEW, SaslState.AUTHENTICATED):
            self.state = SaslState.FAILED
            return HandshakeReply(
                ErrorCode.ILLEGAL_SASL_STATE, enabled, 0, "unexpected SaslHandshake"
            )
        if mechanism not in self._mechanisms:
            return self._reject(ErrorCode.UNSUPPORTED_SASL_MECHANISM, "mechanism not enabled")
        if self.state is SaslState.AUTHENTICATED:
            problem = self._reauthentication_problem(mechanism, now_ms)
            if problem is not None:
                return self._reject(ErrorCode.SASL_AUTHENTICATION_FAILED, problem)
        again = self.state is SaslState.AUTHENTICATED
        self.state = SaslState.AGAIN if again else SaslState.CHOSEN
        self.raw_tokens = version == 0
        self._mechanism = mechanism
        self._exchange = self._mechanisms[mechanism]()
        return HandshakeReply(ErrorCode.NONE, enabled)

    def authenticate(self, token: bytes, now_ms: int) -> AuthenticateReply:
        if self._exchange is None or self.state not in (SaslState.CHOSEN, SaslState.AGAIN):
            self.state = SaslState.FAILED
            return AuthenticateReply(
                ErrorCode.ILLEGAL_SASL_STATE, close_after_ms=0, reason="unexpected SASL token"
            )
        try:
            return self._advance(self._exchange, token, now_ms)
        except AuthenticationError as error:
            self.state, self._exchange = SaslState.FAILED, None
            return AuthenticateReply(
                ErrorCode.SASL_AUTHENTICATION_FAILED,
                message=FAILURE_TEXT,
                close_after_ms=self._config.failure_delay_ms,
                reason=str(error),
            )

    def _advance(self, exchange: ServerMechanism, token: bytes, now_ms: int) -> AuthenticateReply:
        if len(token) > MAX_TOKEN_BYTES:
            raise AuthenticationError("a SASL token that is too long")
        step = exchange.step(token)
        if step.user is None:
            return AuthenticateReply(ErrorCode.NONE, step.token)
        principal = Principal(USER, step.user, step.by_token)
        if self.principal is not None and principal != self.principal:
            raise AuthenticationError("another principal than before")
        self.state, self._exchange = SaslState.AUTHENTICATED, None
        self.principal, self._authenticated_ms = principal, now_ms
        limits = [limit for limit in (self._config.max_session_ms, step.lifetime_ms) if limit > 0]
        self._lifetime_ms = min(limits, default=0)
        return AuthenticateReply(
            ErrorCode.NONE,
            step.token,
            session_lifetime_ms=self._lifetime_ms,
            principal=principal,
        )

    def _reject(self, error: ErrorCode, reason: str) -> HandshakeReply:
        self.state = SaslState.FAILED
        delay_ms = self._config.failure_delay_ms
        return HandshakeReply(error, tuple(sorted(self._mechanisms)), delay_ms, reason)

    def _reauthentication_problem(self, mechanism: str, now_ms: int) -> str | None:
        if mechanism != self._mechanism:
            return "another mechanism than before"
        if now_ms - self._authenticated_ms < MIN_REAUTHENTICATION_MS:
            return "authenticated again too soon"
        return None

    def _expired(self, now_ms: int) -> bool:
        return 0 < self._lifetime_ms < now_ms - self._authenticated_ms
