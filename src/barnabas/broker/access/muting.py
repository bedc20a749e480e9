"""Not listening to a client for a while: what a quota does to whoever is over it (KIP-219)."""

import asyncio
from collections.abc import Callable
from functools import partial
from typing import Protocol

from barnabas.model.clock import Clock
from barnabas.net.server_connection import ServerConnection


class Timer(Protocol):
    def cancel(self) -> None: ...


Schedule = Callable[[float, Callable[[], None]], Timer]
"""Call something back after so many seconds."""


def on_running_loop(delay_s: float, callback: Callable[[], None]) -> Timer:
    return asyncio.get_running_loop().call_later(delay_s, callback)


class Muting:
    """The connections that are muted, each until the latest of its deadlines; loop-owned."""

    def __init__(self, clock: Clock, schedule: Schedule = on_running_loop) -> None:
        self._clock = clock
        self._schedule = schedule
        self._muted: dict[ServerConnection, tuple[int, Timer]] = {}

    def mute(self, connection: ServerConnection, throttle_ms: int) -> None:
        """Take nothing from a client for a while; what it has asked for is answered."""
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
