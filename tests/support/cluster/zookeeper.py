"""A real ZooKeeper for tests, and ways to mistreat sessions on it."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from kazoo.client import KazooClient

from barnabas.zk.zookeeper_server import ServerConfig, ZooKeeperServer


@contextmanager
def running_zookeeper(data_dir: Path) -> Iterator[ZooKeeperServer]:
    """One server for many tests, on a separate loop."""
    loop = asyncio.new_event_loop()
    server = ZooKeeperServer(ServerConfig(data_dir, tick_ms=250))
    try:
        loop.run_until_complete(server.start())
        yield server
    finally:
        loop.run_until_complete(server.stop())
        loop.close()


async def expire_session(tree, hosts: str) -> None:
    """End a session on the server's side: take it over with a second connection and close that."""
    client_id = tree._client.client_id
    thief = KazooClient(hosts=hosts, client_id=client_id)
    loop = asyncio.get_running_loop()
    await loop.run_in_executor(None, thief.start, 60)
    await loop.run_in_executor(None, thief.stop)
    thief.close()
