"""Metrics of a running process: counters, gauges, histograms, and the registry that lists them.

The hot path adds to plain integers that one event loop owns: no lock, no lookup by name, no
formatting. Readers pay instead. A gauge is a function that is called when the metrics are read, and
percentiles are computed from the difference of two readings of a histogram.

A metric is declared once with its Kafka name (the JMX object name) where Kafka has one. Its
Prometheus name follows the rules of the Kafka example configuration of Prometheus' JMX exporter, so
existing dashboards and alerts work unchanged. The text format and HTTP are elsewhere.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from enum import Enum
from functools import cache
from typing import Generic, TypeAlias, TypeVar

from barnabas.runtime._histogram_hot import QUANTILES, Counter, Histogram, RequestHistograms

__all__ = [
    "QUANTILES",
    "Counter",
    "CounterFamily",
    "Exemplar",
    "Family",
    "GaugeFamily",
    "Histogram",
    "HistogramFamily",
    "Labels",
    "Metric",
    "MetricKind",
    "Registry",
    "RequestHistograms",
    "Sample",
    "Source",
]

_ChildT = TypeVar("_ChildT", Counter, Histogram)
Labels: TypeAlias = tuple[str, ...]
"""Values of the labels of one sample, in the order of the declaration."""

WINDOW_MS = 60_000
"""Time that quantiles describe by default: Kafka's two sample windows of 30 s."""

Sample: TypeAlias = tuple[Labels, float]
Source: TypeAlias = Callable[[], Iterable[Sample]]
"""Yields the current samples of a metric; called on the loop that owns the values."""


@dataclass(frozen=True, slots=True)
class Exemplar:
    """An example of what a counter counted, such as the trace of one record."""

    labels: dict[str, str]
    value: float
    time_ms: int


Exemplars: TypeAlias = Callable[[Labels], Exemplar | None]
"""Returns the latest exemplar of a sample."""

_BEAN = re.compile(r"^kafka\.([\w.]+):type=([\w.-]+)(?:,name=([\w.-]+))?$")


class MetricKind(Enum):
    """Kind of a metric, in Prometheus' terms."""

    COUNTER = "counter"
    GAUGE = "gauge"
    HISTOGRAM = "summary"


@dataclass(frozen=True, slots=True)
class Metric:
    """Declares a metric.

    Args:
        name: Kafka's JMX object name, such as `kafka.server:type=ReplicaManager,name=LeaderCount`,
            or a Prometheus name for a metric that Kafka does not have.
        kind: Counter, gauge or histogram.
        unit: Unit of the value, in words: "records", "ms", "bytes".
        description: One sentence.
        labels: Names of the labels, as Kafka's JMX object names spell them.
    """

    name: str
    kind: MetricKind
    unit: str
    description: str
    labels: tuple[str, ...] = ()

    @property
    def kafka_name(self) -> str | None:
        """Kafka's name, or None if Kafka has no such metric."""
        return self.name if self.name.startswith("kafka.") else None

    @property
    def prometheus_name(self) -> str:
        """The family's name without the suffix `_total` of counters.

        `PerSec` meters become counters, as in the JMX exporter's rules; other names are joined with
        underscores in lower case.
        """
        return _prometheus_name(self.name, self.kind)


@cache  # of declared metrics; each scrape needs all names
def _prometheus_name(declared: str, kind: MetricKind) -> str:
    match = _BEAN.match(declared)
    if match is None:
        return declared
    domain, group, name = match.groups()
    if name is not None and kind is MetricKind.COUNTER:
        name = name.removesuffix("PerSec")
    joined = "_".join(part for part in ("kafka", domain, group, name) if part)
    return re.sub(r"[^a-z0-9_]", "_", joined.lower())


class _Family(Generic[_ChildT]):
    """The counters or histograms of one metric, by their labels."""

    __slots__ = ("_child_type", "_children", "metric")

    def __init__(self, metric: Metric, child_type: type[_ChildT]) -> None:
        self.metric = metric
        self._child_type: type[_ChildT] = child_type
        self._children: dict[Labels, _ChildT] = {}

    def labels(self, *values: str) -> _ChildT:
        """Returns the child with these label values; callers keep it for the hot path."""
        child = self._children.get(values)
        if child is None:
            if len(values) != len(self.metric.labels):
                raise ValueError(f"{self.metric.name} has the labels {self.metric.labels}")
            child = self._children[values] = self._child_type()
        return child


class CounterFamily(_Family[Counter]):
    """The counters of one metric, by their labels."""

    __slots__ = ()

    def __init__(self, metric: Metric) -> None:
        super().__init__(metric, Counter)

    def remove(self, *values: str) -> None:
        """Removes a counter, for example of a deleted topic."""
        self._children.pop(values, None)

    def samples(self) -> Iterator[Sample]:
        for labels, counter in list(self._children.items()):
            yield labels, counter.value


class HistogramFamily(_Family[Histogram]):
    """The histograms of one metric, by their labels.

    Args:
        metric: The declaration.
        scale: Factor from the recorded integers to the unit of the metric.

    Attributes:
        window_ms: Time that quantiles describe; set by the registry.
    """

    __slots__ = ("_sums", "scale", "window_ms")

    def __init__(self, metric: Metric, scale: float = 1.0) -> None:
        super().__init__(metric, Histogram)
        self.scale = scale
        self.window_ms = WINDOW_MS
        self._sums: list[tuple[Histogram, tuple[Histogram, ...]]] = []

    def add(self, histogram: Histogram, *values: str) -> None:
        """Adds a histogram that its owner has created."""
        self._children[values] = histogram

    def add_sum(self, parts: tuple[Histogram, ...], *values: str) -> None:
        """Adds a histogram that is the sum of others; it is computed when it is read."""
        self._sums.append((self.labels(*values), parts))

    def items(self) -> list[tuple[Labels, Histogram]]:
        for histogram, parts in self._sums:
            histogram.replace_by_sum(parts)
        return list(self._children.items())


class ComputedHistogramFamily(HistogramFamily):
    """Histograms that a function lists when they are read, because they come and go."""

    __slots__ = ("_source",)

    def __init__(
        self,
        metric: Metric,
        source: Callable[[], list[tuple[Labels, Histogram]]],
        scale: float = 1.0,
    ) -> None:
        super().__init__(metric, scale)
        self._source = source

    def items(self) -> list[tuple[Labels, Histogram]]:
        return self._source()


class GaugeFamily:
    """A metric whose samples a function computes when they are read."""

    __slots__ = ("exemplars", "metric", "source")

    def __init__(self, metric: Metric, source: Source, exemplars: Exemplars | None = None) -> None:
        self.metric = metric
        self.source = source
        self.exemplars = exemplars


Family: TypeAlias = CounterFamily | HistogramFamily | GaugeFamily


class Registry:
    """All metrics of one broker or client; owned by one loop.

    Args:
        window_ms: Time that the quantiles of histograms describe.

    Example:
        >>> registry = Registry()
        >>> metric = Metric("kafka.server:type=Example,name=ErrorsPerSec", MetricKind.COUNTER,
        ...                 "errors", "Errors of the example.", ("error",))
        >>> errors = registry.counters(metric)
        >>> errors.labels("NONE").add()
        >>> metric.prometheus_name, list(errors.samples())
        ('kafka_server_example_errors', [(('NONE',), 1)])
    """

    def __init__(self, window_ms: int = WINDOW_MS) -> None:
        self._window_ms = window_ms
        self._families: dict[str, Family] = {}

    def counters(self, metric: Metric) -> CounterFamily:
        """Adds a metric with counters and returns its family."""
        family = CounterFamily(metric)
        self._add(family)
        return family

    def histograms(self, metric: Metric, scale: float = 1.0) -> HistogramFamily:
        """Adds a metric with histograms and returns its family."""
        family = HistogramFamily(metric, scale)
        self._add(family)
        return family

    def histogram_source(
        self,
        metric: Metric,
        source: Callable[[], list[tuple[Labels, Histogram]]],
        scale: float = 1.0,
    ) -> None:
        """Adds a metric whose labelled histograms `source` returns."""
        self._add(ComputedHistogramFamily(metric, source, scale))

    def gauge(self, metric: Metric, read: Callable[[], float]) -> None:
        """Adds a metric without labels, which `read` computes."""
        self._add(GaugeFamily(metric, lambda: (((), read()),)))

    def source(self, metric: Metric, source: Source, exemplars: Exemplars | None = None) -> None:
        """Adds a metric whose labelled samples `source` yields; also for computed counters.

        Only counters may have exemplars.
        """
        self._add(GaugeFamily(metric, source, exemplars))

    def families(self) -> list[Family]:
        """Returns all families, sorted by their Prometheus names."""
        return [self._families[name] for name in sorted(self._families)]

    def find(self, name: str) -> Family | None:
        """Returns the family with a Prometheus name."""
        return self._families.get(name)

    def _add(self, family: Family) -> None:
        name = family.metric.prometheus_name
        if name in self._families:
            raise ValueError(f"the metric {name} is already registered")
        if isinstance(family, HistogramFamily):
            family.window_ms = self._window_ms
        self._families[name] = family
