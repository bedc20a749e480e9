"""Throttling of clients that exceed a quota: throttle times, muted and delayed connections.

Requests above a quota get a throttle time, and their connection is muted for that time (KIP-219).
New connections have limits per address, per listener and per broker (KIP-612). If an address
exceeds its `connection_creation_rate`, its connection is closed after a delay, so that it does not
reconnect immediately; such a connection is not counted. Above `max.connection.creation.rate`, of
the broker or of a listener, new connections are served later. An inter-broker listener that clients
do not use is exempt from the broker's rate; only its own rate applies.
"""

import asyncio
from collections.abc import Callable, Mapping
from functools import partial
from typing import Protocol, TypeVar, runtime_checkable

from barnabas.broker.access.client_quotas import QuotaMeter
from barnabas.net.close_reasons import CloseReason
from barnabas.net.server_connection import ConnectionSecurity, ServerConnection
from barnabas.net.stream import ByteStream
from barnabas.runtime.clock import Clock
from barnabas.security.quotas import Rate
from barnabas.wire.message import Message

MessageT = TypeVar("MessageT", bound=Message)


@runtime_checkable
class Throttled(Protocol):
    """A response with a throttle time; most, but not all APIs have one."""

    throttle_time_ms: int


def set_throttle_time(response: MessageT, throttle_ms: int) -> MessageT:
    """Sets the throttle time of a response, unless it has a longer one."""
    found: object = response
    if isinstance(found, Throttled) and throttle_ms > found.throttle_time_ms:
        found.throttle_time_ms = throttle_ms
    return response


# --- muted connections ---------------------------------------------------------------------------


class Timer(Protocol):
    def cancel(self) -> None: ...


Schedule = Callable[[float, Callable[[], None]], Timer]
"""Schedules a callback after a number of seconds."""


def on_running_loop(delay_s: float, callback: Callable[[], None]) -> Timer:
    return asyncio.get_running_loop().call_later(delay_s, callback)


class Muting:
    """Muted connections, each until its latest deadline; owned by the broker's loop."""

    def __init__(self, clock: Clock, schedule: Schedule = on_running_loop) -> None:
        self._clock = clock
        self._schedule = schedule
        self._muted: dict[ServerConnection, tuple[int, Timer]] = {}

    def mute(self, connection: ServerConnection, throttle_ms: int) -> None:
        """Stops reading from a connection for a time; received requests still get responses."""
        until_ms = self._clock.monotonic_ms() + throttle_ms
        known_ms, timer = self._muted.get(connection, (-1, None))
        if known_ms >= until_ms:
            return
        if timer is not None:
            timer.cancel()
        connection.pause()
        timer = self._schedule(throttle_ms / 1000, partial(self._unmute, connection))
        self._muted[connection] = (until_ms, timer)

    def _unmute(self, connection: ServerConnection) -> None:
        del self._muted[connection]
        connection.unpause()


# --- Rates of new connections ---------------------------------------------------------------------


_NO_LIMIT = 2**31 - 1


class ConnectionRates:
    """Rates of new connections of one broker; owned by its loop."""

    def __init__(
        self,
        meter: QuotaMeter,
        clock: Clock,
        new_rate: Callable[[int], Rate],
        protected: str | None = None,
    ) -> None:
        """`meter` measures addresses; `new_rate` creates the other measures; `protected` is the
        name of the inter-broker listener.
        """
        self._meter = meter
        self._clock = clock
        self._new_rate = new_rate
        self._protected = protected
        self._rates: dict[str | None, Rate] = {}
        self.limit(_NO_LIMIT, {})

    def limit(self, total: int, of_listeners: Mapping[str, int]) -> None:
        """Sets the limits; a listener without a limit has the limit of the broker."""
        self._total = total
        self._of_listeners = of_listeners

    def rejected_ms(self, host: str) -> int:
        """Counts a connection of an address; returns after how long it is closed, 0 if accepted."""
        limit = self._meter.ip_limit(host) if self._meter.active else None
        if limit is None:
            return 0
        wait_ms = self._meter.record(limit, 1)
        if wait_ms > 0:
            self._meter.record(limit, -1)
        return wait_ms

    def delayed_ms(self, listener: str) -> int:
        """Counts a connection of a listener; returns how long it is delayed."""
        wait_ms = self._record(listener, self._of_listeners.get(listener, self._total))
        if listener == self._protected:
            return wait_ms
        return max(wait_ms, self._record(None, self._total))

    def _record(self, listener: str | None, limit: int) -> int:
        if limit == _NO_LIMIT:
            return 0
        now_ms = self._clock.monotonic_ms()
        if listener not in self._rates:
            self._rates[listener] = self._new_rate(now_ms)
        return self._rates[listener].take(1, limit, now_ms)


class RatedConnections:
    """Applies the rates to the connections of a listener, before TLS and SASL."""

    def __init__(
        self,
        rates: ConnectionRates,
        security: ConnectionSecurity | None,
        listener: str,
        schedule: Schedule = on_running_loop,
    ) -> None:
        self._schedule = schedule
        self._rates = rates
        self._security = security
        self._listener = listener

    def secure(self, stream: ByteStream) -> ByteStream:
        return stream if self._security is None else self._security.secure(stream)

    def accepted(self, connection: ServerConnection) -> None:
        if self._security is not None:
            self._security.accepted(connection)
        rejected_ms = self._rates.rejected_ms(connection.stream.peer[0])
        if rejected_ms > 0:
            connection.pause()
            reject = partial(
                connection.close_with_reason,
                CloseReason.TOO_MANY_FROM_IP,
                "connects faster than its quota allows",
            )
            self._schedule(rejected_ms / 1000, reject)
            return
        delayed_ms = self._rates.delayed_ms(self._listener)
        if delayed_ms > 0:
            connection.pause()
            self._schedule(delayed_ms / 1000, connection.unpause)
