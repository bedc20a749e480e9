"""Builds the error response to a request of any API.

A response has the structure of its request: topics contain partitions. So it is built from the
arrays of the request, with names and indexes copied. Errors of the whole request (for example
NOT_COORDINATOR) are set on every level, other errors on the innermost level, as in Kafka.

Errors of a broker that is not the leader also carry the current leader (KIP-951).
"""

import importlib
from collections.abc import Callable, Iterator
from typing import TypeVar

from barnabas.broker.handler import RequestContext
from barnabas.model.control import PartitionState
from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BrokerError
from barnabas.model.ids import BrokerId, TopicPartition
from barnabas.wire.api_keys import response_class
from barnabas.wire.message import Message, WireStruct
from barnabas.zk.tree import TreeError

_Struct = TypeVar("_Struct", bound=WireStruct)
_Endpoint = TypeVar("_Endpoint")

OF_THE_WHOLE_REQUEST = frozenset(
    {
        ErrorCode.NOT_CONTROLLER,
        ErrorCode.NOT_COORDINATOR,
        ErrorCode.COORDINATOR_NOT_AVAILABLE,
        ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
        ErrorCode.UNKNOWN_MEMBER_ID,
        ErrorCode.ILLEGAL_GENERATION,
        ErrorCode.REBALANCE_IN_PROGRESS,
        ErrorCode.FENCED_INSTANCE_ID,
        ErrorCode.GROUP_AUTHORIZATION_FAILED,
        ErrorCode.CLUSTER_AUTHORIZATION_FAILED,
        ErrorCode.FETCH_SESSION_ID_NOT_FOUND,
        ErrorCode.INVALID_FETCH_SESSION_EPOCH,
        ErrorCode.UNSUPPORTED_VERSION,
        ErrorCode.INVALID_REQUEST,
    }
)
_PARTITION_NAMES = ("partition_index", "partition", "index", "partition_id")
_NOT_THE_ERROR = "topic_config_error_code"
_HINTED_ERRORS = frozenset(
    {int(ErrorCode.NOT_LEADER_OR_FOLLOWER), int(ErrorCode.FENCED_LEADER_EPOCH)}
)


def code_and_message(error: BrokerError | TreeError) -> tuple[ErrorCode, str]:
    """Returns the error code and text of a response.

    The metadata tree may be unavailable for a while, so its errors are retriable.
    """
    if isinstance(error, BrokerError):
        return error.code, error.message
    return ErrorCode.REQUEST_TIMED_OUT, str(error)


def error_response(request: Message, code: ErrorCode) -> Message:
    """Returns the response in which all items have this error code."""
    response: Message = _mirror(request, response_class(request.API_KEY), code)
    if not _codes(response):
        _set_codes(response, code)
    return response


def contains_error(response: WireStruct, version: int) -> bool:
    """Whether the response, encoded in this version, contains an error code other than NONE."""
    fields = {name for name, _, low, high, _ in response.FIELDS if low <= version <= high}
    if any(getattr(response, name) for name in _code_fields(response) if name in fields):
        return True
    nested = (name for name, _ in _arrays(type(response)) if name in fields)
    return any(contains_error(item, version) for name in nested for item in getattr(response, name))


def error_codes(response: Message) -> set[int]:
    """Returns all error codes of a response other than NONE, at any depth."""
    return _codes(response)


def _mirror(source: object, kind: type[_Struct], code: ErrorCode) -> _Struct:
    target = kind()
    for name, value in _identity(source, target):
        setattr(target, name, value)
    inner = False
    for name, element in _arrays(kind):
        items = [_mirror(item, element, code) for item in _counterpart(source, name)]
        setattr(target, name, items)
        inner = inner or any(_codes(item) for item in items)
    if code in OF_THE_WHOLE_REQUEST or not (inner or isinstance(target, Message)):
        _set_codes(target, code)
    return target


def _identity(source: object, target: WireStruct) -> Iterator[tuple[str, object]]:
    """Yields the fields that identify an item of the request in the response."""
    names = [spec[0] for spec in target.FIELDS if not spec[1].startswith("[")]
    if not isinstance(source, WireStruct):
        # The request lists plain names or numbers: an item of the response has a field for it.
        kind = "string" if isinstance(source, str) else "int32"
        first = next((spec[0] for spec in target.FIELDS if spec[1] == kind), None)
        if first is not None:
            yield first, source
        return
    known = {spec[0] for spec in source.FIELDS}
    for name in names:
        if name in known:
            # A field may be nullable only in the request; the default is valid in both.
            if (value := getattr(source, name)) is not None:
                yield name, value
        elif name in _PARTITION_NAMES:
            same = next((other for other in _PARTITION_NAMES if other in known), None)
            if same is not None:
                yield name, getattr(source, same)


def _arrays(kind: type[WireStruct]) -> Iterator[tuple[str, type[WireStruct]]]:
    module = importlib.import_module(kind.__module__)
    for name, type_name, *_ in kind.FIELDS:
        element = getattr(module, type_name.strip("[]"), None)
        if type_name.startswith("[") and element is not None:
            yield name, element


def _counterpart(source: object, name: str) -> list[object]:
    """Returns the array of the request for an array of the response: same name, or the first."""
    if not isinstance(source, WireStruct):
        return []
    arrays = [spec[0] for spec in source.FIELDS if spec[1].startswith("[")]
    if name in arrays and getattr(source, name):
        return list(getattr(source, name))
    return next((list(items) for other in arrays if (items := getattr(source, other))), [])


def _code_fields(item: WireStruct) -> list[str]:
    return [
        spec[0]
        for spec in item.FIELDS
        if spec[0].endswith("error_code") and spec[0] != _NOT_THE_ERROR
    ]


def _set_codes(item: WireStruct, code: ErrorCode) -> None:
    for name in _code_fields(item):
        setattr(item, name, int(code))


def _codes(item: WireStruct) -> set[int]:
    """Returns all error codes other than NONE, at any depth."""
    found = {getattr(item, name) for name in _code_fields(item)}
    for name, _ in _arrays(type(item)):
        for element in getattr(item, name) or ():
            found |= _codes(element)
    return found - {0}


# --- Leader hints ---------------------------------------------------------------------------------


def leader_hint(
    ctx: RequestContext, error_code: int, topic_partition: TopicPartition
) -> PartitionState | None:
    """Returns the state with the leader if clients can use it for this error, otherwise None."""
    if error_code not in _HINTED_ERRORS:
        return None
    state = ctx.services.metadata.partition(topic_partition)
    return state if state is not None and state.leader >= 0 else None


def node_endpoints(
    ctx: RequestContext,
    leaders: set[BrokerId],
    make: Callable[[int, str, int, str | None], _Endpoint],
) -> list[_Endpoint]:
    """Returns the addresses of the leaders, built with `make(node_id, host, port, rack)`."""
    found = []
    for broker_id in sorted(leaders):
        broker = ctx.services.metadata.broker(broker_id)
        endpoint = ctx.endpoint_of(broker) if broker is not None else None
        if broker is not None and endpoint is not None:
            found.append(make(broker_id, endpoint.host, endpoint.port, broker.rack))
    return found
