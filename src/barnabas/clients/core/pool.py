"""Connections to brokers: one per broker and purpose, opened when first needed.

A purpose keeps kinds of traffic apart: a consumer's long fetch must not hold up its heartbeats,
for a broker answers one connection in order.
"""

import asyncio
from collections.abc import Callable

from barnabas.clients.core.backoff import Backoff
from barnabas.clients.core.options import ClientOptions
from barnabas.model.errors import BarnabasError, ClosedError
from barnabas.net.client import ClientConnection
from barnabas.net.connection_options import Address
from barnabas.security.errors import AuthenticationError

Key = tuple[Address, str]
IDLE_CHECKS = 8
"""How often idle connections are looked for within the time that they may be idle."""


class ConnectionPool:
    """Owned by one event loop. After a failure an address rests for its back-off."""

    def __init__(self, options: ClientOptions) -> None:
        self._options = options
        self._connections: dict[Key, ClientConnection] = {}
        self._opening: dict[Key, asyncio.Task[ClientConnection]] = {}
        self._resting: dict[Address, tuple[float, BarnabasError]] = {}
        self._backoffs: dict[Address, Backoff] = {}
        self._closed = False
        self._idle_check: asyncio.TimerHandle | None = None
        self.refused: AuthenticationError | None = None
        """Why the cluster does not let this client in; whoever gets an answer clears it."""
        self.on_refused: Callable[[], None] = lambda: None

    def connected(self, address: Address, purpose: str = "") -> ClientConnection | None:
        """The open connection, if there is one."""
        connection = self._connections.get((address, purpose))
        return None if connection is None or connection.closed else connection

    async def get(self, address: Address, purpose: str = "") -> ClientConnection:
        """An open connection; callers at the same time share one attempt."""
        if self._closed:
            raise ClosedError("the client is closed")
        connection = self.connected(address, purpose)
        if connection is not None:
            return connection
        key = (address, purpose)
        task = self._opening.get(key)
        if task is None:
            task = asyncio.get_running_loop().create_task(self._open(address, purpose))
            self._opening[key] = task
            task.add_done_callback(lambda done: self._opened(key, done))
        # Shielded: one caller's time-out must not take the connection from the others.
        return await asyncio.shield(task)

    def take_lost(self) -> bool:
        """Whether a connection was lost since the last call; lost ones are forgotten."""
        lost = [key for key, connection in self._connections.items() if connection.closed]
        for key in lost:
            del self._connections[key]
        return bool(lost)

    def refuse(self, error: AuthenticationError) -> None:
        """The cluster does not let this client in."""
        self.refused = error
        self.on_refused()

    async def close(self) -> None:
        self._closed = True
        if self._idle_check is not None:
            self._idle_check.cancel()
        tasks = list(self._opening.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        for connection in self._connections.values():
            connection.close()
        self._connections.clear()

    async def _open(self, address: Address, purpose: str) -> ClientConnection:
        loop = asyncio.get_running_loop()
        until, _ = self._resting.get(address, (0.0, None))
        if until > loop.time():
            await asyncio.sleep(until - loop.time())
        try:
            connection = await ClientConnection.open(address, self._options.connection)
        except BarnabasError as error:
            pause = self._backoff(address).next_s()
            self._resting[address] = (loop.time() + pause, error)
            if isinstance(error, AuthenticationError):
                self.refuse(error)
            raise
        self._resting.pop(address, None)
        self._backoffs.pop(address, None)
        return connection

    def _opened(self, key: Key, task: "asyncio.Task[ClientConnection]") -> None:
        del self._opening[key]
        if not task.cancelled() and task.exception() is None:
            self._connections[key] = task.result()
            self._check_idle_later()

    def _check_idle_later(self) -> None:
        limit_s = self._options.connections_max_idle_ms / 1000
        if limit_s > 0 and self._idle_check is None and not self._closed:
            loop = asyncio.get_running_loop()
            self._idle_check = loop.call_later(limit_s / IDLE_CHECKS, self._close_idle)

    def _close_idle(self) -> None:
        """Close what was not used for connections.max.idle.ms."""
        self._idle_check = None
        limit_s = self._options.connections_max_idle_ms / 1000
        now_s = asyncio.get_running_loop().time()
        for key, connection in list(self._connections.items()):
            idle = now_s - connection.last_used_s >= limit_s and not connection.in_flight
            if connection.closed or idle:
                connection.close()
                del self._connections[key]
        if self._connections:
            self._check_idle_later()

    def _backoff(self, address: Address) -> Backoff:
        options = self._options
        return self._backoffs.setdefault(
            address, Backoff(options.reconnect_backoff_ms, options.reconnect_backoff_max_ms)
        )
