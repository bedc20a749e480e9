"""Updates the configuration layers from the metadata tree and applies changes.

All configuration is read at start. Afterwards each change creates a node below /config/changes with
the name of the entity to read again. The broker of the active controller removes old notifications.
"""

import logging
from collections.abc import Awaitable, Callable

from barnabas.broker.config_layers import ConfigLayers
from barnabas.model.errors import ConfigError
from barnabas.model.ids import BrokerId
from barnabas.zk import paths
from barnabas.zk.config_znodes import ConfigChangeNode, ConfigNode
from barnabas.zk.recipes import ChangeNotifications
from barnabas.zk.tree import MetadataTree, NoNodeError

_logger = logging.getLogger("barnabas.broker")

OnChange = Callable[[str | None], None]
"""Called with the topic whose settings changed, or None for the broker's settings."""


class ConfigWatch:
    """Reads changed configuration from the metadata tree into `ConfigLayers`.

    Owned by the broker's loop; `on_change` runs there.
    """

    def __init__(
        self,
        tree: MetadataTree,
        layers: ConfigLayers,
        broker_id: BrokerId,
        on_change: OnChange,
        reload_entity: Callable[[str], Awaitable[None]] | None = None,
        on_deleted: Callable[[str], None] = lambda _topic: None,
    ) -> None:
        """`reload_entity` is called with the paths of changed users, client ids and addresses,
        `on_deleted` with a topic whose settings were removed.
        """
        self._reload_entity = reload_entity
        self._on_deleted = on_deleted
        self._tree = tree
        self._layers = layers
        self._broker_id = broker_id
        self._on_change = on_change
        self._notifications = ChangeNotifications(
            tree, paths.CONFIG_CHANGES, self._apply, logger=_logger
        )

    async def load(self) -> None:
        """Reads all configuration; must be called before logs are opened."""
        await self._notifications.skip_existing()
        for name in await self._tree.children("/config/topics"):
            await self.load_topic(paths.desanitize(name))
        for name in await self._tree.children("/config/groups"):
            await self._load_group(paths.desanitize(name))
        for name in await self._tree.children("/config/client-metrics"):
            await self._load_client_metrics(paths.desanitize(name))
        await self._load_broker(paths.DEFAULT_ENTITY)
        await self._load_broker(str(self._broker_id))

    async def load_topic(self, topic: str) -> None:
        """Reads the settings of a topic, before its first log is created and after changes."""
        self._layers.set_topic(topic, await self._read(paths.config("topics", topic)))

    def forget_topic(self, topic: str) -> None:
        """Removes the settings of a deleted topic."""
        self._layers.forget_topic(topic)
        self._on_deleted(topic)

    def start(self) -> None:
        """Starts to watch the notifications."""
        self._notifications.start()

    async def stop(self) -> None:
        await self._notifications.stop()

    async def purge_notifications(self, now_ms: int) -> None:
        """Removes old notifications; called on the broker of the active controller."""
        await self._notifications.purge(now_ms)

    async def _apply(self, notification: bytes) -> None:
        await self.reload(ConfigChangeNode.decode(notification).entity_path)

    async def reload(self, entity_path: str) -> None:
        """Reads an entity again, such as `topics/orders`, and applies its settings."""
        kind, _, name = entity_path.partition("/")
        if kind in ("users", "clients", "ips"):
            if self._reload_entity is not None:
                await self._reload_entity(entity_path)
            return
        name = name if name == paths.DEFAULT_ENTITY else paths.desanitize(name)
        if kind == "topics":
            await self.load_topic(name)
            self._on_change(name)
        elif kind == "groups":
            await self._load_group(name)
        elif kind == "client-metrics":
            await self._load_client_metrics(name)
        elif kind == "brokers" and name in (paths.DEFAULT_ENTITY, str(self._broker_id)):
            await self._load_broker(name)
            self._on_change(None)

    async def _load_group(self, group_id: str) -> None:
        self._layers.set_group(group_id, await self._read(paths.config("groups", group_id)))

    async def _load_client_metrics(self, name: str) -> None:
        values = await self._read(paths.config("client-metrics", name))
        try:
            self._layers.set_client_metrics(name, values)
        except ConfigError as error:  # written by another version
            _logger.warning("client-metrics %s is ignored: %s", name, error)

    async def _load_broker(self, name: str) -> None:
        values = await self._read(paths.config("brokers", name))
        if name == paths.DEFAULT_ENTITY:
            self._layers.set_default(values)
        else:
            self._layers.set_broker(values)

    async def _read(self, path: str) -> dict[str, str]:
        try:
            data, _ = await self._tree.get(path)
        except NoNodeError:
            return {}
        return dict(ConfigNode.decode(data).values)
