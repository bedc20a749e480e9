"""What the tree says of users, client ids and addresses: SCRAM credentials and quotas.

Kafka keeps both in one kind of node: /config/users/U, /config/users/U/clients/C, /config/clients/C
and /config/ips/I, with `<default>` as a name. An entity is known here by its path below /config,
with names sanitised. Notifications come through `config_watch`.
"""

from collections.abc import Callable, Mapping

from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BrokerError
from barnabas.security.scram_keys import ScramCredential
from barnabas.zk import paths
from barnabas.zk.config_znodes import ConfigChangeNode, ConfigNode
from barnabas.zk.tree import (
    BadVersionError,
    CreateOp,
    MetadataTree,
    MultiError,
    NodeExistsError,
    NoNodeError,
    Op,
    SetOp,
)

KINDS = ("users", "clients", "ips")
_ATTEMPTS = 20

Values = dict[str, str]


class ClientEntities:
    """Owned by the broker's loop."""

    def __init__(self, tree: MetadataTree, on_change: Callable[[], None]) -> None:
        self._tree = tree
        self._on_change = on_change
        self._values: dict[str, Values] = {}

    async def load(self) -> None:
        """Read everything; before the broker serves anybody."""
        for kind in KINDS:
            for name in await self._children(f"/config/{kind}"):
                await self._load_one(f"{kind}/{name}")
                if kind == "users":
                    for client in await self._children(f"/config/users/{name}/clients"):
                        await self._load_one(f"users/{name}/clients/{client}")
        self._on_change()

    async def reload(self, entity_path: str) -> None:
        """Read an entity again, and put it into force."""
        await self._load_one(entity_path)
        self._on_change()

    def all(self) -> Mapping[str, Mapping[str, str]]:
        """The settings of every entity that has some."""
        return self._values

    def of(self, entity_path: str) -> Mapping[str, str]:
        return self._values.get(entity_path, {})

    def credential(self, user: str, mechanism: str) -> ScramCredential | None:
        """The stored credential of a user; None when there is none, or none that can be read."""
        text = self.of(paths.config_entity("users", user)).get(mechanism)
        try:
            return None if text is None else ScramCredential.parse(text)
        except ValueError:
            return None

    async def change(self, entity_path: str, edit: Callable[[Values], None]) -> None:
        """Edit an entity's settings in the tree; here they are in force on return."""
        for _ in range(_ATTEMPTS):
            values, version = await self._read(entity_path)
            before = dict(values)
            edit(values)
            if values == before:
                return
            try:
                write = await self._write(entity_path, values, version)
                await self._tree.multi([write, _notify(entity_path)])
            except MultiError as error:
                if isinstance(error.cause, BadVersionError | NodeExistsError | NoNodeError):
                    continue
                raise error.cause from error
            await self.reload(entity_path)
            return
        raise BrokerError(ErrorCode.REQUEST_TIMED_OUT, "the settings keep changing")

    async def _write(self, entity_path: str, values: Values, version: int | None) -> Op:
        path, data = f"/config/{entity_path}", ConfigNode(values).encode()
        if version is not None:
            return SetOp(path, data, version)
        await self._tree.ensure_path(path.rpartition("/")[0])
        return CreateOp(path, data)

    async def _load_one(self, entity_path: str) -> None:
        values, _ = await self._read(entity_path)
        if values:
            self._values[entity_path] = values
        else:
            self._values.pop(entity_path, None)

    async def _read(self, entity_path: str) -> tuple[Values, int | None]:
        try:
            data, stat = await self._tree.get(f"/config/{entity_path}")
        except NoNodeError:
            return {}, None
        return dict(ConfigNode.decode(data).values), stat.version

    async def _children(self, path: str) -> list[str]:
        try:
            return await self._tree.children(path)
        except NoNodeError:
            return []


def _notify(entity_path: str) -> Op:
    data = ConfigChangeNode(entity_path).encode()
    return CreateOp(paths.CONFIG_CHANGE_PREFIX, data, sequential=True)
