"""Connections to brokers: one per broker and purpose, opened on first use.

A broker responds to the requests of a connection in order. Different purposes therefore use
different connections: a fetch that waits for records must not delay the heartbeats of a consumer.
"""

import asyncio
from collections.abc import Callable

from barnabas.clients.core.backoff import Backoff
from barnabas.clients.core.options import ClientOptions
from barnabas.clients.metrics.network import NetworkMeters
from barnabas.model.errors import BarnabasError, ClosedError
from barnabas.net.client import ClientConnection
from barnabas.net.connection_options import Address
from barnabas.runtime.clock import SystemClock
from barnabas.security.mechanism import AuthenticationError

Key = tuple[Address, str]
IDLE_CHECKS = 8
"""Checks for idle connections per connections.max.idle.ms."""


class ConnectionPool:
    """The connections of a client, one per broker and purpose.

    Owned by one event loop. After a failure it does not retry an address before a back-off.
    """

    def __init__(self, options: ClientOptions, meters: NetworkMeters | None = None) -> None:
        self._options = options
        self._meters = meters or NetworkMeters(SystemClock())
        self.on_opened: Callable[[ClientConnection], None] = lambda connection: None
        self._connections: dict[Key, ClientConnection] = {}
        self._opening: dict[Key, asyncio.Task[ClientConnection]] = {}
        self._retry_at_s: dict[Address, float] = {}
        self._backoffs: dict[Address, Backoff] = {}
        self._closed = False
        self._idle_check: asyncio.TimerHandle | None = None
        self.login_error: AuthenticationError | None = None
        """The error of a rejected login; None again after a metadata response."""
        self.on_permanent_error: Callable[[], None] = lambda: None

    def connected(self, address: Address, purpose: str = "") -> ClientConnection | None:
        """Returns the open connection, or None."""
        connection = self._connections.get((address, purpose))
        return None if connection is None or connection.closed else connection

    def open_count(self) -> int:
        """Returns the number of open connections. Any thread may call it."""
        return sum(not connection.closed for connection in list(self._connections.values()))

    def in_flight(self) -> int:
        """Returns the number of requests without a response. Any thread may call it."""
        return sum(connection.in_flight for connection in list(self._connections.values()))

    async def get(self, address: Address, purpose: str = "") -> ClientConnection:
        """Returns an open connection; concurrent callers share one attempt."""
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
        # Shielded: the time-out of one caller must not cancel the attempt of the others.
        return await asyncio.shield(task)

    def take_lost(self) -> bool:
        """Drops lost connections; returns whether there were any since the last call."""
        lost = [key for key, connection in self._connections.items() if connection.closed]
        for key in lost:
            self._remove(key)
        return bool(lost)

    def record_login_error(self, error: AuthenticationError) -> None:
        """Records a rejected login."""
        self.login_error = error
        self.on_permanent_error()

    async def close(self) -> None:
        self._closed = True
        if self._idle_check is not None:
            self._idle_check.cancel()
        tasks = list(self._opening.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        for key in list(self._connections):
            self._remove(key)

    async def _open(self, address: Address, purpose: str) -> ClientConnection:
        loop = asyncio.get_running_loop()
        pause_s = self._retry_at_s.get(address, 0.0) - loop.time()
        if pause_s > 0:
            await asyncio.sleep(pause_s)
        try:
            meters = self._meters.broker(address)
            connection = await ClientConnection.open(address, self._options.connection, meters)
        except BarnabasError as error:
            self._retry_at_s[address] = loop.time() + self._backoff(address).next_s()
            if isinstance(error, AuthenticationError):
                self._meters.rejected.record(1)
                self.record_login_error(error)
            raise
        self._retry_at_s.pop(address, None)
        self._backoffs.pop(address, None)
        return connection

    def _opened(self, key: Key, task: "asyncio.Task[ClientConnection]") -> None:
        del self._opening[key]
        if not task.cancelled() and task.exception() is None:
            self._remove(key)
            self._connections[key] = connection = task.result()
            self._meters.opened.record(1)
            if self._options.connection.authenticates:
                self._meters.authenticated.record(1)
            self.on_opened(connection)
            self._check_idle_later()

    def _remove(self, key: Key) -> None:
        """Closes and drops a connection, if there is one."""
        connection = self._connections.pop(key, None)
        if connection is not None:
            connection.close()
            self._meters.closed.record(1)

    def _check_idle_later(self) -> None:
        limit_s = self._options.connections_max_idle_ms / 1000
        if limit_s > 0 and self._idle_check is None and not self._closed:
            loop = asyncio.get_running_loop()
            self._idle_check = loop.call_later(limit_s / IDLE_CHECKS, self._close_idle)

    def _close_idle(self) -> None:
        """Closes connections that were not used for connections.max.idle.ms."""
        self._idle_check = None
        limit_s = self._options.connections_max_idle_ms / 1000
        now_s = asyncio.get_running_loop().time()
        for key, connection in list(self._connections.items()):
            idle = now_s - connection.last_used_s >= limit_s and not connection.in_flight
            if connection.closed or idle:
                self._remove(key)
        if self._connections:
            self._check_idle_later()

    def _backoff(self, address: Address) -> Backoff:
        options = self._options
        return self._backoffs.setdefault(
            address, Backoff(options.reconnect_backoff_ms, options.reconnect_backoff_max_ms)
        )
