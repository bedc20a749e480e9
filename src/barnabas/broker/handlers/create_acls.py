"""CreateAcls: adds ACLs, each with its own result. v1 pattern types; v2 flexible."""

from typing import Protocol

from barnabas.broker.access.acl_messages import binding_of
from barnabas.broker.access.acl_store import AclStore
from barnabas.broker.handler import ApiHandler, HandlerContext, RequestPorts
from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BrokerError
from barnabas.security.acl import AclBinding
from barnabas.wire.api_keys import ApiKey
from barnabas.wire.messages.create_acls import (
    AclCreationResult,
    CreateAclsRequest,
    CreateAclsResponse,
)
from barnabas.zk.tree import TreeError


class Ports(RequestPorts, Protocol):
    """Parts of the broker that this handler uses."""

    acl_store: AclStore | None


async def handle_create_acls(
    ctx: HandlerContext[Ports], request: CreateAclsRequest
) -> CreateAclsResponse:
    store = ctx.services.acl_store
    if store is None:
        text = "no authorizer is configured"
        refused = [AclCreationResult(ErrorCode.SECURITY_DISABLED, text) for _ in request.creations]
        return CreateAclsResponse(results=refused)
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


HANDLER = ApiHandler(ApiKey.CREATE_ACLS, (1, 3), handle_create_acls)
