"""ACLs: resources, patterns, operations, entries, and filters over them.

Value types only; `authorizer` decides by them. Numbers and names are those of the protocol. In
ZooKeeper a name is written in capitalized words without separators (`DescribeConfigs`).
"""

import enum
from dataclasses import dataclass
from functools import cache
from typing import Self

from barnabas.security.principal import USER, Principal

WILDCARD = "*"
CLUSTER_NAME = "kafka-cluster"


class _Named(enum.Enum):
    @property
    def label(self) -> str:
        """The name in ZooKeeper and in the tools."""
        return "".join(word.capitalize() for word in self.name.split("_"))

    @classmethod
    def from_label(cls, label: str) -> Self:
        """Returns the member of this name, in any case, with or without separators.

        Raises ValueError for an unknown name.
        """
        plain = label.replace("_", "").replace("-", "").lower()
        for member in cls:
            if member.name.replace("_", "").lower() == plain:
                return member
        raise ValueError(f"unknown {cls.__name__} {label!r}")


class ResourceType(_Named):
    """Types of resources; ANY is for filters."""

    UNKNOWN = 0
    ANY = 1
    TOPIC = 2
    GROUP = 3
    CLUSTER = 4
    TRANSACTIONAL_ID = 5
    DELEGATION_TOKEN = 6
    USER = 7


class PatternType(_Named):
    """How the name of a pattern selects resources. ANY and MATCH are for filters.

    LITERAL is one name, or `*` for all; PREFIXED all names that begin with it. A filter with MATCH
    selects every pattern, literal or prefixed, that covers the name.
    """

    UNKNOWN = 0
    ANY = 1
    MATCH = 2
    LITERAL = 3
    PREFIXED = 4


class Operation(_Named):
    """Operations on resources; ALL includes every operation, ANY is for filters."""

    UNKNOWN = 0
    ANY = 1
    ALL = 2
    READ = 3
    WRITE = 4
    CREATE = 5
    DELETE = 6
    ALTER = 7
    DESCRIBE = 8
    CLUSTER_ACTION = 9
    DESCRIBE_CONFIGS = 10
    ALTER_CONFIGS = 11
    IDEMPOTENT_WRITE = 12
    CREATE_TOKENS = 13
    DESCRIBE_TOKENS = 14


class Permission(_Named):
    """Whether an entry allows or denies; ANY is for filters."""

    UNKNOWN = 0
    ANY = 1
    DENY = 2
    ALLOW = 3


_O = Operation
_R = ResourceType

SUPPORTED_OPERATIONS: dict[ResourceType, frozenset[Operation]] = {
    _R.TOPIC: frozenset(
        {
            _O.READ,
            _O.WRITE,
            _O.CREATE,
            _O.DESCRIBE,
            _O.DELETE,
            _O.ALTER,
            _O.DESCRIBE_CONFIGS,
            _O.ALTER_CONFIGS,
        }
    ),
    _R.GROUP: frozenset({_O.READ, _O.DESCRIBE, _O.DELETE, _O.DESCRIBE_CONFIGS, _O.ALTER_CONFIGS}),
    _R.CLUSTER: frozenset(
        {
            _O.CREATE,
            _O.CLUSTER_ACTION,
            _O.DESCRIBE_CONFIGS,
            _O.ALTER_CONFIGS,
            _O.IDEMPOTENT_WRITE,
            _O.ALTER,
            _O.DESCRIBE,
        }
    ),
    _R.TRANSACTIONAL_ID: frozenset({_O.DESCRIBE, _O.WRITE}),
    _R.DELEGATION_TOKEN: frozenset({_O.DESCRIBE}),
    _R.USER: frozenset({_O.CREATE_TOKENS, _O.DESCRIBE_TOKENS}),
}

NOT_REQUESTED = -(2**31)
"""The authorized operations in responses to requests that do not ask for them (KIP-430)."""


@cache
def all_operations(kind: ResourceType) -> int:
    """Returns every operation of a resource type as the bit set of responses (KIP-430).

    Bit N stands for the operation with number N. This is the set of each caller if the broker has
    no authorizer.
    """
    return sum(1 << int(operation.value) for operation in SUPPORTED_OPERATIONS[kind])


# An allowed operation of the value implies the key; a denied operation implies nothing.
IMPLIES: dict[Operation, frozenset[Operation]] = {
    _O.DESCRIBE: frozenset({_O.DESCRIBE, _O.READ, _O.WRITE, _O.DELETE, _O.ALTER}),
    _O.DESCRIBE_CONFIGS: frozenset({_O.DESCRIBE_CONFIGS, _O.ALTER_CONFIGS}),
}


@dataclass(frozen=True, slots=True)
class Resource:
    """A resource of a request."""

    type: ResourceType
    name: str


CLUSTER = Resource(ResourceType.CLUSTER, CLUSTER_NAME)


@dataclass(frozen=True, slots=True)
class ResourcePattern:
    """The resources of an ACL; the literal name `*` means all resources of the type."""

    type: ResourceType
    name: str
    pattern: PatternType = PatternType.LITERAL

    def covers(self, name: str) -> bool:
        """Whether the pattern includes the resource of this name and the same type."""
        if self.pattern is PatternType.PREFIXED:
            return name.startswith(self.name)
        return self.name in (name, WILDCARD)


@dataclass(frozen=True, slots=True)
class AccessEntry:
    """Principal, host, operation, and whether it is allowed or denied."""

    principal: str
    host: str
    operation: Operation
    permission: Permission

    def applies_to(self, principal: Principal, host: str) -> bool:
        """Returns whether the entry is for this principal on this host."""
        if self.host not in (WILDCARD, host):
            return False
        any_user = principal.kind == USER and self.principal == f"{USER}:{WILDCARD}"
        return any_user or self.principal == str(principal)

    def allows(self, operation: Operation) -> bool:
        """Returns whether the entry allows the operation; see `IMPLIES`."""
        granted = IMPLIES.get(operation, frozenset({operation}))
        return self.permission is Permission.ALLOW and (
            self.operation is Operation.ALL or self.operation in granted
        )

    def denies(self, operation: Operation) -> bool:
        """Returns whether the entry denies the operation."""
        return self.permission is Permission.DENY and self.operation in (
            Operation.ALL,
            operation,
        )


@dataclass(frozen=True, slots=True)
class AclBinding:
    """An ACL: an entry for a pattern."""

    pattern: ResourcePattern
    entry: AccessEntry

    def __str__(self) -> str:
        pattern, entry = self.pattern, self.entry
        resource = f"{pattern.pattern.label.lower()} {pattern.type.label} {pattern.name}"
        permission = f"{entry.permission.label} {entry.operation.label}"
        return f"{permission} on {resource} to {entry.principal} from host {entry.host}"

    def problem(self) -> str | None:
        """Returns why this is not a valid ACL (a filter allows more values), or None."""
        if self.pattern.pattern not in (PatternType.LITERAL, PatternType.PREFIXED):
            return "the pattern type must be literal or prefixed"
        if self.pattern.type not in SUPPORTED_OPERATIONS:
            return "the resource type must not be ANY or UNKNOWN"
        if self.entry.operation in (Operation.UNKNOWN, Operation.ANY):
            return "the operation must not be ANY or UNKNOWN"
        if self.entry.permission not in (Permission.ALLOW, Permission.DENY):
            return "the permission must be allow or deny"
        return self._name_problem()

    def idle_problem(self) -> str | None:
        """Returns why this ACL has no effect although brokers accept it, or None."""
        known = SUPPORTED_OPERATIONS[self.pattern.type]
        if self.entry.operation is Operation.ALL or self.entry.operation in known:
            return None
        return f"{self.pattern.type.label} has no operation {self.entry.operation.label}"

    def _name_problem(self) -> str | None:
        if not self.pattern.name:
            return "the resource name is empty"
        if self.pattern.type is ResourceType.CLUSTER and self.pattern.name != CLUSTER_NAME:
            return f"the name of the cluster resource must be {CLUSTER_NAME}"
        try:
            Principal.parse(self.entry.principal)
        except ValueError as error:
            return str(error)
        return None if self.entry.host else "the host is empty"


@dataclass(frozen=True, slots=True)
class AclFilter:
    """Selects ACLs for DescribeAcls and DeleteAcls; None and ANY match every value."""

    resource_type: ResourceType = ResourceType.ANY
    name: str | None = None
    pattern: PatternType = PatternType.ANY
    principal: str | None = None
    host: str | None = None
    operation: Operation = Operation.ANY
    permission: Permission = Permission.ANY

    def matches(self, binding: AclBinding) -> bool:
        """Returns whether the filter selects this ACL."""
        entry = binding.entry
        return (
            self.resource_type in (ResourceType.ANY, binding.pattern.type)
            and self._matches_pattern(binding.pattern)
            and self.principal in (None, entry.principal)
            and self.host in (None, entry.host)
            and self.operation in (Operation.ANY, entry.operation)
            and self.permission in (Permission.ANY, entry.permission)
        )

    def _matches_pattern(self, pattern: ResourcePattern) -> bool:
        if self.pattern is PatternType.MATCH:
            return self.name is None or pattern.covers(self.name)
        if self.pattern not in (PatternType.ANY, pattern.pattern):
            return False
        return self.name in (None, pattern.name)
