"""Idle connections are closed after `connections.max.idle.ms`, others are not."""

import asyncio

import pytest

from barnabas.clients.core import pool as pool_module
from barnabas.clients.core.options import ClientOptions
from barnabas.clients.core.pool import ConnectionPool
from barnabas.net.client import ClientConnection
from barnabas.net.connection_options import Address, ConnectionOptions

ADDRESS = Address("there", 9092)


class FakeConnection:
    def __init__(self):
        self.closed = False
        self.in_flight = 0
        self.last_used_s = asyncio.get_running_loop().time()

    def close(self):
        self.closed = True


@pytest.fixture
def timers(monkeypatch):
    """The scheduled idle checks; only the test runs them."""

    async def open_connection(address, options, meters):
        return FakeConnection()

    monkeypatch.setattr(ClientConnection, "open", open_connection)
    found = []

    class Handle:
        def __init__(self, delay_s, callback):
            self.delay_s, self.run, self.cancelled = delay_s, callback, False
            found.append(self)

        def cancel(self):
            self.cancelled = True

    async def watch(work):
        monkeypatch.setattr(asyncio.get_running_loop(), "call_later", Handle)
        await work()

    return found, lambda work: asyncio.run(watch(work))


def options(idle_ms):
    return ClientOptions((ADDRESS,), ConnectionOptions(), connections_max_idle_ms=idle_ms)


def test_an_idle_connection_goes_and_a_used_one_stays(timers):
    found, run = timers

    async def work():
        pool = ConnectionPool(options(8000))
        idle, used = await pool.get(ADDRESS), await pool.get(ADDRESS, "used")
        asking = await pool.get(ADDRESS, "asking")
        (check,) = found
        assert check.delay_s == 8 / pool_module.IDLE_CHECKS
        idle.last_used_s -= 9
        asking.last_used_s -= 9
        asking.in_flight = 1
        check.run()
        assert (idle.closed, used.closed, asking.closed) == (True, False, False)
        assert pool.connected(ADDRESS) is None
        assert len(found) == 2, "those that are left are looked at again"
        await pool.close()
        assert found[1].cancelled

    run(work)


def test_nothing_is_watched_when_nothing_is_open_or_idleness_is_no_matter(timers):
    found, run = timers

    async def work():
        pool = ConnectionPool(options(8000))
        connection = await pool.get(ADDRESS)
        connection.last_used_s -= 9
        found[0].run()
        assert len(found) == 1
        forever = ConnectionPool(options(-1))
        await forever.get(ADDRESS)
        assert len(found) == 1

    run(work)
