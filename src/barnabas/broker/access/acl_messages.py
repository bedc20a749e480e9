"""Access rules as requests carry them: numbers for types, operations and permissions."""

import enum
from typing import Any, TypeVar

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
from barnabas.wire.messages.create_acls import AclCreation

NumberedT = TypeVar("NumberedT", ResourceType, PatternType, Operation, Permission)


def number_of(member: enum.Enum) -> int:
    return int(member.value)


def binding_of(creation: AclCreation) -> AclBinding:
    """The rule to create; ValueError says why it cannot be one."""
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
        problem = "the resource name cannot be kept in the metadata tree"
    if problem is not None:
        raise ValueError(problem)
    return binding


def filter_of(request: Any) -> AclFilter:
    """The filter of a DescribeAcls request, or one of a DeleteAcls request; ValueError if none."""
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
        raise ValueError(f"{number} is no {kind.__name__}") from None


def _known(member: NumberedT) -> NumberedT:
    if member.value == 0:
        raise ValueError(f"the filter has an unknown {type(member).__name__}")
    return member
