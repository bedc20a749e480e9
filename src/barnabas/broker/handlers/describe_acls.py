"""DescribeAcls: returns the ACLs that match a filter. v1 pattern types; v2 flexible."""

from typing import Protocol

from barnabas.broker.access.acl_messages import filter_of, number_of
from barnabas.broker.access.acl_store import AclStore
from barnabas.broker.handler import ApiHandler, HandlerContext, RequestPorts, Result
from barnabas.model.error_codes import ErrorCode
from barnabas.security.acl import AclBinding
from barnabas.wire.api_keys import ApiKey
from barnabas.wire.messages.describe_acls import (
    AclDescription,
    DescribeAclsRequest,
    DescribeAclsResource,
    DescribeAclsResponse,
)


class Ports(RequestPorts, Protocol):
    """Parts of the broker that this handler uses."""

    acl_store: AclStore | None


def handle_describe_acls(ctx: HandlerContext[Ports], request: DescribeAclsRequest) -> Result:
    store = ctx.services.acl_store
    if store is None:
        return _failed(ErrorCode.SECURITY_DISABLED, "no authorizer is configured")
    try:
        chosen = filter_of(request)
    except ValueError as error:
        return _failed(ErrorCode.INVALID_REQUEST, str(error))
    resources: dict[object, DescribeAclsResource] = {}
    for binding in sorted(store.acls.matching(chosen), key=_order):
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


def _order(binding: AclBinding) -> tuple[object, ...]:
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


def _failed(code: ErrorCode, text: str) -> DescribeAclsResponse:
    return DescribeAclsResponse(error_code=code, error_message=text)


HANDLER = ApiHandler(ApiKey.DESCRIBE_ACLS, (1, 3), handle_describe_acls)
