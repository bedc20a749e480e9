"""How fast connections may come in (KIP-612): from one address, and in all.

An address over its `connection_creation_rate` has its connection closed, after a wait that keeps it
from trying again at once; such a connection does not count. Over `max.connection.creation.rate` all
new connections of the broker are served later. The listener of the brokers themselves is exempt
from that when there is another one for clients.
"""

from collections.abc import Callable
from functools import partial

from barnabas.broker.access.client_quotas import Meter
from barnabas.broker.access.muting import Schedule, on_running_loop
from barnabas.model.clock import Clock
from barnabas.net.connection_ports import ConnectionSecurity
from barnabas.net.refusal import Refusal
from barnabas.net.server_connection import ServerConnection
from barnabas.net.stream import Stream
from barnabas.security.quotas import Rate

_NO_LIMIT = 2**31 - 1


class ConnectionRates:
    """The rates of one broker; owned by its loop."""

    def __init__(
        self, meter: Meter, clock: Clock, new_rate: Callable[[int], Rate], limit: int = _NO_LIMIT
    ) -> None:
        """`meter` has the addresses; `new_rate` makes the measure of all, from a time on."""
        self._meter = meter
        self._clock = clock
        self._all = new_rate(clock.monotonic_ms())
        self.limit = limit

    def refused_ms(self, host: str) -> int:
        """Count a connection of an address; how long it waits for its end, 0 when it is welcome."""
        limit = self._meter.ip_limit(host) if self._meter.active else None
        if limit is None:
            return 0
        wait_ms = self._meter.record(limit, 1)
        if wait_ms > 0:
            self._meter.record(limit, -1)
        return wait_ms

    def delayed_ms(self) -> int:
        """Count a connection of the broker's; how long it has to wait."""
        if self.limit == _NO_LIMIT:
            return 0
        now_ms = self._clock.monotonic_ms()
        self._all.record(1, now_ms)
        return self._all.throttle_ms(self.limit, now_ms)


class RatedConnections:
    """A listener's connections within the rates; before its TLS and SASL, if it has any."""

    def __init__(
        self,
        rates: ConnectionRates,
        security: ConnectionSecurity | None,
        *,
        exempt: bool,
        schedule: Schedule = on_running_loop,
    ) -> None:
        """`exempt` from the rate of all."""
        self._schedule = schedule
        self._rates = rates
        self._security = security
        self._exempt = exempt

    def secure(self, stream: Stream) -> Stream:
        return stream if self._security is None else self._security.secure(stream)

    def accepted(self, connection: ServerConnection) -> None:
        if self._security is not None:
            self._security.accepted(connection)
        refused_ms = self._rates.refused_ms(connection.stream.peer[0])
        if refused_ms > 0:
            connection.pause()
            refuse = partial(
                connection.refuse,
                Refusal.TOO_MANY_FROM_IP,
                "connects faster than its quota allows",
            )
            self._schedule(refused_ms / 1000, refuse)
            return
        delayed_ms = 0 if self._exempt else self._rates.delayed_ms()
        if delayed_ms > 0:
            connection.pause()
            self._schedule(delayed_ms / 1000, connection.unpause)
