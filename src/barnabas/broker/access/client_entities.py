"""What the tree says of users, client ids and addresses: SCRAM credentials and quotas.

Kafka keeps both in one kind of node: /config/users/U, /config/users/U/clients/C, /config/clients/C
and /config/ips/I, with `<default>` as a name. An entity is known here by its path below /config,
with names sanitised. Notifications come through `config_watch`.
"""

import secrets
from collections.abc import Callable, Mapping

from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BrokerError
from barnabas.security.scram_decoys import DecoyCredentials
from barnabas.security.scram_keys import SCRAM_HASHES, ScramCredential
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
_SECRET_BYTES = 32

Values = dict[str, str]


class ClientEntities:
    """Owned by the broker's loop."""

    def __init__(self, tree: MetadataTree, on_change: Callable[[], None]) -> None:
        self._tree = tree
        self._on_change = on_change
        self._values: dict[str, Values] = {}
        self._credentials: dict[str, dict[str, ScramCredential]] = {}
        self._secret = secrets.token_bytes(_SECRET_BYTES)
        self._decoys: dict[str, DecoyCredentials] = {}

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

    async def load_decoy_secret(self) -> None:
        """Share the key of `decoy` with all brokers of the cluster; the first one chooses it."""
        while True:
            try:
                self._secret, _ = await self._tree.get(paths.DECOY_SECRET)
            except NoNodeError:
                await self._tree.ensure_path(paths.DECOY_SECRET.rpartition("/")[0])
            else:
                self._decoys.clear()
                return
            try:
                await self._tree.create(paths.DECOY_SECRET, self._secret)
            except NodeExistsError:
                continue

    def credential(self, user: str, mechanism: str) -> ScramCredential | None:
        """The stored credential of a user; None when there is none, or none that can be read."""
        return self._credentials.get(paths.config_entity("users", user), {}).get(mechanism)

    def decoy(self, user: str, mechanism: str) -> ScramCredential:
        """The credential that answers for a user who has none."""
        decoys = self._decoys.get(mechanism)
        if decoys is None:
            stored = (each[mechanism] for each in self._credentials.values() if mechanism in each)
            decoys = DecoyCredentials(SCRAM_HASHES[mechanism], self._secret, stored)
            self._decoys[mechanism] = decoys
        return decoys.credential(user)

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
        before = self._credentials.pop(entity_path, {})
        if now := _credentials_in(values):
            self._credentials[entity_path] = now
        if now != before:
            self._decoys.clear()

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


def _credentials_in(values: Values) -> dict[str, ScramCredential]:
    """By mechanism; a credential that cannot be read is left out."""
    found = {}
    for mechanism in SCRAM_HASHES.keys() & values.keys():
        try:
            found[mechanism] = ScramCredential.parse(values[mechanism])
        except ValueError:
            continue
    return found


def _notify(entity_path: str) -> Op:
    data = ConfigChangeNode(entity_path).encode()
    return CreateOp(paths.CONFIG_CHANGE_PREFIX, data, sequential=True)
