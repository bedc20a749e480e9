"""Counts and times requests by API.

The dispatcher calls `RequestMeter.served` for each request with the times it has measured anyway.
For a request whose response comes later it calls `started`, and `completed` when the pending reply
is complete. The event loop owns everything here.

Fetch is recorded as FetchConsumer or FetchFollower; as in Kafka, `request="Fetch"` is the sum of
both. The sum is computed when the metrics are read, so a fetch costs no more than other requests.

Error codes of responses are counted too (Kafka's ErrorsPerSec). A code can be at the top of a
response or in one of its lists, at any depth. Where it can be is computed once per response class,
from the field table of the generated message; counting then follows only those paths. Responses
without an error add nothing, so the usual cost is one comparison per partition.
"""

import collections
import sys
from collections.abc import Callable, Iterable, Mapping
from typing import TypeAlias

from barnabas.broker.metrics import catalog
from barnabas.broker.metrics.component_catalog import REQUEST_ERRORS
from barnabas.model.error_codes import ErrorCode
from barnabas.runtime.metrics import (
    Counter,
    CounterFamily,
    Histogram,
    Registry,
    RequestHistograms,
    Sample,
)
from barnabas.wire.api_keys import ApiKey
from barnabas.wire.message import Message, WireStruct
from barnabas.wire.messages.fetch import FetchRequest

_NS_TO_MS = 1e-6
_FETCH = int(ApiKey.FETCH)
_FETCH_LABEL = "Fetch"
_FETCH_PARTS = ("FetchConsumer", "FetchFollower")


class RequestMeter:
    """Counters and histograms of one API."""

    __slots__ = (
        "_metrics",
        "_served",
        "_versions",
        "bytes",
        "local",
        "name",
        "queue",
        "remote",
        "send",
        "total",
    )

    def __init__(self, metrics: "RequestMetrics", name: str) -> None:
        self._metrics = metrics
        self._versions: dict[int, Counter] = {}
        self.name = name
        self.bytes: Histogram = metrics.bytes.labels(name)
        self.queue: Histogram = metrics.queue.labels(name)
        self.send: Histogram = metrics.send.labels(name)
        """Recorded by the connection when the response has been sent."""
        self.local: Histogram = metrics.local.labels(name)
        self.remote: Histogram = metrics.remote.labels(name)
        self.total: Histogram = metrics.total.labels(name)
        self._served = RequestHistograms(
            self.bytes, self.queue, self.local, self.remote, self.total
        )

    def started(self, version: int, size: int, queue_ns: int) -> None:
        """Counts a request of `size` bytes that waited `queue_ns` after it was read."""
        self._of(version).value += 1
        self.bytes.record(size)
        self.queue.record(max(queue_ns, 0))

    def served(self, version: int, size: int, queue_ns: int, local_ns: int) -> None:
        """Counts a request whose response was complete immediately."""
        (self._versions.get(version) or self._of(version)).value += 1
        self._served.record(size, queue_ns, local_ns)

    def _of(self, version: int) -> Counter:
        counter = self._versions.get(version)
        if counter is None:
            counter = self._metrics.requests.labels(self.name, str(version))
            self._versions[version] = counter
        return counter

    def completed(self, local_ns: int, total_ns: int) -> None:
        """Records a request whose response was completed later."""
        self.local.record(local_ns)
        self.remote.record(max(total_ns - local_ns, 0))
        self.total.record(total_ns)


class RequestMetrics:
    """The meters of all APIs."""

    def __init__(self, registry: Registry) -> None:
        self.requests = CounterFamily(catalog.REQUESTS)
        registry.source(catalog.REQUESTS, self._request_counts)
        self.bytes = registry.histograms(catalog.REQUEST_BYTES)
        self.queue = registry.histograms(catalog.QUEUE_TIME, _NS_TO_MS)
        self.send = registry.histograms(catalog.SEND_TIME, _NS_TO_MS)
        self.local = registry.histograms(catalog.LOCAL_TIME, _NS_TO_MS)
        self.remote = registry.histograms(catalog.REMOTE_TIME, _NS_TO_MS)
        self.total = registry.histograms(catalog.TOTAL_TIME, _NS_TO_MS)
        self._errors = ErrorCounts(registry.counters(REQUEST_ERRORS))
        consumers, self._followers = (RequestMeter(self, name) for name in _FETCH_PARTS)
        self._meters: dict[int, RequestMeter] = {_FETCH: consumers}
        for family in (self.bytes, self.queue, self.send, self.local, self.remote, self.total):
            family.add_sum(tuple(family.labels(name) for name in _FETCH_PARTS), _FETCH_LABEL)

    def count_errors(self, api_key: int, response: Message) -> None:
        """Counts the error codes of a response."""
        self.add_errors(api_key, self.errors_of(response))

    def errors_of(self, response: Message) -> Mapping[int, int]:
        """Returns how often each error code is in a response; may be called in any thread."""
        return self._errors.find(response)

    def add_errors(self, api_key: int, codes: Mapping[int, int]) -> None:
        """Counts error codes that `errors_of` found, by code."""
        if codes:
            self._errors.add(api_label(api_key), codes)

    def of(self, api_key: int, request: Message | None = None) -> RequestMeter:
        """Returns the meter of an API that the broker serves.

        Args:
            api_key: The API.
            request: The decoded request; None if it is decoded later, outside of the loop. A fetch
                counts as that of a consumer then.
        """
        if isinstance(request, FetchRequest) and _is_from_follower(request):
            return self._followers
        meter = self._meters.get(api_key)
        if meter is None:
            meter = self._meters[api_key] = RequestMeter(self, api_label(api_key))
        return meter

    def _request_counts(self) -> Iterable[Sample]:
        fetches: collections.Counter[str] = collections.Counter()
        for (name, version), count in self.requests.samples():
            yield (name, version), count
            if name in _FETCH_PARTS:
                fetches[version] += int(count)
        for version, count in fetches.items():
            yield (_FETCH_LABEL, version), count


def _is_from_follower(request: FetchRequest) -> bool:
    state = request.replica_state
    return (request.replica_id if state is None else state.replica_id) >= 0


def api_label(api_key: int) -> str:
    """Returns Kafka's name of an API as its metrics spell it, such as `ListOffsets`."""
    return "".join(word.capitalize() for word in ApiKey(api_key).name.split("_"))


_FIELD = "error_code"
_NONE: Mapping[int, int] = {}

Collect: TypeAlias = Callable[[WireStruct, list[int]], None]
"""Appends the error codes of a struct that are not NONE."""


class ErrorCounts:
    """Counts errors by API; owned by the broker's loop."""

    def __init__(self, counters: CounterFamily) -> None:
        self._counters = counters
        self._collectors: dict[type[WireStruct], Collect | None] = {}

    def find(self, response: Message) -> Mapping[int, int]:
        """Returns how often each error code is in a response; may be called in any thread."""
        kind = type(response)
        if kind not in self._collectors:
            self._collectors[kind] = _collector(kind)
        collect = self._collectors[kind]
        found: list[int] = []
        if collect is not None:
            collect(response, found)
        return collections.Counter(found) if found else _NONE

    def add(self, api_label: str, codes: Mapping[int, int]) -> None:
        for code, times in codes.items():
            self._counters.labels(api_label, _name(code)).value += times


def _name(code: int) -> str:
    try:
        return ErrorCode(code).name
    except ValueError:
        return str(code)


def _collector(kind: type[WireStruct]) -> Collect | None:
    """Returns the function for a class; None if no field can hold an error code."""
    has_code = any(name == _FIELD for name, *_ in kind.FIELDS)
    lists = list(_lists(kind))
    if not has_code and not lists:
        return None

    def collect(struct: WireStruct, found: list[int]) -> None:
        if has_code:
            code = getattr(struct, _FIELD)
            if code:
                found.append(code)
        for name, inner in lists:
            for item in getattr(struct, name) or ():
                inner(item, found)

    return collect


def _lists(kind: type[WireStruct]) -> Iterable[tuple[str, Collect]]:
    """Yields the lists of structs below which there are error codes."""
    module = sys.modules[kind.__module__]
    for name, wire_type, *_ in kind.FIELDS:
        element = getattr(module, str(wire_type).strip("[]"), None)
        is_list = str(wire_type).startswith("[")
        if is_list and isinstance(element, type) and issubclass(element, WireStruct):
            inner = _collector(element)
            if inner is not None:
                yield name, inner
