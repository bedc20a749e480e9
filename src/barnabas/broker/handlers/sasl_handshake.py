"""SaslHandshake on a listener without SASL: returns an error.

v1 the client continues with SaslAuthenticate. On SASL listeners, `access.authentication` serves it.
"""

from barnabas.broker.handler import ApiHandler, RequestContext, Result
from barnabas.model.error_codes import ErrorCode
from barnabas.wire.api_keys import ApiKey
from barnabas.wire.messages.sasl_handshake import SaslHandshakeRequest, SaslHandshakeResponse


def handle_sasl_handshake(ctx: RequestContext, request: SaslHandshakeRequest) -> Result:
    return SaslHandshakeResponse(ErrorCode.ILLEGAL_SASL_STATE, [])


HANDLER = ApiHandler(ApiKey.SASL_HANDSHAKE, (0, 1), handle_sasl_handshake)
