"""AlterUserScramCredentials: sets and deletes SCRAM credentials of users (KIP-554)."""

from typing import Protocol

from barnabas.broker.access.client_entities import ClientEntities
from barnabas.broker.access.scram_users import Change, change_user, check_change
from barnabas.broker.handler import ApiHandler, HandlerContext, RequestPorts
from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BrokerError
from barnabas.wire.api_keys import ApiKey
from barnabas.wire.messages.alter_user_scram_credentials import (
    AlterUserScramCredentialsRequest,
    AlterUserScramCredentialsResponse,
    AlterUserScramCredentialsResult,
)
from barnabas.zk.tree import TreeError


class Ports(RequestPorts, Protocol):
    """Parts of the broker that this handler uses."""

    client_entities: ClientEntities


async def handle_alter_user_scram_credentials(
    ctx: HandlerContext[Ports], request: AlterUserScramCredentialsRequest
) -> AlterUserScramCredentialsResponse:
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


async def _alter(ctx: HandlerContext[Ports], user: str, changes: list[Change]) -> None:
    ctx.require_controller()
    for change in changes:
        check_change(change)
    if len({change.mechanism for change in changes}) < len(changes):
        text = "the request changes a credential twice"
        raise BrokerError(ErrorCode.DUPLICATE_RESOURCE, text)
    await change_user(ctx.services.client_entities, user, changes)


HANDLER = ApiHandler(
    ApiKey.ALTER_USER_SCRAM_CREDENTIALS, (0, 0), handle_alter_user_scram_credentials
)
