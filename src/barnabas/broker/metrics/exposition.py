"""Writes a registry as text for Prometheus, in small slices on the loop that owns the values.

The text format is that of Prometheus' client library. A broker with 10,000 partitions has about
100,000 samples; formatting them takes a second. Therefore at most `_SLICE` samples are formatted
before other callbacks of the loop run. A thread would not be better: it would take the interpreter
lock for 5 ms at a time.
"""

import asyncio
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Any

from prometheus_client import Metric as Family
from prometheus_client.exposition import choose_encoder
from prometheus_client.samples import Exemplar

from barnabas.runtime import metrics
from barnabas.runtime.clock import Clock
from barnabas.runtime.metrics import QUANTILES, CounterFamily, HistogramFamily, MetricKind, Registry

_SLICE = 50
_END = b"# EOF\n"

_Encoder = Callable[["_Families"], bytes]


class _Families:
    """Passes one family to the client library, which expects a registry."""

    def __init__(self, family: Family) -> None:
        self._family = family

    def collect(self) -> Iterator[Family]:
        yield self._family


async def render(registry: Registry, clock: Clock, accept: str = "") -> tuple[bytearray, str]:
    """Returns the text of all metrics and its content type.

    The text grows in place: joining megabytes at the end would block the loop for milliseconds.

    Parameters:
        registry: The metrics; this coroutine runs on the loop that owns them.
        clock: Its monotonic time selects the values of the last minute.
        accept: The client's Accept header: OpenMetrics or the older text format.
    """
    encoder: Any
    encoder, content_type = choose_encoder(accept)
    text = bytearray()
    for family in registry.families():
        samples = family_samples(family, clock.monotonic_ms())
        chunk = list(islice(samples, _SLICE))
        text += _text(encoder, family.metric, chunk, first=True)  # also without samples
        await asyncio.sleep(0)
        while len(chunk) == _SLICE:
            chunk = list(islice(samples, _SLICE))
            if chunk:
                text += _text(encoder, family.metric, chunk, first=False)
                await asyncio.sleep(0)
    if "openmetrics" in content_type:
        text += _END
    return text, content_type


_Sample = tuple[str, dict[str, str], float, Exemplar | None]
"""Name at /metrics, labels, value and exemplar."""


def _text(
    encoder: _Encoder, metric: metrics.Metric, samples: Iterable[_Sample], *, first: bool
) -> bytes:
    family = Family(metric.prometheus_name, metric.description, metric.kind.value)
    for name, labels, value, exemplar in samples:
        family.add_sample(name, labels, value, exemplar=exemplar)
    text = encoder(_Families(family)).removesuffix(_END)
    if first:
        return text
    return b"".join(line for line in text.splitlines(keepends=True) if not line.startswith(b"# "))


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
        for quantile, value in zip(QUANTILES, histogram.quantiles(now_ms), strict=True):
            yield name, {**labels, "quantile": f"{quantile:g}"}, value * family.scale, None
        yield name + "_count", labels, histogram.count, None
        yield name + "_sum", labels, histogram.total * family.scale, None
