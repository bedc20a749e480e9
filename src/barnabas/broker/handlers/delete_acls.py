"""DeleteAcls: deletes the ACLs that match filters. v1 pattern types; v2 flexible."""

from typing import Protocol

from barnabas.broker.access.acl_messages import filter_of, number_of
from barnabas.broker.access.acl_store import AclStore
from barnabas.broker.handler import ApiHandler, HandlerContext, RequestPorts
from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BrokerError
from barnabas.security.acl import AclBinding
from barnabas.wire.api_keys import ApiKey
from barnabas.wire.messages.delete_acls import (
    DeleteAclsFilter,
    DeleteAclsFilterResult,
    DeleteAclsMatchingAcl,
    DeleteAclsRequest,
    DeleteAclsResponse,
)
from barnabas.zk.tree import TreeError


class Ports(RequestPorts, Protocol):
    """Parts of the broker that this handler uses."""

    acl_store: AclStore | None


async def handle_delete_acls(
    ctx: HandlerContext[Ports], request: DeleteAclsRequest
) -> DeleteAclsResponse:
    store = ctx.services.acl_store
    if store is None:
        refused = _failed(ErrorCode.SECURITY_DISABLED, "no authorizer is configured")
        return DeleteAclsResponse(filter_results=[refused for _ in request.filters])
    return DeleteAclsResponse(
        filter_results=[await _delete(store, chosen) for chosen in request.filters]
    )


async def _delete(store: AclStore, chosen: DeleteAclsFilter) -> DeleteAclsFilterResult:
    try:
        gone = await store.remove(filter_of(chosen))
    except ValueError as error:
        return _failed(ErrorCode.INVALID_REQUEST, str(error))
    except BrokerError as error:
        return _failed(error.code, error.message)
    except TreeError as error:
        return _failed(ErrorCode.REQUEST_TIMED_OUT, str(error))
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


def _failed(code: ErrorCode, text: str) -> DeleteAclsFilterResult:
    return DeleteAclsFilterResult(code, text, [])


HANDLER = ApiHandler(ApiKey.DELETE_ACLS, (1, 3), handle_delete_acls)
