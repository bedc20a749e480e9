"""Quotas: limits of entities, the limit that applies to a client, and measured rates.

Limits are set for entities (KIP-55, KIP-546). For a user and a client id the first entity of this
list that has a limit applies, and all clients of that entity share one rate:

users/U/clients/C · users/U/clients/<default> · users/U · users/<default>/clients/C ·
users/<default>/clients/<default> · users/<default> · clients/C · clients/<default>

A rate is measured over `samples` windows. A client that exceeds it is throttled for
`(rate - limit) / limit * measured time` (KIP-13). Created and deleted partitions are taken from a
token bucket instead, so that one large request does not throttle for several windows (KIP-599).
"""

from collections import deque
from collections.abc import Mapping
from ipaddress import ip_address
from typing import NamedTuple

DEFAULT = None
"""Name of the default entity: every user, client id or address without a limit of its own."""

PRODUCER_BYTE_RATE = "producer_byte_rate"
CONSUMER_BYTE_RATE = "consumer_byte_rate"
MUTATION_RATE = "controller_mutation_rate"
REQUEST_PERCENTAGE = "request_percentage"
CONNECTION_RATE = "connection_creation_rate"
CLIENT_QUOTAS = frozenset(
    {PRODUCER_BYTE_RATE, CONSUMER_BYTE_RATE, MUTATION_RATE, REQUEST_PERCENTAGE}
)
IP_QUOTAS = frozenset({CONNECTION_RATE})
_UPPER_BOUNDS = {PRODUCER_BYTE_RATE: 2**63, CONSUMER_BYTE_RATE: 2**63, CONNECTION_RATE: 2**31}
WHOLE_NUMBERS = frozenset(_UPPER_BOUNDS)

USER, CLIENT_ID, IP = "user", "client-id", "ip"

Entity = frozenset[tuple[str, str | None]]
"""Kinds and names, such as `{("user", "alice"), ("client-id", None)}`."""
Share = tuple[str, str]
"""The clients that share a rate: user and client id, each empty if it does not matter."""


class Limit(NamedTuple):
    """A limit that applies, and the clients that share it."""

    value: float
    share: Share


def entity_problem(entity: Mapping[str, str | None]) -> str | None:
    """Returns why this is not a valid entity of quotas, or None."""
    if not entity:
        return "an entity has at least one part"
    unknown = set(entity) - {USER, CLIENT_ID, IP}
    if unknown:
        return "an entity is a user, a client-id, both, or an ip"
    if IP in entity and len(entity) > 1:
        return "an ip cannot be combined with a user or a client-id"
    if any(name == "" for name in entity.values()):
        return "a name is empty"
    address = entity.get(IP)
    return None if address is None or _is_address(address) else f"{address} is no ip address"


def _is_address(text: str) -> bool:
    try:
        ip_address(text)
    except ValueError:
        return False
    return True


def quota_problem(entity: Mapping[str, str | None], key: str, value: float) -> str | None:
    """Returns why this value cannot be a quota of the entity, or None."""
    known = IP_QUOTAS if IP in entity else CLIENT_QUOTAS
    if key not in known:
        return f"unknown quota {key!r}"
    if not value > 0 or value in (float("inf"), float("nan")):
        return f"{key} must be greater than 0"
    if key in WHOLE_NUMBERS and (value != int(value) or value >= _UPPER_BOUNDS[key]):
        return f"{key} must be a whole number below {_UPPER_BOUNDS[key]}"
    return None


class QuotaTable:
    """All limits of one kind, such as `producer_byte_rate`. Immutable."""

    __slots__ = ("_limits",)

    def __init__(self, limits: Mapping[Entity, float]) -> None:
        self._limits = dict(limits)

    def __bool__(self) -> bool:
        return bool(self._limits)

    def limit(self, user: str, client_id: str) -> Limit | None:
        """Returns the limit that applies to a user and client id, or None."""
        limits = self._limits
        for entity, share in _candidates(user, client_id):
            value = limits.get(entity)
            if value is not None:
                return Limit(value, share)
        return None

    def ip_limit(self, host: str) -> Limit | None:
        """Returns the limit of connections from one address; addresses do not share a limit."""
        for name in (host, DEFAULT):
            value = self._limits.get(frozenset({(IP, name)}))
            if value is not None:
                return Limit(value, (host, ""))
        return None


def _candidates(user: str, client_id: str) -> list[tuple[Entity, Share]]:
    both, of_user, of_client = (user, client_id), (user, ""), ("", client_id)
    return [
        (frozenset({(USER, user), (CLIENT_ID, client_id)}), both),
        (frozenset({(USER, user), (CLIENT_ID, DEFAULT)}), both),
        (frozenset({(USER, user)}), of_user),
        (frozenset({(USER, DEFAULT), (CLIENT_ID, client_id)}), both),
        (frozenset({(USER, DEFAULT), (CLIENT_ID, DEFAULT)}), both),
        (frozenset({(USER, DEFAULT)}), of_user),
        (frozenset({(CLIENT_ID, client_id)}), of_client),
        (frozenset({(CLIENT_ID, DEFAULT)}), of_client),
    ]


class Rate:
    """Amounts per second over the last windows, at most `samples` of them. Callers pass the time.

    A window begins with its first amount and is kept until its last amount is too old, so the
    measured time may be a little longer than the windows.
    """

    __slots__ = ("_samples", "_window_ms", "_windows", "last_ms")

    def __init__(self, now_ms: int, *, samples: int = 11, window_ms: int = 1000) -> None:
        self._samples = samples
        self._window_ms = window_ms
        self._windows: deque[_Window] = deque([_Window(now_ms)])
        self.last_ms = now_ms

    def record(self, amount: float, now_ms: int) -> None:
        windows = self._windows
        if now_ms - windows[-1].start_ms >= self._window_ms:
            windows.append(_Window(now_ms))
        windows[-1].amount += amount
        windows[-1].last_ms = self.last_ms = now_ms

    def take(self, amount: float, limit: float, now_ms: int) -> int:
        """Counts an amount; returns the throttle time, 0 for none."""
        self.record(amount, now_ms)
        return self.throttle_ms(limit, now_ms)

    def throttle_ms(self, limit: float, now_ms: int) -> int:
        """Returns the time until the rate is at the limit; 0 if it is below."""
        self._forget(now_ms)
        total = sum(window.amount for window in self._windows)
        elapsed_ms = self._elapsed_ms(now_ms)
        excess = total / (elapsed_ms / 1000) - limit
        return 0 if excess <= 0 else round(excess / limit * elapsed_ms)

    def _elapsed_ms(self, now_ms: int) -> int:
        # Before all windows exist, the missing ones count as empty: otherwise the first requests
        # would be measured as a burst.
        elapsed_ms = now_ms - self._windows[0].start_ms
        missing = self._samples - 1 - elapsed_ms // self._window_ms
        return max(elapsed_ms + max(missing, 0) * self._window_ms, 1)

    def _forget(self, now_ms: int) -> None:
        oldest = now_ms - self._samples * self._window_ms
        windows = self._windows
        while windows and windows[0].last_ms <= oldest:
            windows.popleft()
        if not windows:
            windows.append(_Window(now_ms))


class _Window:
    __slots__ = ("amount", "last_ms", "start_ms")

    def __init__(self, now_ms: int) -> None:
        self.start_ms = self.last_ms = now_ms
        self.amount = 0.0


class TokenBucket:
    """A bucket that is refilled at the rate of the limit, up to the capacity of all windows.

    It is full at the start and may be overdrawn; a client that overdraws it waits until it has no
    deficit.
    """

    __slots__ = ("_seconds", "_tokens", "last_ms")

    def __init__(self, now_ms: int, *, samples: int = 11, window_ms: int = 1000) -> None:
        self._seconds = samples * window_ms / 1000
        self._tokens: float | None = None
        self.last_ms = now_ms

    def take(self, amount: float, limit: float, now_ms: int) -> int:
        """Takes an amount; returns the time until there is no deficit, 0 for none."""
        full = self._seconds * limit
        tokens = full if self._tokens is None else self._tokens
        tokens = min(tokens + (now_ms - self.last_ms) / 1000 * limit, full) - amount
        self._tokens, self.last_ms = min(tokens, full), now_ms
        return round(-tokens / limit * 1000) if tokens < 0 else 0
