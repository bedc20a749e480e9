"""SaslAuthenticate on a listener without SASL: returns an error.

v1 session lifetime; v2 flexible. On SASL listeners, `access.authentication` serves it.
"""

from barnabas.broker.handler import ApiHandler, RequestContext, Result
from barnabas.model.error_codes import ErrorCode
from barnabas.wire.api_keys import ApiKey
from barnabas.wire.messages.sasl_authenticate import (
    SaslAuthenticateRequest,
    SaslAuthenticateResponse,
)


def handle_sasl_authenticate(ctx: RequestContext, request: SaslAuthenticateRequest) -> Result:
    return SaslAuthenticateResponse(
        ErrorCode.ILLEGAL_SASL_STATE, "this listener does not use SASL", b""
    )


HANDLER = ApiHandler(ApiKey.SASL_AUTHENTICATE, (0, 2), handle_sasl_authenticate)
