"""Handlers of the SCRAM APIs: DescribeUserScramCredentials, AlterUserScramCredentials (KIP-554)."""

from collections import Counter
from typing import Protocol

from barnabas.broker.access.client_entities import (
    Change,
    ClientEntities,
    change_user,
    check_change,
    credentials_of,
    scram_users,
)
from barnabas.broker.handler import ApiHandler, HandlerContext, RequestPorts, Result
from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BrokerError
from barnabas.wire.api_keys import ApiKey
from barnabas.wire.messages.alter_user_scram_credentials import (
    AlterUserScramCredentialsRequest,
    AlterUserScramCredentialsResponse,
    AlterUserScramCredentialsResult,
)
from barnabas.wire.messages.describe_user_scram_credentials import (
    CredentialInfo,
    DescribeUserScramCredentialsRequest,
    DescribeUserScramCredentialsResponse,
    DescribeUserScramCredentialsResult,
)
from barnabas.zk.tree import TreeError


class ScramPorts(RequestPorts, Protocol):
    """Parts of the broker that these handlers use."""

    client_entities: ClientEntities


# --- DescribeUserScramCredentials -----------------------------------------------------------------


def handle_describe_user_scram_credentials(
    ctx: HandlerContext[ScramPorts], request: DescribeUserScramCredentialsRequest
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
    ctx: HandlerContext[ScramPorts], request: AlterUserScramCredentialsRequest
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
        except BrokerError as error:
            result.error_code, result.error_message = error.code, error.message
        except TreeError as error:
            result.error_code, result.error_message = ErrorCode.REQUEST_TIMED_OUT, str(error)
    return AlterUserScramCredentialsResponse(results=results)


async def _alter(ctx: HandlerContext[ScramPorts], user: str, changes: list[Change]) -> None:
    ctx.require_controller()
    for change in changes:
        check_change(change)
    if len({change.mechanism for change in changes}) < len(changes):
        text = "the request changes a credential twice"
        raise BrokerError(ErrorCode.DUPLICATE_RESOURCE, text)
    await change_user(ctx.services.client_entities, user, changes)


HANDLERS = (
    ApiHandler(
        ApiKey.DESCRIBE_USER_SCRAM_CREDENTIALS, (0, 0), handle_describe_user_scram_credentials
    ),
    ApiHandler(ApiKey.ALTER_USER_SCRAM_CREDENTIALS, (0, 0), handle_alter_user_scram_credentials),
)
