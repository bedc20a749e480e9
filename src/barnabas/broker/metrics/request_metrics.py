"""Counts and times requests by API.

The dispatcher calls `RequestMeter.served` for each request with the times it has measured anyway.
A request whose response comes later passes its meter to the pending reply, which reports when the
response is complete. The event loop owns everything here.

Kafka shows Fetch also as FetchConsumer and FetchFollower. Here `request="Fetch"` is the sum; the
two others are recorded in addition, when the handler knows who fetches.
"""

from barnabas.broker.metrics import catalog
from barnabas.broker.metrics.component_catalog import REQUEST_ERRORS
from barnabas.broker.metrics.error_counts import ErrorCounts
from barnabas.runtime.metrics import Counter, Histogram, Registry
from barnabas.wire.api_keys import ApiKey
from barnabas.wire.message import Message

_NS_TO_MS = 1e-6


class RequestMeter:
    """Counters and histograms of one API."""

    __slots__ = (
        "_metrics",
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

    def started(self, version: int, size: int, queue_ns: int) -> None:
        """Counts a request of `size` bytes that waited `queue_ns` after it was read."""
        counter = self._versions.get(version)
        if counter is None:
            counter = self._metrics.requests.labels(self.name, str(version))
            self._versions[version] = counter
        counter.value += 1
        self.bytes.record(size)
        self.queue.record(max(queue_ns, 0))

    def served(self, local_ns: int) -> None:
        """Records a request whose response was complete immediately."""
        self.local.record(local_ns)
        self.remote.record(0)
        self.total.record(local_ns)

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
