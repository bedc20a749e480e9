"""SASL authentication of a listener, before its dispatcher.

Until a client is authenticated, only ApiVersions, SaslHandshake and SaslAuthenticate are served,
and frame size and time are limited. The response to a failed login is delayed and does not contain
the reason; the reason is logged and the connection is closed. After SaslHandshake version 0 each
frame is a token.
"""

import asyncio
import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from barnabas.broker.handler import encode_reply
from barnabas.model.error_codes import ErrorCode
from barnabas.net.close_reasons import CloseReason, ConnectionClosedError
from barnabas.net.replies import Part, PendingReply, Reply
from barnabas.net.server_connection import FrameHandler, ServerConnection
from barnabas.runtime.clock import Clock
from barnabas.security.sasl_server import (
    AuthenticateReply,
    HandshakeReply,
    MechanismFactory,
    SaslConfig,
    SaslServer,
    SaslState,
)
from barnabas.wire.api_keys import ApiKey
from barnabas.wire.headers import RequestHeader, decode_request_header
from barnabas.wire.message import Message
from barnabas.wire.messages.sasl_authenticate import (
    SaslAuthenticateRequest,
    SaslAuthenticateResponse,
)
from barnabas.wire.messages.sasl_handshake import SaslHandshakeRequest, SaslHandshakeResponse

_unpack_start = struct.Struct(">hh").unpack_from
_HANDSHAKE = int(ApiKey.SASL_HANDSHAKE)
_AUTHENTICATE = int(ApiKey.SASL_AUTHENTICATE)
_API_VERSIONS = int(ApiKey.API_VERSIONS)
_SERVED = {_HANDSHAKE: (0, 1), _AUTHENTICATE: (0, 2)}


OnFailure = Callable[[ServerConnection, str], None]
"""Called with the reason of a failed login, for the audit log."""


@dataclass(frozen=True, slots=True)
class SaslLimits:
    """Limits of connections that are not authenticated."""

    max_frame_bytes: int
    time_ms: int


class SaslGate:
    """The frame handler of a SASL listener; owned by the broker's loop."""

    def __init__(
        self,
        dispatch: FrameHandler,
        mechanisms: Mapping[str, MechanismFactory],
        config: SaslConfig,
        limits: SaslLimits,
        clock: Clock,
        on_failure: OnFailure,
    ) -> None:
        self._on_failure = on_failure
        self._dispatch = dispatch
        self._mechanisms = mechanisms
        self._config = config
        self._limits = limits
        self._clock = clock

    def accepted(self, connection: ServerConnection) -> None:
        """Limits a new connection until it is authenticated."""
        connection.attachment = SaslServer(self._mechanisms, self._config)
        deadline_ms = self._clock.monotonic_ms() + self._limits.time_ms
        connection.set_bounds(deadline_ms, self._limits.max_frame_bytes)

    def __call__(self, connection: ServerConnection, frame: memoryview) -> Reply:
        session = connection.attachment
        assert isinstance(session, SaslServer)
        now_ms = self._clock.monotonic_ms()
        if session.raw_tokens and session.state in (SaslState.CHOSEN, SaslState.AGAIN):
            return self._raw_token(connection, session, frame, now_ms)
        api_key, version = _unpack_start(frame) if len(frame) >= 8 else (-1, -1)
        if api_key in _SERVED:
            low, high = _SERVED[api_key]
            if not low <= version <= high:
                raise ConnectionClosedError(CloseReason.UNSUPPORTED, "an unknown SASL request")
            header, offset = decode_request_header(frame)
            if api_key == _HANDSHAKE:
                handshake = SaslHandshakeRequest.decode(frame, version, offset)
                return self._handshake(connection, session, header, handshake)
            exchange = SaslAuthenticateRequest.decode(frame, version, offset)
            return self._authenticate(connection, session, header, exchange)
        if not session.may_serve(now_ms, is_api_versions=api_key == _API_VERSIONS):
            expired = session.state is SaslState.AUTHENTICATED
            detail = "the session has expired" if expired else "a request before authentication"
            raise ConnectionClosedError(CloseReason.AUTHENTICATION, detail)
        return self._dispatch(connection, frame)

    def _handshake(
        self,
        connection: ServerConnection,
        session: SaslServer,
        header: RequestHeader,
        request: SaslHandshakeRequest,
    ) -> Reply:
        now_ms = self._clock.monotonic_ms()
        reply = session.handshake(request.mechanism, header.api_version, now_ms)
        parts = encode_reply(header, SaslHandshakeResponse(reply.error, list(reply.mechanisms)))
        return self._send(connection, reply, parts)

    def _authenticate(
        self,
        connection: ServerConnection,
        session: SaslServer,
        header: RequestHeader,
        request: SaslAuthenticateRequest,
    ) -> Reply:
        response = session.authenticate(request.auth_bytes, self._clock.monotonic_ms())
        self._admit(connection, response)
        return self._send(connection, response, encode_reply(header, _response(response)))

    def _raw_token(
        self, connection: ServerConnection, session: SaslServer, frame: memoryview, now_ms: int
    ) -> Reply:
        response = session.authenticate(bytes(frame), now_ms)
        self._admit(connection, response)
        parts: list[Part] | None = None
        if response.close_after_ms is None:
            parts = [struct.pack(">i", len(response.token)) + response.token]
        return self._send(connection, response, parts)

    def _admit(self, connection: ServerConnection, response: AuthenticateReply) -> None:
        if response.principal is not None:
            connection.principal = response.principal
            connection.lift_bounds()

    def _send(
        self,
        connection: ServerConnection,
        reply: HandshakeReply | AuthenticateReply,
        parts: list[Part] | None,
    ) -> Reply:
        """Sends the response; after a failure with a delay, and then closes the connection."""
        if reply.close_after_ms is None:
            return parts
        pending = PendingReply()
        reason = reply.reason or "failed"

        def finish() -> None:
            pending.complete(parts)
            connection.close_after_replies(CloseReason.AUTHENTICATION, reason)

        self._on_failure(connection, reason)
        asyncio.get_running_loop().call_later(reply.close_after_ms / 1000, finish)
        return pending


def _response(response: AuthenticateReply) -> Message:
    message = response.message
    if message is None and response.error is not ErrorCode.NONE:
        message = response.error.explanation
    return SaslAuthenticateResponse(
        response.error, message, response.token, response.session_lifetime_ms
    )
