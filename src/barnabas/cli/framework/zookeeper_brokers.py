"""Finds the brokers of a cluster in ZooKeeper, for `--zookeeper host:port/chroot`."""

import contextlib
from typing import TYPE_CHECKING

from barnabas.model.errors import UnavailableError

if TYPE_CHECKING:
    from barnabas.zk.znodes import BrokerNode

CONNECT_SECONDS = 10.0


def find_brokers(connect: str, protocol: str = "PLAINTEXT") -> str:
    """Returns `host:port,…` of the live brokers.

    A broker without a listener of this protocol is listed with its first listener.

    Raises:
        UnavailableError: No live broker is registered.
    """
    import asyncio  # start-up time

    return asyncio.run(_find_brokers(connect, protocol))


async def _find_brokers(connect: str, protocol: str) -> str:
    # kazoo is an optional extra.
    from barnabas.zk import paths
    from barnabas.zk.kazoo_tree import connect as open_session
    from barnabas.zk.tree import NoNodeError
    from barnabas.zk.znodes import BrokerNode

    tree = await open_session(connect, connect_timeout_s=CONNECT_SECONDS)
    addresses = []
    try:
        with contextlib.suppress(NoNodeError):
            for number in sorted(await tree.children(paths.BROKER_IDS), key=int):
                with contextlib.suppress(NoNodeError):
                    data, _ = await tree.get(paths.broker(int(number)))
                    addresses.append(_address(BrokerNode.decode(data), protocol))
    finally:
        await tree.close()
    if not addresses:
        raise UnavailableError(f"ZooKeeper at {connect} has no live brokers")
    return ",".join(addresses)


def _address(node: "BrokerNode", protocol: str) -> str:
    wanted = [e for e in node.endpoints if e.security_protocol == protocol]
    endpoint = (wanted or list(node.endpoints))[0]
    return f"{endpoint.host}:{endpoint.port}"
