"""Bounds the work of one request: limits its elements, removes repeated ones, cuts it into slices.

Limits: a frame of 1 MB can name more than 100,000 partitions, which take the loop seconds to look
up, so the number of elements is limited: the partitions of the cluster and a number that depends on
the API. APIs that serve a request as a whole have smaller numbers, because they occupy the loop for
all elements at once. Requests that are served in slices may name 20,000 more than there are: a
client whose metadata still has a deleted topic gets an error for each partition. A request above
the limit gets an error response. The connection is closed if the request is far above it, because
the error response costs time, too. Small requests, which are decoded on the loop (`LOOP_BUDGET`),
are not checked: they cannot name enough elements.

Repeated elements: a response has a result for each element of its request. A small frame could
repeat a group, topic or resource a hundred thousand times, and its response would be very large.
APIs with short results, such as FindCoordinator, are excluded: as in Kafka, they return a result
for every repetition.

Slices: a request with many elements is cut into smaller requests of the same API, and their
responses are joined. Only APIs that handle each element independently are listed. The elements are
counted at the end of a path of arrays, for example the partitions of all topics. A topic with more
partitions than a slice has room for is cut too; its partitions are together again in the response.
The objects of large requests and responses are freed in steps.

Large responses: they are recognized by the number of their structs, whatever request they belong
to, and encoded in the thread of the large requests.

No IO and no loop: `large_requests` serves the slices.
"""

import copy
import sys
from collections.abc import Callable, Hashable, Iterator
from functools import cache
from typing import Any, NamedTuple

from barnabas.model.error_codes import ErrorCode
from barnabas.model.ids import Uuid
from barnabas.wire.api_keys import ApiKey
from barnabas.wire.message import Message, WireStruct
from barnabas.wire.messages.fetch import FetchRequest, FetchTopic

Path = tuple[str, ...]
_IDENTITY = ("name", "topic", "topic_id", "group_id")
"""Fields of a response's element that contains an array; they name the element."""
_FREED_AT_ONCE = 20
_FEW = 100
"""In an array with more elements than this, each element is small and freed quickly, because the
total number of elements of a request is limited."""
LOOP_BUDGET = 1 << 18
"""Estimated memory of a request that is decoded on the loop: a few milliseconds of work."""
LOOP_BUDGETS: dict[ApiKey, int] = {
    ApiKey.PRODUCE: 1 << 16,  # about 200 partitions: the first append to a log opens its file
    ApiKey.LIST_OFFSETS: 1 << 16,
    ApiKey.OFFSET_FETCH: 1 << 16,
    ApiKey.OFFSET_FOR_LEADER_EPOCH: 1 << 16,
    ApiKey.DELETE_RECORDS: 1 << 16,
    ApiKey.DESCRIBE_PRODUCERS: 1 << 16,
    ApiKey.DESCRIBE_GROUPS: 1 << 16,
    ApiKey.CONSUMER_GROUP_DESCRIBE: 1 << 16,
    ApiKey.DELETE_GROUPS: 1 << 16,
    ApiKey.DESCRIBE_TRANSACTIONS: 1 << 16,
    ApiKey.DELETE_TOPICS: 1 << 16,
    ApiKey.ADD_PARTITIONS_TO_TXN: 1 << 16,
    ApiKey.WRITE_TXN_MARKERS: 1 << 16,
    ApiKey.ALTER_REPLICA_LOG_DIRS: 1 << 15,
}
"""Smaller budgets of APIs with small elements that take long to serve."""
SPARE_ELEMENTS = 10_000
"""Number by which the elements of a request may exceed the partitions of the cluster."""
_SPARE_IN_SLICES = 20_000
SPARE_ELEMENTS_BY_API: dict[ApiKey, int] = {
    ApiKey.PRODUCE: _SPARE_IN_SLICES,
    ApiKey.FETCH: _SPARE_IN_SLICES,
    ApiKey.LIST_OFFSETS: _SPARE_IN_SLICES,
    ApiKey.OFFSET_COMMIT: _SPARE_IN_SLICES,
    ApiKey.OFFSET_FETCH: _SPARE_IN_SLICES,
    ApiKey.TXN_OFFSET_COMMIT: _SPARE_IN_SLICES,
    ApiKey.OFFSET_FOR_LEADER_EPOCH: _SPARE_IN_SLICES,
    ApiKey.DELETE_RECORDS: _SPARE_IN_SLICES,
    ApiKey.DESCRIBE_PRODUCERS: _SPARE_IN_SLICES,
    ApiKey.LEAVE_GROUP: 4_000,
    ApiKey.ADD_PARTITIONS_TO_TXN: 2_500,
    ApiKey.DELETE_TOPICS: 3_000,
    ApiKey.DESCRIBE_TOPIC_PARTITIONS: 5_000,
    ApiKey.WRITE_TXN_MARKERS: 5_000,
    ApiKey.ALTER_REPLICA_LOG_DIRS: 1_500,
    ApiKey.CREATE_PARTITIONS: 2_500,
    ApiKey.ALTER_PARTITION_REASSIGNMENTS: 3_000,
    ApiKey.DESCRIBE_USER_SCRAM_CREDENTIALS: 4_000,
    ApiKey.ALTER_USER_SCRAM_CREDENTIALS: 4_000,
    ApiKey.ALTER_CLIENT_QUOTAS: 5_000,
}
"""Other numbers, so that one callback of the loop takes less than 20 ms (scripts.request_costs)."""
ELEMENT_BYTES: dict[ApiKey, int] = {
    ApiKey.METADATA: 400,
    ApiKey.FETCH: 700,
    ApiKey.CREATE_TOPICS: 1500,
}
"""Estimated memory of one element (`primitives.over_budget`), with some configs for a new topic.

These requests name partitions or topics. One that names far more than there are is rejected before
it is decoded: decoding a million repetitions would compete with the loop for seconds."""
# Arrays at whose ends the elements of a request are counted.
LIMITED_ARRAYS: dict[ApiKey, tuple[tuple[str, ...], ...]] = {
    ApiKey.PRODUCE: (("topic_data", "partition_data"),),
    ApiKey.FETCH: (("topics", "partitions"), ("forgotten_topics_data", "partitions")),
    ApiKey.LIST_OFFSETS: (("topics", "partitions"),),
    ApiKey.OFFSET_COMMIT: (("topics", "partitions"),),
    ApiKey.OFFSET_FETCH: (
        ("topics", "partition_indexes"),
        ("groups", "topics", "partition_indexes"),
    ),
    ApiKey.TXN_OFFSET_COMMIT: (("topics", "partitions"),),
    ApiKey.OFFSET_FOR_LEADER_EPOCH: (("topics", "partitions"),),
    ApiKey.DELETE_RECORDS: (("topics", "partitions"),),
    ApiKey.DESCRIBE_PRODUCERS: (("topics", "partition_indexes"),),
    ApiKey.DELETE_GROUPS: (("groups_names",),),
    ApiKey.DESCRIBE_GROUPS: (("groups",),),
    ApiKey.CONSUMER_GROUP_DESCRIBE: (("group_ids",),),
    ApiKey.FIND_COORDINATOR: (("coordinator_keys",),),
    ApiKey.DESCRIBE_CONFIGS: (("resources", "configuration_keys"),),
    ApiKey.DESCRIBE_TRANSACTIONS: (("transactional_ids",),),
    ApiKey.JOIN_GROUP: (("protocols",),),
    ApiKey.SYNC_GROUP: (("assignments",),),
    ApiKey.LEAVE_GROUP: (("members",),),
    ApiKey.LIST_GROUPS: (("states_filter",), ("types_filter",)),
    ApiKey.LIST_TRANSACTIONS: (("state_filters",), ("producer_id_filters",)),
    ApiKey.CONSUMER_GROUP_HEARTBEAT: (
        ("subscribed_topic_names",),
        ("topic_partitions", "partitions"),
    ),
    ApiKey.INCREMENTAL_ALTER_CONFIGS: (("resources", "configs"),),
    ApiKey.ALTER_CONFIGS: (("resources", "configs"),),
    ApiKey.CREATE_ACLS: (("creations",),),
    ApiKey.DELETE_ACLS: (("filters",),),
    ApiKey.DESCRIBE_CLIENT_QUOTAS: (("components",),),
    ApiKey.ALTER_CLIENT_QUOTAS: (("entries", "ops"), ("entries", "entity")),
    ApiKey.ALTER_USER_SCRAM_CREDENTIALS: (("deletions",), ("upsertions",)),
    ApiKey.DESCRIBE_USER_SCRAM_CREDENTIALS: (("users",),),
    ApiKey.OFFSET_DELETE: (("topics", "partitions"),),
    ApiKey.ADD_PARTITIONS_TO_TXN: (
        ("v3_and_below_topics", "partitions"),
        ("transactions", "topics", "partitions"),
    ),
    ApiKey.WRITE_TXN_MARKERS: (("markers", "topics", "partition_indexes"),),
    ApiKey.CREATE_DELEGATION_TOKEN: (("renewers",),),
    ApiKey.DESCRIBE_DELEGATION_TOKEN: (("owners",),),
    ApiKey.DELETE_TOPICS: (("topics",), ("topic_names",)),
    ApiKey.DESCRIBE_LOG_DIRS: (("topics", "partitions"),),
    ApiKey.DESCRIBE_TOPIC_PARTITIONS: (("topics",),),
    ApiKey.CREATE_PARTITIONS: (("topics",),),
    ApiKey.ELECT_LEADERS: (("topic_partitions", "partitions"),),
    ApiKey.ALTER_PARTITION_REASSIGNMENTS: (("topics", "partitions"),),
    ApiKey.LIST_PARTITION_REASSIGNMENTS: (("topics", "partition_indexes"),),
    ApiKey.ALTER_REPLICA_LOG_DIRS: (("dirs", "topics", "partitions"),),
}
ERROR_RESPONSE_FACTOR = 6
"""A request with up to this many times the limit gets an error response."""
_NAMES_PARTITIONS = frozenset(
    {
        ApiKey.PRODUCE,
        ApiKey.FETCH,
        ApiKey.LIST_OFFSETS,
        ApiKey.OFFSET_COMMIT,
        ApiKey.TXN_OFFSET_COMMIT,
        ApiKey.OFFSET_FOR_LEADER_EPOCH,
        ApiKey.ADD_PARTITIONS_TO_TXN,
        ApiKey.DELETE_RECORDS,
        ApiKey.DESCRIBE_PRODUCERS,
    }
)
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


class Slicing(NamedTuple):
    """Arrays of a request and of its response that correspond, and the elements of one slice."""

    request: Path
    response: Path
    size: int


class RequestSlice(NamedTuple):
    """One part of a request.

    `continued` is the number of array levels at which the first element continues the last element
    of the slice before.
    """

    request: Any
    continued: int


_PARTITIONS = ("topics", "partitions")
_OFFSETS_OF_GROUP = ("topics", "partition_indexes")
# The size is chosen so that a slice takes 2 to 5 ms of the loop's time (scripts.request_costs).
SLICED: dict[ApiKey, tuple[Slicing, ...]] = {
    ApiKey.PRODUCE: (
        Slicing(("topic_data", "partition_data"), ("responses", "partition_responses"), 50),
    ),
    ApiKey.METADATA: (Slicing(("topics",), ("topics",), 50),),
    ApiKey.LIST_OFFSETS: (Slicing(_PARTITIONS, _PARTITIONS, 100),),
    ApiKey.OFFSET_COMMIT: (Slicing(_PARTITIONS, _PARTITIONS, 500),),
    ApiKey.TXN_OFFSET_COMMIT: (Slicing(_PARTITIONS, _PARTITIONS, 500),),
    ApiKey.OFFSET_FETCH: (
        Slicing(_OFFSETS_OF_GROUP, _PARTITIONS, 500),
        Slicing(("groups", *_OFFSETS_OF_GROUP), ("groups", *_PARTITIONS), 500),
    ),
    ApiKey.OFFSET_FOR_LEADER_EPOCH: (Slicing(_PARTITIONS, _PARTITIONS, 500),),
    ApiKey.DELETE_RECORDS: (Slicing(_PARTITIONS, _PARTITIONS, 500),),
    ApiKey.FIND_COORDINATOR: (Slicing(("coordinator_keys",), ("coordinators",), 50),),
    ApiKey.DESCRIBE_GROUPS: (Slicing(("groups",), ("groups",), 200),),
    ApiKey.CONSUMER_GROUP_DESCRIBE: (Slicing(("group_ids",), ("groups",), 200),),
    ApiKey.DELETE_GROUPS: (Slicing(("groups_names",), ("results",), 200),),
    ApiKey.DESCRIBE_CONFIGS: (Slicing(("resources",), ("results",), 10),),
    ApiKey.DESCRIBE_PRODUCERS: (Slicing(_OFFSETS_OF_GROUP, _PARTITIONS, 500),),
    ApiKey.DESCRIBE_TRANSACTIONS: (Slicing(("transactional_ids",), ("transaction_states",), 50),),
}


def slicing_of(api: ApiKey, request: Message) -> Slicing | None:
    """Returns how a request is cut, or None if it is served as a whole."""
    for slicing in SLICED.get(api, ()):
        if count_elements(request, slicing.request) > slicing.size:
            return slicing
    return None


def count_elements(value: object, path: Path) -> int:
    """Counts the elements of an array at a path of arrays; an empty inner array counts as one."""
    items = getattr(value, path[0]) or ()
    if len(path) == 1:
        return len(items)
    return sum(max(count_elements(item, path[1:]), 1) for item in items)


def slices(value: object, path: Path, size: int) -> Iterator[RequestSlice]:
    """Yields copies of a request that have at most `size` elements each, in the same order."""
    name, rest = path[0], path[1:]
    taken: list[object] = []
    count = first_continues = 0
    for item in getattr(value, name):
        for piece, continued in _pieces(item, rest, size):
            elements = max(count_elements(piece, rest), 1) if rest else 1
            if taken and count + elements > size:
                yield RequestSlice(_with_array(value, name, taken), first_continues)
                taken, count = [], 0
            if not taken:
                first_continues = continued
            taken.append(piece)
            count += elements
    if taken:
        yield RequestSlice(_with_array(value, name, taken), first_continues)


def _pieces(item: object, path: Path, size: int) -> Iterator[tuple[object, int]]:
    """Yields an element, or its parts if it contains more than `size` elements."""
    if not path or count_elements(item, path) <= size:
        yield item, 0
        return
    for number, (piece, continued) in enumerate(slices(item, path, size)):
        yield piece, 1 + continued if number else 0


def _with_array(value: object, name: str, items: list[object]) -> object:
    part = copy.copy(value)
    setattr(part, name, items)
    return part


def join(whole: Any, part: Any, path: Path, continued: int) -> None:
    """Adds the response of the next slice to the responses of the slices before."""
    _join_arrays(whole, part, path, continued)
    whole.throttle_time_ms = max(whole.throttle_time_ms, part.throttle_time_ms)
    if getattr(part, "error_code", 0):
        whole.error_code = part.error_code
    if getattr(part, "node_endpoints", None):
        known = {endpoint.node_id for endpoint in whole.node_endpoints}
        whole.node_endpoints += [one for one in part.node_endpoints if one.node_id not in known]


def _join_arrays(whole: object, part: object, path: Path, continued: int) -> None:
    present, added = getattr(whole, path[0]), getattr(part, path[0])
    if continued and present and added and _identity(present[-1]) == _identity(added[0]):
        _join_arrays(present[-1], added[0], path[1:], continued - 1)
        added = added[1:]
    present.extend(added)


def _identity(element: object) -> tuple[object, ...]:
    return tuple(getattr(element, name, None) for name in _IDENTITY)


# --- Freeing --------------------------------------------------------------------------------------


def free_in_steps(garbage: list[object]) -> None:
    """Removes messages from the list, a few elements of their arrays at a time.

    The interpreter frees a message with all of its elements in one operation, 17 ms for 44,000
    topics, and no other thread can run meanwhile. Arrays are copied, not changed: the state of the
    broker may contain them.
    """
    while garbage:
        if len(garbage) > _FEW:
            del garbage[-_FREED_AT_ONCE:]
        else:
            _extend_with_arrays(garbage, garbage.pop())


def _extend_with_arrays(garbage: list[object], value: object) -> None:
    kind: type = type(value)
    for name in _arrays_of(kind):
        garbage.extend(getattr(value, name) or ())


@cache
def _arrays_of(kind: type) -> tuple[str, ...]:
    """Returns the names of a struct's array fields; none for other types."""
    if not issubclass(kind, WireStruct):
        return ()
    return tuple(name for name, type_name, *_ in kind.FIELDS if type_name.startswith("["))


# --- Large responses ------------------------------------------------------------------------------


LARGE_RESPONSE = 500
"""A response with more structs than this, at any depth, is encoded in a thread: 1 to 3 ms."""


def is_large(response: Message) -> bool:
    """Whether encoding a response would hold the loop; visits at most `LARGE_RESPONSE` structs."""
    return _count_structs(response, LARGE_RESPONSE) > LARGE_RESPONSE


def _count_structs(value: WireStruct, most: int) -> int:
    """Counts the structs below a message or struct; may stop when there are more than `most`."""
    count = 0
    kind: type = type(value)
    for name in _struct_arrays_of(kind):
        items = getattr(value, name) or ()
        count += len(items)
        for item in items:
            if count > most:
                return count
            count += _count_structs(item, most - count)
    return count


@cache
def _struct_arrays_of(kind: type[WireStruct]) -> tuple[str, ...]:
    """Returns the names of a struct's fields that are arrays of structs."""
    module = sys.modules[kind.__module__]
    return tuple(
        name
        for name, type_name, *_ in kind.FIELDS
        if type_name.startswith("[") and _is_struct(getattr(module, type_name.strip("[]"), None))
    )


def _is_struct(found: object) -> bool:
    return isinstance(found, type) and issubclass(found, WireStruct)


# --- Limits ---------------------------------------------------------------------------------------


def element_limit(api: ApiKey, known_partitions: int) -> int:
    """Returns the number of elements that a request may name in a cluster of this size."""
    return known_partitions + SPARE_ELEMENTS_BY_API.get(api, SPARE_ELEMENTS)


def decoding_limit(api: ApiKey, known_partitions: int) -> int | None:
    """Returns the memory that the decoded objects of a request may use, or None for the default."""
    each = ELEMENT_BYTES.get(api)
    return None if each is None else each * element_limit(api, known_partitions)


def count_limited(api: ApiKey, request: Message) -> int:
    """Returns the number of elements of a request: those of its largest limited array."""
    paths: tuple[Path, ...] = LIMITED_ARRAYS.get(api, ())
    return max((count_elements(request, path) for path in paths), default=0)


def limit_error(api: ApiKey) -> ErrorCode:
    """Returns the error code for a request above its limit.

    A request that names more partitions than exist gets the error that makes a client refresh its
    metadata and retry.
    """
    if api in _NAMES_PARTITIONS:
        return ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    return ErrorCode.INVALID_REQUEST


def merge_duplicates(api: ApiKey, request: Message) -> None:
    """Removes repeated elements from the arrays of the request; keeps the order."""
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
