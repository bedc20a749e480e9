"""A client of the brokers that ZooKeeper names; the connector has no bootstrap.servers."""

from collections.abc import Mapping

from barnabas.clients.connector.registry import GroupRegistry
from barnabas.clients.connector.settings import ConnectorSettings
from barnabas.clients.core.client import KafkaClient
from barnabas.model.errors import UnavailableError
from barnabas.zk.znodes import BrokerNode


class ClusterClient:
    """Hands out one client, and a new one when none of its brokers is alive any more."""

    def __init__(self, registry: GroupRegistry, settings: ConnectorSettings) -> None:
        self._registry = registry
        self._settings = settings
        self._client: KafkaClient | None = None
        self._addresses: frozenset[str] = frozenset()

    async def get(self) -> KafkaClient:
        """UnavailableError while no broker is registered."""
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
    """Where brokers speak this security protocol."""
    return frozenset(
        f"[{endpoint.host}]:{endpoint.port}"
        if ":" in endpoint.host
        else f"{endpoint.host}:{endpoint.port}"
        for node in brokers.values()
        for endpoint in node.endpoints
        if endpoint.security_protocol == protocol
    )
