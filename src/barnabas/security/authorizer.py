"""Decides whether a principal may perform an operation, by an immutable set of ACLs.

Deny has precedence over allow. Without a matching ACL the operation is denied, unless
`allow.everyone.if.no.acl.found` is set and the resource has no ACL. Super users are allowed every
operation. A change replaces the whole set, so no decision uses a partial update (CVE-2024-27309).
"""

from collections.abc import Iterable

from barnabas.security.acl import (
    WILDCARD,
    AccessEntry,
    AclBinding,
    AclFilter,
    Operation,
    PatternType,
    Resource,
    ResourcePattern,
    ResourceType,
)
from barnabas.security.principal import Principal

# Resource names come from clients: the cache of decisions needs a limit.
MAX_REMEMBERED = 10_000


class AclSet:
    """ACLs, indexed by resource type and name. Immutable: a change creates a new set."""

    __slots__ = ("_bindings", "_by_pattern", "_prefix_lengths")

    def __init__(self, bindings: Iterable[AclBinding] = ()) -> None:
        self._bindings = frozenset(bindings)
        self._by_pattern: dict[ResourcePattern, list[AccessEntry]] = {}
        self._prefix_lengths: dict[ResourceType, tuple[int, ...]] = {}
        for binding in self._bindings:
            self._by_pattern.setdefault(binding.pattern, []).append(binding.entry)
        lengths: dict[ResourceType, set[int]] = {}
        for pattern in self._by_pattern:
            if pattern.pattern is PatternType.PREFIXED:
                lengths.setdefault(pattern.type, set()).add(len(pattern.name))
        self._prefix_lengths = {kind: tuple(sorted(found)) for kind, found in lengths.items()}

    def __len__(self) -> int:
        return len(self._bindings)

    def __contains__(self, binding: object) -> bool:
        return binding in self._bindings

    def matching(self, acl_filter: AclFilter) -> list[AclBinding]:
        return [binding for binding in self._bindings if acl_filter.matches(binding)]

    def with_added(self, bindings: Iterable[AclBinding]) -> "AclSet":
        return AclSet(self._bindings | frozenset(bindings))

    def without(self, bindings: Iterable[AclBinding]) -> "AclSet":
        return AclSet(self._bindings - frozenset(bindings))

    def entries_for(self, resource: Resource) -> list[AccessEntry]:
        """Returns the entries of every pattern that includes the resource.

        Needs one lookup per distinct length of a prefix, not one per ACL.
        """
        names = [(resource.name, PatternType.LITERAL), (WILDCARD, PatternType.LITERAL)]
        for length in self._prefix_lengths.get(resource.type, ()):
            if length > len(resource.name):
                break
            names.append((resource.name[:length], PatternType.PREFIXED))
        found: list[AccessEntry] = []
        for name, kind in dict.fromkeys(names):
            found += self._by_pattern.get(ResourcePattern(resource.type, name, kind), ())
        return found

    def of_pattern(self, pattern: ResourcePattern) -> frozenset[AccessEntry]:
        """Returns the entries of exactly this pattern."""
        return frozenset(self._by_pattern.get(pattern, ()))

    def of_type(self, resource_type: ResourceType) -> list[AclBinding]:
        return [binding for binding in self._bindings if binding.pattern.type is resource_type]


class Authorizer:
    """Decides for one broker or listener; caches decisions until the ACLs change."""

    def __init__(
        self,
        acls: AclSet | None = None,
        *,
        super_users: Iterable[Principal] = (),
        allow_everyone_if_no_acl_found: bool = False,
    ) -> None:
        self._acls = acls or AclSet()
        self._super_users = frozenset(super_users)
        self._open = allow_everyone_if_no_acl_found
        self._decided: dict[tuple[Principal, str, Operation, Resource], bool] = {}

    @property
    def acls(self) -> AclSet:
        return self._acls

    @acls.setter
    def acls(self, acls: AclSet) -> None:
        self._acls = acls
        self._decided = {}

    def authorize(
        self, principal: Principal, host: str, operation: Operation, resource: Resource
    ) -> bool:
        key = (principal, host, operation, resource)
        decision = self._decided.get(key)
        if decision is None:
            decision = self._decide(*key)
            if len(self._decided) >= MAX_REMEMBERED:
                self._decided.clear()
            self._decided[key] = decision
        return decision

    def _decide(
        self, principal: Principal, host: str, operation: Operation, resource: Resource
    ) -> bool:
        if principal in self._super_users:
            return True
        entries = self.acls.entries_for(resource)
        if not entries:
            return self._open
        mine = [entry for entry in entries if entry.applies_to(principal, host)]
        if any(entry.denies(operation) for entry in mine):
            return False
        return any(entry.allows(operation) for entry in mine)

    def authorize_any(
        self, principal: Principal, host: str, operation: Operation, resource_type: ResourceType
    ) -> bool:
        """Whether the operation is allowed on at least one resource of the type.

        Used for idempotent producers: InitProducerId without a transactional id has no topic
        (KIP-679). An allowed pattern that is completely denied does not count.
        """
        if principal in self._super_users:
            return True
        mine = [
            binding
            for binding in self.acls.of_type(resource_type)
            if binding.entry.applies_to(principal, host)
        ]
        denied = [binding.pattern for binding in mine if binding.entry.denies(operation)]
        if any(pattern == ResourcePattern(resource_type, WILDCARD) for pattern in denied):
            return False
        if self._open:
            return True
        allowed = [binding.pattern for binding in mine if binding.entry.allows(operation)]
        return any(not _taken_back(pattern, denied) for pattern in allowed)


def _taken_back(allowed: ResourcePattern, denied: Iterable[ResourcePattern]) -> bool:
    """Whether a denied pattern includes everything that the allowed pattern includes."""
    for pattern in denied:
        if pattern.pattern is PatternType.PREFIXED:
            everything = allowed.pattern is PatternType.LITERAL and allowed.name == WILDCARD
            if not everything and allowed.name.startswith(pattern.name):
                return True
        elif allowed == pattern:
            return True
    return False
