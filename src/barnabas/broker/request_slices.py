"""Cuts a large request into smaller requests of the same API and joins their responses.

Also frees the objects of large requests and responses in steps.

Only APIs that handle each element of a request independently are listed here. The elements are
counted at the end of a path of arrays, for example the partitions of all topics. A topic with more
partitions than a slice has room for is cut too; its partitions are together again in the response.

No IO and no loop: `large_requests` serves the slices.
"""

import copy
from collections.abc import Iterator
from functools import cache
from typing import Any, NamedTuple

from barnabas.wire.api_keys import ApiKey
from barnabas.wire.message import WireStruct

Path = tuple[str, ...]
_IDENTITY = ("name", "topic", "topic_id", "group_id")
"""Fields of a response's element that contains an array; they name the element."""
_FREED_AT_ONCE = 20
_FEW = 100
"""With more elements than these, none has so many elements of its own that freeing it takes long:
requests are limited (`request_limits`)."""


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
        Slicing(("topic_data", "partition_data"), ("responses", "partition_responses"), 100),
    ),
    ApiKey.METADATA: (Slicing(("topics",), ("topics",), 50),),
    ApiKey.LIST_OFFSETS: (Slicing(_PARTITIONS, _PARTITIONS, 100),),
    ApiKey.OFFSET_COMMIT: (Slicing(_PARTITIONS, _PARTITIONS, 2_000),),
    ApiKey.TXN_OFFSET_COMMIT: (Slicing(_PARTITIONS, _PARTITIONS, 2_000),),
    ApiKey.OFFSET_FETCH: (
        Slicing(_OFFSETS_OF_GROUP, _PARTITIONS, 1_000),
        Slicing(("groups", *_OFFSETS_OF_GROUP), ("groups", *_PARTITIONS), 1_000),
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


def slicing_of(api: ApiKey, request: Any) -> Slicing | None:
    """Returns how a request is cut, or None if it is served as a whole."""
    for slicing in SLICED.get(api, ()):
        if count_elements(request, slicing.request) > slicing.size:
            return slicing
    return None


def count_elements(value: Any, path: Path) -> int:
    """Counts the elements of an array at a path of arrays; an empty inner array counts as one."""
    items = getattr(value, path[0]) or ()
    if len(path) == 1:
        return len(items)
    return sum(max(count_elements(item, path[1:]), 1) for item in items)


def slices(value: Any, path: Path, size: int) -> Iterator[RequestSlice]:
    """Yields copies of a request that have at most `size` elements each, in the same order."""
    name, rest = path[0], path[1:]
    taken: list[Any] = []
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


def _pieces(item: Any, path: Path, size: int) -> Iterator[tuple[Any, int]]:
    """Yields an element, or its parts if it contains more than `size` elements."""
    if not path or count_elements(item, path) <= size:
        yield item, 0
        return
    for number, (piece, continued) in enumerate(slices(item, path, size)):
        yield piece, 1 + continued if number else 0


def _with_array(value: Any, name: str, items: list[Any]) -> Any:
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


def _join_arrays(whole: Any, part: Any, path: Path, continued: int) -> None:
    present, added = getattr(whole, path[0]), getattr(part, path[0])
    if continued and present and added and _identity(present[-1]) == _identity(added[0]):
        _join_arrays(present[-1], added[0], path[1:], continued - 1)
        added = added[1:]
    present.extend(added)


def _identity(element: Any) -> tuple[Any, ...]:
    return tuple(getattr(element, name, None) for name in _IDENTITY)


# --- Freeing --------------------------------------------------------------------------------------


def free_in_steps(garbage: list[Any]) -> None:
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


def _extend_with_arrays(garbage: list[Any], value: Any) -> None:
    kind: type = type(value)
    for name in _arrays_of(kind):
        garbage.extend(getattr(value, name) or ())


@cache
def _arrays_of(kind: type) -> tuple[str, ...]:
    """Returns the names of a struct's array fields; none for other types."""
    if not issubclass(kind, WireStruct):
        return ()
    return tuple(name for name, type_name, *_ in kind.FIELDS if type_name.startswith("["))
