"""Reads the metrics of one client: groups of named readings over its meters.

The parts of a client record into meters and do not know this module. A client's own metrics module
(`producer/metrics.py`, `group/metrics.py`) declares which reading has which name; the names and
units come from `catalog`.

Rates, averages and maxima are those of the last sample windows, as in Kafka: the client keeps
`metrics.num.samples` windows of `metrics.sample.window.ms`, the current one included. A timer of
the client's loop begins a window, so recording a value does not read the clock. Reading changes
nothing: any thread may do it.
"""

import asyncio
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import Generic, Literal, TypeVar

from barnabas.clients.metrics.catalog import CATALOG, PERCENTILES, DeclaredMetric
from barnabas.model.config import ConfigValues
from barnabas.runtime._meter_hot import Meter
from barnabas.runtime.clock import Clock
from barnabas.runtime.metric_types import CLIENT_ID, Metric, MetricName
from barnabas.runtime.metrics import Histogram
from barnabas.runtime.reporters import MetricsReporter, ReporterThread, load_reporters

Read = Callable[[int], float]
"""Returns the value of a metric at a monotonic time in milliseconds."""
Source = Callable[[int], Iterable[Metric]]
MIN_ROLL_S = 0.1
PER_HOUR = 3600
TopicMeters = TypeVar("TopicMeters")
Meters = Callable[[], Iterable[Meter]]
"""Returns the meters whose values are read as one, for example of all brokers."""
Measure = Literal["count", "total"]


@dataclass(frozen=True, slots=True)
class MetricsSettings:
    """Settings of `ClientMetrics`, of the reporters and of the push to brokers."""

    samples: int = 2
    window_ms: int = 30_000
    debug: bool = False
    """Whether metrics of the level DEBUG are recorded."""
    push: bool = False
    reporters: tuple[MetricsReporter, ...] = ()
    report_interval_s: float = 30.0

    @classmethod
    def from_values(cls, values: ConfigValues) -> "MetricsSettings":
        """Returns the settings in the values of a table that includes `METRICS_KEYS`.

        Raises:
            ConfigError: A reporter cannot be loaded or configured.
        """
        return cls(
            samples=values["metrics.num.samples"],
            window_ms=values["metrics.sample.window.ms"],
            debug=values["metrics.recording.level"] != "INFO",
            push=values["enable.metrics.push"],
            reporters=load_reporters(values),
            report_interval_s=values["metrics.report.interval.ms"] / 1000,
        )


class Windows:
    """The windows of one client; its loop calls `roll`."""

    def __init__(self, samples: int, window_ms: int, now_ms: int) -> None:
        self._samples = samples
        self.window_ms = window_ms
        self._starts = [now_ms]
        self._sources: list[Iterable[Meter]] = []

    def watch(self, meters: Iterable[Meter]) -> None:
        """Begins windows of these meters; they are iterated at the end of each window."""
        self._sources.append(meters)

    def roll(self, now_ms: int) -> None:
        """Begins the windows that have become due."""
        passed = (now_ms - self._starts[-1]) // self.window_ms
        if passed <= 0:
            return
        rolls = min(passed, self._samples)
        current = self._starts[-1] + passed * self.window_ms
        begun = [current - self.window_ms * left for left in reversed(range(rolls))]
        self._starts = [*self._starts, *begun][-self._samples :]
        for source in self._sources:
            for meter in source:
                for _ in range(rolls):
                    meter.roll(self._samples)

    def rate(self, meters: Meters, measure: Measure, now_ms: int) -> float:
        """Returns the number or the sum of values per second.

        As in Kafka, a client that is younger than its windows counts as if it had been idle before:
        a burst at the start is not taken for a high rate.
        """
        recorded, since_ms = 0, now_ms
        for meter in meters():
            count, total, _, _ = meter.recent()
            recorded += count if measure == "count" else total
            since_ms = min(since_ms, max(self._starts[0], meter.created_ms))
        elapsed_ms = now_ms - since_ms
        missing = self._samples - 1 - elapsed_ms // self.window_ms
        elapsed_ms += max(missing, 0) * self.window_ms
        return recorded * 1000 / max(elapsed_ms, 1)


def total(meters: Meters, measure: Measure) -> float:
    """Returns the number or the sum of all values since the client was created."""
    if measure == "count":
        return float(sum(meter.count for meter in meters()))
    return float(sum(meter.total for meter in meters()))


def average(meters: Meters, scale: float) -> float:
    """Returns the mean of the values in the windows; NaN if there are none."""
    recent = [meter.recent() for meter in meters()]
    count = sum(each[0] for each in recent)
    return sum(each[1] for each in recent) * scale / count if count else math.nan


def maximum(meters: Meters, scale: float) -> float:
    """Returns the largest of the values in the windows; NaN if there are none."""
    largest = max((meter.recent()[2] for meter in meters()), default=-1)
    return largest * scale if largest >= 0 else math.nan


def minimum(meters: Meters, scale: float) -> float:
    """Returns the smallest of the values in the windows; NaN if there are none."""
    found = [low for meter in meters() if (low := meter.recent()[3]) >= 0]
    return min(found) * scale if found else math.nan


class MetricsByTopic(Generic[TopicMeters]):
    """The metrics of each topic, with its name in the tag `topic`.

    Args:
        topics: Returns the current meters by topic; a topic never gets other meters.
        make_group: Returns the metrics of one topic; called once per topic.
    """

    def __init__(
        self,
        topics: Callable[[], Mapping[str, TopicMeters]],
        make_group: Callable[[str, TopicMeters], "MetricGroup"],
    ) -> None:
        self._topics = topics
        self._make_group = make_group
        self._groups: dict[str, MetricGroup] = {}

    def __call__(self, now_ms: int) -> Iterator[Metric]:
        for name, meters in self._topics().items():
            if name not in self._groups:
                self._groups[name] = self._make_group(name, meters)
            yield from self._groups[name](now_ms)


class MetricGroup:
    """The metrics with the same group and tags.

    A method that takes `meters` reads them together, for example those of all brokers.
    """

    def __init__(self, windows: Windows, group: str, tags: tuple[tuple[str, str], ...]) -> None:
        self._windows = windows
        self._group = group
        self._tags = tags
        self._readings: list[tuple[MetricName, DeclaredMetric, Read]] = []

    def __call__(self, now_ms: int) -> Iterator[Metric]:
        """Yields the current values."""
        for name, declared, read in self._readings:
            yield Metric(name, float(read(now_ms)), declared.unit, declared.kind)

    def gauge(self, name: str, read: Callable[[], float]) -> None:
        """Adds a metric that `read` computes; also a total that a part of the client counts."""
        self.timed(name, lambda _: read())

    def timed(self, name: str, read: Read) -> None:
        """Adds a metric that `read` computes from the current time."""
        names = tuple(tag for tag, _ in self._tags if tag != CLIENT_ID)
        declared = CATALOG[self._group, name, names]
        known = MetricName(name, self._group, self._tags, declared.description)
        self._readings.append((known, declared, read))

    def counted(self, stem: str, meters: Meters | Meter) -> None:
        """Adds `stem`-rate and `stem`-total: the number of recorded values."""
        of = _several(meters)
        self.timed(f"{stem}-rate", partial(self._windows.rate, of, "count"))
        self.gauge(f"{stem}-total", lambda: total(of, "count"))

    def summed(self, stem: str, meters: Meters | Meter) -> None:
        """Adds `stem`-rate and `stem`-total: the sum of the recorded values."""
        of = _several(meters)
        self.timed(f"{stem}-rate", partial(self._windows.rate, of, "total"))
        self.gauge(f"{stem}-total", lambda: total(of, "total"))

    def summed_total(self, name: str, meter: Meter) -> None:
        """Adds the sum of all recorded values."""
        self.gauge(name, lambda: float(meter.total))

    def hourly(self, name: str, meters: Meters | Meter) -> None:
        """Adds a rate per hour."""
        of = _several(meters)
        self.timed(name, lambda now: self._windows.rate(of, "count", now) * PER_HOUR)

    def share(self, name: str, meters: Meters | Meter, per_second: float) -> None:
        """Adds a metric: the recorded durations as a fraction of the elapsed time."""
        of = _several(meters)
        self.timed(name, lambda now: self._windows.rate(of, "total", now) / per_second)

    def average(self, name: str, meters: Meters | Meter, scale: float = 1.0) -> None:
        of = _several(meters)
        self.gauge(name, lambda: average(of, scale))

    def maximum(self, name: str, meters: Meters | Meter, scale: float = 1.0) -> None:
        of = _several(meters)
        self.gauge(name, lambda: maximum(of, scale))

    def minimum(self, name: str, meters: Meters | Meter, scale: float = 1.0) -> None:
        of = _several(meters)
        self.gauge(name, lambda: minimum(of, scale))

    def average_and_maximum(self, stem: str, meters: Meters | Meter, scale: float = 1.0) -> None:
        self.average(f"{stem}-avg", meters, scale)
        self.maximum(f"{stem}-max", meters, scale)

    def ratio(self, name: str, meters: Meters | Meter, requests: Meter) -> None:
        """Adds the sum of the values in the windows, divided by the number of `requests`."""
        of = _several(meters)

        def read() -> float:
            count = requests.recent()[0]
            found = sum(meter.recent()[1] for meter in of())
            return found / count if count else math.nan

        self.gauge(name, read)

    def percentiles(self, stem: str, histogram: Histogram, scale: float) -> None:
        for percent in PERCENTILES:
            read = partial(_percentile, histogram, percent / 100, scale)
            self.timed(f"{stem}-p{percent}", read)


class ClientMetrics:
    """All metrics of one client. Its loop records and rolls the windows; any thread may read.

    `kind` is Kafka's prefix of the groups: "producer", "consumer" or "admin-client".
    """

    def __init__(
        self, kind: str, client_id: str | None, settings: MetricsSettings, clock: Clock
    ) -> None:
        self.kind = kind
        self.settings = settings
        self.client_id = client_id or ""
        self.clock = clock
        self.windows = Windows(settings.samples, settings.window_ms, clock.monotonic_ms())
        self._sources: list[Source] = []
        self._timer: asyncio.TimerHandle | None = None

    def group(self, name: str, **tags: str) -> MetricGroup:
        """Returns an empty group with these tags, beside `client-id`; `add` makes it readable."""
        pairs = tuple((tag.replace("_", "-"), text) for tag, text in tags.items())
        return MetricGroup(self.windows, name, ((CLIENT_ID, self.client_id), *pairs))

    def add(self, source: Source) -> None:
        """Adds the metrics of a group, or those that a function yields, to `read`."""
        self._sources.append(source)

    def read(self, limit: int | None = None) -> Iterator[Metric]:
        """Yields the current values, at most `limit`: of the client, then of topics and so on."""
        now_ms = self.clock.monotonic_ms()
        every = (metric for source in self._sources for metric in source(now_ms))
        return islice(every, limit)

    def start(self) -> None:
        """Begins sample windows on the running loop; further calls have no effect."""
        if self._timer is None:
            self._schedule()

    def start_reporters(self) -> ReporterThread | None:
        """Starts the thread that calls the reporters, if there are any."""
        reporters = self.settings.reporters
        if not reporters:
            return None
        return ReporterThread(reporters, lambda: list(self.read()), self.settings.report_interval_s)

    def close(self) -> None:
        if self._timer is not None:
            self._timer.cancel()

    def _schedule(self) -> None:
        delay_s = max(self.windows.window_ms / 1000, MIN_ROLL_S)
        self._timer = asyncio.get_running_loop().call_later(delay_s, self._roll)

    def _roll(self) -> None:
        self.windows.roll(self.clock.monotonic_ms())
        self._schedule()


def _several(meters: Meters | Meter) -> Meters:
    if isinstance(meters, Meter):
        one = (meters,)
        return lambda: one
    return meters


def _percentile(histogram: Histogram, quantile: float, scale: float, now_ms: int) -> float:
    return histogram.quantiles(now_ms, (quantile,))[0] * scale if histogram.count else math.nan
