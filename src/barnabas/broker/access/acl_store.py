"""The ACLs of the cluster in the metadata tree, in Kafka's layout, and their form in requests.

Literal patterns are stored below /kafka-acl, prefixed ones below /kafka-acl-extended, one node per
pattern. Every change is one multi of the node and a notification below /kafka-acl-changes or
/kafka-acl-extended-changes with the pattern that all brokers read again. Writes are conditional on
the version that was read, so concurrent writers lose no change.
"""

import enum
import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import TypeVar

from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BrokerError
from barnabas.runtime.clock import Clock
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
from barnabas.wire.messages.create_acls import AclCreation
from barnabas.wire.messages.delete_acls import DeleteAclsFilter
from barnabas.wire.messages.describe_acls import DescribeAclsRequest
from barnabas.zk import paths
from barnabas.zk.config_znodes import Acl, AclChangeNode, AclNode
from barnabas.zk.recipes import ChangeNotifications, write_if_unchanged
from barnabas.zk.tree import (
    CreateOp,
    DeleteOp,
    MetadataTree,
    NoNodeError,
    Op,
    SetOp,
)

_logger = logging.getLogger("barnabas.broker")

_TYPES = [kind for kind in ResourceType if kind.value > ResourceType.ANY.value]
# Another broker may change the same node; each attempt reads it again.
_ATTEMPTS = 20

Entries = frozenset[AccessEntry]


class AclStore:
    """Reads and changes the ACLs in the metadata tree.

    Owned by the broker's loop. The authorizers get a new set after every change.
    """

    def __init__(self, tree: MetadataTree, authorizers: Sequence[Authorizer], clock: Clock) -> None:
        self._tree = tree
        self._authorizers = authorizers
        self._acls = AclSet()
        self._notifications = [
            ChangeNotifications(tree, root, self._apply, logger=_logger, purge_clock=clock)
            for root in (paths.ACL_CHANGES, paths.EXTENDED_ACL_CHANGES)
        ]

    @property
    def acls(self) -> AclSet:
        return self._acls

    async def load(self) -> None:
        """Reads all ACLs; must be called before the broker serves requests."""
        for kind in _TYPES:
            await self._tree.ensure_path(f"{paths.ACLS}/{kind.label}")
            await self._tree.ensure_path(f"{paths.EXTENDED_ACLS}/prefixed/{kind.label}")
        for notifications in self._notifications:
            await notifications.skip_existing()
        bindings: list[AclBinding] = []
        for pattern in await self._patterns():
            entries, _ = await self._read(pattern)
            bindings += (AclBinding(pattern, entry) for entry in entries)
        self._use(AclSet(bindings))

    def start(self) -> None:
        """Starts to apply the changes that other brokers make."""
        for notifications in self._notifications:
            notifications.start()

    async def stop(self) -> None:
        for notifications in self._notifications:
            await notifications.stop()

    # --- changing --------------------------------------------------------------------------

    async def add(self, bindings: Iterable[AclBinding]) -> None:
        """Stores ACLs; they apply on this broker on return, on others after their notification."""
        for pattern, entries in _by_pattern(bindings).items():
            await self._change(pattern, entries.union)

    async def remove(self, chosen: AclFilter) -> list[AclBinding]:
        """Deletes every ACL that matches; returns the deleted ones."""
        gone = self.acls.matching(chosen)
        for pattern, entries in _by_pattern(gone).items():
            await self._change(pattern, partial(_without, entries))
        return gone

    async def _change(self, pattern: ResourcePattern, edit: Callable[[Entries], Entries]) -> None:
        for _ in range(_ATTEMPTS):
            known, version = await self._read(pattern)
            wanted = edit(known)
            ops = [_write(pattern, wanted, version), _notify(pattern)]
            if wanted == known or await write_if_unchanged(self._tree, ops):
                self._put(pattern, wanted)
                return
        raise BrokerError(ErrorCode.REQUEST_TIMED_OUT, "the ACLs are changed concurrently")

    async def _apply(self, notification: bytes) -> None:
        """Reads the ACLs of the pattern in a notification again."""
        kind, pattern_type, resource = AclChangeNode.decode(notification).words()
        pattern = ResourcePattern(
            ResourceType.from_label(kind), resource, PatternType.from_label(pattern_type)
        )
        entries, _ = await self._read(pattern)
        self._put(pattern, entries)

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
        self._use(
            known.without(AclBinding(pattern, entry) for entry in old - entries).with_added(
                AclBinding(pattern, entry) for entry in entries
            )
        )

    def _use(self, acls: AclSet) -> None:
        self._acls = acls
        for authorizer in self._authorizers:
            authorizer.acls = acls


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


# --- ACLs in requests ----------------------------------------------------------------------------


NumberedT = TypeVar("NumberedT", ResourceType, PatternType, Operation, Permission)


def number_of(member: enum.Enum) -> int:
    return int(member.value)


def binding_of(creation: AclCreation) -> AclBinding:
    """Returns the ACL to create; raises ValueError if it is not valid."""
    binding = AclBinding(
        ResourcePattern(
            _member(ResourceType, creation.resource_type),
            creation.resource_name,
            _member(PatternType, creation.resource_pattern_type),
        ),
        AccessEntry(
            creation.principal,
            creation.host,
            _member(Operation, creation.operation),
            _member(Permission, creation.permission_type),
        ),
    )
    problem = binding.problem()
    name = creation.resource_name
    if problem is None and ("/" in name or name in (".", "..") or not name.isprintable()):
        problem = "the resource name cannot be stored in the metadata tree"
    if problem is not None:
        raise ValueError(problem)
    return binding


def filter_of(request: DescribeAclsRequest | DeleteAclsFilter) -> AclFilter:
    """Returns the filter of a DescribeAcls or DeleteAcls request; raises ValueError."""
    return AclFilter(
        _known(_member(ResourceType, request.resource_type_filter)),
        request.resource_name_filter,
        _known(_member(PatternType, request.pattern_type_filter)),
        request.principal_filter,
        request.host_filter,
        _known(_member(Operation, request.operation)),
        _known(_member(Permission, request.permission_type)),
    )


def _member(kind: type[NumberedT], number: int) -> NumberedT:
    try:
        return kind(number)
    except ValueError:
        raise ValueError(f"{number} is not a valid {kind.__name__}") from None


def _known(member: NumberedT) -> NumberedT:
    if member.value == 0:
        raise ValueError(f"the filter has an unknown {type(member).__name__}")
    return member
