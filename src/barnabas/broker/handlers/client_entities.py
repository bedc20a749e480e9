"""Handlers of the settings of users, client ids and addresses: quotas and SCRAM credentials.

DescribeClientQuotas and AlterClientQuotas (KIP-546), DescribeUserScramCredentials and
AlterUserScramCredentials (KIP-554).
"""

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Protocol

from barnabas.broker.access.client_entities import (
    Change,
    ClientEntities,
    Values,
    change_user,
    check_change,
    credentials_of,
    scram_users,
)
from barnabas.broker.access.client_quotas import parts_in, parts_of, path_of, quotas_of, stored
from barnabas.broker.error_responses import code_and_message
from barnabas.broker.handler import ApiHandler, HandlerContext, RequestPorts, Result
from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BrokerError
from barnabas.security.quotas import (
    CLIENT_ID,
    CLIENT_QUOTAS,
    DEFAULT,
    IP,
    IP_QUOTAS,
    USER,
    entity_problem,
    quota_problem,
)
from barnabas.wire.api_keys import ApiKey
from barnabas.wire.messages.alter_client_quotas import (
    AlterClientQuotasRequest,
    AlterClientQuotasResponse,
    EntryResponse,
)
from barnabas.wire.messages.alter_client_quotas import EntryData as AlteredEntry
from barnabas.wire.messages.alter_user_scram_credentials import (
    AlterUserScramCredentialsRequest,
    AlterUserScramCredentialsResponse,
    AlterUserScramCredentialsResult,
)
from barnabas.wire.messages.describe_client_quotas import (
    ComponentData,
    DescribeClientQuotasRequest,
    DescribeClientQuotasResponse,
    EntityData,
    ValueData,
)
from barnabas.wire.messages.describe_client_quotas import EntryData as DescribedEntry
from barnabas.wire.messages.describe_user_scram_credentials import (
    CredentialInfo,
    DescribeUserScramCredentialsRequest,
    DescribeUserScramCredentialsResponse,
    DescribeUserScramCredentialsResult,
)
from barnabas.zk.tree import TreeError


class ClientEntityPorts(RequestPorts, Protocol):
    """Parts of the broker that these handlers use."""

    client_entities: ClientEntities


# --- DescribeClientQuotas -------------------------------------------------------------------------


_MATCH_EXACT, _MATCH_DEFAULT, _MATCH_ANY_NAME = 0, 1, 2


def handle_describe_client_quotas(
    ctx: HandlerContext[ClientEntityPorts], request: DescribeClientQuotasRequest
) -> Result:
    """Returns the quotas of the entities that match (KIP-546). v1 flexible."""
    problem = _filter_problem(request)
    if problem is not None:
        code, text = problem
        return DescribeClientQuotasResponse(error_code=code, error_message=text, entries=None)
    entries = []
    for path, values in sorted(ctx.services.client_entities.all().items()):
        parts, quotas = parts_of(path), quotas_of(values)
        if quotas and _matches(request, parts):
            entries.append(
                DescribedEntry(
                    [EntityData(kind, name) for kind, name in parts.items()],
                    [ValueData(key, value) for key, value in sorted(quotas.items())],
                )
            )
    return DescribeClientQuotasResponse(error_message=None, entries=entries)


def _filter_problem(request: DescribeClientQuotasRequest) -> tuple[ErrorCode, str] | None:
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
    if component.match_type not in (_MATCH_EXACT, _MATCH_DEFAULT, _MATCH_ANY_NAME):
        return f"unknown match type {component.match_type}"
    if (component.match_type == _MATCH_EXACT) is (component.match is None):
        return "an exact match needs a name, the other match types must have none"
    return None


def _matches(request: DescribeClientQuotasRequest, parts: Mapping[str, str | None]) -> bool:
    if request.strict and len(parts) != len(request.components):
        return False
    return all(_component_matches(component, parts) for component in request.components)


def _component_matches(component: ComponentData, parts: Mapping[str, str | None]) -> bool:
    if component.entity_type not in parts:
        return False
    name = parts[component.entity_type]
    if component.match_type == _MATCH_EXACT:
        return name == component.match
    return component.match_type == _MATCH_ANY_NAME or name is DEFAULT


# --- AlterClientQuotas ----------------------------------------------------------------------------


async def handle_alter_client_quotas(
    ctx: HandlerContext[ClientEntityPorts], request: AlterClientQuotasRequest
) -> AlterClientQuotasResponse:
    """Sets and removes quotas of entities (KIP-546). v1 flexible.

    Any broker serves it, because Java's client does not send it to the controller. The versions of
    the metadata tree's nodes detect concurrent changes.
    """
    results = []
    for entry in request.entries:
        result = EntryResponse(0, None, entry.entity)
        results.append(result)
        try:
            path = _checked_path(entry)
            if not request.validate_only:
                await ctx.services.client_entities.change(path, _edit_of(entry))
        except (BrokerError, TreeError) as error:
            result.error_code, result.error_message = code_and_message(error)
    return AlterClientQuotasResponse(entries=results)


def _checked_path(entry: AlteredEntry) -> str:
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


def _edit_of(entry: AlteredEntry) -> Callable[[Values], None]:
    def edit(values: Values) -> None:
        for op in entry.ops:
            if not op.remove:
                values[op.key] = stored(op.key, op.value)
            elif op.key in CLIENT_QUOTAS | IP_QUOTAS:  # not a SCRAM credential of the user
                values.pop(op.key, None)

    return edit


# --- DescribeUserScramCredentials -----------------------------------------------------------------


def handle_describe_user_scram_credentials(
    ctx: HandlerContext[ClientEntityPorts], request: DescribeUserScramCredentialsRequest
) -> Result:
    """Returns the mechanisms of users, never the secrets (KIP-554)."""
    entities = ctx.services.client_entities
    named = Counter(user.name for user in request.users or ())
    results = []
    for name in named or scram_users(entities):
        infos = [
            CredentialInfo(number, credential.iterations)
            for number, credential in credentials_of(entities, name).items()
        ]
        if named[name] > 1:
            results.append(_failed(name, ErrorCode.DUPLICATE_RESOURCE, "named twice"))
        elif infos:
            results.append(DescribeUserScramCredentialsResult(name, 0, None, infos))
        else:
            text = f"there is no SCRAM credential of user {name!r}"
            results.append(_failed(name, ErrorCode.RESOURCE_NOT_FOUND, text))
    return DescribeUserScramCredentialsResponse(error_message=None, results=results)


def _failed(name: str, code: ErrorCode, text: str) -> DescribeUserScramCredentialsResult:
    return DescribeUserScramCredentialsResult(name, code, text, [])


# --- AlterUserScramCredentials --------------------------------------------------------------------


async def handle_alter_user_scram_credentials(
    ctx: HandlerContext[ClientEntityPorts], request: AlterUserScramCredentialsRequest
) -> AlterUserScramCredentialsResponse:
    """Sets and deletes SCRAM credentials of users (KIP-554)."""
    by_user: dict[str, list[Change]] = {}
    for deletion in request.deletions:
        by_user.setdefault(deletion.name, []).append(deletion)
    for upsertion in request.upsertions:
        by_user.setdefault(upsertion.name, []).append(upsertion)
    results = []
    for user, changes in by_user.items():
        result = AlterUserScramCredentialsResult(user, 0, None)
        results.append(result)
        try:
            await _alter(ctx, user, changes)
        except (BrokerError, TreeError) as error:
            result.error_code, result.error_message = code_and_message(error)
    return AlterUserScramCredentialsResponse(results=results)


async def _alter(ctx: HandlerContext[ClientEntityPorts], user: str, changes: list[Change]) -> None:
    ctx.require_controller()
    for change in changes:
        check_change(change)
    if len({change.mechanism for change in changes}) < len(changes):
        text = "the request changes a credential twice"
        raise BrokerError(ErrorCode.DUPLICATE_RESOURCE, text)
    await change_user(ctx.services.client_entities, user, changes)


HANDLERS = (
    ApiHandler(ApiKey.DESCRIBE_CLIENT_QUOTAS, (0, 1), handle_describe_client_quotas),
    ApiHandler(ApiKey.ALTER_CLIENT_QUOTAS, (0, 1), handle_alter_client_quotas),
    ApiHandler(
        ApiKey.DESCRIBE_USER_SCRAM_CREDENTIALS, (0, 0), handle_describe_user_scram_credentials
    ),
    ApiHandler(ApiKey.ALTER_USER_SCRAM_CREDENTIALS, (0, 0), handle_alter_user_scram_credentials),
)
