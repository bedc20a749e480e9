"""ACLs: describe, create, delete. The value types are those of `barnabas.security.acl`."""

from collections.abc import Iterable
from typing import Any

from barnabas.admin.results import Results, error_of, raise_error
from barnabas.admin.session import AdminCalls
from barnabas.model.errors import BarnabasError
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
from barnabas.wire.messages.create_acls import AclCreation, CreateAclsRequest
from barnabas.wire.messages.delete_acls import (
    DeleteAclsFilter,
    DeleteAclsFilterResult,
    DeleteAclsRequest,
)
from barnabas.wire.messages.describe_acls import DescribeAclsRequest


class AclCalls(AdminCalls):
    """Calls on ACLs."""

    async def describe_acls(
        self, chosen: AclFilter | None = None, *, timeout: float | None = None
    ) -> list[AclBinding]:
        """Returns the ACLs that match a filter (default: all)."""
        deadline = self._deadline("describe ACLs", timeout)
        request = DescribeAclsRequest(**_filter_fields(chosen or AclFilter()))
        response = await self._session.to_any(request, deadline)
        raise_error(response)
        return [
            AclBinding(
                _pattern(resource),
                AccessEntry(
                    item.principal,
                    item.host,
                    Operation(item.operation),
                    Permission(item.permission_type),
                ),
            )
            for resource in response.resources
            for item in resource.acls
        ]

    async def create_acls(
        self, bindings: Iterable[AclBinding], *, timeout: float | None = None
    ) -> Results[AclBinding, None]:
        """Add ACLs; existing ACLs stay unchanged."""
        deadline = self._deadline("create ACLs", timeout)
        rules = list(dict.fromkeys(bindings))
        request = CreateAclsRequest(creations=[_creation(rule) for rule in rules])
        response = await self._session.to_controller(request, deadline)
        outcomes = zip(rules, response.results, strict=True)
        return Results({rule: error_of(item) for rule, item in outcomes})

    async def delete_acls(
        self, filters: Iterable[AclFilter], *, timeout: float | None = None
    ) -> Results[AclFilter, tuple[AclBinding, ...]]:
        """Delete the ACLs that match each filter; returns the deleted ACLs."""
        deadline = self._deadline("delete ACLs", timeout)
        chosen = list(dict.fromkeys(filters))
        request = DeleteAclsRequest(
            filters=[DeleteAclsFilter(**_filter_fields(each)) for each in chosen]
        )
        response = await self._session.to_controller(request, deadline)
        outcomes = zip(chosen, response.filter_results, strict=True)
        return Results({each: error_of(item) or _deleted(item) for each, item in outcomes})


def _filter_fields(chosen: AclFilter) -> dict[str, Any]:
    """Returns the fields that DescribeAcls and the filters of DeleteAcls share."""
    return {
        "resource_type_filter": chosen.resource_type.value,
        "resource_name_filter": chosen.name,
        "pattern_type_filter": chosen.pattern.value,
        "principal_filter": chosen.principal,
        "host_filter": chosen.host,
        "operation": chosen.operation.value,
        "permission_type": chosen.permission.value,
    }


def _creation(rule: AclBinding) -> AclCreation:
    return AclCreation(
        resource_type=rule.pattern.type.value,
        resource_name=rule.pattern.name,
        resource_pattern_type=rule.pattern.pattern.value,
        principal=rule.entry.principal,
        host=rule.entry.host,
        operation=rule.entry.operation.value,
        permission_type=rule.entry.permission.value,
    )


def _pattern(item: Any) -> ResourcePattern:
    return ResourcePattern(
        ResourceType(item.resource_type), item.resource_name, PatternType(item.pattern_type)
    )


def _deleted(result: DeleteAclsFilterResult) -> tuple[AclBinding, ...] | BarnabasError:
    rules = []
    for item in result.matching_acls:
        error = error_of(item)
        if error is not None:
            return error
        entry = AccessEntry(
            item.principal, item.host, Operation(item.operation), Permission(item.permission_type)
        )
        rules.append(AclBinding(_pattern(item), entry))
    return tuple(rules)
