"""DescribeUserScramCredentials: which mechanisms users have, never the secrets (KIP-554)."""

from collections import Counter

from barnabas.broker.access.scram_users import credentials_of, scram_users
from barnabas.broker.handler import Handler, RequestContext, Result
from barnabas.model.error_codes import ErrorCode
from barnabas.wire.api_keys import ApiKey
from barnabas.wire.messages.describe_user_scram_credentials import (
    CredentialInfo,
    DescribeUserScramCredentialsRequest,
    DescribeUserScramCredentialsResponse,
    DescribeUserScramCredentialsResult,
)


def handle_describe_user_scram_credentials(
    ctx: RequestContext, request: DescribeUserScramCredentialsRequest
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


HANDLER = Handler(
    ApiKey.DESCRIBE_USER_SCRAM_CREDENTIALS, (0, 0), handle_describe_user_scram_credentials
)
