"""DescribeUserScramCredentials: which mechanisms users have, never the secrets (KIP-554)."""

from collections import Counter
from typing import Protocol

from barnabas.broker.access.client_entities import ClientEntities
from barnabas.broker.access.scram_users import credentials_of, scram_users
from barnabas.broker.handler import ApiHandler, HandlerContext, RequestPorts, Result
from barnabas.model.error_codes import ErrorCode
from barnabas.wire.api_keys import ApiKey
from barnabas.wire.messages.describe_user_scram_credentials import (
    CredentialInfo,
    DescribeUserScramCredentialsRequest,
    DescribeUserScramCredentialsResponse,
    DescribeUserScramCredentialsResult,
)


class Ports(RequestPorts, Protocol):
    """Parts of the broker that this handler uses."""

    client_entities: ClientEntities


def handle_describe_user_scram_credentials(
    ctx: HandlerContext[Ports], request: DescribeUserScramCredentialsRequest
) -> Result:
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


HANDLER = ApiHandler(
    ApiKey.DESCRIBE_USER_SCRAM_CREDENTIALS, (0, 0), handle_describe_user_scram_credentials
)
