"""Writes a registry as text for Prometheus, in small slices on the loop that owns the values.

The text format is that of Prometheus' client library. It formats what rarely changes, once: the
comments of a family, and name and labels of each sample. These texts are kept for the next scrape,
which only formats values. A scrape takes less than half of the time so.

A broker with 10,000 partitions has about 100,000 samples. Therefore at most `_SLICE` samples are
formatted before other callbacks of the loop run. A thread would not be better: it would take the
interpreter lock for 5 ms at a time.
"""

import asyncio
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any, NamedTuple

from prometheus_client import Metric as Family
from prometheus_client.exposition import choose_encoder
from prometheus_client.samples import Exemplar
from prometheus_client.utils import floatToGoString

from barnabas.runtime import metrics
from barnabas.runtime.clock import Clock
from barnabas.runtime.metrics import QUANTILES, CounterFamily, HistogramFamily, MetricKind, Registry

_SLICE = 50
_NEW_SLICE = 5
"""Samples of a slice if their names and labels have to be formatted too."""
_MAX_FORMATS = 2
_END = b"# EOF\n"
_ZERO = b"0.0\n"

_Encoder = Callable[["_Families"], bytes]


class _Families:
    """Passes one family to the client library, which expects a registry."""

    def __init__(self, family: Family) -> None:
        self._family = family

    def collect(self) -> Iterator[Family]:
        yield self._family


class _Known(NamedTuple):
    """Texts of a family that stay the same: its comments, and its samples before their values."""

    comments: bytes
    prefixes: dict[str, bytes]


class Exposition:
    """The metrics of one registry as text; owned by the loop that owns the registry.

    It keeps the texts of the labels of the last scrape in each of the formats used last. A scrape
    that meets fewer labels, for example after a topic was deleted, forgets those of the family.
    """

    def __init__(self, registry: Registry, clock: Clock) -> None:
        self._registry = registry
        self._clock = clock
        self._formats: dict[str, dict[str, _Known]] = {}

    async def render(self, accept: str = "") -> tuple[bytearray, str]:
        """Returns the text of all metrics and its content type.

        The text grows in place: joining megabytes at the end would block the loop for milliseconds.

        Parameters:
            accept: The client's Accept header: OpenMetrics or the older text format.
        """
        encoder: Any
        encoder, content_type = choose_encoder(accept)
        known = self._formats.pop(content_type, None) or {}
        self._formats[content_type] = known  # the last one
        if len(self._formats) > _MAX_FORMATS:
            del self._formats[next(iter(self._formats))]
        text, budget = bytearray(), _SLICE
        for family in self._registry.families():
            name = family.metric.prometheus_name
            writer = _FamilyWriter(encoder, family.metric, known.get(name))
            text += writer.comments
            for sample in family_samples(family, self._clock.monotonic_ms()):
                text += writer.line(sample)
                budget -= 1 if writer.was_known else _SLICE // _NEW_SLICE
                if budget <= 0:
                    await asyncio.sleep(0)
                    budget = _SLICE
            known[name] = writer.texts()
        if "openmetrics" in content_type:
            text += _END
        return text, content_type


_BETWEEN = "\ud800"
"""Separates labels in a key: no label contains it, because it cannot be encoded.

A key is a string: the garbage collector would visit 100,000 new tuples during a scrape.
"""

_Sample = tuple[str, dict[str, str], float, Exemplar | None]
"""Name at /metrics, labels, value and exemplar."""


@lru_cache(maxsize=4096)  # most values of a scrape are those of the last one, such as 0
def _value(value: float) -> bytes:
    text: str = floatToGoString(value)  # type: ignore[no-untyped-call]
    return text.encode() + b"\n"


class _FamilyWriter:
    """Writes the samples of one family during one scrape."""

    def __init__(self, encoder: _Encoder, metric: metrics.Metric, known: _Known | None) -> None:
        self._encoder = encoder
        self._metric = metric
        self._known = known.prefixes if known is not None else {}
        self._count = 0
        self.comments = known.comments if known is not None else self._encoded()
        self.was_known = True
        """Whether the last line used a text of an earlier scrape."""

    def texts(self) -> _Known:
        """Returns the texts for the next scrape."""
        return _Known(self.comments, self._known if len(self._known) <= self._count else {})

    def line(self, sample: _Sample) -> bytes:
        name, labels, value, exemplar = sample
        key = _BETWEEN.join((name, *labels.values()))
        prefix = self._known.get(key)
        if exemplar is not None:  # at most one for each topic
            self._count += prefix is not None
            return self._encoded(sample)[len(self.comments) :]
        self._count += 1
        self.was_known = prefix is not None
        if prefix is None:
            line = self._encoded((name, labels, 0.0, None))[len(self.comments) :]
            prefix = self._known[key] = line.removesuffix(_ZERO)
        return prefix + _value(value)

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
