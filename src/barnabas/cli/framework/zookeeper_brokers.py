"""Finds the brokers of a cluster in ZooKeeper, for `--zookeeper host:port/chroot`.

Callers import this module when they need it: most commands need no ZooKeeper.
"""

import asyncio
import contextlib
from collections.abc import Mapping

from barnabas import zk
from barnabas.cli.framework.connection import ZOOKEEPER_CONNECT_SECONDS
from barnabas.model.config import ConfigTable
from barnabas.model.config_keys.security import ZOOKEEPER_SECURITY_KEYS
from barnabas.model.errors import UnavailableError
from barnabas.zk import paths
from barnabas.zk.tree import NoNodeError
from barnabas.zk.znodes import BrokerNode
from barnabas.zk.zookeeper_security import ZooKeeperSecurity


def security_of(settings: Mapping[str, object]) -> ZooKeeperSecurity:
    """Returns the credentials for ZooKeeper among the settings of a tool; raises ConfigError."""
    table = ConfigTable(ZOOKEEPER_SECURITY_KEYS)
    own = {name: value for name, value in settings.items() if table.knows(name)}
    return ZooKeeperSecurity.of_client(table.parse(own).__getitem__)


def find_brokers(connect: str, settings: Mapping[str, object]) -> str:
    """Returns `host:port,…` of the live brokers; `settings` are those of the tool.

    A broker without a listener of this protocol is listed with its first listener.

    Raises:
        UnavailableError: No live broker is registered.
    """
    return asyncio.run(_find_brokers(connect, settings))


async def _find_brokers(connect: str, settings: Mapping[str, object]) -> str:
    protocol = str(settings.get("security.protocol", "PLAINTEXT"))
    tree = await zk.connect(
        connect, connect_timeout_s=ZOOKEEPER_CONNECT_SECONDS, security=security_of(settings)
    )
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


def _address(node: BrokerNode, protocol: str) -> str:
    wanted = [e for e in node.endpoints if e.security_protocol == protocol]
    endpoint = (wanted or list(node.endpoints))[0]
    return f"{endpoint.host}:{endpoint.port}"
