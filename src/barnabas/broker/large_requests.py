"""Serves requests that are too large to be decoded within one callback of the event loop.

The dispatcher decodes with a small budget (`LOOP_BUDGET`). A request that exceeds it is decoded
again in a thread, with the full budget of its size, and its response is encoded there too. One
such thread serves all connections, so large requests are decoded one at a time. The interpreter
switches between this thread and the loop's thread every few milliseconds, so the loop continues to
serve other connections. No setting of the interpreter is changed here, because a broker may be
embedded in the process of an application; `barnabas broker` shortens the interval of the switches.
The thread also frees the objects of requests and responses, because that takes long as well.

Handlers run on the loop. If an API handles each element of a request independently, the handler
gets the request in slices, and the loop serves other requests between two slices.
"""

import asyncio
import copy
from collections.abc import Awaitable, Callable, Hashable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, TypeVar

from barnabas.broker.handler import Handler, HandlerContext, RequestContext, Result, encode_reply
from barnabas.model.errors import ProtocolError
from barnabas.model.ids import Uuid
from barnabas.net.refusal import ConnectionClosedError, Refusal
from barnabas.net.replies import PendingReply
from barnabas.wire.api_keys import ApiKey
from barnabas.wire.message import Message
from barnabas.wire.messages.fetch import FetchRequest, FetchTopic

_ELEMENT_KEYS: dict[ApiKey, dict[str, Callable[[Any], Hashable]]] = {
    ApiKey.METADATA: {"topics": lambda topic: (topic.name, topic.topic_id)},
    ApiKey.DESCRIBE_GROUPS: {"groups": lambda name: name},
    ApiKey.CONSUMER_GROUP_DESCRIBE: {"group_ids": lambda name: name},
    ApiKey.DESCRIBE_TRANSACTIONS: {"transactional_ids": lambda name: name},
    ApiKey.DESCRIBE_CONFIGS: {
        "resources": lambda item: (
            item.resource_type,
            item.resource_name,
            None if item.configuration_keys is None else frozenset(item.configuration_keys),
        )
    },
    ApiKey.OFFSET_FETCH: {
        # Repeated groups with different topics are kept: their results differ.
        "groups": lambda group: group.group_id if group.topics is None else id(group)
    },
}
LOOP_BUDGET = 1 << 18
"""Estimated memory of a request that is decoded on the loop: a few milliseconds of work."""
SLICE = 50
"""Elements of a large request that are handled in one turn of the loop."""
_SLICES: dict[ApiKey, int] = {ApiKey.DESCRIBE_CONFIGS: 10}
"""Smaller slices of APIs whose elements take longer than 0.1 ms."""
SPARE_ELEMENTS = 10_000
"""Number by which the elements of a request may exceed the partitions of the cluster."""
SPARE_ELEMENTS_BY_API: dict[ApiKey, int] = {
    ApiKey.PRODUCE: 1_000,
    ApiKey.FETCH: 2_000,
    ApiKey.LIST_OFFSETS: 500,
    ApiKey.OFFSET_FETCH: 5_000,
    ApiKey.LEAVE_GROUP: 5_000,
    ApiKey.DESCRIBE_GROUPS: 3_000,
    ApiKey.ADD_PARTITIONS_TO_TXN: 3_000,
    ApiKey.DELETE_TOPICS: 4_000,
    ApiKey.WRITE_TXN_MARKERS: 5_000,
    ApiKey.ALTER_REPLICA_LOG_DIRS: 2_000,
    ApiKey.CONSUMER_GROUP_DESCRIBE: 2_000,
    ApiKey.CREATE_PARTITIONS: 3_000,
    ApiKey.ALTER_PARTITION_REASSIGNMENTS: 3_000,
    ApiKey.DELETE_GROUPS: 4_000,
    ApiKey.DESCRIBE_USER_SCRAM_CREDENTIALS: 4_000,
    ApiKey.ALTER_USER_SCRAM_CREDENTIALS: 5_000,
    ApiKey.ALTER_CLIENT_QUOTAS: 5_000,
    ApiKey.DELETE_RECORDS: 5_000,
    ApiKey.OFFSET_FOR_LEADER_EPOCH: 5_000,
    ApiKey.DESCRIBE_PRODUCERS: 5_000,
}
"""Smaller numbers of APIs that serve an array in one callback of the loop, for about 20 ms."""
ELEMENT_BYTES: dict[ApiKey, int] = {
    ApiKey.METADATA: 400,
    ApiKey.FETCH: 700,
    ApiKey.CREATE_TOPICS: 1500,
}
"""Estimated memory of one element (`primitives.over_budget`), with some configs for a new topic.

These requests name partitions or topics. One that names far more than there are is refused before
it is decoded: decoding a million repetitions would compete with the loop for seconds."""
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
# Arrays of requests that are handled as a whole, or whose slices are not cut further. A request
# that names far more partitions, members or resources than there are would block the loop to return
# an error for each.
LIMITED_ARRAYS: dict[ApiKey, tuple[tuple[str, ...], ...]] = {
    ApiKey.PRODUCE: (("topic_data", "partition_data"),),
    ApiKey.FETCH: (("topics", "partitions"), ("forgotten_topics_data", "partitions")),
    ApiKey.LIST_OFFSETS: (("topics", "partitions"),),
    ApiKey.FIND_COORDINATOR: (("coordinator_keys",),),
    ApiKey.DESCRIBE_CONFIGS: (("resources", "configuration_keys"),),
    ApiKey.DESCRIBE_TRANSACTIONS: (("transactional_ids",),),
    ApiKey.OFFSET_FOR_LEADER_EPOCH: (("topics", "partitions"),),
    ApiKey.DESCRIBE_PRODUCERS: (("topics", "partition_indexes"),),
    ApiKey.JOIN_GROUP: (("protocols",),),
    ApiKey.SYNC_GROUP: (("assignments",),),
    ApiKey.LEAVE_GROUP: (("members",),),
    ApiKey.LIST_GROUPS: (("states_filter",), ("types_filter",)),
    ApiKey.LIST_TRANSACTIONS: (("state_filters",), ("producer_id_filters",)),
    ApiKey.DELETE_GROUPS: (("groups_names",),),
    ApiKey.DESCRIBE_GROUPS: (("groups",),),
    ApiKey.CONSUMER_GROUP_DESCRIBE: (("group_ids",),),
    ApiKey.CONSUMER_GROUP_HEARTBEAT: (
        ("subscribed_topic_names",),
        ("topic_partitions", "partitions"),
    ),
    ApiKey.INCREMENTAL_ALTER_CONFIGS: (("resources", "configs"),),
    ApiKey.ALTER_CONFIGS: (("resources", "configs"),),
    ApiKey.CREATE_ACLS: (("creations",),),
    ApiKey.DELETE_ACLS: (("filters",),),
    ApiKey.DESCRIBE_CLIENT_QUOTAS: (("components",),),
    ApiKey.ALTER_CLIENT_QUOTAS: (("entries", "ops"),),
    ApiKey.ALTER_USER_SCRAM_CREDENTIALS: (("deletions",), ("upsertions",)),
    ApiKey.DESCRIBE_USER_SCRAM_CREDENTIALS: (("users",),),
    ApiKey.OFFSET_COMMIT: (("topics", "partitions"),),
    ApiKey.OFFSET_FETCH: (
        ("topics", "partition_indexes"),
        ("groups", "topics", "partition_indexes"),
    ),
    ApiKey.OFFSET_DELETE: (("topics", "partitions"),),
    ApiKey.TXN_OFFSET_COMMIT: (("topics", "partitions"),),
    ApiKey.ADD_PARTITIONS_TO_TXN: (
        ("v3_and_below_topics", "partitions"),
        ("transactions", "topics", "partitions"),
    ),
    ApiKey.WRITE_TXN_MARKERS: (("markers", "topics", "partition_indexes"),),
    ApiKey.CREATE_DELEGATION_TOKEN: (("renewers",),),
    ApiKey.DESCRIBE_DELEGATION_TOKEN: (("owners",),),
    ApiKey.DELETE_RECORDS: (("topics", "partitions"),),
    ApiKey.DELETE_TOPICS: (("topics",), ("topic_names",)),
    ApiKey.DESCRIBE_LOG_DIRS: (("topics", "partitions"),),
    ApiKey.DESCRIBE_TOPIC_PARTITIONS: (("topics",),),
    ApiKey.CREATE_PARTITIONS: (("topics",),),
    ApiKey.ELECT_LEADERS: (("topic_partitions", "partitions"),),
    ApiKey.ALTER_PARTITION_REASSIGNMENTS: (("topics", "partitions"),),
    ApiKey.LIST_PARTITION_REASSIGNMENTS: (("topics", "partition_indexes"),),
    ApiKey.ALTER_REPLICA_LOG_DIRS: (("dirs", "topics", "partitions"),),
}

Serve = Callable[[RequestContext, Handler, Any], Result]
Decode = Callable[[int | None], Any]
"""Decodes the request; the number limits the budget, which is proportional to the size."""
_T = TypeVar("_T")


# --- Repeated elements ----------------------------------------------------------------------------


def merge_duplicates(api: ApiKey, request: Any) -> None:
    """Removes repeated elements from the arrays of the request; keeps the order.

    A response has a result for each element of the request. A small frame could repeat a group,
    topic or resource a hundred thousand times, and its response would be very large. APIs with
    short results, such as FindCoordinator, are excluded: as in Kafka, they return a result for
    every repetition.
    """
    for name, key in _ELEMENT_KEYS.get(api, {}).items():
        items = getattr(request, name)
        if items and len(items) > 1:
            setattr(request, name, list({key(item): item for item in items}.values()))


def merge_fetch(request: FetchRequest) -> None:
    """Removes repeated partitions; the last occurrence is kept."""
    topics: dict[tuple[str, Uuid], FetchTopic] = {}
    for topic in request.topics:
        first = topics.setdefault((topic.topic, topic.topic_id), topic)
        if first is not topic:
            first.partitions += topic.partitions
    for topic in topics.values():
        topic.partitions = list({item.partition: item for item in topic.partitions}.values())
    request.topics = list(topics.values())


# --- Requests decoded in a thread -----------------------------------------------------------------


class LargeRequests:
    """Owned by the dispatcher; `close` ends its thread."""

    def __init__(self) -> None:
        self._executor: ThreadPoolExecutor | None = None

    async def serve(
        self, context: RequestContext, handler: Handler, decode: Decode, serve: Serve
    ) -> Any:
        """Returns the reply to a request: encoded, or the result of its handler."""
        known = _known_partitions(context)
        work = partial(_decoded, handler.api, decode, known)
        request, named = await self._in_thread(work)
        if request is None:
            text = f"{handler.api.name} with {named} elements, the cluster has {known} partitions"
            raise ConnectionClosedError(Refusal.MALFORMED, text)
        arrays = SLICED.get(handler.api)
        if arrays is not None and len(getattr(request, arrays[0]) or ()) > _slice_size(handler.api):
            response = await _serve_slices(context, handler, request, serve)
        else:
            response = await _served(context, handler, request, serve)
        reply = await self._encoded(context, response)
        context.request = None
        garbage = [request, response]
        del request, response
        self._free(garbage)
        return reply

    def _free(self, garbage: list[Any]) -> None:
        """Drops the objects in the thread."""
        if self._executor is not None:
            self._executor.submit(garbage.clear)

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


def _decoded(api: ApiKey, decode: Decode, known: int) -> tuple[Any, int]:
    """Returns the request without repetitions, and the number of its elements.

    Returns None in place of a request that has too many elements for `known` partitions.
    """
    limit = known + SPARE_ELEMENTS_BY_API.get(api, SPARE_ELEMENTS)
    each = ELEMENT_BYTES.get(api)
    budget = None if each is None else each * (known + SPARE_ELEMENTS)
    request = _without_frames(lambda: decode(budget))
    if api is ApiKey.FETCH:
        merge_fetch(request)
    merge_duplicates(api, request)
    named = sum(_elements(request, path) for path in LIMITED_ARRAYS.get(api, ()))
    return (request, named) if named <= limit else (None, named)


def _without_frames(work: Callable[[], _T]) -> _T:
    """Raises an error of `work` without its traceback, whose frames keep the decoded objects."""
    try:
        return work()
    except ProtocolError as error:
        kind, text = type(error), str(error)
    raise kind(text)


def _elements(value: Any, path: tuple[str, ...]) -> int:
    """Counts the elements of an array at a path of arrays; an empty inner array counts as one."""
    items = getattr(value, path[0]) or ()
    if len(path) == 1:
        return len(items)
    return sum(max(_elements(item, path[1:]), 1) for item in items)


def _known_partitions(context: RequestContext) -> int:
    metadata = context.services.metadata
    return sum(len(metadata.partitions(name) or ()) for name in metadata.topics())


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
    for part in _slices(request, asked, _slice_size(handler.api)):
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


def _slice_size(api: ApiKey) -> int:
    return _SLICES.get(api, SLICE)


def _slices(request: Any, name: str, size: int) -> Iterator[Any]:
    items = getattr(request, name)
    for start in range(0, len(items), size):
        part = copy.copy(request)
        setattr(part, name, items[start : start + size])
        yield part
