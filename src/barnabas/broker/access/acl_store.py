"""The cluster's access rules as the metadata tree has them, in Kafka's layout.

Literal rules lie below /kafka-acl, prefixed ones below /kafka-acl-extended, one node per pattern.
Every change is one multi of the node and a notification below /kafka-acl-changes or
/kafka-acl-extended-changes, which names the pattern that all brokers read again. A node is
written only over the version that was read, so that two writers lose nothing.
"""

import asyncio
import contextlib
import logging
from collections.abc import Callable, Iterable, Mapping
from functools import partial

from barnabas.model.clock import Clock
from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BrokerError, ProtocolError
from barnabas.security.acl import (
    AccessEntry,
    AclBinding,
    AclFilter,
    Operation,
    PatternType,
    Permission,
    ResourcePattern,
    ResourceType,
)
from barnabas.security.authorizer import AclSet, Authorizer
from barnabas.zk import paths
from barnabas.zk.config_znodes import Acl, AclChangeNode, AclNode
from barnabas.zk.tree import (
    BadVersionError,
    CreateOp,
    DeleteOp,
    MetadataTree,
    MultiError,
    NodeExistsError,
    NoNodeError,
    Op,
    SetOp,
    TreeError,
    WatchEvent,
)

_logger = logging.getLogger("barnabas.broker")

_TYPES = [kind for kind in ResourceType if kind.value > ResourceType.ANY.value]
_ATTEMPTS = 20
_RETRY_S = 1.0
_NOTIFICATION_LIFE_MS = 15 * 60 * 1000
_CHANGE_ROOTS = (paths.ACL_CHANGES, paths.EXTENDED_ACL_CHANGES)

Entries = frozenset[AccessEntry]


class AclStore:
    """Owned by the broker's loop; gives its authorizer a new set after every change."""

    def __init__(self, tree: MetadataTree, authorizer: Authorizer, clock: Clock) -> None:
        self._tree = tree
        self._authorizer = authorizer
        self._clock = clock
        self._seen = dict.fromkeys(_CHANGE_ROOTS, "")
        self._changed = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    @property
    def acls(self) -> AclSet:
        return self._authorizer.acls

    async def load(self) -> None:
        """Read all rules; before the broker serves anybody."""
        for kind in _TYPES:
            await self._tree.ensure_path(f"{paths.ACLS}/{kind.label}")
            await self._tree.ensure_path(f"{paths.EXTENDED_ACLS}/prefixed/{kind.label}")
        for root in _CHANGE_ROOTS:
            await self._tree.ensure_path(root)
            self._seen[root] = max(await self._tree.children(root), default="")
        bindings: list[AclBinding] = []
        for pattern in await self._patterns():
            entries, _ = await self._read(pattern)
            bindings += (AclBinding(pattern, entry) for entry in entries)
        self._authorizer.acls = AclSet(bindings)

    def start(self) -> None:
        """Follow the notifications from now on."""
        self._changed.set()
        self._task = asyncio.get_running_loop().create_task(self._run(), name="acl-store")

    async def stop(self) -> None:
        if self._task is not None:
            self._task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._task
            self._task = None

    # --- changing --------------------------------------------------------------------------

    async def add(self, bindings: Iterable[AclBinding]) -> None:
        """Write rules; here they are in force on return, elsewhere soon."""
        for pattern, entries in _by_pattern(bindings).items():
            await self._change(pattern, entries.union)

    async def remove(self, chosen: AclFilter) -> list[AclBinding]:
        """Take away every rule that matches; those that were there."""
        gone = self.acls.matching(chosen)
        for pattern, entries in _by_pattern(gone).items():
            await self._change(pattern, partial(_without, entries))
        return gone

    async def _change(self, pattern: ResourcePattern, edit: Callable[[Entries], Entries]) -> None:
        for _ in range(_ATTEMPTS):
            known, version = await self._read(pattern)
            wanted = edit(known)
            if wanted != known:
                try:
                    await self._tree.multi([_write(pattern, wanted, version), _notify(pattern)])
                except MultiError as error:
                    if isinstance(error.cause, BadVersionError | NodeExistsError | NoNodeError):
                        continue
                    raise error.cause from error
            self._put(pattern, wanted)
            return
        raise BrokerError(ErrorCode.REQUEST_TIMED_OUT, "the rules keep changing")

    # --- following -------------------------------------------------------------------------

    async def _run(self) -> None:
        while True:
            await self._changed.wait()
            self._changed.clear()
            try:
                for root in _CHANGE_ROOTS:
                    await self._process(root)
            except TreeError as error:
                _logger.warning("reading access rules failed, trying again: %s", error)
                await asyncio.sleep(_RETRY_S)
                self._changed.set()

    async def _process(self, root: str) -> None:
        names = sorted(await self._tree.children(root, self._on_event))
        for name in names:
            if name > self._seen[root]:
                await self._follow(root, name)
                self._seen[root] = name
        await self._purge(root, names)

    async def _follow(self, root: str, name: str) -> None:
        try:
            data, _ = await self._tree.get(f"{root}/{name}")
            kind, pattern_type, resource = AclChangeNode.decode(data).words()
            pattern = ResourcePattern(
                ResourceType.from_label(kind), resource, PatternType.from_label(pattern_type)
            )
            entries, _ = await self._read(pattern)
            self._put(pattern, entries)
        except NoNodeError:
            return
        except (ProtocolError, ValueError, KeyError) as error:
            _logger.warning("the change %s of access rules is ignored: %s", name, error)

    async def _purge(self, root: str, names: Iterable[str]) -> None:
        """Remove notifications that all brokers have had time to see."""
        now_ms = self._clock.now_ms()
        for name in names:
            stat = await self._tree.exists(f"{root}/{name}")
            if stat is None:
                continue
            if now_ms - stat.ctime_ms <= _NOTIFICATION_LIFE_MS:
                return  # the rest is younger
            with contextlib.suppress(NoNodeError):
                await self._tree.delete(f"{root}/{name}")

    def _on_event(self, event: WatchEvent) -> None:
        self._changed.set()

    # --- reading ---------------------------------------------------------------------------

    async def _patterns(self) -> list[ResourcePattern]:
        found = []
        for kind in _TYPES:
            for name in await self._tree.children(f"{paths.ACLS}/{kind.label}"):
                found.append(ResourcePattern(kind, name))
            for name in await self._tree.children(f"{paths.EXTENDED_ACLS}/prefixed/{kind.label}"):
                found.append(ResourcePattern(kind, name, PatternType.PREFIXED))
        return found

    async def _read(self, pattern: ResourcePattern) -> tuple[Entries, int | None]:
        try:
            data, stat = await self._tree.get(_path(pattern))
        except NoNodeError:
            return frozenset(), None
        return frozenset(map(_entry, AclNode.decode(data).acls)), stat.version

    def _put(self, pattern: ResourcePattern, entries: Entries) -> None:
        known = self.acls
        old = known.of_pattern(pattern)
        if old == entries:
            return
        self._authorizer.acls = known.without(
            AclBinding(pattern, entry) for entry in old - entries
        ).with_added(AclBinding(pattern, entry) for entry in entries)


def _path(pattern: ResourcePattern) -> str:
    if pattern.pattern is PatternType.PREFIXED:
        return paths.prefixed_acls(pattern.type.label, pattern.name)
    return paths.acls(pattern.type.label, pattern.name)


def _entry(acl: Acl) -> AccessEntry:
    return AccessEntry(
        acl.principal,
        acl.host,
        Operation.from_label(acl.operation),
        Permission.from_label(acl.permission),
    )


def _write(pattern: ResourcePattern, entries: Entries, version: int | None) -> Op:
    path = _path(pattern)
    if not entries and version is not None:
        return DeleteOp(path, version)
    listed = sorted(
        Acl(entry.principal, entry.permission.label, entry.operation.label, entry.host)
        for entry in entries
    )
    data = AclNode(tuple(listed)).encode()
    return CreateOp(path, data) if version is None else SetOp(path, data, version)


def _notify(pattern: ResourcePattern) -> Op:
    prefix = paths.ACL_CHANGE_PREFIX
    change = AclChangeNode(pattern.type.label, pattern.name)
    if pattern.pattern is PatternType.PREFIXED:
        prefix = paths.EXTENDED_ACL_CHANGE_PREFIX
        change = AclChangeNode(pattern.type.name, pattern.name, pattern.pattern.name)
    return CreateOp(prefix, change.encode(), sequential=True)


def _without(gone: Entries, known: Entries) -> Entries:
    return known - gone


def _by_pattern(bindings: Iterable[AclBinding]) -> Mapping[ResourcePattern, Entries]:
    found: dict[ResourcePattern, set[AccessEntry]] = {}
    for binding in bindings:
        found.setdefault(binding.pattern, set()).add(binding.entry)
    return {pattern: frozenset(entries) for pattern, entries in found.items()}
