"""A real ZooKeeper for tests, alone or as an ensemble, and sessions that expire on it."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

from kazoo.client import KazooClient
from support.network.ports import unused_ports

from barnabas.zk.zookeeper_server import ServerConfig, ZooKeeperServer


@contextmanager
def running_zookeeper(data_dir: Path) -> Iterator[ZooKeeperServer]:
    """One server for many tests, on a separate loop."""
    loop = asyncio.new_event_loop()
    server = ZooKeeperServer(ServerConfig(data_dir, tick_ms=250, short_life=True))
    try:
        loop.run_until_complete(server.start())
        yield server
    finally:
        loop.run_until_complete(server.stop())
        loop.close()


@asynccontextmanager
async def running_ensemble(data_dir: Path) -> AsyncIterator[list[ZooKeeperServer]]:
    """Three servers that elect a leader, on the running loop."""
    ports = unused_ports(6)
    members = {n: f"127.0.0.1:{ports[n - 1]}:{ports[n + 2]}" for n in (1, 2, 3)}
    servers = [
        ZooKeeperServer(
            ServerConfig(
                data_dir / str(n),
                tick_ms=250,
                server_id=n,
                members=members,
                max_heap="64m",
                short_life=True,
            )
        )
        for n in members
    ]
    try:
        await asyncio.gather(*(server.launch() for server in servers))
        await asyncio.gather(*(server.wait_until_serving(60) for server in servers))
        yield servers
    finally:
        await asyncio.gather(*(server.stop() for server in servers))


async def expire_session(tree, hosts: str) -> None:
    """Ends a session on the server: a second connection resumes the session and closes it.

    The owner reconnects at once. If it does so before the close arrives, it takes its session back
    from the second connection, so the attempt is repeated until the session has ended.
    """
    client_id = tree._client.client_id
    async with asyncio.timeout(60):
        while _is_in_session(tree, client_id):
            await asyncio.to_thread(_resume_and_close, hosts, client_id)
            await _wait_for_end(tree, client_id)


def _resume_and_close(hosts, client_id) -> None:
    second = KazooClient(hosts=hosts, client_id=client_id)
    try:
        second.start(60)
    finally:
        second.stop()
        second.close()


def _is_in_session(tree, client_id) -> bool:
    """Also true while the client has no connection; `client_id` is None then."""
    return tree._client._session_id == client_id[0]


async def _wait_for_end(tree, client_id, seconds: float = 2.0) -> None:
    for _ in range(int(seconds / 0.05)):
        if not _is_in_session(tree, client_id):
            return
        await asyncio.sleep(0.05)
