"""Decodes frames, calls the handler of the API and encodes its result.

As in Kafka, the connection is closed after a frame that cannot be decoded, an API that is not
served, or an unsupported version. The same applies to a request whose objects would need far more
memory than its bytes. The exception is ApiVersions: the response to an unsupported version has
version 0 and contains UNSUPPORTED_VERSION and the served range, so that the client can retry.

`LoopWatch` counts and logs requests that block the loop for a long time. The logger
`barnabas.request` writes every request at DEBUG.
"""

import asyncio
import logging
import struct
from collections.abc import Awaitable, Callable, Iterable, Iterator
from functools import partial
from typing import Any, Protocol

from barnabas.broker._short_path_hot import ShortPath, ShortPaths
from barnabas.broker.api_versions import ApiVersionsResponses
from barnabas.broker.error_responses import contains_error, error_response
from barnabas.broker.handler import (
    Deferred,
    EncodedBody,
    Handler,
    HandlerContext,
    Interceptor,
    NoResponse,
    RequestContext,
    RequestPorts,
    Result,
    encode_reply,
)
from barnabas.broker.large_requests import LargeRequests
from barnabas.broker.loop_watch import SLOW_REQUEST_NS, LoopWatch, api_name
from barnabas.broker.metrics.request_metrics import RequestMeter, RequestMetrics
from barnabas.broker.request_limits import (
    LOOP_BUDGET,
    LOOP_BUDGETS,
    is_large,
    merge_duplicates,
    slicing_of,
)
from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BrokerError, DecodingBudgetError, LocalError, ProtocolError
from barnabas.net.close_reasons import CloseReason, ConnectionClosedError
from barnabas.net.replies import Part, PendingReply, Reply, release_parts
from barnabas.net.server_connection import ServerConnection
from barnabas.runtime.clock import Clock, SystemClock
from barnabas.runtime.metrics import Registry
from barnabas.runtime.rate_limited_log import RateLimitedLog
from barnabas.wire import _fetch_hot, _produce_hot
from barnabas.wire.api_keys import ApiKey, request_class
from barnabas.wire.headers import RequestHeader, decode_request_header
from barnabas.wire.message import Message, WireStruct, decoding_budget
from barnabas.zk.tree import ConnectionLossError, SessionLostError

_logger = logging.getLogger("barnabas.broker")
_requests = logging.getLogger("barnabas.request")
_unpack_start = struct.Struct(">hhi").unpack_from
_API_VERSIONS = int(ApiKey.API_VERSIONS)
_PRODUCE = int(ApiKey.PRODUCE)
_HEADER_BYTES = 8
_SHORT_DECODERS: dict[int, Callable[[memoryview, int, int], Any]] = {
    _PRODUCE: _produce_hot.decode_single,
    int(ApiKey.FETCH): _fetch_hot.decode_single,
}
"""Decoders of the frequent requests; they return None for all that is not common."""


class DispatchPorts(RequestPorts, Protocol):
    """Parts of the broker that the dispatcher and its handlers use."""

    api_versions: ApiVersionsResponses


class Dispatcher:
    """Frame handler of the broker's listeners; owned by the broker's loop."""

    def __init__(
        self,
        handlers: Iterable[Handler],
        services: DispatchPorts,
        interceptor: Interceptor | None = None,
        *,
        clock: Clock | None = None,
        metrics: RequestMetrics | None = None,
    ) -> None:
        clock = clock or SystemClock()
        self.loop_watch = LoopWatch(clock)
        self._log = RateLimitedLog(_logger, clock)
        self._metrics = metrics or RequestMetrics(Registry())
        self._large_requests = LargeRequests(self._log_limit, self._metrics)
        self._services = services
        self._handlers = {int(handler.api): handler for handler in handlers}
        self.short_paths = self._make_short_paths()
        self.intercept(interceptor)
        self._requests: dict[int, Any] = {}  # request classes, imported when first needed
        self._tasks: set[asyncio.Task[None]] = set()
        # Bound once: a bound method is an object, and each request would create three.
        self._on_encoding_error = self._encoding_failed
        self._count_errors = self._metrics.count_errors
        self._later = self._encode_later

    def __call__(self, connection: ServerConnection, frame: memoryview) -> Reply:
        short = self.short_paths.serve(connection, frame)
        if short is not None:
            return short
        watch = self.loop_watch
        started_ns = watch.now_ns()
        if len(frame) < _HEADER_BYTES:
            raise ProtocolError(f"a frame of {len(frame)} bytes has no request header")
        api_key, version, _ = _unpack_start(frame)
        try:
            reply, request = self._dispatch(connection, frame, api_key, version)
        finally:
            held_ns = watch.now_ns() - started_ns
            if held_ns > SLOW_REQUEST_NS:
                watch.held(api_name(api_key), held_ns)
        meter = self._metrics.of(api_key, request)
        connection.send_time = meter.send
        queue_ns = started_ns - connection.received_ns
        log = _request_log(connection, frame) if _requests.isEnabledFor(logging.DEBUG) else None
        if isinstance(reply, PendingReply) and not reply.ready:
            meter.started(version, len(frame), queue_ns)
            self._record_when_completed(reply, meter, started_ns, held_ns, log)
        else:
            meter.served(version, len(frame), queue_ns, held_ns)
            if log is not None:
                log(held_ns, held_ns)
        return reply

    def _make_short_paths(self) -> ShortPaths:
        paths = {
            api: ShortPath(handler.short, handler.short_guards, self._short_failed(handler))
            for api, handler in self._handlers.items()
            if handler.short is not None
        }
        return ShortPaths(paths, self._services, self.loop_watch, self._metrics, self._short_error)

    def _short_failed(
        self, handler: Handler
    ) -> Callable[[ServerConnection, memoryview, BrokerError], Reply]:
        """Returns the function that makes the response after a short path raised BrokerError."""

        def failed(connection: ServerConnection, frame: memoryview, error: BrokerError) -> Reply:
            if handler.short_failed is None:
                raise self._short_error(frame, error) from None
            context = self._context(decode_request_header(frame)[0], connection)
            return context.encode(handler.short_failed(context, frame, error))

        return failed

    def _short_error(self, frame: memoryview, error: Exception) -> Exception:
        if isinstance(error, ConnectionClosedError | ProtocolError):
            return error
        return self._internal_error(decode_request_header(frame)[0], error)

    def _context(self, header: RequestHeader, connection: ServerConnection) -> RequestContext:
        context = HandlerContext(header, connection, self._services)
        context.on_encoding_error = self._on_encoding_error
        context.count_errors = self._count_errors
        context.encode_later = self._later
        return context

    def _record_when_completed(
        self,
        reply: PendingReply,
        meter: RequestMeter,
        started_ns: int,
        held_ns: int,
        log: Callable[[int, int], None] | None,
    ) -> None:
        now_ns = self.loop_watch.now_ns

        def completed() -> None:
            total_ns = now_ns() - started_ns
            meter.completed(held_ns, total_ns)
            if log is not None:
                log(held_ns, total_ns)

        reply.on_completed = completed

    def _dispatch(
        self, connection: ServerConnection, frame: memoryview, api_key: int, version: int
    ) -> tuple[Reply, Any]:
        """Returns the reply, and the request unless it is decoded later."""
        handler = self._handlers.get(api_key)
        if handler is None:
            raise ConnectionClosedError(
                CloseReason.UNSUPPORTED, f"{api_name(api_key)} is not served"
            )
        if not handler.versions[0] <= version <= handler.versions[1]:
            return self._wrong_version(connection, handler, frame), None
        header, offset = decode_request_header(frame)
        context = self._context(header, connection)
        try:
            budget = LOOP_BUDGETS.get(handler.api, LOOP_BUDGET)
            request = self._decode(header, frame, offset, budget)
        except DecodingBudgetError:
            decode = partial(self._decode_large, header, frame, offset)
            later = self._large_requests.serve(context, handler, decode, self._serve)
            return self._reply_later(context, later), None
        cut = None if api_key == _PRODUCE else slicing_of(handler.api, request)
        if cut is not None:  # a Produce stays whole: it is pipelined while it waits for followers
            merge_duplicates(handler.api, request)
            later = self._large_requests.serve_decoded(context, handler, request, self._serve, cut)
            return self._reply_later(context, later), request
        return self._reply(context, self._serve(context, handler, request)), request

    def _serve(self, context: RequestContext, handler: Handler, request: Any) -> Result:
        if handler.api != _PRODUCE:
            context.request = request
            merge_duplicates(handler.api, request)
        try:
            if self._interceptor is None:
                return handler.handle(context, request)
            return self._interceptor(context, request, handler.handle)
        except (ConnectionClosedError, ProtocolError):
            raise
        except Exception as error:  # noqa: BLE001 - one of the top-level loops
            raise self._internal_error(context.header, error) from None

    def intercept(self, interceptor: Interceptor | None) -> None:
        """Sets or removes the interceptor."""
        self._interceptor = interceptor
        self.short_paths.enabled = interceptor is None

    async def drain(self, timeout_s: float = 5.0) -> None:
        """Waits for requests that run in tasks; cancels them after the timeout."""
        if self._tasks:
            _, late = await asyncio.wait(self._tasks, timeout=timeout_s)
            for task in late:
                task.cancel()
        self._large_requests.close()

    def _decode(
        self, header: RequestHeader, frame: memoryview, offset: int, budget: int | None = None
    ) -> Any:
        short = _SHORT_DECODERS.get(header.api_key)
        if short is not None:
            single = short(frame, offset, header.api_version)
            if single is not None:
                return single
        request_type = self._requests.get(header.api_key)
        if request_type is None:
            request_type = self._requests[header.api_key] = request_class(header.api_key)
        try:
            return request_type.decode(frame, header.api_version, offset, budget)
        except ProtocolError as error:
            raise type(error)(f"{_name(header)}: {error}") from None

    def _decode_large(
        self, header: RequestHeader, frame: memoryview, offset: int, limit: int | None
    ) -> Any:
        budget = decoding_budget(len(frame) - offset)
        return self._decode(header, frame, offset, budget if limit is None else min(limit, budget))

    def _reply(self, context: RequestContext, result: Result) -> Reply:
        if isinstance(result, Message):  # the most frequent case
            if is_large(result):
                return self._reply_later(context, self._large_requests.encode(context, result))
            return context.encode(result)
        if isinstance(result, Deferred):
            return result
        if isinstance(result, EncodedBody):
            return _with_short_header(context.header.correlation_id, result.body)
        if isinstance(result, NoResponse):
            return None
        return self._reply_later(context, result)

    def _reply_later(self, context: RequestContext, result: Awaitable[Any]) -> Deferred:
        deferred = context.defer()
        self._complete_later(context, result, deferred)
        return deferred

    def _encode_later(self, context: RequestContext, response: Message, deferred: Deferred) -> None:
        """Completes a deferred reply with a large response."""
        self._complete_later(context, self._large_requests.encode(context, response), deferred)

    def _complete_later(
        self, context: RequestContext, result: Awaitable[Any], deferred: Deferred
    ) -> None:
        task = asyncio.get_running_loop().create_task(self._finish(context, result, deferred))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _finish(
        self, context: RequestContext, result: Awaitable[Any], deferred: Deferred
    ) -> None:
        name = api_name(context.header.api_key)
        try:
            later: Any = result
            while isinstance(later, Awaitable):  # of an interceptor, then of the handler
                later = await self.loop_watch.watched(name, later)
            if isinstance(later, Message) and is_large(later):
                later = await self._large_requests.encode(context, later)
        except ConnectionClosedError as closed:
            context.connection.close_with_reason(closed.reason, closed.detail)
        except ProtocolError as error:
            context.connection.close_with_reason(CloseReason.MALFORMED, str(error))
        except Exception as error:  # noqa: BLE001 - one of the top-level loops
            failed = self._internal_error(context.header, error)
            context.connection.close_with_reason(failed.reason, failed.detail)
        else:
            self._complete(context, later, deferred)

    def _complete(self, context: RequestContext, result: Result, deferred: Deferred) -> None:
        """Completes the deferred reply with an available result."""
        if isinstance(result, Message):
            deferred.respond(result)
        elif isinstance(result, PendingReply):
            deferred.follow(result)
        elif isinstance(result, EncodedBody):
            deferred.complete(_with_short_header(context.header.correlation_id, result.body))
        else:
            deferred.complete(None)

    # --- errors ----------------------------------------------------------------------------

    def _internal_error(self, header: RequestHeader, error: Exception) -> ConnectionClosedError:
        """Logs a failure of a handler; the client connects again and retries."""
        if isinstance(error, MemoryError):
            return ConnectionClosedError(CloseReason.MEMORY, f"{_name(header)}: not enough memory")
        if isinstance(error, SessionLostError | ConnectionLossError):
            key, line = (
                f"lost {header.api_key}",
                "serving %s failed, no connection to ZooKeeper: %s",
            )
            self._log.warning(key, line, _name(header), error)
        else:
            self._log.exception(f"serving {header.api_key}", "serving %s failed", _name(header))
        return ConnectionClosedError(CloseReason.INTERNAL, f"{_name(header)} failed")

    def _log_limit(self, context: RequestContext, rejection: str) -> None:
        host, port = context.connection.stream.peer
        line = "%s: rejected with an error response: %s, client=%s peer=%s:%s"
        names = (_name(context.header), rejection, context.header.client_id, host, port)
        self._log.warning(f"limit {context.header.api_key}", line, *names)

    def _encoding_failed(
        self, context: RequestContext, response: Message, error: Exception
    ) -> list[Part] | None:
        """Returns the frame of an error response; closes the connection if there is none.

        Produce gets no error response: its records are stored, and a client would report them as
        lost after UNKNOWN_SERVER_ERROR. The client connects again, and the broker recognizes the
        retry by its sequence number.
        """
        header = context.header
        line = "the response to %s cannot be encoded"
        if isinstance(error, LocalError):
            self._log.warning(f"encoding {header.api_key}", f"{line}: %s", _name(header), error)
        else:
            self._log.exception(f"encoding {header.api_key}", line, _name(header))
        release_parts(_records_of(response))
        frame = _error_frame(context)
        if frame is None:
            detail = f"{_name(header)}: no response could be encoded"
            context.connection.close_with_reason(CloseReason.INTERNAL, detail)
        return frame

    def _wrong_version(
        self, connection: ServerConnection, handler: Handler, frame: memoryview
    ) -> Reply:
        api_key, version, correlation_id = _unpack_start(frame)
        if api_key == _API_VERSIONS and version > handler.versions[1]:
            return _with_short_header(correlation_id, self._services.api_versions.too_new)
        detail = (
            f"{handler.api.name} version {version}, served versions are %d to %d" % handler.versions
        )
        raise ConnectionClosedError(CloseReason.UNSUPPORTED, detail)


def _request_log(connection: ServerConnection, frame: memoryview) -> Callable[[int, int], None]:
    """Returns a function that writes the request log: one line when the response is complete."""
    header, _ = decode_request_header(frame)
    host, port = connection.stream.peer
    described = (
        f"{_name(header)} client={header.client_id} principal={connection.principal} "
        f"peer={host}:{port} listener={connection.listener_name} bytes={len(frame)}"
    )

    def write(local_ns: int, total_ns: int) -> None:
        line = "%s local=%.3f ms total=%.3f ms"
        _requests.debug(line, described, local_ns / 1e6, total_ns / 1e6)

    return write


def _with_short_header(correlation_id: int, body: bytes) -> list[Part]:
    """Returns a frame with response header version 0: only the correlation id."""
    return [struct.pack(">ii", len(body) + 4, correlation_id) + body]


def _error_frame(context: RequestContext) -> list[Part] | None:
    """Returns a frame with UNKNOWN_SERVER_ERROR, or None if the version has no error field."""
    request, header = context.request, context.header
    if request is None:
        return None
    try:
        response = error_response(request, ErrorCode.UNKNOWN_SERVER_ERROR)
        if not contains_error(response, header.api_version):
            return None
        return encode_reply(header, response)
    except Exception:  # noqa: BLE001 - the caller closes the connection
        return None


def _records_of(value: object) -> Iterator[object]:
    """Yields the file parts in a response, at any depth."""
    if isinstance(value, WireStruct):
        for spec in value.FIELDS:
            yield from _records_of(getattr(value, spec[0]))
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _records_of(item)
    elif hasattr(value, "release"):
        yield value


def _name(header: RequestHeader) -> str:
    return f"{ApiKey(header.api_key).name} v{header.api_version} #{header.correlation_id}"
