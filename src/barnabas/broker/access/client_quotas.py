"""Quotas of one broker: limits from the metadata tree, and the measured rates.

`metering` and `throttling` apply them.
"""

from collections.abc import Iterable, Mapping
from functools import partial

from barnabas.broker.access.client_entities import ClientEntities
from barnabas.runtime.clock import Clock
from barnabas.runtime.metrics import Histogram
from barnabas.security.quotas import (
    CLIENT_ID,
    CLIENT_QUOTAS,
    CONNECTION_RATE,
    CONSUMER_BYTE_RATE,
    DEFAULT,
    IP,
    IP_QUOTAS,
    MUTATION_RATE,
    PRODUCER_BYTE_RATE,
    REQUEST_PERCENTAGE,
    USER,
    WHOLE_NUMBERS,
    Entity,
    Limit,
    QuotaTable,
    Rate,
    Share,
    TokenBucket,
)
from barnabas.wire.messages.alter_client_quotas import EntityData
from barnabas.zk import paths

# Client ids are chosen by clients: without a limit, idle ones would fill the memory.
_KEEP_IDLE_MS = 3_600_000
_CLEAN_AT = 1000


class QuotaMeter:
    """One kind of quota; owned by the broker's loop. `active` if any entity has a limit."""

    def __init__(
        self,
        key: str,
        clock: Clock,
        *,
        samples: int,
        window_ms: int,
        measure: type[Rate] | type[TokenBucket] = Rate,
    ) -> None:
        self._key = key
        self._clock = clock
        self._measure = measure
        self._samples = samples
        self.window_ms = window_ms
        self._table = QuotaTable({})
        self._rates: dict[Share, Rate | TokenBucket] = {}
        self.throttle_times: dict[Share, Histogram] = {}
        """Metric: milliseconds of each throttled request, by user and client id."""
        self.active = False

    def load(self, entities: ClientEntities) -> None:
        self._table = table_of(self._key, entities.all().items())
        self.active = bool(self._table)

    def limit(self, user: str, client_id: str) -> Limit | None:
        return self._table.limit(user, client_id)

    def ip_limit(self, host: str) -> Limit | None:
        return self._table.ip_limit(host)

    def burst(self, limit: Limit) -> int:
        """Returns the largest response that does not exceed the limit over all windows."""
        return max(1, round(limit.value * max(self._samples - 1, 1) * self.window_ms / 1000))

    def record(self, limit: Limit, amount: float) -> int:
        """Counts an amount; returns the throttle time of the clients that share the limit."""
        now_ms = self._clock.monotonic_ms()
        rate = self._rates.get(limit.share)
        if rate is None:
            self._forget_idle(now_ms)
            rate = self._rates[limit.share] = self._measure(
                now_ms, samples=self._samples, window_ms=self.window_ms
            )
        throttle_ms = rate.take(amount, limit.value, now_ms)
        if throttle_ms > 0:
            times = self.throttle_times.get(limit.share)
            if times is None:
                times = self.throttle_times[limit.share] = Histogram()
            times.record(throttle_ms)
        return throttle_ms

    def _forget_idle(self, now_ms: int) -> None:
        if len(self._rates) >= _CLEAN_AT:
            rates = self._rates.items()
            self._rates = {s: rate for s, rate in rates if now_ms - rate.last_ms < _KEEP_IDLE_MS}
            times = self.throttle_times.items()
            self.throttle_times = {s: time for s, time in times if s in self._rates}


class ClientQuotas:
    """Quotas of produced and fetched bytes, partition changes, request time and connections."""

    def __init__(self, clock: Clock, *, samples: int, window_ms: int) -> None:
        meter = partial(QuotaMeter, clock=clock, samples=samples, window_ms=window_ms)
        self.produce = meter(PRODUCER_BYTE_RATE)
        self.fetch = meter(CONSUMER_BYTE_RATE)
        self.mutations = meter(MUTATION_RATE, measure=TokenBucket)
        self.requests = meter(REQUEST_PERCENTAGE)
        self.connections = meter(CONNECTION_RATE)

    def load(self, entities: ClientEntities) -> None:
        meters = (self.produce, self.fetch, self.mutations, self.requests, self.connections)
        for meter in meters:
            meter.load(entities)


# --- entities of quotas --------------------------------------------------------------------------


_KINDS = {"users": USER, "clients": CLIENT_ID, "ips": IP}
_WORDS = {USER: "users", CLIENT_ID: "clients", IP: "ips"}
_ORDER = (USER, CLIENT_ID, IP)

Parts = dict[str, str | None]
"""By kind: a name, or DEFAULT."""


def parts_of(path: str) -> Parts:
    """Returns the parts of an entity path; None stands for the default.

    >>> parts_of("users/alice/clients/<default>")
    {'user': 'alice', 'client-id': None}
    """
    words = path.split("/")
    return {
        _KINDS[kind]: DEFAULT if name == paths.DEFAULT_ENTITY else paths.desanitize(name)
        for kind, name in zip(words[::2], words[1::2], strict=True)
    }


def path_of(parts: Mapping[str, str | None]) -> str:
    """Returns the entity path of the parts; None stands for the default.

    >>> path_of({"client-id": "a b", "user": None})
    'users/<default>/clients/a%20b'
    """
    return "/".join(
        paths.config_entity(_WORDS[kind], paths.DEFAULT_ENTITY if name is DEFAULT else name)
        for kind in _ORDER
        for name in [parts.get(kind, "")]
        if kind in parts
    )


def quotas_of(values: Mapping[str, str]) -> dict[str, float]:
    """Returns the valid quotas among the settings of an entity."""
    found = {}
    for key in (CLIENT_QUOTAS | IP_QUOTAS).intersection(values):
        try:
            found[key] = float(values[key])
        except ValueError:
            continue
    return found


def stored(key: str, value: float) -> str:
    """Returns the stored form of a value."""
    return str(int(value)) if key in WHOLE_NUMBERS else str(value)


def table_of(key: str, entities: Iterable[tuple[str, Mapping[str, str]]]) -> QuotaTable:
    """Returns all limits of one kind."""
    limits: dict[Entity, float] = {}
    for path, values in entities:
        value = quotas_of(values).get(key)
        if value is not None and value > 0:
            limits[frozenset(parts_of(path).items())] = value
    return QuotaTable(limits)


def parts_in(entity: Iterable[EntityData]) -> Parts:
    """Returns the entity of a request; raises ValueError if a type is repeated."""
    parts: Parts = {}
    for part in entity:
        if part.entity_type in parts:
            raise ValueError(f"{part.entity_type} is named twice")
        parts[part.entity_type] = part.entity_name
    return parts
