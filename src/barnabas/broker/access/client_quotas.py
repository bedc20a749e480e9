"""The quotas of one broker: limits from the metadata tree, rates as they are measured.

Who keeps to them is decided elsewhere: `metering` (bytes), `mutation_quota`, `request_quota` and
`connection_rates`.
"""

from functools import partial

from barnabas.broker.access.client_entities import ClientEntities
from barnabas.broker.access.quota_entities import table_of
from barnabas.model.clock import Clock
from barnabas.security.quotas import (
    CONNECTION_RATE,
    CONSUMER_BYTE_RATE,
    MUTATION_RATE,
    PRODUCER_BYTE_RATE,
    REQUEST_PERCENTAGE,
    Limit,
    QuotaTable,
    Rate,
    Share,
    TokenBucket,
)

_KEEP_IDLE_MS = 3_600_000
_CLEAN_AT = 1000


class Meter:
    """One kind of quota; owned by the broker's loop. `active` once somebody has one."""

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
        self.active = False

    def load(self, entities: ClientEntities) -> None:
        self._table = table_of(self._key, entities.all().items())
        self.active = bool(self._table)

    def limit(self, user: str, client_id: str) -> Limit | None:
        return self._table.limit(user, client_id)

    def ip_limit(self, host: str) -> Limit | None:
        return self._table.ip_limit(host)

    def burst(self, limit: Limit) -> int:
        """The most that one answer may carry, or its sender would wait longer than is measured."""
        return max(1, round(limit.value * max(self._samples - 1, 1) * self.window_ms / 1000))

    def record(self, limit: Limit, amount: float) -> int:
        """Count, and say how many milliseconds whoever shares the limit must wait."""
        now_ms = self._clock.monotonic_ms()
        rate = self._rates.get(limit.share)
        if rate is None:
            self._forget_idle(now_ms)
            rate = self._rates[limit.share] = self._measure(
                now_ms, samples=self._samples, window_ms=self.window_ms
            )
        return rate.take(amount, limit.value, now_ms)

    def _forget_idle(self, now_ms: int) -> None:
        if len(self._rates) >= _CLEAN_AT:
            rates = self._rates.items()
            self._rates = {s: rate for s, rate in rates if now_ms - rate.last_ms < _KEEP_IDLE_MS}


class ClientQuotas:
    """What clients may send and read, how many partitions they may make and remove, how much of the
    broker's time they may take, and how often they may connect.
    """

    def __init__(self, clock: Clock, *, samples: int, window_ms: int) -> None:
        meter = partial(Meter, clock=clock, samples=samples, window_ms=window_ms)
        self.produce = meter(PRODUCER_BYTE_RATE)
        self.fetch = meter(CONSUMER_BYTE_RATE)
        self.mutations = meter(MUTATION_RATE, measure=TokenBucket)
        self.requests = meter(REQUEST_PERCENTAGE)
        self.connections = meter(CONNECTION_RATE)

    def load(self, entities: ClientEntities) -> None:
        meters = (self.produce, self.fetch, self.mutations, self.requests, self.connections)
        for meter in meters:
            meter.load(entities)
