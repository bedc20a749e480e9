"""How a connector gets its session: on the ensemble of `zookeeper.connect`, unless told."""

from collections.abc import Awaitable, Callable

from barnabas.clients.connector.settings import ConnectorSettings
from barnabas.zk.tree import MetadataTree

TreeSource = Callable[[ConnectorSettings], Awaitable[MetadataTree]]


async def connect_zookeeper(settings: ConnectorSettings) -> MetadataTree:
    from barnabas.zk.kazoo_tree import connect  # kazoo is slow to import

    return await connect(
        settings.zookeeper,
        session_timeout_s=settings.session_timeout_s,
        connect_timeout_s=settings.connect_timeout_s,
    )
