"""Sessions of ZooKeeper and clients of the brokers that are registered there.

`RegistryTool` is the base of the blocking tools that report on groups and move their offsets.
"""

from collections.abc import Awaitable, Callable, Mapping
from typing import Generic, Protocol, TypeVar

from barnabas import zk
from barnabas.clients.connector.registry import GroupRegistry
from barnabas.clients.connector.settings import ConnectorSettings
from barnabas.clients.core.client import KafkaClient
from barnabas.clients.core.loop_thread import LoopThread
from barnabas.model.errors import LocalError, UnavailableError
from barnabas.runtime.closing import ClosesOnExit
from barnabas.zk.tree import MetadataTree
from barnabas.zk.znodes import BrokerNode
from barnabas.zk.zookeeper_security import ZooKeeperSecurity

TreeSource = Callable[[ConnectorSettings], Awaitable[MetadataTree]]


class LivingMembersError(LocalError):
    """The group has active members, which would overwrite the change."""


async def connect_zookeeper(settings: ConnectorSettings) -> MetadataTree:
    return await zk.connect(
        settings.zookeeper,
        session_timeout_s=settings.session_timeout_s,
        connect_timeout_s=settings.connect_timeout_s,
        security=ZooKeeperSecurity.of_client(settings.values.__getitem__),
    )


class ClusterClient:
    """Returns one client, and a new one when none of its brokers is registered any more."""

    def __init__(self, registry: GroupRegistry, settings: ConnectorSettings) -> None:
        self._registry = registry
        self._settings = settings
        self._client: KafkaClient | None = None
        self._addresses: frozenset[str] = frozenset()

    async def get(self) -> KafkaClient:
        """Returns the client; raises UnavailableError if no broker is registered."""
        brokers = await self._registry.brokers()
        addresses = broker_addresses(brokers, self._settings.security_protocol)
        if not addresses:
            raise UnavailableError("no broker is registered in ZooKeeper")
        if self._client is None or not self._addresses & addresses:
            await self.close()
            options = self._settings.client_options(sorted(addresses))
            self._client = KafkaClient(options)
            self._client.allow_auto_create(False)
            self._addresses = addresses
        return self._client

    async def close(self) -> None:
        client, self._client = self._client, None
        if client is not None:
            await client.close()


def broker_addresses(brokers: Mapping[int, BrokerNode], protocol: str) -> frozenset[str]:
    """Returns the addresses of the listeners with this security protocol."""
    return frozenset(
        f"[{endpoint.host}]:{endpoint.port}"
        if ":" in endpoint.host
        else f"{endpoint.host}:{endpoint.port}"
        for node in brokers.values()
        for endpoint in node.endpoints
        if endpoint.security_protocol == protocol
    )


class RegistryWorker(Protocol):
    """The part of a tool that runs on the loop."""

    async def close(self) -> None: ...


W = TypeVar("W", bound=RegistryWorker)


class RegistryTool(ClosesOnExit, Generic[W]):
    """Base of blocking tools with a ZooKeeper session; close it, or use `with`."""

    def __init__(
        self,
        settings: ConnectorSettings,
        make_worker: Callable[[MetadataTree, ConnectorSettings], W],
        open_tree: TreeSource,
        loop_thread: LoopThread | None,
    ) -> None:
        self._owns_loop = loop_thread is None
        self._loop = loop_thread or LoopThread("barnabas-registry-tool")

        async def start() -> W:
            return make_worker(await open_tree(settings), settings)

        try:
            self._worker = self._loop.call(start())
        except BaseException:
            self._close_loop()
            raise

    def close(self) -> None:
        try:
            self._loop.call(self._worker.close())
        finally:
            self._close_loop()

    def _close_loop(self) -> None:
        if self._owns_loop:
            self._loop.close()
