"""Metrics of connections that all clients have: of the client, and of each broker."""

from collections.abc import Callable, Iterator

from barnabas.clients.metrics.client_metrics import ClientMetrics, Meters, MetricGroup
from barnabas.net.connection_meters import ConnectionMeters
from barnabas.net.connection_options import Address
from barnabas.runtime._meter_hot import Meter
from barnabas.runtime.clock import Clock
from barnabas.runtime.metric_types import Metric

MS = 0.001
"""Factor from microseconds to milliseconds."""


class NetworkMeters:
    """Metrics of a connection pool; owned by the client's loop."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self.brokers: dict[Address, ConnectionMeters] = {}
        self.opened = Meter()
        self.closed = Meter()
        self.authenticated = Meter()
        self.rejected = Meter()

    def __iter__(self) -> Iterator[Meter]:
        yield from (self.opened, self.closed, self.authenticated, self.rejected)
        for broker in self.brokers.values():
            yield from broker

    def broker(self, address: Address) -> ConnectionMeters:
        """Returns the meters of the connections to an address."""
        found = self.brokers.get(address)
        if found is None:
            found = ConnectionMeters(self._clock.monotonic_ms())
            # A new dictionary: another thread may be reading the old one.
            self.brokers = {**self.brokers, address: found}
        return found

    def all_of(self, name: str) -> Meters:
        """Returns a function that gives the meter with this name of every broker."""
        return lambda: [getattr(broker, name) for broker in self.brokers.values()]


def add_network_metrics(
    metrics: ClientMetrics,
    meters: NetworkMeters,
    connection_count: Callable[[], int],
    node_of: Callable[[Address], int],
) -> None:
    """Adds the metrics of the client and of its brokers; `node_of` returns a broker's id."""
    metrics.windows.watch(meters)
    group = metrics.group(f"{metrics.kind}-metrics")
    group.counted("connection-creation", meters.opened)
    group.counted("connection-close", meters.closed)
    group.gauge("connection-count", connection_count)
    requests, responses = meters.all_of("requests"), meters.all_of("responses")
    group.counted("network-io", lambda: [*requests(), *responses()])
    _add_traffic(group, requests, responses)
    group.counted("successful-authentication", meters.authenticated)
    group.counted("failed-authentication", meters.rejected)
    group.counted("successful-reauthentication", meters.all_of("reauthentications"))
    group.counted("failed-reauthentication", meters.all_of("failed_reauthentications"))
    group.average_and_maximum("reauthentication-latency", meters.all_of("reauthentications"), MS)
    metrics.add(group)
    metrics.add(_NodeMetrics(metrics, meters, node_of))


class _NodeMetrics:
    """The metrics of each broker, with its id in the tag `node-id`."""

    def __init__(
        self, metrics: ClientMetrics, meters: NetworkMeters, node_of: Callable[[Address], int]
    ) -> None:
        self._metrics = metrics
        self._meters = meters
        self._node_of = node_of
        self._groups: dict[tuple[Address, int], MetricGroup] = {}

    def __call__(self, now_ms: int) -> Iterator[Metric]:
        for address, broker in self._meters.brokers.items():
            # The id of a bootstrap address is known after the first metadata.
            key = address, self._node_of(address)
            if key not in self._groups:
                self._groups[key] = self._group(broker, key[1])
            yield from self._groups[key](now_ms)

    def _group(self, broker: ConnectionMeters, node_id: int) -> MetricGroup:
        name = f"{self._metrics.kind}-node-metrics"
        group = self._metrics.group(name, node_id=f"node-{node_id}")
        _add_traffic(group, lambda: (broker.requests,), lambda: (broker.responses,))
        group.average_and_maximum("request-latency", broker.latency, MS)
        return group


def _add_traffic(group: MetricGroup, requests: Meters, responses: Meters) -> None:
    group.summed("outgoing-byte", requests)
    group.counted("request", requests)
    group.average_and_maximum("request-size", requests)
    group.summed("incoming-byte", responses)
    group.counted("response", responses)
