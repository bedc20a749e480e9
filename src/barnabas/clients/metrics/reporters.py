"""Calls the reporters of `metric.reporters` periodically, in a thread of their own.

A reporter may be slow or fail: the client's loop does not wait for it, and an exception is logged
once until the reporter succeeds again.
"""

import asyncio
import logging
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol, cast

from barnabas.clients.core.plugins import close, configure, instance_of, is_path, load
from barnabas.clients.metrics.metric_types import Metric
from barnabas.model.errors import ConfigError
from barnabas.runtime.clock import SystemClock

logger = logging.getLogger(__name__)

SETTING = "metric.reporters"
BUILT_IN = {
    "json": "barnabas.clients.metrics.json_reporter:JsonReporter",
    "otlp": "barnabas.clients.metrics.otlp_reporter:OtlpReporter",
}
WITHOUT_EFFECT = "org.apache.kafka.common.metrics.JmxReporter"
CLOSE_SECONDS = 2.0
"""Longest time that `close()` of a client waits for the last report."""
LOOK_SECONDS = 0.005


class MetricsReporter(Protocol):
    """Gets all metrics of a client periodically, and once more when the client is closed.

    `configure(config)` and `close()` are called if the reporter has them: once before the first
    report, with all settings of the client, and once after the last one. All calls but
    `configure` come from one thread of the client.

    >>> class Printer:
    ...     def report(self, metrics, now_ms):
    ...         for metric in metrics:
    ...             print(metric.name.name, metric.value)
    """

    def report(self, metrics: Sequence[Metric], now_ms: int) -> None:
        """Handles the current values; `now_ms` is the time in milliseconds since 1970."""
        ...


def load_reporters(values: Mapping[str, Any]) -> tuple[MetricsReporter, ...]:
    """Returns the configured reporters.

    Raises:
        ConfigError: A reporter has an unknown name, cannot be imported or has no method report().
    """
    given = [item for item in values[SETTING] if item != WITHOUT_EFFECT]
    return tuple(_load_reporter(item, values) for item in given)


def _load_reporter(given: Any, values: Mapping[str, Any]) -> MetricsReporter:
    path = BUILT_IN.get(given, given) if isinstance(given, str) else given
    if isinstance(path, str) and not is_path(path):
        names = ", ".join(sorted(BUILT_IN))
        raise ConfigError(f"{SETTING}={given!r}: must be {names}, or the import path of a class")
    reporter = instance_of(load(path, SETTING) if isinstance(path, str) else path, SETTING)
    if not callable(getattr(reporter, "report", None)):
        raise ConfigError(f"{SETTING}={given!r}: has no method report(metrics, now_ms)")
    configure(reporter, SETTING, dict(values))
    return cast(MetricsReporter, reporter)


class ReporterThread:
    """Reports until `close()`; a daemon thread, which does not delay the interpreter's exit."""

    def __init__(
        self,
        reporters: Sequence[MetricsReporter],
        read: Callable[[], Sequence[Metric]],
        interval_s: float,
    ) -> None:
        self._reporters = reporters
        self._read = read
        self._interval_s = interval_s
        self._failing: set[int] = set()
        self._closing = threading.Event()
        self._ended = threading.Event()
        self._clock = SystemClock()
        threading.Thread(target=self._run, name="barnabas-metrics", daemon=True).start()

    def close(self) -> None:
        """Starts the last report; `wait` waits for its end."""
        self._closing.set()

    async def wait(self) -> None:
        """Waits up to two seconds for the last report."""
        loop = asyncio.get_running_loop()
        deadline_s = loop.time() + CLOSE_SECONDS
        while not self._ended.is_set():
            if loop.time() >= deadline_s:
                logger.warning("%s: no end of the last report in %g s", SETTING, CLOSE_SECONDS)
                return
            await asyncio.sleep(LOOK_SECONDS)

    def _run(self) -> None:
        while not self._closing.wait(self._interval_s):
            self._report()
        self._report()
        for reporter in self._reporters:
            close(reporter)
        self._ended.set()

    def _report(self) -> None:
        metrics = self._read()
        now_ms = self._clock.now_ms()
        for reporter in self._reporters:
            try:
                reporter.report(metrics, now_ms)
                self._failing.discard(id(reporter))
            except Exception as error:
                if id(reporter) not in self._failing:
                    self._failing.add(id(reporter))
                    logger.warning("%s: %r failed: %s", SETTING, reporter, error, exc_info=True)
