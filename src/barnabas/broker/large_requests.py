"""Serves requests that are too large to be decoded within one callback of the event loop.

The dispatcher decodes with a small budget (`LOOP_BUDGET`). A request that exceeds it is decoded
again in a thread, with the full budget of its size, and its response is encoded there too. One
such thread serves all connections, so large requests are decoded one at a time. The interpreter
switches between this thread and the loop's thread every few milliseconds, so the loop continues to
serve other connections. No setting of the interpreter is changed, because a broker may be embedded
in the process of an application.

Handlers run on the loop. If an API handles each element of a request independently, the handler
gets the request in slices, and the loop serves other requests between two slices.
"""

import asyncio
import copy
from collections.abc import Awaitable, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from barnabas.broker.duplicates import merge_duplicates, merge_fetch
from barnabas.broker.handler import Handler, HandlerContext, RequestContext, Result, encode_reply
from barnabas.net.pending import PendingReply
from barnabas.net.refusal import ConnectionClosedError, Refusal
from barnabas.wire.api_keys import ApiKey
from barnabas.wire.message import Message
from barnabas.wire.messages.fetch import FetchRequest

LOOP_BUDGET = 1 << 20
"""Estimated memory of a request that is decoded on the loop: a few milliseconds of work."""
SLICE = 200
"""Elements of a large request that are handled in one turn of the loop."""
SPARE_PARTITIONS = 10_000
"""Number of partitions by which a fetch may exceed those of the cluster."""

# The array of the request that is cut into slices, and the array of the response they fill.
SLICED: dict[ApiKey, tuple[str, str]] = {
    ApiKey.METADATA: ("topics", "topics"),
    ApiKey.LIST_OFFSETS: ("topics", "topics"),
    ApiKey.OFFSET_FOR_LEADER_EPOCH: ("topics", "topics"),
    ApiKey.FIND_COORDINATOR: ("coordinator_keys", "coordinators"),
    ApiKey.DESCRIBE_CONFIGS: ("resources", "results"),
    ApiKey.DESCRIBE_PRODUCERS: ("topics", "topics"),
    ApiKey.DESCRIBE_TRANSACTIONS: ("transactional_ids", "transaction_states"),
}

Serve = Callable[[RequestContext, Handler, Any], Result]
_T = TypeVar("_T")


class LargeRequests:
    """Owned by the dispatcher; `close` ends its thread."""

    def __init__(self) -> None:
        self._executor: ThreadPoolExecutor | None = None

    async def serve(
        self, context: RequestContext, handler: Handler, decode: Callable[[], Any], serve: Serve
    ) -> Any:
        """Returns the reply to a request: encoded, or the result of its handler."""
        request = await self._in_thread(lambda: _decoded(handler.api, decode))
        if handler.api is ApiKey.FETCH:
            _check_fetch(context, request)
        arrays = SLICED.get(handler.api)
        if arrays is not None and len(getattr(request, arrays[0]) or ()) > SLICE:
            response = await _serve_slices(context, handler, request, serve)
        else:
            response = await _served(context, handler, request, serve)
        return await self._encoded(context, response)

    def close(self) -> None:
        if self._executor is not None:
            self._executor.shutdown(wait=False, cancel_futures=True)

    async def _encoded(self, context: RequestContext, response: Any) -> Any:
        if not isinstance(response, Message):
            return response
        reply = PendingReply()
        try:
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


def _decoded(api: ApiKey, decode: Callable[[], Any]) -> Any:
    request = decode()
    if api is ApiKey.FETCH:
        merge_fetch(request)
    merge_duplicates(api, request)
    return request


def _check_fetch(context: RequestContext, request: FetchRequest) -> None:
    named = sum(len(topic.partitions) for topic in request.topics)
    metadata = context.services.metadata
    known = sum(len(metadata.partitions(name) or ()) for name in metadata.topics())
    if named > known + SPARE_PARTITIONS:
        text = f"a fetch of {named} partitions, the cluster has {known}"
        raise ConnectionClosedError(Refusal.MALFORMED, text)


async def _served(context: RequestContext, handler: Handler, request: Any, serve: Serve) -> Any:
    """Returns the handler's result; applies the amendments to an available response."""
    result: Any = serve(context, handler, request)
    if isinstance(result, Awaitable):
        result = await result
    if isinstance(result, Message) and context.amend is not None:
        return context.amend(result)
    return result


async def _serve_slices(
    context: RequestContext, handler: Handler, request: Any, serve: Serve
) -> Message:
    """Serves each slice as a separate request, including guards and quotas."""
    asked, answered = SLICED[handler.api]
    whole: Any = None
    for part in _slices(request, asked):
        await asyncio.sleep(0)
        own = HandlerContext(context.header, context.connection, context.services)
        response = await _served(own, handler, part, serve)
        if whole is None:
            whole = response
        else:
            getattr(whole, answered).extend(getattr(response, answered))
            whole.throttle_time_ms = max(whole.throttle_time_ms, response.throttle_time_ms)
    context.request = request
    return whole  # type: ignore[no-any-return]


def _slices(request: Any, name: str) -> Iterator[Any]:
    items = getattr(request, name)
    for start in range(0, len(items), SLICE):
        part = copy.copy(request)
        setattr(part, name, items[start : start + SLICE])
        yield part
