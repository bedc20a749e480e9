"""Roles, the identity of a user, and sessions of users who have logged in.

Sessions are in memory: a restart of the console ends them. The cookie has a random token only. A
session ends after eight hours, or one hour without a request.
"""

import enum
import hmac
import secrets
from collections.abc import Callable
from dataclasses import dataclass

from barnabas.model.errors import ConfigError

COOKIE = "barnabas_console"
_LIFETIME_S = 8 * 3600.0
_IDLE_S = 3600.0
_MAX_SESSIONS = 10_000


class Role(enum.IntEnum):
    """READ looks, OPERATE works with records, groups and topics, ADMIN changes the cluster."""

    READ = 1
    OPERATE = 2
    ADMIN = 3

    @classmethod
    def of(cls, text: str) -> "Role":
        """Returns the role of a name in any case; ConfigError for an unknown one."""
        try:
            return cls[text.upper()]
        except KeyError:
            names = ", ".join(role.name.lower() for role in cls)
            raise ConfigError(f"role {text!r} is unknown; roles are {names}") from None


@dataclass(frozen=True, slots=True)
class ConsoleUser:
    """A user of the console with the role that applies to this request."""

    name: str
    role: Role

    def may(self, role: Role) -> bool:
        return self.role >= role


@dataclass(slots=True)
class Session:
    principal: ConsoleUser
    csrf_token: str
    started_s: float
    used_s: float


class SessionStore:
    """Creates, finds and ends sessions; `now` returns monotonic seconds."""

    def __init__(self, now: Callable[[], float]) -> None:
        self._now = now
        self._sessions: dict[str, Session] = {}

    def create(self, principal: ConsoleUser) -> str:
        """Starts a session and returns its token for the cookie."""
        self._remove_expired()
        if len(self._sessions) >= _MAX_SESSIONS:
            del self._sessions[min(self._sessions, key=lambda key: self._sessions[key].used_s)]
        token = secrets.token_urlsafe(32)
        now = self._now()
        self._sessions[token] = Session(principal, secrets.token_urlsafe(32), now, now)
        return token

    def find(self, token: str | None) -> Session | None:
        session = self._sessions.get(token or "")
        if session is None or self._expired(session):
            return None
        session.used_s = self._now()
        return session

    def end(self, token: str | None) -> None:
        self._sessions.pop(token or "", None)

    def _expired(self, session: Session) -> bool:
        now = self._now()
        return now - session.started_s > _LIFETIME_S or now - session.used_s > _IDLE_S

    def _remove_expired(self) -> None:
        for token in [key for key, item in self._sessions.items() if self._expired(item)]:
            del self._sessions[token]


def same_token(expected: str, given: str | None) -> bool:
    """Compares in constant time."""
    return hmac.compare_digest(expected.encode(), (given or "").encode())
