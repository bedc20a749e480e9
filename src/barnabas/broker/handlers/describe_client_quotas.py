"""DescribeClientQuotas: returns the quotas of the entities that match (KIP-546). v1 flexible."""

from collections.abc import Mapping
from typing import Protocol

from barnabas.broker.access.client_entities import ClientEntities
from barnabas.broker.access.quota_entities import parts_of, quotas_of
from barnabas.broker.handler import ApiHandler, HandlerContext, RequestPorts, Result
from barnabas.model.error_codes import ErrorCode
from barnabas.security.quotas import CLIENT_ID, DEFAULT, IP, USER
from barnabas.wire.api_keys import ApiKey
from barnabas.wire.messages.describe_client_quotas import (
    ComponentData,
    DescribeClientQuotasRequest,
    DescribeClientQuotasResponse,
    EntityData,
    EntryData,
    ValueData,
)

_EXACT, _DEFAULT, _NAMED = 0, 1, 2


class Ports(RequestPorts, Protocol):
    """Parts of the broker that this handler uses."""

    client_entities: ClientEntities


def handle_describe_client_quotas(
    ctx: HandlerContext[Ports], request: DescribeClientQuotasRequest
) -> Result:
    problem = _problem(request)
    if problem is not None:
        code, text = problem
        return DescribeClientQuotasResponse(error_code=code, error_message=text, entries=None)
    entries = []
    for path, values in sorted(ctx.services.client_entities.all().items()):
        parts, quotas = parts_of(path), quotas_of(values)
        if quotas and _matches(request, parts):
            entries.append(
                EntryData(
                    [EntityData(kind, name) for kind, name in parts.items()],
                    [ValueData(key, value) for key, value in sorted(quotas.items())],
                )
            )
    return DescribeClientQuotasResponse(error_message=None, entries=entries)


def _problem(request: DescribeClientQuotasRequest) -> tuple[ErrorCode, str] | None:
    kinds = [component.entity_type for component in request.components]
    text = next(filter(None, map(_component_problem, request.components)), None)
    if len(set(kinds)) < len(kinds):
        text = "the filter contains an entity type twice"
    elif IP in kinds and len(kinds) > 1:
        text = "entity type ip cannot be combined with user or client-id"
    if text is not None:
        return ErrorCode.INVALID_REQUEST, text
    if not {USER, CLIENT_ID, IP}.issuperset(kinds):
        return ErrorCode.UNSUPPORTED_VERSION, "the entity type must be user, client-id or ip"
    return None


def _component_problem(component: ComponentData) -> str | None:
    if not component.entity_type:
        return "the entity type is empty"
    if component.match_type not in (_EXACT, _DEFAULT, _NAMED):
        return f"unknown match type {component.match_type}"
    if (component.match_type == _EXACT) is (component.match is None):
        return "an exact match needs a name, the other match types must have none"
    return None


def _matches(request: DescribeClientQuotasRequest, parts: Mapping[str, str | None]) -> bool:
    if request.strict and len(parts) != len(request.components):
        return False
    return all(_fits(component, parts) for component in request.components)


def _fits(component: ComponentData, parts: Mapping[str, str | None]) -> bool:
    if component.entity_type not in parts:
        return False
    name = parts[component.entity_type]
    if component.match_type == _EXACT:
        return name == component.match
    return component.match_type == _NAMED or name is DEFAULT


HANDLER = ApiHandler(ApiKey.DESCRIBE_CLIENT_QUOTAS, (0, 1), handle_describe_client_quotas)
