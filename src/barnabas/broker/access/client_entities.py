"""Settings of users, client ids and addresses in the metadata tree: SCRAM credentials and quotas.

Kafka stores both in the same nodes: /config/users/U, /config/users/U/clients/C, /config/clients/C
and /config/ips/I, with `<default>` as a name. An entity is identified by its path below /config,
with sanitized names. `config_watch` receives the notifications. Brokers never get passwords
(KIP-554): clients send salted passwords.
"""

import secrets
from collections.abc import Callable, Iterable, Mapping

from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BrokerError
from barnabas.security.scram_keys import (
    MIN_ITERATIONS,
    SCRAM_HASHES,
    SCRAM_SHA_256,
    SCRAM_SHA_512,
    DecoyCredentials,
    ScramCredential,
    ScramHash,
)
from barnabas.wire.messages.alter_user_scram_credentials import (
    ScramCredentialDeletion,
    ScramCredentialUpsertion,
)
from barnabas.zk import paths
from barnabas.zk.config_znodes import ConfigChangeNode, ConfigNode
from barnabas.zk.recipes import write_if_unchanged
from barnabas.zk.tree import (
    CreateOp,
    MetadataTree,
    NodeExistsError,
    NoNodeError,
    Op,
    SetOp,
)

KINDS = ("users", "clients", "ips")
# Another broker may change the same node; each attempt reads it again.
_ATTEMPTS = 20
_SECRET_BYTES = 32

Values = dict[str, str]


class ClientEntities:
    """Reads and changes the settings of users, client ids and addresses.

    Owned by the broker's loop.
    """

    def __init__(self, tree: MetadataTree, on_change: Callable[[], None]) -> None:
        self._tree = tree
        self._on_change = on_change
        self._values: dict[str, Values] = {}
        self._credentials: dict[str, dict[str, ScramCredential]] = {}
        self._secret = secrets.token_bytes(_SECRET_BYTES)
        self._decoys: dict[str, DecoyCredentials] = {}

    async def load(self) -> None:
        """Reads all entities; must be called before the broker serves requests."""
        for kind in KINDS:
            for name in await self._children(f"/config/{kind}"):
                await self._load_one(f"{kind}/{name}")
                if kind == "users":
                    for client in await self._children(f"/config/users/{name}/clients"):
                        await self._load_one(f"users/{name}/clients/{client}")
        self._on_change()

    async def reload(self, entity_path: str) -> None:
        """Reads an entity again and applies its settings."""
        await self._load_one(entity_path)
        self._on_change()

    def all(self) -> Mapping[str, Mapping[str, str]]:
        """Returns the settings of all entities that have any."""
        return self._values

    def of(self, entity_path: str) -> Mapping[str, str]:
        return self._values.get(entity_path, {})

    async def load_decoy_secret(self) -> None:
        """Reads the key of `decoy`, which all brokers share; the first broker creates it."""
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
        """Returns the stored credential of a user; None if there is no valid one."""
        return self._credentials.get(paths.config_entity("users", user), {}).get(mechanism)

    def decoy(self, user: str, mechanism: str) -> ScramCredential:
        """Returns the credential for a login of an unknown user."""
        decoys = self._decoys.get(mechanism)
        if decoys is None:
            stored = (each[mechanism] for each in self._credentials.values() if mechanism in each)
            decoys = DecoyCredentials(SCRAM_HASHES[mechanism], self._secret, stored)
            self._decoys[mechanism] = decoys
        return decoys.credential(user)

    async def change(self, entity_path: str, edit: Callable[[Values], None]) -> None:
        """Changes the settings of an entity; they apply on this broker on return."""
        for _ in range(_ATTEMPTS):
            values, version = await self._read(entity_path)
            before = dict(values)
            edit(values)
            if values == before:
                return
            write = await self._write(entity_path, values, version)
            if await write_if_unchanged(self._tree, [write, _notify(entity_path)]):
                await self.reload(entity_path)
                return
        raise BrokerError(ErrorCode.REQUEST_TIMED_OUT, "the settings are changed concurrently")

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
    """Returns the valid credentials by mechanism."""
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


# --- SCRAM users ---------------------------------------------------------------------------------


MECHANISMS: dict[int, ScramHash] = {1: SCRAM_SHA_256, 2: SCRAM_SHA_512}
_MAX_ITERATIONS = 16_384
"""Kafka's bound for stored credentials: every login of the user pays for it."""

Change = ScramCredentialDeletion | ScramCredentialUpsertion


def scram_users(entities: ClientEntities) -> list[str]:
    """Returns the users that have a credential."""
    names = {scram.mechanism for scram in MECHANISMS.values()}
    return [
        paths.desanitize(path.removeprefix("users/"))
        for path, values in sorted(entities.all().items())
        if path.startswith("users/") and path.count("/") == 1 and names.intersection(values)
    ]


def credentials_of(entities: ClientEntities, user: str) -> dict[int, ScramCredential]:
    """Returns the credentials of a user by the number of the mechanism."""
    found = {}
    for number, scram in MECHANISMS.items():
        credential = entities.credential(user, scram.mechanism)
        if credential is not None:
            found[number] = credential
    return found


def check_change(change: Change) -> None:
    """Raises BrokerError if the change is invalid."""
    if not change.name or change.name == paths.DEFAULT_ENTITY:
        raise BrokerError(ErrorCode.UNACCEPTABLE_CREDENTIAL, "the user name is empty")
    if change.mechanism not in MECHANISMS:
        raise BrokerError(ErrorCode.UNSUPPORTED_SASL_MECHANISM)
    if isinstance(change, ScramCredentialUpsertion):
        if not MIN_ITERATIONS <= change.iterations <= _MAX_ITERATIONS:
            text = f"iterations must be {MIN_ITERATIONS} to {_MAX_ITERATIONS}"
            raise BrokerError(ErrorCode.UNACCEPTABLE_CREDENTIAL, text)
        if not change.salt or not change.salted_password:
            text = "salt and salted password are needed"
            raise BrokerError(ErrorCode.UNACCEPTABLE_CREDENTIAL, text)


async def change_user(entities: ClientEntities, user: str, changes: Iterable[Change]) -> None:
    """Applies all changes of one user, or none."""
    changes = list(changes)

    def edit(values: Values) -> None:
        for change in changes:
            name = MECHANISMS[change.mechanism].mechanism
            if isinstance(change, ScramCredentialUpsertion):
                values[name] = _credential(change).render()
            elif values.pop(name, None) is None:
                text = f"user {user!r} has no {name} credential"
                raise BrokerError(ErrorCode.RESOURCE_NOT_FOUND, text)

    await entities.change(paths.config_entity("users", user), edit)


def _credential(change: ScramCredentialUpsertion) -> ScramCredential:
    try:
        return ScramCredential.from_salted_password(
            MECHANISMS[change.mechanism],
            change.salted_password,
            change.salt,
            change.iterations,
        )
    except ValueError as error:
        raise BrokerError(ErrorCode.UNACCEPTABLE_CREDENTIAL, str(error)) from None
