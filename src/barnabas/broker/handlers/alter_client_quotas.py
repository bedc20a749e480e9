"""AlterClientQuotas: sets and removes quotas of entities (KIP-546). v1 flexible.

Any broker serves it, because Java's client does not send it to the controller. The versions of the
metadata tree's nodes detect concurrent changes.
"""

from collections.abc import Callable
from typing import Protocol

from barnabas.broker.access.client_entities import ClientEntities, Values
from barnabas.broker.access.quota_entities import parts_in, path_of, stored
from barnabas.broker.handler import ApiHandler, HandlerContext, RequestPorts
from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BrokerError
from barnabas.security.quotas import CLIENT_QUOTAS, IP_QUOTAS, entity_problem, quota_problem
from barnabas.wire.api_keys import ApiKey
from barnabas.wire.messages.alter_client_quotas import (
    AlterClientQuotasRequest,
    AlterClientQuotasResponse,
    EntryData,
    EntryResponse,
)
from barnabas.zk.tree import TreeError


class Ports(RequestPorts, Protocol):
    """Parts of the broker that this handler uses."""

    client_entities: ClientEntities


async def handle_alter_client_quotas(
    ctx: HandlerContext[Ports], request: AlterClientQuotasRequest
) -> AlterClientQuotasResponse:
    results = []
    for entry in request.entries:
        result = EntryResponse(0, None, entry.entity)
        results.append(result)
        try:
            path = _checked_path(entry)
            if not request.validate_only:
                await ctx.services.client_entities.change(path, _edit_of(entry))
        except BrokerError as error:
            result.error_code, result.error_message = error.code, error.message
        except TreeError as error:
            result.error_code, result.error_message = ErrorCode.REQUEST_TIMED_OUT, str(error)
    return AlterClientQuotasResponse(entries=results)


def _checked_path(entry: EntryData) -> str:
    try:
        parts = parts_in(entry.entity)
    except ValueError as error:
        raise BrokerError(ErrorCode.INVALID_REQUEST, str(error)) from None
    problem = entity_problem(parts)
    keys = [op.key for op in entry.ops]
    if problem is None and len(set(keys)) < len(keys):
        problem = "the request changes a quota twice"
    for op in entry.ops:
        if not op.remove:
            problem = problem or quota_problem(parts, op.key, op.value)
    if problem is not None:
        raise BrokerError(ErrorCode.INVALID_REQUEST, problem)
    return path_of(parts)


def _edit_of(entry: EntryData) -> Callable[[Values], None]:
    def edit(values: Values) -> None:
        for op in entry.ops:
            if not op.remove:
                values[op.key] = stored(op.key, op.value)
            elif op.key in CLIENT_QUOTAS | IP_QUOTAS:  # not a SCRAM credential of the user
                values.pop(op.key, None)

    return edit


HANDLER = ApiHandler(ApiKey.ALTER_CLIENT_QUOTAS, (0, 1), handle_alter_client_quotas)
