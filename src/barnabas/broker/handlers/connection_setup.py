"""Handlers of the requests with which a client sets up a connection: ApiVersions and SASL.

The SASL handlers serve only listeners without SASL. On SASL listeners, `access.authentication`
serves these requests before they reach a handler.
"""

import re
from typing import Protocol

from barnabas.broker.api_versions import ApiVersionsResponses
from barnabas.broker.handler import (
    ApiHandler,
    EncodedBody,
    HandlerContext,
    RequestContext,
    RequestPorts,
    Result,
)
from barnabas.model.error_codes import ErrorCode
from barnabas.wire.api_keys import ApiKey
from barnabas.wire.messages.api_versions import ApiVersionsRequest
from barnabas.wire.messages.sasl_authenticate import (
    SaslAuthenticateRequest,
    SaslAuthenticateResponse,
)
from barnabas.wire.messages.sasl_handshake import SaslHandshakeRequest, SaslHandshakeResponse


class ApiVersionsPorts(RequestPorts, Protocol):
    """Parts of the broker that ApiVersions uses."""

    api_versions: ApiVersionsResponses


# --- ApiVersions ----------------------------------------------------------------------------------


_SOFTWARE = re.compile(r"[a-zA-Z0-9](?:[a-zA-Z0-9\-.]*[a-zA-Z0-9])?")
_SOFTWARE_FROM = 3


def handle_api_versions(
    ctx: HandlerContext[ApiVersionsPorts], request: ApiVersionsRequest
) -> Result:
    """Lists the APIs and versions that this broker serves.

    The response header has version 0 in every version. v1 throttle time; v3 flexible, name and
    version of the client's software (KIP-511); v4 features from version 0 on.
    """
    responses = ctx.services.api_versions
    if ctx.version >= _SOFTWARE_FROM:
        named = (request.client_software_name, request.client_software_version)
        if not all(_SOFTWARE.fullmatch(text) for text in named):
            return EncodedBody(responses.invalid(ctx.version))
        ctx.connection.client_software = named
    return EncodedBody(responses.body(ctx.version))


# --- SaslHandshake --------------------------------------------------------------------------------


def handle_sasl_handshake(ctx: RequestContext, request: SaslHandshakeRequest) -> Result:
    """Returns ILLEGAL_SASL_STATE. v1 the client continues with SaslAuthenticate."""
    return SaslHandshakeResponse(ErrorCode.ILLEGAL_SASL_STATE, [])


# --- SaslAuthenticate -----------------------------------------------------------------------------


def handle_sasl_authenticate(ctx: RequestContext, request: SaslAuthenticateRequest) -> Result:
    """Returns ILLEGAL_SASL_STATE. v1 session lifetime; v2 flexible."""
    return SaslAuthenticateResponse(
        ErrorCode.ILLEGAL_SASL_STATE, "this listener does not use SASL", b""
    )


HANDLERS = (
    ApiHandler(ApiKey.API_VERSIONS, (0, 4), handle_api_versions),
    ApiHandler(ApiKey.SASL_HANDSHAKE, (0, 1), handle_sasl_handshake),
    ApiHandler(ApiKey.SASL_AUTHENTICATE, (0, 2), handle_sasl_authenticate),
)
