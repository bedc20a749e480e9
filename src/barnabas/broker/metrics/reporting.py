"""Passes the broker's metrics to the reporters of `metric.reporters`.

The reporters are called in a thread (`runtime.reporters`); the values are read on the broker's
loop, which owns them, in slices. A reporter gets the samples of `/metrics`, under the same names.
The list of reporters can change while the broker runs: the old reporters get a last report and are
closed.
"""

import asyncio
import logging
from collections.abc import Sequence

from barnabas.broker.config_layers import ConfigLayers
from barnabas.broker.metrics.broker_metrics import BrokerMetrics
from barnabas.broker.metrics.exposition import family_samples
from barnabas.model.errors import ConfigError
from barnabas.runtime import metrics
from barnabas.runtime.clock import Clock
from barnabas.runtime.metric_types import Metric, MetricName
from barnabas.runtime.metrics import HistogramFamily, MetricKind
from barnabas.runtime.reporters import SETTING, MetricsReporter, ReporterThread, load_reporters

_logger = logging.getLogger("barnabas.broker")
_SLICE = 50
_READ_TIMEOUT_S = 30.0
BROKER_ID = "broker-id"


class BrokerReporters:
    """The reporters of one broker; owned by its loop."""

    def __init__(self, layers: ConfigLayers, broker_metrics: BrokerMetrics, clock: Clock) -> None:
        self._layers = layers
        self._metrics = broker_metrics
        self._clock = clock
        self._broker_id = ""
        self._names: Sequence[str] = ()
        self._reporters: tuple[MetricsReporter, ...] = ()
        self._thread: ReporterThread | None = None

    def load(self) -> None:
        """Loads the reporters of the properties file; raises ConfigError for a wrong name."""
        self._names = list(self._layers.static[SETTING])
        self._reporters = self._loaded(self._names)

    @property
    def in_use(self) -> bool:
        """Whether there is a reporter."""
        return bool(self._reporters)

    def start(self, broker_id: int) -> None:
        """Starts the reports, with the reporters of the current settings."""
        self._broker_id = str(broker_id)
        self._start_thread()
        self.apply()

    def apply(self) -> None:
        """Follows a change of `metric.reporters`; keeps the old reporters if a new one is wrong."""
        names = list(self._layers.broker_value(SETTING))
        if names == self._names or not self._broker_id:
            return
        try:
            reporters = self._loaded(names)
        except ConfigError as error:
            used = ",".join(self._names) or "none"
            _logger.error("%s; the broker continues with the reporters %s", error, used)
            return
        if self._thread is not None:
            self._thread.close()
        self._names, self._reporters = names, reporters
        self._start_thread()

    async def stop(self) -> None:
        """Makes the last report and closes the reporters."""
        if self._thread is not None:
            thread, self._thread = self._thread, None
            thread.close()
            await thread.wait()

    def _loaded(self, names: Sequence[str]) -> tuple[MetricsReporter, ...]:
        return load_reporters({**self._layers.static.values, SETTING: names})

    def _start_thread(self) -> None:
        self._thread = None
        if not self._reporters:
            return
        loop = asyncio.get_running_loop()

        def read() -> list[Metric]:
            reading = self._read()
            try:
                found = asyncio.run_coroutine_threadsafe(reading, loop)
            except RuntimeError:  # the loop is closed
                reading.close()
                raise
            return found.result(_READ_TIMEOUT_S)

        interval_s = self._layers.static["metrics.report.interval.ms"] / 1000
        self._thread = ReporterThread(self._reporters, read, interval_s)

    async def _read(self) -> list[Metric]:
        """Returns all samples; other callbacks of the loop run in between."""
        await self._metrics.refresh()
        tag = (BROKER_ID, self._broker_id)
        found: list[Metric] = []
        for family in self._metrics.registry.families():
            for name, labels, value, _ in family_samples(family, self._clock.monotonic_ms()):
                found.append(_metric(family, name, (tag, *labels.items()), value))
                if len(found) % _SLICE == 0:
                    await asyncio.sleep(0)
        return found


def _metric(
    family: metrics.Family, name: str, tags: tuple[tuple[str, str], ...], value: float
) -> Metric:
    declared = family.metric
    kind, unit = declared.kind, declared.unit
    if isinstance(family, HistogramFamily):
        # A quantile has the name of the metric; sum and number of values have a suffix.
        is_quantile = name == declared.prometheus_name
        kind = MetricKind.GAUGE if is_quantile else MetricKind.COUNTER
        unit = "" if name.endswith("_count") else unit
    known = MetricName(name, declared.kafka_name or "", tags, declared.description)
    return Metric(known, float(value), unit, kind)
