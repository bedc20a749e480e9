"""Handlers of the delegation token APIs (KIP-48): Create, Renew, Expire, DescribeDelegationToken.

With an authorizer, the authorization step rejects tokens for other users, and removes tokens from
the description that the caller must not see.
"""

from typing import Protocol

from barnabas.broker.access.delegation_tokens import DelegationTokens, TokenInformation
from barnabas.broker.error_responses import code_and_message
from barnabas.broker.handler import ApiHandler, HandlerContext, RequestContext, RequestPorts
from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BrokerError
from barnabas.security.principal import ANONYMOUS, Principal
from barnabas.wire.api_keys import ApiKey
from barnabas.wire.messages.create_delegation_token import (
    CreateDelegationTokenRequest,
    CreateDelegationTokenResponse,
)
from barnabas.wire.messages.describe_delegation_token import (
    DescribedDelegationToken,
    DescribedDelegationTokenRenewer,
    DescribeDelegationTokenRequest,
    DescribeDelegationTokenResponse,
)
from barnabas.wire.messages.expire_delegation_token import (
    ExpireDelegationTokenRequest,
    ExpireDelegationTokenResponse,
)
from barnabas.wire.messages.renew_delegation_token import (
    RenewDelegationTokenRequest,
    RenewDelegationTokenResponse,
)
from barnabas.zk.tree import TreeError


class TokenPorts(RequestPorts, Protocol):
    """Parts of the broker that these handlers use."""

    delegation_tokens: DelegationTokens | None


def _tokens_for(ctx: HandlerContext[TokenPorts]) -> DelegationTokens:
    """Returns the tokens; raises BrokerError if the connection must not manage tokens.

    As in Kafka, the client must be authenticated, and not by a token: a stolen token could
    otherwise create another one and so outlive its own expiry.
    """
    if ctx.principal == ANONYMOUS or ctx.principal.by_token:
        raise BrokerError(ErrorCode.DELEGATION_TOKEN_REQUEST_NOT_ALLOWED)
    if ctx.services.delegation_tokens is None:
        raise BrokerError(ErrorCode.DELEGATION_TOKEN_AUTH_DISABLED)
    return ctx.services.delegation_tokens


def owner_of(ctx: RequestContext, request: CreateDelegationTokenRequest) -> Principal:
    """Returns the owner of the token to create: the caller unless the request names another."""
    if not request.owner_principal_name:
        return ctx.principal
    return Principal(request.owner_principal_type or "", request.owner_principal_name)


async def handle_create_delegation_token(
    ctx: HandlerContext[TokenPorts], request: CreateDelegationTokenRequest
) -> CreateDelegationTokenResponse:
    renewers = [Principal(each.principal_type, each.principal_name) for each in request.renewers]
    owner = owner_of(ctx, request)
    try:
        tokens = _tokens_for(ctx)
        token = await tokens.create(owner, ctx.principal, renewers, request.max_lifetime_ms)
    except (BrokerError, TreeError) as error:
        return CreateDelegationTokenResponse(
            code_and_message(error)[0], principal_type=owner.kind, principal_name=owner.name
        )
    return CreateDelegationTokenResponse(
        principal_type=token.owner.kind,
        principal_name=token.owner.name,
        token_requester_principal_type=token.requester.kind,
        token_requester_principal_name=token.requester.name,
        issue_timestamp_ms=token.issued_ms,
        expiry_timestamp_ms=token.expires_ms,
        max_timestamp_ms=token.max_ms,
        token_id=token.token_id,
        hmac=tokens.hmac_of(token),
    )


async def handle_renew_delegation_token(
    ctx: HandlerContext[TokenPorts], request: RenewDelegationTokenRequest
) -> RenewDelegationTokenResponse:
    try:
        tokens = _tokens_for(ctx)
        expires_ms = await tokens.renew(ctx.principal, request.hmac, request.renew_period_ms)
    except (BrokerError, TreeError) as error:
        return RenewDelegationTokenResponse(code_and_message(error)[0])
    return RenewDelegationTokenResponse(expiry_timestamp_ms=expires_ms)


async def handle_expire_delegation_token(
    ctx: HandlerContext[TokenPorts], request: ExpireDelegationTokenRequest
) -> ExpireDelegationTokenResponse:
    try:
        tokens = _tokens_for(ctx)
        expires_ms = await tokens.expire(ctx.principal, request.hmac, request.expiry_time_period_ms)
    except (BrokerError, TreeError) as error:
        return ExpireDelegationTokenResponse(code_and_message(error)[0])
    return ExpireDelegationTokenResponse(expiry_timestamp_ms=expires_ms)


def handle_describe_delegation_token(
    ctx: HandlerContext[TokenPorts], request: DescribeDelegationTokenRequest
) -> DescribeDelegationTokenResponse:
    try:
        tokens = _tokens_for(ctx)
    except BrokerError as error:
        return DescribeDelegationTokenResponse(error.code)
    owners = None
    if request.owners is not None:
        owners = {Principal(each.principal_type, each.principal_name) for each in request.owners}
    chosen = [token for token in tokens.all() if owners is None or token.owner in owners]
    return DescribeDelegationTokenResponse(tokens=[_described(tokens, token) for token in chosen])


def _described(tokens: DelegationTokens, token: TokenInformation) -> DescribedDelegationToken:
    return DescribedDelegationToken(
        principal_type=token.owner.kind,
        principal_name=token.owner.name,
        token_requester_principal_type=token.requester.kind,
        token_requester_principal_name=token.requester.name,
        issue_timestamp=token.issued_ms,
        expiry_timestamp=token.expires_ms,
        max_timestamp=token.max_ms,
        token_id=token.token_id,
        hmac=tokens.hmac_of(token),
        renewers=[
            DescribedDelegationTokenRenewer(renewer.kind, renewer.name)
            for renewer in token.renewers
        ],
    )


HANDLERS = (
    ApiHandler(ApiKey.CREATE_DELEGATION_TOKEN, (1, 3), handle_create_delegation_token),
    ApiHandler(ApiKey.RENEW_DELEGATION_TOKEN, (1, 2), handle_renew_delegation_token),
    ApiHandler(ApiKey.EXPIRE_DELEGATION_TOKEN, (1, 2), handle_expire_delegation_token),
    ApiHandler(ApiKey.DESCRIBE_DELEGATION_TOKEN, (1, 3), handle_describe_delegation_token),
)
