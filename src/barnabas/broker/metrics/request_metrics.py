"""Counts and times requests by API.

The dispatcher calls `RequestMeter.served` for each request with the times it has measured anyway.
For a request whose response comes later it calls `started`, and `completed` when the pending reply
is complete. The event loop owns everything here.

Kafka shows Fetch also as FetchConsumer and FetchFollower. Here `request="Fetch"` is the sum; the
two others are recorded in addition, when the handler knows who fetches.

Error codes of responses are counted too (Kafka's ErrorsPerSec). A code can be at the top of a
response or in one of its lists, at any depth. Where it can be is computed once per response class,
from the field table of the generated message; counting then follows only those paths. Responses
without an error add nothing, so the usual cost is one comparison per partition.
"""

import sys
from collections.abc import Callable, Iterable
from typing import TypeAlias

from barnabas.broker.metrics import catalog
from barnabas.broker.metrics.component_catalog import REQUEST_ERRORS
from barnabas.model.error_codes import ErrorCode
from barnabas.runtime.metrics import Counter, CounterFamily, Histogram, Registry, record_each
from barnabas.wire.api_keys import ApiKey
from barnabas.wire.message import Message, WireStruct

_NS_TO_MS = 1e-6


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
        self._served = (self.bytes, self.queue, self.local, self.remote, self.total)

    def started(self, version: int, size: int, queue_ns: int) -> None:
        """Counts a request of `size` bytes that waited `queue_ns` after it was read."""
        self._of(version).value += 1
        self.bytes.record(size)
        self.queue.record(max(queue_ns, 0))

    def served(self, version: int, size: int, queue_ns: int, local_ns: int) -> None:
        """Counts a request whose response was complete immediately."""
        (self._versions.get(version) or self._of(version)).value += 1
        record_each(self._served, (size, queue_ns, local_ns, 0, local_ns))

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
        self.requests = registry.counters(catalog.REQUESTS)
        self.bytes = registry.histograms(catalog.REQUEST_BYTES)
        self.queue = registry.histograms(catalog.QUEUE_TIME, _NS_TO_MS)
        self.send = registry.histograms(catalog.SEND_TIME, _NS_TO_MS)
        self.local = registry.histograms(catalog.LOCAL_TIME, _NS_TO_MS)
        self.remote = registry.histograms(catalog.REMOTE_TIME, _NS_TO_MS)
        self.total = registry.histograms(catalog.TOTAL_TIME, _NS_TO_MS)
        self._errors = ErrorCounts(registry.counters(REQUEST_ERRORS))
        self._meters: dict[int, RequestMeter] = {}

    def count_errors(self, api_key: int, response: Message) -> None:
        """Counts the error codes of a response."""
        self._errors.count(self.of(api_key).name, response)

    def of(self, api_key: int) -> RequestMeter:
        """Returns the meter of an API that the broker serves."""
        meter = self._meters.get(api_key)
        if meter is None:
            meter = self._meters[api_key] = RequestMeter(self, api_label(api_key))
        return meter


def api_label(api_key: int) -> str:
    """Returns Kafka's name of an API as its metrics spell it, such as `ListOffsets`."""
    return "".join(word.capitalize() for word in ApiKey(api_key).name.split("_"))


_FIELD = "error_code"

Collect: TypeAlias = Callable[[WireStruct, list[int]], None]
"""Appends the error codes of a struct that are not NONE."""


class ErrorCounts:
    """Counts errors by API; owned by the broker's loop."""

    def __init__(self, counters: CounterFamily) -> None:
        self._counters = counters
        self._collectors: dict[type[WireStruct], Collect | None] = {}

    def count(self, api_label: str, response: Message) -> None:
        """Counts the errors of a response."""
        kind = type(response)
        if kind not in self._collectors:
            self._collectors[kind] = _collector(kind)
        collect = self._collectors[kind]
        if collect is None:
            return
        found: list[int] = []
        collect(response, found)
        for code in found:
            self._counters.labels(api_label, _name(code)).value += 1


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
