"""Serves requests that are too large to be decoded within one callback of the event loop.

The dispatcher decodes with a small budget (`request_limits.LOOP_BUDGET`). A request that exceeds it
is decoded again in a thread, with the full budget of its size, and its response is encoded there
too; the errors of the response are collected there and counted on the loop. One such thread serves
all connections, so large requests are decoded one at a time. The interpreter switches between this
thread and the loop's thread every few milliseconds, so the loop continues to serve other
connections. No setting of the interpreter is changed here, because a broker may be embedded in the
process of an application; `barnabas broker` shortens the interval of the switches. The thread also
frees the objects of requests and responses, because that takes long as well.

Handlers run on the loop. If an API handles each element of a request independently, the handler
gets the request in slices (`request_limits`), and the loop serves other requests between two
slices. That includes requests that are small enough to be decoded on the loop. Requests of other
APIs are limited in the number of their elements (`request_limits`). Any response with many elements
is encoded in the thread.
"""

import asyncio
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, NamedTuple, TypeVar

from barnabas.broker.error_responses import contains_error, error_response
from barnabas.broker.handler import (
    Handler,
    HandlerContext,
    RequestContext,
    Result,
    encode_reply,
)
from barnabas.broker.metrics.request_metrics import RequestMetrics
from barnabas.broker.request_limits import (
    ERROR_RESPONSE_FACTOR,
    Slicing,
    count_limited,
    decoding_limit,
    element_limit,
    free_in_steps,
    is_large,
    join,
    limit_error,
    merge_duplicates,
    merge_fetch,
    slices,
    slicing_of,
)
from barnabas.model.errors import DecodingBudgetError, ProtocolError
from barnabas.net.close_reasons import CloseReason, ConnectionClosedError
from barnabas.net.replies import Part, PendingReply
from barnabas.wire.api_keys import ApiKey
from barnabas.wire.message import Message

Serve = Callable[[RequestContext, Handler, Any], Result]
Decode = Callable[[int | None], Any]
"""Decodes the request; the number limits the budget, which is proportional to the size."""
LogLimit = Callable[[RequestContext, str], None]
"""Logs that a request got an error response because it names too many elements."""
_T = TypeVar("_T")


class _Decoded(NamedTuple):
    """A request without repeated elements, or the rejection of one that is above its limit."""

    request: Any
    slicing: Slicing | None = None
    rejection: str | None = None
    response: Message | None = None
    """The error response to a rejected request; None if the connection must be closed."""


class LargeRequests:
    """Decodes large requests and encodes their responses in one thread.

    Owned by the dispatcher; `close` ends its thread.
    """

    def __init__(self, log_limit: LogLimit, metrics: RequestMetrics) -> None:
        self._log_limit = log_limit
        self._metrics = metrics
        self._executor: ThreadPoolExecutor | None = None

    async def serve(
        self, context: RequestContext, handler: Handler, decode: Decode, serve: Serve
    ) -> Any:
        """Returns the reply to a request: encoded, or the result of its handler."""
        known = _known_partitions(context)
        work = partial(_decoded, handler.api, context.version, decode, known)
        decoded = await self._in_thread(work)
        request = decoded.request
        if decoded.rejection is not None:
            if decoded.response is None:
                raise ConnectionClosedError(CloseReason.MALFORMED, decoded.rejection)
            self._log_limit(context, decoded.rejection)
            response: Any = decoded.response
        elif decoded.slicing is not None:
            response = await _serve_slices(context, handler, request, serve, decoded.slicing)
        else:
            response = await _served(context, handler, request, serve)
        del decoded
        reply = await self._encoded(context, response)
        context.request = None
        garbage = [request, response]
        del request, response
        self._free(garbage)
        return reply

    async def serve_decoded(
        self, context: RequestContext, handler: Handler, request: Any, serve: Serve, cut: Slicing
    ) -> Any:
        """Returns the reply to a request with many elements that was small enough to decode."""
        response = await _serve_slices(context, handler, request, serve, cut)
        if not isinstance(response, Message) or not is_large(response):
            return response
        reply = await self._encoded(context, response)
        garbage = [response]
        del response
        self._free(garbage)
        return reply

    async def encode(self, context: RequestContext, response: Message) -> PendingReply:
        """Returns the reply to an ordinary request whose response is large."""
        amended = response if context.amend is None else context.amend(response)
        reply: PendingReply = await self._encoded(context, amended)
        garbage = [response, amended]
        del response, amended
        self._free(garbage)
        return reply

    def _free(self, garbage: list[Any]) -> None:
        """Drops the objects in the thread."""
        if self._executor is not None:
            self._executor.submit(free_in_steps, garbage)

    def close(self) -> None:
        if self._executor is not None:
            self._executor.shutdown(wait=False, cancel_futures=True)

    async def _encoded(self, context: RequestContext, response: object) -> Any:
        if not isinstance(response, Message):
            return response
        reply = PendingReply()
        metrics = self._metrics
        try:
            errors = await self._in_thread(lambda: metrics.errors_of(response))
            metrics.add_errors(context.header.api_key, errors)
            parts = await self._in_thread(lambda: encode_reply(context.header, response))
        except Exception as error:
            if context.on_encoding_error is None:
                raise
            reply.complete(context.on_encoding_error(context, response, error))
        else:
            reply.complete(parts)
        return reply

    async def _in_thread(self, work: Callable[[], _T]) -> _T:
        if self._executor is None:
            self._executor = ThreadPoolExecutor(1, thread_name_prefix="barnabas-large-requests")
        return await asyncio.get_running_loop().run_in_executor(self._executor, work)


# --- Decoding, in the thread ----------------------------------------------------------------------


def _decoded(api: ApiKey, version: int, decode: Decode, known: int) -> _Decoded:
    """Decodes a request; rejects it if it has too many elements for `known` partitions."""
    limit = element_limit(api, known)
    request = _without_frames(partial(_decode, api, decode, known))
    if api is ApiKey.FETCH:
        merge_fetch(request)
    merge_duplicates(api, request)
    named = count_limited(api, request)
    if named <= limit:
        return _Decoded(request, slicing_of(api, request))
    rejection = f"{api.name} names {named} elements, the limit is {limit} ({_reason(limit, known)})"
    response = None
    wants_response = api is not ApiKey.PRODUCE or request.acks != 0
    if named <= ERROR_RESPONSE_FACTOR * limit and wants_response:
        error = error_response(request, limit_error(api))
        response = error if contains_error(error, version) else None
    if response is not None:
        return _Decoded(request, None, rejection, response)
    garbage = [request]
    del request
    free_in_steps(garbage)
    return _Decoded(None, None, rejection)


def _decode(api: ApiKey, decode: Decode, known: int) -> Any:
    budget = decoding_limit(api, known)
    try:
        return decode(budget)
    except DecodingBudgetError as error:
        if budget is None:
            raise
        limit = element_limit(api, known)
        text = f"{error}: the limit is about {limit} elements ({_reason(limit, known)})"
        raise DecodingBudgetError(text) from None


def _reason(limit: int, known: int) -> str:
    return f"the {known} partitions of the cluster and {limit - known} more"


def _without_frames(work: Callable[[], _T]) -> _T:
    """Raises an error of `work` without its traceback, whose frames keep the decoded objects."""
    try:
        return work()
    except ProtocolError as error:
        kind, text = type(error), str(error)
    raise kind(text)


def _known_partitions(context: RequestContext) -> int:
    metadata = context.services.metadata
    return sum(len(metadata.partitions(name) or ()) for name in metadata.topics())


# --- Handlers, on the loop ------------------------------------------------------------------------


async def _served(context: RequestContext, handler: Handler, request: object, serve: Serve) -> Any:
    """Returns the handler's result; applies the amendments to an available response."""
    result: Any = serve(context, handler, request)
    if isinstance(result, Awaitable):
        result = await result
    if isinstance(result, Message) and context.amend is not None:
        return context.amend(result)
    return result


class _SliceContext(HandlerContext[Any]):
    """Context of one slice; keeps the response that a deferred reply would encode."""

    __slots__ = ("response",)

    def __init__(self, whole: RequestContext) -> None:
        super().__init__(whole.header, whole.connection, whole.services)
        self.response: Any = None

    def encode(self, response: Message) -> list[Part] | None:
        self.response = response if self.amend is None else self.amend(response)
        return None


async def _serve_slices(
    context: RequestContext, handler: Handler, request: Any, serve: Serve, slicing: Slicing
) -> Any:
    """Serves each slice as a separate request, including guards and quotas.

    Deferred replies (a Produce that waits for its followers) are collected and awaited together, so
    their waits overlap. An error that closes the connection is raised after the last slice: a
    Produce without acknowledgements writes all partitions that it can.
    """
    results: list[tuple[_Slice, int]] = []
    closed: ConnectionClosedError | None = None
    for part, continued in slices(request, slicing.request, slicing.size):
        await asyncio.sleep(0)
        own = _SliceContext(context)
        try:
            results.append((_Slice(own, await _served(own, handler, part, serve)), continued))
        except ConnectionClosedError as error:
            closed = closed or error
    if closed is not None:
        raise closed
    context.request = None if handler.api is ApiKey.PRODUCE else request
    return await _joined(results, slicing)


class _Slice(NamedTuple):
    """A slice that was served, and the result of its handler."""

    context: _SliceContext
    result: Any

    async def response(self) -> Any:
        if not isinstance(self.result, PendingReply):
            return self.result
        ready = asyncio.Event()
        self.result.when_ready(ready.set)
        await ready.wait()
        return self.context.response


async def _joined(results: list[tuple[_Slice, int]], slicing: Slicing) -> Any:
    """Returns the response of all slices, or the result of the first one without a response."""
    whole: Any = None
    for one, continued in results:
        response = await one.response()
        if not isinstance(response, Message):
            return response
        if whole is None:
            whole = response
        else:
            await asyncio.sleep(0)
            join(whole, response, slicing.response, continued)
    return whole
