"""SaslHandshake on a listener without SASL, where it is out of turn.

v1 tokens follow in SaslAuthenticate. SASL listeners answer it themselves (`access.authentication`).
"""

from barnabas.broker.handler import ApiHandler, RequestContext, Result
from barnabas.model.error_codes import ErrorCode
from barnabas.wire.api_keys import ApiKey
from barnabas.wire.messages.sasl_handshake import SaslHandshakeRequest, SaslHandshakeResponse


def handle_sasl_handshake(ctx: RequestContext, request: SaslHandshakeRequest) -> Result:
    return SaslHandshakeResponse(ErrorCode.ILLEGAL_SASL_STATE, [])


HANDLER = ApiHandler(ApiKey.SASL_HANDSHAKE, (0, 1), handle_sasl_handshake)
