"""Throttling of clients that exceed a quota (KIP-219): throttle times and muted connections."""

import asyncio
from collections.abc import Callable
from functools import partial
from typing import Protocol, TypeVar, runtime_checkable

from barnabas.net.server_connection import ServerConnection
from barnabas.runtime.clock import Clock
from barnabas.wire.message import Message

MessageT = TypeVar("MessageT", bound=Message)


@runtime_checkable
class Throttled(Protocol):
    """A response with a throttle time; most, but not all APIs have one."""

    throttle_time_ms: int


def tell(response: MessageT, throttle_ms: int) -> MessageT:
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
        """Stops reading from a connection for a time; received requests are still answered."""
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
