"""From a frame to its handler, and from the handler's result to the reply.

A frame that cannot be decoded, an API we do not serve and a version outside its range close the
connection, as in Kafka. The exception is ApiVersions: a version that is too new is answered
in version 0 with UNSUPPORTED_VERSION and our range, so that the client can step down.
"""

import asyncio
import logging
import struct
from collections.abc import Awaitable, Iterable
from typing import TYPE_CHECKING, Any

from barnabas.broker.handler import (
    Deferred,
    EncodedBody,
    Handler,
    Interceptor,
    NoResponse,
    RequestContext,
    Result,
    encode_reply,
)
from barnabas.model.errors import ProtocolError
from barnabas.net.connection_ports import ConnectionClosedError
from barnabas.net.parts import Part
from barnabas.net.pending import Reply
from barnabas.net.refusal import Refusal
from barnabas.net.server_connection import ServerConnection
from barnabas.wire.api_keys import ApiKey
from barnabas.wire.headers import RequestHeader, decode_request_header
from barnabas.wire.message import Message
from barnabas.wire.registry import request_class

if TYPE_CHECKING:
    from barnabas.broker.services import Services

_logger = logging.getLogger("barnabas.broker")
_unpack_start = struct.Struct(">hhi").unpack_from
_API_VERSIONS = int(ApiKey.API_VERSIONS)


class Dispatcher:
    """The frame handler of a broker's listeners; lives on its loop."""

    def __init__(
        self,
        handlers: Iterable[Handler],
        services: "Services",
        interceptor: Interceptor | None = None,
    ) -> None:
        self._services = services
        self._interceptor = interceptor
        self._handlers = {int(handler.api): handler for handler in handlers}
        self._requests: dict[int, Any] = {}  # request classes, imported when first needed
        self._tasks: set[asyncio.Task[None]] = set()

    def __call__(self, connection: ServerConnection, frame: memoryview) -> Reply:
        if len(frame) < 8:
            raise ProtocolError(f"a frame of {len(frame)} bytes has no request header")
        api_key, version, _ = _unpack_start(frame)
        handler = self._handlers.get(api_key)
        if handler is None:
            raise ConnectionClosedError(Refusal.UNSUPPORTED, f"api key {api_key} is not served")
        if not handler.versions[0] <= version <= handler.versions[1]:
            return self._wrong_version(connection, handler, frame)
        header, offset = decode_request_header(frame)
        request = self._decode(header, frame, offset)
        context = RequestContext(header, connection, self._services)
        try:
            if self._interceptor is None:
                result = handler.handle(context, request)
            else:
                result = self._interceptor(context, request, handler.handle)
        except (ConnectionClosedError, ProtocolError):
            raise
        except Exception:  # noqa: BLE001 - one of the top-level loops
            raise self._internal_error(header) from None
        return self._reply(context, result)

    def intercept(self, interceptor: Interceptor | None) -> None:
        """Put another interceptor into force, or none."""
        self._interceptor = interceptor

    async def drain(self, timeout_s: float = 5.0) -> None:
        """Wait for the requests that are being served by tasks; cancel those that take long."""
        if self._tasks:
            _, late = await asyncio.wait(self._tasks, timeout=timeout_s)
            for task in late:
                task.cancel()

    def _decode(self, header: RequestHeader, frame: memoryview, offset: int) -> Any:
        request_type = self._requests.get(header.api_key)
        if request_type is None:
            request_type = self._requests[header.api_key] = request_class(header.api_key)
        try:
            return request_type.decode(frame, header.api_version, offset)
        except ProtocolError as error:
            raise ProtocolError(f"{_name(header)}: {error}") from None

    def _reply(self, context: RequestContext, result: Result) -> Reply:
        if isinstance(result, Message):  # first, for most are
            amended = result if context.amend is None else context.amend(result)
            return encode_reply(context.header, amended)
        if isinstance(result, Deferred):
            return result
        if isinstance(result, EncodedBody):
            return _with_short_header(context.header.correlation_id, result.body)
        if isinstance(result, NoResponse):
            return None
        return self._reply_later(context, result)

    def _reply_later(self, context: RequestContext, result: Awaitable[Message]) -> Deferred:
        deferred = context.defer()
        task = asyncio.get_running_loop().create_task(self._finish(context, result, deferred))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return deferred

    async def _finish(
        self, context: RequestContext, result: Awaitable[Message], deferred: Deferred
    ) -> None:
        try:
            response = await result
        except Exception:  # noqa: BLE001 - one of the top-level loops
            refused = self._internal_error(context.header)
            context.connection.refuse(refused.reason, refused.detail)
        else:
            if isinstance(response, EncodedBody):
                deferred.complete(_with_short_header(context.header.correlation_id, response.body))
            else:
                deferred.respond(response)

    def _internal_error(self, header: RequestHeader) -> ConnectionClosedError:
        """A defect of ours: said in full in the log, and the client is made to try again."""
        _logger.exception("serving %s failed", _name(header))
        return ConnectionClosedError(Refusal.INTERNAL, f"{_name(header)} failed")

    def _wrong_version(
        self, connection: ServerConnection, handler: Handler, frame: memoryview
    ) -> Reply:
        api_key, version, correlation_id = _unpack_start(frame)
        if api_key == _API_VERSIONS and version > handler.versions[1]:
            return _with_short_header(correlation_id, self._services.api_versions.too_new)
        detail = f"{handler.api.name} version {version}, served are %d to %d" % handler.versions
        raise ConnectionClosedError(Refusal.UNSUPPORTED, detail)


def _with_short_header(correlation_id: int, body: bytes) -> list[Part]:
    """A frame whose response header is version 0, the correlation id alone."""
    return [struct.pack(">ii", len(body) + 4, correlation_id) + body]


def _name(header: RequestHeader) -> str:
    return f"{ApiKey(header.api_key).name} v{header.api_version} #{header.correlation_id}"
