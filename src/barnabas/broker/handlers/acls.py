"""Handlers of the ACL APIs: DescribeAcls, CreateAcls, DeleteAcls.

Without an authorizer all three return SECURITY_DISABLED, as in Kafka.
"""

from typing import Protocol

from barnabas.broker.access.acl_store import AclStore, binding_of, filter_of, number_of
from barnabas.broker.error_responses import code_and_message
from barnabas.broker.handler import ApiHandler, HandlerContext, RequestPorts, Result
from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BrokerError
from barnabas.security.acl import AclBinding
from barnabas.wire.api_keys import ApiKey
from barnabas.wire.messages.create_acls import (
    AclCreationResult,
    CreateAclsRequest,
    CreateAclsResponse,
)
from barnabas.wire.messages.delete_acls import (
    DeleteAclsFilter,
    DeleteAclsFilterResult,
    DeleteAclsMatchingAcl,
    DeleteAclsRequest,
    DeleteAclsResponse,
)
from barnabas.wire.messages.describe_acls import (
    AclDescription,
    DescribeAclsRequest,
    DescribeAclsResource,
    DescribeAclsResponse,
)
from barnabas.zk.tree import TreeError


class AclPorts(RequestPorts, Protocol):
    """Parts of the broker that these handlers use."""

    acl_store: AclStore | None


# --- DescribeAcls ---------------------------------------------------------------------------------


def handle_describe_acls(ctx: HandlerContext[AclPorts], request: DescribeAclsRequest) -> Result:
    """Returns the ACLs that match a filter. v1 pattern types; v2 flexible."""
    store = ctx.services.acl_store
    if store is None:
        return _failed_description(ErrorCode.SECURITY_DISABLED, "no authorizer is configured")
    try:
        chosen = filter_of(request)
    except ValueError as error:
        return _failed_description(ErrorCode.INVALID_REQUEST, str(error))
    resources: dict[object, DescribeAclsResource] = {}
    for binding in sorted(store.acls.matching(chosen), key=_sort_key):
        pattern, entry = binding.pattern, binding.entry
        resource = resources.setdefault(
            pattern,
            DescribeAclsResource(
                number_of(pattern.type), pattern.name, number_of(pattern.pattern), []
            ),
        )
        resource.acls.append(
            AclDescription(
                entry.principal, entry.host, number_of(entry.operation), number_of(entry.permission)
            )
        )
    return DescribeAclsResponse(resources=list(resources.values()))


def _sort_key(binding: AclBinding) -> tuple[object, ...]:
    pattern, entry = binding.pattern, binding.entry
    return (
        pattern.type.value,
        pattern.name,
        pattern.pattern.value,
        entry.principal,
        entry.operation.value,
        entry.permission.value,
        entry.host,
    )


def _failed_description(code: ErrorCode, text: str) -> DescribeAclsResponse:
    return DescribeAclsResponse(error_code=code, error_message=text)


# --- CreateAcls -----------------------------------------------------------------------------------


async def handle_create_acls(
    ctx: HandlerContext[AclPorts], request: CreateAclsRequest
) -> CreateAclsResponse:
    """Adds ACLs, each with its own result. v1 pattern types; v2 flexible."""
    store = ctx.services.acl_store
    if store is None:
        text = "no authorizer is configured"
        rejected = [AclCreationResult(ErrorCode.SECURITY_DISABLED, text) for _ in request.creations]
        return CreateAclsResponse(results=rejected)
    results = [AclCreationResult(0, None) for _ in request.creations]
    wanted: list[tuple[AclBinding, AclCreationResult]] = []
    for creation, result in zip(request.creations, results, strict=True):
        try:
            wanted.append((binding_of(creation), result))
        except ValueError as error:
            result.error_code, result.error_message = ErrorCode.INVALID_REQUEST, str(error)
    failure = await _add(store, [binding for binding, _ in wanted])
    if failure is not None:
        for _, result in wanted:
            result.error_code, result.error_message = failure.code, failure.message
    return CreateAclsResponse(results=results)


async def _add(store: AclStore, bindings: list[AclBinding]) -> BrokerError | None:
    try:
        await store.add(bindings)
    except BrokerError as error:
        return error
    except TreeError as error:
        return BrokerError(ErrorCode.REQUEST_TIMED_OUT, str(error))
    return None


# --- DeleteAcls -----------------------------------------------------------------------------------


async def handle_delete_acls(
    ctx: HandlerContext[AclPorts], request: DeleteAclsRequest
) -> DeleteAclsResponse:
    """Deletes the ACLs that match filters. v1 pattern types; v2 flexible."""
    store = ctx.services.acl_store
    if store is None:
        rejected = _failed_deletion(ErrorCode.SECURITY_DISABLED, "no authorizer is configured")
        return DeleteAclsResponse(filter_results=[rejected for _ in request.filters])
    return DeleteAclsResponse(
        filter_results=[await _delete(store, chosen) for chosen in request.filters]
    )


async def _delete(store: AclStore, chosen: DeleteAclsFilter) -> DeleteAclsFilterResult:
    try:
        gone = await store.remove(filter_of(chosen))
    except ValueError as error:
        return _failed_deletion(ErrorCode.INVALID_REQUEST, str(error))
    except (BrokerError, TreeError) as error:
        return _failed_deletion(*code_and_message(error))
    return DeleteAclsFilterResult(0, None, [_matching(binding) for binding in gone])


def _matching(binding: AclBinding) -> DeleteAclsMatchingAcl:
    pattern, entry = binding.pattern, binding.entry
    return DeleteAclsMatchingAcl(
        0,
        None,
        number_of(pattern.type),
        pattern.name,
        number_of(pattern.pattern),
        entry.principal,
        entry.host,
        number_of(entry.operation),
        number_of(entry.permission),
    )


def _failed_deletion(code: ErrorCode, text: str) -> DeleteAclsFilterResult:
    return DeleteAclsFilterResult(code, text, [])


HANDLERS = (
    ApiHandler(ApiKey.DESCRIBE_ACLS, (1, 3), handle_describe_acls),
    ApiHandler(ApiKey.CREATE_ACLS, (1, 3), handle_create_acls),
    ApiHandler(ApiKey.DELETE_ACLS, (1, 3), handle_delete_acls),
)
