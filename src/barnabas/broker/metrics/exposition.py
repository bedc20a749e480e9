"""Writes a registry as text for Prometheus, in small slices on the loop that owns the values.

The text format is that of Prometheus' client library. It formats what rarely changes, once: the
comments of a family, and name and labels of each sample. These texts are kept for the next scrape,
which formats only values, and of the frequent values only new ones.

A broker with 10,000 partitions has about 100,000 samples. Therefore at most `_SLICE` samples are
written before other callbacks of the loop run. A thread would not be better: it would take the
interpreter lock for 5 ms at a time.
"""

import asyncio
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from typing import Any

from prometheus_client import Metric as Family
from prometheus_client.exposition import choose_encoder
from prometheus_client.samples import Exemplar
from prometheus_client.utils import floatToGoString

from barnabas.runtime import metrics
from barnabas.runtime.clock import Clock
from barnabas.runtime.metrics import QUANTILES, CounterFamily, HistogramFamily, MetricKind, Registry

_SLICE = 50
"""Samples that are written before other callbacks of the loop run: about 0.1 ms.

With longer slices, p99 of synchronous requests is higher while the broker is scraped.
"""
_NEW = 20
"""Cost of a sample whose name and labels have to be formatted too, in samples of a slice."""
_MAX_FORMATS = 2
_END = b"# EOF\n"
_ZERO = b"0.0\n"

_Encoder = Callable[["_Families"], bytes]
_Sample = tuple[str, dict[str, str], float, Exemplar | None]
"""Name at /metrics, labels, value and exemplar."""


class _Families:
    """Passes one family to the client library, which expects a registry."""

    def __init__(self, family: Family) -> None:
        self._family = family

    def collect(self) -> Iterator[Family]:
        yield self._family


class Exposition:
    """The metrics of one registry as text; owned by the loop that owns the registry.

    It keeps the texts of the last scrape in each of the formats used last. If a family has fewer
    labels than before, for example after a topic was deleted, its texts are dropped.
    """

    def __init__(self, registry: Registry, clock: Clock) -> None:
        self._registry = registry
        self._clock = clock
        self._formats: dict[str, dict[int, _FamilyWriter]] = {}

    async def render(self, accept: str = "") -> tuple[bytearray, str]:
        """Returns the text of all metrics and its content type.

        The text grows in place: joining megabytes at the end would block the loop for milliseconds.

        Args:
            accept: The client's Accept header: OpenMetrics or the older text format.
        """
        encoder: Any
        encoder, content_type = choose_encoder(accept)
        writers = self._formats.pop(content_type, None) or {}
        self._formats[content_type] = writers  # the last one
        if len(self._formats) > _MAX_FORMATS:
            del self._formats[next(iter(self._formats))]
        text, budget, now_ms = bytearray(), _SLICE, self._clock.monotonic_ms()
        for family in self._registry.families():
            writer = writers.get(id(family))  # the registry keeps its families
            if writer is None:
                writer = writers[id(family)] = _FamilyWriter(encoder, family)
            text += writer.comments
            for line, cost in writer.lines(now_ms):
                text += line
                budget -= cost
                if budget <= 0:
                    await asyncio.sleep(0)
                    budget, now_ms = _SLICE, self._clock.monotonic_ms()
        if "openmetrics" in content_type:
            text += _END
        return text, content_type


_BETWEEN = "\ud800"
"""Separates labels in a key: no label contains it, because it cannot be encoded.

A key is a string: the garbage collector would visit 100,000 new tuples during a scrape.
"""


@lru_cache(maxsize=4096)  # most values of a scrape are those of the last one, such as 0
def _value(value: float) -> bytes:
    text: str = floatToGoString(value)  # type: ignore[no-untyped-call]  # prometheus_client
    return text.encode() + b"\n"


class _FamilyWriter:
    """Writes the samples of one family; keeps their texts for the next scrape.

    Two scrapes at the same time may use it: each line depends on its own value only.
    """

    def __init__(self, encoder: _Encoder, family: metrics.Family) -> None:
        self._encoder = encoder
        self._family = family
        self._metric = family.metric
        self._name = family.metric.prometheus_name
        if family.metric.kind is MetricKind.COUNTER:
            self._name += "_total"
        self.prefixes: dict[str, bytes] = {}
        self._histograms: dict[metrics.Labels, tuple[bytes, ...]] = {}
        self.comments = self._encoded()

    def lines(self, now_ms: int) -> Iterator[tuple[bytes, int]]:
        """Yields the lines of samples, each with the number of samples that a slice counts."""
        family = self._family
        if isinstance(family, HistogramFamily):
            yield from self._histogram_lines(family, now_ms)
        elif isinstance(family, CounterFamily):
            yield from self._sample_lines(family.samples(), None)
        else:
            yield from self._sample_lines(family.source(), family.exemplars)

    def _sample_lines(
        self, samples: Iterable[metrics.Sample], exemplars: metrics.Exemplars | None
    ) -> Iterator[tuple[bytes, int]]:
        prefixes, count = self.prefixes, 0
        for labels, value in samples:
            count += 1
            exemplar = None if exemplars is None else exemplars(labels)
            if exemplar is not None:  # at most one for each topic
                yield self._with_exemplar(labels, value, exemplar), _NEW
                continue
            prefix = prefixes.get(_BETWEEN.join(labels))
            if prefix is not None:
                yield prefix + _value(value), 1
            else:
                yield self._prefix(labels) + _value(value), _NEW
        if len(prefixes) > count:
            prefixes.clear()

    def _prefix(self, labels: metrics.Labels) -> bytes:
        key = _BETWEEN.join(labels)
        prefix = self.prefixes.get(key)
        if prefix is None:
            prefix = self.prefixes[key] = self._line_start(self._name, self._named(labels))
        return prefix

    def _with_exemplar(
        self, labels: metrics.Labels, value: float, exemplar: metrics.Exemplar
    ) -> bytes:
        self._prefix(labels)  # the labels stay known, also if the exemplar ends
        sample = (self._name, self._named(labels), value, _exemplar(exemplar))
        return self._encoded(sample)[len(self.comments) :]

    def _histogram_lines(self, family: HistogramFamily, now_ms: int) -> Iterator[tuple[bytes, int]]:
        known, scale = self._histograms, family.scale
        items = family.items()
        for labels, histogram in items:
            starts, cost = known.get(labels), len(QUANTILES) + 2
            if starts is None:
                starts, cost = self._histogram_starts(labels), cost * _NEW
                known[labels] = starts
            recent = histogram.quantiles(now_ms, QUANTILES, family.window_ms)
            values = (*recent, histogram.total)
            parts = [start + _value(v * scale) for start, v in zip(starts, values, strict=False)]
            parts.insert(-1, starts[-1] + _value(histogram.count))
            yield b"".join(parts), cost
        if len(known) > len(items):
            known.clear()

    def _histogram_starts(self, labels: metrics.Labels) -> tuple[bytes, ...]:
        """Returns the starts of the lines of the quantiles, of the sum and of the count."""
        named, name = self._named(labels), self._name
        quantiles = ({**named, "quantile": f"{quantile:g}"} for quantile in QUANTILES)
        return (
            *(self._line_start(name, all_labels) for all_labels in quantiles),
            self._line_start(name + "_sum", named),
            self._line_start(name + "_count", named),
        )

    def _named(self, labels: metrics.Labels) -> dict[str, str]:
        # A sample with fewer labels is a sum, such as BrokerTopicMetrics of all topics.
        return dict(zip(self._metric.labels, labels, strict=False))

    def _line_start(self, name: str, labels: dict[str, str]) -> bytes:
        """Returns the line of a sample up to its value."""
        line = self._encoded((name, labels, 0.0, None))[len(self.comments) :]
        return line.removesuffix(_ZERO)

    def _encoded(self, *samples: _Sample) -> bytes:
        metric = self._metric
        family = Family(metric.prometheus_name, metric.description, metric.kind.value)
        for name, labels, value, exemplar in samples:
            family.add_sample(name, labels, value, exemplar=exemplar)
        return self._encoder(_Families(family)).removesuffix(_END)


def family_samples(family: metrics.Family, now_ms: int) -> Iterator[_Sample]:
    """Yields the current samples of a family, with the quantiles, sum and count of a histogram."""
    metric = family.metric
    name = metric.prometheus_name
    if isinstance(family, HistogramFamily):
        yield from _histogram_samples(family, name, now_ms)
        return
    if isinstance(family, CounterFamily):
        source, exemplars = family.samples(), None
    else:
        source, exemplars = iter(family.source()), family.exemplars
    if metric.kind is MetricKind.COUNTER:
        name += "_total"
    for values, value in source:
        # A sample with fewer labels is a sum, such as BrokerTopicMetrics of all topics.
        labels = dict(zip(metric.labels, values, strict=False))
        yield name, labels, value, None if exemplars is None else _exemplar(exemplars(values))


def _exemplar(found: metrics.Exemplar | None) -> Exemplar | None:
    return None if found is None else Exemplar(found.labels, found.value, found.time_ms / 1000)


def _histogram_samples(family: HistogramFamily, name: str, now_ms: int) -> Iterator[_Sample]:
    for values, histogram in family.items():
        labels = dict(zip(family.metric.labels, values, strict=True))
        recent = histogram.quantiles(now_ms, QUANTILES, family.window_ms)
        for quantile, value in zip(QUANTILES, recent, strict=True):
            yield name, {**labels, "quantile": f"{quantile:g}"}, value * family.scale, None
        yield name + "_count", labels, histogram.count, None
        yield name + "_sum", labels, histogram.total * family.scale, None
